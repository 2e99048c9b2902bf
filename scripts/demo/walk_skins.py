# SPDX-License-Identifier: GPL-3.0-or-later
"""A body for the spider that walks: solids on its bones, one object a colour."""

from __future__ import annotations

import bpy
from demo_rigs import LEG_NAMES
from mathutils import Matrix
from solids import joined, sphere, stick
from walk_grounds import Color, add

from blender import armature_of

DARK, LIGHT, EYE = (0.2, 0.15, 0.13, 1), (0.5, 0.33, 0.2, 1), (0.85, 0.25, 0.1, 1)
# By part of a leg: radius where it begins, and where it ends
WIDTHS = {"coxa": (0.06, 0.05), "femur": (0.05, 0.045), "tibia": (0.045, 0.03), "tarsus": (0.03, 0.012)}
TRUNK = (((0.0, -0.12, 0.56), (0.27, 0.36, 0.2)), ((0.0, 0.85, 0.62), (0.34, 0.6, 0.32)))  # place and size of two balls
PAIRS_OF_EYES = ((0.05, -0.44, 0.64, 0.04), (0.13, -0.4, 0.65, 0.03))  # place and radius
V3 = tuple[float, float, float]
Part = tuple[str, bpy.types.Mesh, Matrix]


def dress_spider(owner: bpy.types.Object) -> None:
    """Give the spider a head, an abdomen, eyes and legs."""
    _dress(owner, "Trunk", [("body", sphere(), _ball(*each)) for each in TRUNK], DARK)
    eyes = [((sign * x, y, z), (size, size, size)) for sign in (-1.0, 1.0) for x, y, z, size in PAIRS_OF_EYES]
    _dress(owner, "Eyes", [("body", sphere(), _ball(*each)) for each in eyes], EYE)
    legs = []
    for name in LEG_NAMES:
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
    deform = thing.modifiers.new("Armature", "ARMATURE")
    assert isinstance(deform, bpy.types.ArmatureModifier)
    deform.object = owner
