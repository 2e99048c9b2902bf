# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint limit as a bone's locks, limits and stiffness for Blender's own IK."""

from __future__ import annotations

from math import pi

import bpy

from ..kernel.limits import Cone, Free, Hinge, Limit, Locked, Planar
from ..kernel.limits.swing_twist import Twist

AXES = "xyz"
PARALLEL = 1e-3  # of a unit axis to one of the bone's, in each coordinate
FULL_TURN = 2.0 * pi - 1e-6  # radians from which a hinge is not limited
STIFFEST = 0.99  # as Blender allows

Range = tuple[float, float]


def write_ik_settings(bone: bpy.types.PoseBone, limit: Limit, stiffness: float) -> list[str]:
    """Set what Blender's IK can heed of a limit, in place of what was set.

    Args:
        bone: The original pose bone.
        limit: The limit that holds for it.
        stiffness: 0 to 1.

    Returns:
        What it can't heed.
    """
    free, ranges, lost = _meaning(limit)
    for i, axis in enumerate(AXES):
        setattr(bone, f"lock_ik_{axis}", i not in free)
        found = ranges.get(i)
        setattr(bone, f"use_ik_limit_{axis}", found is not None)
        if found is not None:
            low, high = max(found[0], -pi), min(found[1], pi)
            if (low, high) != found and max(abs(found[0]), abs(found[1])) < FULL_TURN:
                lost.append(f"the part of its range of {axis.upper()} beyond 180°")
            setattr(bone, f"ik_min_{axis}", min(low, 0.0))
            setattr(bone, f"ik_max_{axis}", max(high, 0.0))
            if low > 0.0 or high < 0.0:
                lost.append(f"a range of {axis.upper()} without the rest pose in it")
        setattr(bone, f"ik_stiffness_{axis}", min(stiffness, STIFFEST))
    return lost


def _meaning(limit: Limit) -> tuple[set[int], dict[int, Range], list[str]]:
    """The free axes, the ranges of those that are limited, and what is lost."""
    if isinstance(limit, Free):
        return {0, 1, 2}, {}, []
    if isinstance(limit, Locked):
        return set(), {}, []
    if isinstance(limit, Hinge | Planar):
        return _about_axis(limit)
    if isinstance(limit, Cone):
        ranges = {0: (-limit.x_low, limit.x_high), 2: (-limit.z_low, limit.z_high)}
        lost = ["the least angle of its cone"] if limit.inner > 0.0 else []
        return {0, 1, 2}, ranges | _twist_range(limit.twist), lost
    return {0, 1, 2}, {}, [f"a limit of the type {type(limit).__name__}"]


def _about_axis(limit: Hinge | Planar) -> tuple[set[int], dict[int, Range], list[str]]:
    index = max(range(3), key=lambda i: abs(limit.axis[i]))
    if any(abs(limit.axis[i]) > PARALLEL for i in range(3) if i != index):
        return {0, 1, 2}, {}, ["a limit about an axis that is none of the bone's"]
    low, high = limit.angle_min, limit.angle_max
    own = (low, high) if limit.axis[index] > 0.0 else (-high, -low)
    if isinstance(limit, Hinge):
        return {index}, {index: own}, []
    return {index, 1}, {index: own} | _twist_range(limit.twist), []


def _twist_range(twist: Twist | None) -> dict[int, Range]:
    return {} if twist is None else {1: (twist.low, twist.high)}
