# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures with several goals, or goals elsewhere than at the tip: least squares with a posture term.

Of all poses that meet the goals the one is taken that stays nearest to the start pose, so that the answer depends on
the goals alone and moves smoothly with them. Where it does not come to all goals, other starts inside the limits are
tried.
"""

from __future__ import annotations

from .. import cython
from ..figure import Figure, Pose, copied_pose
from ..forms import Doubles
from ..goals.base import Goal
from ..limits.base import Limit
from ..solution import BLOCKED, REACHED, TOO_FAR
from ..trace import Trace
from ..vectors import length, put4, q4
from .descent import LITTLE, Descent
from .limb import clamp_start
from .limited import APART, CLEARLY_BETTER, POLISHED
from .starts import drawn_poses, farthest

POSTURE = cython.declare(cython.double, 0.03)  # sizes of the figure that a radian away from the start pose counts
CONVERGED = cython.declare(cython.double, 1e-6)  # share of the error: so little a step gains at the posture's minimum
POLISHES = cython.declare(cython.int, 2)
POLISH = cython.declare(cython.double, 1.0 / 30.0)  # of the posture, with which the pose is finished
BODY_FINISHED = cython.declare(cython.double, 1e-9)
HALF_WAY = cython.declare(cython.double, 0.5)  # of a drawn pose from the start pose: the inner half of the limits


@cython.cclass
class Body:
    """Brings a figure of size 1 to several goals.

    Attributes:
        descent: Its pose is the answer.
    """

    figure: Figure
    descent: Descent
    budget: cython.int
    drawn: list[Pose]
    trace: Trace

    def __init__(self, figure: Figure, goals: list[Goal]) -> None:
        self.figure = figure
        self.descent = Descent(figure, goals)
        self.budget = 0
        self.drawn = None
        self.trace = None

    @cython.cfunc
    def solve(
        self, tolerance: cython.double, budget: cython.int, restarts: cython.int, plain: cython.bint
    ) -> cython.int:
        """Come to the goals from the start pose; returns the steps used.

        Args:
            tolerance: What each goal may miss.
            budget: Greatest number of steps of a descent.
            restarts: How many other starts are tried.
            plain: Whether none is tried, nor the pose finished.
        """
        descent: Descent = self.descent
        self.budget = budget
        used: cython.int = self.settle(clamp_start(self.figure), CONVERGED, tolerance)
        self.record("descend")
        if self.misses() <= tolerance or not restarts or plain:
            return used
        best: Pose = copied_pose(descent.pose, self.figure.count)
        least: cython.double = descent.error
        start: Pose
        for start in self.other_starts(restarts):
            used += self.settle(start.rotations, LITTLE, tolerance)
            self.record("restart")
            if descent.error < least * CLEARLY_BETTER:
                best = copied_pose(descent.pose, self.figure.count)
                least = descent.error
                if self.misses() <= tolerance:
                    break
        descent.take(best)
        return used

    @cython.cfunc
    def settle(self, rotations: Doubles, little: cython.double, tolerance: cython.double) -> cython.int:
        """Descend from allowed rotations with the posture term, then with less and less of it.

        Args:
            rotations: n.
            little: Gain of a step, as a share of the error, that is next to nothing at first.
            tolerance: What each goal may miss.
        """
        k: cython.int
        descent: Descent = self.descent
        descent.is_relaxed = False
        descent.posture = POSTURE
        descent.little = little
        descent.begin(rotations)
        used: cython.int = descent.descend(BODY_FINISHED, self.budget)
        descent.little = LITTLE
        for k in range(POLISHES):
            descent.posture = descent.posture * POLISH
            descent.judge()
            used += descent.descend(BODY_FINISHED, self.budget)
        if self.misses() > tolerance:
            descent.posture = 0.0
            descent.little = POLISHED
            descent.judge()
            used += descent.descend(BODY_FINISHED, self.budget)
        return used

    @cython.cfunc
    def misses(self) -> cython.double:
        """The most that any goal misses, without its weight."""
        g: cython.int
        goal: Goal
        most: cython.double = 0.0
        for g in range(len(self.descent.goals)):
            goal = self.descent.goals[g]
            missing: cython.double = missing_of(goal, self.descent.pose)
            most = missing if missing > most else most
        return most

    @cython.cfunc
    def status(self, tolerance: cython.double) -> cython.int:
        """The status of the goal that misses most."""
        goal: Goal
        worst: cython.double = -1.0
        status: cython.int = REACHED
        for goal in self.descent.goals:
            missing: cython.double = missing_of(goal, self.descent.pose)
            if missing > worst:
                worst = missing
                status = self.status_of(goal, tolerance)
        return status

    @cython.cfunc
    def status_of(self, goal: Goal, tolerance: cython.double) -> cython.int:
        """How one goal ended."""
        if missing_of(goal, self.descent.pose) <= tolerance:
            return REACHED
        return TOO_FAR if goal.is_beyond(self.figure) else BLOCKED

    @cython.cfunc
    def other_starts(self, count: cython.int) -> list[Pose]:
        """Of the poses half the way to drawn ones those with the least errors that stand apart from each other."""
        if self.drawn is None:
            self.drawn = [self.half_way(rotations) for rotations in drawn_poses(self.figure)]
        errors = []
        for k in range(len(self.drawn)):
            errors.append((self.descent.error_of(self.drawn[k]), k))
        chosen: list[Pose] = []
        pose: Pose
        other: Pose
        for _, k in sorted(errors):
            pose = self.drawn[k]
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
    def half_way(self, rotations: Doubles) -> Pose:
        """The pose half the way from the start pose to a drawn one."""
        i: cython.int
        pose: Pose = Pose(self.figure.count)
        start: Doubles = clamp_start(self.figure)
        for i in range(self.figure.count):
            limit: Limit = self.figure.limits[i]
            put4(pose.rotations, i, limit.blend(q4(start, i), q4(rotations, i), HALF_WAY))
        self.figure.place(pose)
        return pose

    @cython.cfunc
    def record(self, name: str) -> cython.void:
        if self.trace is not None:
            self.trace.record(name, self.descent.pose.heads, self.figure.count)


@cython.cfunc
def missing_of(goal: Goal, pose: Pose) -> cython.double:
    """What a goal misses, without its weight."""
    if goal.weight <= 0.0:
        return 0.0
    return length(goal.missing(pose)) / goal.weight
