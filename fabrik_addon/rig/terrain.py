# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground that walkers walk on: meshes as they are evaluated, each in a tree of its own that is kept meanwhile."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from ..errors import InvalidValueError, are_finite
from ..gait.ground import STATIC, Hit
from ..maths import Q4, V3, axes_of, slerp, v3
from ..messages import Message
from .bones import numbers_of
from .dependencies import is_evaluated

MADE_OF_FACES = {"MESH", "CURVE", "SURFACE", "FONT", "META"}
KEPT = 64  # trees that stay
NEVER = 1e-12  # squared length of a normal that is none


class Piece(NamedTuple):
    """An object that is walked on.

    Attributes:
        name: Its full name.
        digest: Of its faces.
        tree: Of its faces, in its own space where it moves, else in the world.
    """

    name: str
    digest: str
    tree: BVHTree


_trees: OrderedDict[str, BVHTree] = OrderedDict()


def grounds_of(
    owner: bpy.types.Object, collection: bpy.types.Collection | None, depsgraph: bpy.types.Depsgraph
) -> list[bpy.types.Object]:
    """The objects that an armature walks on, by name: those of a collection, or all that are seen but its own."""
    assert depsgraph.view_layer is not None
    objects: Iterable[bpy.types.Object] = (
        collection.all_objects if collection is not None else depsgraph.view_layer.objects
    )
    found = [
        thing
        for thing in objects
        if thing.type in MADE_OF_FACES
        and is_evaluated(thing, depsgraph)
        and not _is_own(thing, owner)
        and (collection is not None or thing.visible_get())
    ]
    return sorted(found, key=lambda thing: thing.name_full)


def _is_own(thing: bpy.types.Object, owner: bpy.types.Object) -> bool:
    """Whether an object is the character's own: it hangs on the armature, or is deformed by it."""
    above: bpy.types.Object | None = thing
    while above is not None:
        if above == owner or any(getattr(modifier, "object", None) == owner for modifier in above.modifiers):
            return True
        above = above.parent
    return any(getattr(bone, "custom_shape", None) == thing for bone in (owner.pose.bones if owner.pose else ()))


def read_piece(thing: bpy.types.Object, depsgraph: bpy.types.Depsgraph, moves: bool) -> Piece | None:
    """An object as it is evaluated; None where it has no faces. The tree of one that moves is in its own space.

    Raises:
        InvalidValueError: It stands nowhere.
    """
    evaluated = thing.evaluated_get(depsgraph)
    mesh, world = evaluated.to_mesh(), Matrix() if moves else evaluated.matrix_world
    try:
        if mesh is None or not len(mesh.polygons):
            return None
        mesh.calc_loop_triangles()
        points, corners = numbers_of(mesh.vertices, "co", 3), numbers_of(mesh.loop_triangles, "vertices", 3, np.int32)
        rows = [] if moves else [value for row in world for value in row]
        if not are_finite(rows) or not np.isfinite(points).all():
            raise InvalidValueError(Message("GROUND_NOT_FINITE", thing=thing.name))
        digest = blake2b(points.tobytes() + corners.tobytes() + repr(rows).encode(), digest_size=12).hexdigest()
        if digest not in _trees:
            _trees[digest] = _tree(mesh, world)
    finally:
        evaluated.to_mesh_clear()
    _trees.move_to_end(digest)
    while len(_trees) > KEPT:
        _trees.popitem(last=False)
    return Piece(thing.name_full, digest, _trees[digest])


