# SPDX-License-Identifier: GPL-3.0-or-later
"""Publish the extension: put it into a folder that any web server or file share can serve to Blender.

  python3 scripts/publish.py DIR                      the archives of all platforms and the pure one, built here
  python3 scripts/publish.py DIR --archive A.zip ...  archives that are there already

DIR gets the archives, index.json, by whose address Blender installs and updates, and index.html, a page from which the
extension is dragged into Blender. Blender goes on seeing the version before until the new list is whole; its archives
stay until the one after. The list is made by Blender's own tool, of the wheel that the tests use or, with
--blender PATH, of a real one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from build import ROOT, build, build_for_all
from environment import SetupError, blender_python, default_blender, exit_with, new_parser

LIST, PAGE = "index.json", "index.html"
OWN = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["id"]
TOOL = "[Ll]ib/**/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"


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
        archives: One a platform and one for all others, all of one version.
        tool: See `extension_tool`.

    Raises:
        SetupError: They are not that, Blender's tool refuses one, or the folder can't be written or lists something
            else; what was published stays.
    """
    _check(archives)
    before = _listed(folder)
    with tempfile.TemporaryDirectory(prefix="fabrik-publish-") as temporary:
        fresh = Path(temporary)
        try:
            for archive in archives:
                shutil.copyfile(archive, fresh / archive.name)
                _call([*tool, "validate", str(archive)], archive.name)
            _call([*tool, "server-generate", f"--repo-dir={fresh}", "--html"], "the list")
            _sort(fresh / LIST)
            names = [*(archive.name for archive in archives), PAGE, LIST]  # the list last
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as whole:  # each stands in its place once it is whole
                for name in names:
                    shutil.copyfile(fresh / name, Path(whole, name))
                for name in names:
                    Path(whole, name).replace(folder / name)
            for old in folder.glob("*.zip"):
                if old.name not in {*names, *before} and _id_of(old) == OWN:
                    old.unlink()
        except OSError as error:
            raise SetupError(f"'{folder}' can't be written: {error.strerror}") from error
    return folder / PAGE


def _check(archives: Sequence[Path]) -> None:
    """Refuse what can't stand beside each other in one list."""
    manifests = [_manifest_of(archive) for archive in archives]
    for archive, manifest in zip(archives, manifests, strict=True):
        if manifest.get("id") != OWN or not archive.name.startswith(f"{OWN}-") or archive.suffix != ".zip":
            raise SetupError(f"'{archive}' is no archive of {OWN}-*.zip")
    if len({manifest["version"] for manifest in manifests}) > 1:
        raise SetupError("the archives are of several versions")
    platforms = [str(manifest.get("platforms")) for manifest in manifests]
    if len({*platforms}) < len(platforms) or len({archive.name for archive in archives}) < len(archives):
        raise SetupError("two archives are for the same platform")


def _manifest_of(archive: Path) -> Mapping[str, Any]:
    try:
        with zipfile.ZipFile(archive) as opened:
            return tomllib.loads(opened.read("blender_manifest.toml").decode())
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise SetupError(f"'{archive}' is no archive of an extension: {error}") from error


def _listed(folder: Path) -> set[str]:
    """The archives that a folder serves.

    Raises:
        SetupError: It serves other extensions.
    """
    try:
        entries = json.loads((folder / LIST).read_text(encoding="utf-8"))["data"]
        others = [entry["id"] for entry in entries if entry["id"] != OWN]
        names = {Path(entry["archive_url"]).name for entry in entries}
    except FileNotFoundError:
        return set()
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise SetupError(f"'{folder / LIST}' is there, and is no list of extensions: {error}") from error
    if others:
        raise SetupError(f"'{folder}' serves '{others[0]}': publish into a folder of its own")
    return names


def _id_of(archive: Path) -> str:
    """Of which extension an archive is; "" where of none."""
    try:
        return str(_manifest_of(archive).get("id"))
    except SetupError:
        return ""


def _sort(listed: Path) -> None:
    """Those for a platform first: Blender takes the first that fits."""
    told = json.loads(listed.read_text(encoding="utf-8"))
    told["data"].sort(key=lambda entry: ("platforms" not in entry, entry["archive_url"]))
    listed.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _call(command: Sequence[str], what: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SetupError(f"'{command[0]}' can't be run: {error.strerror}") from error
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
    made = parser()
    arguments = made.parse_args()
    if arguments.archive and arguments.website:
        made.error("--website is for archives that are built here")
    with tempfile.TemporaryDirectory(prefix="fabrik-build-") as temporary:
        archives, built = arguments.archive, Path(temporary)
        if not archives:
            archives = [*build_for_all(built, arguments.website), build(None, built, website=arguments.website)]
        print(publish(arguments.folder, archives, extension_tool(arguments.blender)))
    return 0


if __name__ == "__main__":
    exit_with(main)
