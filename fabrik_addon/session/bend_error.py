# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the bend of a chain is off its pole."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2

from ..rig.asked import Asked
from ..rig.rotations import V3, cross, dot, length, minus, perpendicular, rotated, turn_about, unit

NO_SIDE = 1e-6  # share of the length: a joint or a pole nearer to the line from root to effector tells no side


def bend_error(one: Asked, pole: Sequence[float], heads: Sequence[V3], ends: Sequence[V3]) -> float:
    """The angle in radians between the bend of a chain and where its pole wants it; 0 where one tells no side.

    The bend is on the side of the inner joint that stands farthest off the line from root to effector.

    Args:
        one: The chain, with a pole.
        pole: Where the pole is, in chain space.
        heads: Of the figure's bones, in chain space.
        ends: The same of their ends.
    """
    root, last = heads[one.joints[0]], one.joints[-1]
    line = minus(heads[last] if one.at_head else ends[last], root)
    along, size = unit(line), length(line)
    inner = one.joints[1:-1] if one.at_head else one.joints[1:]
    sides = [perpendicular(minus(heads[i], root), along) for i in inner]
    side = max(sides, key=length, default=(0.0, 0.0, 0.0))
    wanted = rotated(turn_about(along, one.pole_angle), perpendicular(minus(pole, root), along))
    if length(side) <= NO_SIDE * size or length(wanted) <= NO_SIDE * size:
        return 0.0
    return abs(atan2(dot(along, cross(wanted, side)), dot(wanted, side)))
