# SPDX-License-Identifier: GPL-3.0-or-later
"""A cone about the bone's rest direction: circular, or an ellipse with a half axis of its own on each side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin, sqrt, tau
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from ...errors import InvalidValueError
from .. import arrays
from ..arrays import Array
from .base import LimitType
from .batch import scalars
from .ik_meaning import ALL_AXES, IkMeaning
from .outline import Outline
from .ranges import AT_END, check_range
from .swing_twist import SwingTwist, SwingTwistBatch, Twist, ik_range, twist_columns, twist_of

Point = tuple[float, float]
EDGE_POINTS = 64
EDGE_SAMPLES, GOLDEN_STEPS, GOLDEN = 16, 24, 0.618034


@dataclass(frozen=True, slots=True)
class Cone(SwingTwist):
    """The bone's direction stays near its rest direction.

    A direction is seen as the point sin(angle / 2) * axis, where axis and angle are those of the turn from the rest
    direction, with coordinates along X and Z (the equal-area map of the sphere). There a circular cone is a disc, and
    the ellipse of four quadrants (Aristidou & Lasenby 2011, section 4) joins smoothly; Blender's own IK limits of a
    ball joint are this shape.

    Attributes:
        inner: Least angle from the rest direction, for a circular cone.
        x_low: Greatest negative turn about X, as a positive angle.
        x_high: Greatest positive turn about X.
        z_low: Greatest negative turn about Z, as a positive angle.
        z_high: Greatest positive turn about Z.
        twist: Range of twist, or None.
    """

    inner: float = 0.0
    x_low: float = pi
    x_high: float = pi
    z_low: float = pi
    z_high: float = pi
    twist: Twist | None = None

    @classmethod
    def circular(cls, greatest: float, least: float = 0.0, twist: Twist | None = None) -> Cone:
        """A cone between two angles from the rest direction."""
        return cls(least, greatest, greatest, greatest, greatest, twist)

    def ik_meaning(self) -> IkMeaning:
        ranges = {0: (-self.x_low, self.x_high), 2: (-self.z_low, self.z_high)} | ik_range(self.twist)
        return IkMeaning(ALL_AXES, ranges, ("the least angle of its cone",) if self.inner > 0.0 else ())

    def nearest(self, direction: Vector) -> Vector:
        x, z = _to_map(direction)
        a, b = self._half_axes(x, z)
        if self._is_circular:
            radius = hypot(x, z)
            wanted = min(max(radius, sin(0.5 * self.inner)), a)
            if abs(wanted - radius) < 1e-9:
                return direction
            return _from_map((x * wanted / radius, z * wanted / radius) if radius > 1e-9 else (wanted, 0.0))
        return direction if _inside(x, z, a, b) else self._nearest_on_edge(direction)

    @property
    def _is_circular(self) -> bool:
        return self.x_low == self.x_high == self.z_low == self.z_high

    def _edge(self, parameter: float) -> Point:
        """The point of the edge, going round once as the parameter goes from 0 to 2 pi."""
        x, z = cos(parameter), sin(parameter)
        a, b = self._half_axes(x, z)
        return a * x, b * z

    def _nearest_on_edge(self, direction: Vector) -> Vector:
        """The edge's direction nearest to one outside, by scanning and golden section."""

        def nearness(parameter: float) -> float:
            x, z = self._edge(parameter)
            up = 2.0 * sqrt(max(1.0 - x * x - z * z, 0.0))
            return float(direction.y * (1.0 - 2.0 * (x * x + z * z)) + up * (direction.z * x - direction.x * z))

        step = tau / EDGE_SAMPLES
        best = max((step * k for k in range(EDGE_SAMPLES)), key=nearness)
        low, high = best - step, best + step
        for _ in range(GOLDEN_STEPS):
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            low, high = (low, right) if nearness(left) > nearness(right) else (left, high)
        return _from_map(self._edge(0.5 * (low + high)))

    def _half_axes(self, x: float, z: float) -> Point:
        """Half axes of the quadrant of a point of the map."""
        return sin(0.5 * min(self.x_high if x >= 0.0 else self.x_low, pi)), sin(
            0.5 * min(self.z_high if z >= 0.0 else self.z_low, pi)
        )

    def barriers(self, direction: Vector) -> tuple[Vector, ...]:
        x, z = _to_map(direction)
        a, b = self._half_axes(x, z)
        radius = hypot(x, z)
        if self.inner > 0.0 and radius <= sin(0.5 * self.inner) + AT_END:
            return (_tangent(direction, -x, -z),)
        if a >= 1.0 - AT_END and b >= 1.0 - AT_END:
            return ()
        if a < AT_END or b < AT_END:
            return _barriers_of_a_slit(direction, (x, z), (a, b))
        if hypot(x / a, z / b) < 1.0 - AT_END:
            return ()
        return (_tangent(direction, x / (a * a), z / (b * b)),)

    def swing_outline(self) -> Outline:
        edge = tuple(_from_map(self._edge(tau * k / EDGE_POINTS)) for k in range(EDGE_POINTS + 1))
        quarter = EDGE_POINTS // 4
        if not self._is_circular:
            names = ("cone_x_max", "cone_z_max", "cone_x_min", "cone_z_min")
            return Outline((edge,), ends={name: edge[i * quarter] for i, name in enumerate(names)})
        if self.inner <= 0.0:
            return Outline((edge,), ends={"cone_max": edge[0]})
        inner = Cone.circular(self.inner).swing_outline().swing[0]
        return Outline((edge, inner), ends={"cone_max": edge[0], "cone_min": inner[0]})

    def setting_at(self, name: str, point: Vector) -> float:
        direction = point.normalized()
        if name in {"cone_min", "cone_max"}:
            angle = atan2(hypot(direction.x, direction.z), direction.y)
            return max(angle, self.inner) if name == "cone_max" else min(angle, self.x_high)
        if not name.startswith("cone_"):
            return SwingTwist.setting_at(self, name, point)
        angle = atan2(direction.z, direction.y) if name.startswith("cone_x") else atan2(-direction.x, direction.y)
        return max(angle, 0.0) if name.endswith("max") else min(angle, 0.0)

    @classmethod
    def stacked(cls, limits: Sequence[Cone]) -> ConeBatch:
        names = ("inner", "x_low", "x_high", "z_low", "z_high")
        halves = {name: scalars([sin(0.5 * min(getattr(limit, name), pi)) for limit in limits]) for name in names}
        circular = scalars([float(limit._is_circular) for limit in limits])
        return ConeBatch(*twist_columns(limits), **halves, circular=circular)

    def sample_direction(self, random: Random) -> Vector:
        angle, share = random.uniform(-pi, pi), random.random() ** 0.5
        x, z = cos(angle), sin(angle)
        a, b = self._half_axes(x, z)
        low = sin(0.5 * self.inner)
        return _from_map((x * (low + (a - low) * share), z * (low + (b - low) * share)))


