# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of bones over a range, read from their keys as arrays: smoothed, mirrored, and written as keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...errors import BoneError, RigError
from ...kernel import Limit
from ...maths import IDENTITY, Doubles, Ints, Mask, Singles, q4, towards_each
from ...motion.contacts import junk_ends
from ...motion.smoothing import smoothed, smoothed_turns
from ...rig.animation.channels import cosines, read_values, rotation_path, run_on, to_rotations
from ...rig.animation.compat import fcurves_of, playing
from ...rig.animation.curves import INTERPOLATION, PLAIN, SAME_FRAME, CurveWriter, Keys, staying, values_at
from ...rig.bones import names_if_any, pose_bones
from ...rig.figure.joint_limits import read_limit
from ...rig.goals import is_offset
from ...rig.schema import limit_of, rig_of
from ...rig.walk_goals import is_walked
from ...texts import Text
from ..frames import frames_keyed
from ..mirror.pose import BonePair, sides_of
from ..setup.ranges import ROUNDING, fitted
from . import marks

PLAIN_CHANNELS = ("location", "scale")


@dataclass(frozen=True, slots=True)
class BoneClip:
    """How a bone moves in F frames, against its rest pose.

    Attributes:
        bone: Its name; "" for the armature object itself.
        turns: (F, 4), rotations; None where these have no keys.
        plain: By "location" and "scale" (F, 3), where these have keys.
        contacts: (F, 9), of a foot in each frame of the range (`marks.track_of`); None for a bone that is not marked.
        interpolation: From key to key: that of all its keys where it is one and the same, else Bezier.
    """

    bone: str
    turns: Doubles | None
    plain: dict[str, Doubles]
    contacts: Doubles | None
    interpolation: str = "BEZIER"


@dataclass(frozen=True, slots=True)
class Clip:
    """How bones move over a range of frames.

    Attributes:
        rig: Name of the armature object.
        first: First frame of the range.
        last: The last one.
        frames: (F,), those in which they are told: all, or those with keys.
        bones: Each with its own motion.
    """

    rig: str
    first: int
    last: int
    frames: Doubles
    bones: tuple[BoneClip, ...]


def read_clip(
    owner: bpy.types.Object, names: Iterable[str], span: tuple[int, int], *, only_keys: bool, twins: bool = False
) -> Clip:
    """Read how bones move.

    Args:
        owner: The armature object.
        names: Of the bones; those without keys are left out.
        span: First and last frame.
        only_keys: Whether frames with keys are enough.
        twins: Whether a property is told that has keys on the other side alone.

    Raises:
        RigError: None of the bones has keys.
    """
    curves = [curve for curve in fcurves_of(owner) if len(curve.keyframe_points) and not curve.mute]
    paths, bones, sides = {curve.data_path for curve in curves}, pose_bones(owner), sides_of(owner) if twins else {}
    every = [*dict.fromkeys(names)]

    def is_told(name: str, channel: str) -> bool:
        pair = sides.get(name)
        return _path(bones[name], channel) in paths or (pair is not None and _path(pair.other, channel) in paths)

    told = {name: [one for one in ("", *PLAIN_CHANNELS) if is_told(name, one)] for name in every}
    feet = {name: [bones[name], *([sides[name].other] if name in sides else [])] for name in every}
    marked = {name for name, own in feet.items() if any(marks.has_marks(owner, bone) for bone in own)}
    if not (any(told.values()) or marked):
        raise RigError("no bone that is meant has keys", rig=owner.name)
    own = {_path(bones[name], one) for name, properties in told.items() for one in properties}
    if span[1] < span[0]:
        raise RigError("no bone that is meant has keys in these frames", rig=owner.name)
    whole = np.arange(span[0], span[1] + 1, dtype=np.float64)
    found, played = list[BoneClip](), dict[str, list[tuple[bpy.types.FCurve, Singles]]]()
    moving = [curve for curve in curves if curve.data_path in own]
    frames = _frames(moving, span, only_keys)
    for curve, values in zip(moving, values_at(moving, frames), strict=True):
        played.setdefault(curve.data_path, []).append((curve, values))
    for name, properties in told.items():
        keyed = {one: played.get(_path(bones[name], one), []) for one in properties}
        rows = {one: _values(keyed[one], bones[name], one, len(frames)) for one in properties}
        turns = to_rotations(bones[name].rotation_mode, rows.pop("")) if "" in rows else None
        contacts = marks.track_of(owner, bones[name], whole) if name in marked else None
        if properties or contacts is not None:
            kinds = {
                point.interpolation for one in keyed.values() for curve, _ in one for point in curve.keyframe_points
            }
            kind = kinds.pop() if len(kinds) == 1 and kinds <= INTERPOLATION.keys() else "BEZIER"
            found.append(BoneClip(name, turns, rows, contacts, kind))
    return Clip(owner.name, *span, frames, tuple(found))


