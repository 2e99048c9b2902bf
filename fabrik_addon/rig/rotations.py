# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors and rotations of bones in double precision: tuples (x, y, z) and (w, x, y, z) of Python's floats.

Single precision begins where Blender's channels do. What Blender hands out, and mathutils, are sequences of as many
numbers and are taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, sin, sqrt
from typing import TypeAlias

from mathutils import Matrix, Quaternion

V3: TypeAlias = tuple[float, float, float]
Q4: TypeAlias = tuple[float, float, float, float]
Nine: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]  # a matrix, row by row

ORIGIN: V3 = (0.0, 0.0, 0.0)
X_AXIS: V3 = (1.0, 0.0, 0.0)
Y_AXIS: V3 = (0.0, 1.0, 0.0)
Z_AXIS: V3 = (0.0, 0.0, 1.0)
IDENTITY: Q4 = (1.0, 0.0, 0.0, 0.0)
ALONG = 1e-6  # of a squared length: a smaller part beside an axis tells no direction


def plus(a: Sequence[float], b: Sequence[float]) -> V3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Sequence[float], b: Sequence[float]) -> V3:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(a: Sequence[float], factor: float) -> V3:
    return a[0] * factor, a[1] * factor, a[2] * factor


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Sequence[float], b: Sequence[float]) -> V3:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def length(a: Sequence[float]) -> float:
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    return length(minus(a, b))


def unit(a: Sequence[float]) -> V3:
    """Made unit; zero where there is no length."""
    size = length(a)
    return scaled(a, 1.0 / size) if size > 0.0 else ORIGIN


def perpendicular(vector: Sequence[float], axis: Sequence[float]) -> V3:
    """The part of a vector at right angles to a unit axis."""
    return minus(vector, scaled(axis, dot(vector, axis)))


def any_perpendicular(axis: Sequence[float], preferred: Sequence[float]) -> V3:
    """A unit vector at right angles to a unit axis: along `preferred` where that has such a part."""
    for candidate in (preferred, X_AXIS, Y_AXIS):
        part = perpendicular(candidate, axis)
        if dot(part, part) > ALONG * dot(candidate, candidate) > 0.0:
            break
    return unit(part)


def v3(values: Sequence[float]) -> V3:
    """Three numbers as a vector."""
    x, y, z = values
    return x, y, z


def nine(rows: Sequence[Sequence[float]]) -> Nine:
    """Three rows of three numbers as a matrix."""
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a, b, c, d, e, f, g, h, i


def q4(values: Sequence[float]) -> Q4:
    """Four numbers as a quaternion."""
    w, x, y, z = values
    return w, x, y, z


def multiplied(p: Sequence[float], q: Sequence[float]) -> Q4:
    """The rotation that turns by q, then by p."""
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return (
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
    )


def conjugated(q: Sequence[float]) -> Q4:
    return q[0], -q[1], -q[2], -q[3]


def normalized(q: Sequence[float]) -> Q4:
    """Made unit; the identity where all numbers are zero."""
    w, x, y, z = q
    size = sqrt(w * w + x * x + y * y + z * z)
    return (w / size, x / size, y / size, z / size) if size > 0.0 else IDENTITY


def rotated(q: Sequence[float], v: Sequence[float]) -> V3:
    """A vector turned by a unit quaternion."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + (y * tz - z * ty),
        b + w * ty + (z * tx - x * tz),
        c + w * tz + (x * ty - y * tx),
    )


def turn_about(axis: Sequence[float], angle: float) -> Q4:
    """The rotation by an angle about a unit axis."""
    sine = sin(0.5 * angle)
    return cos(0.5 * angle), axis[0] * sine, axis[1] * sine, axis[2] * sine


def turn_angle(q: Sequence[float]) -> float:
    """The angle of a unit quaternion, in [0, pi]."""
    return 2.0 * atan2(length(q[1:]), abs(q[0]))


def matrix_of(rotation: Sequence[float]) -> tuple[V3, V3, V3]:
    """The rows of the matrix of a unit quaternion."""
    w, x, y, z = rotation
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


def axes_of(matrix: Matrix) -> Q4:
    """The rotation of a matrix; of its negative where it mirrors, since that commutes with every rotation."""
    axes = matrix.to_3x3()
    if axes.determinant() < 0.0:
        axes = axes * -1.0
    w, x, y, z = axes.to_quaternion()
    return normalized((w, x, y, z))


def slerped(a: Q4, b: Q4, share: float) -> Q4:
    """The rotation a share of the way from one to another, the shorter way."""
    if share >= 1.0:
        return b
    found = Quaternion(a).slerp(Quaternion(b), share)
    w, x, y, z = found
    return normalized((w, x, y, z))
