# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves read and written in bulk, with the way back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...maths import Bytes, Doubles, Mask, Singles
from .channels import AXES, TURN, euler_order
from .compat import curves_of_action, ensure_curve, fcurves_of, remove_curves

INTERPOLATION = {"LINEAR": 1, "BEZIER": 2}  # as Blender numbers them
ALIGNED = 3  # the type of a handle that stays in line with the other
POINTS = ("co", "handle_left", "handle_right")
WORDS = (  # choices and switches of a key, read as bytes, which is quicker than as words
    "interpolation",
    "handle_left_type",
    "handle_right_type",
    "easing",
    "type",
    "select_control_point",
    "select_left_handle",
    "select_right_handle",
)
NUMBERS = ("amplitude", "back", "period")
SAME_FRAME = 1e-3  # of a frame, within which two are the same


class KeyArrays(NamedTuple):
    """All that Blender keeps of n keys.

    Attributes:
        points: (3, n, 2), frame and value of each of `POINTS`.
        words: (8, n), each of `WORDS`.
        numbers: (3, n), each of `NUMBERS`.
    """

    points: Singles
    words: Bytes
    numbers: Singles

    @classmethod
    def room(cls, count: int) -> KeyArrays:
        """Room for so many keys."""
        points = np.empty((len(POINTS), count, 2), dtype=np.float32)
        words = np.empty((len(WORDS), count), dtype=np.uint8)
        return cls(points, words, np.empty((len(NUMBERS), count), dtype=np.float32))

    @property
    def frames(self) -> Singles:
        """(n,), of the keys."""
        return self.points[0, :, 0]

    def some(self, mask: Mask) -> KeyArrays:
        """Some of the keys."""
        return KeyArrays(self.points[:, mask], self.words[:, mask], self.numbers[:, mask])

    def named(self) -> Iterator[tuple[str, Singles | Bytes]]:
        """The arrays by the names of the properties, flat, sharing their memory."""
        for names, arrays in ((POINTS, self.points), (WORDS, self.words), (NUMBERS, self.numbers)):
            yield from ((name, array.reshape(-1)) for name, array in zip(names, arrays, strict=True))


def read_keys(curve: bpy.types.FCurve) -> KeyArrays:
    """All keys of a curve."""
    points = curve.keyframe_points
    found = KeyArrays.room(len(points))
    for name, array in found.named():
        points.foreach_get(name, array)
    return found


def put_keys(curve: bpy.types.FCurve, keys: KeyArrays) -> None:
    """Replace all keys of a curve by others, handles included."""
    points = curve.keyframe_points
    points.clear()
    points.add(keys.points.shape[1])
    _set(curve, keys)


def _set(curve: bpy.types.FCurve, keys: KeyArrays) -> None:
    """Change all keys of a curve; types of handles before the handles."""
    for name, array in reversed([*keys.named()]):
        curve.keyframe_points.foreach_set(name, array)


def keys_outside(curve: bpy.types.FCurve, span: tuple[float, float]) -> KeyArrays | None:
    """The keys of a curve that are not in a range of frames; None where there are none."""
    points = curve.keyframe_points
    first, last = span[0] - SAME_FRAME, span[1] + SAME_FRAME
    if not len(points) or (points[0].co[0] >= first and points[-1].co[0] <= last):
        return None
    keys = read_keys(curve)
    return keys.some((keys.frames < first) | (keys.frames > last))


def clear_keys(curve: bpy.types.FCurve, first: float, last: float) -> None:
    """Remove the keys in a range of frames."""
    kept = keys_outside(curve, (first, last))
    if kept is None:
        curve.keyframe_points.clear()
    elif len(kept.frames) < len(curve.keyframe_points):
        put_keys(curve, kept)


def add_keys(curve: bpy.types.FCurve, places: Singles, kinds: Bytes) -> None:
    """Key a curve that has no keys; handles are Blender's own.

    Args:
        curve: The curve.
        places: 2 F numbers, frames and values in turn.
        kinds: (F,), interpolations as Blender numbers them.
    """
    points = curve.keyframe_points
    points.add(len(kinds))
    points.foreach_set("co", places)
    points.foreach_set("interpolation", kinds)
    curve.update()


def add_beside(curve: bpy.types.FCurve, places: Singles, kinds: Bytes, kept: KeyArrays) -> None:
    """Key a curve that has no keys, and give it some that it had; see `add_keys`."""
    count = len(kept.frames)
    curve.keyframe_points.add(count + len(kinds))
    whole = read_keys(curve)
    whole.points[:, :count], whole.words[:, :count], whole.numbers[:, :count] = kept
    whole.points[0, count:], whole.words[0, count:] = places.reshape(-1, 2), kinds
    _set(curve, whole)
    curve.update()


