# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Character with what it can't set up, with what is not sure, with rigs of controls, and by a mapping."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest
from fabrik_addon.actions.setup.parts import find_parts
from fabrik_addon.rig.schema import limit_of, rig_of

from support.scenes import Bone, answer, assert_refused, make_armature, make_empty, make_line, overridden, press, select
from support.skeletons import make_character, rename_all


def refused(owner: bpy.types.Object, match: str, **options: object) -> None:
    """Nothing is set up, for a reason that is told."""
    before = [bone.name for bone in owner.data.bones]
    assert_refused(match, "character_setup", **options)
    assert len(rig_of(owner).chains) == 0
    assert [bone.name for bone in owner.data.bones] == before
    assert {limit_of(bone).limit for bone in owner.pose.bones} <= {"FREE"}


@pytest.mark.parametrize("bones", [[], [Bone((0, 0, 0), (0, 0, 1))]], ids=["none", "one"])
def test_too_few_bones(bones: list[Bone]) -> None:
    refused(make_armature(bones), "no limb was found")


def test_a_row_of_many_bones_is_one_chain() -> None:
    owner = make_line(300, length=0.01)
    press("character_setup")
    assert [(chain.name, chain.bone_count) for chain in rig_of(owner).chains] == [("Chain 1", 300)]


def test_a_foot_that_is_pinned_already() -> None:
    owner = make_character("human_game_engine")
    select(owner, "foot_l")
    press("chain_add", bone_count=1, use_target=False)
    press("pin_toggle")
    press("character_setup")
    chains = rig_of(owner).chains
    assert {chain.name for chain in chains if chain.pin} == {"foot_l", "Leg.R"}
    assert chains["Leg.L"].target is not None
    assert {"Arm.L", "Arm.R", "Leg.L", "Leg.R"} <= {chain.name for chain in chains}


def test_an_object_that_is_no_armature() -> None:
    make_character("human")
    bpy.context.view_layer.objects.active = make_empty((0, 0, 0))
    assert not bpy.ops.fabrik.character_setup.poll()


def test_edit_mode_and_rest_position() -> None:
    owner = make_character("human_mixamo")
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.fabrik.character_setup.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    owner.data.pose_position = "REST"
    assert not bpy.ops.fabrik.character_setup.poll()


def test_it_works_in_pose_mode_and_leaves_the_mode_alone() -> None:
    owner = make_character("human_mixamo")
    select(owner, "mixamorig:Hips")
    press("character_setup")
    assert owner.mode == "POSE"
    assert len(rig_of(owner).chains) == 6


def test_what_is_not_sure_is_left_out_and_told() -> None:
    owner = make_character("shark")
    rename_all(owner)
    refused(owner, "nothing of it is sure")


def test_what_is_not_sure_is_set_up_where_it_was_answered() -> None:
    owner = make_character("shark")
    new = rename_all(owner)
    answers = [
        answer("Leg.L", new["side_fin.L"], new["side_fin.L.001"], use=True),
        answer("Leg.R", new["side_fin.R"], new["side_fin.R.001"], use=False),
        answer("Tail", new["spine.001"], new["spine"], use=True),
    ]
    press("character_setup", parts=answers)
    found = {chain.name: (chain.tip_bone, chain.bone_count) for chain in rig_of(owner).chains}
    assert found == {"Leg.L": (new["side_fin.L.001"], 2), "Tail": (new["spine"], 2)}


@pytest.mark.parametrize(
    ("first", "last", "match"),
    [
        ("gone", "spine", "no bone 'gone'"),
        ("side_fin.L", "spine", "does not hang on"),
        ("spine", "spine.001", "does not hang"),
    ],
)
def test_answers_that_make_no_sense(first: str, last: str, match: str) -> None:
    owner = make_character("shark")
    answers = [answer("Tail", first, last, use=True)]
    refused(owner, match, parts=answers)


def test_linked_data_is_set_up_with_empties(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    override = overridden(make_character("human_mixamo"), tmp_path)
    capfd.readouterr()
    press("character_setup")
    assert "armature data is linked and can't be given bones, so its targets are empties" in capfd.readouterr().out
    chains = rig_of(override).chains
    assert len(chains) == 6
    assert {chain.target.type for chain in chains if chain.target is not None} == {"EMPTY"}


def test_bones_that_all_follow_something_else_are_refused() -> None:
    owner = make_character("human_mixamo")
    target = make_empty((0, 0, 0))
    bpy.context.view_layer.objects.active = owner
    for bone in owner.pose.bones:
        bone.constraints.new("COPY_ROTATION").target = target
    assert not find_parts(owner).parts
    refused(owner, "nothing of it can be posed")


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


def test_a_mapping_of_other_bones_changes_nothing(mapping: Path, line: bpy.types.Object) -> None:
    assert_refused("no bone 'mixamorig:", "mapping_import", filepath=str(mapping))
    assert len(rig_of(line).chains) == 0


def test_bones_that_hang_elsewhere_are_named(mapping: Path) -> None:
    data = json.loads(mapping.read_text(encoding="utf-8"))
    data["parts"][0]["bones"].reverse()
    mapping.write_text(json.dumps(data), encoding="utf-8")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = make_character("human_mixamo")
    assert_refused("does not hang on", "mapping_import", filepath=str(mapping))
    assert len(rig_of(owner).chains) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no mapping: JSONDecodeError"),
        (b"\xff\xfe", "broken.json' can't be read: UnicodeDecodeError"),
        (b"{}", "not just the fields body, fabrik_mapping, parts, plan"),
        (b"[" * 50_000, "no mapping: RecursionError"),
    ],
)
def test_a_broken_file_changes_nothing(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(text)
    owner = make_character("human_mixamo")
    assert_refused(said, "mapping_import", filepath=str(path))
    assert_refused("can't be read", "mapping_import", filepath=str(tmp_path / "gone.json"))
    assert len(rig_of(owner).chains) == 0


def test_it_can_be_written_only_where_there_are_chains(tmp_path: Path) -> None:
    make_character("human_mixamo")
    assert not bpy.ops.fabrik.mapping_export.poll()
    press("character_setup")
    assert_refused("can't be written", "mapping_export", filepath=str(tmp_path / "no" / "folder.json"))
