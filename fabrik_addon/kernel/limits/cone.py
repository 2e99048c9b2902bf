# SPDX-License-Identifier: GPL-3.0-or-later
"""A cone about the bone's rest direction: circular, or an ellipse with a half axis of its own on each side."""

from __future__ import annotations

from math import atan2, cos, sin, sqrt
from typing import Any, SupportsFloat

from ...errors import InvalidValueError
from ...texts import Text
from .. import cython
from ..forms import Q4, V3, Doubles
from ..vectors import (
    ORIGIN,
    PI,
    TAU,
    X_AXIS,
    Z_AXIS,
    dot,
    doubles,
    larger,
    magnitude,
    rotated,
    scaled,
    smaller,
)
from .base import Limit, LimitType
from .cone_edge import EDGE_PROBE, EDGE_STEP, allow_in_slit, edge_rise, edge_top, flat_side
from .cone_map import beside_y, from_map, to_map, turn_into_wall
from .ik_meaning import ALL_AXES, IkMeaning
from .outline import Curve, Outline
from .ranges import AT_END, check_range, finite_numbers
from .setting import Setting
from .swing_twist import SwingTwist, Twist, held_back, ik_range, mirrored_twist, twist_of, twist_settings

CONE_OUTLINE_QUARTER = 16
CONE_OUTLINE_POINTS = 4 * CONE_OUTLINE_QUARTER
EDGE_SAMPLES = cython.declare(cython.int, 16)  # a multiple of 4: no quadrant starts between two of them
EDGE_WIDTH = cython.declare(cython.int, 5)  # numbers of a sample: cosine and sine of its parameter, its direction
ALIKE = 0.9998  # cosine of the angle up to which axes count as mirrored: about a degree
NEAR_BACK = cython.declare(cython.double, 0.94)  # half axis


