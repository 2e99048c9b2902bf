# SPDX-License-Identifier: GPL-3.0-or-later
"""Every direction, and a range of twist: what a free joint becomes when its twist is limited."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from mathutils import Vector

from .swing_twist import SwingTwist, Twist


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

    def sample_direction(self, random: Random) -> Vector:
        return Vector([random.gauss(0.0, 0.4), 1.0, random.gauss(0.0, 0.4)]).normalized()
