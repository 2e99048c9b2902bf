# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension into dist/ and print the paths; needs Python 3.11 or later.

  python3 scripts/build.py           an archive for each platform that Blender runs on, with the kernel compiled for it,
                                     and with the manual as HTML
  python3 scripts/build.py --pure    the archive without binaries: the kernel runs interpreted everywhere
  python3 scripts/build.py --here    compile the kernel for this machine alone, for tests and demo; no archive
  python3 scripts/build.py --check   compile for all platforms twice, and check what comes out
  python3 scripts/build.py --proof   renew the stored solves by which a binary proves itself, then as --here
  python3 scripts/build.py --reference
                                     renew the manual's tables of what scripts can set and call, in Blender, and its
                                     drawings of how the extension is built

Compilers and the Markdown library are pinned packages that are set up on first use; what is up to date stays. What
Blender's platform would refuse is not built, but named.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dev.compiling import NATIVE, SHIPPED, TARGETS, Target, check, compile_kernel, ensure_built, is_current, renew_proof
from dev.diagrams import write_diagrams
from dev.refusals import refusals
from environment import ROOT, SetupError, ensure, exit_with, new_parser, requirements, run_in_blender

__all__ = ("NATIVE", "ROOT", "build", "build_for_all", "ensure_built", "ensure_manual", "pack", "stage")

STAGED_FILES = ("blender_manifest.toml", "README.md", "LICENSE")
OF_BINARIES = ("__init__.py", "loading.py", "proof.json")  # of the kernel
LEFT_OUT = ("__pycache__", "native", "*.pyi", "ARCHITECTURE.md")
EVERYWHERE = ROOT / "build" / "native"
MANUAL = ROOT / "fabrik_addon" / "manual"
REFERENCE = """
import addon_session
addon_session.enable()
from dev import reference
reference.write()
addon_session.leave(0)
"""
UNIX, READABLE = 3, 0o100644  # as zip archives tell the system, and the mode of a file: for who unpacks one by hand
EPOCH = (1980, 1, 1, 0, 0, 0)  # equal sources give an equal archive


