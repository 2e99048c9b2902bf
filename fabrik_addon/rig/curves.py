# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys in bulk: all frames of a channel at once, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..kernel.arrays import Array
from .compat import ensure_curve, fcurves_of, remove_curve

INTERPOLATION = {"LINEAR": 1, "BEZIER": 2}  # as Blender numbers them
KEPT = ("co", "handle_left", "handle_right")
KEPT_TYPES = ("interpolation", "handle_left_type", "handle_right_type", "easing")
CONSTANT = 1e-6  # change of a channel that is none: radians, or parts of a quaternion


@dataclass(slots=True)
class ChannelKeys:
    """The values of one channel over frames.

    Attributes:
        path: Data path from the object.
        index: Of the channel.
        group: Name of the bone, under which the curve is listed.
        values: (F,), a value for each frame.
    """

    path: str
    index: int
    group: str
    values: Array

    @property
    def is_constant(self) -> bool:
        return bool(np.ptp(self.values) <= CONSTANT)


class CurveWriter:
    """Writes channels into the action of an object, and can put back what stood there."""

    def __init__(self, owner: bpy.types.Object) -> None:
        self.owner = owner
        self.keys = 0
        self._curves: dict[tuple[str, int], bpy.types.FCurve] | None = None
        self._before: list[tuple[str, int, dict[str, Any] | None]] = []

    def write(self, channel: ChannelKeys, frames: Array, interpolation: str) -> None:
        """Replace the keys from the first frame to the last by one for each frame, or by one where nothing changes."""
        found = self._find(channel.path, channel.index)
        self._before.append((channel.path, channel.index, _kept(found) if found else None))
        curve = found or ensure_curve(self.owner, channel.path, channel.index, channel.group)
        _clear(curve, float(frames[0]), float(frames[-1]))
        points = curve.keyframe_points
        first = len(points)
        alone = channel.is_constant and first == 0  # beside other keys one would not hold the value over the range
        times, values = (frames[:1], channel.values[:1]) if alone else (frames, channel.values)
        points.add(len(times))
        if first == 0:
            points.foreach_set("co", np.column_stack((times, values)).astype(np.float32).ravel())
            kinds = np.full(len(times), INTERPOLATION[interpolation], dtype=np.uint8)
            points.foreach_set("interpolation", kinds)
        else:
            for i, (time, value) in enumerate(zip(times, values, strict=True)):
                point: Any = points[first + i]
                point.co, point.interpolation = (float(time), float(value)), interpolation
        curve.update()
        self.keys += len(times)

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

    def _find(self, path: str, index: int) -> bpy.types.FCurve | None:
        """The curve of a channel as it stood when the first one was asked for."""
        if self._curves is None:
            self._curves = {(curve.data_path, curve.array_index): curve for curve in fcurves_of(self.owner)}
        return self._curves.get((path, index))


def _clear(curve: bpy.types.FCurve, first: float, last: float) -> None:
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
    kept: dict[str, Any] = {}
    for name in KEPT:
        kept[name] = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get(name, kept[name])
    for name in KEPT_TYPES:
        kept[name] = [getattr(point, name) for point in points]
    return kept


def _put_back(curve: bpy.types.FCurve, kept: dict[str, Any]) -> None:
    points = curve.keyframe_points
    points.clear()
    points.add(len(kept["co"]) // 2)
    for name in KEPT_TYPES:
        for point, value in zip(points, kept[name], strict=True):
            setattr(point, name, value)
    for name in KEPT:
        points.foreach_set(name, kept[name])
    curve.update()
