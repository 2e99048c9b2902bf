# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits that hold the direction of the bone and the twist about it apart.

A rotation is `swing(direction) @ twist`: first the twist about the bone's own Y axis, then the swing that belongs to
the direction to which Y is turned.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, pi
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from .. import arrays
from ..arrays import Array
from ..rotations import X_AXIS, Y_AXIS, angle_about, from_rotation_vector, from_to, part_way, turn_about, turn_angle
from .base import Limit
from .batch import LimitBatch, Way, clipped, scalars
from .batch import unwrapped as unwrapped_columns
from .ik_meaning import Range
from .outline import TWIST_RADIUS, Outline, arc
from .ranges import AT_END, check_range, clamped, set_end, unwrapped

BASIS = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))
BASES = np.stack((arrays.X_COLUMN, arrays.Y_COLUMN, arrays.Z_COLUMN))


@dataclass(frozen=True, slots=True)
class Twist:
    """A range of twist in radians, right-handed about the bone."""

    low: float
    high: float


def ik_range(twist: Twist | None) -> dict[int, Range]:
    """A range of twist as one of the bone's Y, for Blender's own IK."""
    return {} if twist is None else {1: (twist.low, twist.high)}


def twist_of(settings: Any) -> Twist | None:
    """The range of twist of a bone's settings, or None where it twists freely."""
    if not settings.use_twist:
        return None
    check_range("twist", settings.twist_min, settings.twist_max)
    return Twist(settings.twist_min, settings.twist_max)


class SwingTwist(Limit):
    """A limit on the direction of the bone, and perhaps on its twist.

    Attributes:
        twist: The range of twist, or None.
    """

    twist: Twist | None

    @abstractmethod
    def nearest(self, direction: Vector) -> Vector:
        """The allowed direction (unit, rest frame) nearest to a unit direction."""

    @abstractmethod
    def barriers(self, direction: Vector) -> tuple[Vector, ...]:
        """Unit tangents at an allowed direction along which it can't go further."""

    @abstractmethod
    def sample_direction(self, random: Random) -> Vector:
        """An allowed direction drawn at random."""

    def swing(self, direction: Vector) -> Quaternion:
        """The rotation without twist that turns Y to a unit direction."""
        return from_to(Y_AXIS, direction, X_AXIS)

    def twist_angle(self, rotation: Quaternion) -> float:
        """The twist of a rotation."""
        rest = self.swing(rotation @ Y_AXIS).conjugated() @ rotation
        angle = 2.0 * atan2(rest.y, rest.w)
        low, high = (self.twist.low, self.twist.high) if self.twist else (-pi, pi)
        return unwrapped(angle, low, high)

    def clamp(self, rotation: Quaternion) -> Quaternion:
        direction = (rotation @ Y_AXIS).normalized()
        near = self.nearest(direction)
        held = (near - direction).length < AT_END
        if held and self._twist_holds(self.twist_angle(rotation)):
            return rotation.copy()
        if self.twist is None:
            result = from_to(direction, near, self.swing(near) @ X_AXIS) @ rotation
        else:
            twist = clamped(self.twist_angle(rotation), self.twist.low, self.twist.high)
            result = self.swing(near) @ turn_about(Y_AXIS, twist)
        result.normalize()
        return result

    def _twist_holds(self, angle: float) -> bool:
        return self.twist is None or self.twist.low - AT_END <= angle <= self.twist.high + AT_END

    def aim(self, rotation: Quaternion, segment: Vector, direction: Vector) -> Quaternion:
        turned = from_to(rotation @ segment, direction, rotation @ X_AXIS) @ rotation
        turned.normalize()
        return self.clamp(turned)

    def axes(self, rotation: Quaternion) -> tuple[Vector, ...]:
        return BASIS

    def allowed(self, rotation: Quaternion, turn: Vector) -> Vector:
        direction = (rotation @ Y_AXIS).normalized()
        left = turn.copy()
        for barrier in self.barriers(direction):
            about = direction.cross(barrier)
            left -= about * max(left.dot(about), 0.0)
        if self.twist is not None:
            angle, rate = self.twist_angle(rotation), left.dot(direction)
            if (rate > 0.0 and angle >= self.twist.high - AT_END) or (rate < 0.0 and angle <= self.twist.low + AT_END):
                left -= direction * rate
        return left

    def turned(self, rotation: Quaternion, turn: Vector) -> Quaternion:
        result = from_rotation_vector(turn) @ rotation
        result.normalize()
        return self.clamp(result)

    def outline(self) -> Outline:
        if self.twist is None:
            return self.swing_outline()
        curve = arc(X_AXIS * TWIST_RADIUS, Y_AXIS, self.twist.low, self.twist.high)
        return self.swing_outline().joined(
            Outline(twist=(curve,), ends={"twist_min": curve[0], "twist_max": curve[-1]})
        )

    def swing_outline(self) -> Outline:
        """The part of the outline that shows the range of the bone's direction."""
        return Outline()

    def setting_at(self, name: str, point: Vector) -> float:
        twist = self.twist or Twist(-pi, pi)
        return set_end(name, angle_about(Y_AXIS, X_AXIS, point) or 0.0, (twist.low, twist.high))

    def violation(self, rotation: Quaternion) -> float:
        return turn_angle(self.clamp(rotation).conjugated() @ rotation)

    def sample(self, random: Random) -> Quaternion:
        low, high = (self.twist.low, self.twist.high) if self.twist else (-0.6, 0.6)
        result = self.swing(self.sample_direction(random)) @ turn_about(Y_AXIS, random.uniform(low, high))
        result.normalize()
        return result

    def blend(self, start: Quaternion, end: Quaternion, factor: float) -> Quaternion:
        return self.clamp(part_way(start, end, factor))


