# SPDX-License-Identifier: GPL-3.0-or-later
"""Many chains without limits, as `free.py` solves one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import (
    IDENTITY,
    X_COLUMN,
    Array,
    any_perpendicular,
    choose,
    cross,
    dot,
    from_to,
    length,
    rotated,
    spread,
    taken,
    unit,
)
from ..bend import ONE_WAY
from ..free import FABRIK_PASSES, ROUNDS, SETTLED
from ..model import Settings
from .descent import Standing, descend
from .group import Group, Start
from .joints import Joints
from .pose import backward, forward, orient
from .reach import curled, directions_of, fold_signs, from_directions, match


@dataclass(slots=True)
class Swung:
    """See `free.Swung`; `points` is (n + 1, 3, B)."""

    points: Array
    swing: Array
    along: Array
    bend: Array
    straight: Array


def swing_start(joints: Joints, start: Start, target: Array) -> Swung:
    """Turn the start poses towards their targets and find how they bend."""
    tip = start.points[-1]
    along = target
    if not (dot(along, along) > 0.0).all():
        for other in (tip, start.points[1], X_COLUMN):
            along = choose(dot(along, along) > 0.0, along, other)
    along = unit(along)
    swing = IDENTITY
    if all(joints.inherits):
        turns = length(tip) > 1e-6
        swing = choose(turns, from_to(tip, along, start.x_axis), IDENTITY)
    points = rotated(spread(swing, target.shape[-1]), start.points)
    axis = cross(along, rotated(swing, start.x_axis))
    side = choose(start.shows & ~start.straight, rotated(swing, start.offset), axis)
    straight = np.broadcast_to(start.straight, target.shape[-1:])
    return Swung(points, swing, along, any_perpendicular(along, side), straight)


def solve_free(group: Group, which: Array, target: Array, settings: Settings) -> tuple[Standing, Array]:
    """Reach for targets with chains that have no limits.

    Args:
        group: Chains of one structure.
        which: (B,), which of them is to reach for each target.
        target: (3, B), at length 1.
        settings: See `model.Settings`.

    Returns:
        Where the chains then stand, and passes (B,).
    """
    joints = group.joints.take(which)
    start = swing_start(joints, group.start.take(which), target)
    distance = length(target)
    inner, outer = joints.reach
    passes = np.ones(distance.shape, dtype=np.int32)
    far = distance >= outer
    near = ~far & (distance <= inner) & (inner > 0.0)
    points = start.points
    if len(joints.lengths) == 2:
        points = _two_bones(joints.lengths, distance, start)
    else:
        open_ones = np.flatnonzero(~far & ~near)
        if open_ones.size:
            some = joints.take(open_ones)
            points = points.copy()
            points[..., open_ones], passes[open_ones] = _iterate(
                some, taken(target, open_ones), settings, _some(start, open_ones)
            )
    along = np.broadcast_to(start.along, (len(joints.lengths), *start.along.shape))
    if far.any():
        points = choose(far, from_directions(joints.lengths, along), points)
    if near.any():
        signs = fold_signs(joints.lengths)[:, None]
        points = choose(near, from_directions(joints.lengths, along * signs), points)
    rotations = orient(joints, points, start.swing)
    now = Standing.at(joints, rotations, target)
    if not settings.plain:
        _finish(joints, now, target, settings, passes)
    return now, passes


def _some(start: Swung, index: Array) -> Swung:
    names = ("points", "swing", "along", "bend", "straight")
    return Swung(*(taken(getattr(start, name), index) for name in names))


def _finish(joints: Joints, now: Standing, target: Array, settings: Settings, passes: Array) -> None:
    """Least squares for what is within reach and still off; `now` and the passes are written."""
    distance = length(target)
    inner, outer = joints.reach
    off = (now.error > settings.tolerance) & (distance < outer)
    left = np.flatnonzero(off & ((distance > inner) | (inner == 0.0)))
    if left.size:
        aims = taken(target, left)
        finished, used = descend(joints.take(left), now.take(left), aims, SETTLED, settings.max_passes - passes[left])
        now.put(left, finished)
        passes[left] += used


def _two_bones(lengths: Array, distance: Array, start: Swung) -> Array:
    """By the law of cosines, see `closed_form.two_bones`."""
    first, second = lengths
    safe = np.where(distance > 0.0, distance, 1.0)
    foot = np.where(distance > 0.0, (first**2 - second**2 + safe**2) / (2.0 * safe), first)
    foot = np.minimum(np.maximum(foot, -first), first)
    middle = start.along * foot + start.bend * np.sqrt(np.maximum(first**2 - foot**2, 0.0))
    return np.stack((np.zeros_like(middle), middle, start.along * distance))


def _iterate(joints: Joints, target: Array, settings: Settings, start: Swung) -> tuple[Array, Array]:
    """FABRIK passes, each few followed by a reach match, until the tips are there."""
    lengths = joints.lengths
    if settings.plain:
        points = spread(start.points, target.shape[-1])
        return points, np.maximum(fabrik(points, lengths, target, settings.tolerance, settings.max_passes), 1)
    best = _one_way(joints, target, start)
    error = length(best[-1] - target)
    passes = np.zeros(error.shape, dtype=np.int32)
    points = best.copy() if (error > settings.tolerance).any() else best
    for _ in range(ROUNDS):
        left = np.flatnonzero((error > settings.tolerance) & (passes < settings.max_passes))
        if not left.size:
            break
        aims, sizes = taken(target, left), taken(lengths, left)
        moved = np.take(points, left, axis=-1)
        most = min(FABRIK_PASSES, settings.max_passes)
        passes[left] += fabrik(moved, sizes, aims, settings.tolerance, most)
        moved, used = match(sizes, moved, aims, taken(joints.reach, left), SETTLED)
        passes[left] += used
        points[..., left] = moved
        after = length(moved[-1] - aims)
        better = after < error[left]
        best[..., left[better]] = moved[..., better]
        error[left] = np.where(better, after, error[left])
    return best, np.maximum(passes, 1)


def fabrik(points: Array, lengths: Array, target: Array, tolerance: float, most: int) -> Array:
    """FABRIK's passes in place, for each chain until its tip is within the tolerance; their numbers (B,)."""
    used = np.zeros(target.shape[-1], dtype=np.int32)
    for _ in range(most):
        live = np.flatnonzero(length(points[-1] - target) > tolerance)
        if not live.size:
            break
        used[live] += 1
        if live.size == used.size:
            backward(points, lengths, target)
            forward(points, lengths)
            continue
        some, sizes = np.take(points, live, axis=-1), taken(lengths, live)
        backward(some, sizes, taken(target, live))
        forward(some, sizes)
        points[..., live] = some
    return used


