# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures with several goals, or goals elsewhere than at the tip: least squares with a posture term.

Of all poses that meet the goals the one is taken that stays nearest to the start pose, so that the answer depends on
the goals alone and moves smoothly with them. Where it does not come to all goals, other starts inside the limits are
tried.

Goals have ranks, and are met in stages: first those of the first rank; then those of the next, in the room that these
leave; and so on. A stage takes nothing from the goals of the stages before it: where these miss something, they go on
to miss just that.
"""

from __future__ import annotations

from . import cython
from .descent import FIRST_DAMPING, LITTLE, STALLED, Descent
from .fabrik import Trace
from .figure import Figure, Pose, clamp_start, copied_pose, placed_pose
from .forms import Doubles, Ints
from .goals.base import HINT, Goal
from .restarts import Restarts
from .rows import BLOCKED, REACHED, TOO_FAR
from .vectors import doubles, integers, larger, length, ones

FAR_MISSED = cython.declare(cython.double, 0.5)  # error, in sizes of the figure, from which on goals count as far
POSTURE = cython.declare(cython.double, 0.03)  # sizes of the figure that a radian away from the start pose counts
FINISHED_POSTURE = cython.declare(cython.double, 1e-5)  # the same, with which the pose is finished
PATIENCE = cython.declare(cython.int, 2)  # steps in a row that gain next to nothing
CONVERGED = cython.declare(cython.double, 3e-6)  # share of the error: so little a step gains at the posture's minimum
HINT_STEPS = cython.declare(cython.int, 32)  # of a descent to what only fills the room that is left
ROUGH_STEPS = cython.declare(cython.int, 24)  # from another start, before it is told whether it leads to the goals
ROUGH_ENOUGH = cython.declare(cython.double, 0.1)  # share of the tolerance at which these steps may end
MUCH_BETTER = cython.declare(cython.double, 0.5)  # share of a rank's error that another start may leave to be taken
HOPEFUL = cython.declare(
    cython.double, 0.1
)  # share of the error that rough steps may leave for their start to be followed
BODY_FINISHED = cython.declare(cython.double, 3e-8)  # error, in sizes of the figure, at which a rank's goals are met
NEARLY_MET = cython.declare(cython.double, 0.1)  # share of the most that a goal of a rank misses
FINER_STEPS = cython.declare(cython.int, 12)  # by which they are met; goals that are in conflict gain nothing by more
NEVER_ENOUGH = cython.declare(cython.double, -1.0)
LAST_DAMPING = cython.declare(cython.double, 1e-5)  # of the first step of the descent that finishes a pose
HALF_WAY = 0.5  # to a drawn pose from the start pose: the inner half of the limits
NO_RANK = cython.declare(cython.int, -1)
NOTHING = 1e-6  # what a rank may miss more than before and count as missing the same


@cython.cclass
class Body:
    """Brings a figure of size 1 to several goals.

    Attributes:
        goals: In the order in which they are asked.
        judged: Those by which a solve is judged: hints are not, unless there is nothing else, nor what has no weight.
        factors: For each goal by how much the joints on the way to it were stretched.
        ranks: For each goal the rank that it had when the stages were made; NO_RANK for one without weight.
        descent: Of all goals; its pose is the answer.
        stages: One for each rank of goals.
        rough: Of all goals by which a solve is judged, none before another.
        starts: What is tried where the goals are missed from the start pose.
    """

    figure: Figure
    goals: list[Goal]
    judged: list[Goal]
    factors: Doubles
    ranks: Ints
    descent: Descent
    stages: list[Descent]
    rough: Descent
    budget: cython.int
    starts: Restarts
    trace: Trace

    def __init__(self, figure: Figure, goals: list[Goal]) -> None:
        self.figure = figure
        self.goals = goals
        self.factors, self.ranks = doubles(len(goals)), integers(len(goals))
        for g, goal in enumerate(goals):
            self.ranks[g] = rank_of_goal(goal)
        self.stages = []
        before: list[Goal] = []
        weighty = [goal for goal in goals if goal.weight > 0.0] or goals
        self.judged = [goal for goal in weighty if goal.rank != HINT] or weighty
        for rank in sorted({goal.rank for goal in weighty}):
            # side by side where they hang on the same joints: these then have few rows of the equations
            own = sorted((goal for goal in weighty if goal.rank == rank), key=effector_of)
            self.stages.append(Descent(figure, own, Descent(figure, before) if before else None))
            before = before + own
        self.descent = self.stages[0] if len(self.stages) == 1 else Descent(figure, before)
        self.rough = self.stages[0] if len(self.stages) == 1 else Descent(figure, self.judged)
        self.budget = 0
        self.starts = Restarts(self.descent, HALF_WAY)
        self.trace = None

    @cython.cfunc
    def fits(self) -> cython.bint:
        """Whether the stages are still those of the goals' ranks."""
        g: cython.int
        for g in range(len(self.goals)):
            if self.ranks[g] != rank_of_goal(self.goals[g]):
                return False
        return True

    @cython.cfunc
    def share_weights(self) -> cython.void:
        """Weights count among the goals of one rank alone: make the greatest of each rank 1."""
        i: cython.int
        stage: Descent
        goal: Goal
        for stage in self.stages:
            most: cython.double = 0.0
            for i in range(stage.kept, len(stage.goals)):
                goal = stage.goals[i]
                most = larger(most, goal.weight)
            for i in range(stage.kept, len(stage.goals)):
                goal = stage.goals[i]
                if most > 0.0:
                    goal.weight = goal.weight / most

    @cython.cfunc
    def solve(
        self, tolerance: cython.double, budget: cython.int, restarts: cython.int, plain: cython.bint
    ) -> cython.int:
        """Come to the goals from the start pose, all joints placed at last; returns the steps used.

        Args:
            tolerance: What each goal may miss.
            budget: Greatest number of steps of a descent.
            restarts: How many other starts are tried.
            plain: Whether none is tried, nor the pose finished.
        """
        goal: Goal
        self.share_weights()
        for goal in self.goals:
            goal.let_stretch(False)
        used: cython.int = self.search(tolerance, budget, restarts, plain)
        self.figure.place(self.descent.pose)
        self.stretch(tolerance)
        return used

    @cython.cfunc
    def stretch(self, tolerance: cython.double) -> cython.void:
        """Let goals that are missed, and may stretch the joints on the way to them, do so one after the other."""
        g: cython.int
        lengths: Doubles = None
        for g in range(len(self.goals)):
            goal: Goal = self.goals[g]
            goal.let_stretch(True)
            self.factors[g] = goal.factor_at(self.descent.pose, tolerance)
            if self.factors[g] > 1.0:
                if lengths is None:
                    lengths = ones(self.figure.count)
                goal.lengthen(lengths, self.factors[g])
                longer: Figure = self.figure.with_lengths(lengths, 1.0)
                longer.place(self.descent.pose)

    @cython.cfunc
    def search(
        self, tolerance: cython.double, budget: cython.int, restarts: cython.int, plain: cython.bint
    ) -> cython.int:
        """`solve`, but for the joints that move no goal."""
        descent: Descent = self.descent
        self.budget = budget
        used: cython.int = self.settle(placed_pose(self.figure, clamp_start(self.figure)), tolerance)
        self.record("descend")
        if not restarts or plain or self.misses() <= tolerance or are_too_far_apart(self.judged, self.figure):
            return used
        best: Pose = copied_pose(descent.pose, self.figure.count)
        least = self.errors()
        rough: Descent = self.rough
        missed: cython.double = rough.error_of(best)
        start: Pose
        for start in self.starts.nearest(restarts):
            rough.take(start)
            used += rough.descend(ROUGH_ENOUGH * tolerance, ROUGH_STEPS)
            if rough.error > HOPEFUL * missed:
                continue
            used += self.settle(rough.pose, tolerance)
            self.record("restart")
            if is_less(self.errors(), least):
                best = copied_pose(descent.pose, self.figure.count)
                least = self.errors()
                missed = rough.error_of(best)
                if self.misses() <= tolerance:
                    break
        descent.take(best)
        return used

    def errors(self) -> list[float]:
        """What the goals of each rank miss, the first rank first."""
        stage: Descent
        found = []
        for stage in self.stages:
            found.append(stage.error)
        return found

    @cython.cfunc
    def settle(self, start: Pose, tolerance: cython.double) -> cython.int:
        """Descend from a pose inside the limits with the posture term, then with next to nothing of it.

        Args:
            start: The pose.
            tolerance: What each goal may miss.
        """
        used: cython.int = 0
        stage: Descent
        before: Descent = None
        for stage in self.stages:
            stage.posture.is_relaxed = False
            stage.robust_to = FAR_MISSED
            stage.patience = PATIENCE if before is None else STALLED
            stage.posture.weight = POSTURE
            is_hint: cython.bint = before is not None and stage.goals[stage.kept].rank == HINT
            stage.little = LITTLE if is_hint else CONVERGED
            if before is None:
                stage.take(start)
            else:
                stage.take(before.pose)
                stage.keep(tolerance)
            used += self.meet(stage, HINT_STEPS if is_hint and self.budget > HINT_STEPS else self.budget)
            if not is_hint:
                used += self.refine(stage, tolerance)
            before = stage
        if before is not self.descent:
            self.descent.take(before.pose)
        return used

    @cython.cfunc
    def meet(self, stage: Descent, budget: cython.int) -> cython.int:
        """Bring the goals of one rank nearer from where a stage stands; returns the steps used."""
        stage.first_damping = FIRST_DAMPING
        used: cython.int = stage.descend(NEVER_ENOUGH, budget)
        stage.first_damping = LAST_DAMPING
        stage.posture.weight = FINISHED_POSTURE
        stage.little = LITTLE
        stage.judge()
        return used + stage.descend(BODY_FINISHED, budget)

    @cython.cfunc
    def refine(self, stage: Descent, tolerance: cython.double) -> cython.int:
        """Bring goals of a rank that are nearly met all the way, where others of it are missed; returns the steps used.

        What those miss damps the steps of all, and is so much that what these gain counts as nothing. So these go on by
        themselves, and take nothing from those.
        """
        i: cython.int
        most: cython.double = 0.0
        for i in range(stage.kept, len(stage.goals)):
            most = larger(most, missing_of(stage.goals[i], stage.pose))
        if most <= tolerance:
            return 0
        near, kept = [], stage.goals[: stage.kept]
        is_met: cython.bint = True
        for i in range(stage.kept, len(stage.goals)):
            goal: Goal = stage.goals[i]
            missing: cython.double = missing_of(goal, stage.pose)
            if missing <= NEARLY_MET * most:
                near.append(goal)
                is_met = is_met and missing <= tolerance
            else:
                kept.append(goal)
        if is_met:
            return 0
        finer = Descent(self.figure, near, Descent(self.figure, kept))
        finer.posture.weight = FINISHED_POSTURE
        finer.first_damping = LAST_DAMPING
        finer.robust_to = FAR_MISSED
        finer.take(stage.pose)
        finer.keep(tolerance)
        used: cython.int = finer.descend(BODY_FINISHED, FINER_STEPS)
        stage.take(finer.pose)
        return used

    @cython.cfunc
    def misses(self) -> cython.double:
        """The most that any goal that counts misses, without its weight."""
        return most_missing(self.judged, self.descent.pose)

    @cython.cfunc
    def status(self, tolerance: cython.double) -> cython.int:
        """The status of the goal that misses most."""
        goal: Goal
        worst: cython.double = -1.0
        status: cython.int = REACHED
        for goal in self.judged:
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
    def record(self, name: str) -> cython.void:
        if self.trace is not None:
            self.figure.place(self.descent.pose)
            self.trace.record(name, self.descent.pose.heads, self.figure.count)


