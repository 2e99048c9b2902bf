# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of many frames or copies in, and what was found for each out, as flat buffers."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex, cast

from ..errors import ChainError, InvalidValueError
from ..finite import LARGEST
from . import cython
from .figure import Figure
from .forms import Doubles, Ints
from .goals.base import Goal
from .goals.bend import Bend
from .goals.point import Point
from .ladder.bodies import Body
from .vectors import doubles, integers

MOST_NUMBERS = 1 << 31
LARGEST_NUMBER = cython.declare(cython.double, LARGEST)


@cython.cclass
class Rows:
    """The same goals with other numbers in each row, and the answers.

    Args:
        figure: n joints.
        goals: What is asked in every row. Their places and rotations are taken from the rows; weights, angles and
            offsets from here.
        count: K rows.

    Raises:
        ChainError: A goal is set for a joint that the figure does not have, or there are too many rows.
    """

    count = cython.declare(cython.Py_ssize_t, visibility="readonly")
    width = cython.declare(cython.int, visibility="readonly")
    joints = cython.declare(cython.int, visibility="readonly")
    buffers: list[Any]
    asked: list[Goal]
    point: Point  # of a chain with the tip's target alone, or with a pole besides
    bend: Bend
    body: Body  # for other goals, made at the first solve
    numbers_in: Doubles
    rotations_out: Doubles
    status_out: Ints
    residual_out: Doubles
    passes_out: Ints
    pole_error_out: Doubles
    tips_out: Doubles
    shifts_out: Doubles
    goal_status_out: Ints
    goal_residual_out: Doubles
    goal_turn_out: Doubles
    softened_out: Doubles
    factors_out: Doubles

    def __init__(self, figure: Figure, goals: Sequence[Goal], count: SupportsIndex) -> None:
        if not isinstance(figure, Figure):
            raise TypeError(f"rows are made for a Figure, and not for {type(figure).__name__}")
        if not goals:
            raise ChainError("no goal is set")
        for goal in goals:
            if not isinstance(goal, Goal):
                raise TypeError(f"a goal is {type(goal).__name__}, and not a Goal")
        count = index(count)
        if count < 0 or count * figure.count * 4 > MOST_NUMBERS:
            raise ChainError(f"{count} rows of {figure.count} joints are more than can be solved at once")
        self.asked = [goal.bound(figure) for goal in goals]
        self.count = count
        self.joints = figure.count
        self.width = sum(goal.width for goal in goals)
        numbers, rotations = doubles(count * self.width), doubles(count * figure.count * 4)
        status, passes = integers(count), integers(count)
        residual, pole_error = doubles(count), doubles(count)
        tips, shifts = doubles(3 * count), doubles(3 * count)
        self.buffers = [numbers, rotations, status, residual, passes, pole_error, tips, shifts]
        self.numbers_in, self.rotations_out, self.status_out, self.passes_out = numbers, rotations, status, passes
        self.residual_out, self.pole_error_out, self.tips_out, self.shifts_out = residual, pole_error, tips, shifts
        each = count * len(self.asked)
        goal_status, goal_residual, goal_turn = integers(each), doubles(each), doubles(each)
        softened, factors = doubles(each), doubles(each)
        self.buffers += [goal_status, goal_residual, goal_turn, softened, factors]
        self.goal_status_out, self.goal_residual_out, self.goal_turn_out = goal_status, goal_residual, goal_turn
        self.softened_out, self.factors_out = softened, factors
        self.point = self.bend = self.body = None
        if figure.is_chain:
            self._find_tip(figure.count - 1)

    @property
    def numbers(self) -> Doubles:
        """In: K x `width` doubles, those of the goals one after the other: 3 for a place, 4 for a rotation."""
        return cast("Doubles", self.buffers[0])

    @property
    def rotations(self) -> Doubles:
        """Out: K x n x 4 doubles, each in the rest frame of its joint."""
        return cast("Doubles", self.buffers[1])

    @property
    def status(self) -> Ints:
        """Out: K indices into `STATUSES`."""
        return cast("Ints", self.buffers[2])

    @property
    def residual(self) -> Doubles:
        """Out: K greatest distances from a goal, in units of the solve space."""
        return cast("Doubles", self.buffers[3])

    @property
    def passes(self) -> Ints:
        """Out: K counts of sweeps."""
        return cast("Ints", self.buffers[4])

    @property
    def pole_error(self) -> Doubles:
        """Out: K angles between the bend and where the pole wants it."""
        return cast("Doubles", self.buffers[5])

    @property
    def tips(self) -> Doubles:
        """Out: K x 3 doubles, the end of the last joint's segment in solve space."""
        return cast("Doubles", self.buffers[6])

    @property
    def shifts(self) -> Doubles:
        """Out: K x 3 doubles, the vector by which the root of a figure that moves stands elsewhere."""
        return cast("Doubles", self.buffers[7])

    @property
    def goal_status(self) -> Ints:
        """Out: K x goals indices into `STATUSES`."""
        return cast("Ints", self.buffers[8])

    @property
    def goal_residual(self) -> Doubles:
        """Out: K x goals distances, what each misses; see `Solution.residuals`."""
        return cast("Doubles", self.buffers[9])

    @property
    def goal_turn(self) -> Doubles:
        """Out: K x goals angles in radians; see `Solution.turns`."""
        return cast("Doubles", self.buffers[10])

    @property
    def softened(self) -> Doubles:
        """Out: K x goals distances; see `Solution.softened`."""
        return cast("Doubles", self.buffers[11])

    @property
    def factors(self) -> Doubles:
        """Out: K x goals factors; see `Solution.factors`."""
        return cast("Doubles", self.buffers[12])

    def _find_tip(self, last: int) -> None:
        """Set `point` and `bend` if the goals are just a place for the tip and at most one pole.

        That is the case which the rungs for chains solve.

        Args:
            last: Index of the last joint.
        """
        points = [goal for goal in self.asked if isinstance(goal, Point) and goal.is_for_tip]
        bends = [goal for goal in self.asked if isinstance(goal, Bend) and goal.root == 0]
        is_whole = len(points) == 1 and len(bends) <= 1 and len(points) + len(bends) == len(self.asked)
        if is_whole and all(goal.effector == last for goal in self.asked):
            self.point = points[0]
            self.bend = bends[0] if bends else None

    @cython.cfunc
    def load(self, row: cython.Py_ssize_t, factor: cython.double) -> cython.void:
        """Hand the numbers of a row to the goals, lengths times a factor."""
        g: cython.int
        goal: Goal
        at: cython.Py_ssize_t = row * self.width
        for g in range(len(self.asked)):
            goal = self.asked[g]
            goal.load(self.numbers_in, at, factor)
            at += goal.width

    @cython.cfunc
    def check(self) -> cython.void:
        """Refuse numbers that no solve can use.

        Raises:
            InvalidValueError: One is NaN or infinite.
        """
        k: cython.Py_ssize_t
        for k in range(self.count * self.width):
            if not (-LARGEST_NUMBER <= self.numbers_in[k] <= LARGEST_NUMBER):
                raise InvalidValueError(f"the {self._name_of(int(k))} is not a finite number")

    def _name_of(self, k: int) -> str:
        """Which goal a number belongs to."""
        row, left = divmod(k, int(self.width))
        where = f" of row {row}" if self.count > 1 else ""
        for goal in self.asked:
            if left < goal.width:
                return f"{goal.name}{where}"
            left -= goal.width
        return "goal" + where

    def fill(self, goals: Sequence[Goal], row: int = 0) -> None:
        """Put the numbers of goals of the same kinds into a row."""
        numbers = [number for goal in goals for number in goal.numbers()]
        if len(numbers) != self.width or not 0 <= row < self.count:
            raise ChainError(f"row {row} of {self.count} takes {self.width} numbers, and {len(numbers)} were given")
        for k, number in enumerate(numbers):
            self.numbers_in[row * self.width + k] = number
