# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors (x, y, z) and quaternions (w, x, y, z) as tuples of doubles, and buffers of them.

A buffer is flat: vector i stands at 3 i, quaternion i at 4 i. Nothing here raises; sizes are checked at the edge of the
kernel. Functions of numbers are limited to those that compiled and interpreted code compute to the same bits.
"""

from __future__ import annotations

from array import array
from math import atan2, cos, sin, sqrt

from . import cython
from .forms import Q4, V3, Doubles, Ints

PI = cython.declare(cython.double, 3.141592653589793)
TAU = cython.declare(cython.double, 6.283185307179586)
ORIGIN = cython.declare(V3, (0.0, 0.0, 0.0))
X_AXIS = cython.declare(V3, (1.0, 0.0, 0.0))
Y_AXIS = cython.declare(V3, (0.0, 1.0, 0.0))
Z_AXIS = cython.declare(V3, (0.0, 0.0, 1.0))
IDENTITY = cython.declare(Q4, (1.0, 0.0, 0.0, 0.0))
UNDEFINED = cython.declare(cython.double, 1e9)  # an angle that is none
NEARLY_OPPOSITE = cython.declare(cython.double, -0.9999999)  # cosine
ALONG_AXIS = cython.declare(cython.double, 1e-6)  # of a squared length: a smaller part beside an axis tells no side
NO_NORMAL = cython.declare(cython.double, 1e-20)  # square of the sine between directions that span no plane
NO_ANGLE = cython.declare(cython.double, 1e-12)  # of a squared length: a smaller part beside an axis tells no angle
EITHER_WAY = cython.declare(cython.double, 0.02)  # cosine of half a turn within which both ways are as good


def doubles(count: int) -> Doubles:
    """A buffer of zeros."""
    return array("d", bytes(8 * count))


def filled(count: int, value: float = 1.0) -> Doubles:
    """A buffer of one number again and again."""
    return array("d", [value]) * count


def integers(count: int) -> Ints:
    """A buffer of zeros."""
    return array("i", bytes(4 * count))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def clipped(value: cython.double, low: cython.double, high: cython.double) -> cython.double:
    """The number of a range that is nearest to a value."""
    if value < low:
        return low
    return high if value > high else value


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def larger(a: cython.double, b: cython.double) -> cython.double:
    return a if a > b else b


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def smaller(a: cython.double, b: cython.double) -> cython.double:
    return a if a < b else b


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def magnitude(a: cython.double) -> cython.double:
    """The absolute value."""
    return a if a >= 0.0 else -a


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def plus(a: V3, b: V3) -> V3:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def minus(a: V3, b: V3) -> V3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def scaled(a: V3, factor: cython.double) -> V3:
    return (a[0] * factor, a[1] * factor, a[2] * factor)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def dot(a: V3, b: V3) -> cython.double:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def cross(a: V3, b: V3) -> V3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def length(a: V3) -> cython.double:
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def apart(a: V3, b: V3) -> cython.double:
    """The distance between two points."""
    return length(minus(a, b))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def unit(a: V3) -> V3:
    """The vector at length 1; zero stays zero."""
    size: cython.double = length(a)
    return scaled(a, 1.0 / size) if size > 0.0 else a


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def perpendicular(a: V3, axis: V3) -> V3:
    """The part of a vector at right angles to a unit vector."""
    return minus(a, scaled(axis, dot(a, axis)))


@cython.cfunc
@cython.exceptval(check=False)
def any_perpendicular(axis: V3, preferred: V3) -> V3:
    """A unit vector at right angles to a unit vector: along `preferred` where that has such a part."""
    part: V3 = perpendicular(preferred, axis)
    size: cython.double = dot(preferred, preferred)
    if size > 0.0 and dot(part, part) > ALONG_AXIS * size:
        # once more, so that rounding in a short remainder does not leave a part along the axis
        return unit(perpendicular(unit(part), axis))
    part = perpendicular(X_AXIS, axis)
    if dot(part, part) <= ALONG_AXIS:
        part = perpendicular(Y_AXIS, axis)
    return unit(perpendicular(unit(part), axis))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def multiplied(a: Q4, b: Q4) -> Q4:
    """The rotation that first does `b`, then `a`."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def conjugated(a: Q4) -> Q4:
    return (a[0], -a[1], -a[2], -a[3])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def rotated(rotation: Q4, a: V3) -> V3:
    """A vector turned by a unit quaternion."""
    axis: V3 = (rotation[1], rotation[2], rotation[3])
    twice: V3 = scaled(cross(axis, a), 2.0)
    return plus(plus(a, scaled(twice, rotation[0])), cross(axis, twice))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def normalized(a: Q4) -> Q4:
    size: cython.double = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    if size <= 0.0:
        return IDENTITY
    factor: cython.double = 1.0 / size
    return (a[0] * factor, a[1] * factor, a[2] * factor, a[3] * factor)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def turn_about(axis: V3, angle: cython.double) -> Q4:
    """The rotation by an angle about a unit axis."""
    sine: cython.double = sin(0.5 * angle)
    return (cos(0.5 * angle), axis[0] * sine, axis[1] * sine, axis[2] * sine)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def from_rotation_vector(turn: V3) -> Q4:
    """The unit quaternion that turns by |turn| radians about `turn`."""
    angle: cython.double = length(turn)
    return turn_about(scaled(turn, 1.0 / angle), angle) if angle > 0.0 else IDENTITY


