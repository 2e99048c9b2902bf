# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors and rotations of bones in double precision: tuples (x, y, z) and (w, x, y, z) of Python's floats.

Single precision begins where Blender's channels do. What Blender hands out, and mathutils, are sequences of as many
numbers and are taken as they are. Vectors come from `vectors.py`, which the layers below share.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, sin, sqrt
from typing import TypeAlias

from mathutils import Matrix, Quaternion

from ..vectors import V3, length

Q4: TypeAlias = tuple[float, float, float, float]
ULPS = 16 * 2.0**-23  # share of the largest coordinate below which single precision can't tell two places apart
Nine: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]  # a matrix, row by row

IDENTITY: Q4 = (1.0, 0.0, 0.0, 0.0)


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
