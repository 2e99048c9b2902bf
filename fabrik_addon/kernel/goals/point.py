# SPDX-License-Identifier: GPL-3.0-or-later
"""A point of a joint's frame is to come to a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex

from .. import cython
from ..figure import Figure, Pose, checked_point
from ..forms import V3, Doubles
from ..vectors import ORIGIN, apart, cross, length, minus, plus, q4, rotated, scaled, v3
from .base import ASKED, TIP, Goal


@cython.cclass
class Point(Goal):
    """The end of a joint's segment, or any point in its frame, is to come to a place.

    Args:
        effector: Index of the joint.
        target: The place, in solve space.
        weight: How much the goal counts beside others.
        offset: The point in the joint's frame, relative to its head; None for the end of the segment.
        rank: Before which other goals it is met.
    """

    target: V3
    offset: V3
    arm: V3  # the offset, in the units in which the figure is solved
    at_end: cython.bint

    def __init__(
        self,
        effector: SupportsIndex,
        target: Sequence[float],
        weight: SupportsFloat = 1.0,
        offset: Sequence[float] | None = None,
        rank: SupportsIndex = ASKED,
    ) -> None:
        self._ask(effector, weight, rank, "target", 3)
        self.target = checked_point("target", target)
        self.at_end = offset is None
        self.offset = self.arm = ORIGIN if offset is None else checked_point("goal's offset", offset)

    def numbers(self) -> tuple[float, ...]:
        return self.target

    def copied(self) -> Goal:
        return Point(self.effector, self.target, self.weight, None if self.at_end else self.offset, self.rank)

    @property
    def is_at_end(self) -> bool:
        """Whether the end of the joint's segment is asked for."""
        return bool(self.at_end)

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double) -> cython.void:
        self.target = (row[at] * factor, row[at + 1] * factor, row[at + 2] * factor)
        self.arm = scaled(self.offset, factor)

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_beyond(self, figure: Figure) -> cython.bint:
        if figure.moves and self.path[0] == 0:
            return False
        return apart(self.target, v3(figure.offsets, self.path[0])) > self.reach_from(figure, 0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def reach_from(self, figure: Figure, first: cython.int) -> cython.double:
        """The sum of the lengths between the head of a joint of the path and the point."""
        k: cython.int
        far: cython.double = figure.spans[self.effector] if self.at_end else length(self.arm)
        for k in range(first + 1, self.steps):
            i: cython.int = self.path[k]
            far += length(v3(figure.offsets, i)) if figure.gaps[i] else figure.spans[self.path[k - 1]]
        return far

    @cython.cfunc
    def is_apart(self, other: Goal, figure: Figure) -> cython.bint:
        if not isinstance(other, Point) or self.path[0] != other.path[0]:
            return False
        point: Point = other
        k: cython.int = 0
        while k + 1 < self.steps and k + 1 < point.steps and self.path[k + 1] == point.path[k + 1]:
            k += 1
        return apart(self.target, point.target) > self.reach_from(figure, k) + point.reach_from(figure, k)

    @cython.cfunc
    @cython.exceptval(check=False)
    def place(self, pose: Pose) -> V3:
        """Where the point stands."""
        if self.at_end:
            return v3(pose.ends, self.effector)
        return plus(v3(pose.heads, self.effector), rotated(q4(pose.frames, self.effector), self.arm))

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        return scaled(minus(self.target, self.place(pose)), self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def shift(self, pose: Pose, axis: V3) -> V3:
        return scaled(axis, self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        carried: cython.int = self.carried[k]
        point: V3 = self.place(pose) if carried == TIP else v3(pose.heads, carried)
        return scaled(cross(axis, minus(point, v3(pose.heads, self.path[k]))), self.weight)
