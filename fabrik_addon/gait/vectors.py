# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors (x, y, z) and unit quaternions (w, x, y, z) as tuples of floats."""

from __future__ import annotations

from math import acos, cos, pi, sin, sqrt

from ..vectors import ORIGIN, V3, X_AXIS, Z_AXIS, cross, dot, length, minus, plus, scaled

__all__ = (
    "FRONT",
    "IDENTITY",
    "ORIGIN",
    "Q4",
    "ROUNDING",
    "V3",
    "X_AXIS",
    "Z_AXIS",
    "about",
    "along",
    "angle_between",
    "apart",
    "between",
    "blended",
    "clipped",
    "cross",
    "dot",
    "eased",
    "flattened",
    "inverse",
    "length",
    "lerp",
    "minus",
    "normalised",
    "plus",
    "product",
    "scaled",
    "share_of_turn",
    "turned",
    "unit",
)

Q4 = tuple[float, float, float, float]

IDENTITY: Q4 = (1.0, 0.0, 0.0, 0.0)
FRONT: V3 = (0.0, -1.0, 0.0)  # where figures in Blender look at rest
ROUNDING = 1e-9  # of a frame, a sample or a cycle: what rounding may add or take away
SHORTEST = 1e-12  # a vector below it has no direction
NEARLY_OPPOSITE = -0.999999  # cosine
NEARLY_ALIKE = 0.9999  # cosine of half the angle between rotations, from which a straight blend is exact enough
ASIDE_OF_X = 0.1  # sine of the angle to X, above which a direction and X span a plane


def along(a: V3, direction: V3, distance: float) -> V3:
    """The point at a distance from `a` in a direction."""
    return (a[0] + direction[0] * distance, a[1] + direction[1] * distance, a[2] + direction[2] * distance)


def apart(a: V3, b: V3) -> float:
    """The distance between two points."""
    return length(minus(a, b))


def unit(a: V3, fallback: V3) -> V3:
    """The direction of a vector, or another where it has none."""
    size = length(a)
    return scaled(a, 1.0 / size) if size > SHORTEST else fallback


def lerp(a: V3, b: V3, share: float) -> V3:
    return (a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share)


def flattened(a: V3, up: V3) -> V3:
    """What of a vector is perpendicular to a direction."""
    return along(a, up, -dot(a, up))


def turned(q: Q4, a: V3) -> V3:
    """A vector turned by a rotation."""
    w, x, y, z = q
    tx, ty, tz = 2.0 * (y * a[2] - z * a[1]), 2.0 * (z * a[0] - x * a[2]), 2.0 * (x * a[1] - y * a[0])
    return (
        a[0] + w * tx + y * tz - z * ty,
        a[1] + w * ty + z * tx - x * tz,
        a[2] + w * tz + x * ty - y * tx,
    )


def product(a: Q4, b: Q4) -> Q4:
    """The rotation `b` followed by `a`."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def inverse(q: Q4) -> Q4:
    return (q[0], -q[1], -q[2], -q[3])


def normalised(q: Q4) -> Q4:
    size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (q[0] / size, q[1] / size, q[2] / size, q[3] / size) if size > SHORTEST else IDENTITY


def about(axis: V3, angle: float) -> Q4:
    """The turn about a unit axis by an angle in radians."""
    half = sin(0.5 * angle)
    return (cos(0.5 * angle), axis[0] * half, axis[1] * half, axis[2] * half)


def between(a: V3, b: V3) -> Q4:
    """The shortest turn from one direction to another."""
    if dot(a, b) < NEARLY_OPPOSITE:
        side = cross(a, X_AXIS)
        return about(unit(side if length(side) > ASIDE_OF_X else cross(a, Z_AXIS), Z_AXIS), pi)
    axis = cross(a, b)
    return normalised((1.0 + dot(a, b), axis[0], axis[1], axis[2]))


def angle_between(a: V3, b: V3) -> float:
    """The angle between two unit vectors, in radians."""
    return acos(clipped(dot(a, b), -1.0, 1.0))


def share_of_turn(q: Q4, share: float) -> Q4:
    """A part of a rotation: 0 none, 1 all of it."""
    return blended(IDENTITY, q, share)


def blended(a: Q4, b: Q4, share: float) -> Q4:
    """Between two rotations, along the shortest way at an even pace."""
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if cosine < 0.0:
        b, cosine = (-b[0], -b[1], -b[2], -b[3]), -cosine
    first, second = 1.0 - share, share
    if cosine < NEARLY_ALIKE:
        angle = acos(cosine)
        first, second = sin(first * angle) / sin(angle), sin(second * angle) / sin(angle)
    return normalised(
        (
            first * a[0] + second * b[0],
            first * a[1] + second * b[1],
            first * a[2] + second * b[2],
            first * a[3] + second * b[3],
        )
    )


def clipped(value: float, low: float, high: float) -> float:
    """The number of a range that is nearest to a value."""
    return min(max(value, low), high)


def eased(share: float) -> float:
    """0 to 1 with speed and acceleration zero at both ends: the quintic of least jerk (Flash & Hogan 1985)."""
    s = clipped(share, 0.0, 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))
