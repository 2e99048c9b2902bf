# SPDX-License-Identifier: GPL-3.0-or-later
"""Least squares by ranks: of all poses that meet the goals the one that stays nearest to where the figure starts.

Where a run's path has put all joints, that is the pose from which the steps start. Else a posture term pulls to the
start pose, so that the answer depends on the goals alone and moves smoothly with them.

Goals have ranks, and are met in stages: first those of the first rank; then those of the next, in the room that these
leave; and so on. A stage takes nothing from the goals of the stages before it: where these miss something, they go on
to miss just that.
"""

from __future__ import annotations

from array import array
from operator import attrgetter

from . import cython
from .descent import FIRST_DAMPING, LITTLE, STALLED, Descent
from .figure import Figure, Pose, copied_pose, copy_pose
from .forms import Ints
from .goals.base import HINT, PIN, PLACED, Goal
from .goals.help import Help
from .rows import Effort
from .vectors import copy_into, larger, length, smaller

POSTURE = cython.declare(cython.double, 0.03)  # sizes of the figure that a radian away from the start pose counts
FINISHED_POSTURE = cython.declare(cython.double, 1e-5)  # the same, with which the pose is finished
PATIENCE = cython.declare(cython.int, 2)  # steps in a row that gain next to nothing, where posture has its minimum
CONVERGED = cython.declare(cython.double, 3e-6)  # share of the error: so little a step gains at that minimum
CONVERGED_IN_ROOM = cython.declare(cython.double, 1e-4)  # the same of a rank that has but the room of those before it
POLISHED = cython.declare(cython.double, 1e-5)  # the same for the pose nearest to goals that are missed
HINT_STEPS = cython.declare(cython.int, 32)  # of a descent to what only fills the room that is left
ROUGH_STEPS = cython.declare(cython.int, 24)  # from another start, before it is told whether it leads to the goals
ROUGH_ENOUGH = cython.declare(cython.double, 0.1)  # share of the tolerance at which these steps may end
HOPEFUL = cython.declare(cython.double, 0.1)  # share of the error that they may leave for their start to be followed
MUCH_BETTER = cython.declare(cython.double, 0.5)  # share of a rank's error that another start may leave to be taken
CLEARLY_BETTER = cython.declare(cython.double, 0.999)  # the same for a run, whose steps are short
MET = cython.declare(cython.double, 3e-8)  # error, in sizes of the figure, at which a rank's goals are met
MET_BY_RUN = cython.declare(cython.double, 1e-6)  # the same for a run, which posture draws nowhere
NEARLY_MET = cython.declare(cython.double, 0.1)  # share of the most that a goal of a rank misses
FINER_STEPS = cython.declare(cython.int, 12)  # by which they are met; goals that are in conflict gain nothing by more
NEVER_ENOUGH = cython.declare(cython.double, -1.0)
WORTH = cython.declare(cython.double, 0.01)  # k: sizes of the figure that the square of a radian of posture is worth
ROUNDS = cython.declare(cython.int, 6)  # times that a body is put nearer, with the posture that is then worth it
HALVED = cython.declare(cython.double, 0.5)  # share of the error from which on another time brings little
LAST_DAMPING = cython.declare(cython.double, 1e-5)  # of the first step of the descent that finishes a pose
NO_RANK = cython.declare(cython.int, -1)
NOTHING = 1e-6  # what a rank may miss more than before and count as missing the same


