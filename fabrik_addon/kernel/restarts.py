# SPDX-License-Identifier: GPL-3.0-or-later
"""Other starts of a figure with several goals: poses half the way from the start pose to drawn ones."""

from __future__ import annotations

from random import Random

from . import cython
from .descent import Descent
from .figure import Figure, Pose, clamp_start
from .forms import V3, Doubles
from .goals.base import Goal
from .limits.base import Limit
from .vectors import (
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    apart,
    copy_into,
    dot,
    doubles,
    larger,
    plus,
    put3,
    put4,
    q4,
    scaled,
    v3,
)

SCREENED = 128  # poses that are drawn
SEED = 2011
APART = cython.declare(cython.double, 0.2)  # between two starts, in sizes of the figure: neighbours end alike


@cython.cfunc
def drawn_poses(figure: Figure) -> list[Doubles]:
    """Poses drawn inside the limits of a figure: a buffer of n rotations each."""
    random = Random(SEED)
    drawn = []
    for _ in range(SCREENED):
        rotations: Doubles = doubles(4 * figure.count)
        for i in range(figure.count):
            limit: Limit = figure.limits[i]
            put4(rotations, i, limit.draw(random.random(), random.random(), random.random()))
        drawn.append(rotations)
    return drawn


@cython.cfunc
@cython.exceptval(check=False)
def farthest(pose: Pose, other: Pose, count: cython.int) -> cython.double:
    """The largest distance between the same joint of two placed poses of n joints, the tip included."""
    i: cython.int
    most: cython.double = 0.0
    for i in range(count + 1):
        most = larger(most, apart(v3(pose.heads, i), v3(other.heads, i)))
    return most


HALF_WAY = cython.declare(cython.double, 0.5)  # of a drawn pose from the start pose: the inner half of the limits


@cython.cclass
class BodyStarts:
    """The poses from which a body is solved again where it misses its goals from the start pose.

    Args:
        descent: To all goals of the body: the errors of the poses are by these.

    Attributes:
        drawn: All poses among which it chooses; None before they are asked for.
        drawn_at: The figure's `changes` when they were drawn.
    """

    figure: Figure
    descent: Descent
    drawn: list[Pose]
    drawn_at: cython.int

    def __init__(self, descent: Descent) -> None:
        self.figure = descent.figure
        self.descent = descent
        self.drawn = None
        self.drawn_at = 0

    @cython.cfunc
    def best(self, count: cython.int) -> list[Pose]:
        """Those with the least errors that stand apart from each other, as many as are asked for at most."""
        if self.drawn is None or self.drawn_at != self.figure.changes:
            self.drawn_at = self.figure.changes
            self.drawn = [self.half_way(rotations) for rotations in drawn_poses(self.figure)]
        errors = []
        for k in range(len(self.drawn)):
            if self.figure.moves:
                self.fit(self.drawn[k])
            errors.append((self.descent.error_of(self.drawn[k]), k))
        chosen: list[Pose] = []
        other: Pose
        for _, k in sorted(errors):
            pose: Pose = self.drawn[k]
            is_apart: cython.bint = True
            for other in chosen:
                if farthest(pose, other, self.figure.count) <= 0.5 * APART:
                    is_apart = False
                    break
            if is_apart:
                chosen.append(pose)
            if len(chosen) >= count:
                break
        return chosen

    @cython.cfunc
    def fit(self, pose: Pose) -> cython.void:
        """Shift a figure that moves to where its goals miss least."""
        a: cython.int
        goal: Goal
        copy_into(pose.shift, self.figure.root, 3)
        self.figure.place(pose)
        best: V3 = v3(self.figure.root, 0)
        for a in range(3):
            axis: V3 = X_AXIS if a == 0 else Y_AXIS if a == 1 else Z_AXIS
            pull: cython.double = 0.0
            weight: cython.double = 0.0
            for goal in self.descent.goals:
                change: V3 = goal.shift(pose, axis)
                pull += dot(change, goal.missing(pose))
                weight += dot(change, change)
            if weight > 0.0:
                best = plus(best, scaled(axis, pull / weight))
        put3(pose.shift, 0, best)
        self.figure.place(pose)

    @cython.cfunc
    def half_way(self, rotations: Doubles) -> Pose:
        """The pose half the way from the start pose to a drawn one; joints that move no goal stay."""
        k: cython.int
        pose: Pose = Pose(self.figure.count)
        copy_into(pose.rotations, clamp_start(self.figure), 4 * self.figure.count)
        copy_into(pose.shift, self.figure.root, 3)
        for k in range(self.descent.count_of_turned):
            i: cython.int = self.descent.movers[k]
            limit: Limit = self.figure.limits[i]
            put4(pose.rotations, i, limit.blend(q4(pose.rotations, i), q4(rotations, i), HALF_WAY))
        self.figure.place(pose)
        return pose
