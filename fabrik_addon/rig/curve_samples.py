# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of curves at many frames, read at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..maths import Doubles, Singles
from .compat import curves_of_action

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
