# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs whose bones have joint limits: the walk stays where they reach, and limits that change make it old."""

from __future__ import annotations

import bpy
from fabrik_addon.rig.chain_bones import pose_bones, resolve_bones
from fabrik_addon.rig.limit_properties import limit_of
from fabrik_addon.rig.properties import rig_of
from fabrik_addon.session.walk.planning import plan_walk, what_is_old
from fabrik_addon.session.walk.setup import add_walker
from mathutils import Euler

from body_rigs import update
from walking_rigs import FRAMES, ahead, feet, key_way, legs_of, make_spider

CONE = 0.22  # radians


def limited_spider(angle: float) -> bpy.types.Object:
    """A spider whose legs turn little in their joints, and that walks along a curve with a body that turns with it."""
    owner = make_spider()
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
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        bpy.context.scene.frame_set(frame)
        for chain, foot in zip(legs_of(owner), feet(owner, frame), strict=True):
            if foot.is_planted:
                count += 1
                reached += chain.status == "REACHED"
    return reached, count


def test_stances_are_reached_within_the_limits() -> None:
    owner = limited_spider(CONE)
    plan_walk(bpy.context, owner, FRAMES)
    reached, count = stances(owner)
    assert count > 200
    assert reached == count


def test_without_them_stances_would_be_out_of_reach() -> None:
    """The limits bound this walk: planned as if there were none, legs are held back."""
    owner = limited_spider(3.0)
    plan_walk(bpy.context, owner, FRAMES)
    for chain in legs_of(owner):
        for bone in resolve_bones(owner, chain):
            limit_of(bone).cone_max = CONE
    reached, count = stances(owner)
    assert reached < count


def test_a_limit_that_changes_makes_the_walk_old() -> None:
    owner = limited_spider(CONE)
    plan_walk(bpy.context, owner, FRAMES)
    assert what_is_old(owner, bpy.context.scene) == ""
    limit_of(resolve_bones(owner, legs_of(owner)[0])[0]).cone_max = 0.3
    assert "changed" in what_is_old(owner, bpy.context.scene)