@dataclass(frozen=True, slots=True)
class SwingTwistBatch(LimitBatch):
    """`SwingTwist` for many chains.

    Attributes:
        twist_low: Least twist, (B,).
        twist_high: Greatest twist, (B,).
        twists: 1 where the twist is limited, else 0, (B,).
    """

    twist_low: Array
    twist_high: Array
    twists: Array

    @abstractmethod
    def nearest(self, direction: Array) -> Array: ...

    @abstractmethod
    def barriers(self, direction: Array) -> Sequence[Array]:
        """Unit tangents as of `SwingTwist.barriers`, zero where there is none."""

    def swing(self, direction: Array) -> Array:
        return arrays.from_to(arrays.Y_COLUMN, direction, arrays.X_COLUMN)

    def twist_angle(self, rotation: Array) -> Array:
        swing = self.swing(arrays.rotated(rotation, arrays.Y_COLUMN))
        rest = arrays.multiply(arrays.conjugated(swing), rotation)
        return unwrapped_columns(2.0 * np.arctan2(rest[2], rest[0]), self.twist_low, self.twist_high)

    def clamp(self, rotation: Array) -> Array:
        direction = arrays.unit(arrays.rotated(rotation, arrays.Y_COLUMN))
        near = self.nearest(direction)
        holds = arrays.length(near - direction) < AT_END
        limited = bool(self.twists.any())
        if limited:
            twist = self.twist_angle(rotation)
            in_range = (twist >= self.twist_low - AT_END) & (twist <= self.twist_high + AT_END)
            holds &= in_range | (self.twists == 0.0)
        if holds.all():
            return rotation
        out = np.flatnonzero(~holds)
        some, there, to = self.take(out), arrays.taken(rotation, out), arrays.taken(near, out)
        x_axis = arrays.rotated(some.swing(to), arrays.X_COLUMN)
        result = arrays.multiply(arrays.from_to(arrays.taken(direction, out), to, x_axis), there)
        if limited:
            clamped_twist = clipped(arrays.taken(twist, out), some.twist_low, some.twist_high)
            both = arrays.multiply(some.swing(to), arrays.turn_about(arrays.Y_COLUMN, clamped_twist))
            result = np.where(some.twists == 0.0, result, both)
        clamped_all: Array = rotation.copy()
        clamped_all[:, out] = arrays.unit(result)
        return clamped_all

    def aim(self, rotation: Array, segment: Array, direction: Array) -> Array:
        turn = arrays.from_to(arrays.rotated(rotation, segment), direction, arrays.rotated(rotation, arrays.X_COLUMN))
        return self.clamp(arrays.unit(arrays.multiply(turn, rotation)))

    def axes(self, rotation: Array) -> Array:
        return BASES

    def allowed(self, rotation: Array, turn: Array) -> Array:
        direction = arrays.unit(arrays.rotated(rotation, arrays.Y_COLUMN))
        left = turn
        for barrier in self.barriers(direction):
            about = arrays.cross(direction, barrier)
            left = left - about * np.maximum(arrays.dot(left, about), 0.0)
        if self.twists.any():
            angle, rate = self.twist_angle(rotation), arrays.dot(left, direction)
            stops = ((rate > 0.0) & (angle >= self.twist_high - AT_END)) | (
                (rate < 0.0) & (angle <= self.twist_low + AT_END)
            )
            left = left - direction * np.where(stops & (self.twists > 0.0), rate, 0.0)
        return left

    def turned(self, rotation: Array, turn: Array) -> Array:
        return self.clamp(arrays.unit(arrays.multiply(arrays.from_rotation_vector(turn), rotation)))

    def way(self, start: Array, end: Array) -> Way:
        return lambda factor: self.clamp(arrays.part_way(start, end, factor))


def twist_columns(limits: Sequence[SwingTwist]) -> tuple[Array, Array, Array]:
    """The three fields of `SwingTwistBatch`."""
    found = [limit.twist for limit in limits]
    low = [twist.low if twist else -pi for twist in found]
    high = [twist.high if twist else pi for twist in found]
    return scalars(low), scalars(high), scalars([float(twist is not None) for twist in found])
