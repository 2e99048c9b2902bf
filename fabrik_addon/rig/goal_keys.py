# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of goals that are objects: where they stand and how they are turned in the world."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..maths import Q4, V3
from .compat import fcurves_of

CHANNELS = ("location", "rotation_quaternion")


def key_goal(goal: bpy.types.Object, poses: Sequence[tuple[int, tuple[V3, Q4]]]) -> None:
    """Key an object that stands where its own channels put it, straight from key to key.

    Args:
        goal: The object; it has no keys yet.
        poses: Frames, each with place and rotation in the world.
    """
    goal.rotation_mode = "QUATERNION"
    for frame, values in poses:
        for name, value in zip(CHANNELS, values, strict=True):
            setattr(goal, name, value)
            goal.keyframe_insert(name, frame=frame)
    for curve in fcurves_of(goal):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
