# SPDX-License-Identifier: GPL-3.0-or-later
"""The solids of which pictures are made, about 1 large, round the origin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin
from random import Random

import bpy
from mathutils import Matrix, Vector


def mesh_of(name: str, points: Sequence[Sequence[float]], faces: Sequence[Sequence[int]]) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(list(points), [], list(faces))
    return mesh


def _shaped(name: str, kind: str, shift: Callable[[Vector], Vector] | None = None, **size: float) -> bpy.types.Mesh:
    """One of Blender's own shapes, its vertices perhaps shifted."""
    import bmesh  # noqa: PLC0415  # the wheel has it only once bpy is imported

    mesh, shape = bpy.data.meshes.new(name), bmesh.new()
    create: Callable[..., object] = getattr(bmesh.ops, f"create_{kind}")
    create(shape, **size)
    for vertex in shape.verts:
        vertex.co = shift(vertex.co) if shift else vertex.co
    shape.to_mesh(mesh)
    return mesh


def cube() -> bpy.types.Mesh:
    return _shaped("cube", "cube", size=2.0)


def sphere() -> bpy.types.Mesh:
    return _shaped("sphere", "uvsphere", u_segments=16, v_segments=8, radius=1.0)


def box() -> bpy.types.Mesh:
    mesh = cube()
    mesh.transform(Matrix.Translation((0, 0.5, 0)) @ Matrix.Diagonal((1.0, 0.5, 1.0, 1.0)))
    return mesh


def frame() -> bpy.types.Mesh:
    """The edges of a cube, large enough to be seen round a wrist."""
    parts, half, thin = [], 1.9, 0.2
    for axis in range(3):
        for a in (-half, half):
            for b in (-half, half):
                place, size = Vector((a, a, a)), Vector((thin, thin, thin))
                place[axis], size[axis], place[(axis + 1) % 3] = 0.0, half + thin, b
                parts.append((place, size))
    placed = [Matrix.Translation(place) @ Matrix.Diagonal((*size, 1.0)) for place, size in parts]
    return joined("frame", [(cube(), matrix) for matrix in placed])


def joined(name: str, parts: Sequence[tuple[bpy.types.Mesh, Matrix]]) -> bpy.types.Mesh:
    """One mesh of several, which are used up."""
    points: list[Vector] = []
    faces: list[list[int]] = []
    for mesh, matrix in parts:
        first = len(points)
        points += [matrix @ vertex.co for vertex in mesh.vertices]
        for polygon in mesh.polygons:
            corners: Sequence[int] = getattr(polygon, "vertices")
            faces.append([first + i for i in corners])
        bpy.data.meshes.remove(mesh)
    return mesh_of(name, points, faces)


def ring() -> bpy.types.Mesh:
    """A ring that lies flat, large enough to be seen round an ankle."""
    around, across, radius, thick = 48, 12, 2.6, 0.42
    points, faces = [], []
    for i in range(around):
        turn = 2.0 * pi * i / around
        for j in range(across):
            roll = 2.0 * pi * j / across
            r = radius + thick * cos(roll)
            points.append((r * cos(turn), r * sin(turn), thick * sin(roll)))
            k, after = (j + 1) % across, (i + 1) % around
            faces.append((across * i + j, across * after + j, across * after + k, across * i + k))
    return mesh_of("ring", points, faces)


def disc() -> bpy.types.Mesh:
    """A flat round plate of radius 1 with its top at 0, as thick as makes its shadow lie on it."""
    count, thick = 96, 0.02
    ring = [(cos(2.0 * pi * i / count), sin(2.0 * pi * i / count)) for i in range(count)]
    points = [(x, y, z) for z in (0.0, -thick) for x, y in ring]
    sides = [(i, count + i, count + (i + 1) % count, (i + 1) % count) for i in range(count)]
    return mesh_of("disc", points, [tuple(range(count)), tuple(reversed(range(count, 2 * count))), *sides])


def rock(random: Random) -> bpy.types.Mesh:
    """A rock of few faces."""
    return _shaped("rock", "icosphere", lambda point: point * random.uniform(0.8, 1.0), subdivisions=1, radius=1.0)


def stick(length: float, base: float, end: float) -> bpy.types.Mesh:
    """A stick along Y from 0 to its length, with round ends of a radius each."""

    def shift(point: Vector) -> Vector:
        x, z, y = point
        radius, start = (end, length - end) if y > 0.0 else (base, 0.0)
        return Vector((radius * x, start + radius * y, radius * z))

    return _shaped("stick", "uvsphere", shift, u_segments=12, v_segments=12, radius=1.0)
