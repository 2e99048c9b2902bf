# SPDX-License-Identifier: GPL-3.0-or-later
"""Descents: step by step nearer to any number of weighted goals, until nothing more is gained.

Goals that are to be kept are rows that hold exactly, their damping being next to nothing, and a few steps back to them
follow. A posture term, mu^2 |q - q0|^2, can pull the joints towards the start pose, so that of the many poses that meet
the goals the one nearest to it is found, whatever was solved before.
"""

from __future__ import annotations

from math import exp, log, sqrt

from . import cython
from .figure import UNEASED, Figure, Pose
from .forms import Q4, V3, Doubles, Ints
from .goals.base import PLACED, Goal, listed
from .least_squares import A_RADIAN_OF_SHIFT, Jacobian
from .limits.base import Limit
from .vectors import (
    ORIGIN,
    UNDEFINED,
    conjugated,
    copy_into,
    dot,
    doubles,
    integers,
    larger,
    length,
    minus,
    multiplied,
    plus,
    put3,
    put4,
    q4,
    rotation_vector,
    scaled,
    smaller,
    unit,
    v3,
)

HELD = cython.declare(cython.double, 1e-4)  # share of a joint's turn that a limit may take before the joint is held
NEVER_HELD = cython.declare(cython.int, 0)  # how a joint stands to its limit within a step
HELD_BACK = cython.declare(cython.int, 1)
LET_GO = cython.declare(cython.int, 2)
HELD_FOR_STEP = cython.declare(cython.int, 3)
CLAMPED = cython.declare(cython.double, 0.05)  # share of its turn that a limit has to take for a joint to be held then
PROJECTIONS = cython.declare(cython.int, 12)  # times that a step is solved anew with what is held taken out
LARGEST_TURN = cython.declare(cython.double, 0.7)  # radians a joint turns in one step
FIRST_DAMPING = cython.declare(cython.double, 1e-3)  # of the first step of a descent
LEAST_DAMPING = cython.declare(cython.double, 1e-9)
MOST_DAMPING = cython.declare(cython.double, 1e3)  # with which steps are so short that nothing more is to be gained
EASED = cython.declare(cython.double, 0.2)  # times the damping after a step that gained something
STIFFENED = cython.declare(cython.double, 8.0)  # times the damping after one that did not
STIFFENED_FROM = cython.declare(cython.double, 1e-6)  # a lesser damping would take too many such steps to grow
NOTHING_LEFT = cython.declare(cython.double, 1e-18)  # cost, a square, of a pose that is where goals and posture want it
STALLED = cython.declare(cython.int, 4)  # steps in a row that gain next to nothing
LITTLE = cython.declare(cython.double, 1e-3)  # share of the error that is next to nothing
ROBUST = cython.declare(cython.double, 0.3)  # share of the squared error that is added to the damping (Sugihara 2011)
ROBUST_IN_ROOM = cython.declare(cython.double, 0.03)  # share of the error where goals are kept, whose ways are curved
FAR_MISSED = cython.declare(cython.double, 0.5)  # error from which on it grows with the error alone
STEP_TRIES = cython.declare(cython.int, 3)  # times that a step is tried with ever more joints held
SHORTENED = cython.declare(cython.int, 2)  # times that a step is tried again, shorter: edges of limits are curved
SHORTER = cython.declare(cython.double, 0.3)
KEPT_EXACTLY = cython.declare(cython.double, 1e-9)  # error at which goals that are kept are met again
KEPT_WITHIN = cython.declare(cython.double, 1e-6)  # error of these goals that a step may leave
RETURNS = cython.declare(cython.int, 8)  # steps back to them
RETURN_DAMPING = cython.declare(cython.double, 1e-7)
NOT_LOST = cython.declare(
    cython.double, 0.05
)  # error of these goals, in sizes of the figure, from which a way back is tried
RETURNING = cython.declare(cython.double, 0.8)  # share of their error that a step back may leave

STIFFEST = cython.declare(cython.double, 0.97)  # share of a joint's readiness to turn that full stiffness takes


