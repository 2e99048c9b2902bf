# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demo's walkers walk on: floors, stairs and slopes of a profile, and rubble of a fixed seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi
from random import Random

import bpy
from mathutils import Matrix, Vector
from solids import joined, mesh_of, rock

Color = tuple[float, float, float, float]
Profile = Sequence[tuple[float, float]]
FLOOR, STAIRS, STONE = (0.77, 0.79, 0.82, 1), (0.8, 0.72, 0.6, 1), (0.56, 0.5, 0.46, 1)
THICK = 0.25  # of the ground, so that it is a slab
TRIES = 200  # to find a place for a rock
CLOSE = 0.85  # of two rocks' radii: they are no nearer


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
