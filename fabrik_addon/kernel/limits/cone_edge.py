# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge of a cone that is an ellipse: where it comes nearer to a direction, and where it is straight."""

from __future__ import annotations

from math import sqrt

from .. import cython
from ..forms import V3
from ..vectors import ORIGIN, dot, larger, magnitude, minus, scaled
from .cone_map import turn_into_wall
from .ranges import AT_END
from .swing_twist import held_back

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