@cython.cclass
class Cone(SwingTwist):
    """The bone's direction stays near its rest direction.

    On the map of `cone_map.py` a circular cone is a disc, and the ellipse of four quadrants (Aristidou & Lasenby 2011,
    section 4) joins smoothly; Blender's own IK limits of a ball joint are this shape.

    Attributes:
        inner: Least angle from the rest direction, for a circular cone.
        x_low: Greatest negative turn about X, as a positive angle.
        x_high: Greatest positive turn about X.
        z_low: Greatest negative turn about Z, as a positive angle.
        z_high: Greatest positive turn about Z.
        twist: Range of twist, or None.
        is_circular: Whether all four are the same.
    """

    inner = cython.declare(cython.double, visibility="readonly")
    x_low = cython.declare(cython.double, visibility="readonly")
    x_high = cython.declare(cython.double, visibility="readonly")
    z_low = cython.declare(cython.double, visibility="readonly")
    z_high = cython.declare(cython.double, visibility="readonly")
    is_circular = cython.declare(cython.bint, visibility="readonly")
    # the same on the map
    inner_half: cython.double
    left: cython.double
    right: cython.double
    back: cython.double
    front: cython.double
    edge: Doubles
    comes_back: cython.bint  # near to -Y

    def __init__(
        self,
        inner: SupportsFloat = 0.0,
        x_low: SupportsFloat = PI,
        x_high: SupportsFloat = PI,
        z_low: SupportsFloat = PI,
        z_high: SupportsFloat = PI,
        twist: Twist | None = None,
    ) -> None:
        SwingTwist.__init__(self, twist)
        angles = finite_numbers("cone", (inner, x_low, x_high, z_low, z_high), 5)
        if min(angles) < 0.0:
            raise InvalidValueError("the cone has an angle below zero")
        self.inner, self.x_low, self.x_high, self.z_low, self.z_high = angles
        self.is_circular = min(angles[1:]) == max(angles[1:])
        if self.inner > 0.0 and not self.is_circular:
            raise InvalidValueError("the cone has a least angle, which only goes with a circle")
        check_range("cone", self.inner, self.x_high)
        halves = [sin(0.5 * min(angle, PI)) for angle in angles]
        self.inner_half, self.left, self.right, self.back, self.front = halves
        self.comes_back = max(halves) > NEAR_BACK
        self.edge = doubles(0 if self.is_circular else EDGE_SAMPLES * EDGE_WIDTH)
        if not self.is_circular:
            self._sample_edge()

    def _sample_edge(self) -> None:
        for k in range(EDGE_SAMPLES):
            x, z = cos(TAU * k / EDGE_SAMPLES), sin(TAU * k / EDGE_SAMPLES)
            direction = from_map(x * self._half_x(x), z * self._half_z(z))
            for i, value in enumerate((x, z, *direction)):
                self.edge[EDGE_WIDTH * k + i] = value

    @classmethod
    def circular(cls, greatest: SupportsFloat, least: SupportsFloat = 0.0, twist: Twist | None = None) -> Cone:
        """A cone between two angles from the rest direction."""
        return cls(least, greatest, greatest, greatest, greatest, twist)

    def parts(self) -> tuple[Any, ...]:
        return (self.inner, self.x_low, self.x_high, self.z_low, self.z_high, self.twist)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _half_x(self, x: cython.double) -> cython.double:
        """The half axis along the map's X on the side of a point."""
        return self.right if x >= 0.0 else self.left

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _half_z(self, z: cython.double) -> cython.double:
        return self.front if z >= 0.0 else self.back

    @cython.cfunc
    @cython.exceptval(check=False)
    def pull(self, direction: V3) -> V3:
        spot: V3 = to_map(direction)
        x: cython.double = spot[0]
        z: cython.double = spot[1]
        if self.is_circular:
            if spot[2] > self.right + AT_END:
                return self._at_angle(direction, self.x_high)
            return self._at_angle(direction, self.inner) if spot[2] < self.inner_half - AT_END else direction
        a: cython.double = self._half_x(x)
        b: cython.double = self._half_z(z)
        if a < AT_END or b < AT_END:
            if magnitude(x) <= a + AT_END and magnitude(z) <= b + AT_END:
                return direction
        elif x / a * (x / a) + z / b * (z / b) <= 1.0 + AT_END:
            return direction
        return self._nearest_on_edge(direction)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _at_angle(self, direction: V3, angle: cython.double) -> V3:
        """The direction at an angle from Y, on the side of another."""
        side: V3 = beside_y(direction)
        sine: cython.double = sin(angle)
        return (side[0] * sine, cos(angle), side[2] * sine)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _nearest_on_edge(self, direction: V3) -> V3:
        """The edge's direction nearest to one outside.

        The edge is (a cos p, b sin p). Each of some samples that is nearer than its neighbours is improved to where the
        edge still comes nearer, to the end of digits; p is that of the sample and the arc tangent of t, so that no sine
        is needed. An edge that comes near to -Y is tried at every sample: there it turns sharply.
        """
        near: V3 = self._sample(0)
        before: cython.double = dot(direction, self._sample(EDGE_SAMPLES - 2))
        last: cython.double = dot(direction, self._sample(EDGE_SAMPLES - 1))
        k: cython.int
        for k in range(EDGE_SAMPLES):
            cosine: cython.double = dot(direction, self._sample(k))
            if self.comes_back or (before <= last and cosine <= last):
                start: cython.int = k - 1 if k > 0 else EDGE_SAMPLES - 1
                near = self._nearer(direction, near, start, 1.0, cosine > last)
                near = self._nearer(direction, near, start, -1.0, before > last)
            before = last
            last = cosine
        return near

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _sample(self, k: cython.int) -> V3:
        """The direction of a sample of the edge."""
        return (self.edge[EDGE_WIDTH * k + 2], self.edge[EDGE_WIDTH * k + 3], self.edge[EDGE_WIDTH * k + 4])

    @cython.cfunc
    @cython.exceptval(check=False)
    def _nearer(self, direction: V3, found: V3, k: cython.int, way: cython.double, ends_nearer: cython.bint) -> V3:
        """Of a direction and the edge's between a sample and the next in one way, that which is nearer to another.

        Args:
            direction: To which.
            found: The nearest so far.
            k: The sample.
            way: 1 or -1.
            ends_nearer: Whether the next sample is nearer than this one: if the edge comes nearer there too, the
                nearest lies beyond it.
        """
        start: V3 = (self.edge[EDGE_WIDTH * k], self.edge[EDGE_WIDTH * k + 1], 0.0)
        half: cython.double = 0.5 * EDGE_STEP * way
        quadrant: V3 = (self._half_x(start[0] - start[1] * half), self._half_z(start[1] + start[0] * half), 0.0)
        t: cython.double = 0.0
        if way * edge_rise(direction, quadrant, start, 0.0, EDGE_PROBE * way) > 0.0:
            last: cython.double = EDGE_STEP * way
            if ends_nearer and way * edge_rise(direction, quadrant, start, last, last - EDGE_PROBE * way) > 0.0:
                return found
            t = edge_top(direction, quadrant, start, way)
        size: cython.double = 1.0 / sqrt(1.0 + t * t)
        x: cython.double = quadrant[0] * (start[0] - start[1] * t) * size
        near: V3 = from_map(x, quadrant[1] * (start[1] + start[0] * t) * size)
        return near if dot(direction, near) > dot(direction, found) else found

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow_swing(self, direction: V3, turn: V3) -> V3:
        spot: V3 = to_map(direction)
        if self.is_circular:
            return self._allow_in_ring(direction, turn, spot)
        x: cython.double = spot[0]
        z: cython.double = spot[1]
        if self.left < AT_END and self.right < AT_END:
            return allow_in_slit(direction, turn, (0.0, 1.0, z), self.back, self.front)
        if self.back < AT_END and self.front < AT_END:
            return allow_in_slit(direction, turn, (1.0, 0.0, x), self.left, self.right)
        beside: cython.double = flat_side(x, self.left, self.right)
        above: cython.double = flat_side(z, self.back, self.front)
        first: V3 = turn_into_wall(direction, beside, 0.0) if beside != 0.0 else ORIGIN
        second: V3 = turn_into_wall(direction, 0.0, above) if above != 0.0 else ORIGIN
        if beside == 0.0:
            first = self._curved_wall(direction, x, z)
        elif above == 0.0:
            second = self._curved_wall(direction, x, z)
        return held_back(direction, turn, first, second)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _curved_wall(self, direction: V3, x: cython.double, z: cython.double) -> V3:
        """Axis of the turn into the ellipse's edge at a direction and its point of the map; zero where it is not at it.

        Where the quadrant has no width, the point stands at its side to the one beside it.
        """
        a: cython.double = self._half_x(x)
        b: cython.double = self._half_z(z)
        if a < AT_END:
            a = larger(self.left, self.right)
        if b < AT_END:
            b = larger(self.back, self.front)
        if smaller(a, b) >= 1.0 - AT_END or x / a * (x / a) + z / b * (z / b) < 1.0 - 2.0 * AT_END:
            return ORIGIN
        return turn_into_wall(direction, x / a / a, z / b / b)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _allow_in_ring(self, direction: V3, turn: V3, spot: V3) -> V3:
        if self.right < AT_END:
            return scaled(direction, dot(turn, direction))
        outwards: V3 = turn_into_wall(direction, spot[0], spot[1])
        first: V3 = outwards if self.right - AT_END <= spot[2] and self.right < 1.0 - AT_END else ORIGIN
        second: V3 = scaled(outwards, -1.0) if spot[2] <= self.inner_half + AT_END and self.inner > 0.0 else ORIGIN
        return held_back(direction, turn, first, second)

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw_direction(self, u: cython.double, v: cython.double) -> V3:
        share: cython.double = sqrt(v)
        x: cython.double = cos(TAU * u - PI)
        z: cython.double = sin(TAU * u - PI)
        a: cython.double = self._half_x(x)
        b: cython.double = self._half_z(z)
        low: cython.double = self.inner_half
        return from_map(x * (low + (a - low) * share), z * (low + (b - low) * share))

    def swing_outline(self) -> Outline:
        edge = self._edge_curve(self.right)
        if not self.is_circular:
            names = ("cone_x_max", "cone_z_max", "cone_x_min", "cone_z_min")
            return Outline((edge,), ends={name: edge[i * CONE_OUTLINE_QUARTER] for i, name in enumerate(names)})
        if self.inner <= 0.0:
            return Outline((edge,), ends={"cone_max": edge[0]})
        inner = self._edge_curve(self.inner_half)
        return Outline((edge, inner), ends={"cone_max": edge[0], "cone_min": inner[0]})

    def _edge_curve(self, radius: float) -> Curve:
        """The edge, or where it is a circle one of another radius on the map."""
        points = []
        for k in range(CONE_OUTLINE_POINTS + 1):
            x, z = cos(TAU * k / CONE_OUTLINE_POINTS), sin(TAU * k / CONE_OUTLINE_POINTS)
            a, b = (radius, radius) if self.is_circular else (self._half_x(x), self._half_z(z))
            points.append(from_map(a * x, b * z))
        return tuple(points)

    def setting_at(self, name: str, point: V3) -> float:
        x, y, z = point
        if name in {"cone_min", "cone_max"}:
            angle = atan2(sqrt(x * x + z * z), y)
            return max(angle, self.inner) if name == "cone_max" else min(angle, self.x_high)
        if not name.startswith("cone_"):
            return SwingTwist.setting_at(self, name, point)
        angle = atan2(z, y) if name.startswith("cone_x") else atan2(-x, y)
        return max(angle, 0.0) if name.endswith("max") else min(angle, 0.0)

    def ik_meaning(self) -> IkMeaning:
        ranges = {0: (-self.x_low, self.x_high), 2: (-self.z_low, self.z_high), **ik_range(self.twist)}
        return IkMeaning(ALL_AXES, ranges, (Text("the least angle of its cone"),) if self.inner > 0.0 else ())

    def settings(self) -> dict[str, Any]:
        if self.inner > 0.0:
            ends = {"cone_min": self.inner, "cone_max": self.x_high}
        else:
            ends = {"cone_x_min": -self.x_low, "cone_x_max": self.x_high}
            ends |= {"cone_z_min": -self.z_low, "cone_z_max": self.z_high}
        return {"limit": "CONE", "use_ellipse": self.inner <= 0.0, **ends, **twist_settings(self.twist)}

    def mirrored(self, turn: Q4) -> Limit | None:
        twist = mirrored_twist(self.twist)
        if self.is_circular:
            return Cone.circular(self.x_high, self.inner, twist)
        ends = {}
        for axis, low, high in ((X_AXIS, self.x_low, self.x_high), (Z_AXIS, self.z_low, self.z_high)):
            x, _, z = rotated(turn, axis)  # X and Z may change places with the roll
            to, along = ("x", x) if abs(x) > abs(z) else ("z", z)
            if abs(along) < ALIKE:
                return None
            ends[to] = (low, high) if along > 0.0 else (high, low)
        return Cone(0.0, *ends["x"], *ends["z"], twist)


