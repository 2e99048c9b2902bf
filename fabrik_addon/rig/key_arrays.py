# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of one curve as arrays: read, written and put back in bulk, with all that Blender keeps of a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import bpy
import numpy as np

from ..maths import Bytes, Doubles, Mask, Singles

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
