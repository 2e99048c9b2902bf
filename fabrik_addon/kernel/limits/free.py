# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint without limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from .. import arrays
from ..arrays import Array
from ..rotations import from_rotation_vector, from_to
from .base import Limit, LimitType
from .batch import LimitBatch
from .ik_meaning import ALL_AXES, IkMeaning
from .swing_twist import BASES, BASIS, twist_of
from .twisting import Twisting

SAMPLE_RANGE = 0.6  # a restart should look like the start pose, not like a knot


class Free(Limit):
    """Every rotation is allowed."""

    def ik_meaning(self) -> IkMeaning:
        return IkMeaning(ALL_AXES, {})

    def clamp(self, rotation: Quaternion) -> Quaternion:
        return rotation.copy()

    def aim(self, rotation: Quaternion, segment: Vector, direction: Vector) -> Quaternion:
        turned = from_to(rotation @ segment, direction, rotation @ BASIS[0]) @ rotation
        turned.normalize()
        return turned

    def axes(self, rotation: Quaternion) -> tuple[Vector, ...]:
        return BASIS

    def allowed(self, rotation: Quaternion, turn: Vector) -> Vector:
        return turn

    def turned(self, rotation: Quaternion, turn: Vector) -> Quaternion:
        result = from_rotation_vector(turn) @ rotation
        result.normalize()
        return result

    def violation(self, rotation: Quaternion) -> float:
        return 0.0

    @classmethod
    def stacked(cls, limits: Sequence[Free]) -> FreeBatch:
        return FreeBatch()

    def sample(self, random: Random) -> Quaternion:
        turn = Vector([random.uniform(-SAMPLE_RANGE, SAMPLE_RANGE) for _ in range(3)])
        return from_rotation_vector(turn)


FREE = Free()


@dataclass(frozen=True, slots=True)
class FreeBatch(LimitBatch):
    """`Free` for many chains."""

    def clamp(self, rotation: Array) -> Array:
        return rotation

    def aim(self, rotation: Array, segment: Array, direction: Array) -> Array:
        turn = arrays.from_to(arrays.rotated(rotation, segment), direction, arrays.rotated(rotation, arrays.X_COLUMN))
        return arrays.unit(arrays.multiply(turn, rotation))

    def axes(self, rotation: Array) -> Array:
        return BASES

    def allowed(self, rotation: Array, turn: Array) -> Array:
        return turn

    def turned(self, rotation: Array, turn: Array) -> Array:
        return arrays.unit(arrays.multiply(arrays.from_rotation_vector(turn), rotation))

    def violation(self, rotation: Array) -> Array:
        return np.zeros(rotation.shape[1:], dtype=arrays.REAL)


def make(settings: Any, start: Quaternion) -> Limit:
    """A free joint, or one whose twist alone is limited."""
    twist = twist_of(settings)
    return Twisting(twist) if twist else FREE


TYPE = LimitType("FREE", "Free", "The bone points every way", make, twists=True)
