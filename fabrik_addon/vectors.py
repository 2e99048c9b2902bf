# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors in double precision: tuples (x, y, z) of Python's floats.

What Blender hands out, and mathutils, are sequences of as many numbers and are taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TypeAlias

V3: TypeAlias = tuple[float, float, float]

ORIGIN: V3 = (0.0, 0.0, 0.0)
X_AXIS: V3 = (1.0, 0.0, 0.0)
Y_AXIS: V3 = (0.0, 1.0, 0.0)
Z_AXIS: V3 = (0.0, 0.0, 1.0)
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