def set_slopes(curve: bpy.types.FCurve, frames: Doubles, slopes: Doubles) -> None:
    """Let the curve between keys that follow each other be cubics with given slopes.

    Their handles are a third of the way to the next key; towards other keys of the curve as far as on the other side.

    Args:
        curve: The curve.
        frames: (F,), rising, at each of which the curve has a key.
        slopes: (F,), changes of the value a frame.
    """
    whole = read_keys(curve)
    first = int(np.searchsorted(whole.frames, frames[0] - SAME_FRAME))
    own = slice(first, first + len(frames))
    thirds = np.diff(frames) / 3.0
    before, after = np.concatenate((thirds[:1], thirds)), np.concatenate((thirds, thirds[-1:]))
    places, left, right = whole.points[:, own]
    left[:] = places - np.column_stack((before, before * slopes))
    right[:] = places + np.column_stack((after, after * slopes))
    whole.words[1:3, own] = ALIGNED
    _set(curve, whole)
    curve.update()


FEW = 16  # frames for which a copy of the action does not pay
SPARSE = 4  # frames of a range for each that is wanted, from which on these are evaluated one by one


def values_at(curves: Sequence[bpy.types.FCurve], frames: Doubles) -> list[Singles]:
    """The values that curves have at F frames, (F,) each, to the last bit what `FCurve.evaluate` tells.

    Blender turns a copy of the action's curves into samples, a value for each frame; the copies are then removed.

    Args:
        curves: Of any actions.
        frames: (F,), rising.
    """
    found: dict[int, Singles] = {}
    if _are_dense(frames):
        with_keys = (curve for curve in curves if len(curve.keyframe_points) and not len(curve.sampled_points))
        found = _sampled({curve.as_pointer(): curve for curve in with_keys}, frames)
    times = frames.tolist()
    for curve in curves:
        if curve.as_pointer() not in found:
            found[curve.as_pointer()] = np.array([curve.evaluate(time) for time in times], dtype=np.float32)
    return [found[curve.as_pointer()] for curve in curves]


def _are_dense(frames: Doubles) -> bool:
    """Whether frames are whole ones, many and near each other."""
    if len(frames) < FEW or frames[-1] - frames[0] >= SPARSE * len(frames):
        return False
    return bool((frames == np.floor(frames)).all())


def _sampled(curves: dict[int, bpy.types.FCurve], frames: Doubles) -> dict[int, Singles]:
    """The values of curves with keys, by their pointers."""
    first, last = int(frames[0]), int(frames[-1])
    picked = (frames - first).astype(np.intp)
    holders: list[Any] = [curve.id_data for curve in curves.values()]
    actions: dict[str, bpy.types.Action] = {action.name_full: action for action in holders}
    points = np.empty(2 * (last + 1 - first), dtype=np.float32)
    found: dict[int, Singles] = {}
    copies: list[bpy.types.Action] = []
    try:
        for action in actions.values():
            copies.append(action.copy())
            for curve, copy in zip(curves_of_action(action), curves_of_action(copies[-1]), strict=True):
                if curve.as_pointer() in curves:
                    copy.convert_to_samples(first, last + 1)  # up to the last frame, and not with it
                    copy.sampled_points.foreach_get("co", points)
                    found[curve.as_pointer()] = points[1::2][picked]
    finally:
        if copies:
            bpy.data.batch_remove(copies)  # at once: each removal looks through the whole file
    return found


Place: TypeAlias = tuple[str, int]  # data path of a property, index of the channel

VECTORS = {"QUATERNION": (slice(0, 4), slice(0, 0)), "AXIS_ANGLE": (slice(1, 4), slice(0, 1))}  # and the angles
PLAIN = "PLAIN"  # in place of a rotation mode
CONSTANT = 2.0**-22  # a change that is none: two units in the last place of a channel that holds a one


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels of a bone's rotation, location or scale that are keyed.

    Attributes:
        path: Data path of the property from the object.
        mode: The rotation mode; `PLAIN` for what is no rotation.
        group: Name of the bone, under which the curves are listed.
        indices: Of those that are written; the others are left alone.
        stood: The k values of the property where its channels have no keys.
    """

    path: str
    mode: str
    group: str
    indices: Sequence[int]
    stood: Sequence[float]


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Keys of the k channels of a property.

    Attributes:
        frames: (F,), rising.
        values: (F, k).
        stays: (k,), which channels have the same value in all frames (`staying`).
        interpolation: "LINEAR" or "BEZIER".
        span: First and last frame between which old keys are replaced.
        slopes: (F, k) change a frame at each key, which the handles of Bezier curves take; None for Blender's own.
    """

    frames: Doubles
    values: Doubles
    stays: Mask
    interpolation: str
    span: tuple[float, float]
    slopes: Doubles | None = None


