# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of rungs by which every figure is solved, chain or body.

1. The start pose, where it is the answer.
2. For a run, a chain whose tip one goal alone asks to a place: the path of its limb, and FABRIK's passes.
3. Least squares by ranks, with posture where no run's path tells how the joints turn.
4. Other starts, where goals are missed, and by more than the lengths of the joints explain.
5. A rigid turn about the line from the root to the tip, for a run with a pole.

At last what may stretch does.
"""

from __future__ import annotations

from array import array
from math import atan2, sqrt
from typing import cast

from . import cython
from .descent import FIRST_DAMPING, LITTLE, Descent
from .figure import UNEASED, Figure, Pose, clamp_start, copy_pose, placed_pose
from .forms import Q4, V3, Doubles, Ints
from .goals.base import Goal
from .goals.bend import Bend
from .goals.point import Point
from .least_squares import Jacobian
from .limits.base import Limit
from .limits.fixed import FREE
from .ranks import Ranks, missing_of, most_missing
from .restarts import Restarts
from .rows import BLOCKED, MOST_GIVES, NEVER, REACHED, TOO_FAR, TOO_NEAR, UNKNOWN, Effort, Rows
from .run import Run
from .vectors import (
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    conjugated,
    copy_into,
    cross,
    dot,
    doubles,
    filled,
    integers,
    larger,
    length,
    minus,
    multiplied,
    plus,
    put3,
    put4,
    q4,
    rotated,
    rotation_vector,
    scaled,
    smaller,
    turn_about,
    unit,
    v3,
)

THERE = cython.declare(cython.double, 0.01)  # share of the tolerance within which the start pose is the answer
POLE_MET = cython.declare(cython.double, 1e-3)  # radians
ALIGNED = cython.declare(cython.int, 4)  # times that what is stretched turns and stretches again
BENT = cython.declare(cython.double, 0.4)  # radians by which straight limbs are bent to begin with, at most
LIMB_JOINTS = cython.declare(cython.int, 2)  # in a row that are straight, of a limb; a tail or rope gives way as it is
STRAIGHT_BELOW = cython.declare(cython.double, 0.1)  # radians between two bones from which on a limb is not straight
FAR_OFF = cython.declare(cython.double, 4.0)  # a target of a run farther away is as good as one at so many lengths


@cython.cclass
class Rungs:
    """Brings a figure of size 1 to its goals, rung by rung.

    Args:
        figure: n joints.
        rows: With the goals, bound to it, in the order in which they are asked.
        effort: What may be spent.
        run: The whole figure as a run, or None where it is none. Its goals are a point, and perhaps a pole.

    Attributes:
        ranks: Of all goals but a run's pole; its pose is the answer.
        point: The goal of a run.
        pole: Of a run, or None.
        pole_error: The angle by which it is missed.
        factors: For each goal by how much the joints on the way to it were stretched.
        held: The joints whose limits hold the goals back, the strongest first.
        used: Steps and passes.
    """

    figure: Figure
    goals: list[Goal]
    effort: Effort
    run: Run
    ranks: Ranks
    restarts: Restarts
    point: Point
    pole: Bend
    pole_error: cython.double
    factors: Doubles
    counts: Ints
    held: list[int]
    used: cython.int

    def __init__(self, figure: Figure, rows: Rows, effort: Effort, run: Run | None) -> None:
        goals = rows.asked
        self.figure, self.goals, self.effort, self.run = figure, goals, effort, run
        self.point = None if run is None else cast(Point, goals[rows.tip])
        self.pole = None if run is None or rows.pole < 0 else cast(Bend, goals[rows.pole])
        self.ranks = Ranks(figure, goals if run is None else [self.point], run is not None, effort)
        self.restarts = Restarts(self.ranks, run)
        self.factors = doubles(len(goals))
        self.counts = array("i", [goal in self.ranks.judged for goal in goals])
        self.held = []
        self.pole_error = 0.0
        self.used = 0

    @cython.cfunc
    def solve(self) -> cython.void:
        """Come to the goals from the start pose, all joints placed at last."""
        descent: Descent = self.ranks.descent
        start: Pose = placed_pose(self.figure, clamp_start(self.figure)) if self.run is None else self.run.start
        self.ranks.share_weights()
        for i in range(self.figure.count):
            self.figure.eases[i] = UNEASED
        for goal in self.goals:
            goal.begin(self.figure, start)
            goal.let_stretch(False)
        self.ranks.is_held = self.ranks.is_bent = False
        for i in range(self.figure.count):
            if UNEASED < self.figure.eases[i] < 0.0:
                self.ranks.is_held = True
        copy_into(self.figure.posture, self.figure.start, 4 * self.figure.count)
        pose: Pose = self.ranks.stages[0].pose
        self.effort.record("start", start.heads, self.figure.count)
        is_done: cython.bint = most_missing(self.ranks.goals, start) <= THERE * self.effort.tolerance
        self.used = 0
        if self.run is None or (is_done and not (self.run.limb is not None and self.run.limb.leads_past_start)):
            copy_pose(pose, start, self.figure.count)
        else:
            self.used = self.run.put(pose, self.point.softened_place(ORIGIN))
            is_done = self.run.is_final
        if is_done:
            descent.take(pose)
        else:
            self.used += self.descend(pose)
        pose = descent.pose
        if len(descent.placed) < self.figure.count:
            self.figure.place(pose)
        self.held = []
        if self.ranks.misses() > self.effort.tolerance:
            self.ranks.firm.take(pose)
            self.held = blocking_joints(self.ranks.firm)
        self.pole_error = 0.0
        if self.pole is not None and self.pole.weight > 0.0:
            pole: V3 = plus(v3(pose.heads, self.pole.root), self.pole.away(pose))
            self.pole_error = self.run.pole_turn().turn(pose, pole, self.pole.angle_in(pose))
        self.effort.record("end", pose.heads, self.figure.count)
        self.stretch()

    @cython.cfunc
    def descend(self, pose: Pose) -> cython.int:
        """Least squares from a pose, and from other starts; returns the steps used.

        A run is asked for a place that is not too far off meanwhile.
        """
        ranks: Ranks = self.ranks
        place: V3 = self.point.target if self.point is not None else ORIGIN
        distance: cython.double = length(place)
        is_far: cython.bint = distance > FAR_OFF and self.point.soft <= 0.0  # soft ones come near by themselves
        if is_far:
            self.point.target = scaled(place, FAR_OFF / distance)
        used: cython.int = 0
        if self.run is None:
            self.bend_start(pose)
        used += ranks.settle(pose, self.effort.passes - self.used)
        ranks.record("descend")
        if self.effort.restarts and ranks.misses() > self.effort.tolerance and not ranks.is_hopeless():
            used += self.restarts.search()
        if is_far:
            self.point.target = place
            ranks.descent.judge()
        return used

    @cython.cfunc
    def bend_start(self, pose: Pose) -> cython.void:
        """Bend straight limbs of a pose, and draw their joints to that until the goals are met (`Ranks.unbend`).

        What is straight yields to no push along it: how it shortens goes by the square of how it bends. From bent limbs
        steps find the way. The nearer the goals are, the less they are bent: half as much as a limb of the figure's
        length would have to. So are limbs that are bent a little already.
        """
        descent: Descent = self.ranks.descent
        figure: Figure = self.figure
        least: cython.double = smaller(BENT, 2.0 * sqrt(most_missing(self.ranks.firm.goals, pose)))
        bends: Doubles = filled(figure.count, 0.0)
        axes: Doubles = doubles(3 * figure.count)
        runs: Ints = integers(figure.count)  # how many joints in a row are straight, this one the last of them
        for k in range(descent.count_of_turned):
            i: cython.int = descent.movers[k]
            axis: V3 = self.bend_axis(pose, i)
            if dot(axis, axis) > 0.0:
                upper: V3 = minus(v3(pose.heads, i), v3(pose.heads, figure.parents[i]))
                lower: V3 = minus(v3(pose.ends, i), v3(pose.heads, i))
                bend: cython.double = atan2(length(cross(upper, lower)), dot(upper, lower))
                if dot(upper, upper) > 0.0 and bend < STRAIGHT_BELOW:
                    bends[i] = least * (1.0 - bend / STRAIGHT_BELOW)
                    put3(axes, i, axis)
                    runs[i] = runs[figure.parents[i]] + 1
        for k in range(figure.count):
            i = figure.count - 1 - k
            if runs[i] > 0 and runs[figure.parents[i]] > 0:
                runs[figure.parents[i]] = runs[i]  # that of all of the row
        for i in range(figure.count):
            if 0 < runs[i] <= LIMB_JOINTS and bends[i] > 0.0:
                limit: Limit = figure.limits[i]
                bent: Q4 = limit.turn(q4(pose.rotations, i), scaled(v3(axes, i), bends[i] / runs[i]))
                put4(figure.posture, i, bent)
                put4(pose.rotations, i, bent)
                self.ranks.is_bent = True
        if self.ranks.is_bent:
            figure.place(pose)

    @cython.cfunc
    def bend_axis(self, pose: Pose, i: cython.int) -> V3:
        """The axis, in its rest frame, about which a joint bends: its limit's, or that of a pole; zero for none."""
        if self.figure.parents[i] < 0:
            return ORIGIN
        limit: Limit = self.figure.limits[i]
        axis: V3 = limit.prefer(q4(pose.rotations, i))
        if dot(axis, axis) > 0.0:
            return axis
        for goal in self.ranks.goals:
            if isinstance(goal, Bend) and goal.weight > 0.0:
                pole: Bend = goal
                for k in range(pole.first + 1, len(pole.path)):
                    if pole.path[k] == i:
                        along: V3 = pole.along(pose)
                        axis = rotated(turn_about(along, pole.angle), unit(cross(pole.away(pose), along)))
                        return rotated(conjugated(q4(pose.rests, i)), axis)
        return ORIGIN

    @cython.cfunc
    def stretch(self) -> cython.void:
        """Let goals that are missed, and may stretch the joints on the way to them, do so one after the other."""
        pose: Pose = self.ranks.descent.pose
        lengths: Doubles = None
        for g in range(len(self.goals)):
            goal: Goal = self.goals[g]
            goal.let_stretch(True)
            self.factors[g] = 1.0
            if missing_of(goal, pose) > self.effort.tolerance:
                lengths = filled(self.figure.count) if lengths is None else lengths
                self.factors[g] = self.stretch_to(goal, lengths)
                goal.lengthen(lengths, self.factors[g])

    @cython.cfunc
    def stretch_to(self, goal: Goal, lengths: Doubles) -> cython.double:
        """Stretch the joints on the way to a goal, and turn them along; returns by how much they are longer.

        They stretch along the line to where they end, which limits or other goals may keep a little beside the goal:
        so what is longer turns the rest of the way, and stretches by what that changes.

        Args:
            goal: The goal.
            lengths: n factors of those that stretched before.
        """
        pose: Pose = self.ranks.descent.pose
        others = [one for one in self.ranks.goals if one is not goal and one.weight > 0.0 and one.rank <= goal.rank]
        factor: cython.double = 1.0
        for again in range(ALIGNED):
            before: cython.double = factor
            factor = goal.factor_at(pose, before)
            if factor == before:
                break
            longer: Doubles = filled(self.figure.count)
            copy_into(longer, lengths, self.figure.count)
            goal.lengthen(longer, factor)
            figure: Figure = self.figure.with_lengths(longer, 1.0)
            figure.place(pose)
            if missing_of(goal, pose) <= self.effort.tolerance:
                break
            self.used += self.ranks.bring_nearer(figure, [goal], others, pose)
        return factor

    @cython.cfunc
    def put_goals(self, rows: Rows, k: cython.Py_ssize_t, size: cython.double) -> cython.void:
        """Leave in a row how each goal ended; the row's status is that of the goal that misses most.

        Args:
            rows: The row was solved.
            k: The row.
            size: Of the figure.
        """
        pose: Pose = self.ranks.descent.pose
        each: cython.int = len(rows.asked)
        worst: cython.double = -1.0
        rows.passes[k] = self.used if self.used > 0 else 1
        rows.pole_error[k] = self.pole_error
        for g in range(each):
            goal: Goal = rows.asked[g]
            at: cython.Py_ssize_t = k * each + g
            is_pole: cython.bint = goal is self.pole
            missed: cython.double = 0.0 if is_pole else missing_of(goal, pose)
            rows.goal_status[at] = self.status_of(goal, missed)
            rows.goal_residual[at] = missed * size
            rows.goal_turn[at] = self.pole_error if is_pole else goal.turn_missed(pose)
            rows.softened[at] = goal.softening(pose) * size
            rows.factors[at] = self.factors[g]
            if missed > worst and self.counts[g]:
                worst = missed
                rows.status[k] = rows.goal_status[at]
        rows.residual[k] = worst * size

    @cython.cfunc
    def status_of(self, goal: Goal, missed: cython.double) -> cython.int:
        """How a goal ended that misses so much."""
        if goal is self.pole:
            return REACHED if self.pole_error <= POLE_MET else BLOCKED
        if missed <= self.effort.tolerance:
            return REACHED
        if goal.beyond(self.figure) > 0.0:
            return TOO_FAR
        return TOO_NEAR if goal.is_within(self.figure) else BLOCKED

    @cython.cfunc
    def put_blocking(self, rows: Rows, k: cython.Py_ssize_t, explains: cython.bint) -> cython.void:
        """Leave in a row which limits hold it back, and by how much they would have to give.

        Args:
            rows: The row's status is there.
            k: The row.
            explains: Whether it is asked by how much.
        """
        count: cython.int = len(self.held) if rows.status[k] == BLOCKED else 0
        for i in range(rows.joints):
            rows.blocking[k * rows.joints + i] = self.held[i] if i < count else -1
        told: list[float] = None
        if explains and count > 0 and self.ranks.least_missing() <= 0.0:
            told = gives(self.ranks.firm, self.held, self.effort.tolerance)
        for i in range(MOST_GIVES):
            missing: cython.double = NEVER if explains and i < count else UNKNOWN
            rows.gives[k * MOST_GIVES + i] = told[i] if told is not None and i < count else missing


