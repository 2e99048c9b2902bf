# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb is to keep some of its bend: what carries it helps before it is straight."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import SupportsFloat, SupportsIndex, cast

from ...errors import InvalidValueError
from .. import cython
from ..figure import Figure, Pose
from ..forms import V3, Doubles
from ..vectors import ORIGIN, dot, integers, length, minus, plus, scaled, v3
from .base import EASE, Goal
from .point import Point


@cython.cclass
class Slack(Goal):
    """The distance of a point from the head of a joint above it is to be at most a share of the way along the joints.

    What a limb is too straight counts, in sizes of the figure, beside the posture term. Both give way: the farther it
    has to reach, the straighter it becomes, and the more the body leans.

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
    limb: Point  # where the point stands, and how far the way to it from the root is
    longest: cython.double  # distance up to which nothing is missing, in sizes of the figure

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
        self.share, self.root = share, joint
        self.limb = Point(effector, ORIGIN, offset=offset, soft=1.0, root=joint)
        self.longest = 0.0

    def numbers(self) -> tuple[float, ...]:
        return (self.share,)

    def copied(self) -> Goal:
        copy = Slack(self.effector, self.share, self.root, None, self.weight, self.rank)
        copy.limb = self.limb
        return copy

    def bound(self, figure: Figure) -> Goal:
        found: Slack = cast(Slack, Goal.bound(self, figure))
        if self.root not in list(found.path):
            raise InvalidValueError(f"joint {self.root}, from which on a limb is counted, does not lead to its end")
        limb: Point = cast(Point, self.limb.bound(figure))
        found.limb = limb
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
        self.limb.arm = scaled(self.limb.offset, factor)
        self.longest = row[at] * self.limb.reach

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        run: V3 = minus(v3(pose.heads, self.root), self.limb.place(pose))
        far: cython.double = length(run)
        if far <= self.longest:
            return ORIGIN
        return scaled(run, self.weight * (far - self.longest) / far)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        point: V3 = self.limb.place(pose)
        run: V3 = minus(point, v3(pose.heads, self.root))
        far: cython.double = length(run)
        if far <= self.longest:
            return ORIGIN
        change: V3 = self.swept(pose, k, axis, point)
        along: V3 = scaled(run, dot(change, run) / (far * far))
        across: V3 = scaled(minus(change, along), 1.0 - self.longest / far)
        return scaled(plus(along, across), self.weight)
