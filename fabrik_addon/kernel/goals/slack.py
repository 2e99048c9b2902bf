# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb is to keep some of its bend: what carries it helps before it is straight."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import SupportsFloat, SupportsIndex, cast

from ...errors import ChainError, InvalidValueError
from .. import cython
from ..figure import MOST_JOINTS, Figure, Pose, checked_point
from ..forms import V3, Doubles
from ..vectors import ORIGIN, dot, integers, length, minus, plus, q4, rotated, scaled, v3
from .base import EASE, Goal
from .point import Point

# What a size of the figure counts that a limb is too straight, beside the posture term. Both give way: the farther
# a limb has to reach, the straighter it becomes, and the more the body leans.
GIVE = cython.declare(cython.double, 1.0)


@cython.cclass
class Slack(Goal):
    """The distance of a point from the head of a joint above it is to be at most a share of the way along the joints.

    Args:
        effector: Index of the joint that has the point.
        share: Of the lengths from `root` to the point, 0 to 1; its number in a row.
        root: Index of the joint from which on the limb is counted.
        offset: The point in the joint's frame, relative to its head; None for the end of the segment.
        weight: How much the goal counts beside others of its rank.
        rank: Before which other goals it is met.
    """

    share = cython.declare(cython.double, visibility="readonly")
    root = cython.declare(cython.int, visibility="readonly")
    offset: V3
    arm: V3  # the offset, in the units in which the figure is solved
    at_end: cython.bint
    reach: cython.double  # the lengths from the root to the point, in sizes of the figure
    longest: cython.double  # distance up to which nothing is missing, likewise

    def __init__(
        self,
        effector: SupportsIndex,
        share: SupportsFloat,
        root: SupportsIndex = 0,
        offset: Sequence[float] | None = None,
        weight: SupportsFloat = 1.0,
        rank: SupportsIndex = EASE,
    ) -> None:
        self._ask(effector, weight, rank, "slack", 1)
        share, joint = float(share), index(root)
        if not 0.0 <= share <= 1.0:
            raise InvalidValueError("the share of its reach that a limb may take is not between 0 and 1")
        if not 0 <= joint < MOST_JOINTS:
            raise ChainError(f"a goal is set from joint {joint} on, which no figure has")
        self.share, self.root = share, joint
        self.at_end = offset is None
        self.offset = self.arm = ORIGIN if offset is None else checked_point("goal's offset", offset)
        self.reach = self.longest = 0.0

    def numbers(self) -> tuple[float, ...]:
        return (self.share,)

    def copied(self) -> Goal:
        return Slack(self.effector, self.share, self.root, None if self.at_end else self.offset, self.weight, self.rank)

    def bound(self, figure: Figure) -> Goal:
        found: Slack = cast(Slack, Goal.bound(self, figure))
        if self.root not in list(found.path):
            raise InvalidValueError(f"joint {self.root}, from which on a limb is counted, does not lead to its end")
        offset = None if self.at_end else self.offset
        limb: Point = cast(Point, Point(self.effector, ORIGIN, offset=offset, soft=1.0, root=self.root).bound(figure))
        found.reach = limb.reach
        first: cython.int = limb.first  # those above it carry all of it
        found.steps -= first
        path, carried = integers(found.steps), integers(found.steps)
        for k in range(found.steps):
            path[k], carried[k] = found.path[first + k], found.carried[first + k]
        found.path, found.carried, found.borne = path, carried, integers(found.steps)
        found.is_shifted = False
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        self.arm = scaled(self.offset, factor)
        self.longest = row[at] * self.reach

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
        run: V3 = minus(v3(pose.heads, self.root), self.place(pose))
        far: cython.double = length(run)
        if far <= self.longest:
            return ORIGIN
        return scaled(run, self.weight * GIVE * (far - self.longest) / far)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        point: V3 = self.place(pose)
        run: V3 = minus(point, v3(pose.heads, self.root))
        far: cython.double = length(run)
        if far <= self.longest:
            return ORIGIN
        change: V3 = self.swept(pose, k, axis, point)
        along: V3 = scaled(run, dot(change, run) / (far * far))
        across: V3 = scaled(minus(change, along), 1.0 - self.longest / far)
        return scaled(plus(along, across), self.weight * GIVE)
