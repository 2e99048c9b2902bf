# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a figure starts: the start pose of each chain and of the body, read for a solve, and stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import bpy

from ...errors import ChainError, InvalidValueError, are_finite
from ...maths import IDENTITY, ORIGIN, Q4, V3, q4, turn_angle, v3
from ...messages import Message
from ..animation.channels import (
    neutral_values,
    read_rotation,
    rotation_path,
    stored,
    to_rotation,
    to_values,
)
from ..animation.keys import KeyedChannels, animated_paths, has_strips
from ..bones import pose_bones, resolve_bones
from ..goals import is_offset
from ..schema import Changes, FabrikChain, RigRecord, rig_of
from .groups import ChainSet, figure_bones, starting_chains
from .kinematics import AssumedChannels

DIGITS = 4  # of rest data relative to a bone's length: leaving edit mode alters the last ones
AT_REST = 1e-5  # radians by which a joint may be turned and count as at rest
BodyBone = tuple[str, Q4, V3]  # name, rotation in its rest frame, and location channels


class Start(NamedTuple):
    """From where a figure starts.

    Attributes:
        rotations: n unit quaternions in the rest frames of the bones.
        location: The location channels of the root, where it is a body bone; else zero.
        is_between: For each bone whether it is one between the body bone and the chains.
        keyed: Of the bones that start from their keys the index, the name, and the rotation where they have none.
        keyed_body: The body bone, where its location starts from its keys: its name, and the location where it has
            none.
        carried: Indices of the bones that are the rig's own, and never turn (`followers`).
        played: Of the bones that start from their keys the index, and the rotation channels as these play.
    """

    rotations: list[Q4]
    location: V3
    is_between: list[bool]
    keyed: tuple[tuple[int, str, Q4], ...] = ()
    keyed_body: tuple[str, V3] | None = None
    carried: frozenset[int] = frozenset()
    played: tuple[tuple[int, tuple[float, ...]], ...] = ()

    def following(self, followers: Sequence[AssumedChannels | None]) -> Start:
        """The same start pose where bones are the rig's own, for each how it stands, or None."""
        turns = [one.rotation if one is not None else None for one in followers]
        rotations = [own if turn is None else turn for own, turn in zip(self.rotations, turns, strict=True)]
        carried = frozenset(i for i, turn in enumerate(turns) if turn is not None)
        keyed = tuple(one for one in self.keyed if turns[one[0]] is None)
        return self._replace(rotations=rotations, keyed=keyed, carried=carried)

    def at(self, owner: bpy.types.Object, keyed: KeyedChannels) -> Start:
        """The same start pose in another frame: what starts from its keys is elsewhere.

        Raises:
            InvalidValueError: The keys make no pose.
        """
        bones, rotations, location = pose_bones(owner), list(self.rotations), self.location
        played = list[tuple[int, tuple[float, ...]]]()
        for i, name, otherwise in self.keyed:
            values = _played(bones[name], otherwise, keyed)
            if values:
                rotations[i] = to_rotation(bones[name].rotation_mode, values, name)
                played.append((i, tuple(values)))
        if self.keyed_body is not None:
            body, place = self.keyed_body
            values = keyed.played(bones[body].path_from_id("location"), place)
            location = _checked_location(bones[body], values or place)
        return self._replace(rotations=rotations, location=location, played=tuple(played))


