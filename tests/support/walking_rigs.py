# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that walk, their ways, and what is seen of their feet as Blender evaluates them."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bpy
from fabrik_addon.gait import FootPose, feet_at
from fabrik_addon.maths import distance
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.rig.walk_goals import plan_of
from fabrik_addon.session.walk.planning import plan_walk
from fabrik_addon.session.walk.setup import add_walker
from mathutils import Vector

from dev.walking_rigs import FPS, ahead, make_spider
from support.body_rigs import effector, make_body, update

FRAMES = (1, 60)


def key_way(owner: Any, bone: str, way: Any, frames: tuple[int, int] = FRAMES) -> None:
    """Key the body bone along a way of the world, from its rest place."""
    pose = owner.pose.bones[bone]
    into = pose.bone.matrix_local.to_3x3().inverted()
    for frame in range(frames[0], frames[1] + 1, 3):
        pose.location = into @ Vector(way((frame - frames[0]) / (frames[1] - frames[0])))
        pose.keyframe_insert("location", frame=frame)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = frames
    scene.render.fps = FPS
    scene.frame_set(frames[0])


def around(radius: float) -> Any:
    """A quarter of a circle."""
    return lambda share: (radius * (1.0 - cos(share * pi / 2.0)), -radius * sin(share * pi / 2.0), 0.0)


def walking_spider(legs: int = 4, length: float = 1.6) -> bpy.types.Object:
    """A spider that walks ahead as planned."""
    owner = make_spider(legs)
    key_way(owner, "b0", ahead(length))
    return planned(owner)


def walking_human(length: float = 2.0) -> bpy.types.Object:
    """A human that walks ahead as planned."""
    owner = make_body()
    key_way(owner, "hips", ahead(length))
    return planned(owner)


def planned(owner: bpy.types.Object, frames: tuple[int, int] = FRAMES) -> bpy.types.Object:
    """Make a walker of it, and plan its walk."""
    update()
    add_walker(bpy.context, owner)
    plan_walk(bpy.context, owner, frames)
    return owner


def legs_of(owner: bpy.types.Object) -> list[FabrikChain]:
    return [rig_of(owner).chains[leg.name] for leg in rig_of(owner).walker.legs]


def feet(owner: bpy.types.Object, frame: float) -> tuple[FootPose, ...]:
    parsed = plan_of(owner)
    assert parsed is not None
    return feet_at(parsed.plan, frame)


def worst_foot(owner: bpy.types.Object, frame: int) -> float:
    """How far the worst effector is from where the plan has it, as evaluated, as a share of its leg."""
    parsed = plan_of(owner)
    assert parsed is not None
    pairs = zip(legs_of(owner), feet(owner, frame), parsed.plan.legs, strict=True)
    return max(distance(effector(owner, chain), foot.ankle) / leg.reach for chain, foot, leg in pairs)
