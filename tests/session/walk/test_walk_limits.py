# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs whose bones have joint limits: the walk stays where they reach, and limits that change make it old."""

from __future__ import annotations

from random import Random

import bpy
import pytest
from fabrik_addon.rig.chain_bones import pose_bones, resolve_bones
from fabrik_addon.rig.schema import limit_of, rig_of
from fabrik_addon.session.walk.leg_limits import leg_limits
from fabrik_addon.session.walk.measuring import frame_for
from fabrik_addon.session.walk.planning import plan_walk, what_is_old
from fabrik_addon.session.walk.sampling import body_chain
from fabrik_addon.session.walk.sampling import legs_now as measured_legs
from fabrik_addon.session.walk.setup import add_walker
from mathutils import Euler, Quaternion, Vector

from dev.walking_rigs import ahead, make_spider
from support.judging import effector, feet
from support.scenes import WALK, key_way, legs_of, update
from support.skeletons import make_character

CONE = 0.22  # radians


def limited_spider(angle: float) -> bpy.types.Object:
    """A spider whose legs turn little in their joints, and that walks along a curve with a body that turns with it."""
    owner: bpy.types.Object = make_spider()
    key_way(owner, "b0", ahead(1.2))
    body = pose_bones(owner)["b0"]
    for frame, turn in ((1, 0.0), (30, 0.5), (60, 0.3)):
        body.rotation_quaternion = Euler((0.0, 0.0, turn)).to_quaternion()
        body.keyframe_insert("rotation_quaternion", frame=frame)
    update()
    add_walker(bpy.context, owner)
    for chain in legs_of(owner):
        for bone in resolve_bones(owner, chain):
            view = limit_of(bone)
            view.limit, view.cone_max = "CONE", angle
    return owner


def stances(owner: bpy.types.Object) -> tuple[int, int]:
    """How many stances by frame are reached, and how many there are."""
    rig_of(owner).live = True
    reached = count = 0
    for frame in range(WALK[0], WALK[1] + 1):
        bpy.context.scene.frame_set(frame)
        for chain, foot in zip(legs_of(owner), feet(owner, frame), strict=True):
            if foot.is_planted:
                count += 1
                reached += chain.status == "REACHED"
    return reached, count


def test_stances_are_reached_within_the_limits() -> None:
    owner = limited_spider(CONE)
    plan_walk(bpy.context, owner, WALK)
    reached, count = stances(owner)
    assert count > 200
    assert reached == count


def test_without_them_stances_would_be_out_of_reach() -> None:
    """The limits bound this walk: planned as if there were none, legs are held back."""
    owner = limited_spider(3.0)
    plan_walk(bpy.context, owner, WALK)
    for chain in legs_of(owner):
        for bone in resolve_bones(owner, chain):
            limit_of(bone).cone_max = CONE
    reached, count = stances(owner)
    assert reached < count


def test_a_limit_that_changes_makes_the_walk_old() -> None:
    owner = limited_spider(CONE)
    plan_walk(bpy.context, owner, WALK)
    assert what_is_old(owner, bpy.context.scene) == ""
    limit_of(resolve_bones(owner, legs_of(owner)[0])[0]).cone_max = 0.3
    assert "changed" in what_is_old(owner, bpy.context.scene)


@pytest.mark.parametrize("kind", ["spider", "human", "wolf"])
def test_what_a_limited_leg_takes_on_is_within_its_reach_and_what_it_can_not_is_not(kind: str) -> None:
    """Bones are turned at random inside their limits, and Blender's own evaluation tells where the ankles are."""
    owner = made(kind)
    random = Random(7)
    for chain in legs_of(owner):
        for bone in resolve_bones(owner, chain):
            bone.rotation_mode = "QUATERNION"
            limit_of(bone).limit, limit_of(bone).cone_max = "CONE", 0.5
    body = body_chain(owner)
    frame = frame_for(owner, body.tip_bone, rig_of(owner).walker.upright)
    limits = leg_limits(owner, legs_of(owner), frame)
    assert limits is not None
    for _ in range(20):
        for chain in legs_of(owner):
            for bone in resolve_bones(owner, chain):
                axis = Vector((random.gauss(0.0, 1.0), 0.0, random.gauss(0.0, 1.0)))
                bone.rotation_quaternion = Quaternion(axis, random.uniform(0.0, 0.45))
        update()
        for index, chain in enumerate(legs_of(owner)):
            ankle = frame.place(owner.matrix_world.inverted() @ effector(owner, chain))
            leg = measured_legs(owner).legs[index]
            assert limits.shortage(index, ankle) <= 1e-3 * leg.reach
            assert limits.shortage(index, leg.hip) > 0.1 * leg.reach  # it does not fold so far


def made(kind: str) -> bpy.types.Object:
    """A walker whose object is moved and turned."""
    owner: bpy.types.Object = (
        make_spider() if kind == "spider" else make_character("wolf" if kind == "wolf" else "human_mixamo")
    )
    owner.location, owner.rotation_euler = (1.0, 2.0, 0.5), (0.0, 0.0, 0.7)
    update()
    add_walker(bpy.context, owner)
    return owner
