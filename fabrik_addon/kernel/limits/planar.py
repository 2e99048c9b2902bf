# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone's direction turns about one axis, as in a 2D chain; the bone may twist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from ...errors import InvalidValueError
from .. import arrays
from ..arrays import Array
from ..rotations import X_AXIS, Y_AXIS, angle_about, turn_about
from .base import LimitType
from .batch import clipped, columns, scalars
from .batch import unwrapped as unwrapped_columns
from .ik_meaning import IkMeaning, about_axis, beside_an_axis
from .outline import Outline, arc
from .ranges import AT_END, check_range, checked_axis, clamped, set_end, unwrapped
from .swing_twist import SwingTwist, SwingTwistBatch, Twist, ik_range, twist_columns, twist_of

ALONG = 0.999


@dataclass(frozen=True, slots=True)
class Planar(SwingTwist):
    """The bone's direction stays where turning about the axis takes its rest direction.

    Attributes:
        axis: Unit vector in the rest frame of the bone, not along it.
        angle_min: Least angle about the axis, in radians.
        angle_max: Greatest angle.
        twist: Range of twist, or None.
    """

    axis: Vector = field(default_factory=X_AXIS.copy)
    angle_min: float = -pi
    angle_max: float = pi
    twist: Twist | None = None

    def ik_meaning(self) -> IkMeaning:
        own = about_axis(self.axis, self.angle_min, self.angle_max)
        if own is None:
            return beside_an_axis()
        return IkMeaning(frozenset((own[0], 1)), dict((own,)) | ik_range(self.twist))

    def angle(self, direction: Vector) -> float:
        """Angle about the axis from the rest direction to a direction."""
        angle = angle_about(self.axis, Y_AXIS, direction) or 0.0
        return unwrapped(angle, self.angle_min, self.angle_max)

    def swing(self, direction: Vector) -> Quaternion:
        return turn_about(self.axis, self.angle(direction))

    def nearest(self, direction: Vector) -> Vector:
        angle = clamped(self.angle(direction), self.angle_min, self.angle_max)
        near = turn_about(self.axis, angle) @ Y_AXIS
        return direction if (near - direction).length < AT_END else near

    def barriers(self, direction: Vector) -> tuple[Vector, ...]:
        along = self.axis.cross(direction).normalized()
        across = direction.cross(along)
        angle = self.angle(direction)
        walls = [across, -across]
        if angle >= self.angle_max - AT_END:
            walls.append(along)
        if angle <= self.angle_min + AT_END:
            walls.append(-along)
        return tuple(walls)

    def sample_direction(self, random: Random) -> Vector:
        return turn_about(self.axis, random.uniform(self.angle_min, self.angle_max)) @ Y_AXIS

    def swing_outline(self) -> Outline:
        curve = arc(Y_AXIS, self.axis, self.angle_min, self.angle_max)
        return Outline((curve,), ends={"angle_min": curve[0], "angle_max": curve[-1]})

    def setting_at(self, name: str, point: Vector) -> float:
        if name not in {"angle_min", "angle_max"}:
            return SwingTwist.setting_at(self, name, point)
        angle = angle_about(self.axis, Y_AXIS, point) or 0.0
        return set_end(name, angle, (self.angle_min, self.angle_max))

    @classmethod
    def stacked(cls, limits: Sequence[Planar]) -> PlanarBatch:
        return PlanarBatch(
            *twist_columns(limits),
            columns([limit.axis for limit in limits]),
            scalars([limit.angle_min for limit in limits]),
            scalars([limit.angle_max for limit in limits]),
        )

    def bend_axis(self, rotation: Quaternion) -> Vector | None:
        if self.angle_max - self.angle_min <= AT_END:
            return None
        room = self.angle_max + self.angle_min - 2.0 * self.angle(rotation @ Y_AXIS)
        return self.axis if room >= 0.0 else -self.axis


@dataclass(frozen=True, slots=True)
class PlanarBatch(SwingTwistBatch):
    """`Planar` for many chains."""

    axis: Array
    angle_min: Array
    angle_max: Array

    def angle(self, direction: Array) -> Array:
        """Angle about the axis from the rest direction to a direction."""
        angle, defined = arrays.angle_about(self.axis, arrays.Y_COLUMN, direction)
        return unwrapped_columns(np.where(defined, angle, 0.0), self.angle_min, self.angle_max)

    def swing(self, direction: Array) -> Array:
        return arrays.turn_about(self.axis, self.angle(direction))

    def nearest(self, direction: Array) -> Array:
        angle = clipped(self.angle(direction), self.angle_min, self.angle_max)
        near = arrays.rotated(arrays.turn_about(self.axis, angle), arrays.Y_COLUMN)
        return arrays.choose(arrays.length(near - direction) < AT_END, direction, near)

    def barriers(self, direction: Array) -> Sequence[Array]:
        along = arrays.unit(arrays.cross(self.axis, direction))
        across = arrays.cross(direction, along)
        angle = self.angle(direction)
        high, low = angle >= self.angle_max - AT_END, angle <= self.angle_min + AT_END
        return (across, -across, along * high, -along * low)


def make(settings: Any, start: Quaternion) -> Planar:
    """A planar limit from a bone's settings."""
    check_range("planar limit", settings.angle_min, settings.angle_max)
    axis = checked_axis("planar limit", settings.axis)
    if abs(axis.dot(Y_AXIS)) > ALONG:
        raise InvalidValueError("the planar limit's axis lies along the bone, so that it turns to no side")
    return Planar(axis, settings.angle_min, settings.angle_max, twist_of(settings))


TYPE = LimitType(
    "PLANAR",
    "Planar",
    "The bone's direction turns about one axis, and the bone may twist",
    make,
    ("axis", "angle_min", "angle_max"),
    twists=True,
)
