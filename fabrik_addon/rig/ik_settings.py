# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint limit as a bone's locks, limits and stiffness for Blender's own IK."""

from __future__ import annotations

from math import pi

import bpy

from ..kernel import Limit
from ..messages import Message
from .limit_types import type_of

AXES = "xyz"
STIFFEST = 0.99  # as Blender allows
FULL_TURN = 2.0 * pi - 1e-6  # radians from which a hinge is not limited


def write_ik_settings(bone: bpy.types.PoseBone, limit: Limit, stiffness: float) -> list[str | Message]:
    """Set what Blender's IK can heed of a limit, in place of what was set.

    Args:
        bone: The original pose bone.
        limit: The limit that holds for it.
        stiffness: 0 to 1.

    Returns:
        What it can't heed.
    """
    free, ranges, parts = type_of(limit).ik_meaning(limit)
    lost: list[str | Message] = list(parts)
    for i, axis in enumerate(AXES):
        setattr(bone, f"lock_ik_{axis}", i not in free)
        found = ranges.get(i)
        setattr(bone, f"use_ik_limit_{axis}", found is not None)
        if found is not None:
            low, high = max(found[0], -pi), min(found[1], pi)
            if (low, high) != found and max(abs(found[0]), abs(found[1])) < FULL_TURN:
                lost.append(Message("RANGE_BEYOND_HALF_TURN", axis=axis.upper()))
            setattr(bone, f"ik_min_{axis}", min(low, 0.0))
            setattr(bone, f"ik_max_{axis}", max(high, 0.0))
            if low > 0.0 or high < 0.0:
                lost.append(Message("RANGE_WITHOUT_REST_POSE", axis=axis.upper()))
        setattr(bone, f"ik_stiffness_{axis}", min(stiffness, STIFFEST))
    return lost
