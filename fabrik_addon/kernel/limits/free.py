# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint without limits."""

from __future__ import annotations

from random import Random
from typing import Any

from mathutils import Quaternion, Vector

from ..rotations import from_rotation_vector, from_to
from .base import Limit, LimitType
from .swing_twist import BASIS, twist_of
from .twisting import Twisting

SAMPLE_RANGE = 0.6  # a restart should look like the start pose, not like a knot


class Free(Limit):
    """Every rotation is allowed."""

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

    def sample(self, random: Random) -> Quaternion:
        turn = Vector([random.uniform(-SAMPLE_RANGE, SAMPLE_RANGE) for _ in range(3)])
        return from_rotation_vector(turn)


FREE = Free()


def make(settings: Any, start: Quaternion) -> Limit:
    """A free joint, or one whose twist alone is limited."""
    twist = twist_of(settings)
    return Twisting(twist) if twist else FREE


TYPE = LimitType("FREE", "Free", "The bone points every way", make, twists=True)
