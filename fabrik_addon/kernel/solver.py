# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry point of the kernel: a figure is brought to its goals."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import cast

from ..errors import ChainError, InvalidValueError
from ..finite import are_finite
from . import cython
from .chain import Chain, Reach
from .descent import Descent
from .fabrik import Trace, backward, limited_forward
from .figure import Figure, Pose, checked_point, checked_rotation, clamp_start, placed_pose
from .forms import Q4, V3, Doubles, Ints
from .goals.base import Goal
from .limb_path import Limb
from .limits.base import Limit
from .limits.fixed import Locked
from .pole import BendSide, PoleTurn
from .ranks import Body
from .result import blocking_joints, put_blocking, put_chain, put_goals, put_pose
from .rows import BLOCKED, MOST_PASSES, MOST_RESTARTS, Rows, Settings, Solution
from .rungs import Rungs
from .vectors import (
    ORIGIN,
    apart,
    doubles,
    integers,
    larger,
    minus,
    normalized,
    ones,
    put3,
    put4,
    q4,
    scaled,
    v3,
)


@cython.cclass
class LimitedPoses:
    """Poses of a figure, inside its limits and outside.

    Args:
        figure: n joints.

    Attributes:
        figure: As it was given.
        unit: The same at size 1, in which it is solved.
        size: Of the figure, in the units in which it was given.
    """

    figure = cython.declare(Figure, visibility="readonly")
    unit: Figure
    size: cython.double
    stays: Ints  # which joints of the figure at size 1 are held at their start
    no_stays: Ints
    no_starts: Doubles

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.unit = figure.at_unit_size()
        self.stays, self.no_stays = integers(figure.count), integers(figure.count)
        self.no_starts = doubles(4 * figure.count)
        self.size = figure.size

    def clamped(self, rotations: Sequence[Q4]) -> list[Q4]:
        """The allowed rotations nearest to n given ones."""
        self._check_count(rotations)
        return [limit.clamped(rotation) for limit, rotation in zip(self.figure.limits, rotations, strict=True)]

    @property
    def starts(self) -> list[Q4]:
        """The start pose inside the limits: n rotations."""
        return self.clamped(self.figure.starts)

    def blended(self, rotations: Sequence[Q4], influence: float) -> list[Q4]:
        """Each joint `influence` of the way from the start pose to n rotations, inside its limit."""
        self._check_count(rotations)
        if influence >= 1.0:
            return list(rotations)
        joints = zip(self.figure.limits, self.starts, rotations, strict=True)
        return [limit.blended(start, end, influence) for limit, start, end in joints]

    def blend_rows(self, rows: Rows, influence: float) -> None:
        """`blended` for all solved rows, in place: rotations, factors, heads, ends and frames.

        How the rows ended stays that of the solve, as do the shifts.
        """
        i: cython.int
        g: cython.int
        k: cython.Py_ssize_t
        share: cython.double = influence
        self._check_rows(rows)
        if influence >= 1.0:
            return
        pose: Pose = Pose(self.unit.count)
        for k in range(rows.count):
            self.take_start(rows.starts, rows.stays, k * self.unit.count, v3(rows.roots, k))
            starts: Doubles = clamp_start(self.unit)
            for i in range(self.unit.count):
                limit: Limit = self.unit.limits[i]
                at: cython.Py_ssize_t = k * self.unit.count + i
                put4(pose.rotations, i, limit.blend(q4(starts, i), q4(rows.rotations, at), share))
            figure: Figure = self.unit
            lengths: Doubles = ones(figure.count)
            for g in range(len(rows.asked)):
                goal: Goal = rows.asked[g]
                at = k * len(rows.asked) + g
                if rows.factors[at] > 1.0:
                    rows.factors[at] = 1.0 + share * (rows.factors[at] - 1.0)
                    goal.lengthen(lengths, rows.factors[at])
                    figure = self.unit.with_lengths(lengths, 1.0)
            put3(pose.shift, 0, scaled(v3(rows.shifts, k), 1.0 / self.size))
            figure.place(pose)
            put_pose(rows, k, pose, self.size, ORIGIN)

    @cython.cfunc
    def take_start(self, starts: Doubles, stays: Ints, first: cython.Py_ssize_t, root: V3) -> cython.void:
        """Let the figure at size 1 start elsewhere, and some of its joints stay there.

        Args:
            starts: From `first` on n rotations; four zeros for the figure's own.
            stays: From `first` on n switches.
            first: Index of joint 0 in these.
            root: Vector by which joint 0 starts elsewhere, in units of the solve space.
        """
        i: cython.int
        unit: Figure = self.unit
        is_other: cython.bint = False
        for i in range(unit.count):
            start: Q4 = q4(starts, first + i)
            is_own: cython.bint = start[0] == 0.0 and start[1] == 0.0 and start[2] == 0.0 and start[3] == 0.0
            start = q4(self.figure.start, i) if is_own else normalized(start)
            is_other = put_other(unit.start, 4 * i, start[0]) or is_other
            is_other = put_other(unit.start, 4 * i + 1, start[1]) or is_other
            is_other = put_other(unit.start, 4 * i + 2, start[2]) or is_other
            is_other = put_other(unit.start, 4 * i + 3, start[3]) or is_other
            is_held: cython.bint = stays[first + i] != 0
            is_other = is_other or is_held != (self.stays[i] != 0)
            self.stays[i] = is_held
        root = scaled(root, 1.0 / self.size)
        is_other = put_other(unit.root, 0, root[0]) or is_other
        is_other = put_other(unit.root, 1, root[1]) or is_other
        is_other = put_other(unit.root, 2, root[2]) or is_other
        if is_other:
            unit.changes += 1
            for i in range(unit.count):
                limit: Limit = self.figure.limits[i]
                unit.limits[i] = Locked(limit.clamp(q4(unit.start, i))) if self.stays[i] else limit

    @cython.cfunc
    def take_own_start(self) -> cython.void:
        """Start as the figure does."""
        self.take_start(self.no_starts, self.no_stays, 0, ORIGIN)

    def violation(self, rotations: Sequence[Q4]) -> float:
        """How far the joint that is worst stands outside its limit, in radians."""
        self._check_count(rotations)
        return max(limit.violation(rotation) for limit, rotation in zip(self.figure.limits, rotations, strict=True))

    def worst_violation(self, rows: Rows) -> float:
        """`violation`, the worst of all rows."""
        i: cython.int
        k: cython.Py_ssize_t
        worst: cython.double = 0.0
        self._check_rows(rows)
        for k in range(rows.count):
            for i in range(self.unit.count):
                limit: Limit = self.figure.limits[i]
                worst = larger(worst, limit.exceed(q4(rows.rotations, k * self.unit.count + i)))
        return worst

    def _check_rows(self, rows: Rows) -> None:
        """Refuse rows that were made for another number of joints, by a ChainError."""
        if rows.joints != self.unit.count:
            raise ChainError("the rows were made for another figure")

    def _check_count(self, rotations: Sequence[Q4]) -> None:
        """Refuse rotations that are not as many as the joints.

        Raises:
            InvalidValueError: They are not.
        """
        if len(rotations) != self.unit.count:
            raise InvalidValueError(f"{len(rotations)} rotations were given for {self.unit.count} joints")

    def _posed(self, rotations: Sequence[Q4]) -> Pose:
        """A placed pose of the figure at size 1."""
        self._check_count(rotations)
        pose: Pose = Pose(self.unit.count)
        for i in range(self.unit.count):
            put4(pose.rotations, i, checked_rotation("rotation", rotations[i]))
        self.unit.place(pose)
        return pose


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def put_other(buffer: Doubles, at: cython.Py_ssize_t, value: cython.double) -> cython.bint:
    """Put a number into a buffer; whether another stood there."""
    is_other: cython.bint = buffer[at] != value
    buffer[at] = value
    return is_other


