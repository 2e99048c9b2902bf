# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that walk in Blender, their ways and the ground they walk on, for benchmark and tests. They look along -Y."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import cos, pi, radians, sin
from typing import TypeAlias

import bpy
from mathutils import Vector

from rigs import BoneRow, make_armature, row_of_bones

FPS = 24
WIDE = 4.0  # how far ground that is a profile goes to both sides
Way: TypeAlias = Callable[[float], tuple[float, float, float]]


def make_spider(legs: int = 4, name: str = "Spider") -> bpy.types.Object:
    """A body, `legs` legs of three bones on each side, that stand on the floor; bones are b0, the body, b1, ..."""
    bones = {"b0": BoneRow("", (0.0, -0.3, 0.4), (0.0, 0.3, 0.4))}
    for side in (1, -1):
        for k in range(legs):
            angle = radians(50.0 - 100.0 * k / max(legs - 1, 1))
            out = Vector((side * cos(angle), -sin(angle), 0.0))
            points = [out * r + Vector((0, 0, z)) for r, z in ((0.15, 0.4), (0.45, 0.75), (0.8, 0.5), (0.95, 0.0))]
            leg = row_of_bones([f"b{len(bones) + part}" for part in range(3)], points, "b0")
            bones |= {bone: row._replace(is_connected=False) for bone, row in leg.items()}
    return make_armature(name, bones)


def go_along(owner: bpy.types.Object, way: Way, frames: tuple[int, int]) -> None:
    """Key the armature object itself along a way; the scene's frames are those of the way.

    Args:
        owner: The armature object.
        way: Where it is, by the share of the time.
        frames: First and last frame.
    """
    for frame in range(frames[0], frames[1] + 1, 3):
        owner.location = way((frame - frames[0]) / (frames[1] - frames[0]))
        owner.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames
    scene.render.fps = FPS
    scene.frame_set(frames[0])


def ahead(length: float) -> Way:
    """Straight along -Y, from rest to rest."""
    return lambda share: (0.0, -length * (1.0 - cos(pi * share)) / 2.0, 0.0)


def make_ground(points: Sequence[tuple[float, float, float]], faces: Sequence[tuple[int, ...]]) -> bpy.types.Object:
    """A mesh to walk on."""
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(list(points), [], list(faces))
    ground = bpy.data.objects.new("Ground", mesh)
    bpy.context.collection.objects.link(ground)
    return ground


def stair_profile(rise: float, tread: float, count: int) -> Iterator[tuple[float, float]]:
    """The profile of stairs that lead up from the origin, from the foot of the first riser to the top of the last."""
    for step in range(count):
        yield tread * step, rise * step
        yield tread * step, rise * (step + 1)


def make_profile(profile: Sequence[tuple[float, float]]) -> bpy.types.Object:
    """Ground that is wide, and goes ahead (-Y) and up as a profile does."""
    points = [(x, -way, z) for way, z in profile for x in (-WIDE, WIDE)]
    return make_ground(points, [(2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2) for k in range(len(profile) - 1)])


def make_rubble(height: Callable[[float, float], float], cells: int, start: float, length: float) -> bpy.types.Object:
    """A square of ground in triangles.

    Args:
        height: By x and y.
        cells: To each side; each is two triangles.
        start: How far behind the origin it begins.
        length: Of a side.
    """
    step, row = length / cells, cells + 1
    places = [(step * i - 0.5 * length, start - step * j) for j in range(row) for i in range(row)]
    corners = [row * j + i for j in range(cells) for i in range(cells)]
    low = [(a, a + row, a + 1) for a in corners]
    high = [(a + 1, a + row, a + row + 1) for a in corners]
    return make_ground([(x, y, height(x, y)) for x, y in places], [*low, *high])