@dataclass(frozen=True, slots=True)
class ConeBatch(SwingTwistBatch):
    """`Cone` for many chains; the angles are kept as they are on the map, sin(angle / 2)."""

    inner: Array
    x_low: Array
    x_high: Array
    z_low: Array
    z_high: Array
    circular: Array

    def _half_axes(self, x: Array, z: Array) -> tuple[Array, Array]:
        return np.where(x >= 0.0, self.x_high, self.x_low), np.where(z >= 0.0, self.z_high, self.z_low)

    def nearest(self, direction: Array) -> Array:
        x, z = _columns_to_map(direction)
        a, b = self._half_axes(x, z)
        radius = np.hypot(x, z)
        wanted = np.minimum(np.maximum(radius, self.inner), a)
        scale = wanted / np.where(radius > 1e-9, radius, 1.0)
        on_axis = radius <= 1e-9
        circle = _columns_from_map(np.where(on_axis, wanted, x * scale), np.where(on_axis, 0.0, z * scale))
        is_circular = self.circular > 0.0
        near = arrays.choose(is_circular & (wanted != radius), circle, direction)
        outside = np.flatnonzero(~is_circular & ~_columns_inside(x, z, a, b))
        if outside.size:
            near[:, outside] = self.take(outside)._nearest_on_edge(arrays.taken(direction, outside))
        return near

    def _edge(self, parameter: Array) -> tuple[Array, Array]:
        x, z = np.cos(parameter), np.sin(parameter)
        a, b = self._half_axes(x, z)
        return a * x, b * z

    def _nearest_on_edge(self, direction: Array) -> Array:
        def nearness(parameter: Array) -> Array:
            x, z = self._edge(parameter)
            square = x * x + z * z
            up = 2.0 * np.sqrt(np.maximum(1.0 - square, 0.0))
            return direction[1] * (1.0 - 2.0 * square) + up * (direction[2] * x - direction[0] * z)

        step = tau / EDGE_SAMPLES
        scan = np.arange(EDGE_SAMPLES)[:, None] * step + np.zeros(direction.shape[-1])  # double, as for one chain
        best = np.take_along_axis(scan, nearness(scan).argmax(axis=0)[None], axis=0)[0]
        low, high = best - step, best + step
        for _ in range(GOLDEN_STEPS):
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            keeps_low = nearness(left) > nearness(right)
            low, high = np.where(keeps_low, low, left), np.where(keeps_low, right, high)
        return _columns_from_map(*self._edge(0.5 * (low + high))).astype(arrays.REAL)

    def barriers(self, direction: Array) -> Sequence[Array]:
        x, z = _columns_to_map(direction)
        a, b = self._half_axes(x, z)
        radius = np.hypot(x, z)
        inner = (self.inner > 0.0) & (radius <= self.inner + AT_END)
        slit = ~inner & ((a < AT_END) | (b < AT_END))
        wide = (a >= 1.0 - AT_END) & (b >= 1.0 - AT_END)
        safe_a, safe_b = np.maximum(a, AT_END), np.maximum(b, AT_END)
        edge = ~inner & ~slit & ~wide & (np.hypot(x / safe_a, z / safe_b) >= 1.0 - AT_END)
        outward = np.where(inner, -x, x / (safe_a * safe_a)), np.where(inner, -z, z / (safe_b * safe_b))
        walls = [_columns_tangent(direction, *outward) * (inner | edge)]
        if slit.any():
            for i, (value, half) in enumerate(((x, a), (z, b))):
                for sign in (1.0, -1.0):
                    stops = slit & ((half < AT_END) | (sign * value >= half - AT_END))
                    ahead = np.full_like(x, sign)
                    still = np.zeros_like(x)
                    walls.append(_columns_tangent(direction, *((ahead, still) if i == 0 else (still, ahead))) * stops)
        return walls


