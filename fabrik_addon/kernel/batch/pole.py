# SPDX-License-Identifier: GPL-3.0-or-later
"""Many chains turned to their poles, as `pole.py` turns one."""

from __future__ import annotations

from math import pi

import numpy as np

from ..arrays import (
    Array,
    angle_about,
    any_perpendicular,
    conjugated,
    cross,
    length,
    multiply,
    perpendicular,
    rotated,
    taken,
    turn_about,
    unit,
)
from ..limits.batch import LimitBatch
from ..limits.free import FreeBatch
from ..pole import ALLOWED, BISECTIONS, NEAR_AXIS, TURN_STEPS
from .descent import Standing
from .group import Group


def turned_to_poles(group: Group, which: Array, now: Standing, poles: tuple[Array, Array]) -> tuple[Array, Array]:
    """Turn solved chains of length 1 towards their poles, the tips staying where they are.

    Args:
        group: Chains of one structure.
        which: (B,), which of them each column is.
        now: Where the chains stand.
        poles: Points (3, B), a column of NaN where there is no pole, and angles (B,).

    Returns:
        Rotations (n, 4, B), and the angles by which the bends are still off, (B,) in [0, pi].
    """
    joints, rotations = group.joints.take(which), now.rotations
    pole, pole_angle = poles
    error = np.zeros(rotations.shape[-1], dtype=rotations.dtype)
    if len(rotations) < 2:
        return rotations, error
    first, turns = group.turning
    points, frames = now.points, now.frames
    span = points[-1] - points[first]
    tells = (length(span) >= NEAR_AXIS) & ~np.isnan(pole[0])
    along = unit(span)
    normal = rotated(frames[first], taken(group.normals, which))
    side = any_perpendicular(along, cross(along, normal))
    to_pole = np.where(tells, pole - points[first], side)
    wanted, defined = angle_about(along, side, _pole_side(to_pole, along, side, pole_angle))
    wanted = np.where(tells & defined, wanted, 0.0).astype(rotations.dtype)
    if not turns:
        return rotations, np.abs(wanted)
    rest = multiply(frames[first], conjugated(rotations[first]))
    turn = _allowed_turns(joints.limits[first], (rest, frames[first]), along, wanted)
    turning = turn_about(along, turn)
    turned = rotations.copy()
    for i in range(first, len(rotations)):
        if i > first and joints.inherits[i]:
            continue
        rest = multiply(frames[i], conjugated(rotations[i]))
        turned[i] = unit(multiply(conjugated(rest), multiply(turning, frames[i])))
    return turned, np.abs(wanted - turn)


def _pole_side(to_pole: Array, along: Array, kept: Array, angle: Array) -> Array:
    """See `pole.pole_side`."""
    side = perpendicular(to_pole, along)
    fade = np.maximum(NEAR_AXIS - length(side), 0.0)
    side = rotated(turn_about(along, angle), side + kept * fade)
    return unit(perpendicular(unit(side), along))


def _allowed_turns(limit: LimitBatch, pose: tuple[Array, Array], along: Array, wanted: Array) -> Array:
    """The turns that the limits let through and that are nearest to the wanted ones; see `pole._allowed_turn`."""
    if isinstance(limit, FreeBatch):
        return wanted
    rest, frame = pose
    back = conjugated(rest)

    def holds(turn: Array) -> Array:
        turned = multiply(back, multiply(turn_about(along, turn), frame))
        result: Array = limit.violation(unit(turned)) <= ALLOWED
        return result

    found = holds(wanted)
    held, out = wanted.copy(), wanted.copy()
    for k in range(1, TURN_STEPS + 1):
        for sign in (-1.0, 1.0):
            if found.all():
                break
            way = np.where(wanted > 0.0, sign, -sign)
            trial = wanted + way * (pi * k / TURN_STEPS)
            fresh = ~found & holds(trial)
            held = np.where(fresh, trial, held)
            out = np.where(fresh, wanted + way * (pi * (k - 1) / TURN_STEPS), out)
            found |= fresh
    if (held != out).any():
        for _ in range(BISECTIONS):
            middle = 0.5 * (held + out)
            inside = holds(middle)
            held, out = np.where(inside, middle, held), np.where(inside, out, middle)
    return np.where(found, held, 0.0)
