# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone's own settings for Blender's IK, read as Blender's solver reads them: a limit of another type comes out."""

from __future__ import annotations

from typing import Any

from ..forms import Q4
from ..vectors import PI
from .base import Limit, LimitType
from .cone import Cone
from .free import FREE
from .hinge import Hinge
from .ik_meaning import IkRange
from .locked import Locked
from .planar import Planar
from .ranges import check_range
from .swing_twist import Twist

BONES_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FULL_TURN = (-PI, PI)


def make_bone_ik(settings: Any, start: Q4) -> Limit:
    """The limit that the number of free axes means to Blender.

    None is locked, one a hinge about it, X and Z a swing without twist, one of them with Y a hinge that twists, and all
    three a ball joint whose swing is an ellipse.

    Args:
        settings: Has `ik_locks`, three booleans, and `ik_ranges`, three pairs in radians, or None where the axis is
            not limited.
        start: The joint's rotation in the start pose, which a locked bone keeps.
    """
    free = [i for i in range(3) if not settings.ik_locks[i]]
    ranges = [_ik_ends("XYZ"[i], settings.ik_ranges[i]) for i in range(3)]
    twist = None if settings.ik_ranges[1] is None else Twist(*ranges[1])
    if not free:
        return Locked(start)
    if len(free) == 1:
        return Hinge(BONES_AXES[free[0]], *ranges[free[0]])
    if 1 not in free:  # Blender's swing joint heeds the limits of X and Z together or not at all
        both = settings.ik_ranges[0] is not None and settings.ik_ranges[2] is not None
        return _ball_joint(ranges if both else [FULL_TURN] * 3, Twist(0.0, 0.0))
    if len(free) == 2:
        swings = 0 if 0 in free else 2
        return Planar(BONES_AXES[swings], *ranges[swings], twist)
    return _ball_joint(ranges, twist) if any(settings.ik_ranges) else FREE


def _ik_ends(axis: str, found: IkRange | None) -> IkRange:
    if found is None:
        return FULL_TURN
    return check_range("IK limit of X" if axis == "X" else "IK limit of Y" if axis == "Y" else "IK limit of Z", *found)


def _ball_joint(ranges: list[IkRange], twist: Twist | None) -> Limit:
    x, z = ranges[0], ranges[2]
    return Cone(0.0, max(-x[0], 0.0), max(x[1], 0.0), max(-z[0], 0.0), max(z[1], 0.0), twist)


BONE_IK_TYPE = LimitType(
    "BONE_IK",
    5,
    "Bone's IK Limits",
    "Uses the bone's own IK locks and limits, interpreted as Blender does",
    make_bone_ik,
    stiffens=False,
    is_of_blender=True,
)
