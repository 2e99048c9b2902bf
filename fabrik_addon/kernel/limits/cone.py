# SPDX-License-Identifier: GPL-3.0-or-later
"""A cone about the bone's rest direction: circular, or an ellipse with a half axis of its own on each side."""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import Any, SupportsFloat

from ...errors import InvalidValueError
from ...messages import Message
from .. import cython
from ..forms import V3, Doubles
from ..vectors import ORIGIN, PI, TAU, dot, doubles, larger, magnitude, minus, plus, scaled, smaller, unit
from .base import AT_END, checked_range, finite_numbers
from .swing_twist import SwingTwist, Twist, held_back

CONE = Message("CONE")
ON_THE_AXIS = cython.declare(cython.double, 1e-150)  # of a direction's part beside Y: its square is no number any more


@cython.cfunc
@cython.exceptval(check=False)
def to_map(direction: V3) -> V3:
    """The X and Z of a unit direction on the map, and their distance from the centre."""
    x: cython.double = direction[0]
    z: cython.double = direction[2]
    y: cython.double = direction[1]
    aside: cython.double = sqrt(x * x + z * z)
    if aside < ON_THE_AXIS:
        return ORIGIN if y >= 0.0 else (1.0, 0.0, 1.0)
    factor: cython.double = 1.0 / sqrt(2.0 * (1.0 + y)) if y >= 0.0 else sqrt(0.5 * (1.0 - y)) / aside
    return (z * factor, -x * factor, aside * factor)


@cython.cfunc
@cython.exceptval(check=False)
def from_map(x: cython.double, z: cython.double) -> V3:
    """The unit direction of a point of the map; -Y for one outside."""
    square: cython.double = smaller(x * x + z * z, 1.0)
    up: cython.double = 2.0 * sqrt(1.0 - square)
    return unit((-z * up, 1.0 - 2.0 * square, x * up))


@cython.cfunc
@cython.exceptval(check=False)
def beside_y(direction: V3) -> V3:
    """The unit vector at right angles to Y on whose side a direction lies; that of the map's X where it has none."""
    aside: cython.double = sqrt(direction[0] * direction[0] + direction[2] * direction[2])
    if aside < ON_THE_AXIS:
        return (0.0, 0.0, 1.0)
    return (direction[0] / aside, 0.0, direction[2] / aside)


@cython.cfunc
@cython.exceptval(check=False)
def turn_into_wall(direction: V3, x: cython.double, z: cython.double) -> V3:
    """Unit axis of the turn that leads at right angles into a wall, an edge of the map with the outward normal (x, z).

    The edge's tangent on the map, (-z, x), goes over into one on the sphere; the wall's normal there is at right angles
    to that one. With the lengths of steps outwards and sidewards the normal (n, m) becomes (n c, m / c).
    """
    side: V3 = beside_y(direction)
    y: cython.double = direction[1]
    aside: cython.double = direction[0] * side[0] + direction[2] * side[2]
    square: cython.double = 0.5 * (1.0 + y) if y >= 0.0 else 0.5 * aside * aside / (1.0 - y)
    outwards: V3 = (y * side[0], -aside, y * side[2])
    sidewards: V3 = (-side[2], 0.0, side[0])
    n: cython.double = (x * side[2] - z * side[0]) * square
    m: cython.double = x * side[0] + z * side[2]
    # direction x outwards is -sidewards, direction x sidewards is outwards
    return unit(plus(scaled(outwards, m), scaled(sidewards, -n)))


EDGE_STEP = cython.declare(cython.double, 0.41421356237309503)  # tangent of the parameter between two samples
EDGE_STEPS = cython.declare(cython.int, 60)
EDGE_FOUND = cython.declare(cython.double, 1e-10)  # a Newton step after which the next would be below all digits
EDGE_PROBE = cython.declare(
    cython.double, 1e-7
)  # from a sample to where the slope is told if the edge stands still there
STANDSTILL = cython.declare(cython.double, 1e-14)
EDGE_TURNS_BACK = cython.declare(cython.double, 1e-12)  # cosine of half the angle next to -Y


@cython.cfunc
@cython.exceptval(check=False)
def edge_slope(direction: V3, quadrant: V3, start: V3, t: cython.double) -> V3:
    """How an ellipse's edge comes nearer to a direction, as t grows, and the derivative of that by t.

    With p the parameter, (x, z) the edge, c the cosine of half its angle and d the direction, the cosine between edge
    and direction is f = d.y (1 - 2 (x x + z z)) + 2 c (d.z x - d.x z); told is c / 2 * df / dp, which has the sign of
    df / dp and no pole at -Y. The derivative is 0 where it can't be told.

    Args:
        direction: Unit vector.
        quadrant: The half axes.
        start: Cosine and sine of the parameter at t = 0.
        t: Tangent of the parameter from there on.
    """
    size: cython.double = 1.0 / sqrt(1.0 + t * t)
    cosine: cython.double = (start[0] - start[1] * t) * size
    sine: cython.double = (start[1] + start[0] * t) * size
    x: cython.double = quadrant[0] * cosine
    z: cython.double = quadrant[1] * sine
    x_rate: cython.double = -quadrant[0] * sine
    z_rate: cython.double = quadrant[1] * cosine
    square: cython.double = larger(1.0 - x * x - z * z, 0.0)
    c: cython.double = sqrt(square)
    level: cython.double = direction[2] * x - direction[0] * z
    level_rate: cython.double = direction[2] * x_rate - direction[0] * z_rate
    out: cython.double = x * x_rate + z * z_rate
    out_rate: cython.double = x_rate * x_rate + z_rate * z_rate - x * x - z * z
    pull: cython.double = 2.0 * direction[1] * c + level
    slope: cython.double = square * level_rate - pull * out
    if c <= EDGE_TURNS_BACK:
        return (slope, 0.0, 0.0)
    bend: cython.double = 2.0 * direction[1] * out * out / c - 3.0 * out * level_rate - square * level - pull * out_rate
    return (slope, bend * size * size, 0.0)


