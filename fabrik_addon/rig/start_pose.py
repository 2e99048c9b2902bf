# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of a chain, read for a solve; it is stored by `kept_start`."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import bpy

from ..errors import ChainError, RigError
from .channels import neutral_values, to_rotation, to_values
from .compat import strips_of
from .keys import KeyedChannels
from .properties import FabrikChain
from .rotations import IDENTITY, Q4

DIGITS = 4  # of rest data relative to a bone's length: leaving edit mode alters the last ones


def read_start(
    owner: bpy.types.Object, chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels
) -> list[Q4]:
    """The rotation of each bone from which a solve starts.

    Args:
        owner: The armature object.
        chain: Says which start pose, and holds the captured one.
        bones: n pose bones, root to tip.
        keyed: The curves of the armature at the frame, for the keyed pose.

    Returns:
        n unit quaternions in the rest frames of the bones.

    Raises:
        ChainError: The captured pose lacks a bone.
        RigError: The keyed pose is wanted, but NLA strips make it.
    """
    if chain.start == "REST":
        return [IDENTITY for _ in bones]
    if chain.start == "CAPTURED" and not chain.captured:
        raise ChainError("no start pose was captured", chain=chain.name)
    cached = [_cached(chain, bone.name) for bone in bones]
    if chain.start == "CAPTURED":
        return cached
    _check_no_strips(owner)
    return [_keyed(bone, rotation, keyed) for bone, rotation in zip(bones, cached, strict=True)]


def _cached(chain: FabrikChain, bone: str) -> Q4:
    """The captured rotation; the rest pose where nothing was captured."""
    if not chain.captured:
        return IDENTITY
    found = chain.captured.get(bone)
    if found is None:
        raise ChainError(f"the captured start pose has no bone '{bone}': capture it again", chain=chain.name)
    return to_rotation("QUATERNION", list(found.rotation), bone)


def _keyed(bone: bpy.types.PoseBone, cached: Q4, keyed: KeyedChannels) -> Q4:
    """The keyed rotation; channels without keys from the cache."""
    curves = keyed.curves_of(bone)
    if not any(curves):
        return cached
    values = to_values(bone.rotation_mode, cached, neutral_values(bone.rotation_mode))
    values = [curve.evaluate(keyed.frame) if curve else value for curve, value in zip(curves, values, strict=True)]
    return to_rotation(bone.rotation_mode, values, bone.name)


def _check_no_strips(owner: bpy.types.Object) -> None:
    if _has_strips(owner):
        raise RigError("NLA strips move it: a keyed start pose can only be read from the action", rig=owner.name)


def _has_strips(owner: bpy.types.Object) -> bool:
    data = owner.animation_data
    return bool(data and data.use_nla and strips_of(data))


def is_animated(owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> bool:
    """Whether keys or strips play the rotation of any of the bones, so that other frames may have other poses."""
    return _has_strips(owner) or any(keyed.has(bone) for bone in bones)


def fingerprint(bones: Sequence[bpy.types.PoseBone], names: Sequence[str] | None = None) -> str:
    """A digest of all rest data on which a start pose depends; equal data give equal digests in every file.

    Args:
        bones: n pose bones, root to tip.
        names: What they were called, where that is not what they are called now.
    """
    digest = blake2b(digest_size=8)
    for bone, name in zip(bones, names or [bone.name for bone in bones], strict=True):
        data = bone.bone
        size = data.length or 1.0
        axes = [value for row in data.matrix for value in row]
        numbers = [round(value, DIGITS) + 0.0 for value in (*axes, *(data.head / size))]
        flags = (data.use_inherit_rotation, data.use_local_location, data.inherit_scale)
        digest.update(repr((name, f"{data.length:.{DIGITS}g}", numbers, flags)).encode())
    return digest.hexdigest()


def is_stale(chain: FabrikChain, bones: Sequence[bpy.types.PoseBone]) -> bool:
    """Whether the rest data changed since the start pose was kept."""
    return bool(chain.fingerprint) and chain.fingerprint != fingerprint(bones)
