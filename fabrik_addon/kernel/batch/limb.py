# SPDX-License-Identifier: GPL-3.0-or-later
"""Many limbs brought to the distance of their targets along their paths, as `limb.py` does with one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import REAL, Array, conjugated, cross, dot, length, multiply, rotated, turn_about
from ..limits.hinge import HingeBatch
from .joints import Joints
from .pose import place
from .reach import crossing


def matched(joints: Joints, path: Array, clamped: Array, target: Array, first: int) -> Array:
    """Rotations (n, 4, B) of limbs whose tips stand as far from joint `first` as their targets do, or nearly so.

    Args:
        joints: Of B chains of length 1.
        path: (3, n, 4, B) or (3, n, 4, 1), see `Group.path`.
        clamped: Start poses inside the limits, (n, 4, B) or (n, 4, 1).
        target: (3, B).
        first: Index of the first ball joint.
    """
    points, _ = place(joints, clamped)
    distance = length(target - points[first])
    reaches = [np.broadcast_to(_reach(joints, pose, first), distance.shape) for pose in path]
    longest, shortest = distance >= reaches[0], distance <= reaches[-1]
    early = distance >= reaches[1]
    behind = range(first + 1, len(joints.limits))
    starts, ends = np.where(early, path[0], path[1]), np.where(early, path[1], path[2])
    ways = [joints.limits[i].way(starts[i], ends[i]) for i in behind]

    def excess(share: Array) -> Array:
        share = share.astype(REAL)
        held = [starts[i] for i in range(first + 1)]
        return _reach(joints, [*held, *(way(share) for way in ways)], first) - distance

    open_ends = longest | shortest
    over = np.where(open_ends, 1.0, np.where(early, reaches[0], reaches[1]) - distance)
    under = np.where(open_ends, -1.0, np.where(early, reaches[1], reaches[2]) - distance)
    zero = np.zeros(distance.shape, dtype=REAL)
    share = crossing(excess, (zero, zero + REAL(1.0)), (over, under), ~open_ends).astype(REAL)
    pairs = zip(joints.limits, starts, ends, strict=True)
    found = np.stack([limit.way(start, end)(share) for limit, start, end in pairs])
    return np.where(longest, path[0], np.where(shortest, path[-1], found))


def _reach(joints: Joints, rotations: Sequence[Array] | Array, first: int) -> Array:
    """The distance of the tip from joint `first`, summed up from the tip; all joints behind inherit rotation."""
    arm = joints.segments[-1]
    for i in range(len(rotations) - 1, first, -1):
        arm = joints.segments[i - 1] + rotated(multiply(joints.rests[i], rotations[i]), arm)
    return length(arm)


def hinged(joints: Joints, distance: Array) -> tuple[Array, Array]:
    """The rotations (4, B) of the hinges that put the tips of limbs of two bones at a distance, and where they do.

    The formula is that of `closed_form.hinged_limb`.
    """
    hinge = joints.limits[1]
    assert isinstance(hinge, HingeBatch)
    to_root = rotated(conjugated(joints.rests[1]), -joints.segments[0])
    segment = rotated(hinge.zero, joints.segments[1])
    along_axis = hinge.axis * dot(segment, hinge.axis)
    across = segment - along_axis
    swept = cross(hinge.axis, across)
    c0 = dot(across, across) + dot(along_axis - to_root, along_axis - to_root)
    c1, c2 = -2.0 * dot(across, to_root), -2.0 * dot(swept, to_root)
    size = np.hypot(c1, c2)
    works = size > 1e-9 * c0
    size = np.where(works, size, 1.0)
    middle = np.arctan2(c2, c1)
    opening = np.arccos(np.clip((distance * distance - c0) / size, -1.0, 1.0))
    start = hinge.angle(joints.starts[1])
    found = [hinge.angle(multiply(turn_about(hinge.axis, middle + s * opening), hinge.zero)) for s in (1.0, -1.0)]
    low, high = hinge.angle_min, hinge.angle_max
    candidates = [np.minimum(np.maximum(angle, low), high) for angle in found]
    candidates += [np.broadcast_to(end, distance.shape) for end in (low, high)]
    angles = np.stack(np.broadcast_arrays(*candidates))
    reach = np.sqrt(np.maximum(c0 + size * np.cos(angles - middle), 0.0))
    miss = np.round(np.abs(reach - distance), 5)
    away = np.abs(angles - start)
    rank = np.where(miss <= miss.min(axis=0), away, np.inf)
    best = np.take_along_axis(angles, rank.argmin(axis=0)[None], axis=0)[0]
    return hinge.at(best), np.broadcast_to(works, distance.shape)