def staying(values: Doubles) -> Mask:
    """Which channels stay, (...,), of values (F, ...)."""
    found: Mask = values.max(axis=0) - values.min(axis=0) <= CONSTANT
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbours:
    """The poses beside a span, which are to stay what they are although some channels lack keys there.

    Attributes:
        before: The last frame before the span at which a channel has a key; None where there is none.
        stood: (k,), the channels' values there.
        after: The first such frame behind the span; None where there is none.
        then: (k,), the channels' values there, so that they run on from those in the span.
        kept: The keys that each of the k channels keeps, those behind the span running on as well; None where it has
            none outside the span.
    """

    before: float | None
    stood: Doubles
    after: float | None
    then: Doubles
    kept: Sequence[KeyArrays | None]

    def lacking(self, i: int) -> list[tuple[float, float]]:
        """The keys, frame and value, that a channel needs there beside those that it keeps."""
        kept = self.kept[i]
        frames: list[float] = kept.frames.tolist() if kept is not None else []
        found = [(self.before, float(self.stood[i])), (self.after, float(self.then[i]))]
        return [(at, value) for at, value in found if at is not None and at not in frames]


class CurveWriter:
    """Writes channels into the action of an object, and can put back what stood there.

    Args:
        owner: The object; it has an action when the first channel is written.
        can_restore: Whether curves that are there already are kept, in a copy of the action, to be put back.
    """

    def __init__(self, owner: bpy.types.Object, can_restore: bool) -> None:
        self.owner = owner
        self.keys = 0
        self._can_restore = can_restore
        self._curves: dict[Place, bpy.types.FCurve] | None = None
        self._made: set[Place] = set()
        self._changed: set[Place] = set()
        self._backup: bpy.types.Action | None = None
        self._kept: dict[Place, bpy.types.FCurve] = {}  # curves of the backup

    def write(self, channels: Channels, keys: Keys) -> None:
        """Replace channels' keys in a span of frames by others, or by one where nothing changes.

        At the bone's neighbouring keys, of whatever channel, each keeps the value that it had. The keys behind the span
        mean the same in numbers that run on from those that are written, so that the way to later poses is short; see
        `_running_on`.
        """
        curves = [self._find(channels.path, i) for i in range(keys.values.shape[1])]
        beside = None
        if any(curve is not None for curve in curves):
            self._keep()
            kept = [keys_outside(curve, keys.span) if curve is not None else None for curve in curves]
            if any(own is not None for own in kept):
                beside = _neighbours(channels, keys, curves, kept)
        places = np.empty((len(curves), len(keys.frames), 2), dtype=np.float32)
        places[:, :, 0], places[:, :, 1] = keys.frames, keys.values.T
        for i in channels.indices:
            curve = curves[i]
            if curve is None:
                self._made.add((channels.path, i))
                curve = ensure_curve(self.owner, channels.path, i, channels.group)
            else:
                self._changed.add((channels.path, i))
                curve.keyframe_points.clear()
            self.keys += _put(curve, i, places[i], keys, beside)

    def flush(self) -> None:
        """Let Blender play what was written: new curves are not evaluated before the action is set again."""
        data = self.owner.animation_data
        self._curves = None
        if data is not None and data.action is not None:
            data.action = data.action
            self.owner.update_tag(refresh={"TIME"})

    def restore(self) -> None:
        """Put back what stood in all curves that were written."""
        self._curves = None
        for path, i in self._changed - self._made:
            curve = self._find(path, i)
            if curve is not None:
                put_keys(curve, read_keys(self._kept[path, i]))
        made = (self._find(path, i) for path, i in self._made)
        remove_curves(self.owner, [curve for curve in made if curve is not None])
        self.finish()
        self.flush()

    def finish(self) -> None:
        """What stood there is not needed any more."""
        self._made.clear()
        self._changed.clear()
        self._kept.clear()
        if self._backup is not None:
            bpy.data.actions.remove(self._backup)
            self._backup = None

    def _keep(self) -> None:
        """Keep what stands in the action, before the first of its curves is changed."""
        data = self.owner.animation_data
        if not self._can_restore or self._backup is not None or data is None or data.action is None:
            return
        self._backup = data.action.copy()
        own = {curve.as_pointer() for curve in fcurves_of(self.owner)}
        pairs = zip(curves_of_action(data.action), curves_of_action(self._backup), strict=True)
        self._kept = {_place_of(copy): copy for curve, copy in pairs if curve.as_pointer() in own}

    def _find(self, path: str, index: int) -> bpy.types.FCurve | None:
        """The curve of a channel as it stood when the first one was asked for."""
        if self._curves is None:
            self._curves = {_place_of(curve): curve for curve in fcurves_of(self.owner)}
        return self._curves.get((path, index))


