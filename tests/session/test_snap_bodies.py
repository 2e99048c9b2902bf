# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of bodies brought to the pose: rotations, pins, aims; at a frame and over a range."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler, Matrix, Quaternion, Vector

from support.judging import angle_between, effector, tip_turn
from support.scenes import HEIGHT, add_limb, make_body, make_empty, press, update, with_legs_pinned

SAME = 1e-4 * HEIGHT
Poses = dict[str, Matrix]


def posed_body() -> tuple[bpy.types.Object, FabrikChain]:
    """A body that was posed by hand, with pinned feet and a hand whose target is elsewhere."""
    owner = with_legs_pinned(make_body())
    hand = add_limb(owner, "hand.L", 3, target=(2, 2, 2))
    bones = owner.pose.bones
    bones["hips"].location, bones["hips"].rotation_quaternion = (0.02, -0.1, 0.05), Quaternion((1, 0, 0), 0.1)
    bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), -0.5)
    bones["shin.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.8)
    bones["spine2"].rotation_quaternion = Quaternion((0.2, 1, 0), 0.2)
    bones["upper_arm.L"].rotation_quaternion = Quaternion((0.3, 0.1, 1), -0.4)
    bones["forearm.L"].rotation_quaternion = Quaternion((0, 0, 1), 0.9)
    bones["hand.L"].rotation_quaternion = Quaternion((1, 0, 0.4), 0.5)
    update()
    return owner, hand


def poses(owner: bpy.types.Object) -> Poses:
    update()
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: bone.matrix.copy() for bone in evaluated.pose.bones}


def assert_same(owner: bpy.types.Object, before: Poses) -> None:
    for name, matrix in poses(owner).items():
        assert (matrix.translation - before[name].translation).length < SAME, name
        assert matrix.to_quaternion().rotation_difference(before[name].to_quaternion()).angle < 1e-3, name


@pytest.mark.parametrize("orientation", ["FREE", "KEEP", "TARGET"])
def test_solving_after_it_moves_nothing(orientation: str) -> None:
    owner, hand = posed_body()
    hand.rotation_offset, hand.held_rotation = Euler((0.4, 0.2, 1.0)).to_quaternion(), (1, 0, 0, 0)
    hand.orientation = orientation
    before = poses(owner)
    press("goal_snap", chains="ALL")
    assert_same(owner, before)
    press("solve_all")
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
    assert_same(owner, before)
    foot = rig_of(owner).chains["foot.L"]
    assert (effector(owner, foot) - Vector(foot.held_location)).length < SAME


@pytest.mark.parametrize("mode", ["QUATERNION", "ZYX", "AXIS_ANGLE"])
def test_a_parented_target_is_turned_in_its_own_mode(mode: str) -> None:
    owner, hand = posed_body()
    holder = make_empty((1, 1, 0), "Holder")
    holder.rotation_euler, holder.scale = (0.4, 0.2, 1.1), (2, 2, 2)
    hand.target.parent, hand.target.rotation_mode = holder, mode
    owner.rotation_euler.z = radians(40)
    hand.rotation_offset, hand.orientation = Euler((0.4, 0.2, 1.0)).to_quaternion(), "TARGET"
    update()
    turn = tip_turn(owner, hand)
    press("goal_snap", chains="ALL")
    update()
    seen = hand.target.matrix_world.to_quaternion() @ Quaternion(hand.rotation_offset)
    assert angle_between(tuple(seen), turn) < 1e-3
    assert (hand.target.matrix_world.translation - effector(owner, hand)).length < SAME


def test_a_bone_as_target_is_turned() -> None:
    owner, hand = posed_body()
    other = make_body()
    other.location.x = 1.0
    hand.target, hand.target_bone = other, "hips"
    hand.rotation_offset, hand.orientation = (1, 0, 0, 0), "TARGET"
    update()
    before = poses(owner)
    bpy.context.view_layer.objects.active = owner
    press("goal_snap", chains="ALL")
    press("solve_all")
    assert hand.status == "REACHED"
    assert_same(owner, before)


def test_the_target_of_an_aim_is_put_ahead_of_it() -> None:
    owner = make_body()
    look = add_limb(owner, "head", 2, target=(1, -1, 1.2))
    look.kind, look.aim_axis = "AIM", (0, 0, 1)
    owner.pose.bones["head"].rotation_quaternion = Quaternion((0.2, 1, 0), 0.6)
    before = poses(owner)
    away = (look.target.location - owner.pose.bones["head"].head).length
    press("goal_snap")
    assert (look.target.location - before["head"].translation).length == pytest.approx(away, rel=0.01)
    press("solve")
    assert_same(owner, before)


def test_a_range_is_keyed_and_comes_back() -> None:
    owner, hand = posed_body()
    hand.rotation_offset, hand.orientation = (1, 0, 0, 0), "TARGET"
    for frame, angle in ((1, -0.3), (6, 0.4)):
        for name in ("shin.L", "forearm.L", "hand.L"):
            owner.pose.bones[name].rotation_quaternion = Quaternion((1, 0, 0), angle)
            owner.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    wanted = {}
    for frame in (1, 3, 6):
        bpy.context.scene.frame_set(frame)
        wanted[frame] = [(effector(owner, chain), tip_turn(owner, chain)) for chain in rig_of(owner).chains]
    press("goal_snap", chains="ALL", span="RANGE", frame_start=1, frame_end=6)
    held = {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner) if "fabrik_chains" in curve.data_path}
    assert held == {"held_location", "held_rotation"}
    assert {curve.data_path for curve in fcurves_of(hand.target)} == {"location", "rotation_euler"}
    for curve in [curve for curve in fcurves_of(owner) if "pose.bones" in curve.data_path]:
        curve.keyframe_points.clear()
    for frame, stood in wanted.items():
        bpy.context.scene.frame_set(frame)
        press("solve_all")
        for chain, (place, turn) in zip(rig_of(owner).chains, stood, strict=True):
            assert chain.status == "REACHED"
            assert (effector(owner, chain) - place).length < SAME
            assert angle_between(tip_turn(owner, chain), turn) < 1e-3


@pytest.mark.parametrize("what", ["locked", "driven"])
def test_a_target_that_can_not_be_turned_is_refused(what: str) -> None:
    _, hand = posed_body()
    hand.rotation_offset, hand.orientation = (1, 0, 0, 0), "TARGET"
    if what == "locked":
        hand.target.lock_rotation = (False, True, False)
    else:
        hand.target.driver_add("rotation_euler", 0)
    place = tuple(hand.target.location)
    with pytest.raises(RuntimeError, match=f"the target .*{what}.* rotation|the target has a driven rotation"):
        press("goal_snap", chains="ALL")
    assert tuple(hand.target.location) == place
