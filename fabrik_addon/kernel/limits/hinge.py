# SPDX-License-Identifier: GPL-3.0-or-later
"""A hinge: one axis, an angle between two ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, pi, tau
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from .. import arrays
from ..arrays import Array
from ..rotations import X_AXIS, Y_AXIS, angle_about, turn_about, turn_angle
from .base import Limit, LimitType
from .batch import LimitBatch, Way, clipped, columns, scalars
from .batch import unwrapped as unwrapped_columns
from .ik_meaning import IkMeaning, about_axis, beside_an_axis
from .outline import TWIST_RADIUS, Outline, arc
from .ranges import AT_END, check_range, checked_axis, clamped, set_end, unwrapped

ALIKE = 1e-3  # radians by which a direction behind the joint may be nearer to one end, and rounding still decides

STRAIGHT = 1e-6  # of a unit quaternion's w, below which a rotation is none


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

    def ik_meaning(self) -> IkMeaning:
        own = about_axis(self.axis, self.angle_min, self.angle_max)
        if own is None:
            return beside_an_axis()
        is_turned = abs(self.zero.w) < 1.0 - STRAIGHT
        return IkMeaning(
            frozenset((own[0],)), dict((own,)), ("the rotation that locked channels add",) if is_turned else ()
        )

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
        low, high = (min(abs(a - end) for a in turns) for end in (self.angle_min, self.angle_max))
        if abs(low - high) > ALIKE:
            return self.angle_min if low < high else self.angle_max
        return self.angle_min if current < 0.5 * (self.angle_min + self.angle_max) - ALIKE else self.angle_max

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

    def outline(self) -> Outline:
        point = self.zero @ Y_AXIS
        if self.axis.cross(point).length < ALIKE:  # the bone turns about itself
            twist = arc(self.zero @ X_AXIS * TWIST_RADIUS, self.axis, self.angle_min, self.angle_max)
            return Outline(twist=(twist,), ends={"angle_min": twist[0], "angle_max": twist[-1]})
        swing = arc(point, self.axis, self.angle_min, self.angle_max)
        return Outline((swing,), ends={"angle_min": swing[0], "angle_max": swing[-1]})

    def setting_at(self, name: str, point: Vector) -> float:
        along = self.axis.cross(self.zero @ Y_AXIS).length < ALIKE
        angle = angle_about(self.axis, self.zero @ (X_AXIS if along else Y_AXIS), point) or 0.0
        return set_end(name, angle, (self.angle_min, self.angle_max))

    @classmethod
    def stacked(cls, limits: Sequence[Hinge]) -> HingeBatch:
        return HingeBatch(
            columns([limit.axis for limit in limits]),
            scalars([limit.angle_min for limit in limits]),
            scalars([limit.angle_max for limit in limits]),
            columns([limit.zero for limit in limits]),
        )

    def sample(self, random: Random) -> Quaternion:
        return self.at(random.uniform(self.angle_min, self.angle_max))

    def blend(self, start: Quaternion, end: Quaternion, factor: float) -> Quaternion:
        a, b = self.angle(start), self.angle(end)
        return self.at(a + (b - a) * factor)


@dataclass(frozen=True, slots=True)
class HingeBatch(LimitBatch):
    """`Hinge` for many chains."""

    axis: Array
    angle_min: Array
    angle_max: Array
    zero: Array

    def at(self, angle: Array) -> Array:
        """The rotations at angles, which are clamped to the range."""
        turn = arrays.turn_about(self.axis, clipped(angle, self.angle_min, self.angle_max))
        return arrays.multiply(turn, self.zero)

    def angle(self, rotation: Array) -> Array:
        """The angles about the axis, within half a turn of the middle of the range."""
        turn = arrays.multiply(rotation, arrays.conjugated(self.zero))
        return unwrapped_columns(
            2.0 * np.arctan2(arrays.dot(self.axis, turn[1:]), turn[0]), self.angle_min, self.angle_max
        )

    def clamp(self, rotation: Array) -> Array:
        return self.at(self.angle(rotation))

    def aim(self, rotation: Array, segment: Array, direction: Array) -> Array:
        angle, defined = arrays.angle_about(self.axis, arrays.rotated(self.zero, segment), direction)
        current = self.angle(rotation)
        return self.at(np.where(defined, self._nearest(angle, current), current))

    def _nearest(self, angle: Array, current: Array) -> Array:
        """Of the angles that mean the same direction, the one in the range, or the end that is nearest to it."""
        turns = angle + tau * np.arange(-2, 3, dtype=arrays.REAL)[:, None]
        inside = (self.angle_min <= turns) & (turns <= self.angle_max)
        away = np.where(inside, np.abs(turns - current), np.inf)
        best = np.take_along_axis(turns, away.argmin(axis=0)[None], axis=0)[0]
        low, high = np.abs(turns - self.angle_min).min(axis=0), np.abs(turns - self.angle_max).min(axis=0)
        nearer = current < 0.5 * (self.angle_min + self.angle_max) - ALIKE
        takes_low = np.where(np.abs(low - high) > ALIKE, low < high, nearer)
        end = np.where(takes_low, self.angle_min, self.angle_max)
        return np.where(inside.any(axis=0), best, end)

    def axes(self, rotation: Array) -> Array:
        return self.axis[None]

    def allowed(self, rotation: Array, turn: Array) -> Array:
        step, angle = arrays.dot(turn, self.axis), self.angle(rotation)
        stops = ((step > 0.0) & (angle >= self.angle_max - AT_END)) | (
            (step < 0.0) & (angle <= self.angle_min + AT_END)
        )
        return self.axis * np.where(stops, 0.0, step)

    def turned(self, rotation: Array, turn: Array) -> Array:
        return self.at(self.angle(rotation) + arrays.dot(turn, self.axis))

    def way(self, start: Array, end: Array) -> Way:
        a, b = self.angle(start), self.angle(end)
        return lambda factor: self.at(a + (b - a) * factor)


def make(settings: Any, start: Quaternion) -> Hinge:
    """A hinge from a bone's settings."""
    check_range("hinge", settings.angle_min, settings.angle_max)
    return Hinge(checked_axis("hinge", settings.axis), settings.angle_min, settings.angle_max)


TYPE = LimitType(
    "HINGE", "Hinge", "The bone turns about one axis, between two angles", make, ("axis", "angle_min", "angle_max")
)