THERE = cython.declare(cython.double, 0.01)  # share of the tolerance within which the start pose is the answer
LEAST_SHARE_OF_PASSES = 32  # of a restart


@cython.cclass
class Solver(LimitedPoses):
    """Brings a figure to its goals, inside its limits.

    The answer depends on figure, goals and settings alone: every solve starts from the start pose. All that can be
    found out once about the figure is kept here. A solver serves one thread at a time.

    Args:
        figure: n joints.
    """

    settings: object
    tolerance: cython.double
    max_passes: cython.int
    restarts: cython.int
    plain: cython.bint
    chain: Chain
    extent: Reach
    descent: Descent
    rungs: Rungs
    pole: PoleTurn
    known_at: cython.int  # the `changes` of the figure for which all this was found
    explains: cython.bint  # whether it is asked by how much limits would have to give
    start: Pose  # the start pose of a chain, inside its limits; None where a limb's way leads past it
    trace: Trace

    def __init__(self, figure: Figure) -> None:
        if not isinstance(figure, Figure):
            raise TypeError(f"a solver is made for a Figure, and not for {type(figure).__name__}")
        LimitedPoses.__init__(self, figure)
        self.tolerance = 0.0
        self.max_passes = self.restarts = 0
        self.plain = self.explains = False
        self.trace = None
        self._forget()
        self._use(Settings())

    def solve(
        self,
        goals: Sequence[Goal],
        settings: Settings = Settings(),  # noqa: B008 - it can't be changed
        trace: Trace | None = None,
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
        if trace is not None and not isinstance(trace, Trace):
            raise TypeError(f"the trace is {type(trace).__name__}, and not a Trace")
        rows: Rows = Rows(self.figure, goals, 1)
        rows.fill(goals)
        self.trace = trace
        try:
            self.solve_many(rows, settings, explain)
        finally:
            self.trace = None
        return rows.solution()

    def solve_many(self, rows: object, settings: Settings = Settings(), explain: bool = False) -> None:  # noqa: B008
        """`solve` for each row of numbers, by the same code; the answers are left in the rows.

        Args:
            rows: `Rows` that were made for a figure with as many joints.
            settings: All else that decides the answers.
            explain: See `solve`; which limits block a row is found in any case.

        Raises:
            InvalidValueError: A number is NaN or infinite, or a setting makes no sense.
        """
        if not isinstance(rows, Rows):
            raise TypeError(f"the rows are {type(rows).__name__}, and not Rows")
        self.explains = explain
        self.solve_rows(rows, settings)

    @cython.cfunc
    def solve_rows(self, rows: Rows, settings: Settings) -> cython.void:
        """`solve_many` of what is known to be rows."""
        k: cython.Py_ssize_t
        self._check_rows(rows)
        if settings is not self.settings:
            self._use(settings)
        rows.check()
        for k in range(rows.count):
            rows.load(k, 1.0 / self.size)
            if rows.point is not None and self.chain is not None and rows.point.weight > 0.0:
                self.take_start(rows.starts, rows.stays, k * rows.joints, ORIGIN)
                self.refresh()
                self.prepare_chain(rows)
                self.solve_chain(rows, k)
            else:
                self.take_start(rows.starts, rows.stays, k * rows.joints, v3(rows.roots, k))
                self.solve_body(rows, k)

    def _forget(self) -> None:
        """Drop all that was found out about the figure with another start."""
        self.chain = self.extent = self.descent = self.rungs = self.pole = self.start = None
        self.known_at = self.unit.changes
        self.settings = None
        if self.figure.is_chain:
            self.chain = Chain(self.unit)
            self.extent = Reach(self.chain)
            self.descent = Descent(self.unit, [self.chain.tip])

    @cython.cfunc
    def refresh(self) -> cython.void:
        """Drop what was found out about the figure if it starts elsewhere now."""
        if self.known_at != self.unit.changes:
            settings: Settings = cast("Settings", self.settings)
            self._forget()
            self._use(settings)

    def _use(self, settings: Settings) -> None:
        """Take over settings.

        Raises:
            InvalidValueError: One makes no sense.
        """
        if not isinstance(settings, Settings):
            raise TypeError(f"the settings are {type(settings).__name__}, and not Settings")
        if not are_finite((float(settings.tolerance),)):
            raise InvalidValueError("the tolerance is not a finite number")
        passes = max(min(index(settings.max_passes), MOST_PASSES), 0)
        restarts = max(min(index(settings.restarts), MOST_RESTARTS), 0)
        self.tolerance, self.max_passes = settings.tolerance, passes
        self.restarts, self.plain = restarts, bool(settings.plain)
        if self.chain is not None:
            self.chain.tolerance, self.chain.max_passes = settings.tolerance, passes
            self.chain.plain, self.chain.restarts = bool(settings.plain), restarts
            self.chain.fabrik = bool(settings.fabrik)
            self.chain.share = max(int(passes / max(restarts, 1)), LEAST_SHARE_OF_PASSES)
        self.settings = settings

    @cython.cfunc
    def prepare_chain(self, rows: Rows) -> cython.void:
        """Find out, once, what the rungs for chains need to know."""
        chain: Chain = self.chain
        chain.trace = self.trace
        limb: Limb = self.find_limb()
        if self.start is None and (limb is None or not limb.leads_past_start):
            self.start = placed_pose(self.unit, clamp_start(self.unit))
        if rows.bend is not None and rows.bend.weight > 0.0 and self.pole is None:
            self.pole = PoleTurn(chain, limb)

    @cython.cfunc
    def find_limb(self) -> Limb:
        """The limb that a chain has at its root, found once; None where no ball joint leads it."""
        if self.rungs is None:
            self.rungs = Rungs(self.chain, self.extent, self.descent)
        return self.rungs.limb

    @cython.cfunc
    def solve_chain(self, rows: Rows, k: cython.Py_ssize_t) -> cython.void:
        """A chain whose tip has a target, and which perhaps has a pole."""
        chain: Chain = self.chain
        descent: Descent = self.descent
        root: V3 = v3(rows.roots, k)
        rows.point.target = minus(rows.point.target, scaled(root, 1.0 / self.size))
        chain.target = rows.point.softened_place(ORIGIN)
        chain.tip.target = chain.target
        if self.trace is not None:
            descent.begin(self.unit.start)
            chain.record("start", descent.pose.heads)
        passes: cython.int = 1
        start: Pose = self.start
        if start is not None and apart(v3(start.heads, chain.count), chain.target) <= THERE * self.tolerance:
            descent.take(start)
        else:
            passes = self.rungs.solve()
        held: list[int] = []
        if descent.error > self.tolerance:
            held = blocking_joints(descent)  # before the pole, which turns a joint away from its limit
        rows.pole_error[k] = 0.0
        if rows.bend is not None and rows.bend.weight > 0.0:
            place: V3 = minus(rows.bend.pole, scaled(root, 1.0 / self.size))
            rows.pole_error[k] = self.pole.turn(descent.pose, place, rows.bend.angle)
            descent.judge()
        chain.record("end", descent.pose.heads)
        rows.passes[k] = passes if passes > 0 else 1
        factor: cython.double = put_chain(rows, k, chain, descent, self.size)
        put_pose(rows, k, descent.pose, self.size * factor, root)
        put_blocking(rows, k, descent, held, self.tolerance if self.explains else -1.0)

    @cython.cfunc
    def solve_body(self, rows: Rows, k: cython.Py_ssize_t) -> cython.void:
        """A figure with other goals than a chain's."""
        body: Body = rows.body
        if body is None or body.figure is not self.unit or not body.fits():
            body = Body(self.unit, rows.asked)
            rows.body = body
        body.trace = self.trace
        passes: cython.int = body.solve(self.tolerance, self.max_passes, self.restarts, self.plain)
        rows.passes[k] = passes if passes > 0 else 1
        put_goals(rows, k, body, self.size, self.tolerance)
        put_pose(rows, k, body.descent.pose, self.size, ORIGIN)
        held: list[int] = blocking_joints(body.descent) if rows.status[k] == BLOCKED else []
        put_blocking(rows, k, body.descent, held, self.tolerance if self.explains else -1.0)

    def _chain(self) -> Chain:
        """The figure as a chain, which starts as it was given.

        Raises:
            ChainError: It has branches.
        """
        if self.chain is None:
            raise ChainError("the figure is no chain")
        self.take_own_start()
        self.refresh()
        return self.chain

    def pulled(self, rotations: Sequence[Q4], target: Sequence[float]) -> tuple[list[Q4], V3]:
        """Pull a chain by its tip like a rope: each joint follows the next at its bone's length, the root comes along.

        Args:
            rotations: n rotations from which it is pulled.
            target: Where the tip goes, in solve space.

        Returns:
            n allowed rotations, and the vector by which the root moves so that the tip is on the target.
        """
        self._chain()
        pose: Pose = self._posed(self.clamped(rotations))
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
        chain: Chain = self._chain()
        return chain.inner * self.size, self.size

    @property
    def limb_reach(self) -> tuple[float, float, int] | None:
        """Least and greatest distance of the tip from the first ball joint within limits, and that joint's index.

        None for a chain without limits, or one that no ball joint leads.
        """
        chain: Chain = self._chain()
        if chain.is_free or chain.first_ball < 0:
            return None
        limb: Limb = self.find_limb()
        last = limb.count_of_poses - 1
        return limb.reaches[last] * self.size, limb.reaches[0] * self.size, limb.first

    def bend(self, rotations: Sequence[Q4]) -> BendSide | None:
        """How a pose of a chain bends; None for one whose tip is where it would be turned, or of a single bone."""
        chain: Chain = self._chain()
        if self.pole is None:
            self.pole = PoleTurn(chain, self.find_limb())
        found = self.pole.side_of(self._posed(rotations))
        return None if found is None else found._replace(origin=scaled(found.origin, self.size))
