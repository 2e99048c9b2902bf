# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations between directions: the from-to quaternion and its relatives."""

from __future__ import annotations

from math import atan2, cos, pi, sin

from mathutils import Quaternion, Vector

X_AXIS = Vector((1.0, 0.0, 0.0))
Y_AXIS = Vector((0.0, 1.0, 0.0))
Z_AXIS = Vector((0.0, 0.0, 1.0))
NEARLY_OPPOSITE = -0.9
EITHER_WAY = 0.02  # cosine of half a turn within which both ways are as good


def perpendicular(vector: Vector, axis: Vector) -> Vector:
    """The part of `vector` at right angles to the unit vector `axis`."""
    return vector - axis * vector.dot(axis)


def any_perpendicular(axis: Vector, preferred: Vector) -> Vector:
    """A unit vector at right angles to the unit vector `axis`: along `preferred` where that has such a part."""
    for candidate in (preferred, X_AXIS, Y_AXIS):
        part = perpendicular(candidate, axis)
        if part.length_squared > 1e-6 * candidate.length_squared > 0.0:
            # once more, so that rounding in a short remainder does not leave a part along the axis
            return perpendicular(part.normalized(), axis).normalized()
    return axis.orthogonal().normalized()


def from_to(start: Vector, end: Vector, half_turn_axis: Vector) -> Quaternion:
    """The smallest rotation that turns the direction of `start` onto that of `end`.

    Args:
        start: Direction, any length but zero.
        end: Direction, any length but zero.
        half_turn_axis: Axis about which to turn where the two are opposite and every axis would do.

    Returns:
        A unit quaternion; the identity where either vector has no length.
    """
    a, b = start.normalized(), end.normalized()
    if not a.length_squared or not b.length_squared:
        return Quaternion()
    if a.dot(b) > NEARLY_OPPOSITE:
        return a.rotation_difference(b)
    # Single precision can't tell the axis of a turn near half a circle: make the half turn about a known axis at
    # right angles to `end`, and reach it by the small, exact rest.
    turn = turn_about(_half_turn_axis(a, b, half_turn_axis), pi)
    rest = (turn @ a).rotation_difference(b)
    return rest @ turn


def _half_turn_axis(a: Vector, b: Vector, wanted: Vector) -> Vector:
    """The axis of the turn from `a` to nearly opposite `b`; `wanted` where they are opposite to the last digits."""
    normal = a.cross(b)
    if normal.length_squared > 1e-10:
        return any_perpendicular(a, normal)
    return any_perpendicular(a, wanted)


def angle_about(axis: Vector, start: Vector, end: Vector) -> float | None:
    """The angle about the unit vector `axis` from `start` to `end`, both seen along it, in (-pi, pi].

    Returns:
        None where one of them lies along the axis, so that the angle is undefined.
    """
    a, b = perpendicular(start, axis), perpendicular(end, axis)
    if a.length_squared <= 1e-12 * start.length_squared or b.length_squared <= 1e-12 * end.length_squared:
        return None
    return atan2(axis.dot(a.cross(b)), a.dot(b))


def turn_angle(rotation: Quaternion) -> float:
    """The angle of a unit quaternion in [0, pi]; exact for small turns, where `Quaternion.angle` is not."""
    return 2.0 * atan2(Vector(rotation[1:]).length, abs(rotation.w))


def turn_about(axis: Vector, angle: float) -> Quaternion:
    """The rotation by `angle` about a unit axis; `Quaternion(axis, angle)` wraps the angle and loses small ones."""
    return Quaternion((cos(0.5 * angle), *(axis * sin(0.5 * angle))))


def from_rotation_vector(vector: Vector) -> Quaternion:
    """The unit quaternion that turns by |vector| radians about `vector`."""
    angle = vector.length
    return turn_about(vector / angle, angle) if angle > 0.0 else Quaternion()


def rotation_vector(rotation: Quaternion) -> Vector:
    """The rotation vector of a unit quaternion, of length pi at most: the inverse of `from_rotation_vector`."""
    axis = Vector(rotation[1:]) * (1.0 if rotation.w >= 0.0 else -1.0)
    size = axis.length
    return axis * (2.0 * atan2(size, abs(rotation.w)) / size) if size > 0.0 else axis


def part_way(start: Quaternion, end: Quaternion, factor: float) -> Quaternion:
    """The rotation `factor` of the way from one rotation to another, the short way.

    Where both ways are as good as equally long, rounding does not choose: the way is that whose axis, in the frame of
    `start`, has its largest component positive.
    """
    between = start.conjugated() @ end
    axis = Vector(between[1:])
    told_by = max(axis, key=abs) if abs(between.w) < EITHER_WAY else between.w
    if told_by < 0.0:
        axis, between.w = -axis, -between.w
    size = axis.length
    if size <= 0.0:
        return start.copy()
    result = start @ turn_about(axis / size, 2.0 * atan2(size, between.w) * factor)
    result.normalize()
    return result
