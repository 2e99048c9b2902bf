# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of a figure on the way to its goals, and what these miss in it."""

from __future__ import annotations

from math import sqrt

from .. import cython
from ..figure import Figure
from ..forms import V3, Doubles, Ints
from ..goals.base import Goal
from ..pose import Pose
from ..vectors import copy_into, dot, doubles, minus, v3
from .jacobian import movers_of, placed_of
from .posture import Posture


@cython.cclass
class JudgedPose:
    """A pose of a figure of size 1, judged by what its goals miss.

    Args:
        figure: n joints.
        kept: The goals that are to be kept, bound to the figure.
        wanted: Those that are to come nearer.

    Attributes:
        goals: Those that are kept, then those that are wanted.
        kept: How many are kept.
        allowed: For each goal the vector that may be missing, times its weight.
        pose: The best so far, inside the limits.
        trial: Another that may take its place.
        error: Root of the sum of the squares of what the wanted goals miss, each times its weight.
        cost: The square of that, and the posture term.
        movers: The joints on the way to a goal; the others take no part. n stands for the shift.
        held: Joints before this one do not turn.
        posture: How readily joints turn, and what pulls them back to the start pose.
    """

    figure: Figure
    count: cython.int
    movers: Ints
    count_of_movers: cython.int
    count_of_turned: cython.int  # how many of them are joints
    placed: Ints  # the joints whose places goals want to know
    count_of_placed: cython.int
    goals: list[Goal]
    kept: cython.int
    allowed: Doubles
    pose: Pose
    trial: Pose
    error: cython.double
    cost: cython.double
    held: cython.int
    posture: Posture

    def __init__(self, figure: Figure, kept: list[Goal], wanted: list[Goal]) -> None:
        count = figure.count
        self.figure = figure
        self.count = count
        self.goals = kept + wanted
        self.kept = len(kept)
        self.movers = movers_of(figure, self.goals)
        self.count_of_movers = len(self.movers)
        self.count_of_turned = sum(i < count for i in self.movers)
        self.placed = placed_of(figure, self.goals)
        self.count_of_placed = len(self.placed)
        self.allowed = doubles(3 * len(self.goals))
        self.pose, self.trial = Pose(count), Pose(count)
        self.error = self.cost = 0.0
        self.held = 0
        self.posture = Posture(figure, self.movers)

    @cython.cfunc
    def begin(self, rotations: Doubles) -> cython.void:
        """Stand at allowed rotations, the root where the start pose has it."""
        copy_into(self.pose.rotations, rotations, 4 * self.count)
        copy_into(self.trial.rotations, rotations, 4 * self.count)
        copy_into(self.pose.shift, self.figure.root, 3)
        copy_into(self.trial.shift, self.figure.root, 3)
        self.figure.place(self.pose)
        self.judge()

    @cython.cfunc
    def take(self, pose: Pose) -> cython.void:
        """Stand as a pose does."""
        copy_into(self.pose.rotations, pose.rotations, 4 * self.count)
        copy_into(self.pose.shift, pose.shift, 3)
        copy_into(self.trial.shift, pose.shift, 3)
        copy_into(self.trial.rotations, pose.rotations, 4 * self.count)
        self.figure.place_part(self.pose, self.placed, self.count_of_placed)
        self.judge()

    @cython.cfunc
    def judge(self) -> cython.void:
        """Find the error and the cost of the pose anew, after the goals or the pose changed."""
        self.error = self.error_of(self.pose)
        self.cost = self.error * self.error + self.posture.strain_of(self.pose, self.held)

    @cython.cfunc
    def error_of(self, pose: Pose) -> cython.double:
        """What a pose misses; see `error`."""
        g: cython.int
        goal: Goal
        total: cython.double = 0.0
        for g in range(self.kept, len(self.goals)):
            goal = self.goals[g]
            missing: V3 = minus(goal.missing(pose), v3(self.allowed, g))
            total += dot(missing, missing)
        return sqrt(total)