def stage(
    folder: Path,
    natives: Path | None = NATIVE,
    manual: Path | None = None,
    *,
    targets: Sequence[Target] = tuple(TARGETS.values()),
    website: str = "",
    compiled_at: str = "",
) -> Path:
    """Lay the extension out in `folder`, which is made anew, as Blender wants it: package and manifest side by side.

    Args:
        folder: Where to.
        natives: Folder with binaries of the kernel; those that are up to date come along. None for the pure one, in
            which there is nothing to load binaries by either.
        manual: Folder with the manual as HTML, which takes the place of the Markdown. None to keep that.
        targets: Platforms whose binaries come along; of a single one the manifest tells.
        website: For the manifest; "" for none.
        compiled_at: Where those find the compiled one who have the pure one; "" where that is nowhere.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "fabrik_addon", folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for name in STAGED_FILES:
        shutil.copy2(ROOT / name, folder / name)
    if manual is not None:
        shutil.rmtree(folder / "manual")
        shutil.copytree(manual, folder / "manual")
    told = {"website": json.dumps(website, ensure_ascii=False)} if website else {}
    if natives is None:
        for name in OF_BINARIES:
            (folder / "kernel" / name).unlink()
        (folder / "kernel" / "names.py").rename(folder / "kernel" / "__init__.py")
        if compiled_at:
            (folder / "compiled_at.txt").write_text(f"{compiled_at}\n", encoding="utf-8")
    elif len(targets) == 1:
        told["platforms"] = json.dumps([targets[0].tag])
    for target in targets:
        if natives is not None and is_current(natives, target):
            inside = folder / "native" / target.tag
            inside.mkdir(parents=True)
            for name in (target.file, "core.json"):
                shutil.copyfile(natives / target.tag / name, inside / name)
    manifest = folder / "blender_manifest.toml"
    lines = "".join(f"{name} = {value}\n" for name, value in told.items())
    text = manifest.read_text(encoding="utf-8").replace("\n[permissions]", f"{lines}\n[permissions]")
    manifest.write_text(text, encoding="utf-8")
    return folder


def ensure_manual() -> Path:
    """The folder with the manual as HTML.

    Raises:
        SetupError: The library can't be installed, or a page is wrong.
    """
    built = ROOT / "build" / "manual"
    pages = built / _digest()
    if pages.exists():
        return pages
    python = ensure("manual", ["manual"])
    built.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built) as made:  # where two render at once each has its own
        command = [str(python), "-m", "dev.render_manual", f"{made}/pages"]
        done = subprocess.run(command, cwd=ROOT / "scripts", check=False, capture_output=True, text=True)
        if done.returncode:
            raise SetupError(f"the manual can't be rendered: {done.stderr.strip().splitlines()[-1]}")
        with suppress(OSError):  # the other was quicker
            Path(made, "pages").rename(pages)
    return pages


def _digest() -> str:
    """Of all that decides how the pages come out."""
    found = hashlib.sha256(repr(requirements("manual")).encode())
    pictures = sorted((ROOT / "scripts" / "pictures").iterdir())
    for file in (*sorted((ROOT / "scripts" / "dev").glob("*manual.*")), *sorted(MANUAL.glob("*.md")), *pictures):
        found.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def build(
    target: Target | None,
    folder: Path = ROOT / "dist",
    natives: Path = NATIVE,
    *,
    website: str = "",
    compiled_at: str = "",
) -> Path:
    """Build an archive into `folder` and return its path; see `stage`.

    Args:
        target: The platform for which it is; None for the pure one.
        folder: Where to.
        natives: Folder with binaries of the kernel.
        website: For the manifest.
        compiled_at: For the pure one.

    Raises:
        SetupError: The manual can't be rendered, the kernel is not compiled, or Blender's platform would refuse the
            extension; the text says which.
    """
    if target is not None and not is_current(natives, target):
        raise SetupError(f"the kernel is not compiled for {target.tag}: python3 scripts/build.py --here")
    manual = ensure_manual()
    with tempfile.TemporaryDirectory() as temporary:
        staged = stage(
            Path(temporary) / "extension",
            natives if target is not None else None,
            manual,
            targets=[target] if target is not None else [],
            website=website,
            compiled_at=compiled_at,
        )
        found = refusals(staged)
        if found:
            raise SetupError("\n".join(found))
        return pack(staged, folder)


def pack(staged: Path, folder: Path) -> Path:
    """Pack an extension that is laid out into a folder, by the name that Blender's own tool would give it."""
    manifest = tomllib.loads((staged / "blender_manifest.toml").read_text(encoding="utf-8"))
    platforms = [platform.replace("-", "_") for platform in manifest.get("platforms", [])]
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{'-'.join([manifest['id'], manifest['version'], *platforms])}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(path for path in staged.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(staged).as_posix(), EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = UNIX, READABLE << 16
            packed.writestr(entry, file.read_bytes())
    return archive


def build_for_all(folder: Path = ROOT / "dist", website: str = "") -> list[Path]:
    """Compile for all platforms, and build the archive of each into `folder`.

    Raises:
        SetupError: See `build`; or compilers can't be had.
    """
    try:
        compile_kernel(EVERYWHERE, SHIPPED)
    except SetupError as error:
        raise SetupError(f"{error}\nwithout compilers: python3 scripts/build.py --pure") from error
    return [build(target, folder, EVERYWHERE, website=website) for target in SHIPPED]


def parser() -> ArgumentParser:
    """The parser of the arguments."""
    made = new_parser(__doc__)
    which = made.add_mutually_exclusive_group()
    for name in ("here", "pure", "check", "proof", "reference"):
        which.add_argument(f"--{name}", action="store_true")
    made.add_argument("--website", default="", help="address that Blender shows for the extension")
    made.add_argument("--compiled-at", default="", help="with --pure: address at which the compiled ones are")
    return made


def main() -> int:
    made = parser()
    arguments = made.parse_args()
    if arguments.compiled_at and not arguments.pure:
        made.error("--compiled-at is for --pure")
    if arguments.check:
        return check(stage)
    if arguments.proof:
        renew_proof()
    if arguments.proof or arguments.here:
        ensure_built()
    elif arguments.reference:
        write_diagrams()
        ensure_built()
        return run_in_blender(["-c", REFERENCE])[0]
    elif arguments.pure:
        print(build(None, website=arguments.website, compiled_at=arguments.compiled_at))
    else:
        print(*build_for_all(website=arguments.website), sep="\n")
    return 0


if __name__ == "__main__":
    exit_with(main)
