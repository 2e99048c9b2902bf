# SPDX-License-Identifier: GPL-3.0-or-later
"""To which side a chain bends, and to which side a straight one is to be bent."""

from __future__ import annotations

from .. import cython
from ..figure import Figure
from ..forms import V3, Doubles
from ..limits.base import Limit
from ..pose import Pose
from ..vectors import (
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    any_perpendicular,
    conjugated,
    cross,
    dot,
    length,
    minus,
    perpendicular,
    plus,
    q4,
    rotated,
    unit,
    v3,
)

ONE_WAY = cython.declare(cython.double, 1e-4)  # turn back, in radians, that still counts as none
STRAIGHT_WITHIN = cython.declare(cython.double, 1e-3)  # distance of a joint from the chord that counts as none


@cython.cfunc
@cython.exceptval(check=False)
def is_straight(joints: Doubles, count: cython.int) -> cython.bint:
    """True where every joint of a chain of size 1 lies on one line through its root."""
    i: cython.int
    far: V3 = ORIGIN
    for i in range(1, count + 1):
        if dot(v3(joints, i), v3(joints, i)) > dot(far, far):
            far = v3(joints, i)
    chord: V3 = unit(far)
    for i in range(1, count + 1):
        if length(perpendicular(v3(joints, i), chord)) > STRAIGHT_WITHIN:
            return False
    return True


@cython.cfunc
@cython.exceptval(check=False)
def bend_direction(joints: Doubles, first: cython.int, count: cython.int) -> V3:
    """The side on which the joints behind `first` stand: unit vector at right angles to the line from it to the tip.

    It is the mean offset of the joints from the line; zero for a chain that is straight, closed, or as much on one
    side as on the other.
    """
    i: cython.int
    root: V3 = v3(joints, first)
    chord: V3 = unit(minus(v3(joints, count), root))
    if dot(chord, chord) == 0.0:
        return ORIGIN
    mean: V3 = ORIGIN
    for i in range(first + 1, count):
        mean = plus(mean, perpendicular(minus(v3(joints, i), root), chord))
    if length(mean) <= 0.5 * STRAIGHT_WITHIN:
        return ORIGIN
    return unit(perpendicular(unit(mean), chord))


@cython.cfunc
@cython.exceptval(check=False)
def bends_one_way(joints: Doubles, count: cython.int, along: V3, bend: V3) -> cython.bint:
    """True where every joint turns to the same side, that of `bend`, or not at all."""
    i: cython.int
    normal: V3 = cross(bend, along)
    before: V3 = unit(minus(v3(joints, 1), v3(joints, 0)))
    for i in range(1, count):
        span: V3 = unit(minus(v3(joints, i + 1), v3(joints, i)))
        if dot(cross(before, span), normal) < -ONE_WAY:
            return False
        before = span
    return True


@cython.cfunc
def preferred_axis(figure: Figure, pose: Pose, first_moving: cython.int) -> V3:
    """The axis, in solve space, about which a straight chain bends when nothing else tells.

    The first inner joint whose limit names an axis decides; else it is the X axis of the first moving bone.
    """
    i: cython.int
    limit: Limit
    for i in range(1, figure.count):
        limit = figure.limits[i]
        axis: V3 = limit.prefer(q4(pose.rotations, i))
        if dot(axis, axis) > 0.0:
            return rotated(q4(pose.rests, i), axis)
    return rotated(q4(pose.frames, first_moving if first_moving < figure.count else figure.count - 1), X_AXIS)


@cython.cfunc
def preferred_bend(figure: Figure, pose: Pose, first_moving: cython.int, along: V3) -> V3:
    """The side to which a straight chain bends by a positive turn about its `preferred_axis`."""
    return any_perpendicular(along, cross(along, preferred_axis(figure, pose, first_moving)))


@cython.cfunc
def carried_normal(figure: Figure, reference: Pose, first: cython.int, first_moving: cython.int) -> V3:
    """The normal of the bend of a reference pose, in the frame of joint `first`.

    Carried along by that frame it tells the side to which a solved pose bends. It stays where it is however far the
    chain bends in its plane or stretches out, while the joints' own offsets change sides where knee and ankle bend
    against each other, and vanish at full stretch.
    """
    count: cython.int = figure.count
    along: V3 = unit(minus(v3(reference.heads, count), v3(reference.heads, first)))
    if dot(along, along) == 0.0:
        along = Y_AXIS
    bend: V3 = bend_direction(reference.heads, first, count)
    if dot(bend, bend) == 0.0:
        bend = preferred_bend(figure, reference, first_moving, along)
    return rotated(conjugated(q4(reference.frames, first)), cross(bend, along))


@cython.cfunc
@cython.exceptval(check=False)
def carried_bend(pose: Pose, count: cython.int, first: cython.int, normal: V3) -> V3:
    """The side to which a solved pose bends, from the normal that the frame of joint `first` carries.

    A unit vector at right angles to the line from joint `first` to the tip.
    """
    now: V3 = unit(minus(v3(pose.heads, count), v3(pose.heads, first)))
    return any_perpendicular(now, cross(now, rotated(q4(pose.frames, first), normal)))
