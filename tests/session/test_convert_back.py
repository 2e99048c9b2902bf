# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own IK made of chains poses as these did, as far as it can."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from fabrik_addon.maths import distance
from fabrik_addon.rig.schema import FabrikChain, limit_of
from mathutils import Quaternion, Vector

from support.judging import evaluated_joints, tip_error
from support.scenes import Bone, Point, add_chain, make_armature, make_empty, make_line


def leg(pole: Point = (0.4, -4, 1)) -> tuple[bpy.types.Object, FabrikChain]:
    owner = make_armature(
        [Bone((0, 0, 2), (0, -0.1, 1)), Bone((0, -0.1, 1), (0, 0, 0), connect=True), Bone((0, 0, 0), (0, -0.4, 0))]
    )
    chain = add_chain(owner, (0.2, -0.4, 0.6), tip="b1", count=2)
    chain.pole = make_empty(pole, "Pole")
    bpy.ops.fabrik.solve()
    bpy.context.view_layer.update()
    return owner, chain


def apart(owner: bpy.types.Object, chain: FabrikChain, stood: list[Vector]) -> float:
    return max(distance(a, b) for a, b in zip(evaluated_joints(owner, chain), stood, strict=True))


@pytest.mark.parametrize("angle", [0, 30, 90, -90, 180])
@pytest.mark.parametrize("pole", [(0.4, -4, 1), (3, 2, 0.5)])
def test_the_pose_stays(angle: float, pole: Point) -> None:
    owner, chain = leg(pole)
    chain.pole_angle = radians(angle)
    bpy.ops.fabrik.solve()
    bpy.context.view_layer.update()
    stood = evaluated_joints(owner, chain)
    assert bpy.ops.fabrik.to_ik() == {"FINISHED"}
    (constraint,) = owner.pose.bones["b1"].constraints
    assert not chain.enabled
    assert (constraint.target, constraint.pole_target, constraint.chain_count) == (chain.target, chain.pole, 2)
    assert apart(owner, chain, stood) < 5e-3
    assert all(bone.rotation_quaternion.w > 0.9999 for bone in owner.pose.bones)


@pytest.mark.parametrize("use_tail", [True, False])
def test_there_and_back(use_tail: bool) -> None:
    owner = leg()[0]
    owner.fabrik.chains.clear()
    for bone in owner.pose.bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    constraint = owner.pose.bones["b1" if use_tail else "b2"].constraints.new("IK")
    constraint.use_tail, constraint.chain_count = use_tail, 2
    constraint.target = make_empty((0.2, -0.4, 0.6))
    constraint.pole_target, constraint.pole_angle = make_empty((0.4, -4, 1), "Pole"), 0.7
    bpy.context.view_layer.update()
    bpy.ops.fabrik.from_ik()
    (chain,) = owner.fabrik.chains
    stood = evaluated_joints(owner, chain)
    constraint.pole_angle = 0.0
    bpy.ops.fabrik.to_ik()
    assert not constraint.mute
    assert constraint.chain_count == 2
    assert apart(owner, chain, stood) < 5e-3
    assert sum(len(bone.constraints) for bone in owner.pose.bones) == 1
    assert tip_error(owner, chain) < 5e-3


@pytest.mark.parametrize("effector", ["TAIL", "HEAD"])
def test_no_bone_above_the_chain_is_turned(effector: str) -> None:
    owner = make_line(5)
    owner.pose.bones["b2"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    chain = add_chain(owner, (0.4, 0.5, 4.0), tip="b4", count=3)
    chain.effector = effector
    bpy.ops.fabrik.to_ik()
    chain.target.location.z -= 0.4
    bpy.context.view_layer.update()
    turned = [not is_still(owner, name) for name in ("b0", "b1", "b2", "b3")]
    assert turned == [False, False, True, True]


def is_still(owner: bpy.types.Object, name: str) -> bool:
    """Whether a bone has the rotation that its channels give it."""
    bone = owner.pose.bones[name]
    local = owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
    same: float = abs(local.to_quaternion().dot(bone.rotation_quaternion))
    return same > 1.0 - 1e-6


def test_limits_and_stiffness_are_carried_over() -> None:
    owner, _ = leg()
    knee = owner.pose.bones["b1"]
    knee.fabrik.limit, knee.fabrik.axis = "HINGE", (-1, 0, 0)
    knee.fabrik.angle_min, knee.fabrik.angle_max = radians(-10), radians(120)
    knee.fabrik.stiffness = 0.4
    bpy.ops.fabrik.to_ik()
    assert (knee.lock_ik_x, knee.lock_ik_y, knee.lock_ik_z) == (False, True, True)
    assert (knee.use_ik_limit_x, knee.use_ik_limit_y) == (True, False)
    assert knee.ik_min_x == pytest.approx(radians(-120))
    assert knee.ik_max_x == pytest.approx(radians(10))
    assert knee.ik_stiffness_x == pytest.approx(0.4)


def test_a_ball_joint_reads_back_as_it_was() -> None:
    owner, _ = leg()
    bone = owner.pose.bones["b1"]
    view = limit_of(bone)
    view.limit, view.use_ellipse, view.use_twist = "CONE", True, True
    view.cone_x_min, view.cone_x_max, view.cone_z_min, view.cone_z_max = -1.8, 0.5, -0.3, 0.4
    view.twist_min, view.twist_max = -0.2, 0.6
    bpy.ops.fabrik.to_ik()
    view.limit = "FREE"
    bpy.ops.object.mode_set(mode="POSE")
    owner.data.bones.active = owner.data.bones["b1"]
    bpy.ops.fabrik.limit_from_ik()
    assert view.limit == "CONE"
    assert (view.cone_x_min, view.cone_x_max) == pytest.approx((-1.8, 0.5))
    assert (view.cone_z_min, view.cone_z_max) == pytest.approx((-0.3, 0.4))
    assert (view.twist_min, view.twist_max) == pytest.approx((-0.2, 0.6))


def test_what_cannot_be_carried_over_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner, _ = leg()
    owner.pose.bones["b0"].fabrik.limit = "CONE"
    knee = owner.pose.bones["b1"].fabrik
    knee.limit, knee.axis = "HINGE", (1, 0, 1)
    other = add_chain(owner, tip="b2", count=1)
    other.target = None
    bpy.ops.fabrik.to_ik()
    said = capfd.readouterr().out
    assert "b0: its limit, which Blender's IK does not hold at the root with a pole" in said
    assert "b1: a limit about an axis that is none of the bone's" in said
    assert f"{other.name}: left as it is, no target is set" in said
    assert other.enabled


def test_a_range_without_the_rest_pose_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(2)
    add_chain(owner, (0, 1.2, 1.0))
    bone = owner.pose.bones["b1"].fabrik
    bone.limit, bone.angle_min, bone.angle_max = "HINGE", 0.3, 1.2
    bpy.ops.fabrik.to_ik()
    assert "b1: a range of X without the rest pose in it" in capfd.readouterr().out


def test_keyed_bones_are_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner, _ = leg()
    owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=1)
    bpy.ops.fabrik.to_ik()
    assert "b0 is keyed, and Blender's IK starts from its keys" in capfd.readouterr().out


def test_what_is_beyond_half_a_turn_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner, _ = leg()
    knee = owner.pose.bones["b1"].fabrik
    knee.limit, knee.angle_min, knee.angle_max = "HINGE", radians(-206), radians(17)
    bpy.ops.fabrik.to_ik()
    assert "b1: the part of its range of X beyond 180°" in capfd.readouterr().out
