# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes of the manual's page on bodies, done as it tells and judged by Blender's evaluation."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Quaternion, Vector

from support.judging import effector, tip_turn
from support.scenes import (
    HEIGHT,
    add_limb,
    each_frame,
    key_automatically,
    keyed,
    make_armature,
    make_body,
    make_empty,
    press,
    select,
    strand,
    update,
)

NEAR = 1e-4 * HEIGHT
TURNED = radians(0.1)


def solve_all() -> None:
    press("solve_all")


def statuses(owner: bpy.types.Object) -> set[str]:
    return {chain.status for chain in rig_of(owner).chains if chain.enabled}


def swinging_body() -> bpy.types.Object:
    """A body whose right arm swings a stick, with a grip on it, and whose left arm is keyed, too."""
    owner = make_body("XYZ")
    for frame, angle in ((1, 0.0), (11, 0.5)):
        for name in ("upper_arm.R", "forearm.R", "upper_arm.L", "forearm.L", "hand.L"):
            bone = owner.pose.bones[name]
            bone.rotation_euler = (angle, 0.3 * angle, -0.5)
            bone.keyframe_insert("rotation_euler", frame=frame)
        for name, sign in (("upper_arm.R", 1.0), ("upper_arm.L", -1.0)):
            bone = owner.pose.bones[name]
            bone.rotation_euler = (-1.2 + angle, 0.0, sign * 1.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    return owner


def test_an_off_hand_stays_on_a_grip_over_an_animation() -> None:
    owner = swinging_body()
    scene = bpy.context.scene
    scene.frame_set(1)
    hand = owner.pose.bones["hand.R"]
    grip = make_empty((0.0, 0.0, 0.0), "grip")
    grip.parent, grip.parent_type, grip.parent_bone = owner, "BONE", "hand.R"
    update()
    grip.matrix_world = owner.matrix_world @ hand.matrix
    grip.matrix_world.translation = hand.head.lerp(owner.pose.bones["upper_arm.L"].head, 0.4)
    press("chain_add", tip_bone="hand.L", bone_count=3)
    chain = rig_of(owner).chains[0]
    assert chain.start == "ANIMATED"
    chain.effector, chain.target = "HEAD", grip
    press("orientation_set", orientation="TARGET")
    solve_all()
    assert statuses(owner) == {"REACHED"}
    seen = []
    for _ in each_frame((1, 4, 8, 11)):
        solve_all()
        assert (effector(owner, chain) - grip.matrix_world.translation).length < NEAR
        in_grip = grip.matrix_world.to_quaternion().inverted() @ Quaternion(tip_turn(owner, chain))
        seen.append(in_grip)
    for one in seen:
        assert one.rotation_difference(seen[0]).angle < TURNED
    chain.influence = 0.0
    scene.frame_set(8)
    played = [tuple(bone.rotation_euler) for bone in owner.pose.bones]
    solve_all()
    for bone, was in zip(owner.pose.bones, played, strict=True):
        assert tuple(bone.rotation_euler) == pytest.approx(was, abs=1e-5)


def aimed_off(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """The angle between the aimed axis and the way to the target, as Blender evaluates them."""
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world @ evaluated.pose.bones[chain.tip_bone].matrix
    along = matrix.to_3x3() @ Vector(chain.aim_axis)
    return float(along.angle(chain.target.matrix_world.translation - matrix.translation))


@pytest.mark.parametrize("place", [(3.0, 2.0, 1.5), (-2.0, 4.0, 3.0), (-1.0, -5.0, 0.8)])
def test_a_turret_turns_about_its_mast_and_lifts_its_barrel(place: tuple[float, float, float]) -> None:
    owner = make_armature(strand((0, 0, 0), (0, 0, 1), (0, 1, 1), connect=False))
    mast, barrel = (owner.pose.bones[f"b{i}"].fabrik for i in (0, 1))
    mast.limit, mast.axis = "HINGE", (0.0, 1.0, 0.0)
    barrel.limit, barrel.axis, barrel.angle_min, barrel.angle_max = "HINGE", (1.0, 0.0, 0.0), -0.2, radians(80)
    press("chain_add", tip_bone="b1", bone_count=2)
    chain = rig_of(owner).chains[0]
    chain.kind, chain.target = "AIM", make_empty(place)
    solve_all()
    assert statuses(owner) == {"REACHED"}
    assert aimed_off(owner, chain) < TURNED
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert (evaluated.pose.bones["b0"].tail - Vector((0, 0, 1))).length < 1e-6  # the mast stays upright


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, -0.8)])
def test_a_target_that_is_added_for_an_aim_moves_nothing(axis: tuple[float, float, float]) -> None:
    owner = make_body()
    owner.location = (1.0, 2.0, 0.0)
    press("chain_add", tip_bone="head", bone_count=4)
    chain = rig_of(owner).chains[0]
    chain.kind, chain.aim_axis = "AIM", axis
    press("target_add")
    assert aimed_off(owner, chain) < 1e-3
    before = [tuple(bone.rotation_quaternion) for bone in owner.pose.bones]
    solve_all()
    assert statuses(owner) == {"REACHED"}
    for bone, was in zip(owner.pose.bones, before, strict=True):
        assert tuple(bone.rotation_quaternion) == pytest.approx(was, abs=1e-4)


def test_feet_that_are_planted_over_time_are_baked_where_they_were_planted(body: bpy.types.Object) -> None:
    scene = bpy.context.scene
    select(body, "foot.L", "foot.R")
    press("pin_toggle")
    press("body_bone_set")
    hips = add_limb(body, "hips", 1, target=(0.0, 0.0, 0.9), name="hips")
    keyed(hips.target, {1: 0.0, 21: -0.3}, "location.y")
    key_automatically()
    select(body, "foot.L")
    for frame, action in ((1, "PIN"), (8, "FREE"), (14, "PIN")):
        scene.frame_set(frame)
        press("solve_all")
        press("pin_toggle", action=action)
    key_automatically(on=False)
    press("bake", frame_start=1, frame_end=21, chains="ALL")
    places = {
        frame: {side: (body.matrix_world @ body.pose.bones[f"foot{side}"].head).copy() for side in (".L", ".R")}
        for frame in each_frame(range(1, 22))
    }
    for frame in range(1, 22):
        assert (places[frame][".R"] - places[1][".R"]).length < NEAR
    for frame in range(1, 8):
        assert (places[frame][".L"] - places[1][".L"]).length < NEAR
    for frame in range(14, 22):
        assert (places[frame][".L"] - places[14][".L"]).length < NEAR
    assert (places[14][".L"] - places[1][".L"]).length > 0.02
