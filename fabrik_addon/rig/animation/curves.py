# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves read and written in bulk, with the way back."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np
from mathutils import Vector

from ...maths import Bytes, Doubles, Mask, Singles
from .channels import AXES, TURN, distances, euler_order
from .compat import curves_of_action, ensure_curve, fcurves_of, remove_curves

INTERPOLATION = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}  # as Blender numbers them; all others are easings
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


def set_slopes(curve: bpy.types.FCurve, frames: Doubles, slopes: Doubles) -> None:
    """Let the curve between keys at F rising frames (F,) be cubics with slopes (F,), changes of the value a frame.

    Their handles are a third of the way to the next key; towards other keys of the curve as far as on the other side.
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


def split_at(curve: bpy.types.FCurve, frame: float) -> None:
    """Give a curve a key on itself, so that it runs as it did, also where that key is moved then, but for beside it.

    Between keys of Blender's easings, which are no cubics, it gets keys in all whole frames. One that goes on straight
    beyond its keys gets one more where these would no longer tell how.
    """
    frames = [point.co[0] for point in curve.keyframe_points]
    at = next((k for k, one in enumerate(frames) if abs(one - frame) <= SAME_FRAME), None)
    is_there, at = at is not None, bisect(frames, frame) if at is None else at
    if curve.extrapolation == "LINEAR" and len(frames) > 1:
        points = curve.keyframe_points  # an end goes on by its neighbour, unless a cubic leads to it
        if at + is_there >= len(frames) - 1 and (at == len(frames) or points[-1].interpolation == "LINEAR"):
            _insert_on(curve, max(frame, frames[-1]) + 1.0)
        if at <= 1 and (at + is_there == 0 or points[0].interpolation not in ("BEZIER", "CONSTANT")):
            _insert_on(curve, min(frame, frames[0]) - 1.0)
            at += 1
    if is_there:
        _free(curve.keyframe_points, _handles(curve.keyframe_points, at))  # Blender's own change with the keys beside
        return
    if 0 < at < len(curve.keyframe_points) and curve.keyframe_points[at - 1].interpolation not in INTERPOLATION:
        _key_easing(curve, at - 1)
        split_at(curve, frame)
        return
    _insert_on(curve, frame)


def _key_easing(curve: bpy.types.FCurve, k: int) -> None:
    """Give what follows a key, and goes by an easing, keys on itself in all whole frames, straight between them."""
    points = curve.keyframe_points
    kept = [*_handles(points, k), *_handles(points, k + 1)]
    inside = range(floor(points[k].co[0]) + 1, ceil(points[k + 1].co[0]))
    values = [curve.evaluate(frame) for frame in inside]
    points[k].interpolation = "LINEAR"
    for frame, value in zip(inside, values, strict=True):
        points.insert(frame, value, options={"FAST"}).interpolation = "LINEAR"
    _free(points, [(i if i == k else i + len(values), name, place) for i, name, place in kept])
    curve.update()


def _insert_on(curve: bpy.types.FCurve, frame: float) -> None:
    """Insert a key on a curve that is no easing there; Blender splits a cubic between handles that are free.

    Beyond all keys the way to it is as it was.
    """
    points, value = curve.keyframe_points, curve.evaluate(frame)
    at, count = bisect([point.co[0] for point in points], frame), len(points)
    near, far = (Vector((frame + off, curve.evaluate(frame + off))) for off in (-1.0, 1.0))
    _free(points, [*_handles(points, at - 1), *_handles(points, at)])  # those of Blender's own change with a key
    points.insert(frame, value, options={"FAST"})
    if not 0 < at < count:
        _go_straight(curve, at)
    if at:
        points[at].interpolation = points[at - 1].interpolation
    is_cubic = 0 < at < count and points[at].interpolation == "BEZIER"
    _free(points, _handles(points, at) if is_cubic else [(at, "handle_left", near), (at, "handle_right", far)])
    curve.update()


def _go_straight(curve: bpy.types.FCurve, at: int) -> None:
    """Let a curve go straight between a new key at one of its ends, by its index, and that which was the end."""
    points, end = curve.keyframe_points, 1 if at == 0 else at - 1
    if curve.extrapolation == "LINEAR":
        points[min(at, end)].interpolation = "LINEAR"
        return
    kind = points[end].interpolation
    points[min(at, end)].interpolation = kind if kind in INTERPOLATION else "BEZIER"
    (x, y), (other, _) = points[end].co, points[at].co
    _free(points, [(end, "handle_left" if at == 0 else "handle_right", ((2.0 * x + other) / 3.0, y))])


def freeze(curve: bpy.types.FCurve, before: KeyArrays, some: Mask) -> None:
    """Bring handles back that changed with other keys of a curve; their keys are free from then on.

    Of the n keys as they stood `before` some (n,) count.
    """
    now = read_keys(curve)
    for place in np.flatnonzero(some).tolist():
        k = int(np.searchsorted(now.frames, before.frames[place] - SAME_FRAME))
        if not np.array_equal(now.points[1:, k], before.points[1:, place]):
            left, right = before.points[1:, place].tolist()
            _free(curve.keyframe_points, [(k, "handle_left", left), (k, "handle_right", right)])
    curve.update()


def _free(points: Any, handles: Iterable[tuple[int, str, Any]]) -> None:
    """Put handles of keys, each by the key's index and its own name, to places where they then stay."""
    for k, name, place in handles:
        setattr(points[k], f"{name}_type", "FREE")
        setattr(points[k], name, place)


