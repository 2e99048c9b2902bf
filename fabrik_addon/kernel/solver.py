# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry point of the kernel: a figure is brought to its goals."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from ..errors import ChainError, InvalidValueError
from ..finite import are_finite
from . import cython
from .answers import put_chain, put_goals, solution_of
from .figure import Figure, checked_point
from .forms import Q4, V3
from .goals.base import Goal
from .ladder.blocked import blocking_joints
from .ladder.bodies import Body
from .ladder.chain import Chain
from .ladder.descent import Descent
from .ladder.free import FreeChain
from .ladder.limb import Limb, clamp_start, placed_pose
from .ladder.limited import LimitedChain
from .ladder.passes import backward, limited_forward
from .ladder.pole import BendSide, PoleTurn
from .ladder.reach import Reach
from .limited_poses import LimitedPoses
from .pose import Pose
from .rows import Rows
from .settings import MOST_PASSES, MOST_RESTARTS, Settings
from .solution import Solution
from .trace import Trace
from .vectors import ORIGIN, apart, minus, put3, q4, scaled, v3

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
    free: FreeChain
    limited: LimitedChain
    pole: PoleTurn
    pole_error: cython.double
    names_limits: cython.bint  # whether the joints that hold the chain back are asked for
    held: list[int]
    start: Pose  # the start pose of a chain, inside its limits; None where a limb's way leads past it
    trace: Trace

    def __init__(self, figure: Figure) -> None:
        if not isinstance(figure, Figure):
            raise TypeError(f"a solver is made for a Figure, and not for {type(figure).__name__}")
        LimitedPoses.__init__(self, figure)
        self.tolerance = self.pole_error = 0.0
        self.max_passes = self.restarts = 0
        self.plain = self.names_limits = False
        self.held = []
        self.chain = self.extent = self.descent = self.free = self.limited = self.pole = self.start = self.trace = None
        if figure.is_chain:
            self.chain = Chain(self.unit)
            self.extent = Reach(self.chain)
            self.descent = Descent(self.unit, [self.chain.tip])
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
        self.trace, self.names_limits, self.held = trace, True, []
        try:
            self.solve_many(rows, settings)
        finally:
            self.trace, self.names_limits = None, False
        descent = self.descent
        if rows.point is None:
            descent = rows.body.descent
            self.held = blocking_joints(descent)
        return solution_of(rows, descent, self.held, self.size, self.tolerance if explain else -1.0)

    def solve_many(self, rows: object, settings: Settings = Settings()) -> None:  # noqa: B008
        """`solve` for each row of numbers, by the same code; the answers are left in the rows.

        Args:
            rows: `Rows` that were made for a figure with as many joints.
            settings: All else that decides the answers.

        Raises:
            InvalidValueError: A number is NaN or infinite, or a setting makes no sense.
        """
        if not isinstance(rows, Rows):
            raise TypeError(f"the rows are {type(rows).__name__}, and not Rows")
        self.solve_rows(rows, settings)

    @cython.cfunc
    def solve_rows(self, rows: Rows, settings: Settings) -> cython.void:
        """`solve_many` of what is known to be rows."""
        k: cython.Py_ssize_t
        self._check_rows(rows)
        if settings is not self.settings:
            self._use(settings)
        rows.check()
        if rows.point is not None and self.chain is not None:
            self.prepare_chain(rows)
            for k in range(rows.count):
                self.solve_chain(rows, k)
            return
        if rows.body is None or rows.body.figure is not self.unit:
            rows.body = Body(self.unit, rows.asked)
        for k in range(rows.count):
            self.solve_body(rows, k)

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
            self.chain.share = max(int(passes / max(restarts, 1)), LEAST_SHARE_OF_PASSES)
        self.settings = settings

    @cython.cfunc
    def prepare_chain(self, rows: Rows) -> cython.void:
        """Find out, once, what the rungs for chains need to know."""
        chain: Chain = self.chain
        chain.trace = self.trace
        if chain.is_free and self.free is None:
            self.free = FreeChain(chain, self.extent, self.descent)
        limb: Limb = self.find_limb()
        if self.start is None and (limb is None or not limb.leads_past_start):
            self.start = placed_pose(self.unit, clamp_start(self.unit))
        if rows.bend is not None and self.pole is None:
            self.pole = PoleTurn(chain, limb)

    @cython.cfunc
    def find_limb(self) -> Limb:
        """The limb that a chain with limits has at its root, found once; None for a chain without limits."""
        if self.chain.is_free:
            return None
        if self.limited is None:
            self.limited = LimitedChain(self.chain, self.extent, self.descent)
        return self.limited.limb

    @cython.cfunc
    def solve_chain(self, rows: Rows, k: cython.Py_ssize_t) -> cython.void:
        """A chain whose tip has a target, and which perhaps has a pole."""
        chain: Chain = self.chain
        descent: Descent = self.descent
        rows.load(k, 1.0 / self.size)
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
            passes = self.free.solve() if chain.is_free else self.limited.solve()
        self.pole_error = 0.0
        if self.names_limits and descent.error > self.tolerance:
            self.held = blocking_joints(descent)  # before the pole, which turns a joint away from its limit
        if rows.bend is not None:
            self.pole_error = self.pole.turn(descent.pose, rows.bend.pole, rows.bend.angle)
            descent.judge()
        chain.record("end", descent.pose.heads)
        rows.passes_out[k] = passes if passes > 0 else 1
        rows.pole_error_out[k] = self.pole_error
        self.put_pose(rows, k, descent.pose)
        put_chain(rows, k, chain, descent, self.size)

    @cython.cfunc
    def solve_body(self, rows: Rows, k: cython.Py_ssize_t) -> cython.void:
        """A figure with other goals than a chain's."""
        body: Body = rows.body
        rows.load(k, 1.0 / self.size)
        body.trace = self.trace
        passes: cython.int = body.solve(self.tolerance, self.max_passes, self.restarts, self.plain)
        missed: cython.double = body.misses()
        rows.status_out[k] = body.status(self.tolerance)
        rows.residual_out[k] = missed * self.size
        rows.passes_out[k] = passes if passes > 0 else 1
        rows.pole_error_out[k] = 0.0
        self.put_pose(rows, k, body.descent.pose)
        put_goals(rows, k, self.size, self.tolerance)

    @cython.cfunc
    @cython.exceptval(check=False)
    def put_pose(self, rows: Rows, k: cython.Py_ssize_t, pose: Pose) -> cython.void:
        """Leave a pose in a row."""
        i: cython.int
        at: cython.Py_ssize_t = k * 4 * self.unit.count
        for i in range(4 * self.unit.count):
            rows.rotations_out[at + i] = pose.rotations[i]
        put3(rows.tips_out, k, scaled(v3(pose.heads, self.unit.count), self.size))
        put3(rows.shifts_out, k, scaled(v3(pose.shift, 0), self.size))

    def _chain(self) -> Chain:
        """The figure as a chain.

        Raises:
            ChainError: It has branches.
        """
        if self.chain is None:
            raise ChainError("the figure is no chain")
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
