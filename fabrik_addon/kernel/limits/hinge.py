# SPDX-License-Identifier: GPL-3.0-or-later
"""A hinge: one axis, an angle between two ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, pi, tau
from random import Random
from typing import Any

from mathutils import Quaternion, Vector

from ..rotations import X_AXIS, angle_about, turn_about, turn_angle
from .base import Limit, LimitType
from .ranges import AT_END, check_range, checked_axis, clamped, unwrapped


@dataclass(frozen=True, slots=True)
class Hinge(Limit):
    """The joint turns about one axis.

    Attributes:
        axis: Unit vector in the rest frame of the bone.
        angle_min: Least angle in radians, right-handed about the axis.
        angle_max: Greatest angle in radians, not below `angle_min`.
        zero: The joint's rotation at angle 0; the identity unless other channels hold the joint elsewhere.
    """

    axis: Vector = field(default_factory=X_AXIS.copy)
    angle_min: float = -pi
    angle_max: float = pi
    zero: Quaternion = field(default_factory=Quaternion)

    def at(self, angle: float) -> Quaternion:
        """The joint's rotation at `angle`, which is clamped to the range."""
        return turn_about(self.axis, clamped(angle, self.angle_min, self.angle_max)) @ self.zero

    def angle(self, rotation: Quaternion) -> float:
        """The angle of `rotation` about the axis (its twist), within half a turn of the middle of the range."""
        turn = rotation @ self.zero.conjugated()
        angle = 2.0 * atan2(self.axis.dot(Vector(turn[1:])), turn.w)
        return unwrapped(angle, self.angle_min, self.angle_max)

    def clamp(self, rotation: Quaternion) -> Quaternion:
        return self.at(self.angle(rotation))

    def aim(self, rotation: Quaternion, segment: Vector, direction: Vector) -> Quaternion:
        angle = angle_about(self.axis, self.zero @ segment, direction)
        if angle is None:
            return self.clamp(rotation)
        return self.at(self._nearest(angle, self.angle(rotation)))

    def _nearest(self, angle: float, current: float) -> float:
        """Of the angles that mean the same direction, the one in the range, or the end that is nearest to it."""
        turns = [angle + tau * k for k in (-2, -1, 0, 1, 2)]
        inside = [a for a in turns if self.angle_min <= a <= self.angle_max]
        if inside:
            return min(inside, key=lambda a: abs(a - current))
        ends = ((abs(a - end), abs(end - current), end) for a in turns for end in (self.angle_min, self.angle_max))
        return min(ends)[2]

    def axes(self, rotation: Quaternion) -> tuple[Vector, ...]:
        return (self.axis,)

    def allowed(self, rotation: Quaternion, turn: Vector) -> Vector:
        step = turn.dot(self.axis)
        angle = self.angle(rotation)
        if (step > 0.0 and angle >= self.angle_max - AT_END) or (step < 0.0 and angle <= self.angle_min + AT_END):
            return Vector()
        return self.axis * step

    def turned(self, rotation: Quaternion, turn: Vector) -> Quaternion:
        return self.at(self.angle(rotation) + turn.dot(self.axis))

    def violation(self, rotation: Quaternion) -> float:
        return turn_angle(self.clamp(rotation).conjugated() @ rotation)

    def bend_axis(self, rotation: Quaternion) -> Vector | None:
        if self.angle_max - self.angle_min <= AT_END:
            return None
        room = self.angle_max + self.angle_min - 2.0 * self.angle(rotation)
        return self.axis if room >= 0.0 else -self.axis

    def sample(self, random: Random) -> Quaternion:
        return self.at(random.uniform(self.angle_min, self.angle_max))

    def blend(self, start: Quaternion, end: Quaternion, factor: float) -> Quaternion:
        a, b = self.angle(start), self.angle(end)
        return self.at(a + (b - a) * factor)


def make(settings: Any, start: Quaternion) -> Hinge:
    """A hinge from a bone's settings."""
    check_range("hinge", settings.angle_min, settings.angle_max)
    return Hinge(checked_axis("hinge", settings.axis), settings.angle_min, settings.angle_max)


TYPE = LimitType(
    "HINGE", "Hinge", "The bone turns about one axis, between two angles", make, ("axis", "angle_min", "angle_max")
)
