# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint that does not turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from ..arrays import REAL, Array, spread
from ..rotations import Y_AXIS, turn_angle
from .base import Limit, LimitType
from .batch import LimitBatch, columns
from .ik_meaning import IkMeaning
from .outline import Outline


@dataclass(frozen=True, slots=True)
class Locked(Limit):
    """The joint stays at one rotation.

    Attributes:
        rotation: Where the joint stands, in the rest frame of the bone.
    """

    rotation: Quaternion = field(default_factory=Quaternion)

    def ik_meaning(self) -> IkMeaning:
        return IkMeaning(frozenset(), {})

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

    def outline(self) -> Outline:
        return Outline(((Vector(), self.rotation @ Y_AXIS),))

    @classmethod
    def stacked(cls, limits: Sequence[Locked]) -> LockedBatch:
        return LockedBatch(columns([limit.rotation for limit in limits]))

    def sample(self, random: Random) -> Quaternion:
        return self.rotation.copy()


@dataclass(frozen=True, slots=True)
class LockedBatch(LimitBatch):
    """`Locked` for many chains."""

    rotation: Array

    def clamp(self, rotation: Array) -> Array:
        return spread(self.rotation, rotation.shape[-1])

    def aim(self, rotation: Array, segment: Array, direction: Array) -> Array:
        return spread(self.rotation, direction.shape[-1])

    def axes(self, rotation: Array) -> Array:
        return np.zeros((0, 3, 1), dtype=REAL)

    def allowed(self, rotation: Array, turn: Array) -> Array:
        return np.zeros_like(turn)

    def turned(self, rotation: Array, turn: Array) -> Array:
        return self.clamp(rotation)


def make(settings: Any, start: Quaternion) -> Locked:
    """A joint that keeps the rotation of the start pose."""
    return Locked(start)


TYPE = LimitType("LOCKED", "Locked", "The bone keeps the rotation of the start pose", make)
