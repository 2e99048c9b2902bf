# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be seen of the ground of a walk without going through its frames: whether it is another one now."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import bpy
import numpy as np

from .compat import fcurves_of
from .motion_text import carriers_of, key_bytes, placement_text
from .schema import walker_of
from .terrain import grounds_of, has_faces

SETTINGS = {"BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"}  # kinds of properties of a modifier that are read

_shapes: dict[int, bytes] = {}  # by the session's numbers of objects, what their shape is


def ground_of(owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> str:
    """A digest of the ground of a walker, to see whether it was changed.

    It covers which objects there are, how they are placed and keyed, the vertices of meshes and the settings of
    modifiers; not the points of curves and texts, nor what drivers, simulations and geometry nodes do.

    Args:
        owner: The armature object.
        depsgraph: Of the view layer in which it walks.
    """
    digest = blake2b(digest_size=12)
    for thing in grounds_of(owner, walker_of(owner).terrain, depsgraph):
        shape = _shape(thing, depsgraph)
        if not shape:
            continue
        digest.update(thing.name_full.encode() + shape)
        for carrier in carriers_of(thing, {owner.name_full}):
            digest.update(placement_text(carrier).encode())
            for curve in fcurves_of(carrier):
                digest.update(key_bytes(curve))
    return digest.hexdigest()


def forget_shapes(depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Read the shapes of objects anew: of those that a depsgraph has just evaluated, or of all."""
    if depsgraph is None:
        _shapes.clear()
    elif _shapes:
        for update in depsgraph.updates:
            found = update.id.original if update.is_updated_geometry and update.id is not None else None
            if isinstance(found, bpy.types.Object):
                _shapes.pop(found.session_uid, None)


def _shape(thing: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bytes:
    """What the shape of an object is; nothing where it is a line, without faces."""
    found = _shapes.get(thing.session_uid)
    if found is None:
        digest = blake2b(digest_size=12)
        for part in _shape_parts(thing):
            digest.update(part)
        is_ground = thing.type == "MESH" or has_faces(thing, depsgraph)
        found = _shapes[thing.session_uid] = digest.digest() if is_ground else b""
    return found


def _shape_parts(thing: bpy.types.Object) -> Iterator[bytes]:
    """The vertices and corners of a mesh, and the modifiers on it."""
    mesh = thing.data
    if isinstance(mesh, bpy.types.Mesh):
        points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        corners = np.empty(len(mesh.loops), dtype=np.int32)
        mesh.loops.foreach_get("vertex_index", corners)
        yield points.tobytes()
        yield corners.tobytes()
    moved = {curve.data_path for curve in fcurves_of(thing)}
    for modifier in thing.modifiers:
        yield modifier.type.encode()
        path = modifier.path_from_id()
        for prop in modifier.bl_rna.properties:
            name = prop.identifier
            if prop.type in SETTINGS and not prop.is_readonly and f"{path}.{name}" not in moved:
                value = getattr(modifier, name)
                yield f"{name}={tuple(value) if getattr(prop, 'is_array', False) else value}".encode()
