# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles as bones of the rig: where they stand, what they are, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.rig.animation.compat import is_selected
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.control_bones import COLLECTION, remove_control_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Vector

from support.judging import bone_head, chain_length, channels, evaluated_joints, tip_error
from support.scenes import (
    Bone,
    add_chain,
    armature,
    each_frame,
    go_live,
    keyed,
    linked,
    make_armature,
    make_empty,
    make_line,
    press,
    select,
    solved_status,
)


def bone_error(owner: bpy.types.Object) -> float:
    chain = rig_of(owner).chains[0]
    joints = evaluated_joints(owner, chain)
    off: float = (joints[-1] - bone_head(owner, chain.target_bone)).length
    return off / chain_length(joints)


@pytest.fixture
def owner() -> bpy.types.Object:
    owner = make_line(3, bend=0.2)
    owner.matrix_world = Matrix.LocRotScale(Vector((3, -2, 1)), Matrix.Rotation(0.7, 3, (1, 2, 3)), Vector((2, 2, 2)))
    for name, x in (("b0", 0.3), ("b1", 0.5), ("b2", -0.2)):
        pose_bones(owner)[name].rotation_quaternion = (1, x, 0.1, 0)
    bpy.context.view_layer.update()
    return owner


def test_target_and_pole_stand_where_empties_would(owner: bpy.types.Object) -> None:
    chain = add_chain(owner)
    joints = evaluated_joints(owner, chain)
    press("target_add", kind="EMPTY")
    press("pole_add", kind="EMPTY")
    places = chain.target.location.copy(), chain.pole.location.copy()
    chain.target = chain.pole = None
    before = channels(owner)
    press("target_add", kind="BONE")
    press("pole_add", kind="BONE")
    assert (chain.target, chain.pole, chain.target_bone, chain.pole_bone) == (owner, owner, "b2.target", "b2.pole")
    assert channels(owner)[:3] == before
    for place, bone in zip(places, (chain.target_bone, chain.pole_bone), strict=True):
        assert (bone_head(owner, bone) - place).length < 1e-5
    assert solved_status(chain) == "REACHED"
    assert bone_error(owner) < 1e-5
    for a, b in zip(joints[::3], evaluated_joints(owner, chain)[::3], strict=True):
        assert (a - b).length < 1e-4


def test_what_such_a_bone_is() -> None:
    owner = make_line(2)
    for old, new in (("b0", "arm.L"), ("b1", "hand.L")):
        armature(owner).bones[old].name = new
    for number, name in enumerate(("hand.L", "hand.R", "tail")):
        armature(owner).bones[1].name = name
        add_chain(owner, tip=name).name = f"{name}{number}" if name == "tail" else name
        press("target_add", kind="BONE")
        rig_of(owner).chains.remove(0)
    bones = armature(owner).bones
    found = ("hand.target.L", "hand.target.R", "tail2.target")
    assert [bones[name].color.palette for name in found] == ["THEME04", "THEME01", "THEME09"]
    for name in found:
        assert not bones[name].use_deform
        assert bones[name].parent is None
        assert [home.name for home in bones[name].collections] == ["FABRIK"]
        axes = bones[name].matrix_local.to_3x3()
        assert all((axes.col[i] - Matrix.Identity(3).col[i]).length < 1e-6 for i in range(3))
    shapes = {pose_bones(owner)[name].custom_shape for name in found}
    assert len(shapes) == 1
    (shape,) = shapes
    assert (shape.type, shape.hide_render, len(shape.users_collection), len(shape.data.edges)) == ("MESH", True, 0, 12)


@pytest.mark.parametrize(
    ("deforms", "name", "parent"), [(False, "ctrl", True), (True, "ctrl", False), (True, "Root", True)]
)
def test_a_root_control_carries_it(deforms: bool, name: str, parent: bool) -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 1, 0)), Bone((0, 0, 1), (0, 0.1, 2)), Bone((0, 0.1, 2), (0, 0, 3))])
    armature(owner).bones["b0"].name = name
    armature(owner).bones[name].use_deform = deforms
    root = pose_bones(owner)[name]
    root.location, root.scale, root.rotation_quaternion = (1, 2, 3), (2, 2, 2), (0.9, 0.2, 0.1, 0)
    bpy.context.view_layer.update()
    chain = add_chain(owner, count=2)
    tip = evaluated_joints(owner, chain)[-1]
    press("target_add", kind="BONE")
    bone = pose_bones(owner)[chain.target_bone]
    assert (bone.parent == pose_bones(owner)[name]) == parent
    assert (bone_head(owner, bone.name) - tip).length < 1e-4
    press("pole_add", kind="BONE")
    assert (pose_bones(owner)[chain.pole_bone].parent == pose_bones(owner)[name]) == parent