def _one_way(joints: Joints, target: Array, start: Swung) -> Array:
    """Start poses, those that are straight or bend one way curled up or stretched; see `free._one_way`."""
    distance = length(target)
    points = spread(start.points, distance.size)
    one_way = start.straight | _bends_one_way(points, start.along, start.bend)
    stretches = one_way & ~start.straight & (length(points[-1]) < distance)
    for chosen in (one_way & ~stretches, stretches):
        at = np.flatnonzero(chosen)
        if not at.size:
            continue
        some = joints.take(at)
        here, aims = taken(points, at), taken(target, at)
        if chosen is stretches:
            points[..., at], _ = match(some.lengths, here, aims, some.reach, SETTLED)
            continue
        along, bend = taken(start.along, at), taken(start.bend, at)
        directions = choose(taken(start.straight, at), np.broadcast_to(along, here[1:].shape), directions_of(here))
        points[..., at] = curled(some.lengths, directions, taken(distance, at), along, bend)
    return points


def _bends_one_way(points: Array, along: Array, bend: Array) -> Array:
    normal = cross(bend, along)
    spans = directions_of(points)
    holds = np.ones(points.shape[-1], dtype=bool)
    for a, b in pairwise(spans):
        holds &= dot(cross(a, b), normal) >= -ONE_WAY
    return holds
