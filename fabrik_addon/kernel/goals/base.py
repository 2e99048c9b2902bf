# SPDX-License-Identifier: GPL-3.0-or-later
"""What every goal can do.

Least squares see a goal as a vector that is missing, and as the change of that vector by small turns of the joints on
the way from the root to the effector. The numbers of a goal that change from frame to frame are a row of doubles in a
buffer: three of a place, four of a rotation.

Every goal that asks for something answers `numbers`, `copied`, `missing`, `move` and, where it has numbers, `load`;
where a moved figure changes what it misses, `shift`. Where it does not answer the others, it is never out of reach by
itself, gives no way and stretches nothing.
`load` gets numbers as they stand in the row, and the factor to the size at which the figure is solved: lengths of the
goal's own are to be brought there, too.
"""

from __future__ import annotations

from array import array
from operator import index
from typing import SupportsFloat, SupportsIndex

from ...errors import LARGEST, ChainError, InvalidValueError
from .. import cython
from ..figure import MOST_JOINTS, Figure, Pose
from ..forms import V3, Doubles, Ints
from ..vectors import ORIGIN, conjugated, cross, integers, length, minus, plus, q4, rotated, v3

# ranks: what is held first of all, where a body was put, what is wanted, what only fills the room that is left
PIN, PLACED, ASKED, HINT = range(4)
A_RADIAN = cython.declare(cython.double, 0.15)  # what one counts for beside a distance, in sizes of the figure
TIP = cython.declare(cython.int, -1)  # the effector, or the frame of a goal, itself is carried
UNMOVED = cython.declare(cython.int, -2)  # nothing of it is carried
# what a goal is to a chain of which nothing else is asked: it puts the tip, or turns the whole about root and tip
OTHER, PUTS_TIP, TURNS_RUN = range(3)
SOLVE_SPACE = -1  # in place of the joint in whose frame a goal stands; compiled code compares with 0, no object