def read_starts(chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> Start:
    """The start pose of the bones of a figure.

    A bone that was posed by hand for this frame alone starts from there (`store_by_hand`). Of the others, one that
    several chains have starts as `groups.starting_chains` says. The body bone's location, and bones
    between it and the chains, start from their keys where these are heard (`hears_body_keys`); else as they were
    captured, or at rest.

    Raises:
        ChainError: A captured pose lacks a bone.
    """
    owner, chains, body = chain_set
    starting = {bone.name: chains[0] for bone in bones} if chain_set.is_one else starting_chains(chain_set)
    found = [starting.get(bone.name) for bone in bones]
    own = [bone for bone, chain in zip(bones, found, strict=True) if chain is not None]
    is_heard = not chain_set.is_one and hears_body_keys(chain_set, own, keyed)
    rotations = [_unkeyed(owner, chain, bone) for bone, chain in zip(bones, found, strict=True)]
    is_placed = is_heard or (bool(body) and rig_of(owner).body_stays)
    moving = [
        (i, bone.name, rotation)
        for i, (bone, chain, rotation) in enumerate(zip(bones, found, rotations, strict=True))
        if ((is_placed if bone.name == body else is_heard) if chain is None else chain.start == "ANIMATED")
    ]
    captured = rig_of(owner).body_captured.get(bones[0].name) if body else None
    location = _checked_location(bones[0], captured.location) if captured is not None else ORIGIN
    keyed_body = (bones[0].name, location) if body and is_placed else None
    is_between = [chain is None and bone.name != body for bone, chain in zip(bones, found, strict=True)]
    start = Start(rotations, location, is_between, tuple(moving), keyed_body).at(owner, keyed)
    held = held_bones(owner, keyed.frame)
    if not held:
        return start
    turned = [
        held[bone.name][0] if bone.name in held else turn for bone, turn in zip(bones, start.rotations, strict=True)
    ]
    location = held[body][1] if body in held else start.location
    played = tuple(one for one in start.played if bones[one[0]].name not in held)
    return start._replace(rotations=turned, location=location, played=played)


def hears_body_keys(chain_set: ChainSet, own: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> bool:
    """Whether keys of the body bone's location, and of bones that no chain has, are their start pose.

    They are where a chain starts from its keys; and where no bone of the chains is keyed, since the animator then keyed
    the body alone. Else the keys are a pose of the whole figure, as automatic keying and bakes write it, and where no
    chain starts from them, the body does not either; but one that stays (`body_stays`) always starts from its own.
    """
    return any(chain.start == "ANIMATED" for chain in chain_set.chains) or not any(map(keyed.has, own))


def _checked_location(bone: bpy.types.PoseBone, values: Sequence[float]) -> V3:
    if not are_finite(values):
        raise InvalidValueError(Message("START_LOCATION_NOT_FINITE"), bone=bone.name)
    return v3(values)


def _unkeyed(owner: bpy.types.Object, chain: FabrikChain | None, bone: bpy.types.PoseBone) -> Q4:
    """The rotation from which a bone starts, where it does not start from its keys, or has none."""
    if chain is not None and chain.start == "REST":
        return IDENTITY
    found = (rig_of(owner).body_captured if chain is None else chain.captured).get(bone.name)
    if found is not None:
        return to_rotation("QUATERNION", list(found.rotation), bone.name)
    if chain is not None and chain.captured:
        raise ChainError(Message("BONE_NOT_CAPTURED", bone=bone.name), chain=chain.name)
    if chain is not None and chain.start == "CAPTURED":
        raise ChainError(Message("NO_CAPTURED_POSE"), chain=chain.name)
    return IDENTITY


def _played(bone: bpy.types.PoseBone, cached: Q4, keyed: KeyedChannels) -> list[float]:
    """The rotation channels of a bone as keys play them, those without keys from the cache; nothing without keys."""
    values = to_values(bone.rotation_mode, cached, neutral_values(bone.rotation_mode))
    return keyed.played(rotation_path(bone), values)


def is_animated(owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> bool:
    """Whether keys or strips play the rotation of any of the bones, so that other frames may have other poses."""
    return has_strips(owner) or any(map(keyed.has, bones))


def fingerprint(bones: Sequence[bpy.types.PoseBone], names: Sequence[str] | None = None) -> str:
    """A digest of all rest data on which a start pose depends; equal data give equal digests in every file.

    Bones, root to tip, may have been called otherwise.
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


def store_start(
    chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], rotations: Mapping[str, Q4], kind: str
) -> None:
    """Store rotations as the start pose of a chain.

    Args:
        chain: The chain.
        bones: Its pose bones, root to tip.
        rotations: Of each of them, in its rest frame.
        kind: "CAPTURED"; or "ANIMATED", which falls back on them where bones have no keys; or "REST" without them.
    """
    names, digest = [bone.name for bone in bones] if kind != "REST" else [], fingerprint(bones)
    is_other = store_rotations(chain, {name: q4(stored(rotations[name])) for name in names})
    if chain.fingerprint != digest:
        chain.fingerprint, is_other = digest, True
    if is_other or chain.start != kind:  # a status found from another start pose holds no more
        chain.start = kind


def capture(chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], kind: str = "CAPTURED") -> None:
    """Store the bones' rotations as they stand as the chain's start pose; or for channels without keys ("ANIMATED")."""
    store_start(chain, bones, {bone.name: read_rotation(bone) for bone in bones}, kind)


def start_from_keys(owner: bpy.types.Object, chains: Iterable[FabrikChain]) -> None:
    """Let chains start from their keys that were made of the pose as it stands; but where strips play."""
    keyed = KeyedChannels(owner, 0.0)
    for chain in chains if not has_strips(owner) else ():
        bones = resolve_bones(owner, chain)
        if chain.start != "ANIMATED" and any(map(keyed.has, bones)):
            capture(chain, bones, "ANIMATED")


def reset(chain: FabrikChain, bones: Sequence[bpy.types.PoseBone]) -> None:
    """Make the rest pose the chain's start pose and forget the captured one."""
    store_start(chain, bones, {}, "REST")


def store_rotations(chain: FabrikChain, rotations: Mapping[str, Q4]) -> bool:
    """Store captured rotations by the names of their bones, and no others; whether anything was written.

    What is stored already is not written, for every write makes Blender evaluate. On a library override those of the
    library can't be taken away: they are set where they are.
    """
    is_other = [item.name for item in chain.captured] != list(rotations)
    if is_other:
        chain.captured.clear()
    for name, rotation in rotations.items():
        item = chain.captured.get(name)
        if item is None:
            item = chain.captured.add()
            item.name = name
        if q4(item.rotation) != rotation:
            item.rotation = rotation
            is_other = True
    return is_other


# A pose that was made by hand: of bones without keys the start pose from then on, of the others for its frame alone.

SAME_FRAME = 1e-3  # frames that a stored one may be off by rounding


def store_by_hand(
    chain_set: ChainSet, rotations: Mapping[str, Q4], location: V3, frame: float, moved: Collection[str]
) -> list[str]:
    """Store a pose that was made by hand as that from which chains start that are solved together.

    Args:
        chain_set: The chains; one that is at rest starts there.
        rotations: Of each of their bones, those between the body bone and the chains included.
        location: The location channels of the body bone.
        frame: At which it was made.
        moved: Names of the bones that were moved; where all of these have keys, nothing is captured.

    Returns:
        Names of the bones for which it holds at its frame alone.
    """
    owner, body = chain_set.owner, chain_set.body
    bones, played = figure_bones(chain_set), set(animated_paths(owner))
    chains = [chain for chain in chain_set.chains if not is_offset(chain)]  # a pose of the others is in their controls
    edited = {bone.name for one in chain_set.chains if is_offset(one) for bone in resolve_bones(owner, one)}
    bones = [bone for bone in bones if bone.name not in edited]
    held = [bone.name for bone in bones if rotation_path(bone) in played]
    if body and body not in [*held, *edited] and pose_bones(owner)[body].path_from_id("location") in played:
        held.append(body)
    if {*moved} <= {*held}:
        held = [bone.name for bone in bones]
    for chain in chains:
        own = resolve_bones(owner, chain)
        turned = {bone.name: _captured(chain, bone.name) if bone.name in held else rotations[bone.name] for bone in own}
        if any(bone.name not in held for bone in own):
            is_rest = chain.start != "ANIMATED" and all(turn_angle(turn) <= AT_REST for turn in turned.values())
            kind = "REST" if is_rest else "ANIMATED" if chain.start == "ANIMATED" else "CAPTURED"
            store_start(chain, own, turned, kind)
    places = {bone.name: location if bone.name == body else v3(bone.location) for bone in body_bones(chain_set)}
    store_bones(owner, [(name, rotations[name], place) for name, place in places.items() if name not in held])
    _hold(
        owner,
        frame,
        [bone.name for bone in bones],
        [(name, rotations[name], places.get(name, ORIGIN)) for name in held],
    )
    return held


def _captured(chain: FabrikChain, bone: str) -> Q4:
    """The captured rotation of a bone; none where the chain starts from its rest pose, or the bone has none."""
    found = chain.captured.get(bone) if chain.start != "REST" else None
    return IDENTITY if found is None else to_rotation("QUATERNION", list(found.rotation), bone)


def _hold(owner: bpy.types.Object, frame: float, names: Collection[str], wanted: Iterable[BodyBone]) -> None:
    """Hold bones as they are wanted at a frame, and no others of these names."""
    record = RigRecord(owner)
    stood = held_bones(owner, frame)
    kept = [(name, *pose) for name, pose in stood.items() if name not in names] + [*wanted]
    end_hold(owner)
    for name, turn, place in kept:
        item = record.held.add()
        item.name, item.rotation, item.location = name, turn, place
    if kept:
        record.held_at = frame
        Changes.count += 1


def held_bones(owner: bpy.types.Object, frame: float) -> dict[str, tuple[Q4, V3]]:
    """Rotation and location channels of the bones that were posed by hand for this frame alone, by their names."""
    record = RigRecord(owner)
    if not len(record.held) or abs(record.held_at - frame) > SAME_FRAME:
        return {}
    return {one.name: (q4(one.rotation), v3(one.location)) for one in record.held}


def end_hold(owner: bpy.types.Object) -> bool:
    """Forget a pose that holds at a frame alone: another one is shown; whether there was one."""
    record = RigRecord(owner)
    if not len(record.held):
        return False
    record.held.clear()
    Changes.count += 1
    return True


def body_bones(chain_set: ChainSet) -> list[bpy.types.PoseBone]:
    """The body bone, and the bones of a figure that no chain has; none for chains without a body."""
    if not chain_set.body:
        return []
    names = {bone.name for chain in chain_set.chains for bone in resolve_bones(chain_set.owner, chain)}
    return [bone for bone in figure_bones(chain_set) if bone.name == chain_set.body or bone.name not in names]


def capture_bones(owner: bpy.types.Object, bones: Iterable[bpy.types.PoseBone]) -> None:
    """Store how bones of a body stand as their start pose: their rotation, and their location channels."""
    store_bones(owner, [(bone.name, read_rotation(bone), v3(bone.location)) for bone in bones])


def store_bones(owner: bpy.types.Object, wanted: Iterable[BodyBone]) -> None:
    """Store bones of a body; what is the same is not written, for every write makes Blender evaluate."""
    found = rig_of(owner).body_captured
    for name, turn, place in wanted:
        item, rotation, location = found.get(name), q4(stored(turn)), v3(stored(place))
        if item is None:
            item = found.add()
            item.name = name
        if q4(item.rotation) != rotation:
            item.rotation = rotation
        if v3(item.location) != location:
            item.location = location