def _path(bone: bpy.types.PoseBone, name: str) -> str:
    return bone.path_from_id(name) if name else rotation_path(bone)


def _frames(curves: Sequence[bpy.types.FCurve], span: tuple[int, int], only_keys: bool) -> Doubles:
    first, last = span
    if not only_keys:
        return np.arange(first, last + 1, dtype=np.float64)
    keys = frames_keyed(curves) | {float(first), float(last)}
    return np.array(sorted(one for one in keys if first - SAME_FRAME <= one <= last + SAME_FRAME), dtype=np.float64)


def _values(
    keyed: Sequence[tuple[bpy.types.FCurve, Singles]], bone: bpy.types.PoseBone, name: str, count: int
) -> Doubles:
    """The channels of a property in F frames, by its curves with their values; those without keys as they stand."""
    stood = read_values(bone) if not name else [*getattr(bone, name)]
    values: Doubles = np.tile(np.array(stood, dtype=np.float64), (count, 1))
    for curve, own in keyed:
        if curve.array_index < len(stood):  # others are of another file, and play nothing
            values[:, curve.array_index] = own
    return values


def write_clip(owner: bpy.types.Object, clip: Clip, at: int) -> list[Text]:
    """Key bones as they move in a clip; keys in its range are replaced.

    Args:
        owner: The armature object.
        clip: Its bones are found by their names.
        at: The frame to which the first one of the clip comes.

    Returns:
        What there is to look out for: joint limits that are widened to what bones do now, where controls edit motion;
        and chains that go as their walk was planned.

    Raises:
        FabrikError: It can't be keyed; nothing was changed.
    """
    _key(owner, clip, at)
    return _told(owner, clip)


def _key(owner: bpy.types.Object, clip: Clip, at: int) -> None:
    grounds = _grounds(clip) if clip.rig != owner.name else None
    for ground in (grounds or {}).values():
        marks.check_ground(owner, ground)
    bones, known, shift = pose_bones(owner), {"", *pose_bones(owner).keys()}, at - clip.first
    frames, span = clip.frames + shift, (float(clip.first + shift), float(clip.last + shift))
    moved = [(bones[one.bone] if one.bone else owner, one) for one in clip.bones if one.bone in known]
    every = [keys for bone, one in moved for keys in _keys(bone, one, frames, span)]
    marks.check_own_keys(owner, {keys.path for keys in every})
    writer = write_keys(owner, every)
    for one in clip.bones:
        track = one.contacts
        if track is not None and one.bone in bones:
            if grounds is not None:  # those of another armature, on which the motion tells where feet stand
                numbers = [marks.ground_number(owner, grounds[int(number)]) for number in track[:, marks.GROUND]]
                track = marks.of_kinds(marks.kinds_of(track).tolist())
                track[:, marks.GROUND] = numbers
            marks.write_track(owner, bones[one.bone], track, range(clip.first + shift, clip.last + shift + 1))
    writer.flush()


def write_keys(owner: bpy.types.Object, every: Iterable[Keys]) -> CurveWriter:
    """Write keys; where that fails all is as it was.

    Returns:
        What wrote them, to be flushed.
    """
    marks.ensure_action(owner)
    writer = CurveWriter(owner, can_restore=True)
    try:
        for keys in every:
            writer.write(keys)
    except BaseException:
        writer.restore()
        raise
    writer.finish()
    return writer


