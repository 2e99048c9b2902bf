# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry point of the kernel: a figure is brought to its goals."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ChainError, InvalidValueError, are_finite
from . import cython
from .fabrik import Step, backward, limited_forward
from .figure import Figure, Pose, clamp_start
from .forms import Q4, V3, Doubles, Ints
from .goals.base import Goal
from .limb_path import Limb
from .limits.base import Limit, checked_point
from .limits.fixed import Locked
from .pole import BendSide
from .rows import Effort, Rows, Settings, Solution
from .run import Run
from .rungs import Rungs
from .vectors import ORIGIN, doubles, filled, integers, larger, minus, normalized, put3, put4, q4, scaled, v3


@cython.cclass
class Solver:
    """Brings a figure to its goals, inside its limits.

    The answer depends on figure, goals and settings alone: every solve starts from the start pose. All that can be
    found out once about the figure is kept here. A solver serves one thread at a time.

    Args:
        figure: n joints.

    Attributes:
        figure: As it was given.
    """

    figure = cython.declare(Figure, visibility="readonly")
    unit: Figure  # the same at size 1, in which it is solved
    size: cython.double
    stays: Ints  # which joints of the figure at size 1 are held at their start
    settings: Settings
    effort: Effort
    known_run: Run  # what was found out about a chain ...
    known_at: cython.int  # ... and the `changes` of the figure for which it was

    def __init__(self, figure: Figure) -> None:
        if not isinstance(figure, Figure):
            raise TypeError(f"a solver is made for a Figure, and not for {type(figure).__name__}")
        self.figure, self.unit, self.size = figure, figure.at_unit_size(), figure.size
        self.stays = integers(figure.count)
        self.settings, self.effort = Settings(), Effort()
        self.known_run = None
        self.known_at = 0

    def solve(
        self,
        goals: Sequence[Goal],
        settings: Settings = Settings(),  # noqa: B008 - it can't be changed
        trace: list[Step] | None = None,
        explain: bool = True,
    ) -> Solution:
        """Pose the figure so that its effectors come to their goals.

        Args:
            goals: In solve space, relative to the root.
            settings: All else that decides the answer.
            trace: A `Trace` that is shown every pass, in units of the figure's size, or None.
            explain: Find by how much the limits of blocking joints would have to give, which takes as long as a solve
                and does not change the answer.

        Returns:
            The solution; where a goal can't be reached, the nearest pose that was found.

        Raises:
            ChainError: A goal is set for a joint that the figure does not have.
            InvalidValueError: A number is NaN or infinite, or a setting makes no sense.
            TypeError: An argument is of another type.
        """
        if trace is not None and not isinstance(trace, list):
            raise TypeError(f"the trace is {type(trace).__name__}, and not a list")
        rows: Rows = Rows(self.figure, goals, 1)
        self.effort.trace = trace
        try:
            self.solve_many(rows, settings, explain)
        finally:
            self.effort.trace = None
        return rows.solution()

    def solve_many(self, rows: object, settings: Settings = Settings(), explain: bool = False) -> None:  # noqa: B008
        """`solve` for each row of numbers, by the same code; the answers are left in the rows.

        Args:
            rows: `Rows` that were made for a figure with the same joints, perhaps of other lengths and limits.
            settings: All else that decides the answers.
            explain: See `solve`; which limits block a row is found in any case.

        Raises:
            InvalidValueError: A number is NaN or infinite, or a setting makes no sense.
        """
        if not isinstance(rows, Rows):
            raise TypeError(f"the rows are {type(rows).__name__}, and not Rows")
        own: Rows = rows
        is_asked: cython.bint = explain
        self.check_rows(own)
        if settings is not self.settings:
            self.effort.take(settings)
            self.settings = settings
        own.check()
        for k in range(own.count):
            rungs: Rungs = self.begin(own, k)
            rungs.solve()
            rungs.put_goals(own, k, self.size)
            rungs.put_blocking(own, k, is_asked)
            root: V3 = ORIGIN if rungs.run is None else v3(own.roots, k)
            own.put_pose(k, rungs.ranks.descent.pose, self.size, root)

    @cython.cfunc
    def begin(self, rows: Rows, k: cython.Py_ssize_t) -> Rungs:
        """What solves a row, its start and numbers taken over.

        This alone tells shapes apart: a chain of which nothing but a place for its tip is asked, and perhaps a pole, is
        one run, solved relative to its root. A body has none: with its limbs put by their paths at first it met the
        same goals, took 33 and 38 steps less 9 and more 1 for two humans, more for wolf and spider, and turned as far
        from frame to frame, since least squares move the trunk away from under the limbs.
        """
        root: V3 = v3(rows.roots, k)
        is_run: cython.bint = rows.tip >= 0 and rows.weights[k * len(rows.asked) + rows.tip] > 0.0
        self.take_start(rows.starts, rows.stays, k * rows.joints, ORIGIN if is_run else root)
        rows.load(k, 1.0 / self.size, scaled(root, 1.0 / self.size) if is_run else ORIGIN)
        run: Run = self.run() if is_run else None
        rungs: Rungs = rows.rungs
        if rungs is None or rungs.figure is not self.unit or rungs.run is not run or not rungs.ranks.fits():
            rungs = rows.rungs = Rungs(self.unit, rows, self.effort, run)
        return rungs

    @cython.cfunc
    def run(self) -> Run:
        """What puts the figure, a chain, found out anew if it starts elsewhere now."""
        if self.known_run is None or self.known_at != self.unit.changes:
            self.known_run = Run(self.unit, self.effort)
            self.known_at = self.unit.changes
        return self.known_run

    def blend_rows(self, rows: Rows, influences: Sequence[float]) -> None:
        """Put each joint some of the way from the start pose to where the rows were solved, inside its limit.

        Rotations, factors, heads, ends and frames are changed in place; how the rows ended stays that of the solve, as
        do the shifts.

        Args:
            rows: K rows that were solved.
            influences: K shares of the way, 0 to 1.

        Raises:
            ChainError: The rows are of another figure, or the shares are not as many.
            InvalidValueError: A share is NaN or infinite.
        """
        self.check_rows(rows)
        if len(influences) != rows.count:
            raise ChainError(f"{len(influences)} influences for {rows.count} rows")
        if not are_finite(influences):
            raise InvalidValueError("an influence is not a finite number")
        pose: Pose = Pose(self.unit.count)
        for k in range(rows.count):
            share: cython.double = influences[k]
            if share >= 1.0:
                continue
            self.take_start(rows.starts, rows.stays, k * self.unit.count, v3(rows.roots, k))
            starts: Doubles = clamp_start(self.unit)
            for i in range(self.unit.count):
                limit: Limit = self.unit.limits[i]
                at: cython.Py_ssize_t = k * self.unit.count + i
                put4(pose.rotations, i, limit.blend(q4(starts, i), q4(rows.rotations, at), share))
            figure: Figure = self.unit
            lengths: Doubles = filled(figure.count)
            for g in range(len(rows.asked)):
                goal: Goal = rows.asked[g]
                at = k * len(rows.asked) + g
                if rows.factors[at] > 1.0:
                    rows.factors[at] = 1.0 + share * (rows.factors[at] - 1.0)
                    goal.lengthen(lengths, rows.factors[at])
                    figure = self.unit.with_lengths(lengths, 1.0)
            put3(pose.shift, 0, scaled(v3(rows.shifts, k), 1.0 / self.size))
            figure.place(pose)
            rows.put_pose(k, pose, self.size, ORIGIN)

    @cython.cfunc
    def take_start(self, starts: Doubles, stays: Ints, first: cython.Py_ssize_t, root: V3) -> cython.void:
        """Let the figure at size 1 start elsewhere, and some of its joints stay there.

        Args:
            starts: From `first` on n rotations; four zeros for the figure's own.
            stays: From `first` on n switches.
            first: Index of joint 0 in these.
            root: Vector by which joint 0 starts elsewhere, in units of the solve space.
        """
        unit: Figure = self.unit
        is_other: cython.bint = False
        for i in range(unit.count):
            start: Q4 = q4(starts, first + i)
            is_own: cython.bint = start[0] == 0.0 and start[1] == 0.0 and start[2] == 0.0 and start[3] == 0.0
            start = q4(self.figure.start, i) if is_own else normalized(start)
            is_held: cython.bint = stays[first + i] != 0
            own: Q4 = q4(unit.start, i)
            is_turned: cython.bint = (
                start[0] != own[0] or start[1] != own[1] or start[2] != own[2] or start[3] != own[3]
            )
            is_other = is_other or is_turned or is_held != (self.stays[i] != 0)
            put4(unit.start, i, start)
            self.stays[i] = is_held
        root = scaled(root, 1.0 / self.size)
        before: V3 = v3(unit.root, 0)
        put3(unit.root, 0, root)
        if is_other or root[0] != before[0] or root[1] != before[1] or root[2] != before[2]:
            unit.changes += 1
            for i in range(unit.count):
                limit: Limit = self.figure.limits[i]
                unit.limits[i] = Locked(limit.clamp(q4(unit.start, i))) if self.stays[i] else limit

    def worst_violation(self, rows: Rows) -> float:
        """How far the joint that is worst of all rows stands outside its limit, in radians."""
        worst: cython.double = 0.0
        self.check_rows(rows)
        for k in range(rows.count):
            for i in range(self.unit.count):
                limit: Limit = self.figure.limits[i]
                worst = larger(worst, limit.exceed(q4(rows.rotations, k * self.unit.count + i)))
        return worst

    @cython.cfunc
    def check_rows(self, rows: Rows) -> cython.void:
        """Refuse rows that were made for joints that hang on each other otherwise, by a ChainError."""
        is_other: cython.bint = rows.joints != self.unit.count
        for i in range(0 if is_other else self.unit.count):
            is_other = is_other or rows.parents[i] != self.unit.parents[i]
        if is_other:
            raise ChainError("the rows were made for another figure")

    @cython.cfunc
    def start_as_given(self) -> cython.void:
        """Let the figure, a chain, start as it was given.

        Raises:
            ChainError: It has branches.
        """
        if not self.figure.is_chain:
            raise ChainError("the figure is no chain")
        self.take_start(doubles(4 * self.unit.count), integers(self.unit.count), 0, ORIGIN)

    def pulled(self, rotations: Sequence[Q4], target: Sequence[float]) -> tuple[list[Q4], V3]:
        """Pull a chain by its tip like a rope: each joint follows the next at its bone's length, the root comes along.

        Args:
            rotations: n rotations from which it is pulled.
            target: Where the tip goes, in solve space.

        Returns:
            n allowed rotations, and the vector by which the root moves so that the tip is on the target.
        """
        self.start_as_given()
        pose: Pose = self.unit.posed(rotations)
        for i in range(self.unit.count):
            limit: Limit = self.unit.limits[i]
            put4(pose.rotations, i, limit.clamp(q4(pose.rotations, i)))
        self.unit.place(pose)
        place: V3 = scaled(checked_point("target", target), 1.0 / self.size)
        backward(pose.heads, self.unit.spans, self.unit.count, place)
        wanted: Pose = Pose(self.unit.count)
        for i in range(self.unit.count + 1):
            put3(wanted.heads, i, minus(v3(pose.heads, i), v3(pose.heads, 0)))
        limited_forward(self.unit, pose, wanted.heads)
        shift: V3 = scaled(minus(place, v3(pose.heads, self.unit.count)), self.size)
        return [q4(pose.rotations, i) for i in range(self.unit.count)], shift

    @property
    def reach(self) -> tuple[float, float]:
        """Least and greatest distance of a chain's tip from its root, without limits."""
        self.start_as_given()
        return max(0.0, 2.0 * max(self.unit.spans) - 1.0) * self.size, self.size

    @property
    def limb_reach(self) -> tuple[float, float, int] | None:
        """Least and greatest distance of the tip from the first ball joint within limits, and that joint's index.

        None for a chain without limits, or one that no ball joint leads.
        """
        self.start_as_given()
        run: Run = self.run()
        limb: Limb = run.limb
        if run.chain.is_free or limb is None:
            return None
        last = len(limb.reaches) - 1
        return limb.reaches[last] * self.size, limb.reaches[0] * self.size, limb.first

    def bend(self, rotations: Sequence[Q4]) -> BendSide | None:
        """How a pose of a chain bends; None for one whose tip is where it would be turned, or of a single bone."""
        self.start_as_given()
        run: Run = self.run()
        found = run.pole_turn().side_of(self.unit.posed(rotations))
        return None if found is None else found._replace(origin=scaled(found.origin, self.size))