def test_mode_selection_and_unkeyed_pose_stay_as_they_are() -> None:
    owner, other = make_line(3), make_line(3)
    other.name = "Other"
    for found in (owner, other):
        found.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=1)
        found.pose.bones["b1"].rotation_quaternion = (0.9, 0.3, 0, 0)
        found.select_set(True)
    chain = add_chain(owner)
    make_empty((1, 1, 1)).select_set(True)
    bpy.context.view_layer.objects.active = owner
    select(owner, "b1", "b0")
    before = channels(owner), channels(other)
    selected = [found.name for found in bpy.context.selected_objects]
    press("target_add", kind="BONE")
    assert (owner.mode, other.mode, bpy.context.object) == ("POSE", "POSE", owner)
    assert [found.name for found in bpy.context.selected_objects] == selected
    assert [bone.name for bone in pose_bones(owner) if is_selected(bone)] == ["b0", "b1"]
    assert armature(owner).bones.active.name == "b1"
    assert (channels(owner)[:3], channels(other)) == before
    assert chain.target_bone == "b2.target"


def test_live_on_the_bone_is_followed_and_nothing_moves_before(owner: bpy.types.Object) -> None:
    chain = add_chain(owner)
    press("start_pose_capture")
    go_live(owner)
    joints = evaluated_joints(owner, chain)
    press("target_add", kind="BONE")
    chain.enabled = True
    bpy.context.view_layer.update()
    assert max((a - b).length for a, b in zip(joints, evaluated_joints(owner, chain), strict=True)) < 1e-4
    pose_bones(owner)[chain.target_bone].location.x += 0.2
    bpy.context.view_layer.update()
    assert chain.status == "REACHED"
    assert bone_error(owner) < 1e-5


def test_those_that_are_left_stay_in_their_collection() -> None:
    owner = make_line(4)
    for tip in ("b1", "b3"):
        add_chain(owner, tip=tip, count=2)
    press("target_add", use_all=True, kind="BONE")
    names = [chain.target_bone for chain in rig_of(owner).chains]
    remove_control_bones(bpy.context, owner, names[:1])
    assert [bone.name for bone in armature(owner).collections_all[COLLECTION].bones] == names[1:]
    remove_control_bones(bpy.context, owner, names[1:])
    assert COLLECTION not in armature(owner).collections_all


def test_undo_in_one_step() -> None:
    owner = make_line(3)
    add_chain(owner)
    select(owner, "b1")
    bpy.ops.ed.undo_push(message="before")
    for _ in range(2):
        assert press("target_add", "EXEC_DEFAULT", True, kind="BONE") == {"FINISHED"}
        bpy.ops.ed.undo()
        owner = bpy.data.objects["Rig"]
        assert (owner.mode, rig_of(owner).chains[0].target, len(armature(owner).bones)) == ("POSE", None, 3)
    bpy.ops.ed.redo()
    owner = bpy.data.objects["Rig"]
    assert (owner.mode, rig_of(owner).chains[0].target_bone, len(armature(owner).bones)) == ("POSE", "b2.target", 4)


def test_linked_data_is_refused_and_shared_data_is_told(tmp_path: Path) -> None:
    owner = make_line(3)
    data = armature(owner)
    other = bpy.data.objects.new("Twin", data)
    add_chain(owner)
    press("target_add", kind="BONE")
    assert "b2.target" in armature(other).bones
    bpy.data.objects.remove(other)
    data = linked(tmp_path, "armatures", data.name)
    owner = bpy.data.objects.new("Local", data)
    bpy.context.collection.objects.link(owner)
    chain = add_chain(owner, tip="b2", count=3)
    with pytest.raises(RuntimeError, match="its armature data is linked, so it can't be given bones: use an empty"):
        press("target_add", kind="BONE")
    assert (chain.target, owner.mode) == (None, "OBJECT")
    press("target_add", kind="EMPTY")
    assert tip_error(owner, chain) < 1e-5


def test_goal_select_and_back(line: bpy.types.Object) -> None:
    for _ in range(2):
        chain = add_chain(line, tip="b2")
        press("target_add", kind="BONE")
    press("pole_add", kind="EMPTY")
    assert not press("goal_select", role="target") - {"FINISHED"}
    assert (line.mode, armature(line).bones.active.name) == ("POSE", chain.target_bone)
    assert [bone.name for bone in pose_bones(line) if is_selected(bone)] == [chain.target_bone]
    assert not bpy.ops.fabrik.back_to_pose.poll()
    press("goal_select", role="pole")
    assert (line.mode, bpy.context.object) == ("OBJECT", chain.pole)
    rig_of(line).active_index = 0
    press("back_to_pose")
    assert (line.mode, bpy.context.object, armature(line).bones.active.name) == ("POSE", line, "b2")
    assert rig_of(line).active_index == 1


@pytest.mark.parametrize("live", [False, True])
def test_a_keyed_control_bone_is_followed_live_and_baked(live: bool) -> None:
    owner = make_line(3, bend=0.2)
    chain = add_chain(owner)
    press("target_add", kind="BONE")
    bone = pose_bones(owner)[chain.target_bone]
    for frame, x in ((1, 0.2), (10, 0.8)):
        keyed(bone, {frame: (x, -0.3, -0.4)})
    if live:
        rig_of(owner).live = True
        for _ in each_frame((3, 9, 5)):
            assert bone_error(owner) < 1e-5
    press("bake", frame_start=1, frame_end=10)
    for frame in each_frame((1, 4, 10)):
        assert bone_error(owner) < 1e-5
        assert bone.location.x == pytest.approx(0.2 + 0.6 * (frame - 1) / 9, abs=0.1)
