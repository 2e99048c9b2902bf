# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a planned walk is old: digests of what it was planned from."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import bpy
import numpy as np

from ...errors import FabrikError
from ...maths import IDENTITY
from ..bones import numbers_of, pose_bones
from ..dependencies import BONE_IN_PATH
from ..figure.joint_limits import read_limit
from ..figure.start_pose import DIGITS, fingerprint
from ..schema import PREFIX, FabrikChain, rig_of, walker_of
from ..schema.limit import CONTACT
from ..terrain import grounds_of, has_faces
from .compat import curves_of_action, fcurves_of
from .curves import POINTS

PLACEMENT = (
    "location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale",
    "delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale",
)  # fmt: skip


def carriers_of(thing: bpy.types.Object, seen: set[str]) -> Iterator[bpy.types.Object]:
    """An object, its parents, and what their constraints look at, but for those whose full names are `seen` already."""
    if thing.name_full in seen:
        return
    seen.add(thing.name_full)
    yield thing
    targets = [getattr(constraint, "target", None) for constraint in thing.constraints if not constraint.mute]
    for other in (thing.parent, *targets):
        if isinstance(other, bpy.types.Object):
            yield from carriers_of(other, seen)


def placement_text(thing: bpy.types.Object) -> str:
    """Those channels by which an object is placed that nothing animates, so that they are the same in every frame.

    Nothing of an object with NLA strips: which channels these move is not read.
    """
    data = thing.animation_data
    if data is None or (data.action is None and not data.drivers and not data.nla_tracks):
        return repr([tuple(row) for row in thing.matrix_basis])
    if data.nla_tracks:
        return ""
    moved = {curve.data_path for curve in (*fcurves_of(thing), *data.drivers)}
    return repr([tuple(getattr(thing, name)) for name in PLACEMENT if name not in moved])


def line_parts(thing: bpy.types.Object) -> Iterator[bytes]:
    """The points of a curve that is followed, and how it is gone along; nothing for other objects."""
    data: Any = thing.data
    if thing.type != "CURVE":
        return
    for spline in data.splines:
        points = spline.bezier_points if spline.type == "BEZIER" else spline.points
        yield repr([tuple(point.co) for point in points]).encode()
    if data.animation_data is not None and data.animation_data.action is not None:
        yield from (key_bytes(curve) for curve in curves_of_action(data.animation_data.action))


def key_bytes(curve: bpy.types.FCurve, owner: bpy.types.Object | None = None) -> bytes:
    """What a curve animates, bones of an armature by where they lie, for they may be renamed; and its keys."""
    points, path = curve.keyframe_points, curve.data_path
    found = BONE_IN_PATH.match(path)
    if owner is not None and found is not None:
        bone = pose_bones(owner).get(bpy.utils.unescape_identifier(found[1]))
        path = _rest_text(bone) + path[found.end() :] if bone is not None else path
    modes = "".join(point.interpolation for point in points)
    told = f"{path}[{curve.array_index}]{curve.mute}{modes}".encode()
    return told + b"".join([numbers_of(points, name, 2).tobytes() for name in POINTS])


def inputs_of(owner: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int]) -> str:
    """A digest of path, legs and settings of a walker, to see whether they were changed.

    It covers the keys of the armature and of what carries it, the curves that it follows, and rest data; not what
    drivers and simulations do.
    """
    walker = walker_of(owner)
    legs = [(leg.name, leg.offset, leg.group, tuple(leg.home)) for leg in walker.legs]
    rate = scene.render.fps, scene.render.fps_base
    told = (frames, rate, walker.settings, legs, walker.body, tuple(walker.upright), walker.ground_height)
    names = [walker.body, *(leg.name for leg in walker.legs)]
    texts = [repr(told), *[_chain_text(owner, rig_of(owner).chains.get(name)) for name in names]]
    clips = [curve for clip in walker.clips for curve in curves_of_action(clip)]
    parts = "".join(texts).encode(), *_motion(owner), *[key_bytes(curve, owner) for curve in clips]
    return blake2b(b"".join(parts), digest_size=12).hexdigest()


