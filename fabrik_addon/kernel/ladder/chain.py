# SPDX-License-Identifier: GPL-3.0-or-later
"""One chain of size 1 while it is solved: what all rungs share."""

from __future__ import annotations

from typing import cast

from .. import cython
from ..figure import Figure
from ..forms import V3, Doubles, Ints
from ..goals.point import Point
from ..trace import Trace
from ..vectors import ORIGIN, doubles, integers


@cython.cclass
class Chain:
    """A chain, the target of its tip, and how it is to be solved.

    Attributes:
        figure: Of size 1, without branches.
        count: Its n joints.
        inner: Least distance of the tip from the root without limits; the greatest is 1.
        carried: For each joint the index of the last point that turns rigidly with it: n for the tip, else the head
            of the next bone that does not inherit rotation.
        first_moving: Index of the first joint that is not fixed; n where all are.
        first_ball: Index of the first joint that turns every way and has joints behind it, all of which follow it;
            -1 where there is none.
        is_free: Whether no joint has a limit or stiffness.
        is_stiff: Whether a joint has stiffness.
        swings: Whether every joint follows the one before it.
        tip: The goal of the tip, with the target at hand.
    """

    figure: Figure
    count: cython.int
    inner: cython.double
    carried: Ints
    first_moving: cython.int
    first_ball: cython.int
    is_free: cython.bint
    is_stiff: cython.bint
    swings: cython.bint
    tip: Point
    target: V3
    tolerance: cython.double
    max_passes: cython.int
    plain: cython.bint
    restarts: cython.int
    share: cython.int  # of the passes that a restart may take
    joints: Doubles  # room for n + 1 points, for whichever rung is at work
    trace: Trace

    def __init__(self, figure: Figure) -> None:
        count = figure.count
        self.figure = figure
        self.count = count
        self.inner = max(0.0, 2.0 * max(figure.spans) - 1.0)
        self.carried = integers(count)
        end = count
        for i in range(count - 1, -1, -1):
            self.carried[i] = end
            if not figure.inherits[i]:
                end = i
        limits = figure.limits
        self.first_moving = next((i for i in range(count) if not limits[i].is_fixed), count)
        self.is_stiff = any(figure.stiffness[i] > 0.0 for i in range(count))
        self.is_free = not self.is_stiff and all(limit.is_free for limit in limits)
        follow = [all(figure.inherits[j] for j in range(i + 1, count)) for i in range(count)]
        self.swings = follow[0]
        balls = (i for i in range(count - 1) if limits[i].is_ball and follow[i])
        self.first_ball = next(balls, -1)
        self.tip = cast(Point, Point(count - 1, ORIGIN).bound(figure))
        self.target = ORIGIN
        self.joints = doubles(3 * count + 3)
        self.tolerance = 0.0
        self.max_passes = self.restarts = self.share = 0
        self.plain = False
        self.trace = None

    @cython.cfunc
    def record(self, name: str, joints: Doubles) -> cython.void:
        """Show the joints after a pass to whoever wants to see them."""
        if self.trace is not None:
            self.trace.record(name, joints, self.count)
