# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals read by their own curves stand, and are turned, where Blender has them, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from math import sin
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.maths import Doubles
from fabrik_addon.rig.animation.animation import paths_at
from fabrik_addon.rig.goals import GoalRef
from fabrik_addon.rig.targets import resolve_point, resolve_turn

from support.scenes import Bone, keyed, make_armature, make_empty, put

SAMPLED: dict[str, Doubles] = {
    "a range": np.arange(-20.0, 60.0, dtype=np.float64),
    "sub-frames": np.arange(1.0, 30.0, 0.25, dtype=np.float64),
}


def moving() -> bpy.types.Object:
    found = make_empty((0.1, 0.2, 0.3), "Goal")
    keyed(found, {-3: (0.3, 1, 0), 20: (0.2, 0.7, 9), 33: (0, 0, 0.11)})
    return found


@pytest.mark.parametrize("frames", ["a range", "sub-frames"])
def test_points_are_where_blender_puts_the_object(frames: str) -> None:
    goal = moving()
    goal.delta_location = (0.7, -12.3, 1e-3)
    goal.keyframe_insert("delta_location", index=1, frame=1)
    goal.delta_location.y = 0.1
    goal.keyframe_insert("delta_location", index=1, frame=12)
    (path,) = paths_at([GoalRef("target", goal, "")], (), SAMPLED[frames], bpy.context.evaluated_depsgraph_get())
    assert path is not None
    points, turns = path
    assert turns is None
    for frame, point in zip(SAMPLED[frames].tolist(), points.tolist(), strict=True):
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        evaluated = goal.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert point == list(evaluated.matrix_world.translation)


MODES = ("QUATERNION", "XYZ", "ZXY", "YZX")


def turn(thing: Any, mode: str) -> None:
    """Key rotation and scale of an object or a bone, not all channels of them."""
    thing.rotation_mode = mode
    name = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
    for frame in range(-20, 60, 9):
        setattr(thing, name, [0.4 * sin(frame + i) + 0.3 for i in range(len(getattr(thing, name)))])
        thing.keyframe_insert(name, frame=frame)
        thing.scale = (1.0, 1.2 + 0.01 * frame, 0.7)
        thing.keyframe_insert("scale", index=1, frame=frame)


@pytest.mark.parametrize("frames", ["a range", "sub-frames"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["object", "bone"])
def test_goals_are_turned_as_blender_turns_them(kind: str, mode: str, frames: str) -> None:
    owner = make_armature([Bone((0.1, 0.2, 0.3), (0.5, -0.7, 1.1), roll=0.4), Bone((1, 1, 1), (1, 2, 1), parent=None)])
    owner.location, owner.rotation_euler, owner.scale = (3.0, -1.0, 0.2), (0.3, 0.4, -0.5), (1.1, 0.9, -1.2)
    goal = GoalRef("target", owner, "b1") if kind == "bone" else GoalRef("target", moving(), "")
    holder: Any = owner.pose.bones["b1"] if kind == "bone" else goal.found
    holder.location = (0.3, -0.2, 0.9)
    holder.keyframe_insert("location", frame=1, index=0)
    turn(holder, mode)
    bpy.context.view_layer.update()
    (path,) = paths_at([goal], (0,), SAMPLED[frames], bpy.context.evaluated_depsgraph_get())
    assert path is not None
    points, turns = path
    assert turns is not None
    for k, frame in enumerate(SAMPLED[frames].tolist()):
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        assert points[k].tolist() == [*resolve_point(*goal, depsgraph)], frame
        assert turns[k].tolist() == [*resolve_turn(goal.found, goal.bone, depsgraph)], frame


def bone_goal() -> tuple[bpy.types.Object, GoalRef]:
    owner = make_armature(
        [Bone((0, 0, 0), (0, 0, 1)), Bone((0, 0, 1), (0, 0, 2)), Bone((1, 1, 1), (1, 2, 1), parent=None)]
    )
    keyed(owner.pose.bones["b2"], {frame: 0.1 * frame for frame in (1, 9)}, "location.x")
    return owner, GoalRef("target", owner, "b2")


def strip(owner: bpy.types.Object) -> None:
    data = owner.animation_data
    assert data is not None
    assert data.action is not None
    data.nla_tracks.new().strips.new("Strip", 1, data.action)


MOVED: dict[str, Callable[[bpy.types.Object], object]] = {
    "constrained": lambda owner: owner.pose.bones["b2"].constraints.new("LIMIT_LOCATION"),
    "driven": lambda owner: owner.pose.bones["b2"].driver_add("location", 1),
    "the armature moves": lambda owner: keyed(owner, {1: 1.0, 9: 9.0}, "location.z"),
    "another mode": lambda owner: put(owner.pose.bones["b2"], rotation_mode="AXIS_ANGLE"),
    "a strip": strip,
    "pulled by IK": lambda owner: put(
        owner.pose.bones["b1"].constraints.new("IK"), target=make_empty((0, 0, 0), "Other")
    ),
}


@pytest.mark.parametrize("change", MOVED)
def test_a_bone_that_more_than_its_curves_moves(change: str) -> None:
    owner, goal = bone_goal()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert paths_at([goal], (0,), SAMPLED["a range"], depsgraph)[0] is not None
    MOVED[change](owner)
    assert paths_at([goal], (0,), SAMPLED["a range"], depsgraph)[0] is None


def test_a_bone_that_hangs_on_another() -> None:
    owner, _ = bone_goal()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert paths_at([GoalRef("target", owner, "b1")], (), SAMPLED["a range"], depsgraph)[0] is None


def test_an_object_that_something_else_moves() -> None:
    goal, other = moving(), make_empty((0, 0, 0), "Other")
    goal.parent = other
    goals, depsgraph = [GoalRef("target", goal, ""), GoalRef("pole", other, "")], bpy.context.evaluated_depsgraph_get()
    parented, own = paths_at(goals, (), np.array((1.0, 2.0)), depsgraph)
    assert parented is None
    assert own is not None