@cython.cclass
class Descent:
    """The steps by which a figure of size 1 comes nearer to its goals.

    Args:
        figure: n joints.
        wanted: The goals that are to come nearer, bound to the figure.
        keeper: A descent to other goals, from which no step may take the figure away; None where there are none.
        first: Joints before this one do not turn.

    Attributes:
        goals: Those of the keeper, then those that are wanted.
        kept: How many are the keeper's.
        allowed: For each goal the vector that may be missing, times its weight.
        pose: The best so far, inside the limits.
        trial: Another that may take its place.
        error: Root of the sum of the squares of what the wanted goals miss, each times its weight.
        cost: The square of that, and the posture term.
        movers: The joints on the way to a goal; the others take no part. n stands for the shift.
        weight: mu, what a radian away from the start pose counts.
        price: The least that the square of that is of any joint, stiff or not.
        is_relaxed: Whether stiffness does not count for how readily joints turn.
        is_placing: Whether the wanted goals are those that say where the figure is put.
        is_put: For each joint and the shift whether these goals put it: then its stiffness holds nothing back.
        is_eased: Whether what limbs say counts of how stiff is what carries them (`Figure.eases`), where it is more.
        jacobian: What turns change; None before it is asked for (`equations`).
        turns: The rotation vector of each joint in its rest frame, radians, and the shift: 3 n + 3 numbers.
        standing: For each joint how it stands to its limit within the step.
        patience: Steps in a row that may gain next to nothing.
    """

    figure: Figure
    movers: Ints
    count_of_turned: cython.int  # how many of them are joints
    placed: Ints  # the joints whose places goals want to know
    goals: list[Goal]
    kept: cython.int
    allowed: Doubles
    pose: Pose
    trial: Pose
    error: cython.double
    cost: cython.double
    weight: cython.double
    price: cython.double
    is_relaxed: cython.bint
    is_eased: cython.bint
    is_placing: cython.bint
    is_put: Ints
    jacobian: Jacobian
    turns: Doubles
    standing: Ints
    keeper: Descent
    patience: cython.int

    def __init__(self, figure: Figure, wanted: list[Goal], keeper: Descent | None = None, first: int = 0) -> None:
        count = figure.count
        self.figure = figure
        kept: list[Goal] = [] if keeper is None else keeper.goals
        goals: list[Goal] = kept + wanted
        self.goals, self.kept = goals, len(kept)
        movers = {i for goal in goals for i in goal.path if i >= first}
        if figure.moves and any([goal.is_shifted for goal in goals]):
            movers.add(count)
        self.movers = listed(movers)
        self.count_of_turned = sum(i < count for i in self.movers)
        self.placed = listed({i for goal in goals for i in goal.placed})
        self.allowed = doubles(3 * len(self.goals))
        self.pose, self.trial = Pose(count), Pose(count)
        self.error = self.cost = 0.0
        self.weight = self.price = 0.0
        self.is_relaxed, self.is_eased = False, True
        self.is_placing = bool(wanted) and all([goal.rank == PLACED for goal in wanted])
        self.jacobian = None
        self.turns = doubles(3 * count + 3)
        self.standing, self.is_put = integers(count + 1), integers(count + 1)
        for goal in wanted if self.is_placing else []:
            self.is_put[goal.effector if goal.turns else count] = True
        self.keeper = keeper
        if keeper is not None:
            keeper.allowed = self.allowed
        self.patience = STALLED

    @cython.cfunc
    def take(self, pose: Pose) -> cython.void:
        """Stand as a pose does; where it is the one at hand, which was put elsewhere, all of it is placed."""
        if pose is not self.pose:
            copy_into(self.pose.rotations, pose.rotations, 4 * self.figure.count)
            copy_into(self.pose.shift, pose.shift, 3)
            self.figure.place_part(self.pose, self.placed)
        copy_into(self.trial.rotations, self.pose.rotations, 4 * self.figure.count)
        copy_into(self.trial.shift, self.pose.shift, 3)
        self.judge()

    @cython.cfunc
    def judge(self) -> cython.void:
        """Find the error and the cost of the pose anew, after the goals or the pose changed."""
        self.error = self.error_of(self.pose)
        self.cost = self.error * self.error + self.strain_of(self.pose)

    @cython.cfunc
    def error_of(self, pose: Pose) -> cython.double:
        """What a pose misses; see `error`."""
        total: cython.double = 0.0
        for g in range(self.kept, len(self.goals)):
            goal: Goal = self.goals[g]
            missing: V3 = minus(goal.missing(pose), v3(self.allowed, g))
            total += dot(missing, missing)
        return sqrt(total)

    @cython.cfunc
    def equations(self) -> Jacobian:
        """What turns change, made when it is first asked for: most chains are solved without."""
        if self.jacobian is None:
            self.jacobian = Jacobian(self.figure, self.goals, self.kept, self.allowed)
        return self.jacobian

    @cython.cfunc
    def prepare_joints(self, damping: cython.double) -> cython.void:
        """The system (J B J^T + damping I) x = e - J q before any joint is held.

        B is how ready the joints are to turn, q the turns that the posture term alone asks for.
        """
        jacobian: Jacobian = self.equations()
        jacobian.begin(self.pose, damping)
        for k in range(len(self.movers)):
            i: cython.int = self.movers[k]
            self.standing[i] = NEVER_HELD
            jacobian.free_joint(self.pose, i)
            ready: cython.double = self.readiness_of(i, damping)
            jacobian.ready[i] = ready
            put3(jacobian.asked, i, self.pull_on(self.pose, i, ready / damping))
            jacobian.add_joint(i, 1.0)

    @cython.cfunc
    def find_turns(self) -> cython.void:
        """The rotation vector of each joint in its rest frame, none of them against a limit; joints are prepared.

        What a limit takes from a joint's turn is a direction in which the joint is held: its axes lose that part, and
        the step is solved again, so that the other joints make up for it. A joint that what is then left to do would
        turn away from its limit was held for nothing, and is let go, once in a step.
        """
        i: cython.int
        for again in range(PROJECTIONS):
            self.jacobian.system.solve()
            is_settled: cython.bint = True
            for k in range(len(self.movers)):
                i = self.movers[k]
                if self.turn_of(i):
                    is_settled = False
            if is_settled:
                for k in range(self.count_of_turned):
                    i = self.movers[k]
                    if self.standing[i] == HELD_BACK and self.release(i):
                        is_settled = False
            if is_settled:
                break

    @cython.cfunc
    def turn_of(self, i: cython.int) -> cython.bint:
        """Find the turn of a joint; True where its limit takes a part of it, in which the joint is held from now on."""
        turn: V3 = self.jacobian.combined(i, False)
        put3(self.turns, i, turn)
        if i == self.figure.count:
            return False
        taken: V3 = self.taken(i, turn)
        if not length(taken) > HELD * length(turn):
            return False
        if self.standing[i] == NEVER_HELD:
            self.standing[i] = HELD_BACK
        self.jacobian.hold_joint(self.pose, i, unit(taken))
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def taken(self, i: cython.int, turn: V3) -> V3:
        """The part of a turn of a joint that its limit takes away."""
        limit: Limit = self.figure.limits[i]
        return minus(turn, limit.allow(q4(self.pose.rotations, i), turn))

    @cython.cfunc
    def release(self, i: cython.int) -> cython.bint:
        """Let a held joint go if what is left to do would turn it away from its limit; whether it was."""
        jacobian: Jacobian = self.jacobian
        first: V3 = v3(jacobian.axes, 3 * i)
        second: V3 = v3(jacobian.axes, 3 * i + 1)
        third: V3 = v3(jacobian.axes, 3 * i + 2)
        jacobian.add_joint(i, -1.0)
        jacobian.free_joint(self.pose, i)
        turn: V3 = jacobian.combined(i, False)
        is_let_go: cython.bint = length(self.taken(i, turn)) <= HELD * length(turn)
        if is_let_go:
            self.standing[i] = LET_GO
        else:
            put3(jacobian.axes, 3 * i, first)
            put3(jacobian.axes, 3 * i + 1, second)
            put3(jacobian.axes, 3 * i + 2, third)
            jacobian.fill_columns(self.pose, i)
        jacobian.add_joint(i, 1.0)
        return is_let_go

    @cython.cfunc
    def factor_of(self, largest_turn: cython.double) -> cython.double:
        """The share of the turns at which no joint turns more than the largest turn."""
        largest: cython.double = 0.0
        for k in range(len(self.movers)):
            largest = larger(largest, length(v3(self.turns, self.movers[k])))
        return smaller(1.0, largest_turn / largest) if largest > 0.0 else 0.0

    @cython.cfunc
    def hold_clamped(self, factor: cython.double) -> cython.bint:
        """Hold the joints that the last trial, a share of their turns, brought to a limit; whether there are any."""
        is_any: cython.bint = False
        for k in range(self.count_of_turned):
            i: cython.int = self.movers[k]
            turn: V3 = scaled(v3(self.turns, i), factor)
            rotation: Q4 = q4(self.pose.rotations, i)
            limit: Limit = self.figure.limits[i]  # the trial itself may have been brought back to what is kept
            turned: Q4 = multiplied(limit.turn(rotation, turn), conjugated(rotation))
            taken: V3 = minus(turn, rotation_vector(turned))
            if length(taken) > CLAMPED * length(turn):
                self.standing[i] = HELD_FOR_STEP
                self.jacobian.hold_joint(self.pose, i, unit(taken))
                is_any = True
        return is_any

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_by(self, trial: Pose, pose: Pose, factor: cython.double) -> cython.void:
        """Make a trial of a pose whose joints turn by a share of some turns; it is not placed yet."""
        for k in range(self.count_of_turned):
            i: cython.int = self.movers[k]
            limit: Limit = self.figure.limits[i]
            put4(trial.rotations, i, limit.turn(q4(pose.rotations, i), scaled(v3(self.turns, i), factor)))
        if len(self.movers) > self.count_of_turned:
            shift: V3 = scaled(v3(self.turns, self.figure.count), factor * A_RADIAN_OF_SHIFT)
            put3(trial.shift, 0, plus(v3(pose.shift, 0), shift))

    @cython.cfunc
    @cython.exceptval(check=False)
    def strain_of(self, pose: Pose) -> cython.double:
        """The posture term of a pose."""
        total: cython.double = 0.0
        if self.weight <= 0.0:
            return total
        for k in range(len(self.movers)):
            i: cython.int = self.movers[k]
            away: V3 = self.to_start(pose, i)
            total += dot(away, away) * self.square_of(i)
        return total

    @cython.cfunc
    @cython.exceptval(check=False)
    def to_start(self, pose: Pose, i: cython.int) -> V3:
        """The turn of a joint, in its rest frame, back to the start pose."""
        if i == self.figure.count:
            away: V3 = minus(v3(self.figure.root, 0), v3(pose.shift, 0))
            return scaled(away, 1.0 / A_RADIAN_OF_SHIFT)
        return rotation_vector(multiplied(q4(self.figure.posture, i), conjugated(q4(pose.rotations, i))))

    @cython.cfunc
    @cython.exceptval(check=False)
    def square_of(self, i: cython.int) -> cython.double:
        """The square of what a radian of a joint away from the start pose counts; many times that for a stiff one."""
        stiff: cython.double = self.weight / self.looseness_of(i)
        return larger(stiff * stiff, self.price)

    @cython.cfunc
    @cython.exceptval(check=False)
    def looseness_of(self, i: cython.int) -> cython.double:
        """How readily a joint turns beside one without stiffness; a figure is shifted as readily as its first one."""
        if self.is_put[i]:
            return 1.0
        i = 0 if i == self.figure.count else i
        loose: cython.double = 1.0 - STIFFEST * self.figure.stiffness[i]
        eased: cython.double = self.figure.eases[i]
        if eased in (UNEASED, 0.0) or (eased < 0.0 and not self.is_eased):
            return loose
        return exp((1.0 - eased) * log(loose))

    @cython.cfunc
    @cython.exceptval(check=False)
    def readiness_of(self, i: cython.int, damping: cython.double) -> cython.double:
        """How readily a joint turns in a step: 1 for one that nothing holds."""
        left: cython.double = 1.0 if self.is_relaxed else self.looseness_of(i)
        ready: cython.double = left * left
        if self.weight <= 0.0:
            return ready
        return 1.0 / (1.0 / ready + self.square_of(i) / damping)

    @cython.cfunc
    @cython.exceptval(check=False)
    def pull_on(self, pose: Pose, i: cython.int, share: cython.double) -> V3:
        """The turn that the posture term alone asks of a joint in a step, for its readiness over the damping."""
        if self.weight <= 0.0:
            return ORIGIN
        return scaled(self.to_start(pose, i), share * self.square_of(i))

    @cython.cfunc
    def descend(
        self, enough: cython.double, budget: cython.int, little: cython.double, damping: cython.double
    ) -> cython.int:
        """Bring the goals nearer until they are near enough, the budget is spent or nothing more is gained.

        Args:
            enough: Error at which to stop; below zero where nothing but the gain counts.
            budget: Greatest number of steps.
            little: Share of the error that is next to nothing.
            damping: Of the first step.

        Returns:
            The steps used.
        """
        used: cython.int = 0
        stalled: cython.int = 0
        while used < budget and stalled < self.patience and damping <= MOST_DAMPING:
            if self.error <= enough or self.cost <= NOTHING_LEFT:
                break
            used += 1
            before: cython.double = self.cost
            if self.step(damping + self.caution(), LARGEST_TURN):
                is_little: cython.bint = self.cost > before * (1.0 - 2.0 * little)  # a square: it counts twice
                stalled = stalled + 1 if is_little else 0
                if is_little and self.weight <= 0.0:
                    damping = larger(damping, STIFFENED_FROM) * STIFFENED
                else:
                    damping = larger(damping * EASED, LEAST_DAMPING)
            else:
                damping = larger(damping, STIFFENED_FROM) * STIFFENED
        return used

    @cython.cfunc
    @cython.exceptval(check=False)
    def caution(self) -> cython.double:
        """What the error adds to the damping of a step: the less the nearer the goals, so that the last steps are long.

        Where a figure is put against pins, straight legs yield by the square of how they bend. Steps that don't see
        this curve go to and fro, unless the error itself counts (Fan and Yuan 2005) and not its square.
        """
        if self.kept > 0 and self.is_placing:
            return ROBUST_IN_ROOM * self.error
        return ROBUST * self.error * smaller(self.error, FAR_MISSED)

    @cython.cfunc
    def step(self, damping: cython.double, largest_turn: cython.double) -> cython.bint:
        """One damped step; kept, and True, where it lessens the cost.

        A joint may be free to turn where it stands, and come to the edge of its range a little way on. Where a step
        gains nothing, such joints are held as well and the others make up for them; in the end shorter steps are tried.
        """
        self.prepare_joints(damping)
        for tried in range(STEP_TRIES):
            self.find_turns()
            factor: cython.double = self.factor_of(largest_turn)
            if self.go(factor):
                return True
            for shortened in range(SHORTENED):
                factor = factor * SHORTER
                if self.go(factor):
                    return True
            if not self.hold_clamped(factor):
                break
        return False

    @cython.cfunc
    def go(self, factor: cython.double) -> cython.bint:
        """Turn the joints by a share of their turns; kept, and True, where it lessens the cost."""
        trial: Pose = self.trial
        self.turn_by(trial, self.pose, factor)
        if self.kept > 0 and not self.keeps(trial):
            return False
        self.figure.place_part(trial, self.placed)
        error: cython.double = self.error_of(trial)
        cost: cython.double = error * error + self.strain_of(trial)
        if not cost < self.cost:
            return False
        self.trial = self.pose
        self.pose = trial
        self.error = error
        self.cost = cost
        return True

    @cython.cfunc
    def keeps(self, trial: Pose) -> cython.bint:
        """Bring a trial back to the goals that are kept, from which a long step strays; False if it can't be.

        The columns and the factor of the step are used again, which serve near to where they were found. Only the
        joints that these goals want to know are placed meanwhile.
        """
        before: cython.double = UNDEFINED
        jacobian: Jacobian = self.jacobian
        for again in range(RETURNS):
            self.figure.place_part(trial, self.keeper.placed)
            strayed: cython.double = jacobian.strayed(trial)
            if strayed <= KEPT_EXACTLY:
                return True
            if strayed > before * RETURNING:
                break
            before = strayed
            jacobian.system.substitute(3 * self.kept)
            for k in range(len(self.keeper.movers)):
                i: cython.int = self.keeper.movers[k]
                put3(self.keeper.turns, i, jacobian.combined(i, True))
            self.keeper.turn_by(trial, trial, 1.0)
        return strayed <= KEPT_WITHIN or (strayed <= NOT_LOST and self.is_brought_back(trial))

    @cython.cfunc
    def is_brought_back(self, trial: Pose) -> cython.bint:
        """Bring a trial, some joints of which came to their limits, back by a descent; False if it can't be."""
        self.keeper.take(trial)
        self.keeper.descend(KEPT_EXACTLY, RETURNS, LITTLE, RETURN_DAMPING)
        copy_into(trial.rotations, self.keeper.pose.rotations, 4 * self.figure.count)
        copy_into(trial.shift, self.keeper.pose.shift, 3)
        return self.keeper.error <= KEPT_WITHIN

    @cython.cfunc
    def keep(self, tolerance: cython.double) -> cython.void:
        """Let no step from the pose at hand take the keeper's goals farther away than they are.

        Args:
            tolerance: Goals that miss less, without their weight, are to be met exactly.
        """
        for g in range(self.kept):
            goal: Goal = self.goals[g]
            missing: V3 = goal.missing(self.pose)
            put3(self.allowed, g, ORIGIN if length(missing) <= tolerance * goal.weight else missing)
        self.keeper.take(self.pose)
        self.keeper.descend(KEPT_EXACTLY, RETURNS, LITTLE, RETURN_DAMPING)
        self.take(self.keeper.pose)
