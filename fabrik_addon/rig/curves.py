# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys in bulk: all frames of a channel at once, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import bpy
import numpy as np

from ..kernel.arrays import Array
from .compat import ensure_curve, fcurves_of, remove_curve

INTERPOLATION = {"LINEAR": 1, "BEZIER": 2}  # as Blender numbers them
POINTS = ("co", "handle_left", "handle_right")
HANDLES = ("handle_left_type", "handle_right_type")
SELECTED = ("select_control_point", "select_left_handle", "select_right_handle")
KEPT_TYPES = ("interpolation", *HANDLES, "easing", "type", "amplitude", "back", "period", *SELECTED)
CONSTANT = 1e-6  # change of a channel that is none: radians, or parts of a quaternion


@dataclass(frozen=True, slots=True)
class ChannelKeys:
    """One channel to be keyed.

    Attributes:
        path: Data path from the object.
        index: Of the channel.
        group: Name of the bone, under which the curve is listed.
    """

    path: str
    index: int
    group: str


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of the k channels of a property.

    Attributes:
        frames: (F,), rising.
        values: (F, k).
        interpolation: "LINEAR" or "BEZIER".
        span: First and last frame between which old keys are replaced.
        slopes: (F, k) change a frame at each key, which the handles of Bezier curves take; None for Blender's own.
    """

    frames: Array
    values: Array
    interpolation: str
    span: tuple[float, float]
    slopes: Array | None = None


class CurveWriter:
    """Writes channels into the action of an object, and can put back what stood there."""

    def __init__(self, owner: bpy.types.Object) -> None:
        self.owner = owner
        self.keys = 0
        self._curves: dict[tuple[str, int], bpy.types.FCurve] | None = None
        self._before: list[tuple[str, int, dict[str, Any] | None]] = []

    def write(self, channel: ChannelKeys, keys: Keys, stood: float) -> None:
        """Replace a channel's keys in a span of frames by others, or by one where nothing changes.

        At the bone's neighbouring keys, of whatever channel, it keeps the value that it had.

        Args:
            channel: The channel.
            keys: Of all channels of the property.
            stood: The channel's value where it has no keys.
        """
        found = self._remembered(channel.path, channel.index)
        outside = self._kept_outside(channel.path, found, keys, stood)
        curve = found or ensure_curve(self.owner, channel.path, channel.index, channel.group)
        frames, values = keys.frames, keys.values[:, channel.index]
        slopes = None if keys.slopes is None else keys.slopes[:, channel.index]
        if found is not None:
            clear_keys(curve, *keys.span)
        if outside:
            _add(curve, np.array(outside), keys.interpolation, None)
        is_flat = np.ptp(values) <= CONSTANT and (slopes is None or np.abs(slopes).max() <= CONSTANT)
        if len(frames) > 1 and len(curve.keyframe_points) == 0 and is_flat:
            frames, values = frames[:1], values[:1]  # beside other keys one would not hold the value over the range
            slopes = None
        _add(curve, np.column_stack((frames, values)), keys.interpolation, slopes)
        self.keys += len(frames)

    def turn_later_keys(self, path: str, mode: str, keys: Keys, indices: Sequence[int]) -> None:
        """Let the keys after a span mean the same in numbers that run on from those to be written.

        A quaternion or axis on the other side gets the other sign, and angles are moved by whole turns: the later poses
        stay what they are, and the way to them becomes the short one.

        Args:
            path: Of the rotation.
            mode: The rotation mode.
            keys: To be written.
            indices: The channels that are written; the others are left alone.
        """
        last, values = keys.span[1], keys.values[-1]
        curves = [self._find(path, i) for i in range(len(values))]
        later = [frame for curve in curves if curve for frame in _frames(curve) if frame > last]
        if not later:
            return
        then = np.array(
            [curve.evaluate(min(later)) if curve else value for curve, value in zip(curves, values, strict=True)]
        )
        factor, turns = _running_on(mode, values, then, all(curve and _has_later(curve, last) for curve in curves))
        for i in indices:
            curve = curves[i]
            if curve is not None and _has_later(curve, last) and (factor < 0.0 or turns[i]):
                self._before.append((path, i, _kept(curve)))
                _change_later(curve, last, factor, turns[i])

    def _kept_outside(
        self, path: str, own: bpy.types.FCurve | None, keys: Keys, stood: float
    ) -> list[tuple[float, float]]:
        """Keys beside a span that a channel lacks, so that the bone's neighbouring poses stay what they are.

        These are the last key before the span and the first behind it, of any channel. Where each channel has but one
        key, which holds up to the span, the frame before the span counts as such.
        """
        first, last = keys.span
        curves = [curve for i in range(keys.values.shape[1]) if (curve := self._find(path, i)) is not None]
        found = [_frames(curve) for curve in curves]
        before = max((frame for frames in found for frame in frames if frame < first), default=None)
        after = min((frame for frames in found for frame in frames if frame > last), default=None)
        if before is not None and after is None and all(len(frames) == 1 for frames in found):
            before = max(before, ceil(first) - 1.0)
        mine = _frames(own) if own is not None else []
        wanted = [before] if before is not None and not any(before <= frame < first for frame in mine) else []
        wanted += [after] if after is not None and not any(last < frame <= after for frame in mine) else []
        return [(frame, own.evaluate(frame) if own is not None else stood) for frame in wanted]

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
        for path, index, kept in reversed(self._before):
            curve = self._find(path, index)
            if curve is None:
                continue
            if kept is None:
                remove_curve(self.owner, curve)
                self._curves = None
            else:
                _put_back(curve, kept)
        self._before.clear()
        self.flush()

    def _remembered(self, path: str, index: int) -> bpy.types.FCurve | None:
        """The curve of a channel, with what stands in it noted."""
        found = self._find(path, index)
        self._before.append((path, index, _kept(found) if found else None))
        return found

    def _find(self, path: str, index: int) -> bpy.types.FCurve | None:
        """The curve of a channel as it stood when the first one was asked for."""
        if self._curves is None:
            self._curves = {(curve.data_path, curve.array_index): curve for curve in fcurves_of(self.owner)}
        return self._curves.get((path, index))


def _frames(curve: bpy.types.FCurve) -> list[float]:
    return [float(frame) for frame in _got(curve.keyframe_points, "co")[:, 0]]


def _has_later(curve: bpy.types.FCurve, frame: float) -> bool:
    points = curve.keyframe_points
    return len(points) > 0 and points[-1].co[0] > frame


def _running_on(mode: str, values: Array, then: Array, is_whole: bool) -> tuple[float, Array]:
    """The sign and the added angles by which later channel values run on from others."""
    factor, turns = 1.0, np.zeros(len(values))
    part = {"QUATERNION": slice(0, 4), "AXIS_ANGLE": slice(1, 4)}.get(mode)
    if part is not None and is_whole and np.dot(values[part], then[part]) < 0.0:
        factor = -1.0
    angles = {"QUATERNION": slice(0, 0), "AXIS_ANGLE": slice(0, 1)}.get(mode, slice(0, 3))
    turns[angles] = 2.0 * np.pi * np.round((values[angles] - factor * then[angles]) / (2.0 * np.pi))
    return factor, turns


def _change_later(curve: bpy.types.FCurve, last: float, factor: float, added: float) -> None:
    """Multiply and move the values of the keys after a frame."""
    points = curve.keyframe_points
    later = _got(points, "co")[:, 0] > last
    for name in POINTS:
        found = _got(points, name)
        found[later, 1] = found[later, 1] * factor + added
        points.foreach_set(name, found.ravel())


def _add(curve: bpy.types.FCurve, points: Array, interpolation: str, slopes: Array | None) -> None:
    """Add keys, (F, 2), to those that a curve has."""
    stored: Any = curve.keyframe_points
    first = len(stored)
    stored.add(len(points))
    _fill(stored, "co", first, points)
    kinds = np.zeros(len(stored), dtype=np.uint8)
    if first:
        stored.foreach_get("interpolation", kinds)
    kinds[first:] = INTERPOLATION[interpolation]
    stored.foreach_set("interpolation", kinds)
    if slopes is not None:
        _add_handles(stored, first, points, slopes)
    curve.update()


def _add_handles(stored: Any, first: int, points: Array, slopes: Array) -> None:
    """Handles by which curves between keys are cubics with given slopes: a third of the way to the next key."""
    frames = points[:, 0]
    thirds = np.diff(frames) / 3.0
    before, after = np.concatenate((thirds[:1], thirds)), np.concatenate((thirds, thirds[-1:]))
    for name, way in (("handle_left", -before), ("handle_right", after)):
        _fill(stored, name, first, points + np.column_stack((way, way * slopes)))
    for i in range(first, len(stored)):
        for name in HANDLES:
            setattr(stored[i], name, "ALIGNED")


def _got(stored: Any, name: str) -> Array:
    """A pair of numbers of each key, (F, 2)."""
    found = np.empty(2 * len(stored), dtype=np.float32)
    stored.foreach_get(name, found)
    return found.reshape(-1, 2)


def _fill(stored: Any, name: str, first: int, values: Array) -> None:
    """Set a pair of numbers of all keys from one on."""
    whole = np.ascontiguousarray(values, dtype=np.float32)
    if first:
        whole = np.concatenate((_got(stored, name)[:first], whole))
    stored.foreach_set(name, whole.ravel())


def clear_keys(curve: bpy.types.FCurve, first: float, last: float) -> None:
    """Remove the keys in a range of frames."""
    points = curve.keyframe_points
    inside = [i for i, point in enumerate(points) if first - 1e-3 <= point.co[0] <= last + 1e-3]
    if len(inside) == len(points):
        points.clear()
        return
    for i in reversed(inside):
        points.remove(points[i], fast=True)


def _kept(curve: bpy.types.FCurve) -> dict[str, Any]:
    points = curve.keyframe_points
    kept: dict[str, Any] = {name: _got(points, name) for name in POINTS}
    for name in KEPT_TYPES:
        kept[name] = [getattr(point, name) for point in points]
    return kept


def _put_back(curve: bpy.types.FCurve, kept: dict[str, Any]) -> None:
    points = curve.keyframe_points
    points.clear()
    points.add(len(kept["co"]))
    for name in KEPT_TYPES:
        for point, value in zip(points, kept[name], strict=True):
            setattr(point, name, value)
    for name in POINTS:
        points.foreach_set(name, kept[name].ravel())
