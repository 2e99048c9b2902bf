# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor under a bake: targets' curves read and bones' keys written by the quickest means, nothing solved."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from fabrik_addon.rig.compat import curves_of_action, ensure_curve, fcurves_of
from numpy.typing import NDArray

from .rigs import Rig

LINEAR = 1  # as Blender numbers it


@dataclass(frozen=True, slots=True)
class KeyedCurve:
    """One curve with its keys.

    Attributes:
        points: Frames and values in turn.
        kinds: Interpolation of each key.
    """

    path: str
    index: int
    group: str
    points: NDArray[np.float32]
    kinds: NDArray[np.uint8]


def keyed_curves(rig: Rig) -> list[KeyedCurve]:
    """All curves of a rig that was baked."""
    found = []
    for curve in fcurves_of(rig.owner):
        stored: Any = curve.keyframe_points
        points = np.empty(2 * len(stored), dtype=np.float32)
        stored.foreach_get("co", points)
        group = curve.group.name if curve.group is not None else ""
        kinds = np.full(len(stored), LINEAR, dtype=np.uint8)
        found.append(KeyedCurve(curve.data_path, curve.array_index, group, points, kinds))
    return found


def seconds(rig: Rig, curves: list[KeyedCurve], frames: int) -> float:
    """Read the curves of all targets and write keys that were found before; the rig has none."""
    started = time.perf_counter()
    for target in rig.targets:
        read(target, frames)
    write(rig, curves)
    return time.perf_counter() - started


def read(target: bpy.types.Object, frames: int) -> NDArray[np.float32]:
    """The places of a target at all frames, (3, frames), sampled from a copy of its action."""
    copy = target.animation_data.action.copy()
    places = np.empty((3, frames), dtype=np.float32)
    for curve in curves_of_action(copy):
        sampled: Any = curve
        sampled.convert_to_samples(1, frames + 1)  # up to the frame before that one
        pairs = np.empty(2 * len(sampled.sampled_points), dtype=np.float32)
        sampled.sampled_points.foreach_get("co", pairs)
        places[curve.array_index] = pairs[1 : 2 * frames : 2]
    bpy.data.actions.remove(copy)
    return places


def write(rig: Rig, curves: list[KeyedCurve]) -> None:
    """Make the curves, and their keys in bulk."""
    data = rig.owner.animation_data_create()
    data.action = bpy.data.actions.new("floor")
    for keyed in curves:
        curve: Any = ensure_curve(rig.owner, keyed.path, keyed.index, keyed.group)
        points = curve.keyframe_points
        points.add(len(keyed.kinds))
        points.foreach_set("co", keyed.points)
        points.foreach_set("interpolation", keyed.kinds)
        curve.update()
    data.action = data.action
    rig.owner.update_tag(refresh={"TIME"})