def make_cone(settings: Any, start: Q4) -> Cone:
    """A cone from a bone's settings: the circle, or the ellipse that must hold the rest direction."""
    if not settings.use_ellipse:
        return Cone.circular(settings.cone_max, settings.cone_min, twist_of(settings))
    ends: list[float] = []
    for axis in "xz":
        ends_now = getattr(settings, f"cone_{axis}_min"), getattr(settings, f"cone_{axis}_max")
        low, high = check_range("cone about X" if axis == "x" else "cone about Z", *ends_now)
        if low > 0.0 or high < 0.0:
            raise InvalidValueError(Text("the cone about {axis} does not hold the rest direction", axis=axis.upper()))
        ends += [-low, high]
    return Cone(0.0, ends[0], ends[1], ends[2], ends[3], twist_of(settings))


QUARTER = 0.25 * PI
ROUND, ELLIPSE = ("use_ellipse", False), ("use_ellipse", True)
CONE_SETTINGS = (
    Setting("use_ellipse", "Ellipse", "Give the cone an angle of its own on each of four sides", False),
    Setting("cone_min", "Min", "Least angle from the rest direction", 0.0, 0.0, PI, ROUND),
    Setting("cone_max", "Max", "Greatest angle from the rest direction", QUARTER, 0.0, PI, ROUND),
    Setting("cone_x_min", "X Min", "Greatest negative turn about the bone's X axis", -QUARTER, -PI, 0.0, ELLIPSE),
    Setting("cone_x_max", "X Max", "Greatest positive turn about the bone's X axis", QUARTER, 0.0, PI, ELLIPSE),
    Setting("cone_z_min", "Z Min", "Greatest negative turn about the bone's Z axis", -QUARTER, -PI, 0.0, ELLIPSE),
    Setting("cone_z_max", "Z Max", "Greatest positive turn about the bone's Z axis", QUARTER, 0.0, PI, ELLIPSE),
)
CONE_TYPE = LimitType(
    "CONE",
    2,
    "Cone",
    "The bone stays within a cone about its rest direction",
    make_cone,
    CONE_SETTINGS,
    twists=True,
)
