# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that hang on each other, and the poses they stand in. A chain is a figure without branches."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import NamedTuple

from ..errors import LARGEST, ChainError, InvalidValueError
from . import cython
from .forms import Q4, V3, Doubles, Ints
from .limits.base import Limit, checked_point, finite_numbers
from .limits.fixed import FREE
from .vectors import (
    IDENTITY,
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    clipped,
    conjugated,
    copy_into,
    doubles,
    filled,
    from_to,
    integers,
    length,
    minus,
    multiplied,
    normalized,
    plus,
    put3,
    put4,
    q4,
    rotated,
    scaled,
    v3,
)


class PlacedJoints(NamedTuple):
    """Where a pose puts the joints of a figure, in solve space.

    Attributes:
        heads: n points, the joints.
        ends: n points, the ends of their segments.
        frames: n unit quaternions.
    """

    heads: list[V3]
    ends: list[V3]
    frames: list[Q4]

    @property
    def joints(self) -> list[V3]:
        """The n + 1 points of a chain, from the root to the tip."""
        return [*self.heads, self.ends[len(self.ends) - 1]]


@cython.cclass
class Pose:
    """Rotations of the n joints of a figure, and where they put it.

    Attributes:
        rotations: n quaternions, each in the rest frame of its joint.
        rests: n rest frames in solve space.
        frames: n frames in solve space.
        heads: n + 1 points in solve space: the joints, and the end of the last one's segment.
        ends: n points, the ends of the segments.
        shift: Vector by which the root of a figure that moves stands elsewhere.
    """

    rotations: Doubles
    rests: Doubles
    frames: Doubles
    heads: Doubles
    ends: Doubles
    shift: Doubles

    def __init__(self, count: int) -> None:
        self.rotations = doubles(4 * count)
        self.rests = doubles(4 * count)
        self.frames = doubles(4 * count)
        self.heads = doubles(3 * count + 3)
        self.ends = doubles(3 * count)
        self.shift = doubles(3)


@cython.cfunc
def copied_pose(pose: Pose, count: cython.int) -> Pose:
    """A pose of n joints with the same rotations, placed likewise."""
    copy: Pose = Pose(count)
    copy_pose(copy, pose, count)
    return copy


@cython.cfunc
@cython.exceptval(check=False)
def copy_pose(target: Pose, source: Pose, count: cython.int) -> cython.void:
    """Stand as a placed pose of n joints does."""
    copy_into(target.rotations, source.rotations, 4 * count)
    copy_into(target.rests, source.rests, 4 * count)
    copy_into(target.frames, source.frames, 4 * count)
    copy_into(target.heads, source.heads, 3 * count + 3)
    copy_into(target.ends, source.ends, 3 * count)
    copy_into(target.shift, source.shift, 3)


MOST_JOINTS = 1 << 16
UNEASED = cython.declare(cython.double, -2.0)  # in place of a share of stiffness: all of it counts, and no more


class Joint(NamedTuple):
    """One bone as the kernel sees it: a joint at its head and the rigid segment behind it.

    The joint's frame is `frame of its parent @ rest @ rotation`, where `rotation` is what is solved for.

    Attributes:
        segment: Vector from the joint to the end of the segment, in the joint's own frame, in units of solve space.
        rest: Rotation of the rest frame in the frame of the parent, or in solve space if not `inherits`.
        start: The joint's rotation in the start pose.
        limit: Which rotations are allowed.
        inherits: False for a bone that does not follow the rotation of its parent.
        stiffness: 0 to 1, how much less than others the joint turns.
    """

    segment: V3
    rest: Q4 = (1.0, 0.0, 0.0, 0.0)
    start: Q4 = (1.0, 0.0, 0.0, 0.0)
    limit: Limit = FREE
    inherits: bool = True
    stiffness: float = 0.0


