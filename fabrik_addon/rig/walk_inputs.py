# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is planned from, as far as it can be seen without going through the frames: whether a plan is old."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import bpy

from ..errors import FabrikError
from ..maths import IDENTITY
from .chain_bones import pose_bones
from .compat import fcurves_of
from .joint_limits import read_limit
from .motion_text import carriers_of, key_bytes, line_parts, placement_text
from .schema import PREFIX, FabrikChain, rig_of, walker_of
from .start_pose import fingerprint


def inputs_of(owner: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int]) -> str:
    """A digest of path, legs and settings of a walker, to see whether they were changed.

    It covers the keys of the armature and of what carries it, the curves that it follows, and rest data; not what
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
            yield key_bytes(curve)
    for carrier in carriers_of(owner, set()):
        yield placement_text(carrier).encode()
        yield from (key_bytes(curve) for curve in (fcurves_of(carrier) if carrier != owner else ()))
        yield from line_parts(carrier)
