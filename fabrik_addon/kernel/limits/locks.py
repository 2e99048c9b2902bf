# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of locked channels: surfaces of rotations, on which a joint goes every way."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, atan2, floor, sqrt
from typing import Any, SupportsFloat

from ...errors import InvalidValueError
from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    IDENTITY,
    PI,
    TAU,
    UNDEFINED,
    X_AXIS,
    Z_AXIS,
    angle_about,
    any_perpendicular,
    clipped,
    conjugated,
    cross,
    dot,
    length,
    magnitude,
    minus,
    multiplied,
    normalized,
    perpendicular,
    plus,
    rotated,
    scaled,
    turn_about,
    unit,
)
from .base import (
    AT_END,
    Limit,
    checked_axis,
    finite_numbers,
    given_rotation,
    kept_if_near,
    limit_rotation,
    turned_towards,
)

AIMS = cython.declare(cython.int, 12)  # times that a joint is aimed and brought back


@cython.cclass
class Surface(Limit):
    """Rotations that lie on a surface; a type answers `nearest`, `allow`, `draw` and `parts`, and the rest follows."""

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
        for again in range(AIMS):
            rotation = Limit.aim(self, rotation, segment, direction)
        return rotation

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn(self, rotation: Q4, turn: V3) -> Q4:
        return Limit.turn(self, rotation, self.allow(rotation, turn))


UNIVERSAL = Message("UNIVERSAL_JOINT")
ONE_AXIS = 1.0 - 1e-10  # cosine between two axes from which on they are one


