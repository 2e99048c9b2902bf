# SPDX-License-Identifier: GPL-3.0-or-later
"""What small turns of the joints change of the goals, and the system of equations that chooses among them."""

from __future__ import annotations

from array import array
from math import sqrt

from . import cython
from .figure import Figure, Pose
from .forms import Q4, V3, Doubles, Ints
from .goals.base import Goal
from .limits.base import Limit
from .limits.fixed import FREE
from .vectors import (
    IDENTITY,
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    copy_into,
    dot,
    doubles,
    integers,
    length,
    minus,
    perpendicular,
    plus,
    put3,
    q4,
    rotated,
    scaled,
    v3,
)


@cython.cclass
class System:
    """A symmetric, positive definite system A x = b of m equations.

    Attributes:
        size: m.
        matrix: A, row by row; its lower half counts.
        wanted: b.
        values: x, once it is solved.
    """

    size: cython.int
    matrix: Doubles
    wanted: Doubles
    values: Doubles
    factor: Doubles  # Cholesky's, in the lower half
    column: Doubles  # of it, the one at hand

    def __init__(self, size: int) -> None:
        self.size = size
        self.matrix, self.factor = doubles(size * size), doubles(size * size)
        self.wanted, self.values, self.column = doubles(size), doubles(size), doubles(size)

    @cython.cfunc
    @cython.exceptval(check=False)
    def clear(self, diagonal: cython.double, first: cython.int, of_first: cython.double) -> cython.void:
        """Make A a diagonal matrix with `of_first` at the first `first` places, and `diagonal` at the others."""
        for i in range(self.size * self.size):
            self.matrix[i] = 0.0
        for i in range(self.size):
            self.matrix[i * self.size + i] = of_first if i < first else diagonal

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def factorize(self) -> cython.bint:
        """Find Cholesky's factor, with one over its diagonal; False where there is none."""
        size: cython.int = self.size
        factor: Doubles = self.factor
        column: Doubles = self.column
        copy_into(factor, self.matrix, size * size)
        for j in range(size):
            pivot: cython.double = factor[j * size + j]
            if not pivot > 0.0:
                return False
            pivot = 1.0 / sqrt(pivot)
            factor[j * size + j] = pivot
            for i in range(j + 1, size):
                column[i] = factor[i * size + j] * pivot
                factor[i * size + j] = column[i]
            for i in range(j + 1, size):  # along a row at last, so that processors can do several numbers at once
                own: cython.double = column[i]
                for k in range(j + 1, i + 1):
                    factor[i * size + k] -= own * column[k]
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def solve(self) -> cython.void:
        """Find x; zero where A is not positive definite to the last digits."""
        copy_into(self.values, self.wanted, self.size)
        if self.factorize():
            self.substitute(self.size)
            return
        for i in range(self.size):
            self.values[i] = 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def substitute(self, count: cython.int) -> cython.void:
        """Solve the first `count` equations in place, with the factor at hand: `values` holds b, and becomes x."""
        size: cython.int = self.size
        factor: Doubles = self.factor
        values: Doubles = self.values
        total: cython.double
        for i in range(count):
            total = values[i]
            for k in range(i):
                total -= factor[i * size + k] * values[k]
            values[i] = total * factor[i * size + i]
        for i in range(count - 1, -1, -1):
            total = values[i]
            for k in range(i + 1, count):
                total -= factor[k * size + i] * values[k]
            values[i] = total * factor[i * size + i]


WHOLE = -1  # the shift of the whole figure, where a joint has its place on the way to a goal
A_RADIAN_OF_SHIFT = cython.declare(cython.double, 0.3)  # sizes of the figure: a shift by so much counts as a radian
EXACTLY = cython.declare(cython.double, 1e-6)  # share of the damping that goals which are to hold exactly get
NO_AXIS = cython.declare(cython.double, 1e-9)  # length of the rest of an axis that counts as none