def _handles(points: Any, k: int) -> list[tuple[int, str, Vector]]:
    """The handles of a key by its index, each with that and its name; none where there is no such key."""
    if not 0 <= k < len(points):
        return []
    return [(k, name, getattr(points[k], name).copy()) for name in ("handle_left", "handle_right")]


def values_at(curves: Sequence[bpy.types.FCurve], frames: Doubles) -> list[Singles]:
    """The values that curves have at F frames (F,): (F,) each."""
    times = frames.tolist()
    return [np.array([curve.evaluate(time) for time in times], dtype=np.float32) for curve in curves]


Place: TypeAlias = tuple[str, int]  # data path of a property, index of the channel

VECTORS = {"QUATERNION": (slice(0, 4), slice(0, 0)), "AXIS_ANGLE": (slice(1, 4), slice(0, 1))}  # and the angles
PLAIN = "PLAIN"  # in place of a rotation mode
CONSTANT = 2.0**-22  # a change that is none: two units in the last place of a channel that holds a one


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Keys of the k channels of a bone's rotation, location or scale.

    Attributes:
        path: Data path of the property from the object.
        mode: The rotation mode; `PLAIN` for what is no rotation.
        bone: Its name, under which the curves are listed.
        indices: Of the channels that are written; the others are left alone.
        stood: The k values of the property where its channels have no keys.
        values: (F, k).
        stays: (k,), which channels have the same value in all frames (`staying`).
        frames: (F,), rising.
        interpolation: "CONSTANT", "LINEAR" or "BEZIER".
        span: First and last frame between which old keys are replaced.
        slopes: (F, k) change a frame at each key, which the handles of Bezier curves take; None for Blender's own.
        is_between: Whether curves run beyond the first and the last frame as they did; they are there already.
    """

    path: str
    mode: str
    bone: str
    indices: Sequence[int]
    stood: Sequence[float]
    values: Doubles
    stays: Mask
    frames: Doubles
    interpolation: str
    span: tuple[float, float]
    slopes: Doubles | None = None
    is_between: bool = False


def staying(values: Doubles, within: float = CONSTANT) -> Mask:
    """Which channels stay, (...,), of values (F, ...): those that change by no more than a number."""
    found: Mask = values.max(axis=0) - values.min(axis=0) <= within
    return found


class CurveWriter:
    """Writes channels into the action of an object, and can put back what stood there.

    Args:
        owner: The object; it has an action when the first channel is written.
        can_restore: Whether curves that are there already are kept, in a copy of the action, to be put back.
    """

    def __init__(self, owner: bpy.types.Object, can_restore: bool) -> None:
        self.owner = owner
        self._can_restore = can_restore
        self._curves: dict[Place, bpy.types.FCurve] | None = None
        self._made: set[Place] = set()
        self._changed: set[Place] = set()
        self._backup: bpy.types.Action | None = None
        self._kept: dict[Place, bpy.types.FCurve] = {}  # curves of the backup

    def write(self, keys: Keys) -> int:
        """Replace channels' keys in a span of frames by others, or by one where nothing changes.

        At the bone's neighbouring keys, of whatever channel, each keeps the value that it had. The keys behind the span
        mean the same in numbers that run on from those that are written, so that the way to later poses is short; see
        `_running_on`.

        Returns:
            The number of keys that are new.
        """
        path, known, count = keys.path, self._known(), keys.values.shape[1]
        curves = [known.get((path, i)) for i in range(count)]
        kept: list[KeyArrays | None] = [None] * count
        lacking: list[list[tuple[float, float]]] = [[] for _ in curves]
        if [*filter(None, curves)]:
            self._keep()
            self._changed |= {(path, i) for i in keys.indices if curves[i] is not None}
            span = _parted(curves, keys) if keys.is_between else keys.span
            kept = [keys_outside(curve, span) if curve is not None else None for curve in curves]
            if [own for own in kept if own is not None]:
                lacking = _lacking(keys, curves, kept)
        places, new = np.empty((count, len(keys.frames), 2), dtype=np.float32), 0
        places[:, :, 0], places[:, :, 1] = keys.frames, keys.values.T
        for i in keys.indices:
            curve = curves[i]
            if curve is None:
                self._made.add((path, i))
                curve = ensure_curve(self.owner, path, i, keys.bone)
            else:
                curve.keyframe_points.clear()
            own = places[i]
            if keys.is_between and kept[i] is not None:
                own = _inside(own, stays=bool(keys.stays[i]))
            elif keys.stays[i] and kept[i] is None and not lacking[i]:
                own = own[:1]
            _put(curve, lacking[i], own, keys.interpolation, kept[i])
            if keys.slopes is not None and len(own) > 1:
                set_slopes(curve, keys.frames, keys.slopes[:, i])
            new += len(own)
        return new

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
        known = self._known()
        for place in self._changed - self._made:
            if place in known:
                put_keys(known[place], read_keys(self._kept[place]))
        made = (known.get(place) for place in self._made)
        remove_curves([curve for curve in made if curve is not None])
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
        self._kept = {(copy.data_path, copy.array_index): copy for curve, copy in pairs if curve.as_pointer() in own}

    def _known(self) -> dict[Place, bpy.types.FCurve]:
        """The curves of the object's action as they stood when the first one was asked for."""
        if self._curves is None:
            self._curves = {(curve.data_path, curve.array_index): curve for curve in fcurves_of(self.owner)}
        return self._curves


