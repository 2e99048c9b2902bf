# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint that does not turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from mathutils import Quaternion, Vector

from ..rotations import turn_angle
from .base import Limit, LimitType


@dataclass(frozen=True, slots=True)
class Locked(Limit):
    """The joint stays at one rotation.

    Attributes:
        rotation: Where the joint stands, in the rest frame of the bone.
    """

    rotation: Quaternion = field(default_factory=Quaternion)

    def clamp(self, rotation: Quaternion) -> Quaternion:
        return self.rotation.copy()

    def aim(self, rotation: Quaternion, segment: Vector, direction: Vector) -> Quaternion:
        return self.rotation.copy()

    def axes(self, rotation: Quaternion) -> tuple[Vector, ...]:
        return ()

    def allowed(self, rotation: Quaternion, turn: Vector) -> Vector:
        return Vector()

    def turned(self, rotation: Quaternion, turn: Vector) -> Quaternion:
        return self.rotation.copy()

    def violation(self, rotation: Quaternion) -> float:
        return turn_angle(self.rotation.conjugated() @ rotation)

    def sample(self, random: Random) -> Quaternion:
        return self.rotation.copy()


def make(settings: Any, start: Quaternion) -> Locked:
    """A joint that keeps the rotation of the start pose."""
    return Locked(start)


TYPE = LimitType("LOCKED", "Locked", "The bone keeps the rotation of the start pose", make)