@cython.cclass
class Jacobian:
    """The columns of a figure's joints for its goals, and (J B J^T + damping I) x = e - J q, of which turns are made.

    B is how ready each joint is to turn, and q the turns that are asked for besides the goals. A joint whose limit
    takes away a direction is held in it: its axes lose that part, and its share of the system is put in anew.

    Where the figure moves, its shift is one joint more, the last: a radian of it is a share of the figure's size.

    Attributes:
        goals: Bound to the figure; three rows each.
        kept: How many of them, the first, are to hold exactly.
        allowed: For each goal the vector that may be missing.
        system: x is in its values once it is solved.
    """

    figure: Figure
    goals: list[Goal]
    count_of_goals: cython.int
    kept: cython.int
    allowed: Doubles
    system: System
    axes: Doubles  # of each joint up to three, in its rest frame
    columns: Doubles  # for each of them what it changes, 3 numbers a goal
    asked: Doubles  # of each joint q
    ready: Doubles  # of each joint B
    first_touch: Ints  # of each joint where its goals begin in `touches` ...
    touches: Ints  # ... the goals that it moves, and its place on the way to them

    def __init__(self, figure: Figure, goals: list[Goal], kept: int, allowed: Doubles) -> None:
        count = figure.count + 1 if figure.moves else figure.count
        self.kept, self.allowed = kept, allowed
        self.figure, self.goals = figure, goals
        self.count_of_goals = len(goals)
        self.system = System(3 * len(goals))
        self.axes, self.asked, self.ready = doubles(9 * count), doubles(3 * count), doubles(count)
        self.columns = doubles(9 * count * len(goals))
        touched: list[list[int]] = [[] for _ in range(count)]
        for g, goal in enumerate(goals):
            bound: Goal = goal
            for k in range(len(bound.path)):
                touched[bound.path[k]] += [g, k]
            if figure.moves and bound.is_shifted:
                touched[figure.count] += [g, WHOLE]
        self.first_touch = integers(count + 1)
        for i, own in enumerate(touched):
            self.first_touch[i + 1] = self.first_touch[i] + len(own)
        self.touches = array("i", [number for own in touched for number in own])

    @cython.cfunc
    def begin(self, pose: Pose, damping: cython.double) -> cython.void:
        """The system without any joint."""
        self.system.clear(damping, 3 * self.kept, damping * EXACTLY)
        for g in range(self.count_of_goals):
            goal: Goal = self.goals[g]
            goal.prepare(pose)
            put3(self.system.wanted, g, minus(goal.missing(pose), v3(self.allowed, g)))

    @cython.cfunc
    def free_joint(self, pose: Pose, i: cython.int) -> cython.void:
        """Let a joint turn about all the axes that its limit has; its share is not added yet."""
        limit: Limit = FREE if i == self.figure.count else self.figure.limits[i]
        put3(self.axes, 3 * i, X_AXIS if limit.dofs == 3 else limit.axis if limit.dofs == 1 else ORIGIN)
        put3(self.axes, 3 * i + 1, Y_AXIS if limit.dofs == 3 else ORIGIN)
        put3(self.axes, 3 * i + 2, Z_AXIS if limit.dofs == 3 else ORIGIN)
        self.fill_columns(pose, i)

    @cython.cfunc
    def hold_joint(self, pose: Pose, i: cython.int, held: V3) -> cython.void:
        """Take a direction, a unit vector in its rest frame, from the turns of a joint whose share is in the system."""
        self.add_joint(i, -1.0)
        for a in range(3):
            left: V3 = perpendicular(v3(self.axes, 3 * i + a), held)
            put3(self.axes, 3 * i + a, left if length(left) > NO_AXIS else ORIGIN)
        self.fill_columns(pose, i)
        self.add_joint(i, 1.0)

    @cython.cfunc
    def fill_columns(self, pose: Pose, i: cython.int) -> cython.void:
        """What small turns of a joint about its axes change."""
        is_shift: cython.bint = i == self.figure.count
        rest: Q4 = IDENTITY if is_shift else q4(pose.rests, i)
        for t in range(self.first_touch[i], self.first_touch[i + 1], 2):
            goal: Goal = self.goals[self.touches[t]]
            for a in range(3):
                local: V3 = v3(self.axes, 3 * i + a)
                axis: V3 = rotated(rest, local)
                change: V3 = ORIGIN  # of an axis that is held
                if dot(local, local) > 0.0:
                    if is_shift:
                        change = scaled(goal.shift(pose, axis), A_RADIAN_OF_SHIFT)
                    else:
                        change = goal.move(pose, self.touches[t + 1], axis)
                put3(self.columns, (3 * i + a) * self.count_of_goals + self.touches[t], change)

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def add_joint(self, i: cython.int, sign: cython.double) -> cython.void:
        """Add the share of a joint to the system, or with -1 take it out.

        It has one from the first to the last of the goals that it moves; what it does not move between them is zero.
        """
        rows: cython.int = self.system.size
        matrix: Doubles = self.system.matrix
        wanted: Doubles = self.system.wanted
        columns: Doubles = self.columns
        ready: cython.double = sign * self.ready[i]
        asked: V3 = scaled(v3(self.asked, i), sign)
        along: V3 = (
            dot(asked, v3(self.axes, 3 * i)),
            dot(asked, v3(self.axes, 3 * i + 1)),
            dot(asked, v3(self.axes, 3 * i + 2)),
        )
        first: cython.int = 3 * i * rows  # three columns, those of held axes zero
        second: cython.int = first + rows
        third: cython.int = second + rows
        begin: cython.int = 3 * self.touches[self.first_touch[i]]
        end: cython.int = 3 * self.touches[self.first_touch[i + 1] - 2] + 3
        for x in range(begin, end):
            own: V3 = (columns[first + x], columns[second + x], columns[third + x])
            wanted[x] -= dot(own, along)
            own = scaled(own, ready)
            for y in range(begin, x + 1):
                matrix[x * rows + y] += (
                    own[0] * columns[first + y] + own[1] * columns[second + y] + own[2] * columns[third + y]
                )

    @cython.cfunc
    @cython.exceptval(check=False)
    def strayed(self, pose: Pose) -> cython.double:
        """Distance from the goals that must hold; leaves their error as the system's right side."""
        total: cython.double = 0.0
        for g in range(self.kept):
            goal: Goal = self.goals[g]
            missing: V3 = minus(goal.missing(pose), v3(self.allowed, g))
            put3(self.system.values, g, missing)
            total += dot(missing, missing)
        return sqrt(total)

    @cython.cfunc
    @cython.exceptval(check=False)
    def combined(self, i: cython.int, is_return: cython.bint) -> V3:
        """The turn that the solved system asks of a joint, or which takes a pose back to the goals that must hold."""
        turn: V3 = ORIGIN
        asked: V3 = ORIGIN if is_return else v3(self.asked, i)
        count: cython.int = self.kept if is_return else self.count_of_goals
        for a in range(3):
            local: V3 = v3(self.axes, 3 * i + a)
            if dot(local, local) > 0.0:
                turn = plus(turn, scaled(local, self.pull_along(i, a, count) * self.ready[i] + dot(asked, local)))
        return turn

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def pull_along(self, i: cython.int, a: cython.int, count: cython.int) -> cython.double:
        """How much the first few goals, their equations being solved, ask of a joint about one of its axes: J^T x."""
        total: cython.double = 0.0
        for t in range(self.first_touch[i], self.first_touch[i + 1], 2):
            if self.touches[t] < count:
                change: V3 = v3(self.columns, (3 * i + a) * self.count_of_goals + self.touches[t])
                total += dot(change, v3(self.system.values, self.touches[t]))
        return total
