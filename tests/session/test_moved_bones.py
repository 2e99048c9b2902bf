# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones as targets and poles are moved by our own tools as objects are, whatever they hang on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.goals import GoalRef, goal_of
from fabrik_addon.rig.placing import held_by, location_at, put
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.dragging import Taken, begin, drag_to, finish
from mathutils import Quaternion, Vector

from support.judging import CLOSE, bone_head, channels, evaluated_joints, joints_moved, location_keys
from support.scenes import LENGTH, armature, limb_with_bone_goals, make_empty, press

SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY")
POINT = Vector((0.7, -1.2, 2.3))


@pytest.fixture(autouse=True)
def _keys() -> Iterator[None]:
    bpy.context.preferences.edit.use_keyframe_insert_available = False  # 5.2 has it on
    yield
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_a_bone_goes_to_a_point_whatever_it_inherits(scale: Any, turns: bool, local: bool, uneven: bool) -> None:
    _, chain, holder = limb_with_bone_goals()
    data = armature(holder).bones["target"]
    data.inherit_scale, data.use_inherit_rotation, data.use_local_location = scale, turns, local
    if uneven:
        pose_bones(holder)["hold"].scale = (0.5, 1.5, -0.8)
        holder.scale = (1, 2, 0.5)
    pose_bones(holder)["target"].location = (5, -3, 2)
    goal = goal_of(chain, "target")
    assert goal is not None
    assert held_by(goal) is None
    put(goal, location_at(goal, POINT, bpy.context.evaluated_depsgraph_get()))
    assert (bone_head(holder, "target") - POINT).length < 1e-5


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_a_bone_without_a_parent_goes_to_a_point(mode: Any, local: bool) -> None:
    _, _, holder = limb_with_bone_goals()
    bone = pose_bones(holder)["hold"]
    bone.rotation_mode = mode
    bone.bone.use_local_location = local
    goal = GoalRef("target", holder, "hold")
    put(goal, location_at(goal, POINT, bpy.context.evaluated_depsgraph_get()))
    assert (bone_head(holder, "hold") - POINT).length < 1e-5


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("other_rig", [False, True])
def test_goals_to_pose(other_rig: bool, live: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    if live:
        rig_of(owner).live = True
        bpy.context.view_layer.update()
    before, pose = evaluated_joints(owner, chain), channels(owner)
    press("goal_snap")
    assert joints_moved(owner, chain, before) <= CLOSE
    assert (bone_head(holder, "target") - before[-1]).length < CLOSE * LENGTH
    if not live:
        assert channels(owner)[:3] == pose[:3]
    press("solve")
    assert chain.status == "REACHED"
    assert joints_moved(owner, chain, before) < 10 * CLOSE


def test_goals_to_pose_is_undone_in_one_step() -> None:
    owner, _, holder = limb_with_bone_goals()
    pose_bones(owner)["b1"].rotation_quaternion = (1, 0.9, 0, 0)
    bpy.context.view_layer.update()
    name, stood = owner.name, bone_head(holder, "target")
    bpy.ops.ed.undo_push(message="before")
    press("goal_snap")
    bpy.ops.ed.undo_push(message="after")
    there = bone_head(bpy.data.objects[name], "target")
    assert (there - stood).length > 0.1
    bpy.ops.ed.undo()
    assert (bone_head(bpy.data.objects[name], "target") - stood).length == 0.0
    bpy.ops.ed.redo()
    assert (bone_head(bpy.data.objects[name], "target") - there).length == 0.0


@pytest.mark.parametrize("other_rig", [False, True])
def test_goals_to_pose_over_a_range(other_rig: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    hold = pose_bones(holder)["hold"]
    for frame, x in ((1, 0.2), (10, 0.9)):
        pose_bones(owner)["b0"].rotation_quaternion = Quaternion((1, 0.3, 0), x)
        pose_bones(owner)["b0"].keyframe_insert("rotation_quaternion", frame=frame)
        hold.location = (x, 0, -x)
        hold.keyframe_insert("location", frame=frame)
    for frame in (-4, 5, 30):
        pose_bones(holder)["target"].keyframe_insert("location", frame=frame)
    assert press("goal_snap", span="RANGE", frame_start=1, frame_end=10) == {"FINISHED"}
    assert location_keys(holder, "target") == {-4.0, *map(float, range(1, 11)), 30.0}
    assert location_keys(holder, "pole") == {float(frame) for frame in range(1, 11)}
    groups = {curve.group.name for curve in fcurves_of(holder) if '"pole"' in curve.data_path and curve.group}
    assert groups == {"pole"}
    for frame in (1, 4, 10):
        bpy.context.scene.frame_set(frame)
        tip = evaluated_joints(owner, chain)[-1]
        assert (bone_head(holder, "target") - tip).length < CLOSE * LENGTH
        before = evaluated_joints(owner, chain)
        press("solve")
        assert joints_moved(owner, chain, before) < 10 * CLOSE


def test_automatic_keying_keys_the_bones() -> None:
    _, _, holder = limb_with_bone_goals()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    press("goal_snap")
    assert location_keys(holder, "target") == location_keys(holder, "pole") == {float(bpy.context.scene.frame_current)}


@pytest.mark.parametrize("other_rig", [False, True])
def test_letting_go_of_a_drag_brings_target_and_pole_along(other_rig: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    press("goal_snap")
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.6, -0.4, -0.9)), anchored=True)
    assert not finish(bpy.context, drag).warnings
    bpy.context.view_layer.update()
    before = evaluated_joints(owner, chain)
    assert (bone_head(holder, "target") - before[-1]).length < CLOSE * LENGTH
    press("solve")
    assert chain.status == "REACHED"
    assert joints_moved(owner, chain, before) < 10 * CLOSE