def _told(owner: bpy.types.Object, clip: Clip) -> list[Text]:
    bones, chains = pose_bones(owner), rig_of(owner).chains
    names = [one.bone for one in clip.bones if one.bone in bones and limit_of(bones[one.bone]).type.holds]
    notes = fitted(owner, names)[1] if any(map(is_offset, chains)) else []
    if walked := ", ".join(chain.name for chain in chains if chain.enabled and is_walked(chain)):
        notes = [*notes, Text("these chains go as their walk was planned, whatever the motion: {names}", names=walked)]
    return notes


def write_actions(
    owner: bpy.types.Object, clips: Sequence[tuple[str, Clip]]
) -> tuple[list[bpy.types.Action], list[list[Text]]]:
    """Key clips as new actions of an armature, which goes on playing what it plays.

    Returns:
        The actions, and of each what there is to look out for (`write_clip`).

    Raises:
        FabrikError: One can't be keyed; nothing was changed.
    """
    made, told = list[bpy.types.Action](), list[list[Text]]()
    try:
        for name, clip in clips:
            made.append(bpy.data.actions.new(name if name not in bpy.data.actions else f"{name} {owner.name}"))
            with playing(owner, made[-1]):
                _key(owner, clip, clip.first)
        for action, (_, clip) in zip(made, clips, strict=True):  # once all could be keyed
            with playing(owner, action):
                told.append(_told(owner, clip))
    except BaseException:
        bpy.data.batch_remove(made)
        raise
    return made, told


def _grounds(clip: Clip) -> dict[int, bpy.types.Object | None]:
    """On what the feet of a clip stand, by the numbers of that in its tracks; None where it is gone."""
    source = bpy.data.objects.get(clip.rig)
    known: Any = [one.found for one in rig_of(source).grounds] if source is not None else []
    numbers = {
        int(number) for one in clip.bones if one.contacts is not None for number in one.contacts[:, marks.GROUND]
    }
    return {number: known[number - 1] if 0 < number <= len(known) else None for number in numbers}


def _keys(
    bone: bpy.types.PoseBone | bpy.types.Object, clip: BoneClip, frames: Doubles, span: tuple[float, float]
) -> Iterator[Keys]:
    """The keys of a bone; straight from one to the next where each frame has one, unless these held."""
    is_dense = len(frames) > span[1] - span[0] and clip.interpolation != "CONSTANT"
    kind = "LINEAR" if is_dense else clip.interpolation

    def of(path: str, mode: str, values: Doubles, stood: Sequence[float]) -> Keys:
        return Keys(path, mode, bone.name, range(values.shape[1]), stood, values, staying(values), frames, kind, span)

    if clip.turns is not None:
        mode, stood, turns = bone.rotation_mode, read_values(bone), clip.turns[:, None, :]
        yield of(rotation_path(bone), mode, run_on(mode, turns, cosines(turns), np.array([stood]))[:, 0], stood)
    for name, values in clip.plain.items():
        yield of(bone.path_from_id(name), PLAIN, values, [*getattr(bone, name)])


# What is made of a clip.


def retimed(clip: Clip, ratio: float, first: int) -> Clip:
    """A clip of every frame that begins at another one and lasts so many times as many, of which every one is told."""
    last = len(clip.frames) - 1
    count = int(last * ratio + SAME_FRAME) + 1
    places = np.minimum(np.arange(count) / ratio, last)
    low = np.minimum(places.astype(int), last - 1)
    shares, near = places - low, np.rint(places).astype(int)
    bones = [
        replace(
            one,
            turns=towards_each(one.turns[low], one.turns[low + 1], shares) if one.turns is not None else None,
            plain={name: row[low] + shares[:, None] * (row[low + 1] - row[low]) for name, row in one.plain.items()},
            contacts=one.contacts[near] if one.contacts is not None else None,
        )
        for one in clip.bones
    ]
    frames: Doubles = np.arange(first, first + count, dtype=np.float64)
    return replace(clip, first=first, last=first + count - 1, frames=frames, bones=tuple(bones))


