# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles brought to the pose."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from mathutils import Quaternion

from rigs import add_chain, evaluated_joints, make_empty, make_line


def posed_limb(pole_angle: float = 0.0):
    """A limb of two bones posed by hand, its goals elsewhere."""
    owner = make_line(2)
    chain = add_chain(owner, (9, 9, 9))
    chain.pole, chain.pole_angle = make_empty((3, -4, 1), "Pole"), pole_angle
    owner.pose.bones["b0"].rotation_quaternion = Quaternion((0.3, 1.0, -0.4), 0.8)
    owner.pose.bones["b1"].rotation_quaternion = Quaternion((1, 0, 0), -1.1)
    bpy.context.view_layer.update()
    return owner, chain


def apart(owner, chain, before) -> float:
    bpy.context.view_layer.update()
    return max((a - b).length for a, b in zip(evaluated_joints(owner, chain), before, strict=True))


@pytest.mark.parametrize("angle", [0, 40, -120])
def test_solving_after_it_moves_nothing(angle: float) -> None:
    owner, chain = posed_limb(radians(angle))
    before = evaluated_joints(owner, chain)
    bpy.ops.fabrik.goal_snap()
    assert apart(owner, chain, before) == 0.0
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    assert apart(owner, chain, before) < 2e-4


def test_on_a_turned_armature_with_parented_goals() -> None:
    owner, chain = posed_limb()
    holder = make_empty((2, 1, 0), "Holder")
    holder.rotation_euler, holder.scale = (0.3, 0.2, 1.0), (2, 2, 2)
    chain.target.parent, owner.location, owner.rotation_euler = holder, (1, 2, 3), (0.5, 0.1, -0.7)
    bpy.context.view_layer.update()
    before = evaluated_joints(owner, chain)
    bpy.ops.fabrik.goal_snap()
    bpy.ops.fabrik.solve()
    assert apart(owner, chain, before) < 5e-4


def test_a_range_is_keyed_and_comes_back() -> None:
    owner, chain = posed_limb()
    bone = owner.pose.bones["b0"]
    for frame, angle in ((1, 0.2), (10, 1.2)):
        bone.rotation_quaternion = Quaternion((0.3, 1.0, -0.4), angle)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    wanted = {}
    for frame in (1, 4, 10):
        bpy.context.scene.frame_set(frame)
        wanted[frame] = evaluated_joints(owner, chain)
    bpy.context.scene.frame_set(-3, subframe=0.5)
    bpy.ops.fabrik.goal_snap(span="RANGE", frame_start=1, frame_end=10)
    assert bpy.context.scene.frame_current_final == -2.5
    owner.animation_data_clear()
    for frame, joints in wanted.items():
        bpy.context.scene.frame_set(frame)
        bpy.ops.fabrik.solve()
        assert apart(owner, chain, joints) < 5e-4


def test_goals_that_can_not_be_moved() -> None:
    owner, chain = posed_limb()
    chain.pole.constraints.new("COPY_LOCATION")
    before = chain.target.location.copy()
    with pytest.raises(RuntimeError, match="the pole has constraints"):
        bpy.ops.fabrik.goal_snap()
    assert chain.target.location == before
    chain.target = None
    with pytest.raises(RuntimeError, match="the target is not set"):
        bpy.ops.fabrik.goal_snap()
    assert owner


def test_nothing_is_moved_where_one_of_the_goals_can_not_be() -> None:
    owner, chain = posed_limb()
    flat = make_empty((0, 0, 0), "Flat")
    chain.pole.parent, flat.scale = flat, (1, 0, 1)
    bpy.context.view_layer.update()
    before = chain.target.location.copy()
    with pytest.raises(RuntimeError, match="has no scale"):
        bpy.ops.fabrik.goal_snap()
    assert chain.target.location == before
    assert owner