@pytest.mark.parametrize("other_rig", [False, True])
def test_a_live_chain_is_dragged_by_its_bone(other_rig: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    press("goal_snap")
    rig_of(owner).live = True
    bpy.context.view_layer.update()
    before, stood = channels(owner), tuple(pose_bones(holder)["target"].location)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    for step in (0.3, 1.0):
        place = drag.place + step * Vector((0.6, -0.4, -0.9))
        drag_to(bpy.context, drag, place, anchored=True)
        assert (bone_head(holder, "target") - place).length < CLOSE * LENGTH
        assert (evaluated_joints(owner, chain)[-1] - place).length < 1e-3
    drag.restore()
    bpy.context.view_layer.update()
    assert channels(owner) == before
    assert tuple(pose_bones(holder)["target"].location) == stood
    assert not location_keys(holder, "target")
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    place = drag.place + Vector((0.6, -0.4, -0.9))
    drag_to(bpy.context, drag, place, anchored=True)
    finish(bpy.context, drag)
    bpy.context.view_layer.update()
    assert (bone_head(holder, "target") - place).length < CLOSE * LENGTH
    assert (evaluated_joints(owner, chain)[-1] - place).length < 1e-3
    assert location_keys(holder, "target") == {float(bpy.context.scene.frame_current)}


@pytest.mark.parametrize("kind", ["bone", "object"])
def test_a_live_drag_of_a_keyed_target_tells_that_its_keys_win(kind: str) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    if kind == "object":
        chain.target, chain.target_bone = make_empty((0, 0, 0), "Goal"), ""
    press("goal_snap")
    thing: Any = chain.target if kind == "object" else pose_bones(holder)["target"]
    thing.keyframe_insert("location", frame=1)
    rig_of(owner).live = True
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.1, 0, -0.2)), anchored=True)
    name = "'Goal'" if kind == "object" else "'target' of 'Other'"
    text = f"its target {name} is keyed: key it, or the next frame change takes it back"
    assert finish(bpy.context, drag).warnings == [text]
