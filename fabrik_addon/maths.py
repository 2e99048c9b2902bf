# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors and rotations in double precision: one by one as tuples of Python's floats, and many at once as arrays.

A vector is (x, y, z), a rotation a unit quaternion (w, x, y, z). What Blender hands out, and mathutils, are sequences
of as many numbers and are taken as they are; single precision begins where Blender's channels do. Which numbers a solve
can use is told by `errors.py`, which the kernel shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import acos, atan2, cos, pi, sin, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mathutils import Matrix

V3: TypeAlias = tuple[float, float, float]
Q4: TypeAlias = tuple[float, float, float, float]
Nine: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]  # a matrix, row by row

Doubles: TypeAlias = NDArray[np.float64]  # for computing
Singles: TypeAlias = NDArray[np.float32]  # as Blender stores numbers
Ints: TypeAlias = NDArray[np.int32]
Places: TypeAlias = NDArray[np.intp]  # indices into other arrays
Bytes: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

ORIGIN: V3 = (0.0, 0.0, 0.0)
X_AXIS: V3 = (1.0, 0.0, 0.0)
Y_AXIS: V3 = (0.0, 1.0, 0.0)
Z_AXIS: V3 = (0.0, 0.0, 1.0)
FRONT: V3 = (0.0, -1.0, 0.0)  # where figures in Blender look at rest
IDENTITY: Q4 = (1.0, 0.0, 0.0, 0.0)
ALONG = 1e-6  # of a squared length: a smaller part beside an axis tells no direction
SHORTEST = 1e-12  # a vector below it has no direction
ASIDE_OF_X = 0.1  # sine of the angle to X, above which a direction and X span a plane
NEARLY_OPPOSITE = -0.999999  # cosine
NEARLY_ALIKE = 0.9999  # cosine of half the angle between rotations, from which a straight blend is exact enough
ULPS = 16 * 2.0**-23  # share of the largest coordinate below which single precision can't tell two places apart


# ---- numbers


def clipped(value: float, low: float, high: float) -> float:
    """The number of a range that is nearest to a value."""
    return min(max(value, low), high)


def eased(share: float) -> float:
    """0 to 1 with speed and acceleration zero at both ends: the quintic of least jerk (Flash & Hogan 1985)."""
    s = 0.0 if share < 0.0 else 1.0 if share > 1.0 else share
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


# ---- vectors


def v3(values: Sequence[float]) -> V3:
    """Three numbers as a vector."""
    x, y, z = values
    return x, y, z


def plus(a: Sequence[float], b: Sequence[float]) -> V3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Sequence[float], b: Sequence[float]) -> V3:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(a: Sequence[float], factor: float) -> V3:
    return a[0] * factor, a[1] * factor, a[2] * factor


def along(a: Sequence[float], direction: Sequence[float], way: float) -> V3:
    """The point that is so far from `a` in a direction."""
    return a[0] + direction[0] * way, a[1] + direction[1] * way, a[2] + direction[2] * way


def lerp(a: Sequence[float], b: Sequence[float], share: float) -> V3:
    """The point a share of the way from one to another."""
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share


def mean(points: Iterable[Sequence[float]]) -> V3:
    """The middle of points; the origin for none."""
    x = y = z = 0.0
    count = 0
    for point in points:
        x, y, z, count = x + point[0], y + point[1], z + point[2], count + 1
    share = 1.0 / max(1, count)
    return x * share, y * share, z * share


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Sequence[float], b: Sequence[float]) -> V3:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def length(a: Sequence[float]) -> float:
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return sqrt(x * x + y * y + z * z)


def unit(a: Sequence[float]) -> V3:
    """Made unit; zero where there is no length."""
    size = length(a)
    return scaled(a, 1.0 / size) if size > 0.0 else ORIGIN


def unit_or(a: Sequence[float], fallback: V3) -> V3:
    """The direction of a vector; another one where it is too short to have one."""
    size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    if size <= SHORTEST:
        return fallback
    factor = 1.0 / size
    return a[0] * factor, a[1] * factor, a[2] * factor


def perpendicular(vector: Sequence[float], axis: Sequence[float]) -> V3:
    """The part of a vector at right angles to a unit axis."""
    x, y, z = axis
    share = vector[0] * x + vector[1] * y + vector[2] * z
    return vector[0] - x * share, vector[1] - y * share, vector[2] - z * share


def any_perpendicular(axis: Sequence[float], preferred: Sequence[float]) -> V3:
    """A unit vector at right angles to a unit axis: along `preferred` where that has such a part."""
    for candidate in (preferred, X_AXIS, Y_AXIS):
        part = perpendicular(candidate, axis)
        if dot(part, part) > ALONG * dot(candidate, candidate) > 0.0:
            break
    return unit(part)


def angle_between(a: Sequence[float], b: Sequence[float]) -> float:
    """The angle between two unit vectors, in radians."""
    return acos(clipped(dot(a, b), -1.0, 1.0))


