# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder that sets the extension up for a studio, found by a Blender whose user has never used it."""

from __future__ import annotations

import ast
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import bpy
import pytest

from blender import OPS
from build import ROOT, build
from dev.compiling import here
from support.processes import blender_script, run_process

STUDIO = ROOT / "scripts" / "studio"
PRESETS = sorted((STUDIO / "presets" / "operator").glob("*/*.py"))
TELL = """
import json, os
import bpy
module = "bl_ext.system.fabrik"
preferences = bpy.context.preferences
own = preferences.addons[module].preferences
told = {"goal_kind": own.goal_kind, "passes": own.max_passes, "operators": len(dir(bpy.ops.fabrik))}
told["assets"] = {library.name: library.path for library in preferences.filepaths.asset_libraries}
told["presets"] = {os.path.basename(path): sorted(os.listdir(path)) for operator in ("character_setup", "goal_space")
                   for path in bpy.utils.preset_paths("operator/fabrik." + operator)}
import fabrik_studio

def start():
    fabrik_studio.register()
    bpy.ops.wm.read_homefile(use_empty=True)
    return own.goal_kind, round(own.target_size, 6), own.max_passes

fabrik_studio.PREFERENCES = {"goal_kind": "NONSENSE", "target_size": 0.07, "max_passes": 99}
told["later"] = start()
own.goal_kind, own.max_passes = "EMPTY", 11
fabrik_studio.PREFERENCES = {"goal_kind": "BONE", "target_size": 0.08, "max_passes": 100}
told["again"] = start()
told["libraries"] = len([one for one in preferences.filepaths.asset_libraries if one.name == "FABRIK Studio"])
print("TOLD " + json.dumps(told), flush=True)
os._exit(0)
"""


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    """A copy with the extension in it, beside the user's folder."""
    folder = tmp_path / "studio"
    shutil.copytree(STUDIO, folder)
    with zipfile.ZipFile(build(here(), tmp_path)) as archive:
        archive.extractall(folder / "extensions" / "system" / "fabrik")
    return folder


def test_a_fresh_blender_has_it_on_and_set_up(studio: Path, tmp_path: Path) -> None:
    """And another start brings what the studio has changed, and leaves what the user has changed."""
    script = tmp_path / "tell.py"
    script.write_text(TELL)
    found = {
        "BLENDER_SYSTEM_SCRIPTS": studio,
        "BLENDER_SYSTEM_EXTENSIONS": studio / "extensions",
        "BLENDER_USER_RESOURCES": tmp_path / "user",
    }
    command = [word for word in blender_script(script) if word != "--factory-startup"]
    done = run_process(command, {name: str(path) for name, path in found.items()})
    lines = [line for line in done.stdout.splitlines() if line.startswith("TOLD ")]
    assert lines, (done.stdout + done.stderr)[-3000:]
    first = json.loads(lines[0].removeprefix("TOLD "))
    assert (first["goal_kind"], first["libraries"]) == ("BONE", 1)
    assert first["later"] == ["BONE", 0.07, 99]
    assert first["again"] == ["EMPTY", 0.08, 11]
    assert first["operators"] == len(dir(OPS.fabrik))
    assert first["assets"]["FABRIK Studio"] == str(studio / "assets")
    assert first["presets"] == {
        path.parent.name: [one.name for one in PRESETS if one.parent == path.parent] for path in PRESETS
    }


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_preset_sets_what_the_operator_has(path: Path) -> None:
    group, _, name = path.parent.name.partition(".")
    operator: Any = getattr(getattr(OPS, group), name)
    rna = operator.get_rna_type()
    lines = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Assign)][1:]
    assert lines
    for line in lines:
        (target,) = line.targets
        assert isinstance(target, ast.Attribute)
        prop, value = rna.properties[target.attr], ast.literal_eval(line.value)
        assert not prop.is_skip_save
        assert value in ([item.identifier for item in prop.enum_items] if prop.type == "ENUM" else (True, False))
    assert "PRESET" in getattr(bpy.types, f"{group.upper()}_OT_{name}").bl_options
