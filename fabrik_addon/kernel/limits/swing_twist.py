# SPDX-License-Identifier: GPL-3.0-or-later
"""Every direction, and a range of twist: what a free joint becomes when its twist is limited."""

from __future__ import annotations

from math import atan2, sqrt
from typing import Any, NamedTuple

from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    PI,
    X_AXIS,
    Y_AXIS,
    apart,
    clipped,
    conjugated,
    cross,
    dot,
    from_to,
    larger,
    length,
    minus,
    multiplied,
    normalized,
    rotated,
    scaled,
    turn_about,
    unit,
)
from .base import AT_END, Limit, checked_range, finite_numbers, unwrapped

TWIST = Message("TWIST")
BACKWARDS = cython.declare(cython.double, 1e-18)  # square of half the angle from -Y, below which every swing would do
SQUARE_UP = cython.declare(cython.double, -0.9)  # y above which the swing is read from the direction at once
LEAST_SHARE = cython.declare(cython.double, 1e-6)  # divisors are no less: next to -Y a twist means nothing
BETWEEN_WALLS = cython.declare(cython.int, 16)  # times that a turn goes to and fro between two walls
HEEDED = cython.declare(cython.double, 1e-12)  # share of a turn that rounding may leave going against a wall


class Twist(NamedTuple):
    """A range of twist in radians, right-handed about the bone.

    Attributes:
        low: Least twist.
        high: Greatest twist, not below `low`.
    """

    low: float
    high: float


@cython.cfunc
@cython.exceptval(check=False)
def held_back(direction: V3, turn: V3, first: V3, second: V3) -> V3:
    """The turn nearest to one that goes against neither of two walls.

    Args:
        direction: Where the bone points.
        turn: A rotation vector.
        first: Unit axis at right angles to the direction, a turn about which goes into the wall; zero for no wall.
        second: The same for the second wall.
    """
    slack: cython.double = HEEDED * length(turn)
    left: V3 = minus(turn, scaled(first, larger(dot(turn, first), 0.0)))
    if dot(left, second) <= slack:
        return left
    left = minus(turn, scaled(second, larger(dot(turn, second), 0.0)))
    if dot(left, first) <= slack:
        return left
    return scaled(direction, dot(turn, direction))