@cython.cclass
class Universal(Surface):
    """The joint turns about an inner axis, and then about an outer one that carries it; each turns all the way.

    A rotation is turn(outer, a) * turn(inner, b) * zero.

    Attributes:
        outer: Unit vector in the rest frame of the bone.
        inner: Unit vector there, where the outer angle is zero; not along the outer axis.
        zero: The joint's rotation with both angles zero.
    """

    outer = cython.declare(V3, visibility="readonly")
    inner = cython.declare(V3, visibility="readonly")
    zero = cython.declare(Q4, visibility="readonly")

    def __init__(
        self, outer: Sequence[float] = Z_AXIS, inner: Sequence[float] = X_AXIS, zero: Sequence[float] = IDENTITY
    ) -> None:
        Surface.__init__(self)
        self.outer, self.inner = checked_axis(UNIVERSAL, outer), checked_axis(UNIVERSAL, inner)
        self.zero = limit_rotation(UNIVERSAL, zero)
        if abs(dot(self.outer, self.inner)) > ONE_AXIS:
            raise InvalidValueError(Message("UNIVERSAL_AXES_ALIKE"))

    def parts(self) -> tuple[Any, ...]:
        return (self.outer, self.inner, self.zero)

    @cython.cfunc
    @cython.exceptval(check=False)
    def measure_both(self, rotation: Q4) -> V3:
        """The outer and the inner angle, and 0, of the rotation of the surface that is nearest to one.

        The scalar product of the two as quaternions has the form x A y, x and y the cosine and sine of half of each
        angle. It is greatest where their difference and their sum are those of the two vectors that A consists of.
        """
        m: Q4 = multiplied(rotation, conjugated(self.zero))
        axis: V3 = (m[1], m[2], m[3])
        along: cython.double = dot(axis, self.outer)
        across: cython.double = dot(axis, self.inner)
        both: cython.double = dot(axis, cross(self.outer, self.inner)) - m[0] * dot(self.outer, self.inner)
        difference: cython.double = atan2(along - across, m[0] + both)
        total: cython.double = atan2(along + across, m[0] - both)
        return (total + difference, total - difference, 0.0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def at_both(self, outer: cython.double, inner: cython.double) -> Q4:
        """The rotation at two angles."""
        turn: Q4 = multiplied(turn_about(self.outer, outer), turn_about(self.inner, inner))
        return normalized(multiplied(turn, self.zero))

    @cython.cfunc
    @cython.exceptval(check=False)
    def nearest(self, rotation: Q4) -> Q4:
        angles: V3 = self.measure_both(rotation)
        return self.at_both(angles[0], angles[1])

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, rotation: Q4, segment: V3, direction: V3) -> Q4:
        """The inner angle brings the segment to the direction's height along the outer axis, the outer does the rest.

        Of two inner angles that do, it is the one that is nearer.
        """
        angles: V3 = self.measure_both(rotation)
        inner: cython.double = angles[1]
        aimed: V3 = unit(rotated(self.zero, segment))
        out: V3 = perpendicular(aimed, self.inner)
        cosine: cython.double = dot(self.outer, out)
        sine: cython.double = dot(self.outer, cross(self.inner, out))
        height: cython.double = sqrt(cosine * cosine + sine * sine)
        if height > AT_END:
            still: cython.double = dot(aimed, self.inner) * dot(self.outer, self.inner)
            missing: cython.double = (dot(self.outer, unit(direction)) - still) / height
            middle: cython.double = atan2(sine, cosine)
            away: cython.double = acos(clipped(missing, -1.0, 1.0))
            one: cython.double = turned_towards(middle + away, inner)
            other: cython.double = turned_towards(middle - away, inner)
            inner = one if magnitude(one - inner) <= magnitude(other - inner) else other
        there: V3 = rotated(turn_about(self.inner, inner), aimed)
        outer: cython.double = angle_about(self.outer, there, direction)
        return self.at_both(angles[0] if outer >= UNDEFINED else outer, inner)

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        carried: V3 = rotated(multiplied(rotation, conjugated(self.zero)), self.inner)
        normal: V3 = unit(cross(self.outer, carried))
        return minus(turn, scaled(normal, dot(turn, normal)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        return self.at_both(PI * (2.0 * u - 1.0), PI * (2.0 * v - 1.0))

    def angles_of(self, rotation: Sequence[float]) -> tuple[float, float]:
        """The outer and the inner angle in radians of the rotation of the surface that is nearest to one."""
        found: V3 = self.measure_both(given_rotation(rotation))
        return found[0], found[1]


QUATERNION_LOCK = Message("QUATERNION_LOCK")
NO_NUMBERS = cython.declare(cython.double, 1e-100)  # length below which numbers tell no direction
FEWEST_FREE = 2  # numbers; a single one follows from the others
NUMBERS = 4


@cython.cclass
class QuaternionLock(Surface):
    """Numbers of the joint's unit quaternion (w, x, y, z) stay; the others share what is left of its length.

    Attributes:
        kept: The four numbers: those that are locked, and None for the two or three that are free.
    """

    is_kept: Q4  # 1 for numbers that are locked, else 0
    stay: Q4  # those numbers, else 0
    size: cython.double  # of the others together

    def __init__(self, kept: Sequence[float | None]) -> None:
        Surface.__init__(self)
        locked = [0.0 if number is None else 1.0 for number in kept]
        stay = finite_numbers(QUATERNION_LOCK, [0.0 if number is None else number for number in kept], NUMBERS)
        left = 1.0 - sum([number * number for number in stay])
        if sum(locked) == 0.0 or NUMBERS - sum(locked) < FEWEST_FREE or left <= 0.0:
            raise InvalidValueError(Message("QUATERNION_LOCK_LEAVES_NOTHING"))
        self.is_kept = (locked[0], locked[1], locked[2], locked[3])
        self.stay = (stay[0], stay[1], stay[2], stay[3])
        self.size = sqrt(left)

    @property
    def kept(self) -> tuple[float | None, ...]:
        """The numbers that are locked; None for the others."""
        return tuple([stay if locked else None for stay, locked in zip(self.stay, self.is_kept, strict=True)])

    def parts(self) -> tuple[Any, ...]:
        return (self.kept,)

    @cython.cfunc
    @cython.exceptval(check=False)
    def free_part(self, rotation: Q4) -> Q4:
        """The numbers that are free; 0 for the others."""
        return (
            rotation[0] * (1.0 - self.is_kept[0]),
            rotation[1] * (1.0 - self.is_kept[1]),
            rotation[2] * (1.0 - self.is_kept[2]),
            rotation[3] * (1.0 - self.is_kept[3]),
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def nearest(self, rotation: Q4) -> Q4:
        """Of a quaternion and its opposite that which is nearer, its free part as long as it has to be."""
        near: cython.double = _dot(self.stay, rotation)
        free: Q4 = self.free_part(rotation)
        size: cython.double = sqrt(_dot(free, free))
        if size <= NO_NUMBERS:
            free = self.free_part((1.0, 1.0, 1.0, 1.0))
            size = sqrt(_dot(free, free))
        factor: cython.double = (self.size if near >= 0.0 else -self.size) / size
        return (
            self.stay[0] + factor * free[0],
            self.stay[1] + factor * free[1],
            self.stay[2] + factor * free[2],
            self.stay[3] + factor * free[3],
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        """The turn's change of the free numbers that leaves them as long as they are, as a turn again."""
        free: Q4 = self.free_part(rotation)
        change: Q4 = self.free_part(multiplied((0.0, turn[0], turn[1], turn[2]), rotation))
        square: cython.double = _dot(free, free)
        share: cython.double = _dot(free, change) / square if square > 0.0 else 0.0
        left: Q4 = (
            change[0] - share * free[0],
            change[1] - share * free[1],
            change[2] - share * free[2],
            change[3] - share * free[3],
        )
        found: Q4 = multiplied(left, conjugated(rotation))
        return (found[1], found[2], found[3])

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        """Any three of four numbers hang on nothing but chance: the fourth is what the sum is beyond a whole number."""
        total: cython.double = u + v + w
        fourth: cython.double = total - floor(total)
        return self.nearest((2.0 * u - 1.0, 2.0 * v - 1.0, 2.0 * w - 1.0, 2.0 * fourth - 1.0))


@cython.cfunc
@cython.exceptval(check=False)
def _dot(a: Q4, b: Q4) -> cython.double:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


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