def make(settings: Any, start: Quaternion) -> Cone:
    """A cone from a bone's settings: the circle, or the ellipse that must hold the rest direction."""
    if not settings.use_ellipse:
        check_range("cone", settings.cone_min, settings.cone_max)
        return Cone.circular(settings.cone_max, settings.cone_min, twist_of(settings))
    for axis in "xz":
        low, high = getattr(settings, f"cone_{axis}_min"), getattr(settings, f"cone_{axis}_max")
        check_range(f"cone about {axis.upper()}", low, high)
        if low > 0.0 or high < 0.0:
            raise InvalidValueError(f"the cone about {axis.upper()} does not hold the rest direction")
    x, z = (-settings.cone_x_min, settings.cone_x_max), (-settings.cone_z_min, settings.cone_z_max)
    return Cone(0.0, *x, *z, twist_of(settings))


TYPE = LimitType(
    "CONE",
    "Cone",
    "The bone stays within a cone about its rest direction",
    make,
    ("use_ellipse", "cone_min", "cone_max", "cone_x_min", "cone_x_max", "cone_z_min", "cone_z_max"),
    twists=True,
)


def _to_map(direction: Vector) -> Point:
    """sin(angle / 2) * axis of the turn from Y to a unit direction: its X and Z."""
    up = sqrt(max(2.0 * (1.0 + direction.y), 0.0))
    if up < 1e-6:
        return 1.0, 0.0
    return direction.z / up, -direction.x / up


