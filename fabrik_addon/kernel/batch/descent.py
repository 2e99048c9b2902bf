# SPDX-License-Identifier: GPL-3.0-or-later
"""Damped least squares for many chains, as `least_squares.py` does for one; those that are done are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import REAL, Array, choose, conjugated, cross, dot, length, multiply, rotated, taken
from ..least_squares import (
    FIRST_DAMPING,
    HELD,
    LARGEST_TURN,
    LEAST_DAMPING,
    LITTLE,
    MOST_DAMPING,
    PROJECTIONS,
    ROBUST,
    STALLED,
    STIFFEST,
)
from .joints import Joints
from .pose import place

COMPACT_BELOW = 0.7  # share of live chains below which the others are left out
WIDE = np.float64  # the system of the tip is solved in double precision, as for one chain


@dataclass(slots=True)
class Standing:
    """Where descents stand: rotations (n, 4, B), points (n + 1, 3, B), frames (n, 4, B), errors (B,)."""

    rotations: Array
    points: Array
    frames: Array
    error: Array

    @classmethod
    def at(cls, joints: Joints, rotations: Array, target: Array) -> Standing:
        """Stand at the given allowed rotations."""
        points, frames = place(joints, rotations)
        return cls(rotations, points, frames, length(target - points[-1]))

    def take(self, index: Array) -> Standing:
        """Some of the chains."""
        return Standing(*(np.take(a, index, axis=-1) for a in self._arrays))

    def put(self, index: Array, other: Standing) -> None:
        """Write some of the chains."""
        for mine, others in zip(self._arrays, other._arrays, strict=True):
            mine[..., index] = others

    def better(self, mask: Array, other: Standing) -> Standing:
        """The other standing where the mask holds."""
        rotations, points, frames = (choose(mask, a, b) for a, b in zip(other._poses, self._poses, strict=True))
        return Standing(rotations, points, frames, np.where(mask, other.error, self.error))

    @property
    def _poses(self) -> tuple[Array, Array, Array]:
        return self.rotations, self.points, self.frames

    @property
    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        return *self._poses, self.error


def descend(
    joints: Joints, start: Standing, target: Array, enough: float, budget: Array | int
) -> tuple[Standing, Array]:
    """Bring the tips nearer to their targets; see `least_squares.descend`.

    Args:
        joints: Of B chains.
        start: Where they stand; written over.
        target: (3, B).
        enough: Error at which to stop.
        budget: Greatest number of steps, one for all or (B,).

    Returns:
        The best standing, and the steps used (B,).
    """
    count = target.shape[-1]
    budgets = np.broadcast_to(np.asarray(budget), (count,))
    at, now = np.arange(count), start
    damping, stalled, used = np.full(count, FIRST_DAMPING), np.zeros(count, np.int32), np.zeros(count, np.int32)
    while at.size:
        live = (used[at] < budgets[at]) & (now.error > enough) & (stalled[at] < STALLED) & (damping[at] <= MOST_DAMPING)
        alive = int(live.sum())
        if alive < COMPACT_BELOW * at.size:
            if now is not start:
                start.put(at, now)
            keep = np.flatnonzero(live)
            at, now, live = at[keep], now.take(keep), live[keep]
            if not alive:
                break
            joints_now, target_now = joints.take(at), taken(target, at)
        elif now is start:
            joints_now, target_now = joints, target
            now = start.take(at)
        used[at] += live
        rotations = stepped(joints_now, now, target_now, damping[at] + ROBUST * np.square(now.error))
        trial = Standing.at(joints_now, rotations, target_now)
        better = live & (trial.error < now.error)
        slow = trial.error > now.error * (1.0 - LITTLE)
        stalled[at] = np.where(better, np.where(slow, stalled[at] + 1, 0), stalled[at])
        lower = np.maximum(damping[at] * 0.2, LEAST_DAMPING)
        higher = np.maximum(damping[at], 1e-6) * 8.0
        damping[at] = np.where(better, lower, np.where(live, higher, damping[at]))
        now = now.better(better, trial)
    return start, used


def stepped(joints: Joints, now: Standing, target: Array, damping: Array) -> Array:
    """All rotations after one damped step."""
    turns = _turns(joints, now, target - now.points[-1], damping)
    largest = np.max([length(turn) for turn in turns], axis=0)
    scale = np.minimum(1.0, LARGEST_TURN / np.where(largest > 0.0, largest, 1.0))
    pairs = zip(joints.limits, now.rotations, turns, strict=True)
    return np.stack([limit.turned(rotation, turn * scale) for limit, rotation, turn in pairs])


def carried_to(joints: Joints) -> list[int]:
    """See `model.Chain.carried_to`."""
    ends = [len(joints.limits)] * len(joints.limits)
    for i in range(len(ends) - 2, -1, -1):
        ends[i] = ends[i + 1] if joints.inherits[i + 1] else i + 1
    return ends


def _turns(joints: Joints, now: Standing, error: Array, damping: Array) -> list[Array]:
    """Rotation vectors (3, B) of each joint in its rest frame, none of them against a limit."""
    ends = carried_to(joints)
    rests = [multiply(f, conjugated(r)) for f, r in zip(now.frames, now.rotations, strict=True)]
    levers = [now.points[end] - now.points[i] for i, end in enumerate(ends)]
    axes = [limit.axes(rotation) for limit, rotation in zip(joints.limits, now.rotations, strict=True)]
    weights = np.square(1.0 - STIFFEST * (1.0 - joints.readiness))
    turns: list[Array] = []
    for _ in range(PROJECTIONS):
        columns = [
            cross(rotated(rest, own), lever) if len(own) else own
            for rest, lever, own in zip(rests, levers, axes, strict=True)
        ]
        pull = _solve_damped(columns, weights, error, damping)
        turns, free = [], True
        for i, limit in enumerate(joints.limits):
            shares = dot(columns[i], pull) * weights[i]
            turn = (axes[i] * shares[:, None]).sum(axis=0) if len(axes[i]) else np.zeros_like(error)
            held = turn - limit.allowed(now.rotations[i], turn)
            holds = length(held) > HELD * length(turn)
            if holds.any():
                side = np.where(holds, held / np.where(holds, length(held), 1.0), 0.0)
                axes[i] = axes[i] - side * dot(axes[i], side)[:, None]
                free = False
            turns.append(turn)
        if free:
            break
    return turns


def _solve_damped(columns: list[Array], weights: Array, error: Array, damping: Array) -> Array:
    """(J W J^T + damping I)^-1 error for each chain, (3, B)."""
    xx, yy, zz = damping.copy(), damping.copy(), damping.copy()
    xy, xz, yz = np.zeros_like(damping), np.zeros_like(damping), np.zeros_like(damping)
    for own, weight in zip(columns, weights, strict=True):
        for one in own:
            x, y, z = one.astype(WIDE)
            wx, wy = weight * x, weight * y
            xx += wx * x
            xy += wx * y
            xz += wx * z
            yy += wy * y
            yz += wy * z
            zz += weight * z * z
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    determinant = xx * a + xy * b + xz * c
    ex, ey, ez = error
    pull = np.stack(
        (
            a * ex + b * ey + c * ez,
            b * ex + (xx * zz - xz * xz) * ey + (xy * xz - xx * yz) * ez,
            c * ex + (xy * xz - xx * yz) * ey + (xx * yy - xy * xy) * ez,
        )
    )
    return (pull / determinant).astype(REAL)
