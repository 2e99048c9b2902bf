# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is planned from, as far as it can be seen without going through the frames: whether a plan is old."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import bpy
import numpy as np

from ..errors import FabrikError
from .chain_bones import pose_bones
from .compat import curves_of_action, fcurves_of
from .joint_limits import read_limit
from .properties import FabrikChain, rig_of
from .rotations import IDENTITY
from .start_pose import fingerprint
from .walker_properties import PREFIX, walker_of


def inputs_of(owner: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int]) -> str:
    """A text that is another one when path, legs or settings of a walker were changed.

    It knows the keys of the armature and of what carries it, the curves that it follows, and rest data; not what
    drivers and simulations do.

    Args:
        owner: The armature object.
        scene: In which it walks.
        frames: First and last frame of the path.
    """
    digest = blake2b(digest_size=12)
    walker = walker_of(owner)
    legs = [(leg.name, leg.offset, leg.group, tuple(leg.home)) for leg in walker.legs]
    rate = scene.render.fps, scene.render.fps_base
    told = (frames, rate, walker.settings, legs, walker.body, tuple(walker.upright), walker.ground_height)
    digest.update(repr(told).encode())
    for name in [walker.body, *(leg.name for leg in walker.legs)]:
        digest.update(_chain_text(owner, rig_of(owner).chains.get(name)).encode())
    for part in _motion(owner):
        digest.update(part)
    return digest.hexdigest()


def _chain_text(owner: bpy.types.Object, chain: FabrikChain | None) -> str:
    if chain is None or chain.tip_bone not in pose_bones(owner):
        return "gone"
    tip = pose_bones(owner)[chain.tip_bone]
    bones = [tip, *tip.parent_recursive]
    limits = [_limit_text(bone) for bone in bones[: chain.bone_count]]
    told = (chain.name, chain.tip_bone, chain.bone_count, chain.effector, chain.enabled, fingerprint(bones), limits)
    return repr(told)


def _limit_text(bone: bpy.types.PoseBone) -> str:
    try:
        return repr(read_limit(bone, IDENTITY))
    except FabrikError as error:
        return str(error)


def _motion(owner: bpy.types.Object) -> Iterator[bytes]:
    """The keys of the walker's body, and of what carries it."""
    body = rig_of(owner).chains.get(walker_of(owner).body)
    own: tuple[str, ...] = ()
    if body is not None and body.tip_bone in pose_bones(owner):
        tip = pose_bones(owner)[body.tip_bone]
        own = tuple(bone.path_from_id() for bone in (tip, *tip.parent_recursive))
    for curve in fcurves_of(owner):
        path = curve.data_path
        if not path.startswith(("pose.bones", "fabrik_")) or path.startswith((*own, PREFIX)):
            yield _keys(curve)
    for carrier in _carriers(owner, set()):
        yield repr([tuple(row) for row in carrier.matrix_basis]).encode()
        yield from (_keys(curve) for curve in (fcurves_of(carrier) if carrier != owner else ()))
        yield from _line(carrier)


def _carriers(thing: bpy.types.Object, seen: set[str]) -> Iterator[bpy.types.Object]:
    """An object, its parents, and what the constraints of these look at."""
    if thing.name_full in seen:
        return
    seen.add(thing.name_full)
    yield thing
    targets = [getattr(constraint, "target", None) for constraint in thing.constraints if not constraint.mute]
    for other in (thing.parent, *targets):
        if isinstance(other, bpy.types.Object):
            yield from _carriers(other, seen)


def _line(carrier: bpy.types.Object) -> Iterator[bytes]:
    """The points of a curve that is followed, and how it is gone along."""
    data: Any = carrier.data
    if carrier.type != "CURVE":
        return
    for spline in data.splines:
        points = spline.bezier_points if spline.type == "BEZIER" else spline.points
        yield repr([tuple(point.co) for point in points]).encode()
    if data.animation_data is not None and data.animation_data.action is not None:
        yield from (_keys(curve) for curve in curves_of_action(data.animation_data.action))


def _keys(curve: bpy.types.FCurve) -> bytes:
    points = curve.keyframe_points
    numbers = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", numbers)
    handles = [np.empty(2 * len(points), dtype=np.float32) for _ in range(2)]
    points.foreach_get("handle_left", handles[0])
    points.foreach_get("handle_right", handles[1])
    modes = "".join(point.interpolation for point in points)
    return f"{curve.data_path}[{curve.array_index}]{curve.mute}{modes}".encode() + b"".join(
        some.tobytes() for some in (numbers, *handles)
    )
