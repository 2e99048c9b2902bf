# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers for the tests, whose bodies are keyed along a way, and whose walk is planned."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bpy
from fabrik_addon.actions.walk.plan import plan_walk, what_is_old
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from dev.walking_rigs import FPS, ahead, make_spider
from support.scenes import keyed, make_body, update
from support.stored import stored

WALK = (1, 60)  # first and last frame of a walk


def key_way(owner: Any, bone: str, way: Any, frames: tuple[int, int] = WALK) -> None:
    """Key the body bone along a way of the world, from its rest place."""
    pose = owner.pose.bones[bone]
    into = pose.bone.matrix_local.to_3x3().inverted()
    first, last = frames
    keyed(pose, {frame: into @ Vector(way((frame - first) / (last - first))) for frame in range(first, last + 1, 3)})
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = frames
    scene.render.fps = FPS
    scene.frame_set(first)


def around(radius: float) -> Any:
    """A quarter of a circle."""
    return lambda share: (radius * (1.0 - cos(share * pi / 2.0)), -radius * sin(share * pi / 2.0), 0.0)


@stored
def walking(kind: str, length: float = 0.0, legs: int = 4) -> bpy.types.Object:
    """A spider, with so many legs on each side, or a human, that walks ahead as planned."""
    owner = make_spider(legs) if kind == "spider" else make_body()
    key_way(owner, "b0" if kind == "spider" else "hips", ahead(length or (1.6 if kind == "spider" else 2.0)))
    return planned(owner)


def planned(owner: bpy.types.Object, frames: tuple[int, int] = WALK) -> bpy.types.Object:
    """Make a walker of it, and plan its walk."""
    update()
    add_walker(bpy.context, owner)
    plan_walk(bpy.context, owner, frames)
    return owner


def told(owner: bpy.types.Object) -> str:
    """Why the plan of a walk is old, or nothing."""
    scene: Any = bpy.context.scene
    update()
    return what_is_old(owner, scene)


def legs_of(owner: bpy.types.Object) -> list[FabrikChain]:
    """The chains of the legs of a walker."""
    return [rig_of(owner).chains[leg.name] for leg in rig_of(owner).walker.legs]