@cython.cfunc
@cython.exceptval(check=False)
def rotation_vector(rotation: Q4) -> V3:
    """The rotation vector of a unit quaternion, of length pi at most: the inverse of `from_rotation_vector`."""
    sign: cython.double = 1.0 if rotation[0] >= 0.0 else -1.0
    axis: V3 = (rotation[1] * sign, rotation[2] * sign, rotation[3] * sign)
    size: cython.double = length(axis)
    if size <= 0.0:
        return axis
    return scaled(axis, 2.0 * atan2(size, magnitude(rotation[0])) / size)


@cython.cfunc
@cython.exceptval(check=False)
def turn_angle(rotation: Q4) -> cython.double:
    """The angle of a unit quaternion in [0, pi]; exact for small turns."""
    return 2.0 * atan2(length((rotation[1], rotation[2], rotation[3])), magnitude(rotation[0]))


@cython.cfunc
@cython.exceptval(check=False)
def from_to(start: V3, end: V3, half_turn_axis: V3) -> Q4:
    """The smallest rotation that turns one direction onto another.

    Where the two are opposite, every axis would do: the turn is then about the part of `half_turn_axis` at right
    angles. The identity where either has no length.
    """
    size: cython.double = sqrt(dot(start, start) * dot(end, end))
    if size <= 0.0:
        return IDENTITY
    cosine: cython.double = dot(start, end)
    normal: V3 = cross(start, end)
    if cosine > NEARLY_OPPOSITE * size:
        return normalized((size + cosine, normal[0], normal[1], normal[2]))
    # digits are lost near half a turn: make it about a known axis, and reach the end by the small, exact rest
    a: V3 = unit(start)
    b: V3 = unit(end)
    normal = cross(a, b)
    axis: V3 = any_perpendicular(a, normal if dot(normal, normal) > NO_NORMAL else half_turn_axis)
    turn: Q4 = (0.0, axis[0], axis[1], axis[2])
    there: V3 = rotated(turn, a)
    normal = cross(there, b)
    return multiplied(normalized((1.0 + dot(there, b), normal[0], normal[1], normal[2])), turn)


@cython.cfunc
@cython.exceptval(check=False)
def angle_about(axis: V3, start: V3, end: V3) -> cython.double:
    """The angle about a unit axis from one vector to another, both seen along it, in (-pi, pi].

    UNDEFINED where one of them lies along the axis.
    """
    a: V3 = perpendicular(start, axis)
    b: V3 = perpendicular(end, axis)
    if dot(a, a) <= NO_ANGLE * dot(start, start) or dot(b, b) <= NO_ANGLE * dot(end, end):
        return UNDEFINED
    return atan2(dot(axis, cross(a, b)), dot(a, b))


@cython.cfunc
@cython.exceptval(check=False)
def way_between(start: Q4, end: Q4) -> Q4:
    """The angle of the turn from one rotation to another, the short way, and its axis in the frame of `start`.

    Where both ways are as good as equally long, rounding does not choose: the way is that whose axis has its largest
    component positive.
    """
    between: Q4 = multiplied(conjugated(start), end)
    axis: V3 = (between[1], between[2], between[3])
    cosine: cython.double = between[0]
    told_by: cython.double = cosine
    if magnitude(cosine) < EITHER_WAY:
        told_by = axis[0]
        if magnitude(axis[1]) > magnitude(told_by):
            told_by = axis[1]
        if magnitude(axis[2]) > magnitude(told_by):
            told_by = axis[2]
    if told_by < 0.0:
        axis = scaled(axis, -1.0)
        cosine = -cosine
    size: cython.double = length(axis)
    if size <= 0.0:
        return (0.0, 1.0, 0.0, 0.0)
    axis = scaled(axis, 1.0 / size)
    return (2.0 * atan2(size, cosine), axis[0], axis[1], axis[2])


@cython.cfunc
@cython.exceptval(check=False)
def part_way(start: Q4, end: Q4, factor: cython.double) -> Q4:
    """The rotation `factor` of the way from one rotation to another, the short way; see `way_between`."""
    way: Q4 = way_between(start, end)
    return normalized(multiplied(start, turn_about((way[1], way[2], way[3]), way[0] * factor)))


@cython.cfunc
@cython.inline
@cython.boundscheck(False)
@cython.exceptval(check=False)
def v3(buffer: Doubles, i: cython.Py_ssize_t) -> V3:
    return (buffer[3 * i], buffer[3 * i + 1], buffer[3 * i + 2])


@cython.cfunc
@cython.inline
@cython.boundscheck(False)
@cython.exceptval(check=False)
def put3(buffer: Doubles, i: cython.Py_ssize_t, a: V3) -> cython.void:
    buffer[3 * i] = a[0]
    buffer[3 * i + 1] = a[1]
    buffer[3 * i + 2] = a[2]


@cython.cfunc
@cython.inline
@cython.boundscheck(False)
@cython.exceptval(check=False)
def q4(buffer: Doubles, i: cython.Py_ssize_t) -> Q4:
    return (buffer[4 * i], buffer[4 * i + 1], buffer[4 * i + 2], buffer[4 * i + 3])


@cython.cfunc
@cython.inline
@cython.boundscheck(False)
@cython.exceptval(check=False)
def put4(buffer: Doubles, i: cython.Py_ssize_t, a: Q4) -> cython.void:
    buffer[4 * i] = a[0]
    buffer[4 * i + 1] = a[1]
    buffer[4 * i + 2] = a[2]
    buffer[4 * i + 3] = a[3]


@cython.cfunc
@cython.boundscheck(False)
@cython.exceptval(check=False)
def copy_into(target: Doubles, source: Doubles, count: cython.Py_ssize_t) -> cython.void:
    """Copy the first numbers of one buffer into another."""
    for i in range(count):
        target[i] = source[i]
