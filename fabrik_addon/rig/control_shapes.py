# SPDX-License-Identifier: GPL-3.0-or-later
"""The outlines by which control bones are drawn: objects in no collection, made once a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, product
from math import cos, pi, sin

import bpy

from ..maths import V3

AROUND = 24  # corners of a circle
Lines = list[Sequence[V3]]  # runs of points


def shape_object(shape: str) -> bpy.types.Object:
    """The object that outlines a shape of size 1, made where the file has none yet.

    Args:
        shape: How an empty of that shape would be drawn: "PLAIN_AXES", "CUBE", "SPHERE", "CIRCLE" or "CONE".
    """
    name = _name_of(shape)
    found = next((one for one in bpy.data.objects if one.name == name and one.library is None), None)
    if found is not None and found.type == "MESH":
        return found
    mesh = bpy.data.meshes.new(name)
    points: list[V3] = []
    edges: list[tuple[int, int]] = []
    for line in OUTLINES[shape]():
        edges += pairwise(range(len(points), len(points) + len(line)))
        points += line
    mesh.from_pydata(points, edges, [])
    made = bpy.data.objects.new(name, mesh)
    made.use_fake_user = True
    made.hide_render = True
    return made


def remove_unused_shapes() -> None:
    """Remove the objects by which no bone is drawn any more."""
    named = [one for one in bpy.data.objects if one.name in map(_name_of, OUTLINES) and one.library is None]
    for found in named:
        if found.users - found.use_fake_user < 1:
            mesh = found.data
            bpy.data.objects.remove(found)
            if isinstance(mesh, bpy.types.Mesh) and not mesh.users:
                bpy.data.meshes.remove(mesh)


def _name_of(shape: str) -> str:
    return f"FABRIK {shape.lower().replace('_', ' ')} shape"


def _axes() -> Lines:
    return [
        [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)],
        [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)],
        [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)],
    ]


def _cube() -> Lines:
    corners = [(x, y, z) for x, y, z in product((-1.0, 1.0), repeat=3)]
    return [[a, b] for a, b in combinations(corners, 2) if sum(p != q for p, q in zip(a, b, strict=True)) == 1]


def _ring() -> list[tuple[float, float]]:
    return [(cos(2.0 * pi * i / AROUND), sin(2.0 * pi * i / AROUND)) for i in range(AROUND + 1)]


def _circle() -> Lines:
    return [[(a, 0.0, b) for a, b in _ring()]]


def _sphere() -> Lines:
    return [*_circle(), [(a, b, 0.0) for a, b in _ring()], [(0.0, a, b) for a, b in _ring()]]


def _cone() -> Lines:
    sides: tuple[V3, ...] = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, 0.0, -1.0))
    return [*_circle(), *([side, (0.0, 2.0, 0.0)] for side in sides)]


OUTLINES = {"PLAIN_AXES": _axes, "CUBE": _cube, "SPHERE": _sphere, "CIRCLE": _circle, "CONE": _cone}