def _from_map(point: Point) -> Vector:
    x, z = point
    square = min(x * x + z * z, 1.0)
    up = 2.0 * sqrt(1.0 - square)
    return Vector((-z * up, 1.0 - 2.0 * square, x * up)).normalized()


def _tangent(direction: Vector, x: float, z: float) -> Vector:
    """The unit tangent along which the point of the map moves towards (x, z)."""
    here = _to_map(direction)
    size = hypot(x, z)
    if size < 1e-12:
        return Vector()
    step = 1e-3 if hypot(*here) < 0.99 else -1e-3
    there = _from_map((here[0] + x / size * step, here[1] + z / size * step))
    along = (there - direction) * (1.0 if step > 0.0 else -1.0)
    return (along - direction * along.dot(direction)).normalized()


def _barriers_of_a_slit(direction: Vector, point: Point, half_axes: Point) -> tuple[Vector, ...]:
    """Barriers of an ellipse that is flat along X or Z: both ways across, and the end of the slit."""
    walls = []
    for i, (value, half) in enumerate(zip(point, half_axes, strict=True)):
        for sign in (1.0, -1.0):
            if half < AT_END or sign * value >= half - AT_END:
                walls.append(_tangent(direction, sign * (i == 0), sign * (i == 1)))
    return tuple(walls)


def _inside(x: float, z: float, a: float, b: float) -> bool:
    if a < AT_END or b < AT_END:
        return abs(x) <= a + 1e-9 and abs(z) <= b + 1e-9
    return (x / a) ** 2 + (z / b) ** 2 <= 1.0 + 1e-9


def _columns_to_map(direction: Array) -> tuple[Array, Array]:
    up = np.sqrt(np.maximum(2.0 * (1.0 + direction[1]), 0.0))
    opposite = up < 1e-6
    safe = np.where(opposite, 1.0, up)
    return np.where(opposite, 1.0, direction[2] / safe), np.where(opposite, 0.0, -direction[0] / safe)


def _columns_from_map(x: Array, z: Array) -> Array:
    square = np.minimum(x * x + z * z, 1.0)
    up = 2.0 * np.sqrt(1.0 - square)
    return arrays.unit(np.stack((-z * up, 1.0 - 2.0 * square, x * up)))


def _columns_tangent(direction: Array, x: Array, z: Array) -> Array:
    here_x, here_z = _columns_to_map(direction)
    size = np.hypot(x, z)
    step = np.where(np.hypot(here_x, here_z) < 0.99, 1e-3, -1e-3) / np.where(size > 0.0, size, 1.0)
    there = _columns_from_map(here_x + x * step, here_z + z * step)
    along = (there - direction) * np.where(step > 0.0, 1.0, -1.0)
    return arrays.unit(arrays.perpendicular(along, direction)) * (size >= 1e-12)


def _columns_inside(x: Array, z: Array, a: Array, b: Array) -> Array:
    flat = (a < AT_END) | (b < AT_END)
    in_slit = (np.abs(x) <= a + 1e-9) & (np.abs(z) <= b + 1e-9)
    in_ellipse = (x / np.where(flat, 1.0, a)) ** 2 + (z / np.where(flat, 1.0, b)) ** 2 <= 1.0 + 1e-6
    return np.where(flat, in_slit, in_ellipse)