@cython.cclass
class SwingTwist(Limit):
    """A limit on the direction of the bone, and perhaps on its twist.

    Attributes:
        is_twist_limited: Whether the twist has a range.
        twist_low: Least twist; -pi without a range.
        twist_high: Greatest twist; pi without a range.
        twist: The range of twist, or None.
    """

    is_twist_limited = cython.declare(cython.bint, visibility="readonly")
    twist_low = cython.declare(cython.double, visibility="readonly")
    twist_high = cython.declare(cython.double, visibility="readonly")

    def __init__(self, twist: Twist | None = None) -> None:
        Limit.__init__(self)
        self.is_twist_limited = twist is not None
        low, high = (-PI, PI) if twist is None else finite_numbers(TWIST, twist, 2)
        self.twist_low, self.twist_high = checked_range(TWIST, low, high)

    @property
    def twist(self) -> Twist | None:
        return Twist(self.twist_low, self.twist_high) if self.is_twist_limited else None

    @cython.cfunc
    @cython.exceptval(check=False)
    def pull(self, direction: V3) -> V3:
        """The allowed direction (unit, rest frame) nearest to a unit direction; an allowed one comes back as it is."""
        return direction

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow_swing(self, direction: V3, turn: V3) -> V3:
        """The part of a turn that the range of the direction lets through at an allowed direction."""
        return turn

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw_direction(self, u: cython.double, v: cython.double) -> V3:
        """The allowed direction that two numbers in [0, 1) choose."""
        return Y_AXIS

    @cython.cfunc
    @cython.exceptval(check=False)
    def swing(self, direction: V3) -> Q4:
        """The rotation without twist that turns Y to a unit direction."""
        if direction[1] > SQUARE_UP:
            return normalized((1.0 + direction[1], direction[2], 0.0, -direction[0]))
        return from_to(Y_AXIS, direction, X_AXIS)

    @cython.cfunc
    @cython.exceptval(check=False)
    def measure_twist(self, rotation: Q4) -> cython.double:
        """The twist of a rotation, within half a turn of the middle of its range."""
        w: cython.double = rotation[0]
        y: cython.double = rotation[2]
        if w * w + y * y <= BACKWARDS:
            rest: Q4 = multiplied(conjugated(self.swing(rotated(rotation, Y_AXIS))), rotation)
            w = rest[0]
            y = rest[2]
        return unwrapped(2.0 * atan2(y, w), self.twist_low, self.twist_high)

    @cython.cfunc
    @cython.exceptval(check=False)
    def clamp(self, rotation: Q4) -> Q4:
        direction: V3 = unit(rotated(rotation, Y_AXIS))
        near: V3 = self.pull(direction)
        holds: cython.bint = apart(near, direction) < AT_END
        if self.is_twist_limited:
            twist: cython.double = self.measure_twist(rotation)
            if holds and self.twist_low - AT_END <= twist <= self.twist_high + AT_END:
                return rotation
            about: Q4 = turn_about(Y_AXIS, clipped(twist, self.twist_low, self.twist_high))
            return normalized(multiplied(self.swing(near), about))
        if holds:
            return rotation
        turn: Q4 = from_to(direction, near, rotated(self.swing(near), X_AXIS))
        return normalized(multiplied(turn, rotation))

    @cython.cfunc
    @cython.exceptval(check=False)
    def twist_rate(self, direction: V3) -> V3:
        """The vector whose scalar product with a small turn is the change of the twist, at a direction.

        With the swing from Y straight to d it is (d + Y) / (1 + d.Y): a turn of a bone that is swung far out twists it
        by more than its part along the bone.
        """
        share: cython.double = 1.0 / larger(1.0 + direction[1], LEAST_SHARE)
        return scaled((direction[0], direction[1] + 1.0, direction[2]), share)

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        direction: V3 = unit(rotated(rotation, Y_AXIS))
        left: V3 = self.allow_swing(direction, turn)
        if not self.is_twist_limited:
            return left
        angle: cython.double = self.measure_twist(rotation)
        wall: V3 = unit(self.twist_rate(direction))
        at_low: cython.bint = angle <= self.twist_low + AT_END
        at_high: cython.bint = angle >= self.twist_high - AT_END
        if at_low and at_high:
            return self.allow_both(direction, minus(turn, scaled(wall, dot(turn, wall))), wall, True)
        if at_low:
            wall = scaled(wall, -1.0)
        if (not at_low and not at_high) or dot(left, wall) <= 0.0:
            return left
        return self.allow_both(direction, minus(turn, scaled(wall, larger(dot(turn, wall), 0.0))), wall, False)

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow_both(self, direction: V3, turn: V3, wall: V3, either_way: cython.bint) -> V3:
        """The part of a turn that both the range of the direction and that of the twist let through.

        Args:
            direction: Where the bone points.
            turn: Does not go into the wall of the twist.
            wall: Unit axis of the turn into the end of the twist's range.
            either_way: Whether the twist has no room to the other side either.
        """
        slack: cython.double = HEEDED * length(turn)
        left: V3 = self.allow_swing(direction, turn)
        for step in range(BETWEEN_WALLS):
            into: cython.double = dot(left, wall)
            if into <= slack and (not either_way or into >= -slack):
                return left
            edge: V3 = cross(unit(minus(turn, left)), wall)  # along both walls
            size: cython.double = dot(edge, edge)
            if step == 0 and size > 0.0:
                along: V3 = scaled(edge, dot(turn, edge) / size)
                if apart(self.allow_swing(direction, along), along) <= slack:
                    return along
            left = self.allow_swing(direction, minus(left, scaled(wall, into)))
        return minus(left, scaled(wall, dot(left, wall)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        twist: cython.double = self.twist_low + (self.twist_high - self.twist_low) * w
        if not self.is_twist_limited:  # every twist, and seldom a large one
            side: cython.double = 2.0 * w - 1.0
            twist = PI * side * side * side
        return normalized(multiplied(self.swing(self.draw_direction(u, v)), turn_about(Y_AXIS, twist)))

    def nearest(self, direction: V3) -> V3:
        """See `pull`."""
        return self.pull(direction)

    def twist_angle(self, rotation: Q4) -> float:
        """See `measure_twist`."""
        return self.measure_twist(rotation)


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

    def parts(self) -> tuple[Any, ...]:
        return (self.twist,)

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw_direction(self, u: cython.double, v: cython.double) -> V3:
        return unit((SIDEWAYS * bell_shaped(u), 1.0, SIDEWAYS * bell_shaped(v)))
