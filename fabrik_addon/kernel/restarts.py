# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a figure misses its goals it starts again: from poses on the way to such as are drawn inside the limits.

A run starts from beside the pose that it came to before, at first: where its joints are bent to their limits in one
plane, a goal a little way off is often reached by what no small turn tells, that they turn about their bones.
"""

from __future__ import annotations

from random import Random

from . import cython
from .descent import Descent
from .figure import Figure, Pose, clamp_start, copied_pose, placed_pose
from .forms import Q4, V3, Doubles
from .limits.base import Limit
from .ranks import Ranks
from .run import Run
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
    rotated,
    scaled,
    unit,
    v3,
)

SCREENED = 128  # poses that are drawn
SEED = 2011
BODY_SHARE = 0.9  # of the way from the start pose to a drawn one, where a body starts again: within its limits
NUDGED = cython.declare(cython.double, 0.3)  # radians by which joints are turned about their bones
APART = cython.declare(cython.double, 0.2)  # between two starts, in sizes of the figure: neighbours end alike


@cython.cfunc
@cython.exceptval(check=False)
def farthest(pose: Pose, other: Pose, count: cython.int) -> cython.double:
    """The largest distance between the same joint of two placed poses of n joints, the tip included."""
    most: cython.double = 0.0
    for i in range(count + 1):
        most = larger(most, apart(v3(pose.heads, i), v3(other.heads, i)))
    return most


@cython.cclass
class Restarts:
    """Solves a figure again where it misses its goals from the start pose, from the nearest of many poses.

    Args:
        ranks: What solves it.
        run: The run whose path puts all joints, or None.

    Attributes:
        share: How far the poses are on the way from the start pose to those that are drawn.
        rotations: Those of all poses among which it chooses, n each; None before they are asked for.
        drawn: The poses.
        drawn_at: The figure's `changes` when they were drawn.
    """

    figure: Figure
    ranks: Ranks
    run: Run
    share: cython.double
    rotations: list[Doubles]
    drawn: list[Pose]
    drawn_at: cython.int

    def __init__(self, ranks: Ranks, run: Run | None) -> None:
        self.figure, self.ranks, self.run = ranks.figure, ranks, run
        self.share = BODY_SHARE if run is None else 1.0
        self.rotations = self.drawn = None
        self.drawn_at = 0

    @cython.cfunc
    def search(self) -> cython.int:
        """Take the best pose to which the starts lead, where one is clearly better; returns the steps used."""
        ranks: Ranks = self.ranks
        descent: Descent = ranks.descent
        used: cython.int = 0
        best: Pose = copied_pose(descent.pose, self.figure.count)
        least = ranks.errors()
        missed: cython.double = ranks.rough.error_of(best)
        if self.run is not None:
            used += ranks.settle_from(self.nudged(), missed)
            if ranks.misses() <= ranks.effort.tolerance:
                return used + ranks.finish()
        for start in self.starts():
            used += ranks.settle_from(start, missed)
            ranks.record("restart")
            is_met: cython.bint = ranks.misses() <= ranks.effort.tolerance
            if is_met or ranks.is_better(least):
                best = copied_pose(descent.pose, self.figure.count)
                least = ranks.errors()
                missed = ranks.rough.error_of(best)
            if is_met:
                break
        descent.take(best)
        return used + ranks.finish()

    @cython.cfunc
    def starts(self) -> list[Pose]:
        """The poses: where FABRIK's passes take a run from the end of its limb's path, and drawn ones."""
        found = self.nearest(self.ranks.effort.restarts)
        if self.run is not None and self.run.limb is not None:
            pose: Pose = Pose(self.figure.count)
            self.run.put_otherwise(pose)
            found.insert(0, pose)
        return found

    @cython.cfunc
    def nudged(self) -> Pose:
        """The pose at hand with all joints turned a little about their bones, as far as their limits let them."""
        descent: Descent = self.ranks.descent
        pose: Pose = copied_pose(descent.pose, self.figure.count)
        for k in range(descent.count_of_turned):
            i: cython.int = descent.movers[k]
            limit: Limit = self.figure.limits[i]
            rotation: Q4 = q4(pose.rotations, i)
            bone: V3 = rotated(rotation, unit(v3(self.figure.segments, i)))
            put4(pose.rotations, i, limit.turn(rotation, scaled(bone, NUDGED)))
        self.figure.place(pose)
        return pose

    @cython.cfunc
    def nearest(self, count: cython.int) -> list[Pose]:
        """Those with the least errors that stand apart from each other, as many as are asked for at most."""
        if self.run is not None and self.run.drawn is not None:  # by whoever solved it before
            self.rotations, self.drawn = self.run.rotations, self.run.drawn
        elif self.drawn is None or self.drawn_at != self.figure.changes:
            self.draw()
        errors = []
        for k in range(len(self.drawn)):
            self.approach(k)
            errors.append((self.ranks.descent.error_of(self.drawn[k]), k))
        chosen: list[Pose] = []
        for _, k in sorted(errors):
            if len(chosen) >= count:
                break
            is_apart: cython.bint = True
            for other in chosen:
                if farthest(self.drawn[k], other, self.figure.count) <= self.share * APART:
                    is_apart = False
                    break
            if is_apart:
                chosen.append(self.drawn[k])
        return chosen

    @cython.cfunc
    def draw(self) -> cython.void:
        """Draw the poses; joints that move no goal stay at their start."""
        i: cython.int
        descent: Descent = self.ranks.descent
        random = Random(SEED)
        every: list[Doubles] = []
        poses: list[Pose] = []
        for _ in range(SCREENED):
            drawn: Doubles = doubles(4 * self.figure.count)
            for i in range(self.figure.count):
                limit: Limit = self.figure.limits[i]
                put4(drawn, i, limit.draw(random.random(), random.random(), random.random()))
            rotations: Doubles = clamp_start(self.figure)
            for k in range(descent.count_of_turned):
                i = descent.movers[k]
                limit = self.figure.limits[i]
                is_whole: cython.bint = self.share >= 1.0
                end: Q4 = q4(drawn, i)
                put4(rotations, i, end if is_whole else limit.blend(q4(rotations, i), end, self.share))
            every.append(rotations)
            poses.append(placed_pose(self.figure, rotations))
        self.rotations, self.drawn, self.drawn_at = every, poses, self.figure.changes
        if self.run is not None:
            self.run.rotations, self.run.drawn = self.rotations, self.drawn

    @cython.cfunc
    def approach(self, k: cython.int) -> cython.void:
        """Swing a drawn pose at a run's target, or bring its root to where the goals miss less."""
        pose: Pose = self.drawn[k]
        if self.run is not None:
            self.run.start_at(pose, self.rotations[k])
        elif self.figure.moves:
            self.fit(pose)

    @cython.cfunc
    def fit(self, pose: Pose) -> cython.void:
        """Shift a figure that moves to where its goals miss least."""
        copy_into(pose.shift, self.figure.root, 3)
        self.figure.place(pose)
        best: V3 = v3(self.figure.root, 0)
        for axis in (X_AXIS, Y_AXIS, Z_AXIS):
            pull: cython.double = 0.0
            weight: cython.double = 0.0
            for goal in self.ranks.descent.goals:
                if not goal.is_shifted:
                    continue
                goal.prepare(pose)
                change: V3 = goal.shift(pose, axis)
                pull += dot(change, goal.missing(pose))
                weight += dot(change, change)
            if weight > 0.0:
                best = plus(best, scaled(axis, pull / weight))
        put3(pose.shift, 0, best)
        self.figure.place(pose)