GIVE_STEPS = 40
SMALL_STEP = cython.declare(cython.double, 0.01)  # radians
TAKEN = 0.05  # share of the turn that would help which a limit has to take away to count


@cython.cfunc
def blocking_joints(descent: Descent) -> list[int]:
    """The joints whose limits hold the goals back, the strongest first.

    A joint counts when its limit takes away a twentieth or more of the turn that would bring the goals nearer.
    """
    figure: Figure = descent.figure
    found = []
    for i in range(figure.count):
        pull: Q4 = pull_on(descent, i)
        turn: V3 = (pull[0], pull[1], pull[2])
        limit: Limit = figure.limits[i]
        rotation: Q4 = q4(descent.pose.rotations, i)
        step: V3 = scaled(unit(turn), SMALL_STEP)  # also one whose end is a little farther on takes some away
        turned: Q4 = multiplied(limit.turn(rotation, step), conjugated(rotation))
        taken: cython.double = length(turn) * (length(minus(step, rotation_vector(turned))) / SMALL_STEP)
        if taken > TAKEN * pull[3] * descent.error:
            found.append((-taken, i))
    return [i for _, i in sorted(found)]


@cython.cfunc
def pull_on(descent: Descent, i: cython.int) -> Q4:
    """The turn of a joint, in its rest frame, that brings the goals nearer the quickest, J^T e; and its leverage.

    That is the greatest change of a goal by a small turn of the joint, for each radian.
    """
    jacobian: Jacobian = descent.equations()
    turn: V3 = ORIGIN
    most: cython.double = 0.0
    for t in range(jacobian.first_touch[i], jacobian.first_touch[i + 1], 2):
        goal: Goal = descent.goals[jacobian.touches[t]]
        goal.prepare(descent.pose)
        missing: V3 = goal.missing(descent.pose)
        total: cython.double = 0.0
        for axis in (X_AXIS, Y_AXIS, Z_AXIS):
            change: V3 = goal.move(descent.pose, jacobian.touches[t + 1], rotated(q4(descent.pose.rests, i), axis))
            turn = plus(turn, scaled(axis, dot(change, missing)))
            total += dot(change, change)
        most = larger(most, total)
    return (turn[0], turn[1], turn[2], sqrt(0.5 * most))


@cython.cfunc
def gives(descent: Descent, joints: list[int], tolerance: cython.double) -> list[float]:
    """For the first few blocking joints the angle by which their limits would have to give.

    NEVER for one where the goals are not met even so, all other limits held.
    """
    figure: Figure = descent.figure
    found: list[float] = []
    for i in joints[:MOST_GIVES]:
        limit: Limit = figure.limits[i]
        freed: Descent = Descent(figure, descent.goals)
        try:
            figure.limits[i] = FREE
            freed.take(descent.pose)
            freed.descend(tolerance, GIVE_STEPS, LITTLE, FIRST_DAMPING)
        finally:
            figure.limits[i] = limit
        found.append(limit.exceed(q4(freed.pose.rotations, i)) if freed.error <= tolerance else NEVER)
    return found
