# SPDX-License-Identifier: GPL-3.0-or-later
"""A point of a joint's frame is to come to a place, softly near full stretch, and by stretching where that is allowed.

Soft reach: near the reach L of the joints between a root and the point, the goal's distance d from the root becomes
L - s e^(-(d - L + s) / s) beyond L - s, so that a knee that is drawn straight does not snap. It leaves s / e at d = L.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import SupportsFloat, SupportsIndex, cast

from ...errors import LARGEST, InvalidValueError
from .. import cython
from ..figure import Figure, Pose
from ..forms import V3, Doubles
from ..limits.base import checked_point
from ..vectors import ORIGIN, apart, clipped, cross, dot, larger, length, minus, plus, q4, rotated, scaled, smaller, v3
from .base import ASKED, OTHER, PUTS_TIP, SOLVE_SPACE, TIP, Goal

CLOSED_RUN = cython.declare(cython.double, 1e-12)  # square of a run from end to end that tells no direction


@cython.cclass
class Point(Goal):
    """The end of a joint's segment, or any point in its frame, is to come to a place.

    Args:
        effector: Index of the joint.
        target: The place.
        weight: How much the goal counts beside others.
        offset: The point in the joint's frame, relative to its head; None for the end of the segment.
        rank: Before which other goals it is met.
        soft: Share of the reach of the joints from `root` on over which the goal gives way near full stretch.
        root: Index of the joint from which on the reach is counted, and stretched.
        stretch: The most by which the lengths from `root` to the point may be multiplied, 1 at least.
        frame: Index of the joint in whose frame the place is, or `SOLVE_SPACE`.
    """

    target: V3
    offset: V3
    arm: V3  # the offset, in the units in which the figure is solved
    at_end: cython.bint
    soft = cython.declare(cython.double, visibility="readonly")
    stretch = cython.declare(cython.double, visibility="readonly")
    first: cython.int  # place of the root on the path
    reach: cython.double  # from it to the point, in sizes of the figure
    stretched: cython.double  # by how much the run may be longer where missing is asked for: 1 while it is solved

    def __init__(  # noqa: PLR0913 - each is a number of the goal
        self,
        effector: SupportsIndex,
        target: Sequence[float],
        weight: SupportsFloat = 1.0,
        offset: Sequence[float] | None = None,
        rank: SupportsIndex = ASKED,
        *,
        soft: SupportsFloat = 0.0,
        root: SupportsIndex = 0,
        stretch: SupportsFloat = 1.0,
        frame: SupportsIndex = SOLVE_SPACE,
    ) -> None:
        self._ask(effector, weight, rank, "target", 3, frame, root)
        self.target = checked_point("target", target)
        self.at_end = offset is None
        self.offset = self.arm = ORIGIN if offset is None else checked_point("goal's offset", offset)
        soft, stretch = float(soft), float(stretch)
        if not (0.0 <= soft <= 1.0 and 1.0 <= stretch <= LARGEST):
            raise InvalidValueError("a goal's soft share is not between 0 and 1, or its stretch not 1 at least")
        self.soft, self.stretch = soft, stretch
        self.first = 0
        self.reach = 0.0
        self.stretched = 1.0

    def numbers(self) -> tuple[float, ...]:
        return self.target

    def copied(self) -> Goal:
        offset = None if self.at_end else self.offset
        copy = Point(self.effector, self.target, self.weight, offset, self.rank, frame=self.frame)
        copy.soft, copy.root, copy.stretch = self.soft, self.root, self.stretch
        return copy

    def bound(self, figure: Figure) -> Goal:
        found: Point = cast(Point, Goal.bound(self, figure))
        if self.soft > 0.0 or self.stretch > 1.0:
            way = list(found.path)
            if self.root not in way:
                raise InvalidValueError(f"joint {self.root}, from which on a goal is soft, does not lead to it")
            found.first = way.index(self.root)
            found.reach = found.reach_from(figure, found.first, found.offset) / figure.size
        return found

    def role(self, last: int) -> int:
        is_whole = self.at_end and self.first == 0 and self.effector == last and self.frame == SOLVE_SPACE
        return PUTS_TIP if is_whole else OTHER

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        self.target = minus((row[at] * factor, row[at + 1] * factor, row[at + 2] * factor), origin)
        self.arm = scaled(self.offset, factor)

    @cython.cfunc
    @cython.exceptval(check=False)
    def away(self, figure: Figure) -> cython.double:
        """The target's distance from the first joint of the path; below zero where that one can be moved."""
        first: cython.int = self.path[0]
        if figure.parents[first] != self.frame or (figure.moves and first == 0):
            return -1.0
        is_apart: cython.bint = self.frame < 0 or figure.gaps[first] != 0
        root: V3 = v3(figure.offsets, first) if is_apart else v3(figure.segments, self.frame)
        return apart(self.target, plus(root, v3(figure.root, 0)) if first == 0 else root)

    @cython.cfunc
    @cython.exceptval(check=False)
    def beyond(self, figure: Figure) -> cython.double:
        longest: cython.double = self.reach_from(figure, 0, self.arm)
        if self.soft > 0.0:
            return 0.0
        for k in range(self.first, len(self.path) if self.at_end else len(self.path) - 1):  # as `lengthen` does
            longest += self.span(figure, k, self.arm) * (self.stretch - 1.0)
        return larger(0.0, self.away(figure) - longest)

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_within(self, figure: Figure) -> cython.bint:
        longest: cython.double = 0.0
        for k in range(len(self.path)):
            longest = larger(longest, self.span(figure, k, self.arm))
        return 0.0 <= self.away(figure) < 2.0 * longest - self.reach_from(figure, 0, self.arm)

    @cython.cfunc
    @cython.exceptval(check=False)
    def span(self, figure: Figure, k: cython.int, arm: V3) -> cython.double:
        """The distance of joint k of the path from the next, or from the point, with an arm of so long."""
        if k + 1 == len(self.path):
            return figure.spans[self.effector] if self.at_end else length(arm)
        i: cython.int = self.path[k + 1]
        return length(v3(figure.offsets, i)) if figure.gaps[i] else figure.spans[self.path[k]]

    @cython.cfunc
    @cython.exceptval(check=False)
    def reach_from(self, figure: Figure, first: cython.int, arm: V3) -> cython.double:
        """The sum of the lengths between the head of a joint of the path and the point, with an arm of so long."""
        far: cython.double = 0.0
        for k in range(first, len(self.path)):
            far += self.span(figure, k, arm)
        return far

    @cython.cfunc
    def gap(self, other: Goal, figure: Figure) -> cython.double:
        if not isinstance(other, Point) or self.path[0] != other.path[0] or self.frame != other.frame:
            return 0.0
        point: Point = other
        if self.soft > 0.0 or point.soft > 0.0:
            return 0.0
        k: cython.int = 0
        while k + 1 < len(self.path) and k + 1 < len(point.path) and self.path[k + 1] == point.path[k + 1]:
            k += 1
        reach: cython.double = self.reach_from(figure, k, self.arm) + point.reach_from(figure, k, point.arm)
        return larger(0.0, apart(self.target, point.target) - reach)

    @cython.cfunc
    @cython.exceptval(check=False)
    def place(self, pose: Pose) -> V3:
        """Where the point stands."""
        if self.at_end:
            return v3(pose.ends, self.effector)
        return plus(v3(pose.heads, self.effector), rotated(q4(pose.frames, self.effector), self.arm))

    @cython.cfunc
    @cython.exceptval(check=False)
    def softened_distance(self, distance: cython.double) -> cython.double:
        """The distance from the root to which a goal at a distance comes down."""
        width: cython.double = self.soft * self.reach
        over: cython.double = distance - self.reach + width
        if over <= 0.0 or width <= 0.0:
            return distance
        return smaller(distance, self.stretched * (self.reach - width * exp(-over / width)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def softened_place(self, root: V3) -> V3:
        """The place where the point is asked to come, for where the root stands."""
        if self.soft <= 0.0:
            return self.target
        away: V3 = minus(self.target, root)
        distance: cython.double = length(away)
        if distance <= 0.0:
            return self.target
        return plus(root, scaled(away, self.softened_distance(distance) / distance))

    @cython.cfunc
    @cython.exceptval(check=False)
    def softening(self, pose: Pose) -> cython.double:
        if self.soft <= 0.0:
            return 0.0
        return apart(self.target, self.softened_place(self.within(pose, v3(pose.heads, self.root))))

    @cython.cfunc
    @cython.exceptval(check=False)
    def factor_at(self, pose: Pose, factor: cython.double) -> cython.double:
        place: V3 = self.place(pose)
        target: V3 = self.out_of(pose, self.target)
        if self.stretch <= 1.0 or self.weight <= 0.0:
            return 1.0
        end: V3 = place if self.at_end else v3(pose.heads, self.effector)  # the arm behind it keeps its length
        along: V3 = minus(end, v3(pose.heads, self.root))
        size: cython.double = dot(along, along)
        if size <= CLOSED_RUN:
            return factor
        return clipped(factor * (1.0 + dot(minus(target, place), along) / size), 1.0, self.stretch)

    @cython.cfunc
    @cython.exceptval(check=False)
    def lengthen(self, factors: Doubles, factor: cython.double) -> cython.void:
        for k in range(self.first, len(self.path) if self.at_end else len(self.path) - 1):
            factors[self.path[k]] = larger(factors[self.path[k]], factor)

    @cython.cfunc
    @cython.exceptval(check=False)
    def let_stretch(self, is_stretched: cython.bint) -> cython.void:
        self.stretched = self.stretch if is_stretched else 1.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def follow(self, root: V3, moved: V3) -> V3:
        """How the softened place moves when the root does, by a small vector."""
        away: V3 = minus(self.target, root)
        distance: cython.double = length(away)
        width: cython.double = self.soft * self.reach
        over: cython.double = distance - self.reach + width
        if over <= 0.0 or width <= 0.0:
            return ORIGIN
        away = scaled(away, 1.0 / distance)
        faded: cython.double = exp(-over / width)
        share: cython.double = self.stretched * (self.reach - width * faded) / distance
        if share >= 1.0:  # so far the stretch takes it to the target
            return ORIGIN
        along: cython.double = dot(moved, away)
        return plus(scaled(moved, 1.0 - share), scaled(away, along * (share - self.stretched * faded)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        wanted: V3 = self.target
        if self.soft > 0.0:
            wanted = self.softened_place(self.within(pose, v3(pose.heads, self.root)))
        return scaled(minus(wanted, self.within(pose, self.place(pose))), self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def shift(self, pose: Pose, axis: V3) -> V3:
        if self.soft > 0.0:
            return scaled(minus(axis, self.follow(v3(pose.heads, self.root), axis)), self.weight)
        return scaled(axis, self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        point: V3 = self.place(pose)
        change: V3 = self.seen(pose, k, axis, point, self.swept(pose, k, axis, point))
        if self.soft > 0.0 and k < self.first:
            root: V3 = v3(pose.heads, self.root)
            moved: V3 = cross(axis, minus(root, v3(pose.heads, self.path[k])))
            if self.carried[k] != TIP and self.carried[k] < self.root:  # it hangs on a joint that does not turn along
                moved = self.swept(pose, k, axis, point)
            moved = self.seen(pose, k, axis, root, moved)
            change = minus(change, self.follow(self.within(pose, root), moved))
        return scaled(change, self.weight)