def has_faces(thing: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether an object has faces, as it is evaluated."""
    evaluated = thing.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    found = mesh is not None and len(mesh.polygons) > 0
    evaluated.to_mesh_clear()
    return found


def _tree(mesh: bpy.types.Mesh, world: Matrix) -> BVHTree:
    """Of a mesh that is placed so. By BMesh: lists of its points and faces take twice as long."""
    placed = bmesh.new()
    try:
        placed.from_mesh(mesh)
        placed.transform(world)
        return BVHTree.FromBMesh(placed)
    finally:
        placed.free()


class Way:
    """How a piece that moves stands, frame by frame.

    Args:
        fps: Frames a second.
    """

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self.matrices: list[Matrix] = []

    def at(self, time: float) -> Matrix:
        """Its matrix at a time, seconds from the first frame; between frames in between."""
        position = min(max(time * self.fps, 0.0), len(self.matrices) - 1.0)
        index = int(position)
        share = position - index
        return self.matrices[index] if share <= 0.0 else self.matrices[index].lerp(self.matrices[index + 1], share)

    def pose(self, time: float) -> tuple[V3, Q4]:
        """Place and rotation at a time."""
        position = min(max(time * self.fps, 0.0), len(self.matrices) - 1.0)
        index = int(position)
        share, first = position - index, self.matrices[index]
        if share <= 0.0:
            return v3(first.translation), axes_of(first)
        second = self.matrices[index + 1]
        return v3(first.translation.lerp(second.translation, share)), slerp(axes_of(first), axes_of(second), share)


class MeshTerrain:
    """Ground of meshes (`gait.Terrain`): those that stand still are surface STATIC, the others have their numbers.

    Args:
        still: Pieces that do not move, in the world.
        moving: Pieces that move, in their own space, each with its way.
    """

    def __init__(self, still: Sequence[Piece], moving: Sequence[tuple[Piece, Way]]) -> None:
        self.still, self.moving = still, moving

    @property
    def digest(self) -> str:
        """See `gait.Terrain`."""
        texts = [f"{piece.name} {piece.digest}" for piece in self.still]
        for piece, way in self.moving:
            texts += f"{piece.name} {piece.digest}", repr([tuple(row) for matrix in way.matrices for row in matrix])
        return blake2b("".join(texts).encode(), digest_size=12).hexdigest()

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        """See `gait.Terrain`."""
        best: tuple[float, Hit] | None = None
        for piece in self.still:
            place, normal, _, distance = piece.tree.ray_cast(origin, direction, reach)
            if place is not None and (best is None or distance < best[0]):
                best = distance, Hit(v3(place), _normal(normal, direction), STATIC)
        for number, (piece, way) in enumerate(self.moving):
            world = way.at(time)
            into = world.inverted_safe()
            begin, end = into @ Vector(origin), into @ (Vector(origin) + reach * Vector(direction))
            length = (end - begin).length
            place, normal, _, _ = piece.tree.ray_cast(begin, end - begin, length) if length else (None,) * 4
            if place is not None:
                found = world @ place
                distance = (found - Vector(origin)).length
                if best is None or distance < best[0]:
                    turned = into.to_3x3().transposed() @ normal
                    best = distance, Hit(v3(found), _normal(turned.normalized(), direction), number)
        return best[1] if best is not None else None

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        """See `gait.Terrain`."""
        best: tuple[float, Hit] | None = None
        for piece in self.still:
            point, normal, _, distance = piece.tree.find_nearest(place, reach)
            if point is not None and (best is None or distance < best[0]):
                best = distance, Hit(v3(point), v3(normal), STATIC)
        for number, (piece, way) in enumerate(self.moving):
            world = way.at(time)
            into = world.inverted_safe()
            point, normal, _, _ = piece.tree.find_nearest(into @ Vector(place))
            if point is not None:
                found = world @ point
                distance = (found - Vector(place)).length
                if distance <= reach and (best is None or distance < best[0]):
                    best = distance, Hit(v3(found), v3((into.to_3x3().transposed() @ normal).normalized()), number)
        return best[1] if best is not None else None

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        """See `gait.Terrain`."""
        return self.moving[number][1].pose(time)


def _normal(normal: Vector, direction: V3) -> V3:
    """A normal, towards where the ray came from: planes have two sides."""
    if normal.length_squared < NEVER:
        return -direction[0], -direction[1], -direction[2]
    return v3(normal) if normal.dot(Vector(direction)) <= 0.0 else v3(-normal)
