# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the files of this version of the extension, for the versions to come to be tested with; see README.md here.

  .venv/blender-4.2/bin/python tests/data/make_old_files.py              every file, to be opened by every Blender
  .venv/blender-5.0/bin/python tests/data/make_old_files.py blender-5.0  one file alone

It writes to the folder of the version that blender_manifest.toml names. Run it once for a version, before that is
published, and never again: the files are to stay as that version wrote them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / ".venv" / f"test-{sys.version_info[0]}.{sys.version_info[1]}"  # what the tests need beside Blender
sys.path[:0] = [str(path) for path in (HERE, HERE.parent, ROOT / "scripts", PACKAGES)]
WORK = tempfile.mkdtemp(prefix="fabrik-")
os.environ["HOME"] = os.environ["BLENDER_USER_RESOURCES"] = WORK  # Blender keeps folders of the user in its files

import bpy

import addon_session

addon_session.enable(Path(WORK) / "repository")

from fabrik_addon.actions.setup.parts import mapping_of
from fabrik_addon.recognise.mapping import mapping_text
from old_rigs import EXACT, FILES, FRAMES, MAPPED, SAVED, SET_UP

from support.rig_facts import meant_at, plain, stored


def make(name: str, folder: Path) -> None:
    """Make a file, and beside it what it holds and means."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    place = Path(WORK) / f"{name}.blend"
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.ops.wm.save_as_mainfile(filepath=str(place))  # so that a library is linked by a relative path
    for build in FILES[name]:
        build()
    meant_at(SAVED)
    bpy.ops.wm.save_as_mainfile(filepath=str(place), compress=True)
    bpy.ops.wm.open_mainfile(filepath=str(place))
    facts = {"blender": bpy.app.version_string, "file": place.name, "frame": SAVED, "exact": sorted(EXACT), **stored()}
    _leave_out_plain(facts)
    facts["meant"] = {str(frame): meant_at(frame) for frame in FRAMES}
    (folder / place.name).write_bytes(place.read_bytes())
    (folder / f"{name}.json").write_text(_lines(facts) + "\n", encoding="utf-8")
    if name == MAPPED:
        (folder / "mappings").mkdir()
        text = mapping_text(mapping_of(bpy.data.objects[SET_UP]))
        (folder / "mappings" / "set_up.json").write_text(text, encoding="utf-8")


def _leave_out_plain(facts: dict[str, Any]) -> None:
    """Tell once what bones, armatures and chains hold on which nothing was set, and of each what differs from it."""
    facts["plain_rig"], facts["plain_chain"], facts["plain_bone"] = plain()
    for owner, rig in facts["rigs"].items():
        rig["bones"] = {bone: _without(facts["plain_bone"], values) for bone, values in rig["bones"].items()}
        rig["fabrik_chains"] = [_without(facts["plain_chain"], chain) for chain in rig["fabrik_chains"]]
        facts["rigs"][owner] = _without(facts["plain_rig"], rig)


def _without(plain: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What is not as where nothing was set."""
    return {name: value for name, value in found.items() if name not in plain or value != plain[name]}


def _lines(value: Any, indent: str = "") -> str:
    """JSON with a line for what fits on one."""
    text = json.dumps(value)
    if len(text) + len(indent) <= 120 or not isinstance(value, dict | list):
        return text
    inner = indent + " "
    if isinstance(value, dict):
        entries = [f"{json.dumps(name)}: {_lines(found, inner)}" for name, found in value.items()]
        return "{\n" + ",\n".join(inner + entry for entry in entries) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _lines(found, inner) for found in value) + f"\n{indent}]"


def main() -> int:
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    folder = HERE / version
    folder.mkdir(exist_ok=True)
    names = sys.argv[1:] or [name for name in FILES if not name.startswith("blender-")]
    kept = [name for name in names if (folder / f"{name}.blend").exists()]
    if kept:
        sys.stderr.write(f"{', '.join(kept)}: there already, as version {version} wrote it\n")
        return 1
    for name in names:
        make(name, folder)
        size = (folder / f"{name}.blend").stat().st_size
        sys.stderr.write(f"{name}.blend: {size} bytes\n")
    return 0


if __name__ == "__main__":
    code = main()
    shutil.rmtree(WORK)
    sys.stdout.flush()
    os._exit(code)  # some wheels of 4.x crash in Blender's own clean-up