# ---- rotations


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
    """The inverse of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


def normalized(q: Sequence[float]) -> Q4:
    """Made unit; the identity where all numbers are zero."""
    w, x, y, z = q
    size = sqrt(w * w + x * x + y * y + z * z)
    return (w / size, x / size, y / size, z / size) if size > 0.0 else IDENTITY


def rotated(q: Sequence[float], v: Sequence[float]) -> V3:
    """A vector turned by a unit quaternion: the kernel's sums, to the last bit."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + (y * tz - z * ty),
        b + w * ty + (z * tx - x * tz),
        c + w * tz + (x * ty - y * tx),
    )


def turned(q: Sequence[float], v: Sequence[float]) -> V3:
    """A vector turned by a unit quaternion, summed from left to right: plans of walks keep their last bits by it."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


def placed(place: Sequence[float], q: Sequence[float], v: Sequence[float]) -> V3:
    """A point of a frame that stands at a place and is turned by a unit quaternion; summed as `turned` is."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        place[0] + (a + w * tx + y * tz - z * ty),
        place[1] + (b + w * ty + z * tx - x * tz),
        place[2] + (c + w * tz + x * ty - y * tx),
    )


def turn_about(axis: Sequence[float], angle: float) -> Q4:
    """The rotation by an angle about a unit axis, in radians."""
    sine = sin(0.5 * angle)
    return cos(0.5 * angle), axis[0] * sine, axis[1] * sine, axis[2] * sine


def turn_angle(q: Sequence[float]) -> float:
    """The angle of a unit quaternion, in [0, pi]."""
    return 2.0 * atan2(length(q[1:]), abs(q[0]))


def between(a: Sequence[float], b: Sequence[float]) -> Q4:
    """The shortest turn from one unit vector to another."""
    cosine = dot(a, b)
    if cosine < NEARLY_OPPOSITE:
        side = cross(a, X_AXIS)
        return turn_about(unit_or(side if length(side) > ASIDE_OF_X else cross(a, Z_AXIS), Z_AXIS), pi)
    axis = cross(a, b)
    return normalized((1.0 + cosine, axis[0], axis[1], axis[2]))


def slerp(a: Q4, b: Q4, share: float) -> Q4:
    """The rotation a share of the way from one to another: the shorter way, at an even pace."""
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if cosine < 0.0:
        b, cosine = (-b[0], -b[1], -b[2], -b[3]), -cosine
    first, second = 1.0 - share, share
    if cosine < NEARLY_ALIKE:
        angle = acos(cosine)
        first, second = sin(first * angle) / sin(angle), sin(second * angle) / sin(angle)
    return normalized(
        (
            first * a[0] + second * b[0],
            first * a[1] + second * b[1],
            first * a[2] + second * b[2],
            first * a[3] + second * b[3],
        )
    )


# ---- matrices


def nine(rows: Sequence[Sequence[float]]) -> Nine:
    """Three rows of three numbers as a matrix."""
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a, b, c, d, e, f, g, h, i


def applied(rows: Nine | Doubles, vector: Sequence[float] | Doubles) -> V3:
    """A matrix applied to a vector; or those in the columns of (9, F) to those in the columns of (3, F)."""
    a, b, c, d, e, f, g, h, i = rows
    x, y, z = vector
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


def matrix_of(rotation: Sequence[float] | Doubles) -> tuple[V3, V3, V3]:
    """The rows of the matrix of a unit quaternion; or of those in the columns of (4, F)."""
    w, x, y, z = rotation
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


def axes_of(matrix: Matrix) -> Q4:
    """The rotation of Blender's matrix; of its negative where it mirrors, since that commutes with every rotation."""
    axes = matrix.to_3x3()
    if axes.determinant() < 0.0:
        axes = axes * -1.0
    w, x, y, z = axes.to_quaternion()
    return normalized((w, x, y, z))


def even_size(rows: Nine, volume: float, off: float, skewed: float) -> float:
    """The scale of a matrix whose axes are scaled alike and not sheared, from its determinant; else 0.

    The last two are shares of the square of the scale by which those of the axes may differ, and their products be.
    """
    a, b, c, d, e, f, g, h, i = rows
    size = abs(volume) ** (1.0 / 3.0)
    square = size * size
    squares = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
    products = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
    is_even = max(max(squares) - square, square - min(squares)) <= off * square
    return size if is_even and max(map(abs, products)) <= skewed * square else 0.0


# ---- arrays: vectors (..., 3) and rotations (..., 4), w first
#
# Their names are plurals of those above, and so are their operations, in the same order: they give the same bits, but
# for the last of sines and arc tangents.


def rows_of(a: Doubles) -> list[Any]:
    """The rows of an array as vectors or quaternions."""
    return [*map(tuple, a.tolist())]


