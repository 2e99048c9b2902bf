# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of when a foot is on the ground: constant keys on its bone, read, written and moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import InvalidValueError, RigError
from ...maths import Doubles, Ints
from ...motion.contacts import FLAT, HEEL, NONE, TOE, runs
from ...rig.animation.compat import ensure_curve, fcurves_of, shares_curves
from ...rig.animation.curves import SAME_FRAME, clear_keys
from ...rig.bones import pose_bones
from ...texts import Text

PROPERTY = "fabrik_contact"
KINDS = {"NONE": NONE, "HEEL": HEEL, "TOE": TOE, "FLAT": FLAT}  # by the words of the property


class Contact(NamedTuple):
    """A foot that is on the ground without a break.

    Attributes:
        bone: Its name.
        first: The first frame.
        kinds: What of it is there, in each frame from that on.
    """

    bone: str
    first: int
    kinds: tuple[int, ...]

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
    return bone.path_from_id(PROPERTY)


def marks_of(owner: bpy.types.Object, bone: bpy.types.PoseBone, frames: Doubles) -> Ints:
    """What of a foot is on the ground in F frames, by its keys, (F,); each holds until the next."""
    curve = _curve(owner, bone)
    if curve is None or curve.mute:
        return np.zeros(len(frames), dtype=np.int32)
    keys = np.empty((len(curve.keyframe_points), 2), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", keys.reshape(-1))
    places = np.searchsorted(keys[:, 0], frames + SAME_FRAME) - 1
    found: Ints = np.rint(keys[np.maximum(places, 0), 1]).astype(np.int32)
    return found


def _curve(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> bpy.types.FCurve | None:
    path = contact_path(bone)
    return next((one for one in fcurves_of(owner) if one.data_path == path and len(one.keyframe_points)), None)


def has_marks(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> bool:
    """Whether a foot has marks, of whatever kind, in any frame."""
    return _curve(owner, bone) is not None


def contacts_of(owner: bpy.types.Object) -> list[Contact]:
    """The contacts of all feet, as their keys have them; an open end goes as far as there are keys."""
    found, end = list[Contact](), f"].{PROPERTY}"
    marked = {one.data_path for one in fcurves_of(owner) if one.data_path.endswith(end) and not one.mute}
    for bone in pose_bones(owner) if marked else ():
        curve = _curve(owner, bone) if contact_path(bone) in marked else None
        if curve is not None:
            first, last = (round(curve.keyframe_points[k].co[0]) for k in (0, -1))
            kinds = marks_of(owner, bone, np.arange(first, last + 1, dtype=np.float64))
            rows = runs(kinds != NONE)
            found += [Contact(bone.name, first + a, tuple(kinds[a:b].tolist())) for a, b in rows]
    return found


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


def ensure_action(owner: bpy.types.Object) -> None:
    """Give an object without an action one for its keys."""
    data = owner.animation_data or owner.animation_data_create()
    if data is not None and data.action is None:
        data.action = bpy.data.actions.new(owner.name)


def write_marks(owner: bpy.types.Object, bone: bpy.types.PoseBone, kinds: Sequence[int], frames: Sequence[int]) -> None:
    """Key what of a foot is on the ground, at the frames at which that changes; before and behind them it is
    what it was.

    Args:
        owner: The armature object; it has an action.
        bone: The foot.
        kinds: What of it, in each of the frames.
        frames: Whole ones that follow each other.
    """
    curve = ensure_curve(owner, contact_path(bone), 0, bone.name)
    after = curve.evaluate(frames[-1] + 1) if len(curve.keyframe_points) else float(NONE)
    clear_keys(curve, frames[0], frames[-1])
    if not any(point.co[0] < frames[0] for point in curve.keyframe_points):  # it holds back to the first frame of all
        curve.keyframe_points.insert(frames[0] - 1, float(NONE)).interpolation = "CONSTANT"
    values = [*kinds, after]
    for k, frame in enumerate([*frames, frames[-1] + 1]):
        if k in (0, len(frames)) or values[k] != values[k - 1]:
            curve.keyframe_points.insert(frame, values[k]).interpolation = "CONSTANT"
    curve.update()


def mark(owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], kind: str, span: tuple[int, int]) -> None:
    """Mark what of feet is on the ground in all frames of a span: so contacts are made, joined, split and deleted.

    Args:
        owner: The armature object.
        bones: The feet.
        kind: A word of `KINDS`.
        span: First and last frame.

    Raises:
        RigError: They can't be marked; nothing was changed.
    """
    check_marks(owner)
    ensure_action(owner)
    frames = range(span[0], span[1] + 1)
    for bone in bones:
        write_marks(owner, bone, [KINDS[kind]] * len(frames), frames)


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
    kinds = marks_of(owner, bone, np.array(frames, dtype=np.float64)).tolist()
    for at, row in ((contact.first, [NONE] * len(contact.kinds)), (wanted.first, [*wanted.kinds])):
        kinds[at - frames[0] : at - frames[0] + len(row)] = row
    write_marks(owner, bone, kinds, frames)
    return wanted