def effector_of(goal: Goal) -> int:
    """The joint by which goals of a rank are ordered."""
    return goal.effector


@cython.cfunc
def rank_of_goal(goal: Goal) -> cython.int:
    """The rank of a goal that has weight; NO_RANK for one that asks for nothing."""
    return goal.rank if goal.weight > 0.0 else NO_RANK


def is_less(errors: list[float], least: list[float]) -> bool:
    """True if a rank improved by more than MUCH_BETTER and no earlier rank got worse."""
    for now, before in zip(errors, least, strict=True):
        if now < before * MUCH_BETTER and before > NOTHING:
            return True
        if now > before + NOTHING:
            return False
    return False


@cython.cfunc
def are_too_far_apart(goals: list[Goal], figure: Figure) -> bool:
    """Whether some goals can't all be met, by the lengths of the joints alone: whatever start they have."""
    other: Goal
    for k in range(len(goals)):
        goal: Goal = goals[k]
        if goal.is_beyond(figure):
            return True
        for other in goals[:k]:
            if goal.is_apart(other, figure):
                return True
    return False


@cython.cfunc
def most_missing(goals: list[Goal], pose: Pose) -> cython.double:
    """The most that any of some goals misses, without its weight."""
    goal: Goal
    most: cython.double = 0.0
    for goal in goals:
        missing: cython.double = missing_of(goal, pose)
        most = missing if missing > most else most
    return most


@cython.cfunc
def missing_of(goal: Goal, pose: Pose) -> cython.double:
    """What a goal misses, without its weight."""
    if goal.weight <= 0.0:
        return 0.0
    return length(goal.missing(pose)) / goal.weight
