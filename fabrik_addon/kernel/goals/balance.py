# SPDX-License-Identifier: GPL-3.0-or-later
"""The centre of mass is to stand above the support: inside the convex hull of some points, seen from above."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import sqrt
from typing import SupportsFloat, SupportsIndex, cast

from ...errors import InvalidValueError
from .. import cython
from ..figure import Figure, Pose
from ..forms import V3, Doubles
from ..limits.base import checked_point, finite_numbers
from ..vectors import (
    ORIGIN,
    Z_AXIS,
    any_perpendicular,
    copy_into,
    cross,
    dot,
    doubles,
    length,
    minus,
    perpendicular,
    plus,
    put3,
    q4,
    rotated,
    scaled,
    unit,
    v3,
)
from .base import HINT, TIP, Goal, listed

LIGHT = 0.01  # share of the mass below which a part of the figure is not turned for the sake of its weight
IN_LINE = cython.declare(cython.double, 1e-9)  # sine between two ways that are one: rounding is not to choose
NO_EDGE = cython.declare(cython.double, 1e-18)  # square of the length of an edge that is none


@cython.cclass
class Balance(Goal):
    """The centre of mass is to come above the support, the shortest way; nothing is missing where it stands above it.

    Every joint that carries mass moves it, but those that carry next to none do not take part.

    Args:
        masses: For each joint the mass that moves with it; only shares of the sum count.
        support: Points in solve space that span the support: its corners in any order, or more points than these.
        up: Direction in solve space along which the figure is weighed.
        places: For each joint where its mass stands in its frame, relative to its head; None for the middle of each
            segment.
        weight: How much the goal counts beside others of its rank.
        rank: Before which other goals it is met.
    """

    masses: Doubles
    support: list[V3]
    up: V3
    places: list[V3] | None
    shares: Doubles  # of the whole mass
    below: Doubles  # the same of each joint with all that hangs on it
    arms: Doubles  # where they stand in the joints' frames, in the units in which the figure is solved
    moments: Doubles  # of each joint the sum of shares times places of what turns along with it
    figure: Figure
    corners: Doubles  # of the hull, right-handed about `up`
    count_of_corners: cython.int
    edge: V3  # direction of the edge nearest to the centre that was asked for last; zero for a corner
    is_off: cython.bint  # whether the pose that was prepared misses the support ...
    slide: V3  # ... and the edge that is nearest to it then

    def __init__(
        self,
        masses: Sequence[float],
        support: Sequence[Sequence[float]],
        up: Sequence[float] = Z_AXIS,
        places: Sequence[Sequence[float]] | None = None,
        weight: SupportsFloat = 1.0,
        rank: SupportsIndex = HINT,
    ) -> None:
        count = len(masses)
        self._ask(0, weight, rank, "support", 3 * len(support))
        numbers = finite_numbers("mass", masses, count)
        if not support or not count or min(numbers) < 0.0 or max(numbers) <= 0.0:
            raise InvalidValueError("a centre of mass needs a mass above zero, none below it, and a support")
        total = sum(numbers)
        self.masses, self.below = array("d", numbers), doubles(count)
        self.shares = array("d", [number / total for number in numbers])
        self.support = [checked_point("support", point) for point in support]
        self.up = unit(checked_point("up", up))
        if length(self.up) == 0.0:
            raise InvalidValueError("the direction up is zero")
        self.places = None if places is None else [checked_point("mass", place) for place in places]
        if self.places is not None and len(self.places) != count:
            raise InvalidValueError("masses and their places are not as many")
        self.arms, self.moments = doubles(3 * count), doubles(3 * count)
        self.corners = doubles(3 * len(self.support))
        self.count_of_corners = 0
        self.figure = None
        self.edge = self.slide = ORIGIN
        self.is_off = False

    def numbers(self) -> tuple[float, ...]:
        return tuple(number for point in self.support for number in point)

    def copied(self) -> Goal:
        return Balance(self.masses, self.support, self.up, self.places, self.weight, self.rank)

    def bound(self, figure: Figure) -> Goal:
        found: Balance = cast(Balance, self.copied())
        if len(found.shares) != figure.count:
            raise InvalidValueError(f"{len(found.shares)} masses were given for {figure.count} joints")
        found.figure, found.placed, found.is_shifted = figure, listed({*range(figure.count)}), True
        copy_into(found.below, found.shares, figure.count)
        for i in range(figure.count - 1, -1, -1):
            if figure.parents[i] >= 0:
                found.below[figure.parents[i]] += found.below[i]
        heavy = [i for i in range(figure.count) if found.below[i] >= LIGHT or i == 0]
        found.path, found.carried = array("i", heavy), array("i", [TIP]) * len(heavy)
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        for i in range(self.figure.count):
            arm: V3 = scaled(v3(self.figure.segments, i), 0.5) if self.places is None else self.places[i]
            put3(self.arms, i, scaled(arm, factor))
        count: cython.int = len(self.support)
        points: Doubles = doubles(3 * count)
        for i in range(count):
            point: V3 = (row[at + 3 * i] * factor, row[at + 3 * i + 1] * factor, row[at + 3 * i + 2] * factor)
            put3(points, i, perpendicular(minus(point, origin), self.up))
        self.wrap(points, count)

    @cython.cfunc
    @cython.exceptval(check=False)
    def wrap(self, points: Doubles, count: cython.int) -> cython.void:
        """Find the corners of the hull of some points of the plane, right-handed about `up`, by wrapping (Jarvis)."""
        first: cython.int = 0
        side: V3 = any_perpendicular(self.up, ORIGIN)
        ahead: V3 = cross(self.up, side)
        for i in range(1, count):
            away: V3 = minus(v3(points, i), v3(points, first))
            if dot(away, side) < 0.0 or (dot(away, side) == 0.0 and dot(away, ahead) < 0.0):
                first = i
        here: cython.int = first
        self.count_of_corners = 0
        while self.count_of_corners < count:
            put3(self.corners, self.count_of_corners, v3(points, here))
            self.count_of_corners += 1
            after: cython.int = here
            for i in range(count):
                to_it: V3 = minus(v3(points, i), v3(points, here))
                so_far: V3 = minus(v3(points, after), v3(points, here))
                far: cython.double = dot(to_it, to_it)
                if far <= NO_EDGE:
                    continue
                turn: cython.double = dot(self.up, cross(so_far, to_it))
                in_line: cython.double = IN_LINE * sqrt(far * dot(so_far, so_far))
                if after == here or turn < -in_line or (turn <= in_line and far > dot(so_far, so_far)):
                    after = i
            here = after
            if dot(minus(v3(points, here), v3(points, first)), minus(v3(points, here), v3(points, first))) <= NO_EDGE:
                break

    @cython.cfunc
    @cython.exceptval(check=False)
    def centre(self, pose: Pose) -> V3:
        """The centre of mass, seen along `up`."""
        total: V3 = ORIGIN
        for i in range(self.figure.count):
            if self.shares[i] > 0.0:
                place: V3 = plus(v3(pose.heads, i), rotated(q4(pose.frames, i), v3(self.arms, i)))
                total = plus(total, scaled(place, self.shares[i]))
        return perpendicular(total, self.up)

    @cython.cfunc
    @cython.exceptval(check=False)
    def come_back(self, centre: V3) -> V3:
        """The way from a centre of mass to the support; zero above it. Leaves the edge that is nearest."""
        count: cython.int = self.count_of_corners
        least: cython.double = -1.0
        is_inside: cython.bint = count > 2
        way: V3 = ORIGIN
        for k in range(count):
            start: V3 = v3(self.corners, k)
            along: V3 = minus(v3(self.corners, k + 1 if k + 1 < count else 0), start)
            to_centre: V3 = minus(centre, start)
            if dot(self.up, cross(along, to_centre)) < 0.0:
                is_inside = False
            size: cython.double = dot(along, along)
            share: cython.double = dot(to_centre, along) / size if size > NO_EDGE else 0.0
            on_edge: cython.bint = 0.0 < share < 1.0
            share = 0.0 if share <= 0.0 else 1.0 if share >= 1.0 else share
            found: V3 = minus(scaled(along, share), to_centre)
            if least < 0.0 or dot(found, found) < least:
                least = dot(found, found)
                way = found
                self.edge = scaled(along, 1.0 / sqrt(size)) if on_edge else ORIGIN
        return ORIGIN if is_inside else way

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        return scaled(self.come_back(self.centre(pose)), self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def prepare(self, pose: Pose) -> cython.void:
        for i in range(self.figure.count):
            place: V3 = plus(v3(pose.heads, i), rotated(q4(pose.frames, i), v3(self.arms, i)))
            put3(self.moments, i, scaled(place, self.shares[i]))
        for i in range(self.figure.count - 1, -1, -1):
            parent: cython.int = self.figure.parents[i]
            if parent >= 0:
                carried: V3 = v3(self.moments, i)
                if not self.figure.inherits[i]:  # it goes along as its head does
                    carried = scaled(v3(pose.heads, i), self.below[i])
                put3(self.moments, parent, plus(v3(self.moments, parent), carried))
        way: V3 = self.come_back(self.centre(pose))
        self.is_off = dot(way, way) > 0.0
        self.slide = self.edge

    @cython.cfunc
    @cython.exceptval(check=False)
    def heeded(self, change: V3) -> V3:
        """The part of a move of the centre of mass that changes the way to the support."""
        if not self.is_off:
            return ORIGIN
        return scaled(minus(perpendicular(change, self.up), scaled(self.slide, dot(change, self.slide))), self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def shift(self, pose: Pose, axis: V3) -> V3:
        return self.heeded(scaled(axis, self.below[0]))

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        i: cython.int = self.path[k]
        lever: V3 = minus(v3(self.moments, i), scaled(v3(pose.heads, i), self.below[i]))
        return self.heeded(cross(axis, lever))
