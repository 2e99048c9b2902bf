# SPDX-License-Identifier: GPL-3.0-or-later
"""How to solve, goals of many frames or copies in, and what was found for each out, as flat buffers."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from enum import StrEnum
from operator import index
from typing import Any, NamedTuple, SupportsIndex

from ..errors import LARGEST, ChainError, InvalidValueError
from . import cython
from .fabrik import Step
from .figure import Figure, Pose
from .forms import Q4, V3, Doubles, Ints
from .goals.base import HINT, PUTS_TIP, TURNS_RUN, Goal
from .vectors import doubles, integers, plus, put3, q4, scaled, v3

DEFAULT_TOLERANCE = 1e-4
DEFAULT_MAX_PASSES = 256
DEFAULT_RESTARTS = 8
MOST_PASSES = 1 << 30
MOST_RESTARTS = 128
LEAST_STEPS = 32  # that a restart gets; where fewer are to be spent there is none


class Settings(NamedTuple):
    """How to solve.

    Attributes:
        tolerance: Distance from a goal that counts as reached, as a share of the figure's size.
        max_passes: Greatest number of passes of a descent; each is one sweep over all joints. Each rank of goals, and
            each other start, has a descent of its own.
        plain: FABRIK's passes alone, as in the paper: no path of a limb, no least squares, no restarts.
        restarts: How many other starts are tried where limits hold the figure back.
        fabrik: Whether FABRIK's passes take part; without them the path of a limb is gone to its end.
    """

    tolerance: float = DEFAULT_TOLERANCE
    max_passes: int = DEFAULT_MAX_PASSES
    plain: bool = False
    restarts: int = DEFAULT_RESTARTS
    fabrik: bool = True


@cython.cclass
class Effort:
    """What is spent on a solve: `Settings` as all rungs have them at hand, and who watches.

    Attributes:
        tolerance: What a goal may miss, as a share of the figure's size.
        passes: The most steps and passes.
        restarts: How many other starts are tried; none where passes are few, or work alone.
        share: The most steps from one of them, for a run.
        is_plain: Whether FABRIK's passes work alone.
        with_fabrik: Whether they work at all.
        trace: Is shown every pass; None where nobody watches.
    """

    tolerance: cython.double
    passes: cython.int
    restarts: cython.int
    share: cython.int
    is_plain: cython.bint
    with_fabrik: cython.bint
    trace: list[Step]

    def __init__(self) -> None:
        self.trace = None
        self.take(Settings())

    def take(self, settings: Settings) -> None:
        """Take over settings.

        Raises:
            InvalidValueError: One makes no sense.
        """
        if not isinstance(settings, Settings):
            raise TypeError(f"the settings are {type(settings).__name__}, and not Settings")
        if not abs(float(settings.tolerance)) <= LARGEST:
            raise InvalidValueError("the tolerance is not a finite number")
        passes = max(min(index(settings.max_passes), MOST_PASSES), 0)
        restarts = max(min(index(settings.restarts), MOST_RESTARTS), 0)
        self.tolerance, self.passes = settings.tolerance, passes  # nothing is taken over before all of it makes sense
        self.is_plain, self.with_fabrik = bool(settings.plain), bool(settings.fabrik)
        self.restarts = 0 if self.is_plain or self.passes < LEAST_STEPS else restarts
        self.share = max(int(self.passes / max(restarts, 1)), LEAST_STEPS)

    @cython.cfunc
    def record(self, name: str, joints: Doubles, count: cython.int) -> cython.void:
        """Show n + 1 joints after a pass to whoever wants to see them."""
        if self.trace is not None:
            self.trace.append(Step(name, tuple([v3(joints, i) for i in range(count + 1)])))


class Status(StrEnum):
    """How a solve ended."""

    REACHED = "REACHED"  # the effector is at its goal, within the tolerance
    TOO_FAR = "TOO_FAR"  # the goal is farther than the chain is long
    TOO_NEAR = "TOO_NEAR"  # the goal is nearer than the longest bone lets the tip come
    BLOCKED = "BLOCKED"  # limits, or other goals, hold the figure back


STATUSES = tuple(Status)  # rows of numbers name a status by its index in these
REACHED = cython.declare(cython.int, 0)  # these indices
TOO_FAR = cython.declare(cython.int, 1)
TOO_NEAR = cython.declare(cython.int, 2)
BLOCKED = cython.declare(cython.int, 3)


class Solution(NamedTuple):
    """What a solve found.

    Attributes:
        status: How it ended; with several goals, REACHED where all are but hints, and where the body was put, else that
            of the one that misses most.
        rotations: n rotations, each in the rest frame of its joint.
        joints: n + 1 points in solve space: the joints, and the end of the last one's segment.
        residual: Greatest distance from a goal, in units of the solve space.
        passes: Sweeps that were used, 1 at least.
        blocking: Indices of the joints whose limits hold the figure back, the strongest first.
        give: For each of the first three of these, the radians by which its limit would have to give for the goals to
            be met with all other limits held; None where that alone would not do.
        pole_error: Angle in radians between the bend and where the pole wants it; 0 without a pole.
        statuses: How each goal ended.
        residuals: What each goal misses, in units of the solve space; a radian of a rotation counts .15 of the
            figure's size.
        turns: The radians by which each goal of a rotation, an axis or a bend is missed; 0 for places.
        softened: How far the place that each goal asks for stands from where it was put, by soft reach.
        factors: By how much the joints on the way to each goal were stretched; `joints` are stretched ones.
        shift: Vector by which the root stands elsewhere than the figure has it, in solve space.
        ends: n points in solve space, the ends of the segments.
        frames: n unit quaternions, the frames of the joints in solve space.
    """

    status: Status
    rotations: list[Q4]
    joints: list[V3]
    residual: float
    passes: int
    blocking: tuple[int, ...]
    give: tuple[float | None, ...]
    pole_error: float
    statuses: tuple[Status, ...]
    residuals: tuple[float, ...]
    turns: tuple[float, ...]
    softened: tuple[float, ...]
    factors: tuple[float, ...]
    shift: V3
    ends: list[V3]
    frames: list[Q4]


MOST_NUMBERS = 1 << 31
LAST_RANK = cython.declare(cython.int, HINT)
MOST_GIVES = cython.declare(cython.int, 3)  # joints of which it is found out by how much they would have to give
LARGEST_NUMBER = cython.declare(cython.double, LARGEST)
UNKNOWN = cython.declare(cython.double, -1.0)  # by how much a limit has to give, where nobody asked
NEVER = cython.declare(cython.double, float("inf"))  # the same where that alone would not do
# name, what each row has of it (see `widths_of`), and whether it holds whole numbers
BUFFERS = (
    ("numbers", "numbers", False),
    ("starts", "rotations", False),
    ("roots", "point", False),
    ("weights", "goals", False),
    ("ranks", "goals", True),
    ("stays", "joints", True),
    ("rotations", "rotations", False),
    ("shifts", "point", False),
    ("factors", "goals", False),
    ("heads", "points", False),
    ("ends", "points", False),
    ("frames", "rotations", False),
    ("status", "one", True),
    ("residual", "one", False),
    ("passes", "one", True),
    ("pole_error", "one", False),
    ("goal_status", "goals", True),
    ("goal_residual", "goals", False),
    ("goal_turn", "goals", False),
    ("softened", "goals", False),
    ("blocking", "joints", True),
    ("gives", "gives", False),
)


@cython.cclass
class Rows:
    """The same goals with other numbers in each row, and the answers.

    Args:
        figure: n joints.
        goals: G goals, asked in every row. Their places and rotations are taken from the rows, as are weights and
            ranks, which stand there as these goals have them until they are changed; angles and offsets from here.
        count: K rows.

    Attributes:
        count: K.
        width: How many numbers the goals have together: 3 for a place, 4 for a rotation.
        joints: n.
        numbers: In: K x `width` doubles, those of the goals one after the other.
        starts: In: K x n x 4 doubles, the start pose; a rotation of four zeros, as all are at first, is the figure's.
        roots: In: K x 3 doubles, the vector by which the root starts elsewhere than the figure has it.
        weights: In: K x G doubles, how much each goal counts; one of 0 asks for nothing.
        ranks: In: K x G ranks.
        stays: In: K x n switches: not 0 for a joint that stays at its start, brought inside its limit.
        rotations: Out: K x n x 4 doubles, each in the rest frame of its joint.
        shifts: Out: K x 3 doubles, the vector by which the root stands elsewhere than the figure has it.
        factors: Out: K x G doubles, by how much the joints on the way to each goal were stretched.
        heads: Out: K x n x 3 doubles, the joints in solve space, as long as they were stretched.
        ends: Out: K x n x 3 doubles, the ends of their segments.
        frames: Out: K x n x 4 doubles, their frames in solve space.
        status: Out: K indices into `STATUSES`; with several goals that of the one that misses most.
        residual: Out: K greatest distances from a goal, in units of the solve space.
        passes: Out: K counts of sweeps.
        pole_error: Out: K angles between the bend of a chain and where its pole wants it.
        goal_status: Out: K x G indices into `STATUSES`.
        goal_residual: Out: K x G distances; see `Solution.residuals`.
        goal_turn: Out: K x G angles in radians; see `Solution.turns`.
        softened: Out: K x G distances; see `Solution.softened`.
        blocking: Out: K x n indices of joints whose limits hold a row back that is BLOCKED, the strongest first, then
            -1.
        gives: Out: K x 3 angles, by which the limits of the first of these would have to give for the goals to be met
            with all others held; infinite where that alone would not do, -1 where it was not asked.

    Raises:
        ChainError: A goal is set for a joint that the figure does not have, or there are too many rows.
    """

    count = cython.declare(cython.Py_ssize_t, visibility="readonly")
    width = cython.declare(cython.int, visibility="readonly")
    joints = cython.declare(cython.int, visibility="readonly")
    parents: Ints  # of the figure's joints
    buffers: dict[str, Any]
    asked: list[Goal]
    tip: cython.int  # index of the goal of a chain's tip, if but a pole is asked besides; -1 for none
    pole: cython.int  # that of its pole; -1 for none
    rungs: Any  # what solves them, made at the first solve
    numbers: Doubles
    starts: Doubles
    roots: Doubles
    weights: Doubles
    ranks: Ints
    stays: Ints
    rotations: Doubles
    shifts: Doubles
    factors: Doubles
    heads: Doubles
    ends: Doubles
    frames: Doubles
    status: Ints
    residual: Doubles
    passes: Ints
    pole_error: Doubles
    goal_status: Ints
    goal_residual: Doubles
    goal_turn: Doubles
    softened: Doubles
    blocking: Ints
    gives: Doubles

    def __init__(self, figure: Figure, goals: Sequence[Goal], count: SupportsIndex) -> None:
        if not isinstance(figure, Figure):
            raise TypeError(f"rows are made for a Figure, and not for {type(figure).__name__}")
        if not goals:
            raise ChainError("no goal is set")
        goals = list(goals)
        for goal in goals:
            if not isinstance(goal, Goal):
                raise TypeError(f"a goal is {type(goal).__name__}, and not a Goal")
        count = index(count)
        if count < 0 or count * figure.count * 4 > MOST_NUMBERS:
            raise ChainError(f"{count} rows of {figure.count} joints are more than can be solved at once")
        self.asked = [goal.bound(figure) for goal in goals]
        self.count = count
        self.joints, self.parents = figure.count, figure.parents
        numbers = [number for goal in goals for number in goal.numbers()]
        self.width = len(numbers)
        widths = widths_of(figure.count, int(self.width), len(self.asked))
        self.buffers = {
            name: (integers if is_whole else doubles)(count * widths[each]) for name, each, is_whole in BUFFERS
        }
        self.buffers["numbers"] = array("d", numbers) * count
        self.buffers["weights"] = array("d", [goal.weight for goal in goals]) * count
        self.buffers["ranks"] = array("i", [goal.rank for goal in goals]) * count
        self._view(list(self.buffers.values()))
        self.rungs = None
        roles = [goal.role(figure.count - 1) for goal in self.asked] if figure.is_chain else []
        is_run = sorted(roles) in ([PUTS_TIP], [PUTS_TIP, TURNS_RUN])
        self.tip = roles.index(PUTS_TIP) if is_run else -1
        self.pole = roles.index(TURNS_RUN) if is_run and TURNS_RUN in roles else -1

    def _view(self, made: list[Any]) -> None:
        """Take the buffers over for quick access, in their order."""
        self.numbers, self.starts, self.roots, self.weights, self.ranks, self.stays = made[:6]
        self.rotations, self.shifts, self.factors, self.heads, self.ends, self.frames = made[6:12]
        self.status, self.residual, self.passes, self.pole_error = made[12:16]
        self.goal_status, self.goal_residual, self.goal_turn, self.softened = made[16:20]
        self.blocking, self.gives = made[20:]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.buffers[name]
        except KeyError:
            raise AttributeError(f"rows have no '{name}'") from None

    @cython.cfunc
    def load(self, row: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        """Hand the numbers of a row, weights and ranks to the goals, lengths times a factor, relative to an origin."""
        at: cython.Py_ssize_t = row * self.width
        for g in range(len(self.asked)):
            goal: Goal = self.asked[g]
            goal.load(self.numbers, at, factor, origin)
            goal.weight = self.weights[row * len(self.asked) + g]
            goal.rank = self.ranks[row * len(self.asked) + g]
            at += goal.width

    @cython.cfunc
    def check(self) -> cython.void:
        """Refuse numbers that no solve can use.

        Raises:
            InvalidValueError: One is NaN or infinite, a weight below zero, or a rank none.
        """
        each: cython.Py_ssize_t = len(self.asked)
        at: cython.Py_ssize_t = 0
        for k in range(self.count):
            if has_bad(self.starts, k * 4 * self.joints, 4 * self.joints):
                raise InvalidValueError(f"the start pose{self._where(k)} is not of finite numbers")
            if has_bad(self.roots, 3 * k, 3):
                raise InvalidValueError(f"the place of the root{self._where(k)} is not of finite numbers")
            for g in range(each):
                goal: Goal = self.asked[g]
                if has_bad(self.numbers, at, goal.width):
                    raise InvalidValueError(f"the {goal.name}{self._where(k)} is not a finite number")
                if not 0.0 <= self.weights[k * each + g] <= LARGEST_NUMBER:
                    raise InvalidValueError(f"a goal's weight{self._where(k)} is not a finite number, or is negative")
                if not 0 <= self.ranks[k * each + g] <= LAST_RANK:
                    raise InvalidValueError(
                        f"a goal{self._where(k)} has the rank {self.ranks[k * each + g]}, which is none"
                    )
                at += goal.width

    def _where(self, row: int) -> str:
        """A row of several, in words."""
        return f" of row {row}" if self.count > 1 else ""

    @cython.cfunc
    @cython.exceptval(check=False)
    def put_pose(self, k: cython.Py_ssize_t, pose: Pose, size: cython.double, root: V3) -> cython.void:
        """Leave a placed pose in a row.

        Args:
            k: The row.
            pose: Of size 1.
            size: By how much it is to be larger.
            root: Vector by which all of it is to stand elsewhere.
        """
        count: cython.int = self.joints
        first: cython.Py_ssize_t = k * count
        for i in range(4 * count):
            self.rotations[4 * first + i] = pose.rotations[i]
            self.frames[4 * first + i] = pose.frames[i]
        for i in range(count):
            put3(self.heads, first + i, plus(root, scaled(v3(pose.heads, i), size)))
            put3(self.ends, first + i, plus(root, scaled(v3(pose.ends, i), size)))
        put3(self.shifts, k, plus(root, scaled(v3(pose.shift, 0), size)))

    def solution(self, row: int = 0) -> Solution:
        """What was found for a row, as tuples and lists.

        Raises:
            ChainError: There is no such row.
        """
        if not 0 <= row < self.count:
            raise ChainError(f"there is no row {row} of {self.count}")
        n, each = int(self.joints), len(self.asked)
        own, goals = range(row * n, row * n + n), slice(row * each, row * each + each)
        ends = [v3(self.ends, i) for i in own]
        blocking = tuple([self.blocking[i] for i in own if self.blocking[i] >= 0])
        gives = [self.gives[MOST_GIVES * row + k] for k in range(min(MOST_GIVES, len(blocking)))]
        return Solution(
            STATUSES[self.status[row]],
            [q4(self.rotations, i) for i in own],
            [*[v3(self.heads, i) for i in own], ends[n - 1]],
            self.residual[row],
            self.passes[row],
            blocking,
            tuple([None if give == NEVER else give for give in gives if give >= 0.0]),
            self.pole_error[row],
            tuple([STATUSES[status] for status in self.buffers["goal_status"][goals]]),
            tuple(self.buffers["goal_residual"][goals]),
            tuple(self.buffers["goal_turn"][goals]),
            tuple(self.buffers["softened"][goals]),
            tuple(self.buffers["factors"][goals]),
            v3(self.shifts, row),
            ends,
            [q4(self.frames, i) for i in own],
        )


def widths_of(joints: int, numbers: int, goals: int) -> dict[str, int]:
    """How many numbers of each kind a row has, for n joints, goals with so many numbers, and so many goals."""
    return {
        "one": 1,
        "point": 3,
        "gives": MOST_GIVES,
        "numbers": numbers,
        "goals": goals,
        "joints": joints,
        "points": 3 * joints,
        "rotations": 4 * joints,
    }


@cython.cfunc
@cython.exceptval(check=False)
def has_bad(buffer: Doubles, first: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.bint:
    """Whether some numbers have one that is NaN or infinite."""
    for k in range(first, first + count):
        if not (-LARGEST_NUMBER <= buffer[k] <= LARGEST_NUMBER):
            return True
    return False