@cython.cclass
class Figure:
    """Joints with their rest data, limits and start pose, the root at the origin of the solve space.

    Args:
        joints: n joints, each after the one on which it hangs.
        parents: For each joint the index of the one on which it hangs, -1 for one at the root; by default each hangs
            on the one before it, and the figure is a chain.
        heads: For each joint where it stands in the frame of its parent, or None for the end of the parent's segment;
            for one at the root the place in solve space.
        base: Frame of the root's parent in solve space.
        moves: Whether joint 0 can also be moved, with all that hangs on it, as the hips of a body.

    Attributes:
        count: n.
        size: The greatest sum of lengths from the root to an end: what tolerances are shares of.
        is_chain: Whether the figure has no branches and no gaps.

    Raises:
        ChainError: No joints, no length, or parents that do not come first.
        InvalidValueError: A number is NaN or infinite, a quaternion zero, a limit none.
    """

    count = cython.declare(cython.int, visibility="readonly")
    size = cython.declare(cython.double, visibility="readonly")
    is_chain = cython.declare(cython.bint, visibility="readonly")
    is_stiff: cython.bint  # whether a joint has stiffness
    moves = cython.declare(cython.bint, visibility="readonly")
    base: Q4
    parents: Ints
    gaps: Ints  # whether a joint stands elsewhere than at the end of its parent's segment
    inherits: Ints
    offsets: Doubles  # where a joint with a gap stands in the frame of its parent
    segments: Doubles
    rest: Doubles
    start: Doubles
    posture: Doubles  # to where joints are drawn in the solve at hand: their start, or that with straight limbs bent
    root: Doubles  # vector by which the start pose has joint 0 elsewhere
    stiffness: Doubles
    eases: Doubles  # share of that which does not count in the solve at hand, below 0 what counts besides; or `UNEASED`
    spans: Doubles  # lengths of the segments
    limits: list[Limit]
    changes: cython.int  # times that another start pose was given, or joints were told to stay there

    def __init__(
        self,
        joints: Sequence[Joint],
        parents: Sequence[int] | None = None,
        heads: Sequence[Sequence[float] | None] | None = None,
        base: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
        moves: bool = False,
    ) -> None:
        count = len(joints)
        if not count:
            raise ChainError("the chain has no bones")
        if count > MOST_JOINTS:
            raise ChainError(f"the chain has {count} bones, more than {MOST_JOINTS}")
        if any(given is not None and len(given) != count for given in (parents, heads)):
            raise ChainError("joints, parents and heads of a figure are not as many")
        self.count = count
        self.parents, self.gaps, self.inherits = integers(count), integers(count), integers(count)
        self.offsets, self.segments = doubles(3 * count), doubles(3 * count)
        self.rest, self.start, self.root = doubles(4 * count), doubles(4 * count), doubles(3)
        self.posture = doubles(4 * count)
        self.stiffness, self.eases, self.spans = doubles(count), doubles(count), doubles(count)
        self.base = normalized(checked_rotation("base", base))
        self.limits = []
        self.changes = 0
        self.moves = bool(moves)
        self.is_chain = not self.moves
        self.is_stiff = False
        for i, joint in enumerate(joints):
            self._take(i, joint)
            parent = i - 1 if parents is None else index(parents[i])
            if not -1 <= parent < i:
                raise ChainError(f"joint {i} of the figure hangs on joint {parent}, which does not come before it")
            self.parents[i] = parent
            head = None if heads is None else heads[i]
            if head is not None:
                put3(self.offsets, i, checked_point("head", head))
            self.gaps[i] = head is not None
            if parent != i - 1 or head is not None:
                self.is_chain = False
        self.size = self._reach()
        if self.size <= 0.0:
            raise ChainError("the chain has no length")

    def _take(self, i: int, joint: Joint) -> None:
        if not isinstance(joint, Joint):
            raise TypeError(f"joint {i} is {type(joint).__name__}, and not a Joint")
        if not isinstance(joint.limit, Limit):
            raise InvalidValueError(f"joint {i} has no limit, but {type(joint.limit).__name__}")
        segment: V3 = checked_point("bone's length", joint.segment)
        put3(self.segments, i, segment)
        put4(self.rest, i, normalized(checked_rotation("rest rotation", joint.rest)))
        put4(self.start, i, normalized(checked_rotation("start rotation", joint.start)))
        self.spans[i] = length(segment)
        if not abs(joint.stiffness) <= LARGEST:
            raise InvalidValueError("a stiffness is not a finite number")
        self.stiffness[i] = clipped(joint.stiffness, 0.0, 1.0)
        self.is_stiff = self.is_stiff or self.stiffness[i] > 0.0
        self.inherits[i] = bool(joint.inherits)
        self.limits.append(joint.limit)

    def _reach(self) -> float:
        """The greatest sum of lengths from the root to an end of a segment."""
        far: Doubles = doubles(self.count)
        for i in range(self.count):
            above: cython.double = 0.0
            if self.parents[i] >= 0:
                above = far[self.parents[i]]
                if self.gaps[i]:
                    above += length(v3(self.offsets, i)) - self.spans[self.parents[i]]
                    above = above if above > 0.0 else 0.0
            far[i] = above + self.spans[i]
        return max(far)

    @staticmethod
    def from_points(points: Sequence[Sequence[float]], limits: Sequence[Limit] | None = None) -> Figure:
        """A chain through points, with each bone's Y axis along its segment and the least roll from the bone before.

        Args:
            points: n + 1 points of 3 coordinates, the root first; only differences matter.
            limits: n limits, or None for a free chain.
        """
        places = [checked_point("point", point) for point in points]
        if limits is not None and len(limits) != len(places) - 1:
            raise ChainError(f"{len(limits)} limits were given for {len(places) - 1} bones")
        joints = []
        parent: Q4 = IDENTITY
        for i in range(len(places) - 1):
            span: V3 = minus(places[i + 1], places[i])
            rest: Q4 = from_to(Y_AXIS, rotated(conjugated(parent), span), X_AXIS)
            limit = FREE if limits is None else limits[i]
            joints.append(Joint((0.0, length(span), 0.0), rest, limit=limit))
            parent = multiplied(parent, rest)
        return Figure(joints)

    def started(self, rotations: Sequence[Sequence[float]]) -> Figure:
        """The same figure with another start pose.

        Args:
            rotations: n quaternions, each in the rest frame of its joint.
        """
        if len(rotations) != self.count:
            raise InvalidValueError(f"{len(rotations)} rotations were given for {self.count} joints")
        figure: Figure = self.with_lengths(filled(self.count), 1.0)
        for i in range(self.count):
            put4(figure.start, i, normalized(checked_rotation("start rotation", rotations[i])))
        return figure

    def at_unit_size(self) -> Figure:
        """The same figure at size 1, in which the solver works."""
        return self.with_lengths(filled(self.count, 1.0 / self.size), 1.0 / self.size)

    def with_lengths(self, factors: Doubles, at_root: float) -> Figure:
        """The same figure with other lengths.

        Args:
            factors: Of each joint's segment, and of what hangs on it elsewhere than at its end.
            at_root: Factor of the places of joints at the root.
        """
        figure: Figure = Figure.__new__(Figure)
        figure.count, figure.is_chain, figure.moves, figure.base = self.count, self.is_chain, self.moves, self.base
        figure.parents, figure.gaps, figure.inherits = self.parents, self.gaps, self.inherits
        figure.rest, figure.stiffness, figure.is_stiff = self.rest, self.stiffness, self.is_stiff
        figure.eases, figure.posture = self.eases, self.posture
        figure.start, figure.root = doubles(4 * self.count), doubles(3)
        copy_into(figure.start, self.start, 4 * self.count)
        figure.limits, figure.changes = list(self.limits), 0
        figure.offsets, figure.segments = doubles(3 * self.count), doubles(3 * self.count)
        figure.spans = doubles(self.count)
        for i in range(self.count):
            parent: cython.int = self.parents[i]
            put3(figure.offsets, i, scaled(v3(self.offsets, i), factors[parent] if parent >= 0 else at_root))
            put3(figure.segments, i, scaled(v3(self.segments, i), factors[i]))
            figure.spans[i] = length(v3(figure.segments, i))
        figure.size = figure._reach()
        return figure

    @property
    def lengths(self) -> tuple[float, ...]:
        """Length of each segment."""
        return tuple(self.spans)

    @property
    def starts(self) -> list[Q4]:
        """The rotations of the start pose."""
        return [q4(self.start, i) for i in range(self.count)]

    @property
    def joint_limits(self) -> tuple[Limit, ...]:
        """The limit of each joint."""
        return tuple(self.limits)

    @cython.cfunc
    def posed(self, rotations: Sequence[Q4]) -> Pose:
        """A pose with n rotations that were handed in, placed."""
        if len(rotations) != self.count:
            raise InvalidValueError(f"{len(rotations)} rotations were given for {self.count} joints")
        pose: Pose = Pose(self.count)
        for i in range(self.count):
            put4(pose.rotations, i, checked_rotation("rotation", rotations[i]))
        self.place(pose)
        return pose

    def placed(self, rotations: Sequence[Q4], shift: Sequence[float] = ORIGIN) -> PlacedJoints:
        """Forward kinematics.

        Args:
            rotations: n unit quaternions, each in the rest frame of its joint.
            shift: Vector by which joint 0 stands elsewhere.
        """
        pose: Pose = self.posed(rotations)
        put3(pose.shift, 0, checked_point("shift", shift))
        self.place(pose)
        every = range(self.count)
        return PlacedJoints(
            [v3(pose.heads, i) for i in every], [v3(pose.ends, i) for i in every], [q4(pose.frames, i) for i in every]
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def place(self, pose: Pose) -> cython.void:
        """Forward kinematics of a pose, from its rotations to all else in it."""
        for i in range(self.count):
            self.place_joint(pose, i)
        put3(pose.heads, self.count, v3(pose.ends, self.count - 1))

    @cython.cfunc
    @cython.exceptval(check=False)
    def place_part(self, pose: Pose, joints: Ints) -> cython.void:
        """Forward kinematics of some joints, each after those on which it hangs; the others stay where they are."""
        for k in range(len(joints)):
            self.place_joint(pose, joints[k])
        put3(pose.heads, self.count, v3(pose.ends, self.count - 1))

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def place_joint(self, pose: Pose, i: cython.int) -> cython.void:
        """Place a joint on those before it."""
        parent: cython.int = self.parents[i]
        above: Q4 = q4(pose.frames, parent) if parent >= 0 else self.base
        if i == 0:
            put3(pose.heads, i, plus(v3(self.offsets, i), v3(pose.shift, 0)))
        elif parent < 0:
            put3(pose.heads, i, v3(self.offsets, i))
        elif self.gaps[i]:
            put3(pose.heads, i, plus(v3(pose.heads, parent), rotated(above, v3(self.offsets, i))))
        else:
            put3(pose.heads, i, v3(pose.ends, parent))
        self.put_joint(pose, i, self.rest_of(pose, i))

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def put_joint(self, pose: Pose, i: cython.int, rest: Q4) -> cython.void:
        """Place the frame of a joint, and the end of its segment, from its rest frame, its head and its rotation."""
        frame: Q4 = normalized(multiplied(rest, q4(pose.rotations, i)))
        put4(pose.rests, i, rest)
        put4(pose.frames, i, frame)
        put3(pose.ends, i, plus(v3(pose.heads, i), rotated(frame, v3(self.segments, i))))

    @cython.cfunc
    @cython.exceptval(check=False)
    def rest_of(self, pose: Pose, i: cython.int) -> Q4:
        """The rest frame of a joint, from the frames of the joints before it."""
        if not self.inherits[i]:
            return q4(self.rest, i)
        parent: cython.int = self.parents[i]
        return multiplied(q4(pose.frames, parent) if parent >= 0 else self.base, q4(self.rest, i))


def checked_rotation(name: str, rotation: Sequence[float]) -> Q4:
    """Four finite numbers, not all zero.

    Raises:
        InvalidValueError: They are not.
    """
    w, x, y, z = finite_numbers(name, rotation, 4)
    if not (w or x or y or z):
        raise InvalidValueError(f"the {name} is zero")
    return (w, x, y, z)


@cython.cfunc
def clamp_start(figure: Figure) -> Doubles:
    """The start pose inside the limits: n rotations."""
    rotations: Doubles = doubles(4 * figure.count)
    for i in range(figure.count):
        limit: Limit = figure.limits[i]
        put4(rotations, i, limit.clamp(q4(figure.start, i)))
    return rotations


@cython.cfunc
def placed_pose(figure: Figure, rotations: Doubles) -> Pose:
    """A pose with these rotations, the root where the start pose has it."""
    pose: Pose = Pose(figure.count)
    copy_into(pose.rotations, rotations, 4 * figure.count)
    copy_into(pose.shift, figure.root, 3)
    figure.place(pose)
    return pose