@cython.cclass
class Goal:
    """What one joint of a figure is to come to.

    A goal stands in solve space, or in the frame of another joint, which is how a hand goes along with a chest, rests
    on a hip or holds on to the other hand: then the joints on the way to that one bring it nearer, too, and those on
    the way to both leave it as it is. What is missing is told in the axes of that frame.

    Attributes:
        effector: Index of the joint.
        frame: Index of the joint in whose frame the goal stands, or `SOLVE_SPACE`.
        weight: How much the goal counts beside others of its rank; what solves it counts the greatest as 1.
        rank: `PIN`, `PLACED`, `ASKED` or `HINT`: goals of a lower number are met first, and those after them only in
            so far as they leave these as they are.
        width: How many numbers its row has.
        name: What these are.
    """

    effector = cython.declare(cython.int, visibility="readonly")
    frame = cython.declare(cython.int, visibility="readonly")
    weight = cython.declare(cython.double, visibility="readonly")
    rank = cython.declare(cython.int, visibility="readonly")
    root = cython.declare(cython.int, visibility="readonly")
    turns = cython.declare(cython.bint, visibility="readonly")
    width = cython.declare(cython.int, visibility="readonly")
    name = cython.declare(str, visibility="readonly")
    path: Ints  # the joints that matter: those on the way to the frame alone, then those on the way to the effector
    carried: Ints  # for each of them the joint whose head is the last point of the effector's that turns along, or TIP
    borne: Ints  # the same of the frame in which the goal stands
    placed: Ints  # the joints whose places the goal has to know
    is_shifted: cython.bint  # whether a shift of the whole figure changes what is missing

    def _ask(  # noqa: PLR0913, PLR0917 - each is a number of the goal
        self,
        effector: SupportsIndex,
        weight: SupportsFloat,
        rank: SupportsIndex,
        name: str,
        width: int,
        frame: SupportsIndex = SOLVE_SPACE,
        root: SupportsIndex = 0,
        turns: bool = False,
    ) -> None:
        weight = float(weight)
        if not 0.0 <= weight <= LARGEST:
            raise InvalidValueError("a goal's weight is not a finite number, or is negative")
        joint, within, first = index(effector), index(frame), index(root)
        if not 0 <= joint < MOST_JOINTS or not SOLVE_SPACE <= within < MOST_JOINTS:
            raise ChainError(f"a goal is set for joint {joint} in the frame of joint {within}, which no figure has")
        if not 0 <= first < MOST_JOINTS:
            raise ChainError(f"a goal is set from joint {first} on, which no figure has")
        if joint == within:
            raise ChainError(f"a goal of joint {joint} stands in the frame of that joint itself")
        if index(rank) not in range(HINT + 1):
            raise InvalidValueError(f"a goal has the rank {index(rank)}, which is none")
        self.rank = index(rank)
        self.effector, self.frame, self.root = joint, within, first
        self.turns = bool(turns)
        self.weight = weight
        self.name = name
        self.width = width
        self.is_shifted = False
        self.path = self.carried = self.borne = self.placed = integers(0)

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
        if not (self.effector < figure.count and self.frame < figure.count):
            joint = max(self.effector, self.frame)
            raise ChainError(f"a goal is set for joint {joint}, and the figure has {figure.count}")
        found: Goal = self.copied()
        carried, borne = carried_by(figure, self.effector), carried_by(figure, self.frame)
        path = [i for i in borne if i not in carried]
        path += [i for i in carried if not carried[i] == borne.get(i) == TIP]  # these turn the goal along
        found.path, found.carried, found.borne = integers(len(path)), integers(len(path)), integers(len(path))
        for k, i in enumerate(path):
            found.path[k], found.carried[k], found.borne[k] = i, carried.get(i, UNMOVED), borne.get(i, UNMOVED)
        found.placed = listed({*carried, *borne})
        found.is_shifted = found.frame == SOLVE_SPACE and found.path[0] == 0
        return found

    def role(self, last: int) -> int:
        """`PUTS_TIP`, `TURNS_RUN` or `OTHER`: what the goal, bound, is to a chain whose last joint is that."""
        return OTHER

    @cython.cfunc
    @cython.exceptval(check=False)
    def within(self, pose: Pose, point: V3) -> V3:
        """A point of solve space in the frame in which the goal stands."""
        if self.frame < 0:
            return point
        return rotated(conjugated(q4(pose.frames, self.frame)), minus(point, v3(pose.heads, self.frame)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def out_of(self, pose: Pose, point: V3) -> V3:
        """A point of the frame in which the goal stands in solve space."""
        if self.frame < 0:
            return point
        return plus(v3(pose.heads, self.frame), rotated(q4(pose.frames, self.frame), point))

    @cython.cfunc
    @cython.exceptval(check=False)
    def swept(self, pose: Pose, k: cython.int, axis: V3, point: V3) -> V3:
        """How a point that the effector carries moves in solve space by a small turn of joint k of the path."""
        carried: cython.int = self.carried[k]
        if carried == UNMOVED:
            return ORIGIN
        end: V3 = point if carried == TIP else v3(pose.heads, carried)
        return cross(axis, minus(end, v3(pose.heads, self.path[k])))

    @cython.cfunc
    @cython.exceptval(check=False)
    def seen(self, pose: Pose, k: cython.int, axis: V3, point: V3, change: V3) -> V3:
        """How a point moves, seen from the frame in which the goal stands, by a small turn of joint k of the path.

        Args:
            pose: Placed.
            k: The joint's place on the path.
            axis: About which it turns, in solve space.
            point: Of solve space.
            change: How the point moves there.
        """
        if self.frame < 0:
            return change
        borne: cython.int = self.borne[k]
        if borne != UNMOVED:
            end: V3 = point if borne == TIP else v3(pose.heads, borne)
            change = minus(change, cross(axis, minus(end, v3(pose.heads, self.path[k]))))
        return rotated(conjugated(q4(pose.frames, self.frame)), change)

    @cython.cfunc
    @cython.exceptval(check=False)
    def turning(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        """How the effector turns, seen from the frame in which the goal stands, by a small turn of joint k."""
        turn: V3 = axis if self.carried[k] == TIP else ORIGIN
        if self.frame < 0:
            return turn
        if self.borne[k] == TIP:
            turn = minus(turn, axis)
        return rotated(conjugated(q4(pose.frames, self.frame)), turn)

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin(self, figure: Figure, start: Pose) -> cython.void:
        """Take over what it has to know of a figure at size 1 and of its start pose; asked for before each solve."""

    @cython.cfunc
    @cython.exceptval(check=False)
    def beyond(self, figure: Figure) -> cython.double:
        """How much farther the goal is from the root than the joints on the way to it are long together; else 0."""
        return 0.0

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
    def factor_at(self, pose: Pose, factor: cython.double) -> cython.double:
        """By how much the joints on the way would have to be longer for the goal to be met, as far as they may.

        Args:
            pose: Placed.
            factor: By how much they are longer in the pose.
        """
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
        return length(self.missing(pose)) / (self.weight * A_RADIAN) if self.turns and self.weight > 0.0 else 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def prepare(self, pose: Pose) -> cython.void:
        """Find out what `move` and `shift` need to know of a pose; asked for before them."""

    @cython.cfunc
    def gap(self, other: Goal, figure: Figure) -> cython.double:
        """By how much the joints between this goal's effector and another's are too short to meet both; else 0."""
        return 0.0

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


def carried_by(figure: Figure, joint: int) -> dict[int, int]:
    """The joints on the way from the root to a joint, each with the last that turns along with it; none for no joint.

    That is `TIP`, or the joint before one that does not follow the rotations above it.
    """
    way: list[int] = []
    while joint >= 0:
        way.insert(0, joint)
        joint = figure.parents[joint]
    found: dict[int, int] = {}
    loose = TIP
    for i in reversed(way):
        found[i] = loose
        if not figure.inherits[i]:
            loose = i
    return dict(sorted(found.items()))


def listed(found: set[int]) -> Ints:
    """Numbers in order, as a buffer."""
    return array("i", sorted(found))
