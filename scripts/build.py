# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension into dist/fabrik-<version>.zip and print its path; needs Python 3.11 or later.

  python3 scripts/build.py           the archive, with the kernel compiled for the platforms that Blender runs on, and
                                     with the manual as HTML
  python3 scripts/build.py --pure    the archive without binaries: the kernel runs interpreted everywhere
  python3 scripts/build.py --here    compile the kernel for this machine alone, for tests and demo; no archive
  python3 scripts/build.py --check   compile for all platforms twice, and check what comes out
  python3 scripts/build.py --proof   renew the stored solves by which a binary proves itself, then as --here
  python3 scripts/build.py --reference
                                     renew the manual's tables of what scripts can set and call, in Blender, and its
                                     drawings of how the extension is built

Compilers and the Markdown library are pinned packages that are set up on first use; what is up to date stays.
"""

from __future__ import annotations

import shutil
import tempfile
import tomllib
import zipfile
from argparse import ArgumentParser
from pathlib import Path

from dev.checking import check
from dev.compiling import NATIVE, SHIPPED, TARGETS, compile_kernel, ensure_built, is_current
from dev.diagrams import write_diagrams
from dev.manual import ensure_manual
from dev.proving import renew_proof
from environment import ROOT, SetupError, exit_with, new_parser, run_in_blender

__all__ = ("NATIVE", "ROOT", "build", "ensure_built", "stage")

STAGED_FILES = ("blender_manifest.toml", "README.md", "LICENSE")
LEFT_OUT = ("__pycache__", "native", "*.pyi", "ARCHITECTURE.md")
EVERYWHERE = ROOT / "build" / "native"
REFERENCE = """
import addon_session
addon_session.enable()
from dev import reference
reference.write()
addon_session.leave(0)
"""
EPOCH = (1980, 1, 1, 0, 0, 0)  # equal sources give an equal archive


def stage(folder: Path, natives: Path | None = NATIVE, manual: Path | None = None) -> Path:
    """Lay the extension out in `folder`, which is made anew, as Blender wants it: package and manifest side by side.

    Args:
        folder: Where to.
        natives: Folder with binaries of the kernel; those that are up to date come along. None for none.
        manual: Folder with the manual as HTML, which takes the place of the Markdown. None to keep that.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "fabrik_addon", folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for name in STAGED_FILES:
        shutil.copy2(ROOT / name, folder / name)
    if manual is not None:
        shutil.rmtree(folder / "manual")
        shutil.copytree(manual, folder / "manual")
    for target in TARGETS.values():
        if natives is not None and is_current(natives, target):
            inside = folder / "native" / target.tag
            inside.mkdir(parents=True)
            for name in (target.file, "core.json"):
                shutil.copyfile(natives / target.tag / name, inside / name)
    return folder


def build(folder: Path = ROOT / "dist", natives: Path | None = NATIVE) -> Path:
    """Build the archive into `folder` and return its path; see `stage`.

    Raises:
        SetupError: The manual can't be rendered.
    """
    manual = ensure_manual()
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{manifest['id']}-{manifest['version']}.zip"
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        staged = stage(Path(temporary) / manifest["id"], natives, manual)
        for file in sorted(path for path in staged.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(staged).as_posix(), EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, file.read_bytes())
    return archive


def _compile_everywhere() -> None:
    try:
        compile_kernel(EVERYWHERE, SHIPPED)
    except SetupError as error:
        raise SetupError(f"{error}\nwithout compilers: python3 scripts/build.py --pure") from error


def parser() -> ArgumentParser:
    """The parser of the arguments."""
    made = new_parser(__doc__)
    which = made.add_mutually_exclusive_group()
    for name in ("here", "pure", "check", "proof", "reference"):
        which.add_argument(f"--{name}", action="store_true")
    made.add_argument("--hints", action="store_true", help="with --here: what the compiler has to say on speed")
    made.add_argument(
        "--load", type=Path, action="append", default=[], help="with --check: a Python or Blender to load it in, too"
    )
    return made


def main() -> int:
    arguments = parser().parse_args()
    if arguments.check:
        return check(stage, arguments.load)
    if arguments.proof:
        renew_proof()
    if arguments.proof or arguments.here:
        ensure_built(hints=arguments.hints)
    elif arguments.reference:
        write_diagrams()
        ensure_built()
        return run_in_blender(["-c", REFERENCE])[0]
    elif arguments.pure:
        print(build(natives=None))
    else:
        _compile_everywhere()
        print(build(natives=EVERYWHERE))
    return 0


if __name__ == "__main__":
    exit_with(main)
