# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of joints with several weighted goals, as least squares see it.

A goal is an `Aim`: a point for the end of a joint's segment, or a rotation to face for its frame. A new type of goal
is one class with the three methods of `Aim`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from mathutils import Quaternion, Vector

from ..errors import ChainError
from .least_squares import Standing
from .model import Chain, Joint
from .rotations import rotation_vector


@dataclass(frozen=True, eq=False)
class Tree:
    """Joints that hang on each other, with the root at the origin of the solve space.

    Attributes:
        joints: n joints, each after the one it hangs on.
        parents: For each joint the index of the one it hangs on, -1 for one at the root.
        heads: For each joint where it stands in the frame of its parent, or None for the end of the parent's segment;
            for one at the root the place in solve space.
        base: Frame of the root's parent in solve space.
    """

    joints: tuple[Joint, ...]
    parents: tuple[int, ...]
    heads: tuple[Vector | None, ...]
    base: Quaternion = field(default_factory=Quaternion)

    def __post_init__(self) -> None:
        if not len(self.joints) == len(self.parents) == len(self.heads):
            raise ChainError("joints, parents and heads of a tree are not as many")
        for i, parent in enumerate(self.parents):
            if not -1 <= parent < i:
                raise ChainError(f"joint {i} of the tree hangs on joint {parent}, which does not come before it")

    @classmethod
    def of_chain(cls, chain: Chain) -> Tree:
        """A chain as a tree without branches."""
        count = len(chain.joints)
        return cls(chain.joints, tuple(range(-1, count - 1)), (None,) * count, chain.base)

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each joint the joints from the root to it, itself included."""
        found: list[tuple[int, ...]] = []
        for i, parent in enumerate(self.parents):
            found.append((*(found[parent] if parent >= 0 else ()), i))
        return tuple(found)

    def place(self, rotations: Sequence[Quaternion]) -> Placed:
        """Forward kinematics."""
        placed = Placed([], [], [], [])
        for i, (joint, parent, head) in enumerate(zip(self.joints, self.parents, self.heads, strict=True)):
            above = placed.frames[parent] if parent >= 0 else self.base
            rest = above @ joint.rest if joint.inherits else joint.rest
            frame = rest @ rotations[i]
            frame.normalize()
            if parent < 0:
                point = Vector() if head is None else head
            else:
                point = placed.ends[parent] if head is None else placed.heads[parent] + above @ head
            placed.rests.append(rest)
            placed.frames.append(frame)
            placed.heads.append(point)
            placed.ends.append(point + frame @ joint.segment)
        return placed


@dataclass(slots=True)
class Placed:
    """A posed tree: of each joint its head, the end of its segment, its rest frame and its frame, in solve space."""

    heads: list[Vector]
    ends: list[Vector]
    rests: list[Quaternion]
    frames: list[Quaternion]


@dataclass(frozen=True, slots=True)
class Aim(ABC):
    """What one joint of a tree is to come to.

    Attributes:
        joint: Index of the joint.
        weight: How much it counts beside other goals.
    """

    joint: int
    weight: float = field(default=1.0, kw_only=True)

    @abstractmethod
    def missing(self, placed: Placed) -> Vector:
        """What is missing, without the weight."""

    @abstractmethod
    def lever(self, tree: Tree, placed: Placed, joint: int) -> Vector | None:
        """What `move` needs to know of a joint on the path; None where turning it changes nothing."""

    @abstractmethod
    def move(self, axis: Vector, lever: Vector) -> Vector:
        """The change by a small turn about an axis in solve space, without the weight."""


@dataclass(frozen=True, slots=True)
class Point(Aim):
    """The end of the joint's segment is to come to a point of the solve space."""

    target: Vector

    def missing(self, placed: Placed) -> Vector:
        return self.target - placed.ends[self.joint]

    def lever(self, tree: Tree, placed: Placed, joint: int) -> Vector | None:
        behind = tree.paths[self.joint][len(tree.paths[joint]) :]
        loose = next((i for i in behind if not tree.joints[i].inherits), None)
        carried = placed.ends[self.joint] if loose is None else placed.heads[loose]
        return carried - placed.heads[joint]

    def move(self, axis: Vector, lever: Vector) -> Vector:
        return axis.cross(lever)


@dataclass(frozen=True, slots=True)
class Facing(Aim):
    """The joint's frame is to come to a rotation of the solve space; the weight is a length for a radian."""

    rotation: Quaternion

    def missing(self, placed: Placed) -> Vector:
        return rotation_vector(self.rotation @ placed.frames[self.joint].conjugated())

    def lever(self, tree: Tree, placed: Placed, joint: int) -> Vector | None:
        behind = tree.paths[self.joint][len(tree.paths[joint]) :]
        return Vector() if all(tree.joints[i].inherits for i in behind) else None

    def move(self, axis: Vector, lever: Vector) -> Vector:
        return axis


@dataclass(slots=True)
class TreeDescent(Standing):
    """Where a descent of a tree stands; the answer does not depend on the order of the aims.

    Attributes:
        tree: n joints.
        aims: Its goals.
        rotations: n allowed rotations.
        placed: The pose that they give.
        error: Root of the sum of the squared errors, each times its weight.
    """

    tree: Tree
    aims: tuple[Aim, ...]
    rotations: list[Quaternion]
    placed: Placed
    error: float
    _levers: dict[int, list[Vector | None]]

    @classmethod
    def at(cls, tree: Tree, rotations: list[Quaternion], aims: Sequence[Aim]) -> Self:
        """Stand at the given allowed rotations."""
        placed = tree.place(rotations)
        squares = ((aim.missing(placed) * aim.weight).length_squared for aim in aims)
        return cls(tree, tuple(aims), rotations, placed, sum(squares) ** 0.5, {})

    @property
    def joints_posed(self) -> Sequence[Joint]:
        return self.tree.joints

    def missing(self) -> list[Vector]:
        return [aim.missing(self.placed) * aim.weight for aim in self.aims]

    def moves(self, joint: int, axes: Sequence[Vector]) -> list[list[Vector]]:
        if joint not in self._levers:
            self._levers[joint] = [
                aim.lever(self.tree, self.placed, joint) if joint in self.tree.paths[aim.joint] else None
                for aim in self.aims
            ]
        turned = [self.placed.rests[joint] @ axis for axis in axes]
        pairs = list(zip(self.aims, self._levers[joint], strict=True))
        return [
            [Vector() if lever is None else aim.move(axis, lever) * aim.weight for aim, lever in pairs]
            for axis in turned
        ]

    def moved(self, rotations: list[Quaternion]) -> Self:
        return self.at(self.tree, rotations, self.aims)
