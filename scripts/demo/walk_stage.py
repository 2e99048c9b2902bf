# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demo's walkers walk on, and what the spider wears: slabs, rubble of a fixed seed, solids on bones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi
from random import Random

import bpy
from fabrik_addon.maths import V3
from mathutils import Matrix, Vector
from picture import Color, joined, mesh_of, rock, sphere, stick

from blender import armature_of
from rigs import SPIDER_LEGS

Profile = Sequence[tuple[float, float]]
FLOOR, STAIRS, STONE = (0.77, 0.79, 0.82, 1), (0.8, 0.72, 0.6, 1), (0.56, 0.5, 0.46, 1)
THICK = 0.25  # of the ground, so that it is a slab
TRIES = 200  # to find a place for a rock
CLOSE = 0.85  # of two rocks' radii: they are no nearer
DARK, LIGHT, EYE = (0.2, 0.15, 0.13, 1), (0.5, 0.33, 0.2, 1), (0.85, 0.25, 0.1, 1)
# By part of a leg: radius where it begins, and where it ends
WIDTHS = {"coxa": (0.06, 0.05), "femur": (0.05, 0.045), "tibia": (0.045, 0.03), "tarsus": (0.03, 0.012)}
TRUNK = (((0.0, -0.12, 0.56), (0.27, 0.36, 0.2)), ((0.0, 0.85, 0.62), (0.34, 0.6, 0.32)))  # place and size of two balls
PAIRS_OF_EYES = ((0.05, -0.44, 0.64, 0.04), (0.13, -0.4, 0.65, 0.03))  # place and radius
Part = tuple[str, bpy.types.Mesh, Matrix]


def make_slab(
    name: str, profile: Profile, sides: tuple[float, float], color: Color, place: Matrix | None = None
) -> bpy.types.Object:
    """Ground of an even width that goes along X, up and down as a profile does; its lower side is level.

    Args:
        name: Of the object.
        profile: X and height, one after the other.
        sides: Least and greatest Y.
        color: Of the object.
        place: Of the object; None for the world's origin.
    """
    low = min(height for _, height in profile) - THICK
    outline = [*profile, (profile[-1][0], low), (profile[0][0], low)]
    count = len(outline)
    points = [(x, y, z) for y in sides for x, z in outline]
    tops = [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    faces = [*tops, tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    return add(name, mesh_of(name, points, faces), color, place)


def stairs(rise: float, tread: float, count: int) -> Iterator[tuple[float, float]]:
    """The profile of stairs that lead up from the origin, from the foot of the first riser to the top of the last."""
    for step in range(count):
        yield tread * step, rise * step
        yield tread * step, rise * (step + 1)


def make_rubble(
    count: int, corners: tuple[tuple[float, float], tuple[float, float]], size: tuple[float, float]
) -> bpy.types.Object:
    """Rocks on the floor, half sunk.

    Args:
        count: How many.
        corners: Least and greatest X and Y.
        size: Least and greatest radius.
    """
    random, taken = Random(11), list[tuple[Vector, float]]()
    for _ in range(TRIES * count):
        place = Vector([random.uniform(*pair) for pair in corners])
        radius = random.uniform(*size)
        if len(taken) < count and all((place - other).length > CLOSE * (radius + more) for other, more in taken):
            taken.append((place, radius))
    parts = []
    for place, radius in taken:
        turn = random.uniform(0.0, 2.0 * pi)
        flat = Matrix.Diagonal((radius, radius * random.uniform(0.6, 1.0), radius * random.uniform(0.35, 0.6), 1.0))
        sunk = Matrix.Translation((place.x, place.y, -0.1 * radius))
        parts.append((rock(random), sunk @ Matrix.Rotation(turn, 4, "Z") @ flat))
    return add("Rubble", joined("Rubble", parts), STONE)


def add(name: str, mesh: bpy.types.Mesh, color: Color, place: Matrix | None = None) -> bpy.types.Object:
    """An object of the open file's scene; without a place at the origin."""
    thing = bpy.data.objects.new(name, mesh)
    thing.matrix_world = place or Matrix()
    setattr(thing, "color", color)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def dress_spider(owner: bpy.types.Object) -> None:
    """Give the spider a head, an abdomen, eyes and legs."""
    _dress(owner, "Trunk", [("body", sphere(), _ball(*each)) for each in TRUNK], DARK)
    eyes = [((sign * x, y, z), (size, size, size)) for sign in (-1.0, 1.0) for x, y, z, size in PAIRS_OF_EYES]
    _dress(owner, "Eyes", [("body", sphere(), _ball(*each)) for each in eyes], EYE)
    legs = []
    for name in SPIDER_LEGS:
        for part, widths in WIDTHS.items():
            bone = armature_of(owner).bones[f"{part}.{name}"]
            legs.append((bone.name, stick(bone.length, *widths), bone.matrix_local.copy()))
    _dress(owner, "Legs", legs, LIGHT)


def _ball(place: V3, size: V3) -> Matrix:
    """Where a sphere is, and how large along each axis."""
    return Matrix.Translation(place) @ Matrix.Diagonal((*size, 1.0))


def _dress(owner: bpy.types.Object, name: str, parts: list[Part], color: Color) -> None:
    """An object whose parts follow a bone each."""
    counts = [(bone, len(mesh.vertices)) for bone, mesh, _ in parts]
    skin = joined(name, [(mesh, matrix) for _, mesh, matrix in parts])
    thing = add(name, skin, color)
    first = 0
    for bone, count in counts:
        group = thing.vertex_groups.get(bone) or thing.vertex_groups.new(name=bone)
        group.add(range(first, first + count), 1.0, "REPLACE")
        first += count
    skin.shade_smooth()
    thing.parent = owner
    setattr(thing.modifiers.new("Armature", "ARMATURE"), "object", owner)
