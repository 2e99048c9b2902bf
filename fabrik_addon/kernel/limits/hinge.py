# SPDX-License-Identifier: GPL-3.0-or-later
"""A hinge: one axis, an angle between two ends."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, floor
from typing import Any, SupportsFloat

from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    IDENTITY,
    ORIGIN,
    PI,
    TAU,
    UNDEFINED,
    X_AXIS,
    angle_about,
    clipped,
    conjugated,
    dot,
    magnitude,
    multiplied,
    rotated,
    scaled,
    turn_about,
)
from .base import (
    AT_END,
    Limit,
    checked_axis,
    checked_range,
    kept_if_near,
    limit_rotation,
    towards_room,
    turned_towards,
    unwrapped,
)

HINGE = Message("HINGE")
# radians by which a direction behind the joint may be nearer to one end, and rounding still decides
EITHER_END = cython.declare(cython.double, 1e-3)


@cython.cclass
class Hinge(Limit):
    """The joint turns about one axis.

    Attributes:
        axis: Unit vector in the rest frame of the bone.
        angle_min: Least angle in radians, right-handed about the axis.
        angle_max: Greatest angle in radians, not below `angle_min`.
        zero: The joint's rotation at angle 0; the identity unless other channels hold the joint elsewhere.
    """

    angle_min = cython.declare(cython.double, visibility="readonly")
    angle_max = cython.declare(cython.double, visibility="readonly")
    zero = cython.declare(Q4, visibility="readonly")

    def __init__(
        self,
        axis: Sequence[float] = X_AXIS,
        angle_min: SupportsFloat = -PI,
        angle_max: SupportsFloat = PI,
        zero: Sequence[float] = IDENTITY,
    ) -> None:
        self.dofs = 1
        self.axis = checked_axis(HINGE, axis)
        self.angle_min, self.angle_max = checked_range(HINGE, angle_min, angle_max)
        self.zero = limit_rotation(HINGE, zero)

    def parts(self) -> tuple[Any, ...]:
        return (self.axis, self.angle_min, self.angle_max, self.zero)

    @cython.cfunc
    @cython.exceptval(check=False)
    def at(self, angle: cython.double) -> Q4:
        """The joint's rotation at `angle`, which is clamped to the range."""
        return multiplied(turn_about(self.axis, clipped(angle, self.angle_min, self.angle_max)), self.zero)

    @cython.cfunc
    @cython.exceptval(check=False)
    def measure(self, rotation: Q4) -> cython.double:
        """The angle of `rotation` about the axis (its twist), within half a turn of the middle of the range."""
        turn: Q4 = multiplied(rotation, conjugated(self.zero))
        angle: cython.double = 2.0 * atan2(dot(self.axis, (turn[1], turn[2], turn[3])), turn[0])
        return unwrapped(angle, self.angle_min, self.angle_max)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _nearest_angle(self, angle: cython.double, current: cython.double) -> cython.double:
        """Of the angles that mean the same direction, the one in the range, or the end that is nearest to it."""
        here: cython.double = clipped(current, self.angle_min, self.angle_max)
        found: cython.double = angle - TAU * floor(0.5 + (angle - here) / TAU)
        if found > self.angle_max:
            found -= TAU
        elif found < self.angle_min:
            found += TAU
        if self.angle_min <= found <= self.angle_max:
            return found
        to_low: cython.double = magnitude(turned_towards(angle, self.angle_min) - self.angle_min)
        to_high: cython.double = magnitude(turned_towards(angle, self.angle_max) - self.angle_max)
        if magnitude(to_low - to_high) > EITHER_END:
            return self.angle_min if to_low < to_high else self.angle_max
        middle: cython.double = 0.5 * (self.angle_min + self.angle_max)
        return self.angle_min if current < middle - EITHER_END else self.angle_max

    @cython.cfunc
    @cython.exceptval(check=False)
    def clamp(self, rotation: Q4) -> Q4:
        return kept_if_near(rotation, self.at(self.measure(rotation)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, rotation: Q4, segment: V3, direction: V3) -> Q4:
        current: cython.double = self.measure(rotation)
        angle: cython.double = angle_about(self.axis, rotated(self.zero, segment), direction)
        return self.at(current if angle >= UNDEFINED else self._nearest_angle(angle, current))

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        step: cython.double = dot(turn, self.axis)
        angle: cython.double = self.measure(rotation)
        if step > 0.0 and angle >= self.angle_max - AT_END:
            return ORIGIN
        if step < 0.0 and angle <= self.angle_min + AT_END:
            return ORIGIN
        return scaled(self.axis, step)

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn(self, rotation: Q4, turn: V3) -> Q4:
        return self.at(self.measure(rotation) + dot(turn, self.axis))

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        return self.at(self.angle_min + (self.angle_max - self.angle_min) * u)

    @cython.cfunc
    @cython.exceptval(check=False)
    def prefer(self, rotation: Q4) -> V3:
        return towards_room(self.axis, self.angle_min, self.angle_max, self.measure(rotation))

    @cython.cfunc
    @cython.exceptval(check=False)
    def blend(self, start: Q4, end: Q4, factor: cython.double) -> Q4:
        first: cython.double = self.measure(start)
        return self.at(first + (self.measure(end) - first) * factor)

    def rotation_at(self, angle: float) -> Q4:
        """See `at`."""
        return self.at(angle)
