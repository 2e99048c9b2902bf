# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors and rotations of many chains at once: numpy arrays with the chain as their last axis.

Vectors have shape (..., 3, B) and quaternions (..., 4, B), w first; scalars (..., B). An axis of length 1 stands for
all B. The functions are those of `rotations.py`, with the same answers.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .rotations import EITHER_WAY, NEARLY_OPPOSITE

Array: TypeAlias = np.ndarray[Any, Any]
REAL = np.float32
TINY = 1e-30


def column(values: Any) -> Array:
    """A vector or quaternion of one chain as an array of shape (k, 1)."""
    return np.array(values, dtype=REAL)[:, None]


X_COLUMN, Y_COLUMN, Z_COLUMN = column((1, 0, 0)), column((0, 1, 0)), column((0, 0, 1))
IDENTITY = column((1, 0, 0, 0))


def dot(a: Array, b: Array) -> Array:
    return np.add.reduce(a * b, axis=-2)


def length(a: Array) -> Array:
    return np.sqrt(np.add.reduce(a * a, axis=-2))


def unit(a: Array) -> Array:
    """Made unit; zero where there is no length."""
    return a / np.maximum(length(a), TINY)[..., None, :]


def cross(a: Array, b: Array) -> Array:
    ax, ay, az = a[..., 0, :], a[..., 1, :], a[..., 2, :]
    bx, by, bz = b[..., 0, :], b[..., 1, :], b[..., 2, :]
    first = ay * bz
    out = np.empty((*first.shape[:-1], 3, first.shape[-1]), first.dtype)
    np.subtract(first, az * by, out=out[..., 0, :])
    np.subtract(az * bx, ax * bz, out=out[..., 1, :])
    np.subtract(ax * by, ay * bx, out=out[..., 2, :])
    return out


def choose(mask: Array, a: Array, b: Array) -> Array:
    """Vectors or quaternions of `a` where the mask holds, else of `b`."""
    return np.where(mask[..., None, :], a, b)


def multiply(p: Array, q: Array) -> Array:
    """The rotation that turns by q, then by p."""
    pw, px, py, pz = p[0], p[1], p[2], p[3]
    qw, qx, qy, qz = q[0], q[1], q[2], q[3]
    part = pw * qw
    out = np.empty((4, *part.shape), part.dtype)
    part -= px * qx
    part -= py * qy
    np.subtract(part, pz * qz, out=out[0])
    part = pw * qx
    part += px * qw
    part += py * qz
    np.subtract(part, pz * qy, out=out[1])
    part = pw * qy
    part -= px * qz
    part += py * qw
    np.add(part, pz * qx, out=out[2])
    part = pw * qz
    part += px * qy
    part -= py * qx
    np.add(part, pz * qw, out=out[3])
    return out


def conjugated(q: Array) -> Array:
    return np.concatenate((q[:1], -q[1:]))


def rotated(q: Array, v: Array) -> Array:
    """Vectors (..., 3, B) turned by unit quaternions (4, B)."""
    u = q[1:]
    twice = cross(u, v)
    twice += twice
    return v + q[0] * twice + cross(u, twice)


def perpendicular(vector: Array, axis: Array) -> Array:
    return vector - axis * dot(vector, axis)[..., None, :]


def any_perpendicular(axis: Array, preferred: Array) -> Array:
    """A unit vector at right angles to the unit vector `axis`: along `preferred` where that has such a part."""
    result = perpendicular(preferred, axis)
    square, whole = dot(result, result), dot(preferred, preferred)
    bad = ~((square > 1e-6 * whole) & (whole > 0.0))
    if bad.any():
        for other in (X_COLUMN, Y_COLUMN):
            part = perpendicular(other, axis)
            fits = bad & (dot(part, part) > 1e-6)
            result = choose(fits, part, result)
            bad = bad & ~fits
    return unit(perpendicular(unit(result), axis))


def from_to(start: Array, end: Array, half_turn_axis: Array) -> Array:
    """The smallest rotation that turns one direction onto another, (4, B); see `rotations.from_to`."""
    a, b = unit(start), unit(end)
    cosine = dot(a, b)
    result = np.concatenate(((1.0 + cosine)[None], cross(a, b)))
    result = unit(result)
    over = cosine <= NEARLY_OPPOSITE
    if over.any():
        at = np.flatnonzero(over)
        result[:, at] = _turned_over(taken(a, at), taken(b, at), taken(half_turn_axis, at))
    lost = ~(dot(a, a) * dot(b, b) > 0.0)
    if lost.any():
        result[:, np.flatnonzero(lost)] = IDENTITY
    return result


def _turned_over(a: Array, b: Array, wanted: Array) -> Array:
    normal = cross(a, b)
    axis = any_perpendicular(a, choose(dot(normal, normal) > 1e-10, normal, wanted))
    turn = np.concatenate((np.zeros_like(axis[:1]), axis))
    half_way = rotated(turn, a)
    rest = unit(np.concatenate(((1.0 + dot(half_way, b))[None], cross(half_way, b))))
    return multiply(rest, turn)


def angle_about(axis: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """The angle about unit axes from one vector to another, and where it is defined."""
    a, b = perpendicular(start, axis), perpendicular(end, axis)
    defined = (dot(a, a) > 1e-12 * dot(start, start)) & (dot(b, b) > 1e-12 * dot(end, end))
    return np.arctan2(dot(axis, cross(a, b)), dot(a, b)), defined


def turn_angle(rotation: Array) -> Array:
    return 2.0 * np.arctan2(length(rotation[1:]), np.abs(rotation[0]))


def turn_about(axis: Array, angle: Array) -> Array:
    half = np.asarray(0.5 * angle, dtype=REAL)
    vector = axis * np.sin(half)
    return np.concatenate((np.broadcast_to(np.cos(half), vector.shape[1:])[None], vector))


def from_rotation_vector(vector: Array) -> Array:
    angle = length(vector)
    return turn_about(vector / np.maximum(angle, TINY), angle)


def part_way(start: Array, end: Array, factor: Array) -> Array:
    """The rotation `factor` of the way from one rotation to another; see `rotations.part_way`."""
    between = multiply(conjugated(start), end)
    largest = np.take_along_axis(between[1:], np.abs(between[1:]).argmax(axis=0)[None], axis=0)[0]
    back = np.where(np.abs(between[0]) < EITHER_WAY, largest < 0.0, between[0] < 0.0)
    between = np.where(back, -between, between)
    size = length(between[1:])
    axis = between[1:] / np.maximum(size, TINY)
    return unit(multiply(start, turn_about(axis, 2.0 * np.arctan2(size, between[0]) * factor)))


def taken(a: Array, index: Array) -> Array:
    """The columns of some chains; an array that stands for all of them stays as it is."""
    return a if a.shape[-1] == 1 else np.take(a, index, axis=-1)


def spread(a: Array, count: int) -> Array:
    """An array of its own with a column for each chain."""
    return np.array(np.broadcast_to(a, (*a.shape[:-1], count)))
