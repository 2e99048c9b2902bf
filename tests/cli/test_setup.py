# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs of characters on the command line: told, and made posable."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.cli.commands import run
from fabrik_addon.rig.schema import rig_of

from support.cli_files import refused, reported
from support.scenes import make_empty
from support.skeletons import make_character, rename_all

PARTS = ["Arm.L", "Arm.R", "Head", "Leg.L", "Leg.R", "Spine"]


@pytest.fixture
def character(tmp_path: Path) -> Path:
    path = tmp_path / "character.blend"
    make_character("human_mixamo")
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_inspect_tells_parts(character: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "--file", str(character), "--parts"]) == 0
    (report,) = reported(capfd)["parts"]
    found: dict[str, object] = report
    told: list[dict[str, object]] = report["parts"]
    assert (found["plan"], found["convention"], found["body"]) == ("HUMAN", "Mixamo", "mixamorig:Hips")
    parts = {str(part["name"]): part for part in told}
    assert sorted(name for name, part in parts.items() if part["kind"] != "FINGER") == PARTS
    assert parts["Leg.L"]["bones"] == ["mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot"]
    assert all(part["is_applied"] for part in parts.values())
    assert found["missing"] == []


def test_setup_saves_a_rig_that_can_be_posed(character: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = character.with_name("rig.blend")
    assert run(["setup", "--file", str(character), "--output", str(output), "--without", "poles"]) == 0
    (report,) = reported(capfd)["armatures"]
    made: list[str] = report["done"]["made"]
    asked: list[str] = report["asked"]
    assert (sorted(made), asked) == (PARTS, [])
    bpy.ops.wm.open_mainfile(filepath=str(output))
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    assert sorted(chain.name for chain in rig_of(owner).chains) == PARTS
    assert all(chain.pole is None for chain in rig_of(owner).chains)
    assert run(["solve", "--file", str(output), "--chain", "Leg.L"]) == 0


def test_what_is_not_sure_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shark.blend"
    rename_all(make_character("shark"))
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert run(["setup", "--file", str(path)]) == 1
    (report,) = reported(capfd)["armatures"]
    found: dict[str, object] = report
    assert found["asked"] == ["Leg.L", "Leg.R", "Tail"]
    assert "not" in str(found["error"])


def test_setup_refuses_what_makes_no_sense(character: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["setup", "--file", str(character), "--chain", "Leg.L"]) == 2
    assert "--chain does not go with setup" in refused(capfd)
    assert run(["setup", "--file", str(character), "--plan", "OCTOPUS"]) == 2
    refused(capfd)
    empty = tmp_path / "empty.blend"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make_empty((0, 0, 0))
    bpy.ops.wm.save_as_mainfile(filepath=str(empty))
    assert run(["setup", "--file", str(empty)]) == 2
    assert "no armature" in refused(capfd)