def _place_of(curve: bpy.types.FCurve) -> Place:
    return curve.data_path, curve.array_index


def _put(curve: bpy.types.FCurve, i: int, places: Singles, keys: Keys, beside: _Neighbours | None) -> int:
    """Replace the keys of a curve; the number of those that are new.

    Args:
        curve: Of the channel.
        i: Index of the channel.
        places: (F, 2), frames and values of the new keys.
        keys: Of all channels of the property.
        beside: What stands beside the span.
    """
    kept, lacking = (beside.kept[i], beside.lacking(i)) if beside is not None else (None, [])
    count = 1 if keys.stays[i] and kept is None and not lacking else len(places)
    kinds = _kinds(keys.interpolation, len(lacking) + count)
    places = np.concatenate((np.array(lacking, dtype=np.float32), places)) if lacking else places[:count]
    if kept is None:
        add_keys(curve, places.ravel(), kinds)
    else:
        add_beside(curve, places.ravel(), kinds, kept)
    if keys.slopes is not None and count > 1:
        set_slopes(curve, keys.frames, keys.slopes[:, i])
    return count


@lru_cache(maxsize=4)
def _kinds(interpolation: str, count: int) -> Bytes:
    """The interpolation of so many keys, as Blender numbers it; not to be written to."""
    return np.full(count, INTERPOLATION[interpolation], dtype=np.uint8)


def _neighbours(
    channels: Channels, keys: Keys, curves: Sequence[bpy.types.FCurve | None], kept: Sequence[KeyArrays | None]
) -> _Neighbours:
    """What stands beside a span, and by what it runs on from the span's last frame.

    Where each curve has but one key, which holds up to the span, the frame before the span is its neighbour.
    """
    first, last = keys.span
    frames = [frame for own in kept if own is not None for frame in own.frames.tolist()]
    before = max((frame for frame in frames if frame < first), default=None)
    after = min((frame for frame in frames if frame > last), default=None)
    if (
        before is not None
        and after is None
        and all(curve is None or len(curve.keyframe_points) == 1 for curve in curves)
    ):
        before = max(before, ceil(first) - 1.0)
    stood, then = (_values_at(channels, curves, frame) for frame in (before, after))
    factors: Doubles = np.ones(len(curves))
    added: Doubles = np.zeros(len(curves))
    if after is not None and channels.mode != PLAIN:
        factors, added = _running_on(channels, keys.values[-1], then)
    then = factors * then + added
    for i in channels.indices:
        own = kept[i]
        if own is not None:
            own.points[:, own.frames > last, 1] *= factors[i]
            own.points[:, own.frames > last, 1] += added[i]
    return _Neighbours(before, stood, after, then, kept)


def _values_at(channels: Channels, curves: Sequence[bpy.types.FCurve | None], frame: float | None) -> Doubles:
    """(k,), the values of all channels at a frame, or where there is none those without keys."""
    if frame is None:
        return np.array(channels.stood)
    pairs = zip(curves, channels.stood, strict=True)
    return np.array([curve.evaluate(frame) if curve is not None else value for curve, value in pairs])


def _running_on(channels: Channels, values: Doubles, then: Doubles) -> tuple[Doubles, Doubles]:
    """By what (k,) later channel values are multiplied, and what (k,) is added, so that they run on from others.

    All that changes nothing of the rotations, nor of those between later keys: quaternions and axes may take the other
    sign, angles whole turns, and Euler angles their other triple, for which the middle angle is mirrored and the two
    others go on by half a turn. Where not all channels are written there are whole turns alone.
    """
    count = len(values)
    is_whole = len(channels.indices) == count
    factors: Doubles = np.ones(count)
    added: Doubles = np.zeros(count)
    if channels.mode in VECTORS:
        vector, angles = VECTORS[channels.mode]
        if is_whole and float(np.dot(values[vector], then[vector])) < 0.0:
            factors[:] = -1.0
    else:
        angles = slice(0, count)
        mirrored: Doubles = np.ones(count)
        mirrored[AXES.index(euler_order(channels.mode)[1])] = -1.0
        if is_whole and _apart(values, mirrored * then + TURN / 2.0) < _apart(values, then):
            factors = mirrored
            added += TURN / 2.0
    off = values - factors * then - added
    added[angles] += TURN * np.round(off[angles] / TURN)
    return factors, added


def _apart(angles: Doubles, others: Doubles) -> float:
    """The sum of the differences of angles (3,), whole turns left out."""
    between = angles - others
    return float(np.abs(between - TURN * np.round(between / TURN)).sum())
