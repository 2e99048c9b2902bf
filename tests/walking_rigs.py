# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that walk, their ways, and what is seen of their feet as Blender evaluates them."""

from __future__ import annotations

from math import cos, pi, radians, sin
from typing import Any

import bpy
from fabrik_addon.gait import FootPose, feet_at
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.properties import FabrikChain, rig_of
from fabrik_addon.rig.walk_goals import plan_of
from fabrik_addon.session.walk.planning import plan_walk
from fabrik_addon.session.walk.setup import add_walker
from fabrik_addon.vectors import distance
from mathutils import Vector

from body_rigs import effector, make_body, update
from live_rigs import keyed
from rigs import Bone, make_armature

FRAMES = (1, 60)


def make_spider(legs: int = 4, name: str = "Spider") -> bpy.types.Object:
    """A body, `legs` legs of three bones on each side, that stand on the floor; it faces -Y."""
    bones = [Bone((0, -0.3, 0.4), (0, 0.3, 0.4))]
    for side in (1, -1):
        for k in range(legs):
            angle = radians(50.0 - 100.0 * k / max(legs - 1, 1))
            out = Vector((side * cos(angle), -sin(angle), 0.0))
            points = [out * r + Vector((0, 0, z)) for r, z in ((0.15, 0.4), (0.45, 0.75), (0.8, 0.5), (0.95, 0.0))]
            for part in range(3):
                bones.append(Bone(points[part], points[part + 1], parent=0 if part == 0 else -1))
    owner = make_armature(bones, name)
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    return owner


def key_way(owner: Any, bone: str, way: Any, frames: tuple[int, int] = FRAMES) -> None:
    """Key the body bone along a way of the world, from its rest place."""
    pose = owner.pose.bones[bone]
    into = pose.bone.matrix_local.to_3x3().inverted()
    for frame in range(frames[0], frames[1] + 1, 3):
        pose.location = into @ Vector(way((frame - frames[0]) / (frames[1] - frames[0])))
        pose.keyframe_insert("location", frame=frame)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = frames
    scene.render.fps = 24
    scene.frame_set(frames[0])


def ahead(length: float) -> Any:
    """Straight along -Y, from rest to rest."""
    return lambda share: (0.0, -length * (1.0 - cos(pi * share)) / 2.0, 0.0)


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


def go_along(owner: bpy.types.Object, way: Any, frames: tuple[int, int] = FRAMES) -> None:
    """Key the armature object itself along a way."""
    for frame in range(frames[0], frames[1] + 1, 3):
        keyed(owner, frame, way((frame - frames[0]) / (frames[1] - frames[0])))
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = frames
    scene.frame_set(frames[0])


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
