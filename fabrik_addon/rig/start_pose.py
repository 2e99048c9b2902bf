# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of a figure, read for a solve; it is stored by `kept_start`."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import bpy

from ..errors import ChainError, InvalidValueError, RigError
from ..finite import are_finite
from ..maths import IDENTITY, ORIGIN, Q4, V3, v3
from ..texts import Text
from .chain_bones import pose_bones
from .channels import neutral_values, to_rotation, to_values
from .compat import strips_of
from .figures import ChainSet, starting_chains
from .keys import KeyedChannels
from .schema import FabrikChain, rig_of

DIGITS = 4  # of rest data relative to a bone's length: leaving edit mode alters the last ones


class Start(NamedTuple):
    """From where a figure starts.

    Attributes:
        rotations: n unit quaternions in the rest frames of the bones.
        location: The location channels of the root, where it is a body bone; else zero.
        is_between: For each bone whether it is one between the body bone and the chains.
        keyed: Of the bones that start from their keys the index, the name, and the rotation where they have none.
        keyed_body: The body bone, where its location starts from its keys: its name, and the location where it has
            none.
    """

    rotations: list[Q4]
    location: V3
    is_between: list[bool]
    keyed: tuple[tuple[int, str, Q4], ...] = ()
    keyed_body: tuple[str, V3] | None = None

    def at(self, owner: bpy.types.Object, keyed: KeyedChannels) -> Start:
        """The same start pose in another frame: what starts from its keys is elsewhere.

        Args:
            owner: The armature object.
            keyed: Its curves at the frame.

        Raises:
            InvalidValueError: The keys make no pose.
        """
        bones, rotations, location = pose_bones(owner), list(self.rotations), self.location
        for i, name, otherwise in self.keyed:
            rotations[i] = _keyed(bones[name], otherwise, keyed)
        if self.keyed_body is not None:
            body, place = self.keyed_body
            location = _keyed_location(bones[body], place, keyed)
        return self._replace(rotations=rotations, location=location)


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
    starting = {bone.name: chains[0] for bone in bones} if chain_set.is_one else starting_chains(chain_set)
    found = [starting.get(bone.name) for bone in bones]
    own = [bone for bone, chain in zip(bones, found, strict=True) if chain is not None]
    is_heard = not chain_set.is_one and hears_body_keys(chain_set, own, keyed)
    rotations = [_unkeyed(owner, chain, bone) for bone, chain in zip(bones, found, strict=True)]
    moving = [
        (i, bone.name, rotation)
        for i, (bone, chain, rotation) in enumerate(zip(bones, found, rotations, strict=True))
        if (is_heard if chain is None else chain.start == "ANIMATED")
    ]
    location = _captured_location(owner, bones[0]) if body else ORIGIN
    keyed_body = (bones[0].name, location) if body and is_heard else None
    is_between = [chain is None and bone.name != body for bone, chain in zip(bones, found, strict=True)]
    return Start(rotations, location, is_between, tuple(moving), keyed_body).at(owner, keyed)


def hears_body_keys(chain_set: ChainSet, own: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> bool:
    """Whether keys of the body bone's location, and of bones that no chain has, are their start pose.

    They are where a chain starts from its keys; and where no bone of the chains is keyed, since the animator then keyed
    the body alone. Else the keys are a pose of the whole figure, as automatic keying and bakes write it, and where no
    chain starts from them, the body does not either.

    Args:
        chain_set: The chains.
        own: Their bones.
        keyed: The curves of the armature.
    """
    is_animated = any(chain.start == "ANIMATED" for chain in chain_set.chains)
    return is_animated or not any(keyed.has(bone) for bone in own)


def _captured_location(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> V3:
    """The location channels of the body bone as they were captured; zero where they were not.

    Raises:
        InvalidValueError: They are not finite.
    """
    found = rig_of(owner).body_captured.get(bone.name)
    return _checked_location(bone, found.location) if found is not None else ORIGIN


def _keyed_location(bone: bpy.types.PoseBone, otherwise: V3, keyed: KeyedChannels) -> V3:
    """The keyed location channels of the body bone; those without keys from elsewhere.

    Raises:
        InvalidValueError: They are not finite.
    """
    path = f"{bone.path_from_id()}.location"
    curves = [keyed.curves.get((path, i)) for i in range(3)]
    pairs = zip(curves, otherwise, strict=True)
    return _checked_location(
        bone, [curve.evaluate(keyed.frame) if curve is not None else value for curve, value in pairs]
    )


def _checked_location(bone: bpy.types.PoseBone, values: Sequence[float]) -> V3:
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
    rotations = [_unkeyed(owner, chain, bone) for bone in bones]
    if chain.start != "ANIMATED":
        return rotations
    return [_keyed(bone, rotation, keyed) for bone, rotation in zip(bones, rotations, strict=True)]


def _unkeyed(owner: bpy.types.Object, chain: FabrikChain | None, bone: bpy.types.PoseBone) -> Q4:
    """The rotation from which a bone starts, where it does not start from its keys, or has none.

    Raises:
        ChainError: The captured pose lacks a bone.
        RigError: The keyed pose is wanted, but NLA strips make it.
    """
    if chain is None:
        found = rig_of(owner).body_captured.get(bone.name)
        return to_rotation("QUATERNION", list(found.rotation), bone.name) if found is not None else IDENTITY
    if chain.start == "REST":
        return IDENTITY
    if chain.start == "CAPTURED" and not chain.captured:
        raise ChainError("no start pose was captured", chain=chain.name)
    if chain.start == "ANIMATED":
        _check_no_strips(owner)
    return _cached(chain, bone.name)


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
