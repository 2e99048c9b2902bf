# SPDX-License-Identifier: GPL-3.0-or-later
"""Every direction, and a range of twist: what a free joint becomes when its twist is limited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mathutils import Vector

from ..arrays import Array
from .swing_twist import SwingTwist, SwingTwistBatch, Twist, twist_columns


@dataclass(frozen=True, slots=True)
class Twisting(SwingTwist):
    """The bone points every way and twists within a range.

    Attributes:
        twist: Range of twist.
    """

    twist: Twist | None = None

    def nearest(self, direction: Vector) -> Vector:
        return direction

    def barriers(self, direction: Vector) -> tuple[Vector, ...]:
        return ()

    @classmethod
    def stacked(cls, limits: Sequence[Twisting]) -> TwistingBatch:
        return TwistingBatch(*twist_columns(limits))

    def sample_direction(self, random: Random) -> Vector:
        return Vector([random.gauss(0.0, 0.4), 1.0, random.gauss(0.0, 0.4)]).normalized()


@dataclass(frozen=True, slots=True)
class TwistingBatch(SwingTwistBatch):
    """`Twisting` for many chains."""

    def nearest(self, direction: Array) -> Array:
        return direction

    def barriers(self, direction: Array) -> Sequence[Array]:
        return ()
