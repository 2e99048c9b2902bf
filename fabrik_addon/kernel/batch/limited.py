# SPDX-License-Identifier: GPL-3.0-or-later
"""Many chains with limits, as `limited.py` solves one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array, length, spread, taken
from ..closed_form import is_hinged_limb
from ..limited import APART, FABRIK_PASSES, RESTARTS, SETTLED, STRAIGHTEST
from ..model import Settings
from .descent import Standing, carried_to, descend
from .group import Group
from .joints import Joints
from .limb import hinged, matched
from .pose import backward, limited_forward, place, swung
from .reach import curled


def solve_limited(group: Group, which: Array, target: Array, settings: Settings) -> tuple[Standing, Array]:
    """Reach for targets with chains that have limits.

    Args:
        group: Chains of one structure.
        which: (B,), which of them is to reach for each target.
        target: (3, B), at length 1.
        settings: See `model.Settings`.

    Returns:
        Where the chains then stand, their rotations allowed, and passes (B,).
    """
    joints = group.joints.take(which)
    target = _within_reach(joints, target)
    count = target.shape[-1]
    if is_hinged_limb(group.example) and not settings.plain:
        rotation, works = hinged(joints, length(target))
        if works.all():
            start = np.stack((spread(joints.starts[0], count), spread(rotation, count)))
            rotations = swung(joints, start, target, 0, carried_to(joints)[0])
            return Standing.at(joints, rotations, target), np.ones(count, dtype=np.int32)
    return _searched(group, which, joints, target, settings)


def _searched(group: Group, which: Array, joints: Joints, target: Array, settings: Settings) -> tuple[Standing, Array]:
    ends = carried_to(joints)
    first = group.example.first_moving
    clamped = taken(group.clamped, which)
    passes = np.ones(target.shape[-1], dtype=np.int32)
    if settings.plain:
        rotations, passes = spread(clamped, passes.size), passes - 1
    elif group.example.first_ball is None:
        rotations = _bent(group, which, joints, spread(clamped, passes.size), target)
    else:
        first = group.example.first_ball
        rotations = matched(joints, taken(group.path, which), clamped, target, first)
    if first < len(ends):
        rotations = swung(joints, rotations, target, first, ends[first])
    now = Standing.at(joints, rotations, target)
    now, used = _fabrik(joints, now, target, settings, group.example.first_moving)
    passes += used
    if settings.plain:
        return now, passes
    budget = settings.max_passes - passes
    now, used = descend(joints, now, target, SETTLED, budget // 4 if joints.is_stiff else budget)
    passes += used
    if joints.is_stiff:
        left = np.flatnonzero(now.error > settings.tolerance)
        joints = replace(joints, readiness=np.ones_like(joints.readiness))
        if left.size:
            relaxed, used = descend(
                joints.take(left), now.take(left), taken(target, left), SETTLED, settings.max_passes - passes[left]
            )
            now.put(left, relaxed)
            passes[left] += used
    _restarts(group, which, joints, now, (target, passes), settings)
    return now, passes


def _within_reach(joints: Joints, target: Array) -> Array:
    distance = length(target)
    inner, outer = joints.reach
    outside = ((distance < inner) | (distance > outer)) & (distance > 0.0)
    scale = np.minimum(np.maximum(distance, inner), outer) / np.where(distance > 0.0, distance, 1.0)
    return target * np.where(outside, scale, 1.0)


def _bent(group: Group, which: Array, joints: Joints, rotations: Array, target: Array) -> Array:
    """Straight start poses bent by equal turns as far as their limits let them; see `limb.bent`."""
    straight, along, side = (taken(a, which) for a in group.laid)
    at = np.flatnonzero(np.broadcast_to(straight, target.shape[-1:]))
    if not at.size:
        return rotations
    some = joints.take(at)
    along, side = (spread(a, target.shape[-1])[..., at] for a in (along, side))
    directions = np.broadcast_to(along, (len(some.lengths), *along.shape))
    distance = np.minimum(length(target)[at], STRAIGHTEST)
    curve = curled(some.lengths, directions, distance, along, side)
    rotations[..., at] = limited_forward(some, taken(rotations, at), curve)
    return rotations


def _fabrik(joints: Joints, start: Standing, target: Array, settings: Settings, first: int) -> tuple[Standing, Array]:
    """The passes of FABRIK with limits, for each chain while they gain; the best standing is kept."""
    most = settings.max_passes if settings.plain else min(FABRIK_PASSES, settings.max_passes)
    used = np.zeros(target.shape[-1], dtype=np.int32)
    best = start
    at = np.flatnonzero(best.error > settings.tolerance)
    now = best.take(at)
    end = carried_to(joints)[first] if first < len(joints.limits) else 0
    for _ in range(most):
        if not at.size:
            break
        used[at] += 1
        some, aims = joints.take(at), taken(target, at)
        wanted = now.points.copy()
        backward(wanted, some.lengths, aims)
        rotations = swung(some, limited_forward(some, now.rotations, wanted), aims, first, end)
        now = Standing.at(some, rotations, aims)
        better = now.error < best.error[at]
        best.put(at[better], now.take(np.flatnonzero(better)))
        goes_on = best.error[at] > settings.tolerance
        goes_on &= better | settings.plain
        keep = np.flatnonzero(goes_on)
        at, now = at[keep], now.take(keep)
    return best, used


def _restarts(
    group: Group, which: Array, joints: Joints, best: Standing, aims: tuple[Array, Array], settings: Settings
) -> None:
    """Least squares from the 8 nearest of many poses drawn inside the limits; `best` and the passes are written."""
    target, passes = aims
    left = np.flatnonzero(best.error > settings.tolerance)
    if not left.size or group.example.first_moving == len(joints.limits):
        return
    poses, owners = [], []
    for i in left:
        found = _screened(group, int(which[i]) if group.sizes.size > 1 else 0, target[:, i : i + 1])
        poses.append(found)
        owners += [i] * found.shape[-1]
    owner = np.array(owners)
    some, wanted = joints.take(owner), np.take(target, owner, axis=-1)
    shares = (settings.max_passes - passes[owner]) // RESTARTS
    trial, used = descend(some, Standing.at(some, np.concatenate(poses, axis=-1), wanted), wanted, SETTLED, shares)
    for k, i in enumerate(owner):
        if best.error[i] <= settings.tolerance:
            continue
        passes[i] += used[k]
        if trial.error[k] < best.error[i] * 0.999:
            best.put(np.array([i]), trial.take(np.array([k])))


def _screened(group: Group, which: int, target: Array) -> Array:
    """Up to 8 drawn poses of one chain, those nearest to the target that stand apart; (n, 4, 8)."""
    joints = group.joints.take(np.array([which]))
    first = group.example.first_moving
    drawn = group.drawn(which)
    aims = spread(target, drawn.shape[-1])
    poses = swung(joints, drawn, aims, first, carried_to(joints)[first])
    points, _ = place(joints, poses)
    order = np.argsort(length(aims - points[-1]), kind="stable")
    near = np.zeros(order.size, dtype=bool)
    chosen: list[int] = []
    for k in order:
        if not near[k]:
            chosen.append(int(k))
            near |= length(points - points[..., k : k + 1]).max(axis=0) <= APART
        if len(chosen) == RESTARTS:
            break
    return poses[..., chosen]