def mirrored(owner: bpy.types.Object, clip: Clip, *, both: bool) -> Clip:
    """A clip with the motion of the other side, whatever the roll of the bones.

    Args:
        owner: The armature object.
        clip: Of it.
        both: Whether both sides are exchanged, and bones in the middle mirrored; else each bone gives its motion to
            that of the other side, and bones in the middle are left out.

    Raises:
        BoneError: None of the bones has another side.
    """
    sides = sides_of(owner)
    pairs = [(one, sides[one.bone]) for one in clip.bones if one.bone in sides]
    found = [_mirrored(one, pair) for one, pair in pairs if both or pair.bone != pair.other]
    if not found:
        raise BoneError("no bone that is meant has another side", rig=owner.name)
    return replace(clip, bones=tuple(found))


def _mirrored(clip: BoneClip, pair: BonePair) -> BoneClip:
    turns = None
    if clip.turns is not None:
        axes = clip.turns[:, 1:] @ np.array(pair.turn).T
        turns = np.concatenate((clip.turns[:, :1], axes), axis=1)
    ways = {"location": np.array(pair.place), "scale": np.array(pair.size)}
    plain = {name: values @ ways[name].T for name, values in clip.plain.items()}
    contacts = clip.contacts.copy() if clip.contacts is not None else None
    if contacts is not None:
        contacts[:, marks.PLACE] = marks.ANYWHERE
    return BoneClip(pair.other.name, turns, plain, contacts, clip.interpolation)


def without_noise(owner: bpy.types.Object, clip: Clip, half: int, strength: float) -> Clip:
    """A clip without noise; no frame counts beyond the edge of a contact, of a leg for its bones, of all for the body.

    Args:
        owner: The armature object.
        clip: Of it, in which each frame is told.
        half: How many frames on either side count.
        strength: How much of the noise is taken out, 0 to 1.
    """
    edges, found, ends = _edges(owner, clip), list[BoneClip](), np.zeros(len(clip.frames), dtype=bool)
    turned = [one.turns for one in clip.bones if one.turns is not None]
    before, after = junk_ends(np.stack(turned, axis=1)) if turned else (0, 0)
    ends[[before, -after]] = True  # a rest pose at an end, which is none of the motion, is not mixed with it
    for one in clip.bones:
        begins = edges.get(one.bone, ends) | ends
        turns = one.turns
        if turns is not None:
            limit = read_limit(pose_bones(owner)[one.bone], IDENTITY)
            smooth = smoothed_turns(turns, half, begins)
            turns = _within(limit, turns, towards_each(turns, smooth, np.full(len(turns), strength)))
        changes = {name: smoothed(values, half, begins) - values for name, values in one.plain.items()}
        plain = {name: one.plain[name] + strength * change for name, change in changes.items()}
        found.append(BoneClip(one.bone, turns, plain, None))
    return replace(clip, bones=tuple(found))


def _within(limit: Limit, turns: Doubles, others: Doubles) -> Doubles:
    """Rotations inside a joint's limit, where those before were."""
    if not limit.violation(q4(turns[0])) <= ROUNDING:
        return others
    return np.array([limit.clamped(q4(turn)) for turn in others.tolist()])


def _edges(owner: bpy.types.Object, clip: Clip) -> dict[str, Mask]:
    """By the names of bones the frames at which contacts begin or end that they must keep."""
    bones, found = pose_bones(owner), dict[str, Mask]()
    for chain in rig_of(owner).chains:
        names = names_if_any(owner, chain)
        if not names or not marks.has_marks(owner, bones[names[-1]]):
            continue
        kinds: Ints = marks.marks_of(owner, bones[names[-1]], clip.frames)
        begins = np.concatenate(([False], np.diff(kinds) != 0))
        above = [bone.name for bone in bones[names[0]].parent_recursive]
        below = [bone.name for bone in bones[names[-1]].children_recursive]
        for name in (*names, *above, *below):
            found[name] = found.get(name, np.zeros(len(clip.frames), dtype=bool)) | begins
    return found
