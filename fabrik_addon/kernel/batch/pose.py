# SPDX-License-Identifier: GPL-3.0-or-later
"""From rotations to joints and back, for many chains; see `orientation.py` and `passes.py`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import REAL, X_COLUMN, Array, choose, conjugated, from_to, length, multiply, rotated, unit
from .joints import Joints


def rest_frame(joints: Joints, index: int, frames: Sequence[Array]) -> Array:
    """Frame in which the rotations of joint `index` are given, (4, B)."""
    if not joints.inherits[index]:
        return joints.rests[index]
    return multiply(frames[index - 1] if index else joints.base, joints.rests[index])


def place(joints: Joints, rotations: Sequence[Array]) -> tuple[Array, Array]:
    """Forward kinematics of (n, 4, B) rotations: points (n + 1, 3, B) and frames (n, 4, B)."""
    frames: list[Array] = []
    points: list[Array] = [np.zeros((3, 1), dtype=REAL)]
    for i, rotation in enumerate(rotations):
        frame = unit(multiply(rest_frame(joints, i, frames), rotation))
        frames.append(frame)
        points.append(points[i] + rotated(frame, joints.segments[i]))
    points[0] = np.zeros_like(points[-1])
    return np.stack(points), np.stack(frames)


def orient(joints: Joints, points: Array, swing: Array) -> Array:
    """Rotations that put free chains onto solved points, as `orientation.orient` does."""
    rotations: list[Array] = []
    frames: list[Array] = []
    for i in range(len(joints.segments)):
        rest = rest_frame(joints, i, frames)
        back = conjugated(rest)
        start = joints.starts[i]
        if i == 0:
            start = multiply(back, multiply(swing, multiply(rest, start)))
        direction = rotated(back, points[i + 1] - points[i])
        turn = from_to(rotated(start, joints.segments[i]), direction, rotated(start, X_COLUMN))
        rotations.append(unit(multiply(turn, start)))
        frames.append(multiply(rest, rotations[i]))
    return np.stack(rotations)


def backward(points: Array, lengths: Array, target: Array) -> None:
    """Tip to root, in place; see `passes.backward`. Points (n + 1, 3, B), lengths (n, B) or (n, 1)."""
    points[-1] = target
    for i in range(len(lengths) - 1, -1, -1):
        span = points[i] - points[i + 1]
        span *= lengths[i] / np.maximum(length(span), 1e-12)
        np.add(points[i + 1], span, out=points[i])


def forward(points: Array, lengths: Array) -> None:
    """Root to tip, in place; see `passes.forward`."""
    points[0] = 0.0
    for i, size in enumerate(lengths):
        span = points[i + 1] - points[i]
        span *= size / np.maximum(length(span), 1e-12)
        np.add(points[i], span, out=points[i + 1])


def limited_forward(joints: Joints, rotations: Array, wanted: Array) -> Array:
    """Root to tip with the frames carried along, each bone aimed at the next wanted joint within its limit."""
    frames: list[Array] = []
    turned: list[Array] = []
    point = np.zeros((3, 1), dtype=REAL)
    for i, limit in enumerate(joints.limits):
        rest = rest_frame(joints, i, frames)
        direction = rotated(conjugated(rest), wanted[i + 1] - point)
        rotation = limit.aim(rotations[i], joints.segments[i], direction)
        if joints.is_stiff:
            rotation = limit.way(rotation, rotations[i])(1.0 - joints.readiness[i])
        frame = unit(multiply(rest, rotation))
        turned.append(rotation)
        frames.append(frame)
        point = point + rotated(frame, joints.segments[i])
    return np.stack(turned)


def swung(joints: Joints, rotations: Array, target: Array, first: int, carried_to: int) -> Array:
    """The rotations with joint `first` turned to bring the tip towards the target, as `limited.swung` does."""
    if first >= len(rotations):
        return rotations
    points, frames = place(joints, rotations)
    rest = multiply(frames[first], conjugated(rotations[first]))
    lever = points[carried_to] - points[first]
    wanted = lever + target - points[-1]
    turned = rotations.copy()
    segment = rotated(conjugated(frames[first]), lever)
    aimed = joints.limits[first].aim(rotations[first], segment, rotated(conjugated(rest), wanted))
    tells = (length(lever) >= 1e-6) & (length(wanted) >= 1e-6)
    turned[first] = choose(tells, aimed, rotations[first])
    return turned