def _chain_text(owner: bpy.types.Object, chain: FabrikChain | None) -> str:
    if chain is None or chain.tip_bone not in pose_bones(owner):
        return "gone"
    tip = pose_bones(owner)[chain.tip_bone]
    bones = [tip, *tip.parent_recursive]
    limits = [_limit_text(bone) for bone in bones[: chain.bone_count]]
    rest = _rest_text(tip), fingerprint(bones, [""] * len(bones))
    return repr((chain.name, chain.bone_count, chain.effector, chain.enabled, rest, limits))


def _rest_text(bone: bpy.types.PoseBone) -> str:
    """How a bone lies at rest, in its lengths."""
    data = bone.bone
    parts = *data.matrix_local.to_3x3(), data.head_local / (data.length or 1.0)
    return repr([round(value, DIGITS) + 0.0 for part in parts for value in part])


def _limit_text(bone: bpy.types.PoseBone) -> str:
    try:
        return repr(read_limit(bone, IDENTITY))
    except FabrikError as error:
        return str(error)


def _motion(owner: bpy.types.Object) -> Iterator[bytes]:
    """The keys of the walker's body, of what carries it, and of contacts."""
    body = rig_of(owner).chains.get(walker_of(owner).body)
    own: tuple[str, ...] = ()
    if body is not None and body.tip_bone in pose_bones(owner):
        tip = pose_bones(owner)[body.tip_bone]
        own = tuple(bone.path_from_id() for bone in (tip, *tip.parent_recursive))
    for curve in fcurves_of(owner):
        path = curve.data_path
        is_path = not path.startswith(("pose.bones", "fabrik_")) or path.startswith((*own, PREFIX))
        if is_path or path.rpartition(".")[2].startswith(CONTACT):
            yield key_bytes(curve, owner)
    for carrier in carriers_of(owner, set()):
        yield placement_text(carrier).encode()
        yield from (key_bytes(curve) for curve in (fcurves_of(carrier) if carrier != owner else ()))
        yield from line_parts(carrier)


SETTINGS = {"BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"}  # kinds of properties of a modifier that are read

_shapes: dict[int, bytes] = {}  # by the session's numbers of objects, what their shape is


def ground_of(owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> str:
    """A digest of the ground of a walker, to see whether it was changed.

    It covers which objects there are, how they are placed and keyed, the vertices of meshes and the settings of
    modifiers; not the points of curves and texts, nor what drivers, simulations and geometry nodes do.
    """
    parts = list[bytes]()
    for thing in grounds_of(owner, walker_of(owner).terrain, depsgraph):
        shape = _shape(thing, depsgraph)
        if not shape:
            continue
        parts += thing.name_full.encode(), shape
        for carrier in carriers_of(thing, {owner.name_full}):
            parts += placement_text(carrier).encode(), *map(key_bytes, fcurves_of(carrier))
    return blake2b(b"".join(parts), digest_size=12).hexdigest()


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
        digest = blake2b(b"".join(_shape_parts(thing)), digest_size=12).digest()
        is_ground = thing.type == "MESH" or has_faces(thing, depsgraph)
        found = _shapes[thing.session_uid] = digest if is_ground else b""
    return found


def _shape_parts(thing: bpy.types.Object) -> Iterator[bytes]:
    """The vertices and corners of a mesh, and the modifiers on it."""
    mesh = thing.data
    if isinstance(mesh, bpy.types.Mesh):
        yield numbers_of(mesh.vertices, "co", 3).tobytes()
        yield numbers_of(mesh.loops, "vertex_index", kind=np.int32).tobytes()
    moved = {curve.data_path for curve in fcurves_of(thing)}
    for modifier in thing.modifiers:
        yield modifier.type.encode()
        path = modifier.path_from_id()
        for prop in modifier.bl_rna.properties:
            name = prop.identifier
            if prop.type in SETTINGS and not prop.is_readonly and f"{path}.{name}" not in moved:
                value = getattr(modifier, name)
                yield f"{name}={tuple(value) if getattr(prop, 'is_array', False) else value}".encode()
