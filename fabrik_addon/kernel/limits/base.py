# SPDX-License-Identifier: GPL-3.0-or-later
"""What every joint limit can do.

A limit sees rotations of its joint in the rest frame of the bone (+Y along the bone), and nothing else: the identity
is the rest pose. It never stores the state of a solve.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random
from typing import ClassVar

from mathutils import Quaternion, Vector


class Limit(ABC):
    """A set of rotations that a joint may take.

    Attributes:
        kind: The name under which the limit is registered and stored.
        label: The name on the panel.
        description: One sentence for the panel.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]

    @abstractmethod
    def clamp(self, rotation: Quaternion) -> Quaternion:
        """The allowed rotation nearest to `rotation`; an allowed one comes back as it is. Idempotent."""

    @abstractmethod
    def aim(self, rotation: Quaternion, segment: Vector, direction: Vector) -> Quaternion:
        """The allowed rotation that turns `segment` nearest to `direction` (rest frame), starting from `rotation`."""

    @abstractmethod
    def axes(self, rotation: Quaternion) -> tuple[Vector, ...]:
        """Unit axes (rest frame) about which the joint can turn at `rotation`, not counting ends of a range."""

    @abstractmethod
    def allowed(self, rotation: Quaternion, turn: Vector) -> Vector:
        """The part of a small rotation vector `turn` (rest frame, radians) that the limit lets through."""

    @abstractmethod
    def turned(self, rotation: Quaternion, turn: Vector) -> Quaternion:
        """`rotation` turned by the rotation vector `turn` (rest frame, radians), as far as the limit allows."""

    @abstractmethod
    def violation(self, rotation: Quaternion) -> float:
        """How far `rotation` stands outside the limit, in radians; 0 inside."""

    @abstractmethod
    def bend_axis(self, rotation: Quaternion) -> Vector | None:
        """Unit axis (rest frame) about which a straight chain is to be bent here; None where the limit has no say."""

    @abstractmethod
    def sample(self, random: Random) -> Quaternion:
        """An allowed rotation drawn at random."""

    def blend(self, start: Quaternion, end: Quaternion, factor: float) -> Quaternion:
        """The rotation `factor` of the way from `start` (0) to `end` (1), the short way."""
        return start.slerp(end, factor)
