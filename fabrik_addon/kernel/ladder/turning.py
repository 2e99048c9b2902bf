# SPDX-License-Identifier: GPL-3.0-or-later
"""The turns of a step: damped least squares on joint angles, with the limits that hold projected out.

The step is B J^T (J B J^T + damping I)^-1 e (Levenberg-Marquardt; Buss 2004, "Introduction to Inverse Kinematics"),
with three rows for each goal. Joints that a step would push against the end of their range are dropped and the step is
taken again with the others, so that these make up for them.
"""

from __future__ import annotations

from .. import cython
from ..figure import Figure
from ..forms import Q4, V3, Doubles, Ints
from ..goals.base import Goal
from ..limits.base import Limit
from ..pose import Pose
from ..vectors import (
    conjugated,
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
from .jacobian import A_RADIAN_OF_SHIFT, Jacobian
from .judged_pose import JudgedPose

HELD = cython.declare(cython.double, 1e-4)  # share of a joint's turn that a limit may take before the joint is held
NEVER_HELD = cython.declare(cython.int, 0)  # how a joint stands to its limit within a step
HELD_BACK = cython.declare(cython.int, 1)
LET_GO = cython.declare(cython.int, 2)
HELD_FOR_STEP = cython.declare(cython.int, 3)
CLAMPED = cython.declare(cython.double, 0.05)  # share of its turn that a limit has to take for a joint to be held then
PROJECTIONS = cython.declare(cython.int, 12)  # times that a step is solved anew with what is held taken out


@cython.cclass
class Turning(JudgedPose):
    """How the joints of a figure of size 1 turn in a step from where it stands.

    Args:
        figure: n joints.
        kept: The goals that are to be kept, bound to the figure.
        wanted: Those that are to come nearer.

    Attributes:
        jacobian: What turns change; None before it is asked for (`equations`).
        turns: The rotation vector of each joint in its rest frame, radians, and the shift: 3 n + 3 numbers.
        largest: Of the turns of the last step, radians.
        standing: For each joint how it stands to its limit within the step.
    """

    jacobian: Jacobian
    turns: Doubles
    largest: cython.double
    standing: Ints

    def __init__(self, figure: Figure, kept: list[Goal], wanted: list[Goal]) -> None:
        JudgedPose.__init__(self, figure, kept, wanted)
        self.jacobian = None
        self.turns = doubles(3 * figure.count + 3)
        self.largest = 0.0
        self.standing = integers(figure.count + 1)

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
        k: cython.int
        jacobian: Jacobian = self.equations()
        jacobian.begin(self.pose, damping)
        for k in range(self.count_of_movers):
            i: cython.int = self.movers[k]
            if i < self.held:
                continue
            self.standing[i] = NEVER_HELD
            jacobian.free_joint(self.pose, i)
            ready: cython.double = self.posture.readiness_of(i, damping)
            jacobian.ready[i] = ready
            put3(jacobian.asked, i, self.posture.pull_on(self.pose, i, ready / damping))
            jacobian.add_joint(i, 1.0)

    @cython.cfunc
    def find_turns(self) -> cython.void:
        """The rotation vector of each joint in its rest frame, none of them against a limit; joints are prepared.

        What a limit takes from a joint's turn is a direction in which the joint is held: its axes lose that part, and
        the step is solved again, so that the other joints make up for it. A joint that what is then left to do would
        turn away from its limit was held for nothing, and is let go, once in a step.
        """
        i: cython.int
        k: cython.int
        again: cython.int
        for again in range(PROJECTIONS):
            self.jacobian.system.solve()
            is_settled: cython.bint = True
            for k in range(self.count_of_movers):
                i = self.movers[k]
                if i >= self.held and self.turn_of(i):
                    is_settled = False
            if is_settled:
                for k in range(self.count_of_turned):
                    i = self.movers[k]
                    if i >= self.held and self.standing[i] == HELD_BACK and self.release(i):
                        is_settled = False
            if is_settled:
                break

    @cython.cfunc
    def turn_of(self, i: cython.int) -> cython.bint:
        """Find the turn of a joint; True where its limit takes a part of it, in which the joint is held from now on."""
        turn: V3 = self.jacobian.combined(i)
        put3(self.turns, i, turn)
        if i == self.count:
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
        turn: V3 = jacobian.combined(i)
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
        k: cython.int
        self.largest = 0.0
        for k in range(self.count_of_movers):
            if self.movers[k] >= self.held:
                self.largest = larger(self.largest, length(v3(self.turns, self.movers[k])))
        return smaller(1.0, largest_turn / self.largest) if self.largest > 0.0 else 0.0

    @cython.cfunc
    def hold_clamped(self, factor: cython.double) -> cython.bint:
        """Hold the joints that the last trial, a share of their turns, brought to a limit; whether there are any."""
        k: cython.int
        is_any: cython.bint = False
        for k in range(self.count_of_turned):
            i: cython.int = self.movers[k]
            if i < self.held:
                continue
            turn: V3 = scaled(v3(self.turns, i), factor)
            rotation: Q4 = q4(self.pose.rotations, i)
            turned: Q4 = multiplied(q4(self.trial.rotations, i), conjugated(rotation))
            taken: V3 = minus(turn, rotation_vector(turned))
            if length(taken) > CLAMPED * length(turn):
                self.standing[i] = HELD_FOR_STEP
                self.jacobian.hold_joint(self.pose, i, unit(taken))
                is_any = True
        return is_any

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_by(self, trial: Pose, pose: Pose, turns: Doubles, factor: cython.double) -> cython.void:
        """Make a trial of a pose whose joints turn by a share of some turns."""
        k: cython.int
        limit: Limit
        for k in range(self.count_of_turned):
            i: cython.int = self.movers[k]
            rotation: Q4 = q4(pose.rotations, i)
            if i >= self.held:
                limit = self.figure.limits[i]
                rotation = limit.turn(rotation, scaled(v3(turns, i), factor))
            put4(trial.rotations, i, rotation)
        if self.count_of_movers > self.count_of_turned:
            shift: V3 = scaled(v3(turns, self.count), factor * A_RADIAN_OF_SHIFT)
            put3(trial.shift, 0, plus(v3(pose.shift, 0), shift))
        self.figure.place_part(trial, self.placed, self.count_of_placed)
