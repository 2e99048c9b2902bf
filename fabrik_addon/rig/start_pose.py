# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of a figure, read for a solve; it is stored by `kept_start`."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import bpy

from ..errors import ChainError, InvalidValueError, RigError
from ..finite import are_finite
from ..texts import Text
from ..vectors import ORIGIN, V3, v3
from .channels import neutral_values, to_rotation, to_values
from .compat import strips_of
from .figures import ChainSet, starting_chains
from .keys import KeyedChannels
from .properties import FabrikChain, rig_of
from .rotations import IDENTITY, Q4

DIGITS = 4  # of rest data relative to a bone's length: leaving edit mode alters the last ones


class Start(NamedTuple):
    """From where a figure starts.

    Attributes:
        rotations: n unit quaternions in the rest frames of the bones.
        location: The location channels of the root, where it is a body bone; else zero.
        is_of_chain: For each bone whether a chain has it.
    """

    rotations: list[Q4]
    location: V3
    is_of_chain: list[bool]


def read_starts(chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> Start:
    """The start pose of the bones of a figure.

    A bone that several chains have starts as `figures.starting_chains` says. The body bone's location, and bones
    between it and the chains, start from their keys where these are heard (`hears_body_keys`); else as they were
    captured, or at rest.

    Args:
        chain_set: The chains.
        bones: Their n bones, each after its parent.
        keyed: The curves of the armature at the frame, for the keyed pose.

    Raises:
        ChainError: A captured pose lacks a bone.
        RigError: The keyed pose is wanted, but NLA strips make it.
    """
    owner, chains, body = chain_set
    if chain_set.is_one:
        return Start(read_start(owner, chains[0], bones, keyed), ORIGIN, [True] * len(bones))
    starting = starting_chains(chain_set)
    found = [starting.get(bone.name) for bone in bones]
    is_of_chain = [chain is not None for chain in found]
    own = [bone for bone, is_own in zip(bones, is_of_chain, strict=True) if is_own]
    heard = keyed if hears_body_keys(chain_set, own, keyed) else None
    rotations: list[Q4] = []
    for bone, chain in zip(bones, found, strict=True):
        rotations += [_body_start(owner, bone, heard)] if chain is None else read_start(owner, chain, [bone], keyed)
    return Start(rotations, _body_location(owner, bones[0], heard) if body else ORIGIN, is_of_chain)


def hears_body_keys(chain_set: ChainSet, own: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> bool:
    """Whether keys of the body bone's location, and of bones that no chain has, are their start pose.

    They are where a chain starts from its keys, and where the chains have none: the animator keyed the body alone. Else
    what was keyed is the pose of all, as automatic keying and bakes do it, and is started from by none or by all.

    Args:
        chain_set: The chains.
        own: Their bones.
        keyed: The curves of the armature.
    """
    is_animated = any(chain.start == "ANIMATED" for chain in chain_set.chains)
    return is_animated or not any(keyed.has(bone) for bone in own)


def _body_start(owner: bpy.types.Object, bone: bpy.types.PoseBone, keyed: KeyedChannels | None) -> Q4:
    """The start of a bone that no chain has: its keys where they are heard, or what was captured, or rest."""
    found = rig_of(owner).body_captured.get(bone.name)
    cached = to_rotation("QUATERNION", list(found.rotation), bone.name) if found is not None else IDENTITY
    return cached if keyed is None else _keyed(bone, cached, keyed)


def _body_location(owner: bpy.types.Object, bone: bpy.types.PoseBone, keyed: KeyedChannels | None) -> V3:
    """Where the body bone starts: the same of its location channels."""
    found = rig_of(owner).body_captured.get(bone.name)
    values: list[float] = list(found.location) if found is not None else [*ORIGIN]
    if keyed is not None:
        path = f"{bone.path_from_id()}.location"
        curves = [keyed.curves.get((path, i)) for i in range(3)]
        pairs = zip(curves, values, strict=True)
        values = [curve.evaluate(keyed.frame) if curve is not None else value for curve, value in pairs]
    if not are_finite(values):
        raise InvalidValueError("the location from which it starts is not a finite number", bone=bone.name)
    return v3(values)


def read_start(
    owner: bpy.types.Object, chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels
) -> list[Q4]:
    """The rotation of bones of a chain from which its solve starts.

    Args:
        owner: The armature object.
        chain: Says which start pose, and holds the captured one.
        bones: n of its pose bones.
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
        raise ChainError(
            Text("the captured start pose has no bone '{bone}': capture it again", bone=bone), chain=chain.name
        )
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