@cython.cclass
class Ranks:
    """Brings a figure of size 1 to several goals.

    Args:
        figure: n joints.
        goals: Bound to it.
        is_put: Whether a run's path puts all joints: then posture counts for nothing.
        effort: What may be spent.

    Attributes:
        judged: Those by which a solve is judged: hints are not, unless there is nothing else, nor what has no weight,
            nor where a body was put, which gives way to pins.
        ranks: For each goal the rank that it had when the stages were made; NO_RANK for one without weight.
        descent: Of all goals; its pose is the answer.
        firm: Of all goals but hints, which no limit holds back: who tells what does stands there.
        stages: One for each rank of goals.
        rough: Of all goals by which a solve is judged, none before another.
        is_held: Whether what carries a limb is stiffer in the solve at hand, since that is in reach (`Help`).
        is_bent: Whether straight limbs are drawn to where they are bent (`Rungs.bend_start`).
        last: Of no goals, with all but hints kept, which lets these limbs become straight again; None before that.
    """

    figure: Figure
    goals: list[Goal]
    judged: list[Goal]
    ranks: Ints
    descent: Descent
    firm: Descent
    stages: list[Descent]
    rough: Descent
    is_put: cython.bint
    is_held: cython.bint
    is_bent: cython.bint
    last: Descent
    effort: Effort

    def __init__(self, figure: Figure, goals: list[Goal], is_put: bool, effort: Effort) -> None:
        self.figure, self.goals, self.is_put, self.effort = figure, goals, is_put, effort
        self.is_held = self.is_bent = False
        self.last = None
        self.ranks = array("i", [rank_of_goal(goal) for goal in goals])
        self.stages = []
        before: list[Goal] = []
        weighty = [goal for goal in goals if goal.weight > 0.0 and not isinstance(goal, Help)] or goals
        self.judged = [goal for goal in weighty if goal.rank not in (PLACED, HINT)] or weighty
        for rank in sorted({goal.rank for goal in weighty}):
            # side by side where they hang on the same joints: these then have few rows of the equations
            own = sorted((goal for goal in weighty if goal.rank == rank), key=attrgetter("effector"))
            stage = Descent(figure, own, Descent(figure, before) if before else None)
            stage.patience = STALLED if is_put or (before and not stage.is_placing) else PATIENCE
            self.stages.append(stage)
            before = before + own
        self.descent = self.stages[0] if len(self.stages) == 1 else Descent(figure, before)
        firm = [goal for goal in before if goal.rank != HINT] or before
        self.firm = self.descent if len(firm) == len(before) else Descent(figure, firm)
        self.rough = self.stages[0] if len(self.stages) == 1 else Descent(figure, self.judged)

    @cython.cfunc
    def fits(self) -> cython.bint:
        """Whether the stages are still those of the goals' ranks."""
        for g in range(len(self.goals)):
            if self.ranks[g] != rank_of_goal(self.goals[g]):
                return False
        return True

    @cython.cfunc
    def share_weights(self) -> cython.void:
        """Weights count among the goals of one rank alone: make the greatest of each rank 1."""
        for stage in self.stages:
            most: cython.double = 0.0
            for i in range(stage.kept, len(stage.goals)):
                goal: Goal = stage.goals[i]
                most = larger(most, goal.weight)
            for i in range(stage.kept, len(stage.goals)):
                goal = stage.goals[i]
                if most > 0.0:
                    goal.weight = goal.weight / most

    def errors(self) -> list[float]:
        """What the goals of each rank miss, the first rank first."""
        return [stage.error for stage in self.stages]

    @cython.cfunc
    def is_better(self, least: list[float]) -> cython.bint:
        """Whether a rank misses clearly less than before, and no earlier one more."""
        share: cython.double = CLEARLY_BETTER if self.is_put else MUCH_BETTER
        for now, before in zip(self.errors(), least, strict=True):
            if now < before * share - self.effort.tolerance and before > NOTHING:
                return True
            if now > before + NOTHING:
                return False
        return False

    @cython.cfunc
    def settle(self, start: Pose, budget: cython.int) -> cython.int:
        """Descend from a pose inside the limits, rank by rank; returns the steps used.

        Args:
            start: The pose.
            budget: Greatest number of steps of a descent.
        """
        used: cython.int = 0
        before: Descent = None
        for stage in self.stages:
            stage.weight = 0.0 if self.is_put else POSTURE
            # no hand in its reach says how a body gives way to pinned feet; said before the stage's cost is found
            stage.is_eased = stage.goals[stage.kept].rank != PIN
            stage.take(start if before is None else before.pose)
            if self.is_bent and stage.goals[stage.kept].rank == HINT and before is not None:
                used += self.unbend(before)
                stage.take(before.pose)
            if before is not None:
                stage.keep(self.effort.tolerance)
            used += self.meet(stage, budget)
            before = stage
        if self.is_bent:
            used += self.unbend(before)
        if before is not self.descent:
            self.descent.take(before.pose)
        return used

    @cython.cfunc
    def unbend(self, stage: Descent) -> cython.int:
        """Let what was bent go back as far as the goals of a stage and those before allow; returns the steps used."""
        self.is_bent = False
        copy_into(self.figure.posture, self.figure.start, 4 * self.figure.count)
        if self.last is None:
            self.last = Descent(self.figure, [], Descent(self.figure, stage.goals))
            self.last.weight = POSTURE
        self.last.take(stage.pose)
        self.last.keep(self.effort.tolerance)
        used: cython.int = self.last.descend(NEVER_ENOUGH, self.effort.passes, CONVERGED_IN_ROOM, FIRST_DAMPING)
        stage.take(self.last.pose)
        if stage.error > self.effort.tolerance:  # what reaches as far as it can is straight to the last
            used += stage.descend(MET, self.effort.passes, LITTLE, LAST_DAMPING)
        return used

    @cython.cfunc
    def meet(self, stage: Descent, budget: cython.int) -> cython.int:
        """Bring the goals of one rank nearer from where a stage stands; returns the steps used.

        Posture says which of many poses it is to be, and stiffness who turns first. How far a figure reaches posture
        does not say, so in the end it counts for next to nothing. Nor does the stiffness of a run, which counts for
        nothing where its goal is missed; that of a body says how much each bone gives way to a pull, and stays.
        """
        is_pin: cython.bint = stage.goals[stage.kept].rank == PIN
        is_hint: cython.bint = stage.kept > 0 and stage.goals[stage.kept].rank == HINT
        converged: cython.double = CONVERGED_IN_ROOM if stage.kept > 0 else CONVERGED
        is_pulled: cython.bint = not self.is_put
        stage.is_relaxed = False
        little: cython.double = converged if is_pulled and not is_hint else LITTLE
        damping: cython.double = LAST_DAMPING if is_pulled else FIRST_DAMPING  # of the descent that finishes the pose
        budget = HINT_STEPS if is_hint and budget > HINT_STEPS else budget
        used: cython.int = stage.descend(NEVER_ENOUGH if is_pulled else MET_BY_RUN, budget, little, FIRST_DAMPING)
        is_stiff: cython.bint = self.is_put and self.figure.is_stiff and stage.error > self.effort.tolerance
        if is_pulled and stage.is_placing:
            return used + self.place(stage, budget)
        if is_pulled or is_stiff:
            stage.is_relaxed = is_stiff
            stage.weight = FINISHED_POSTURE if is_pulled else 0.0
            stage.judge()
            used += stage.descend(MET if is_pulled else MET_BY_RUN, budget, LITTLE, damping)
            if self.is_held and not is_pin and not is_hint and stage.error > self.effort.tolerance:
                stage.is_eased = False  # nor how it does so where that keeps others from their goals
                stage.judge()
                used += stage.descend(MET, budget, LITTLE, damping)
        return used if is_hint else used + self.refine(stage)

    @cython.cfunc
    def place(self, stage: Descent, budget: cython.int) -> cython.int:
        """Bring the goals that say where a body is put nearer, as far as that is worth its posture; returns the steps.

        Legs of pinned feet hold a body back by limits, or by their length. The last bit then costs a lot (a thigh is
        twisted by 25 degrees for a tenth of one of the hips), and all of it is given back as soon as the body is in
        reach: legs pop. So what counts is the error, not its square, beside the posture: e + k/2 |q - q0|^2. This is 0
        for e where that can be (an exact penalty, Nocedal and Wright 2006, 17.2), and bends between the two smoothly.
        It is found by least squares whose posture has the weight sqrt(k e), e being the error of those before. k is
        for the goal that counts least, and stiffness is no part of it: neither keeps a goal from being met.
        """
        used: cython.int = 0
        worth: cython.double = WORTH * least_weight(stage)
        stage.weight = FINISHED_POSTURE
        for again in range(ROUNDS):
            before: cython.double = stage.error
            stage.price = worth * before
            stage.judge()
            used += stage.descend(MET, budget, CONVERGED_IN_ROOM, LAST_DAMPING)
            if stage.error <= MET or (again > 0 and stage.error > HALVED * before):
                break
        if stage.error > self.effort.tolerance:
            used += self.place_anyway(stage, budget, worth)
        stage.price = 0.0
        return used

    @cython.cfunc
    def place_anyway(self, stage: Descent, budget: cython.int, worth: cython.double) -> cython.int:
        """Put a body where it is asked for, whatever posture says, if that leads there and is worth it; the steps used.

        On the way there a leg may have to turn where that brings the body but little nearer: `place` stays before it.
        """
        stage.price = 0.5 * worth
        before: cython.double = stage.error + stage.strain_of(stage.pose)
        kept: Pose = copied_pose(stage.pose, self.figure.count)
        stage.price = 0.0
        stage.judge()
        used: cython.int = stage.descend(MET, budget, LITTLE, LAST_DAMPING)
        stage.price = 0.5 * worth
        if stage.error > self.effort.tolerance or stage.error + stage.strain_of(stage.pose) > before:
            stage.take(kept)
        return used

    @cython.cfunc
    def refine(self, stage: Descent) -> cython.int:
        """Bring goals of a rank that are nearly met all the way, where others of it are missed; returns the steps used.

        What those miss damps the steps of all, and is so much that what these gain counts as nothing. So these go on by
        themselves, and take nothing from those.
        """
        if len(stage.goals) == stage.kept + 1:  # which has none beside it
            return 0
        own: list[Goal] = stage.goals[stage.kept :]
        most: cython.double = most_missing(own, stage.pose)
        if most <= self.effort.tolerance:
            return 0
        near: list[Goal] = []
        kept: list[Goal] = stage.goals[: stage.kept]
        for goal in own:
            (near if missing_of(goal, stage.pose) <= NEARLY_MET * most else kept).append(goal)
        if most_missing(near, stage.pose) <= self.effort.tolerance:
            return 0
        used: cython.int = self.bring_nearer(self.figure, near, kept, stage.pose)
        stage.take(stage.pose)
        return used

    @cython.cfunc
    def bring_nearer(self, figure: Figure, near: list[Goal], kept: list[Goal], pose: Pose) -> cython.int:
        """Bring some goals as near as can be and take nothing from others; returns the steps used.

        Args:
            figure: These joints, perhaps with other lengths.
            near: The goals.
            kept: The others.
            pose: Where to begin; is given the pose that was found, placed.
        """
        finer = Descent(figure, near, Descent(figure, kept) if kept else None)
        finer.weight = 0.0 if self.is_put else FINISHED_POSTURE
        finer.take(pose)
        if kept:
            finer.keep(self.effort.tolerance)
        used: cython.int = finer.descend(MET, FINER_STEPS, LITTLE, LAST_DAMPING)
        copy_pose(pose, finer.pose, figure.count)
        figure.place(pose)
        return used

    @cython.cfunc
    def settle_from(self, start: Pose, missed: cython.double) -> cython.int:
        """`settle` from another start, if some rough steps from there are hopeful; returns the steps used.

        Args:
            start: The pose.
            missed: The least error so far, of all goals together.
        """
        effort: Effort = self.effort
        rough: Descent = self.rough
        rough.take(start)
        used: cython.int = rough.descend(ROUGH_ENOUGH * effort.tolerance, ROUGH_STEPS, LITTLE, FIRST_DAMPING)
        if rough.error > (missed if self.is_put else HOPEFUL * missed):
            return used
        return used + self.settle(rough.pose, effort.share if self.is_put else effort.passes)

    @cython.cfunc
    def finish(self) -> cython.int:
        """End a search for other starts at the best pose; returns the steps used.

        A run comes as near as can be to what it misses. Where it misses nothing, what the other start turned for
        nothing goes back towards where the joints began.
        """
        if not self.is_put:  # the posture's minimum is that
            return 0
        descent: Descent = self.descent
        used: cython.int = 0
        best: Pose = copied_pose(descent.pose, self.figure.count)
        is_met: cython.bint = self.misses() <= self.effort.tolerance
        if is_met:
            descent.weight = POSTURE
            descent.judge()
            used = descent.descend(NEVER_ENOUGH, self.effort.passes, CONVERGED, FIRST_DAMPING)
            descent.weight = 0.0
            descent.judge()
        used += descent.descend(MET_BY_RUN, self.effort.passes, POLISHED, FIRST_DAMPING)
        if is_met and self.misses() > self.effort.tolerance:
            descent.take(best)
        return used

    @cython.cfunc
    def misses(self) -> cython.double:
        """The most that any goal that counts misses, without its weight."""
        return most_missing(self.judged, self.descent.pose)

    @cython.cfunc
    def record(self, name: str) -> cython.void:
        """Show the pose after a descent to whoever wants to see it."""
        if self.effort.trace is not None:
            self.figure.place(self.descent.pose)
            self.effort.record(name, self.descent.pose.heads, self.figure.count)

    @cython.cfunc
    def least_missing(self) -> cython.double:
        """What the worst of a body's goals misses at least, by the lengths of the joints alone; 0 for a run.

        Of two that are too far apart, the one of the later rank misses all of it, and two of one rank a half each.
        """
        least: cython.double = 0.0
        for k in range(0 if self.is_put else len(self.judged)):
            goal: Goal = self.judged[k]
            least = larger(least, goal.beyond(self.figure))
            for other in self.judged[:k]:
                gap: cython.double = goal.gap(other, self.figure)
                least = larger(least, 0.5 * gap if goal.rank == other.rank else gap)
        return least

    @cython.cfunc
    def is_hopeless(self) -> cython.bint:
        """Whether no other start can come so much nearer that it would be taken, however the joints turn."""
        least: cython.double = self.least_missing()
        return least > 0.0 and least >= MUCH_BETTER * self.misses() - self.effort.tolerance


@cython.cfunc
def rank_of_goal(goal: Goal) -> cython.int:
    """The rank of a goal that has weight; NO_RANK for one that asks for nothing."""
    return goal.rank if goal.weight > 0.0 else NO_RANK


@cython.cfunc
def least_weight(stage: Descent) -> cython.double:
    """The least weight of the goals that a stage is to meet."""
    least: cython.double = 1.0  # as the greatest is
    for goal in stage.goals[stage.kept :]:
        if goal.weight > 0.0:
            least = smaller(least, goal.weight)
    return least


@cython.cfunc
def most_missing(goals: list[Goal], pose: Pose) -> cython.double:
    """The most that any of some goals misses, without its weight."""
    most: cython.double = 0.0
    for goal in goals:
        most = larger(missing_of(goal, pose), most)
    return most


@cython.cfunc
def missing_of(goal: Goal, pose: Pose) -> cython.double:
    """What a goal misses, without its weight."""
    if goal.weight <= 0.0:
        return 0.0
    return length(goal.missing(pose)) / goal.weight
