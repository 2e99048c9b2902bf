# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of when a foot is on the ground: constant keys on its bone, read, written and moved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import BoneError, InvalidValueError, RigError
from ...maths import Doubles, Ints
from ...motion.contacts import FLAT, HEEL, NONE, TOE, runs
from ...rig.animation.compat import ensure_curve, fcurves_of, find_curve, shares_curves
from ...rig.animation.curves import SAME_FRAME, clear_keys
from ...rig.animation.keys import has_strips
from ...rig.bones import pose_bones
from ...rig.schema import rig_of
from ...rig.schema.limit import CONTACT
from ...texts import Text

KINDS = {"NONE": NONE, "HEEL": HEEL, "TOE": TOE, "FLAT": FLAT}  # by the words of the property
# The columns of a track: what of the foot is on the ground, on which ground, and where it is to stand.
COLUMNS = (("", 1), ("_ground", 1), ("_place", 3), ("_turn", 4))
KIND, GROUND, PLACE, WIDTH = 0, 1, slice(2, 9), 9
ANYWHERE = (0.0,) * 7  # a place that the motion tells


class Contact(NamedTuple):
    """A foot that is on the ground without a break.

    Attributes:
        bone: Its name.
        first: The first frame.
        kinds: What of it is there, in each frame from that on.
        ground: On what: 0 for the world, else a number of `RigView.grounds`.
        place: Where the effector is to stand in the axes of that, and how the foot is to be turned; zeros for where the
            motion has it.
    """

    bone: str
    first: int
    kinds: tuple[int, ...]
    ground: int = 0
    place: tuple[float, ...] = ANYWHERE

    @property
    def last(self) -> int:
        """The last frame."""
        return self.first + len(self.kinds) - 1

    def moved(self, start: int, end: int) -> Contact:
        """The same with its ends moved; the kinds at the ends go on, or are cut off.

        Args:
            start: Frames by which it begins later.
            end: Frames by which it ends later.

        Raises:
            InvalidValueError: Nothing would be left of it.
        """
        if start == end:
            return self._replace(first=self.first + start)
        kinds = (self.kinds[0],) * -start + self.kinds[max(start, 0) :]
        kinds = kinds + (self.kinds[-1],) * end if end >= 0 else kinds[:end]
        if not kinds:
            raise InvalidValueError("nothing would be left of the contact")
        return self._replace(first=self.first + start, kinds=kinds)


def contact_path(bone: bpy.types.PoseBone) -> str:
    """The data path of what of a foot is on the ground."""
    return bone.path_from_id(CONTACT)


def _channels(bone: bpy.types.PoseBone) -> list[tuple[str, int]]:
    """The data path and index of each column of a track."""
    return [(f"{contact_path(bone)}{name}", i) for name, count in COLUMNS for i in range(count)]


