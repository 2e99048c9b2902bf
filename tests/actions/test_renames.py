# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains go with bones that are renamed, in every mode and by whatever means."""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import pytest
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.renames import follow_renames
from fabrik_addon.rig.schema import limit_of, rig_of

from support.judging import tip_error
from support.scenes import (
    Bone,
    add_chain,
    armature,
    assert_refused,
    edited,
    go_live,
    make_armature,
    make_empty,
    make_line,
    press,
    reaching_line,
    reload,
    select,
    solved_status,
)


def in_pose_mode(owner: bpy.types.Object, names: dict[str, str]) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    for old, new in names.items():
        armature(owner).bones[old].name = new
    bpy.context.view_layer.update()


def in_edit_mode(owner: bpy.types.Object, names: dict[str, str]) -> None:
    with edited(owner) as bones:
        for old, new in names.items():
            bones[old].name = new


def seen_in_edit_mode(owner: bpy.types.Object, names: dict[str, str]) -> None:
    """As by hand: Blender evaluates after each, and then the bone is reshaped as well."""
    with edited(owner) as bones:
        for old, new in names.items():
            bones[old].name = new
            bpy.context.view_layer.update()
            bones[new].tail.x += 0.05


def by_a_script(owner: bpy.types.Object, names: dict[str, str]) -> None:
    """Nothing is evaluated until an operator runs."""
    for old, new in names.items():
        armature(owner).bones[old].name = new


WAYS = (in_pose_mode, in_edit_mode, seen_in_edit_mode, by_a_script)
Way = Callable[[bpy.types.Object, dict[str, str]], None]


@pytest.mark.parametrize("way", WAYS)
def test_tip_captured_and_blocking_names_follow(way: Way) -> None:
    owner = make_line(3, bend=0.2)
    for name in ("b1", "b2"):
        limit = limit_of(pose_bones(owner)[name])
        limit.limit, limit.angle_min, limit.angle_max = "HINGE", radians(-20), radians(5)
    chain = add_chain(owner, (0.0, 0.4, 0.9))
    pose_bones(owner)["b0"].rotation_quaternion = (0.9, 0.1, 0.2, 0.0)
    press("start_pose_capture")
    assert solved_status(chain) == "BLOCKED"
    captured = [tuple(item.rotation) for item in chain.captured]
    blocking = [bone.name for bone in chain.blocking_bones]
    assert "b1" in blocking
    assert "b1 would" in chain.message
    way(owner, {"b1": "knee", "b2": "foot"})
    follow_renames([owner])
    assert (chain.tip_bone, chain.status, chain.name) == ("foot", "BLOCKED", "b2")
    assert [item.name for item in chain.captured] == ["b0", "knee", "foot"]
    assert [tuple(item.rotation) for item in chain.captured] == captured
    renamed = {"b1": "knee", "b2": "foot"}
    assert [bone.name for bone in chain.blocking_bones] == [renamed.get(name, name) for name in blocking]
    assert "knee would" in chain.message
    assert solved_status(chain) == "BLOCKED"
    assert ("rest pose changed" in chain.message) == (way is seen_in_edit_mode)  # there it did


@pytest.mark.parametrize("way", [in_pose_mode, in_edit_mode, by_a_script])
def test_bones_that_are_goals_follow(way: Way) -> None:
    other = make_armature([Bone((0.5, 0.5, 2.0), (0.5, 0.5, 2.5)), Bone((0, 3, 1), (0, 3, 2), parent=None)], "Goals")
    owner = make_line(3, bend=0.2)
    chain = add_chain(owner)
    chain.target, chain.target_bone, chain.pole, chain.pole_bone = other, "b0", other, "b1"
    press("solve")
    bpy.context.view_layer.objects.active = other
    way(other, {"b0": "hand.target", "b1": "hand.pole"})
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = owner
    press("solve")
    assert (chain.target_bone, chain.pole_bone, chain.status) == ("hand.target", "hand.pole", "REACHED")
    assert chain.tip_bone == "b2"  # the rig's own bones of those names are others


def test_a_live_chain_goes_on() -> None:
    owner, chain = reaching_line((0.5, 0.5, 2.0), bend=0.2)
    go_live(owner)
    for way in (in_pose_mode, in_edit_mode):
        way(owner, {name: f"x{name}" for name in [bone.name for bone in pose_bones(owner)]})
        assert chain.enabled
        chain.target.location.y += 0.2
        bpy.context.view_layer.update()
        assert (chain.status, chain.tip_bone in pose_bones(owner)) == ("REACHED", True)
        assert tip_error(owner, chain) < 1e-5


@pytest.mark.parametrize("way", [in_pose_mode, in_edit_mode, by_a_script])
def test_names_that_are_swapped(way: Way) -> None:
    bones = [Bone((0, 0, 0), (0, 0, 1)), Bone((1, 0, 1), (2, 0, 1), parent=0), Bone((-1, 0, 1), (-2, 0, 1), parent=0)]
    owner = make_armature(bones)
    left, right = (add_chain(owner, (x, 0, 2), tip, 1) for x, tip in ((1.5, "b1"), (-1.5, "b2")))
    left, right = rig_of(owner).chains
    way(owner, {"b1": "between", "b2": "b1", "between": "b2"})
    follow_renames([owner])
    assert (left.tip_bone, right.tip_bone) == ("b2", "b1")