@cython.cfunc
@cython.exceptval(check=False)
def edge_rise(direction: V3, quadrant: V3, start: V3, t: cython.double, beside: cython.double) -> cython.double:
    """The slope at t, or at `beside` where the edge stands still at t: at the end of a slit, or at -Y."""
    slope: cython.double = edge_slope(direction, quadrant, start, t)[0]
    return edge_slope(direction, quadrant, start, beside)[0] if magnitude(slope) <= STANDSTILL else slope


@cython.cfunc
@cython.exceptval(check=False)
def edge_top(direction: V3, quadrant: V3, start: V3, way: cython.double) -> cython.double:
    """The t between a sample and the next one at which the edge is nearest, where it comes nearer from the sample on.

    By Newton's steps, halved where they leave the bracket; for the arguments see `edge_slope`.
    """
    low: cython.double = 0.0 if way > 0.0 else -EDGE_STEP
    high: cython.double = EDGE_STEP if way > 0.0 else 0.0
    t: cython.double = 0.25 * EDGE_STEP * way
    count: cython.int = 0
    while count < EDGE_STEPS:
        slope: V3 = edge_slope(direction, quadrant, start, t)
        if slope[0] > 0.0:
            low = t
        else:
            high = t
        wanted: cython.double = t - slope[0] / slope[1] if slope[1] < 0.0 else high + 1.0
        if not low < wanted < high:
            wanted = 0.5 * (low + high)
        elif magnitude(wanted - t) < EDGE_FOUND:
            return wanted
        t = wanted
        count += 1
    return t


@cython.cfunc
@cython.exceptval(check=False)
def flat_side(place: cython.double, low: cython.double, high: cython.double) -> cython.double:
    """On which side of the centre a point of the map stands at an edge that is straight: 1, -1, or 0 for none.

    Args:
        place: The point's coordinate.
        low: The half axis against it.
        high: The half axis along it.
    """
    if high < AT_END and place >= -AT_END:
        return 1.0
    return -1.0 if low < AT_END and place <= AT_END else 0.0


@cython.cfunc
@cython.exceptval(check=False)
def allow_in_slit(direction: V3, turn: V3, spot: V3, low: cython.double, high: cython.double) -> V3:
    """The part of a turn that an ellipse without width lets through: none across, and none out at its ends.

    Args:
        direction: Where the bone points.
        turn: A rotation vector.
        spot: The slit's unit vector on the map, and how far out along it the direction stands.
        low: The half axis against it.
        high: The half axis along it.
    """
    across: V3 = turn_into_wall(direction, spot[1], spot[0])
    along: V3 = turn_into_wall(direction, spot[0], spot[1])
    left: V3 = minus(turn, scaled(across, dot(turn, across)))
    first: V3 = along if high - AT_END <= spot[2] and high < 1.0 - AT_END else ORIGIN
    second: V3 = scaled(along, -1.0) if spot[2] <= AT_END - low and low < 1.0 - AT_END else ORIGIN
    return held_back(direction, left, first, second)


EDGE_SAMPLES = cython.declare(cython.int, 16)  # a multiple of 4: no quadrant starts between two of them
EDGE_WIDTH = cython.declare(cython.int, 5)  # numbers of a sample: cosine and sine of its parameter, its direction
NEAR_BACK = cython.declare(cython.double, 0.94)  # half axis


@cython.cclass
class Cone(SwingTwist):
    """The bone's direction stays near its rest direction.

    On a map of the directions (`to_map`) a circular cone is a disc, and the ellipse of four quadrants (Aristidou &
    Lasenby 2011, section 4) joins smoothly; Blender's own IK limits of a ball joint are this shape.

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
        angles = finite_numbers(CONE, (inner, x_low, x_high, z_low, z_high), 5)
        if min(angles) < 0.0:
            raise InvalidValueError(Message("CONE_ANGLE_BELOW_ZERO"))
        self.inner, self.x_low, self.x_high, self.z_low, self.z_high = angles
        self.is_circular = min(angles[1:]) == max(angles[1:])
        if self.inner > 0.0 and not self.is_circular:
            raise InvalidValueError(Message("LEAST_ANGLE_WITHOUT_CIRCLE"))
        checked_range(CONE, self.inner, self.x_high)
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
            for i, value in enumerate((x, z, direction[0], direction[1], direction[2])):
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
