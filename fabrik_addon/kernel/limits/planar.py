# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone's direction turns about one axis, as in a 2D chain; the bone may twist."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2
from typing import Any, SupportsFloat

from ...errors import InvalidValueError
from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    PI,
    UNDEFINED,
    X_AXIS,
    Y_AXIS,
    angle_about,
    apart,
    clipped,
    conjugated,
    cross,
    dot,
    larger,
    minus,
    multiplied,
    perpendicular,
    rotated,
    scaled,
    turn_about,
    unit,
)
from .base import AT_END, checked_axis, checked_range, towards_room, unwrapped
from .swing_twist import LEAST_SHARE, SwingTwist, Twist

PLANAR_LIMIT = Message("PLANAR_LIMIT")
ALONG_THE_REST = 0.999  # cosine between axis and bone, above which the bone turns to no side


@cython.cclass
class Planar(SwingTwist):
    """The bone's direction stays where turning about the axis takes its rest direction.

    Attributes:
        axis: Unit vector in the rest frame of the bone, not along it.
        angle_min: Least angle about the axis, in radians.
        angle_max: Greatest angle.
        twist: Range of twist, or None.
    """

    angle_min = cython.declare(cython.double, visibility="readonly")
    angle_max = cython.declare(cython.double, visibility="readonly")

    def __init__(
        self,
        axis: Sequence[float] = X_AXIS,
        angle_min: SupportsFloat = -PI,
        angle_max: SupportsFloat = PI,
        twist: Twist | None = None,
    ) -> None:
        SwingTwist.__init__(self, twist)
        unit_axis = checked_axis(PLANAR_LIMIT, axis)
        if abs(unit_axis[1]) > ALONG_THE_REST:
            raise InvalidValueError(Message("PLANAR_AXIS_ALONG_BONE"))
        self.axis = unit_axis
        self.angle_min, self.angle_max = checked_range(PLANAR_LIMIT, angle_min, angle_max)

    def parts(self) -> tuple[Any, ...]:
        return (self.axis, self.angle_min, self.angle_max, self.twist)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _angle(self, direction: V3) -> cython.double:
        """Angle about the axis from the rest direction to a direction."""
        angle: cython.double = angle_about(self.axis, Y_AXIS, direction)
        return unwrapped(0.0 if angle >= UNDEFINED else angle, self.angle_min, self.angle_max)

    @cython.cfunc
    @cython.exceptval(check=False)
    def swing(self, direction: V3) -> Q4:
        return turn_about(self.axis, self._angle(direction))

    @cython.cfunc
    @cython.exceptval(check=False)
    def measure_twist(self, rotation: Q4) -> cython.double:
        rest: Q4 = multiplied(conjugated(self.swing(rotated(rotation, Y_AXIS))), rotation)
        return unwrapped(2.0 * atan2(rest[2], rest[0]), self.twist_low, self.twist_high)

    @cython.cfunc
    @cython.exceptval(check=False)
    def pull(self, direction: V3) -> V3:
        angle: cython.double = clipped(self._angle(direction), self.angle_min, self.angle_max)
        near: V3 = rotated(turn_about(self.axis, angle), Y_AXIS)
        return direction if apart(near, direction) < AT_END else near

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow_swing(self, direction: V3, turn: V3) -> V3:
        along: V3 = unit(cross(self.axis, direction))
        left: V3 = minus(turn, scaled(along, dot(turn, along)))
        about: V3 = cross(direction, along)
        step: cython.double = dot(left, about)
        angle: cython.double = self._angle(direction)
        if (step > 0.0 and angle >= self.angle_max - AT_END) or (step < 0.0 and angle <= self.angle_min + AT_END):
            return minus(left, scaled(about, step))
        return left

    @cython.cfunc
    @cython.exceptval(check=False)
    def twist_rate(self, direction: V3) -> V3:
        """A turn is one about the axis and one about the bone, and the second is the twist."""
        across: V3 = perpendicular(direction, self.axis)
        return scaled(across, 1.0 / larger(dot(across, across), LEAST_SHARE))

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw_direction(self, u: cython.double, v: cython.double) -> V3:
        return rotated(turn_about(self.axis, self.angle_min + (self.angle_max - self.angle_min) * u), Y_AXIS)

    @cython.cfunc
    @cython.exceptval(check=False)
    def prefer(self, rotation: Q4) -> V3:
        return towards_room(self.axis, self.angle_min, self.angle_max, self._angle(rotated(rotation, Y_AXIS)))