def track_of(owner: bpy.types.Object, bone: bpy.types.PoseBone, frames: Doubles) -> Doubles:
    """The contacts of a foot in F frames, by keys, each of which holds until the next: (F, 9), see `COLUMNS`."""
    found: Doubles = np.zeros((len(frames), WIDTH))
    for j, curve in _curves(owner, bone).items():
        if curve.mute:
            continue
        keys = np.empty((len(curve.keyframe_points), 2), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", keys.reshape(-1))
        places = np.searchsorted(keys[:, 0], frames + SAME_FRAME) - 1
        found[:, j] = keys[np.maximum(places, 0), 1]
    return found


def marks_of(owner: bpy.types.Object, bone: bpy.types.PoseBone, frames: Doubles) -> Ints:
    """What of a foot is on the ground in F frames, (F,)."""
    return kinds_of(track_of(owner, bone, frames))


def kinds_of(track: Doubles) -> Ints:
    """What of a foot is on the ground in the frames of a track, (F,)."""
    return np.rint(track[:, KIND]).astype(np.int32)


def _curves(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> dict[int, bpy.types.FCurve]:
    """The curves of a foot's contacts, by the column of the track."""
    found = {j: find_curve(owner, path, i) for j, (path, i) in enumerate(_channels(bone))}
    return {j: one for j, one in found.items() if one is not None and len(one.keyframe_points)}


def has_marks(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> bool:
    """Whether a foot has marks, of whatever kind, in any frame."""
    curve = find_curve(owner, contact_path(bone), 0)
    return curve is not None and len(curve.keyframe_points) > 0


def stances_of(track: Doubles) -> list[tuple[int, int]]:
    """First frame of each contact in a track, and the first one after it; on another ground it is another one."""
    cuts = np.flatnonzero((np.diff(track[:, GROUND:], axis=0) != 0.0).any(axis=1)) + 1
    found = list[tuple[int, int]]()
    for first, last in runs(kinds_of(track) != NONE):
        ends = [first, *(int(cut) for cut in cuts if first < cut < last), last]
        found += pairwise(ends)
    return found


def contacts_of(owner: bpy.types.Object) -> list[Contact]:
    """The contacts of all feet, as their keys have them; an open end goes as far as there are keys."""
    found, end = list[Contact](), f"].{CONTACT}"
    marked = {one.data_path for one in fcurves_of(owner) if one.data_path.endswith(end) and not one.mute}
    for bone in pose_bones(owner) if marked else ():
        curve = _curves(owner, bone).get(KIND) if contact_path(bone) in marked else None
        if curve is not None:
            first, last = (round(curve.keyframe_points[k].co[0]) for k in (0, -1))
            track = track_of(owner, bone, np.arange(first, last + 1, dtype=np.float64))
            for a, b in stances_of(track):
                kinds, place = tuple(kinds_of(track[a:b]).tolist()), tuple(track[a, PLACE].tolist())
                found.append(Contact(bone.name, first + a, kinds, int(track[a, GROUND]), place))
    return found


def contact_at(owner: bpy.types.Object, bone: str, frame: int) -> Contact:
    """The contact of a foot at a frame.

    Raises:
        BoneError: It has none.
    """
    own = [one for one in contacts_of(owner) if one.bone == bone and one.first <= frame <= one.last]
    if not own:
        raise BoneError(Text("it has no contact at frame {frame}", frame=frame), rig=owner.name, bone=bone)
    return own[0]


def check_marks(owner: bpy.types.Object) -> None:
    """Refuse an armature whose feet can't be marked.

    Raises:
        RigError: Its action is linked, or another object plays it, too.
    """
    data = owner.animation_data
    action = data.action if data is not None else None
    if action is None:
        return
    if not action.is_editable:
        raise RigError(Text("its action '{action}' is linked", action=action.name), rig=owner.name)
    other = shares_curves(owner)
    if other is not None:
        fields = {"action": action.name, "other": other.name}
        text = Text("its action '{action}' is also played by '{other}': make it a single user first", **fields)
        raise RigError(text, rig=owner.name)


def check_own_keys(owner: bpy.types.Object, paths: Collection[str] = ()) -> None:
    """Refuse an armature whose bones can't be keyed so that these keys play, and nothing else of their motion is lost.

    Raises:
        RigError: Strips play it, curves of some data paths would not play as keyed, or `check_marks` refuses it.
    """
    check_marks(owner)
    if has_strips(owner):
        raise RigError("NLA strips play it, over which keys of its bones would hide the rest", rig=owner.name)
    for curve in fcurves_of(owner) if paths else ():
        reason = curve_refusal(curve) if curve.data_path in paths else ""
        if reason:
            raise RigError(reason, rig=owner.name)


def curve_refusal(curve: bpy.types.FCurve) -> str:
    """Why a curve can't be keyed so that the keys play; "" where it can."""
    if curve.mute or len(curve.modifiers):
        return Text("the curve of '{path}' is muted or modified", path=curve.data_path)
    if curve.group is not None and curve.group.mute:
        return Text("the channels of '{path}' are muted", path=curve.group.name)
    if curve.lock:
        return Text("the curve of '{path}' is locked", path=curve.data_path)
    if len(curve.sampled_points):
        return Text("the curve of '{path}' holds samples and not keys", path=curve.data_path)
    return ""


def ensure_action(owner: bpy.types.Object) -> None:
    """Give an object without an action one for its keys."""
    data = owner.animation_data or owner.animation_data_create()
    if data is not None and data.action is None:
        data.action = bpy.data.actions.new(owner.name)


def write_track(owner: bpy.types.Object, bone: bpy.types.PoseBone, track: Doubles, frames: Sequence[int]) -> None:
    """Key the contacts of a foot at the frames at which they change; before and behind them all is as it was.

    Args:
        owner: The armature object; it has an action.
        bone: The foot.
        track: (F, 9), its contacts in each of the frames.
        frames: Whole ones that follow each other.
    """
    known = _curves(owner, bone)
    for j, (path, index) in enumerate(_channels(bone)):
        if j == KIND or j in known or track[:, j].any():
            _write_steps(ensure_curve(owner, path, index, bone.name), track[:, j].tolist(), frames)


def _write_steps(curve: bpy.types.FCurve, values: Sequence[float], frames: Sequence[int]) -> None:
    after = curve.evaluate(frames[-1] + 1) if len(curve.keyframe_points) else 0.0
    clear_keys(curve, frames[0], frames[-1])
    if not any(point.co[0] < frames[0] for point in curve.keyframe_points):  # it holds back to the first frame of all
        curve.keyframe_points.insert(frames[0] - 1, 0.0).interpolation = "CONSTANT"
    every = [*values, after]
    for k, frame in enumerate([*frames, frames[-1] + 1]):
        if k in (0, len(frames)) or every[k] != every[k - 1]:
            curve.keyframe_points.insert(frame, every[k]).interpolation = "CONSTANT"
    curve.update()


def of_kinds(kinds: Sequence[int], ground: int = 0) -> Doubles:
    """(F, 9), a track of what is on which ground in F frames, in which the motion tells where a foot stands."""
    found: Doubles = np.zeros((len(kinds), WIDTH))
    found[:, KIND] = kinds
    found[:, GROUND] = np.where(found[:, KIND] != NONE, ground, 0)
    return found


def check_ground(owner: bpy.types.Object, ground: bpy.types.Object | None) -> None:
    """Refuse an object on which no foot can stand.

    Raises:
        RigError: It moves with the armature.
    """
    above = ground
    while above is not None and ground is not None:
        if above == owner:
            text = Text("'{ground}' goes along with it, so no foot can stand on it", ground=ground.name)
            raise RigError(text, rig=owner.name)
        above = above.parent


def ground_number(owner: bpy.types.Object, ground: bpy.types.Object | None) -> int:
    """The number by which contacts know an object on which feet stand (`check_ground`); 0 for the world."""
    if ground is None:
        return 0
    grounds = rig_of(owner).grounds
    found = next((k for k, one in enumerate(grounds) if one.found == ground), None)
    if found is None:
        new = grounds.add()
        new.name, new.found, found = ground.name, ground, len(grounds) - 1
    return found + 1


def mark(
    owner: bpy.types.Object,
    bones: Sequence[bpy.types.PoseBone],
    kind: str,
    span: tuple[int, int],
    ground: bpy.types.Object | None = None,
) -> None:
    """Mark what of feet is on the ground in all frames of a span: so contacts are made, joined, split and deleted.

    One that goes on from a contact next to it, or to one, is a part of that; unless it is on another ground.

    Args:
        owner: The armature object.
        bones: The feet.
        kind: A word of `KINDS`.
        span: First and last frame.
        ground: On what they stand; None for the world.

    Raises:
        RigError: They can't be marked; nothing was changed.
    """
    check_marks(owner)
    check_ground(owner, ground)
    number = ground_number(owner, ground)
    ensure_action(owner)
    frames = range(span[0], span[1] + 1)
    for bone in bones:
        track = of_kinds([KINDS[kind]] * len(frames), number)
        beside = track_of(owner, bone, np.array([span[0] - 1.0, span[1] + 1.0]))
        for near in beside[::-1] if kind != "NONE" else ():
            if near[KIND] != NONE and near[GROUND] == number:
                track[:, PLACE] = near[PLACE]
        write_track(owner, bone, track, frames)


def place_contact(owner: bpy.types.Object, contact: Contact, place: Sequence[float]) -> None:
    """Let a contact have a place of its own.

    Args:
        owner: The armature object.
        contact: As it stands.
        place: Where its effector is to stand and how it is to be turned, in the axes of its ground; `ANYWHERE` for
            where the motion has it.

    Raises:
        RigError: It can't be keyed; nothing was changed.
    """
    check_marks(owner)
    frames = range(contact.first, contact.last + 1)
    track = of_kinds(contact.kinds, contact.ground)
    track[:, PLACE] = place
    write_track(owner, pose_bones(owner)[contact.bone], track, frames)


def move(owner: bpy.types.Object, contact: Contact, start: int, end: int) -> Contact:
    """Move the ends of a contact; where it comes to another one of the foot they are one from then on.

    Args:
        owner: The armature object.
        contact: As it stands.
        start: Frames by which it begins later.
        end: Frames by which it ends later.

    Raises:
        FabrikError: It can't be moved; nothing was changed.
    """
    check_marks(owner)
    wanted = contact.moved(start, end)
    frames = range(min(contact.first, wanted.first), max(contact.last, wanted.last) + 1)
    bone = pose_bones(owner)[contact.bone]
    track = track_of(owner, bone, np.array(frames, dtype=np.float64))
    for one, kinds in ((contact, [NONE] * len(contact.kinds)), (wanted, wanted.kinds)):
        own = slice(one.first - frames[0], one.first - frames[0] + len(kinds))
        track[own] = of_kinds(kinds, contact.ground)
        track[own, PLACE] = contact.place if one is wanted else ANYWHERE
    write_track(owner, bone, track, frames)
    return wanted
