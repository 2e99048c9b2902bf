# SPDX-License-Identifier: GPL-3.0-or-later
"""Descents: step by step (`turning.py`) nearer to any number of weighted goals, until nothing more is gained.

Goals that are to be kept are rows that hold exactly, their damping being next to nothing, and a few steps back to them
follow. A posture term, mu^2 |q - q0|^2, can pull the joints towards the start pose, so that of the many poses that meet
the goals the one nearest to it is found, whatever was solved before.
"""

from __future__ import annotations

from .. import cython
from ..figure import Figure
from ..forms import V3, Doubles
from ..goals.base import Goal
from ..pose import Pose
from ..vectors import ORIGIN, UNDEFINED, copy_into, doubles, larger, length, put3, smaller
from .jacobian import Jacobian
from .turning import Turning

LARGEST_TURN = cython.declare(cython.double, 0.7)  # radians a joint turns in one step
FIRST_DAMPING = cython.declare(cython.double, 1e-3)  # of the first step of a descent
LEAST_DAMPING = cython.declare(cython.double, 1e-9)
MOST_DAMPING = cython.declare(cython.double, 1e3)  # with which steps are so short that nothing more is to be gained
EASED = cython.declare(cython.double, 0.2)  # times the damping after a step that gained something
STIFFENED = cython.declare(cython.double, 8.0)  # times the damping after one that did not
STIFFENED_FROM = cython.declare(cython.double, 1e-6)  # a lesser damping would take too many such steps to grow
STALLED = cython.declare(cython.int, 4)  # steps in a row that gain next to nothing
LITTLE = cython.declare(cython.double, 1e-3)  # share of the error that is next to nothing
ROBUST = cython.declare(cython.double, 0.3)  # share of the squared error that is added to the damping (Sugihara 2011)
STEP_TRIES = cython.declare(cython.int, 3)  # times that a step is tried with ever more joints held
SHORTENED = cython.declare(cython.int, 2)  # times that a step is tried again, shorter: edges of limits are curved
SHORTER = cython.declare(cython.double, 0.3)
KEPT_EXACTLY = cython.declare(cython.double, 1e-9)  # error at which goals that are kept are met again
KEPT_WITHIN = cython.declare(cython.double, 1e-6)  # error of these goals that a step may leave
RETURNS = cython.declare(cython.int, 6)  # steps back to them
RETURN_DAMPING = cython.declare(cython.double, 1e-7)
NOT_LOST = cython.declare(
    cython.double, 0.05
)  # error of these goals, in sizes of the figure, from which a way back is tried
RETURNING = cython.declare(cython.double, 0.5)  # share of their error that a step back may leave


@cython.cclass
class Descent(Turning):
    """The steps by which a figure of size 1 comes nearer to its goals.

    Args:
        figure: n joints.
        wanted: The goals that are to come nearer, bound to the figure.
        keeper: A descent to other goals, from which no step may take the figure away; None where there are none.

    Attributes:
        little: Share of the error that is next to nothing.
        first_damping: Of the first step of a descent.
        patience: Steps in a row that may gain next to nothing.
        robust_to: Error from which on the damping that is added grows with the error, no longer with its square.
    """

    keeper: Descent
    little: cython.double
    first_damping: cython.double
    robust_to: cython.double
    patience: cython.int
    returns: Doubles  # turns back to the goals that are kept

    def __init__(self, figure: Figure, wanted: list[Goal], keeper: Descent | None = None) -> None:
        Turning.__init__(self, figure, [] if keeper is None else keeper.goals, wanted)
        self.keeper = keeper
        if keeper is not None:
            keeper.allowed = self.allowed
            keeper.first_damping = RETURN_DAMPING
        self.little = LITTLE
        self.first_damping = FIRST_DAMPING
        self.robust_to = UNDEFINED
        self.patience = STALLED
        self.returns = doubles(3 * figure.count + 3)

    @cython.cfunc
    def descend(self, enough: cython.double, budget: cython.int) -> cython.int:
        """Bring the goals nearer until they are near enough, the budget is spent or nothing more is gained.

        Args:
            enough: Error at which to stop; below zero where nothing but the gain counts.
            budget: Greatest number of steps.

        Returns:
            The steps used.
        """
        used: cython.int = 0
        stalled: cython.int = 0
        damping: cython.double = self.first_damping
        while used < budget and stalled < self.patience and damping <= MOST_DAMPING:
            if self.error <= enough:
                break
            used += 1
            before: cython.double = self.cost
            if self.step(damping + ROBUST * self.error * smaller(self.error, self.robust_to), LARGEST_TURN):
                is_little: cython.bint = self.cost > before * (1.0 - 2.0 * self.little)  # a square: it counts twice
                stalled = stalled + 1 if is_little else 0
                if is_little and self.posture.weight <= 0.0:
                    damping = larger(damping, STIFFENED_FROM) * STIFFENED
                else:
                    damping = larger(damping * EASED, LEAST_DAMPING)
            else:
                damping = larger(damping, STIFFENED_FROM) * STIFFENED
        return used

    @cython.cfunc
    def step(self, damping: cython.double, largest_turn: cython.double) -> cython.bint:
        """One damped step; kept, and True, where it lessens the cost.

        A joint may be free to turn where it stands, and come to the edge of its range a little way on. Where a step
        gains nothing, such joints are held as well and the others make up for them; in the end shorter steps are tried.
        """
        tried: cython.int
        shortened: cython.int
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
        self.turn_by(trial, self.pose, self.turns, factor)
        if self.kept > 0 and not self.keeps(trial):
            return False
        error: cython.double = self.error_of(trial)
        cost: cython.double = error * error + self.posture.strain_of(trial, self.held)
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

        The columns and the factor of the step are used again, which serve near to where they were found.
        """
        k: cython.int
        again: cython.int
        before: cython.double = UNDEFINED
        jacobian: Jacobian = self.jacobian
        for again in range(RETURNS):
            strayed: cython.double = jacobian.strayed(trial)
            if strayed <= KEPT_EXACTLY:
                return True
            if strayed > before * RETURNING:
                break
            before = strayed
            jacobian.system.substitute(3 * self.kept)
            for k in range(self.count_of_movers):
                put3(self.returns, self.movers[k], jacobian.returning(self.movers[k]))
            self.turn_by(trial, trial, self.returns, 1.0)
        return strayed <= KEPT_WITHIN or (strayed <= NOT_LOST and self.is_brought_back(trial))

    @cython.cfunc
    def is_brought_back(self, trial: Pose) -> cython.bint:
        """Bring a trial, some joints of which came to their limits, back by a descent; False if it can't be."""
        self.keeper.take(trial)
        self.keeper.descend(KEPT_EXACTLY, RETURNS)
        copy_into(trial.rotations, self.keeper.pose.rotations, 4 * self.count)
        copy_into(trial.shift, self.keeper.pose.shift, 3)
        self.figure.place_part(trial, self.placed, self.count_of_placed)
        return self.keeper.error <= KEPT_WITHIN

    @cython.cfunc
    def keep(self, tolerance: cython.double) -> cython.void:
        """Let no step from the pose at hand take the keeper's goals farther away than they are.

        Args:
            tolerance: Goals that miss less, without their weight, are to be met exactly.
        """
        g: cython.int
        goal: Goal
        for g in range(self.kept):
            goal = self.goals[g]
            missing: V3 = goal.missing(self.pose)
            put3(self.allowed, g, ORIGIN if length(missing) <= tolerance * goal.weight else missing)
        self.keeper.take(self.pose)
        self.keeper.descend(KEPT_EXACTLY, RETURNS)
        self.take(self.keeper.pose)
