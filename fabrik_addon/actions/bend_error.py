# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the bend of a chain is off its pole."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2

from ..maths import ORIGIN, V3, cross, dot, length, minus, perpendicular, rotated, turn_about, unit
from ..rig.figure.chain_goals import Asked

NO_SIDE = 1e-6  # share of the length: a joint or a pole nearer to the line from root to effector tells no side


def bend_error(one: Asked, pole: Sequence[float], heads: Sequence[V3], ends: Sequence[V3]) -> float:
    """The angle in radians between the bend of a chain and where its pole wants it; 0 where one tells no side.

    Args:
        one: The chain, with a pole.
        pole: Where the pole is, in chain space.
        heads: Of the figure's bones, in chain space.
        ends: The same of their ends.
    """
    side, root, line = bend_side(one, heads, ends), heads[one.joints[0]], _line(one, heads, ends)
    along = unit(line)
    wanted = rotated(turn_about(along, one.pole_angle), perpendicular(minus(pole, root), along))
    if side is None or length(wanted) <= NO_SIDE * length(line):
        return 0.0
    return abs(atan2(dot(along, cross(wanted, side)), dot(wanted, side)))


def bend_side(one: Asked, heads: Sequence[V3], ends: Sequence[V3]) -> V3 | None:
    """The way from the line from root to effector to the inner joint that stands farthest off it; None where none does.

    Args:
        one: The chain.
        heads: Of the figure's bones, in chain space.
        ends: The same of their ends.
    """
    root, line = heads[one.joints[0]], _line(one, heads, ends)
    inner = one.joints[1:-1] if one.at_head else one.joints[1:]
    sides = [perpendicular(minus(heads[i], root), unit(line)) for i in inner]
    side = max(sides, key=length, default=ORIGIN)
    return side if length(side) > NO_SIDE * length(line) else None


def _line(one: Asked, heads: Sequence[V3], ends: Sequence[V3]) -> V3:
    """From the root of a chain to its effector."""
    last = one.joints[-1]
    return minus(heads[last] if one.at_head else ends[last], heads[one.joints[0]])
