# SPDX-License-Identifier: GPL-3.0-or-later
"""What limits share that leave a joint a surface of rotations, on which it goes every way: those of locked channels."""

from __future__ import annotations

from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    ORIGIN,
    X_AXIS,
    from_rotation_vector,
    from_to,
    multiplied,
    normalized,
    rotated,
)
from .base import Limit, kept_if_near

AIMS = cython.declare(cython.int, 12)  # times that a joint is aimed and brought back


@cython.cclass
class Surface(Limit):
    """Rotations that lie on a surface; a type answers `nearest`, `allow`, `draw` and `parts`, and the rest follows."""

    def __init__(self) -> None:
        self.dofs = 3
        self.axis = ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def nearest(self, rotation: Q4) -> Q4:
        """The rotation of the surface that is nearest to one."""
        return rotation

    @cython.cfunc
    @cython.exceptval(check=False)
    def clamp(self, rotation: Q4) -> Q4:
        return kept_if_near(rotation, self.nearest(rotation))

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, rotation: Q4, segment: V3, direction: V3) -> Q4:
        """Aimed freely and brought back to the surface, again and again: each time it points no farther off."""
        again: cython.int
        for again in range(AIMS):
            turn: Q4 = from_to(rotated(rotation, segment), direction, rotated(rotation, X_AXIS))
            rotation = self.clamp(normalized(multiplied(turn, rotation)))
        return rotation

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn(self, rotation: Q4, turn: V3) -> Q4:
        way: Q4 = from_rotation_vector(self.allow(rotation, turn))
        return self.clamp(normalized(multiplied(way, rotation)))
