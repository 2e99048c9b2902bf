# SPDX-License-Identifier: GPL-3.0-or-later
"""Every direction, and a range of twist: what a free joint becomes when its twist is limited."""

from __future__ import annotations

from math import sqrt
from typing import Any

from .. import cython
from ..forms import Q4, V3
from ..vectors import unit
from .base import Limit
from .swing_twist import SwingTwist, Twist, mirrored_twist, twist_settings

SIDEWAYS = cython.declare(cython.double, 0.4)  # standard deviation of the directions that are drawn, per bone length
MEDIAN_SLOPE = cython.declare(cython.double, 1.2533141373155)  # of the inverse of the normal distribution: sqrt(pi / 2)
TAIL = cython.declare(cython.double, 0.999)  # less than 1, so that the ends stay finite


@cython.cfunc
@cython.exceptval(check=False)
def bell_shaped(u: cython.double) -> cython.double:
    """Approximate inverse of the normal distribution (up to 7), for drawing directions by a number in [0, 1)."""
    side: cython.double = 2.0 * u - 1.0
    return MEDIAN_SLOPE * side / sqrt(sqrt(1.0 - TAIL * side * side))


@cython.cclass
class Twisting(SwingTwist):
    """The bone points in any direction and twists within a range.

    Attributes:
        twist: Range of twist.
    """

    def __init__(self, twist: Twist | None = None) -> None:
        SwingTwist.__init__(self, twist)

    def parts(self) -> tuple[Any, ...]:
        return (self.twist,)

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw_direction(self, u: cython.double, v: cython.double) -> V3:
        return unit((SIDEWAYS * bell_shaped(u), 1.0, SIDEWAYS * bell_shaped(v)))

    def settings(self) -> dict[str, Any]:
        return {"limit": "FREE", **twist_settings(self.twist)}

    def mirrored(self, turn: Q4) -> Limit | None:
        return Twisting(mirrored_twist(self.twist))
