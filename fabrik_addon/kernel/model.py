# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes into a solve and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from mathutils import Quaternion, Vector

from .limits import FREE, Free, Limit, Locked
from .limits.swing_twist import SwingTwist
from .rotations import Y_AXIS, from_to

DEFAULT_TOLERANCE = 1e-4
DEFAULT_MAX_PASSES = 256
ALIKE = 1e-6  # difference of quaternions, and of points as a share of the length, that rounding makes


class Status(StrEnum):
    """How a solve ended."""

    REACHED = "REACHED"  # the tip is on the target, within the tolerance
    TOO_FAR = "TOO_FAR"  # the target is farther than the chain is long
    TOO_NEAR = "TOO_NEAR"  # the target is nearer than the longest bone lets the tip come
    BLOCKED = "BLOCKED"  # limits hold the chain back


@dataclass(frozen=True, slots=True)
class Joint:
    """One bone as the kernel sees it: a joint at its head and the rigid segment to the next joint.

    The frame of joint i is `frame[i-1] @ rest @ rotation`, where `rotation` is what is solved for.

    Attributes:
        segment: Vector to the next joint in the joint's own frame, in units of the solve space.
        rest: Rotation of the rest frame in the frame of the joint before, or in solve space if not `inherits`.
        start: The joint's rotation in the start pose.
        limit: Which rotations are allowed.
        inherits: False for a bone that does not follow the rotation of its parent.
        stiffness: 0 to 1, how much less than others the joint turns.
    """

    segment: Vector
    rest: Quaternion = field(default_factory=Quaternion)
    start: Quaternion = field(default_factory=Quaternion)
    limit: Limit = FREE
    inherits: bool = True
    stiffness: float = 0.0


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain of joints with its root at the origin of the solve space.

    What is found out about a chain is kept with the object: solve the same one again where only the goal moves.

    Attributes:
        joints: From root to tip; 1 to 500 and more.
        base: Frame of the root's parent in solve space.
    """

    joints: tuple[Joint, ...]
    base: Quaternion = field(default_factory=Quaternion)

    @classmethod
    def from_points(cls, points: Sequence[Sequence[float]], limits: Sequence[Limit] | None = None) -> Chain:
        """A chain through points, with each bone's Y axis along its segment and the least roll from the bone before.

        Args:
            points: n + 1 points of 3 coordinates, the root first; only differences matter.
            limits: n limits, or None for a free chain.
        """
        joints: list[Joint] = []
        parent = Quaternion()
        for i in range(len(points) - 1):
            span = Vector(points[i + 1]) - Vector(points[i])
            rest = from_to(Y_AXIS, parent.conjugated() @ span, Vector((1.0, 0.0, 0.0)))
            limit = limits[i] if limits is not None else FREE
            joints.append(Joint(Vector((0.0, span.length, 0.0)), rest, limit=limit))
            parent = parent @ rest
        return cls(tuple(joints))

    @cached_property
    def lengths(self) -> tuple[float, ...]:
        """Length of each segment."""
        return tuple(joint.segment.length for joint in self.joints)

    @cached_property
    def length(self) -> float:
        """Sum of the lengths: what tolerances are shares of."""
        return sum(self.lengths)

    @cached_property
    def unit(self) -> Chain:
        """The same chain at length 1, in which the solver works."""
        factor = 1.0 / self.length
        joints = tuple(replace(joint, segment=joint.segment * factor) for joint in self.joints)
        return Chain(joints, self.base)

    @cached_property
    def is_free(self) -> bool:
        """True where no joint has a limit or stiffness."""
        return all(isinstance(joint.limit, Free) and not joint.stiffness for joint in self.joints)

    @cached_property
    def first_moving(self) -> int:
        """Index of the first joint that is not locked; the number of joints where all are."""
        moving = (i for i, joint in enumerate(self.joints) if not isinstance(joint.limit, Locked))
        return next(moving, len(self.joints))

    @cached_property
    def carried_to(self) -> tuple[int, ...]:
        """For each joint, the index of the last point that turns rigidly with it.

        That is the tip, or the head of the next bone that does not inherit rotation.
        """
        ends = [len(self.joints)] * len(self.joints)
        for i in range(len(self.joints) - 2, -1, -1):
            ends[i] = ends[i + 1] if self.joints[i + 1].inherits else i + 1
        return tuple(ends)

    @cached_property
    def first_ball(self) -> int | None:
        """Index of the first joint that turns every way, freely or within limits, and has a joint behind it.

        All joints behind it have to follow it; None where there is none.
        """
        for i, joint in enumerate(self.joints[:-1]):
            if isinstance(joint.limit, Free | SwingTwist) and all(later.inherits for later in self.joints[i + 1 :]):
                return i
        return None

    def is_like(self, other: Chain) -> bool:
        """Whether another chain is the same but for rounding, so that what was found out about one holds for both."""
        if len(self.joints) != len(other.joints) or not _are_alike(self.base, other.base):
            return False
        near = ALIKE * self.length
        return all(
            (a.segment - b.segment).length <= near
            and _are_alike(a.rest, b.rest)
            and _are_alike(a.start, b.start)
            and (a.inherits, a.stiffness, a.limit) == (b.inherits, b.stiffness, b.limit)
            for a, b in zip(self.joints, other.joints, strict=True)
        )

    @property
    def start(self) -> list[Quaternion]:
        """The rotations of the start pose."""
        return [joint.start for joint in self.joints]


def _are_alike(a: Quaternion, b: Quaternion) -> bool:
    return bool((a - b).magnitude <= ALIKE)


@dataclass(frozen=True, slots=True)
class Goal:
    """Where the tip is to go.

    Attributes:
        target: Point in solve space, relative to the root.
        pole: Point towards which the chain bends, in the same space, or None.
        pole_angle: Radians by which the bend is turned away from the pole, right-handed about root to tip.
    """

    target: Vector
    pole: Vector | None = None
    pole_angle: float = 0.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How to solve.

    Attributes:
        tolerance: Distance from tip to target that counts as reached, as a share of the chain's length.
        max_passes: Greatest number of passes; each is one sweep over all joints.
        plain: FABRIK's passes alone, as in the paper: no reach match, no least squares, no restarts.
        explain: Find by how much the limits of blocking joints would have to give, which takes as long as a solve.
    """

    tolerance: float = DEFAULT_TOLERANCE
    max_passes: int = DEFAULT_MAX_PASSES
    plain: bool = False
    explain: bool = True


@dataclass(frozen=True, slots=True)
class Solution:
    """What a solve found.

    Attributes:
        status: How it ended.
        rotations: n rotations, each in the rest frame of its joint.
        joints: n + 1 points in solve space, relative to the root; the tip is the last.
        residual: Distance from tip to target, in units of the solve space.
        passes: Sweeps that were used, 1 at least.
        blocking: Indices of the joints whose limits hold the tip back, the strongest first.
        give: For each of the blocking joints, the radians by which its limit would have to give for the tip to come to
            the target with all other limits held; None where that alone would not do. Found for the first three.
        pole_error: Angle in radians between the bend and where the pole wants it; 0 without a pole.
    """

    status: Status
    rotations: list[Quaternion]
    joints: list[Vector]
    residual: float
    passes: int
    blocking: tuple[int, ...] = ()
    give: tuple[float | None, ...] = ()
    pole_error: float = 0.0