def _parted(curves: Sequence[bpy.types.FCurve | None], keys: Keys) -> tuple[float, float]:
    """Split curves where keys begin and end, between which they come; the span that is theirs."""
    for curve in curves:
        for frame in keys.span if curve is not None and len(curve.keyframe_points) else ():
            assert curve is not None, "it has keys"
            split_at(curve, frame)
    return float(keys.frames[1]), float(keys.frames[-2])


def _inside(places: Singles, *, stays: bool) -> Singles:
    """Of frames and values (F, 2) those between the first and the last; of a channel that stays two, as the first."""
    if not stays:
        return places[1:-1]
    found: Singles = places[[1, -2]]
    found[:, 1] = places[0, 1]
    return found


def _put(
    curve: bpy.types.FCurve,
    lacking: Sequence[tuple[float, float]],
    places: Singles,
    interpolation: str,
    kept: KeyArrays | None,
) -> None:
    """Key a curve without keys: at places (F, 2), frames and values, at others that it is lacking, and with those kept.

    Handles of the new ones are Blender's own.
    """
    if lacking:
        places = np.concatenate((np.array(lacking, dtype=np.float32), places))
    points, kinds = curve.keyframe_points, np.full(len(places), INTERPOLATION[interpolation], dtype=np.uint8)
    if kept is None:
        points.add(len(places))
        points.foreach_set("co", places.reshape(-1))
        points.foreach_set("interpolation", kinds)
    else:
        count = len(kept.frames)
        points.add(count + len(places))
        whole = read_keys(curve)
        whole.points[:, :count], whole.words[:, :count], whole.numbers[:, :count] = kept
        whole.points[0, count:], whole.words[0, count:] = places, kinds
        _set(curve, whole)
    curve.update()
    if kept is not None:
        freeze(curve, kept, np.ones(len(kept.frames), dtype=bool))


