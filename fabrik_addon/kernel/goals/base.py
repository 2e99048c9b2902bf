# SPDX-License-Identifier: GPL-3.0-or-later
"""What every goal can do.

Least squares see a goal as a vector that is missing, and as the change of that vector by small turns of the joints on
the way from the root to the effector. The numbers of a goal that change from frame to frame are a row: three or four
doubles in a buffer.
"""

from __future__ import annotations

from operator import index
from typing import SupportsFloat, SupportsIndex

from ...errors import ChainError, InvalidValueError
from ...finite import LARGEST
from .. import cython
from ..figure import MOST_JOINTS, Figure, Pose
from ..forms import V3, Doubles, Ints
from ..vectors import ORIGIN, integers

PIN, ASKED, HINT = range(3)  # ranks: what is held first of all, what is wanted, what only fills the room that is left
A_RADIAN = cython.declare(cython.double, 0.15)  # what one counts for beside a distance, in sizes of the figure
TIP = cython.declare(cython.int, -1)  # the effector itself is carried


@cython.cclass
class Goal:
    """What one joint of a figure is to come to.

    Attributes:
        effector: Index of the joint.
        weight: How much the goal counts beside others of its rank; what solves it counts the greatest as 1.
        rank: `PIN`, `ASKED` or `HINT`: goals of a lower number are met first, and those after them only in so far as
            they leave these as they are.
        width: How many numbers its row has.
        name: What these are.
    """

    effector = cython.declare(cython.int, visibility="readonly")
    weight = cython.declare(cython.double, visibility="readonly")
    rank = cython.declare(cython.int, visibility="readonly")
    width = cython.declare(cython.int, visibility="readonly")
    name = cython.declare(str, visibility="readonly")
    sees_all: cython.bint  # whether joints beside the path count for what is missing
    steps: cython.int  # how many joints are on the path
    path: Ints  # the joints from the root to the effector
    carried: Ints  # for each of them the joint whose head is the last point that turns along, or TIP

    def _ask(self, effector: SupportsIndex, weight: SupportsFloat, rank: SupportsIndex, name: str, width: int) -> None:
        weight = float(weight)
        if not 0.0 <= weight <= LARGEST:
            raise InvalidValueError("a goal's weight is not a finite number, or is negative")
        joint = index(effector)
        if not 0 <= joint < MOST_JOINTS:
            raise ChainError(f"a goal is set for joint {joint}, which no figure has")
        if index(rank) not in (PIN, ASKED, HINT):
            raise InvalidValueError(f"a goal has the rank {index(rank)}, which is none")
        self.rank = index(rank)
        self.effector = joint
        self.weight = weight
        self.name = name
        self.width = width
        self.sees_all = False
        self.steps = 0
        self.path = self.carried = integers(0)

    def numbers(self) -> tuple[float, ...]:
        """The goal's row."""
        raise NotImplementedError

    def copied(self) -> Goal:
        """Another goal that asks the same."""
        raise NotImplementedError

    def bound(self, figure: Figure) -> Goal:
        """A copy that knows the joints of a figure that move its effector.

        Raises:
            ChainError: The figure has no such joint.
        """
        if not 0 <= self.effector < figure.count:
            raise ChainError(f"a goal is set for joint {self.effector}, and the figure has {figure.count}")
        found: Goal = self.copied()
        way = [self.effector]
        while figure.parents[way[0]] >= 0:
            way.insert(0, figure.parents[way[0]])
        found.steps = len(way)
        found.path, found.carried = integers(found.steps), integers(found.steps)
        loose = -1
        for k in range(len(way) - 1, -1, -1):
            found.path[k] = way[k]
            found.carried[k] = loose
            if not figure.inherits[way[k]]:
                loose = way[k]
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_beyond(self, figure: Figure) -> cython.bint:
        """Whether the goal is farther from the root than the joints on the way to it are long together."""
        return False

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_within(self, figure: Figure) -> cython.bint:
        """Whether the goal is nearer to the root than the longest of the joints on the way to it lets it come."""
        return False

    @cython.cfunc
    @cython.exceptval(check=False)
    def softening(self, pose: Pose) -> cython.double:
        """How far the place that is asked for stands from where the goal was put, by soft reach."""
        return 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def factor_at(self, pose: Pose, tolerance: cython.double) -> cython.double:
        """By how much the joints on the way would have to be longer for the goal to be met, as far as they may."""
        return 1.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def lengthen(self, factors: Doubles, factor: cython.double) -> cython.void:
        """Raise the factors of the joints that the goal stretches to a factor at least."""

    @cython.cfunc
    @cython.exceptval(check=False)
    def let_stretch(self, is_stretched: cython.bint) -> cython.void:
        """Choose where soft reach puts the goal: for joints as long as they are, or stretched as far as they may."""

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_missed(self, pose: Pose) -> cython.double:
        """The angle in radians by which a goal of a direction or a rotation is missed; 0 for a place."""
        return 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def prepare(self, pose: Pose) -> cython.void:
        """Find out what `move` and `shift` need to know of a pose; asked for before them."""

    @cython.cfunc
    def is_apart(self, other: Goal, figure: Figure) -> cython.bint:
        """Whether the joints between this goal's effector and another's are too short for both to be met."""
        return False

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        """Take the numbers of a row, lengths times a factor, and then places relative to an origin."""

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        """The vector that is missing, times the weight."""
        return ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def shift(self, pose: Pose, axis: V3) -> V3:
        """How much less is missing after a small shift of the whole figure along a unit vector, for its length."""
        return ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        """How much less is missing after a small turn of joint k of the path about an axis in solve space, a radian."""
        return ORIGIN
