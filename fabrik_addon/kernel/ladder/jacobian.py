# SPDX-License-Identifier: GPL-3.0-or-later
"""What small turns of the joints change of the goals, and the system of equations that chooses among them."""

from __future__ import annotations

from math import sqrt

from .. import cython
from ..figure import Figure
from ..forms import Q4, V3, Doubles, Ints
from ..goals.base import Goal
from ..limits.base import Limit
from ..pose import Pose
from ..vectors import (
    IDENTITY,
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
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
from .system import System

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
    rows: cython.int
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
        self.rows = 3 * len(goals)
        self.system = System(self.rows)
        self.axes, self.asked, self.ready = doubles(9 * count), doubles(3 * count), doubles(count)
        self.columns = doubles(3 * count * self.rows)
        touched: list[list[int]] = [[] for _ in range(count)]
        for g, goal in enumerate(goals):
            bound: Goal = goal
            for k in range(bound.steps):
                touched[bound.path[k]] += [g, k]
            if figure.moves and bound.path[0] == 0:
                touched[figure.count] += [g, WHOLE]
        self.first_touch = integers(count + 1)
        self.touches = integers(sum(map(len, touched)))
        at = 0
        for i, own in enumerate(touched):
            self.first_touch[i] = at
            for number in own:
                self.touches[at] = number
                at += 1
        self.first_touch[count] = at

    @cython.cfunc
    def begin(self, pose: Pose, damping: cython.double) -> cython.void:
        """The system without any joint."""
        g: cython.int
        goal: Goal
        self.system.clear(damping, 3 * self.kept, damping * EXACTLY)
        for g in range(self.count_of_goals):
            goal = self.goals[g]
            goal.prepare(pose)
            put3(self.system.wanted, g, minus(goal.missing(pose), v3(self.allowed, g)))

    @cython.cfunc
    def free_joint(self, pose: Pose, i: cython.int) -> cython.void:
        """Let a joint turn about all the axes that its limit has; its share is not added yet."""
        if i == self.figure.count:
            put3(self.axes, 3 * i, X_AXIS)
            put3(self.axes, 3 * i + 1, Y_AXIS)
            put3(self.axes, 3 * i + 2, Z_AXIS)
            self.fill_columns(pose, i)
            return
        limit: Limit = self.figure.limits[i]
        put3(self.axes, 3 * i, X_AXIS if limit.dofs == 3 else limit.axis if limit.dofs == 1 else ORIGIN)
        put3(self.axes, 3 * i + 1, Y_AXIS if limit.dofs == 3 else ORIGIN)
        put3(self.axes, 3 * i + 2, Z_AXIS if limit.dofs == 3 else ORIGIN)
        self.fill_columns(pose, i)

    @cython.cfunc
    def hold_joint(self, pose: Pose, i: cython.int, held: V3) -> cython.void:
        """Take a direction, a unit vector in its rest frame, from the turns of a joint whose share is in the system."""
        a: cython.int
        self.add_joint(i, -1.0)
        for a in range(3):
            left: V3 = perpendicular(v3(self.axes, 3 * i + a), held)
            put3(self.axes, 3 * i + a, left if length(left) > NO_AXIS else ORIGIN)
        self.fill_columns(pose, i)
        self.add_joint(i, 1.0)

    @cython.cfunc
    def fill_columns(self, pose: Pose, i: cython.int) -> cython.void:
        """What small turns of a joint about its axes change."""
        a: cython.int
        t: cython.int
        g: cython.int
        at: cython.int
        goal: Goal
        is_shift: cython.bint = i == self.figure.count
        rest: Q4 = IDENTITY if is_shift else q4(pose.rests, i)
        for a in range(3):
            local: V3 = v3(self.axes, 3 * i + a)
            axis: V3 = rotated(rest, local)
            is_held: cython.bint = dot(local, local) == 0.0
            for t in range(self.first_touch[i], self.first_touch[i + 1], 2):
                g = self.touches[t]
                at = (3 * i + a) * self.rows + 3 * g
                change: V3 = ORIGIN
                if not is_held:
                    goal = self.goals[g]
                    if is_shift:
                        change = scaled(goal.shift(pose, axis), A_RADIAN_OF_SHIFT)
                    else:
                        change = goal.move(pose, self.touches[t + 1], axis)
                self.columns[at] = change[0]
                self.columns[at + 1] = change[1]
                self.columns[at + 2] = change[2]

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def add_joint(self, i: cython.int, sign: cython.double) -> cython.void:
        """Add the share of a joint to the system, or with -1 take it out.

        It has one from the first to the last of the goals that it moves; what it does not move between them is zero.
        """
        a: cython.int
        x: cython.int
        y: cython.int
        if self.first_touch[i] == self.first_touch[i + 1]:
            return
        rows: cython.int = self.rows
        matrix: Doubles = self.system.matrix
        wanted: Doubles = self.system.wanted
        columns: Doubles = self.columns
        ready: cython.double = sign * self.ready[i]
        asked: V3 = scaled(v3(self.asked, i), sign)
        begin: cython.int = 3 * self.touches[self.first_touch[i]]
        end: cython.int = 3 * self.touches[self.first_touch[i + 1] - 2] + 3
        for a in range(3):
            local: V3 = v3(self.axes, 3 * i + a)
            if dot(local, local) == 0.0:
                continue
            along: cython.double = dot(asked, local)
            base: cython.int = (3 * i + a) * rows
            for x in range(begin, end):
                own: cython.double = columns[base + x] * ready
                wanted[x] -= columns[base + x] * along
                for y in range(begin, x + 1):
                    matrix[x * rows + y] += own * columns[base + y]

    @cython.cfunc
    @cython.exceptval(check=False)
    def strayed(self, pose: Pose) -> cython.double:
        """Distance from the goals that must hold; leaves their error as the system's right side."""
        g: cython.int
        goal: Goal
        total: cython.double = 0.0
        for g in range(self.kept):
            goal = self.goals[g]
            missing: V3 = minus(goal.missing(pose), v3(self.allowed, g))
            put3(self.system.values, g, missing)
            total += dot(missing, missing)
        return sqrt(total)

    @cython.cfunc
    @cython.exceptval(check=False)
    def returning(self, i: cython.int) -> V3:
        """The turn of a joint that takes a pose back to the goals that must hold, their equations being solved."""
        a: cython.int
        turn: V3 = ORIGIN
        for a in range(3):
            local: V3 = v3(self.axes, 3 * i + a)
            if dot(local, local) == 0.0:
                continue
            turn = plus(turn, scaled(local, self.pull_along(i, a, self.kept) * self.ready[i]))
        return turn

    @cython.cfunc
    @cython.exceptval(check=False)
    def combined(self, i: cython.int) -> V3:
        """The turn that the solved system asks of a joint."""
        a: cython.int
        turn: V3 = ORIGIN
        for a in range(3):
            local: V3 = v3(self.axes, 3 * i + a)
            if dot(local, local) == 0.0:
                continue
            pull: cython.double = self.pull_along(i, a, self.count_of_goals)
            turn = plus(turn, scaled(local, pull * self.ready[i] + dot(v3(self.asked, i), local)))
        return turn

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def pull_along(self, i: cython.int, a: cython.int, count: cython.int) -> cython.double:
        """How much the first few goals, their equations being solved, ask of a joint about one of its axes: J^T x."""
        t: cython.int
        total: cython.double = 0.0
        for t in range(self.first_touch[i], self.first_touch[i + 1], 2):
            if self.touches[t] < count:
                change: V3 = v3(self.columns, (3 * i + a) * self.count_of_goals + self.touches[t])
                total += dot(change, v3(self.system.values, self.touches[t]))
        return total


@cython.cfunc
def movers_of(figure: Figure, goals: list[Goal]) -> Ints:
    """The joints on the way to some goal, in order; n besides where the figure moves and a goal moves along."""
    goal: Goal
    found: set[int] = set()
    for goal in goals:
        found.update(goal.path)
    if figure.moves and 0 in found:
        found.add(figure.count)
    return listed(found)


@cython.cfunc
def placed_of(figure: Figure, goals: list[Goal]) -> Ints:
    """The joints whose places some goal has to know, in order."""
    goal: Goal
    found: set[int] = set()
    for goal in goals:
        found.update(range(figure.count) if goal.sees_all else goal.path)
    return listed(found)


def listed(found: set[int]) -> Ints:
    """Numbers in order, as a buffer."""
    numbers: Ints = integers(len(found))
    for k, i in enumerate(sorted(found)):
        numbers[k] = i
    return numbers