def _lacking(
    keys: Keys, curves: Sequence[bpy.types.FCurve | None], kept: Sequence[KeyArrays | None]
) -> list[list[tuple[float, float]]]:
    """What each channel lacks for the poses beside a span to stay what they are: keys, by frame and value.

    These poses are the neighbouring keys of any of the channels. Where each curve has but one key, which holds up to
    the span, the frame before the span is its neighbour. Kept keys behind the span are changed, so that they run on
    from those in it.
    """
    first, last = keys.span
    frames = [own.frames.tolist() if own is not None else [] for own in kept]
    every = [frame for own in frames for frame in own]
    before = max((frame for frame in every if frame < first), default=None)
    after = min((frame for frame in every if frame > last), default=None)
    are_single = all(curve is None or len(curve.keyframe_points) == 1 for curve in curves)
    if before is not None and after is None and are_single:
        before = max(before, ceil(first) - 1.0)
    stood, then = (_values_at(keys, curves, frame) for frame in (before, after))
    if after is not None and keys.mode != PLAIN and not keys.is_between:
        factors, added = _running_on(keys, then)
        then = factors * then + added
        for i in keys.indices:
            own = kept[i]
            if own is not None:
                own.points[:, own.frames > last, 1] *= factors[i]
                own.points[:, own.frames > last, 1] += added[i]
    pairs = [(before, stood), (after, then)]
    return [
        [(at, float(values[i])) for at, values in pairs if at is not None and at not in own]
        for i, own in enumerate(frames)
    ]


def _values_at(keys: Keys, curves: Sequence[bpy.types.FCurve | None], frame: float | None) -> Doubles:
    """(k,), the values of all channels at a frame, or where there is none those without keys."""
    if frame is None:
        return np.array(keys.stood)
    pairs = zip(curves, keys.stood, strict=True)
    return np.array([curve.evaluate(frame) if curve is not None else value for curve, value in pairs])


def _running_on(keys: Keys, then: Doubles) -> tuple[Doubles, Doubles]:
    """By what (k,) later values `then` are multiplied, and what (k,) is added, so that they run on from the last key's.

    All that changes nothing of the rotations, nor of those between later keys: quaternions and axes may take the other
    sign, angles whole turns, and Euler angles their other triple, for which the middle angle is mirrored and the two
    others go on by half a turn. Where not all channels are written there are whole turns alone.
    """
    values = keys.values[-1]
    count = len(values)
    is_whole = len(keys.indices) == count
    factors: Doubles = np.ones(count)
    added: Doubles = np.zeros(count)
    if keys.mode in VECTORS:
        vector, angles = VECTORS[keys.mode]
        if is_whole and float(np.dot(values[vector], then[vector])) < 0.0:
            factors[:] = -1.0
    else:
        angles = slice(0, count)
        mirrored: Doubles = np.ones(count)
        mirrored[AXES.index(euler_order(keys.mode)[1])] = -1.0
        if is_whole and distances(values, mirrored * then + TURN / 2.0) < distances(values, then):
            factors = mirrored
            added += TURN / 2.0
    off = values - factors * then - added
    added[angles] += TURN * np.round(off[angles] / TURN)
    return factors, added