def test_bones_in_one_place_are_told_apart() -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0, 1)), *[Bone((0, 0, 1), (0, 0.1, 2), parent=0)] * 4])
    chain = add_chain(owner, (0, 1, 1), "b3", 1)
    in_edit_mode(owner, {f"b{i}": f"DEF-b{i}" for i in range(5)})
    assert chain.tip_bone == "DEF-b3"


def test_bones_in_one_place_that_can_not_be_told_apart_are_refused_by_name() -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0, 1)), *[Bone((0, 0, 1), (0, 0.1, 2), parent=0)] * 3])
    chain = add_chain(owner, (0, 1, 1), "b3", 1)
    with edited(owner) as edit:
        edit.remove(edit["b1"])
        for name in ("b2", "b3"):
            made = edit.new(f"new {name}")
            made.head, made.tail, made.roll = edit[name].head.copy(), edit[name].tail.copy(), edit[name].roll
            edit.remove(edit[name])
    assert chain.tip_bone == "b3"
    assert_refused("the armature has no bone 'b3'", "solve")


def test_a_bone_that_is_reshaped_keeps_its_chain() -> None:
    owner = make_line(4, bend=0.0)
    chain = add_chain(owner, (0, 1, 2), "b2", 2)
    with edited(owner) as bones:
        for bone in bones:  # each lies now where the next one lay
            bone.head.z, bone.tail.z = bone.head.z + 1, bone.tail.z + 1
    assert chain.tip_bone == "b2"
    with edited(owner) as bones:
        copy = bones.new("copy")  # lies where b2 lay, which goes away
        old = bones["b2"]
        copy.head, copy.tail, copy.roll = old.head.copy(), old.tail.copy(), old.roll
        old.tail.y += 0.5
    assert chain.tip_bone == "b2"


def test_renamed_while_bones_are_added_and_removed() -> None:
    owner = make_line(4)
    chain = add_chain(owner, (0, 1, 2), "b2", 2)
    with edited(owner) as edit:
        edit.remove(edit["b3"])
        extra = edit.new("extra")
        extra.head, extra.tail = (3, 0, 0), (3, 0, 1)
        edit["b2"].name = "tip"
    assert chain.tip_bone == "tip"


def test_a_bone_that_is_gone_is_refused_by_name_and_found_when_it_is_back() -> None:
    owner, chain = reaching_line((0, 1, 2))
    with edited(owner) as edit:
        head, tail = edit["b2"].head.copy(), edit["b2"].tail.copy()
        edit.remove(edit["b2"])
    assert_refused("the armature has no bone 'b2'", "solve")
    bpy.ops.object.mode_set(mode="EDIT")
    again = edit.new("b2")
    again.head, again.tail, again.parent = head, tail, edit["b1"]
    bpy.ops.object.mode_set(mode="OBJECT")
    press("solve")
    assert (chain.tip_bone, chain.status) == ("b2", "REACHED")


def test_undo_takes_names_back_and_redo_brings_them_again() -> None:
    owner = reaching_line((0, 1, 2))[0]
    select(owner, "b2")
    bpy.ops.ed.undo_push(message="before")
    in_pose_mode(owner, {"b2": "tip"})
    bpy.ops.ed.undo_push(message="renamed")
    for step, name in ((bpy.ops.ed.undo, "b2"), (bpy.ops.ed.redo, "tip"), (bpy.ops.ed.undo, "b2")):
        step()
        owner = bpy.data.objects["Rig"]
        assert rig_of(owner).chains[0].tip_bone == name
        assert name in pose_bones(owner)


def test_renamed_by_a_script_and_saved(tmp_path: Path) -> None:
    owner = reaching_line((0, 1, 2))[0]
    by_a_script(owner, {"b2": "tip"})
    reload(tmp_path)
    assert rig_of(bpy.data.objects["Rig"]).chains[0].tip_bone == "tip"


def test_objects_that_share_an_armature_follow_alike() -> None:
    owner, chain = reaching_line((0, 1, 2))
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    in_pose_mode(owner, {"b2": "tip"})
    assert (chain.tip_bone, rig_of(other).chains[0].tip_bone) == ("tip", "tip")


def test_nothing_is_kept_with_armatures_that_have_no_chains(line: bpy.types.Object) -> None:
    make_empty((0, 0, 0))
    in_pose_mode(line, {"b2": "tip"})
    follow_renames(bpy.data.objects)
    assert line.fabrik_bone_names == ""


def test_bones_that_lie_alike_and_change_their_order_keep_their_names() -> None:
    """A bone that is given another parent stands elsewhere in the order of the pose; nothing was renamed by it."""
    sides = [Bone((x, -1.0, 1.0), (x, -1.0, 1.2), parent=0, connect=False) for x in (0.5, -0.5, 1.0, -1.0)]
    owner = make_armature([Bone((0, 0, 0), (0, 0.2, 1)), Bone((0, 0.2, 1), (0, 0, 2), parent=0), *sides])
    names = [bone.name for bone in pose_bones(owner)]
    chain = add_chain(owner, tip=names[1], count=2)
    goals = [bone.name for bone in pose_bones(owner) if bone.name not in names[:2]]
    chain.target, chain.target_bone, chain.pole, chain.pole_bone = owner, goals[0], owner, goals[1]
    follow_renames([owner])
    for name in (goals[2], goals[0], goals[1], goals[3]):
        with edited(owner) as bones:
            bones[name].parent = None
        bpy.context.view_layer.update()
        follow_renames([owner])
    assert (chain.target_bone, chain.pole_bone) == (goals[0], goals[1])
