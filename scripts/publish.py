# SPDX-License-Identifier: GPL-3.0-or-later
"""Publish the extension: put it into a folder that any web server or file share can serve to Blender.

  python3 scripts/publish.py DIR                      the archives of all platforms, compiled here
  python3 scripts/publish.py DIR --archive A.zip ...  archives that are there already

DIR gets the archives, index.json, by whose address Blender installs and updates, and index.html, a page from which the
extension is dragged into Blender. What was published before is replaced, and is served as it was until the new list is
whole. The list is made by Blender's own tool, of the wheel that the tests use or, with --blender PATH, of a real one.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from build import build_for_all
from environment import SetupError, blender_python, default_blender, exit_with, new_parser

LISTS = ("index.json", "index.html")
TOOL = "lib/python*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"


def extension_tool(blender: str = "") -> list[str]:
    """The command that is Blender's own tool for extensions.

    Args:
        blender: A real Blender; "" for the wheel of this Python.

    Raises:
        SetupError: There is no such wheel.
    """
    if blender:
        return [blender, "--command", "extension"]
    python = blender_python(default_blender())
    return [str(python), str(next(python.parents[1].glob(TOOL)))]


def publish(folder: Path, archives: Sequence[Path], tool: Sequence[str]) -> Path:
    """Make a folder serve these archives and no others; the page to look at.

    Args:
        folder: Is made where it is not there.
        archives: One a platform, all of one version.
        tool: See `extension_tool`.

    Raises:
        SetupError: Blender's tool refuses an archive, or the folder can't be written; what was published stays.
    """
    with tempfile.TemporaryDirectory(prefix="fabrik-publish-") as temporary:
        fresh = Path(temporary)
        for archive in archives:
            shutil.copyfile(archive, fresh / archive.name)
            _tool([*tool, "validate", str(archive)], archive.name)
        _tool([*tool, "server-generate", f"--repo-dir={fresh}", "--html"], "the list")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file in (*(fresh / archive.name for archive in archives), *(fresh / name for name in LISTS)):
                shutil.copyfile(file, folder / f"{file.name}.part")
            for file in (*archives, *(fresh / name for name in LISTS)):  # the lists last
                (folder / f"{file.name}.part").replace(folder / file.name)
            for old in {*folder.glob("*.zip")} - {folder / archive.name for archive in archives}:
                old.unlink()
        except OSError as error:
            raise SetupError(f"'{folder}' can't be written: {error.strerror}") from error
    return folder / "index.html"


def _tool(command: Sequence[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f"Blender's tool refuses {what}:\n{(done.stdout + done.stderr).strip()}")


def parser() -> ArgumentParser:
    """The parser of the arguments."""
    made = new_parser(__doc__)
    made.add_argument("folder", metavar="DIR", type=Path)
    made.add_argument("--archive", type=Path, nargs="+", default=[], help="publish these instead of building")
    made.add_argument("--website", default="", help="address that Blender shows for the extension")
    made.add_argument("--blender", default="", help="a Blender whose tool makes the list")
    return made


def main() -> int:
    arguments = parser().parse_args()
    missing = [str(archive) for archive in arguments.archive if not archive.is_file()]
    if missing:
        raise SetupError(f"there is no file '{missing[0]}'")
    archives = arguments.archive or build_for_all(website=arguments.website)
    print(publish(arguments.folder, archives, extension_tool(arguments.blender)))
    return 0


if __name__ == "__main__":
    exit_with(main)
