# SPDX-License-Identifier: GPL-3.0-or-later
"""One of the three numbers of the axis about which a joint is turned is locked away from zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, sqrt
from typing import Any, SupportsFloat

from ...errors import InvalidValueError
from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    PI,
    TAU,
    X_AXIS,
    any_perpendicular,
    cross,
    dot,
    length,
    minus,
    plus,
    rotated,
    scaled,
    turn_about,
    unit,
)
from .base import checked_axis, finite_numbers
from .surface import Surface

AXIS_LOCK = Message("AXIS_LOCK")
NO_TURN = cython.declare(cython.double, 1e-9)  # sine of half an angle, below which a rotation has no axis


@cython.cclass
class AxisLock(Surface):
    """The joint turns by any angle about the axes that have a part of a given size along one direction.

    Attributes:
        axis: That direction, a unit vector in the rest frame of the bone.
        share: The part of a unit axis along it, between -1 and 1 and not 0.
    """

    share = cython.declare(cython.double, visibility="readonly")
    beside: cython.double  # what is left of a unit axis

    def __init__(self, axis: Sequence[float], share: SupportsFloat) -> None:
        Surface.__init__(self)
        self.axis = checked_axis(AXIS_LOCK, axis)
        (self.share,) = finite_numbers(AXIS_LOCK, (share,), 1)
        if not 0.0 < abs(self.share) < 1.0:
            raise InvalidValueError(Message("AXIS_LOCK_LEAVES_NOTHING"))
        self.beside = sqrt(1.0 - self.share * self.share)

    def parts(self) -> tuple[Any, ...]:
        return (self.axis, self.share)

    @cython.cfunc
    @cython.exceptval(check=False)
    def axis_near(self, vector: V3) -> V3:
        """The unit axis that lies nearest to the line along a vector."""
        along: cython.double = dot(vector, self.axis)
        out: V3 = unit(any_perpendicular(self.axis, vector))
        sign: cython.double = 1.0 if along * self.share >= 0.0 else -1.0
        return plus(scaled(self.axis, self.share), scaled(out, sign * self.beside))

    @cython.cfunc
    @cython.exceptval(check=False)
    def nearest(self, rotation: Q4) -> Q4:
        vector: V3 = (rotation[1], rotation[2], rotation[3])
        axis: V3 = self.axis_near(vector)
        return turn_about(axis, 2.0 * atan2(dot(vector, axis), rotation[0]))

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        """Where the joint is not turned it may take any of the axes: that which is nearest to the turn."""
        vector: V3 = (rotation[1], rotation[2], rotation[3])
        sine: cython.double = length(vector)
        if sine < NO_TURN:
            nearest: V3 = self.axis_near(turn)
            return scaled(nearest, dot(turn, nearest))
        along: V3 = scaled(vector, 1.0 / sine)
        out: V3 = unit(cross(self.axis, along))
        normal: V3 = minus(scaled(cross(along, out), rotation[0]), scaled(out, sine))
        return minus(turn, scaled(normal, dot(turn, normal)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        out: V3 = rotated(turn_about(self.axis, TAU * v), any_perpendicular(self.axis, X_AXIS))
        axis: V3 = plus(scaled(self.axis, self.share), scaled(out, self.beside))
        return turn_about(axis, PI * (2.0 * u - 1.0))