def lengths(a: Doubles) -> Doubles:
    """Lengths (...) of vectors (..., k)."""
    found: Doubles = np.sqrt(np.add.reduce(a * a, axis=-1))
    return found


def units(a: Doubles) -> Doubles:
    """Vectors or quaternions made unit; zero where there is no length."""
    size: Doubles = np.sqrt(np.add.reduce(a * a, axis=-1, keepdims=True))
    return np.divide(a, size, out=np.zeros_like(a), where=size > 0.0)


def eased_each(shares: Doubles) -> Doubles:
    """Many of `eased`."""
    s = np.clip(shares, 0.0, 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def slerps(a: Doubles, b: Doubles, shares: Doubles) -> Doubles:
    """Many of `slerp`: rotations (..., 4) shares (...) of the way to others, by the shorter way."""
    cosine = np.add.reduce(a * b, axis=-1)
    b, cosine = np.where(cosine < 0.0, -1.0, 1.0)[..., None] * b, np.minimum(np.abs(cosine), 1.0)
    angle = np.arccos(cosine)
    sine, is_far = np.sin(angle), cosine < NEARLY_ALIKE
    wide = np.where(is_far, sine, 1.0)
    first = np.where(is_far, np.sin((1.0 - shares) * angle) / wide, 1.0 - shares)
    second = np.where(is_far, np.sin(shares * angle) / wide, shares)
    return units(first[..., None] * a + second[..., None] * b)


def betweens(a: Doubles, b: Doubles) -> Doubles:
    """Many of `between`: the rotations (F, 4) that turn unit vectors (F, 3) onto others, by the shortest way."""
    cosine = dots(a, b)
    found = units(np.concatenate((1.0 + cosine[:, None], crosses(a, b)), axis=1))
    for index in np.flatnonzero(cosine < NEARLY_OPPOSITE).tolist():
        found[index] = between(a[index].tolist(), b[index].tolist())
    return found


def towards_each(a: Doubles, b: Doubles, shares: Doubles) -> Doubles:
    """(F, 4), rotations shares (F,) of the way to others that are not far."""
    near = b * np.where(np.add.reduce(a * b, axis=1) < 0.0, -1.0, 1.0)[:, None]
    return units(a + shares[..., None] * (near - a))


def products(p: Doubles, q: Doubles) -> Doubles:
    """The rotations that turn by q, then by p: many of `multiplied`."""
    pw, px, py, pz = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    qw, qx, qy, qz = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    found: Doubles = np.stack(
        (
            pw * qw - px * qx - py * qy - pz * qz,
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
        ),
        axis=-1,
    )
    return found


def conjugates(q: Doubles) -> Doubles:
    """The inverses of unit quaternions."""
    found: Doubles = q * np.array((1.0, -1.0, -1.0, -1.0))
    return found


def dots(a: Doubles, b: Doubles) -> Doubles:
    """Scalar products of vectors (..., 3), (...)."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


YZX, ZXY = np.array((1, 2, 0)), np.array((2, 0, 1))  # the next axis of each, and the one after


def crosses(a: Doubles, b: Doubles) -> Doubles:
    """Cross products of vectors (..., 3)."""
    found: Doubles = a.take(YZX, -1) * b.take(ZXY, -1) - a.take(ZXY, -1) * b.take(YZX, -1)
    return found


def rotated_each(q: Doubles, v: Doubles) -> Doubles:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    w, axis = q[..., :1], q[..., 1:]
    across = 2.0 * crosses(axis, v)
    return v + w * across + crosses(axis, across)


def turns_about(axis: Doubles, angle: Doubles) -> Doubles:
    """The rotations by angles (...) about unit axes (..., 3)."""
    half = 0.5 * angle
    sine = np.sin(half)[..., None] * axis
    return np.concatenate((np.broadcast_to(np.cos(half)[..., None], (*sine.shape[:-1], 1)), sine), axis=-1)


def turn_angles(q: Doubles) -> Doubles:
    """Angles (...) of unit quaternions, in [0, pi]."""
    found: Doubles = 2.0 * np.arctan2(lengths(q[..., 1:]), np.abs(q[..., 0]))
    return found


def vectors_of(turns: Doubles) -> Doubles:
    """(F, 3), axes times angles of rotations (F, 4), by the shorter way."""
    turns = turns * np.where(turns[:, :1] < 0.0, -1.0, 1.0)
    sines = lengths(turns[:, 1:])
    angles = 2.0 * np.arctan2(sines, turns[:, 0])
    found: Doubles = turns[:, 1:] * np.where(sines > 0.0, angles / np.where(sines > 0.0, sines, 1.0), 2.0)[:, None]
    return found


def turns_by(vectors: Doubles) -> Doubles:
    """(F, 4), the rotations of axes times angles (F, 3)."""
    angles = lengths(vectors)
    axes = vectors / np.where(angles > 0.0, angles, 1.0)[:, None]
    return turns_about(axes, angles)
