# SPDX-License-Identifier: GPL-3.0-or-later
"""A universal joint: two axes, one carried by the other, such as the two Euler channels that are not locked."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, atan2, sqrt
from typing import Any

from ...errors import InvalidValueError
from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    IDENTITY,
    PI,
    UNDEFINED,
    X_AXIS,
    Z_AXIS,
    angle_about,
    clipped,
    conjugated,
    cross,
    dot,
    magnitude,
    minus,
    multiplied,
    normalized,
    perpendicular,
    rotated,
    scaled,
    turn_about,
    unit,
)
from .base import AT_END, checked_axis, given_rotation, limit_rotation, turned_towards
from .surface import Surface

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
