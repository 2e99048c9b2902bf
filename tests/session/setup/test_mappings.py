# SPDX-License-Identifier: GPL-3.0-or-later
"""A character is set up by the mapping that another one was written to."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest
from fabrik_addon.rig.schema import limit_of, rig_of

from support.scenes import make_line, press
from support.skeletons import make_character


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    """That of a human, as written by the button."""
    make_character("human_mixamo")
    press("character_setup")
    path = tmp_path / "human.json"
    press("mapping_export", filepath=str(path))
    return path


def chains_of(owner: bpy.types.Object) -> dict[str, tuple[object, ...]]:
    return {
        chain.name: (chain.tip_bone, chain.bone_count, chain.effector, chain.pin, chain.orientation)
        for chain in rig_of(owner).chains
    }


def test_a_rig_is_set_up_as_the_one_before(mapping: Path) -> None:
    first = chains_of(bpy.context.object)
    limits = {bone.name: limit_of(bone).limit for bone in bpy.context.object.pose.bones}
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = make_character("human_mixamo")
    press("mapping_import", filepath=str(mapping))
    assert chains_of(owner) == first
    assert rig_of(owner).body_bone == "mixamorig:Hips"
    assert {bone.name: limit_of(bone).limit for bone in owner.pose.bones if bone.name in limits} == limits


def test_a_mapping_of_other_bones_changes_nothing(mapping: Path) -> None:
    owner = make_line(3)
    with pytest.raises(RuntimeError, match="no bone 'mixamorig:"):
        press("mapping_import", filepath=str(mapping))
    assert len(rig_of(owner).chains) == 0


def test_bones_that_hang_elsewhere_are_named(mapping: Path) -> None:
    data = json.loads(mapping.read_text(encoding="utf-8"))
    data["parts"][0]["bones"].reverse()
    mapping.write_text(json.dumps(data), encoding="utf-8")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = make_character("human_mixamo")
    with pytest.raises(RuntimeError, match="does not hang on"):
        press("mapping_import", filepath=str(mapping))
    assert len(rig_of(owner).chains) == 0


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"{}", b"[" * 50_000])
def test_a_broken_file_changes_nothing(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(text)
    owner = make_character("human_mixamo")
    with pytest.raises(RuntimeError, match=r"mapping|read"):
        press("mapping_import", filepath=str(path))
    with pytest.raises(RuntimeError, match="can't be read"):
        press("mapping_import", filepath=str(tmp_path / "gone.json"))
    assert len(rig_of(owner).chains) == 0


def test_it_can_be_written_only_where_there_are_chains(tmp_path: Path) -> None:
    make_character("human_mixamo")
    assert not bpy.ops.fabrik.mapping_export.poll()
    press("character_setup")
    with pytest.raises(RuntimeError, match="can't be written"):
        press("mapping_export", filepath=str(tmp_path / "no" / "folder.json"))
