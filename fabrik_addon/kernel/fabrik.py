# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK (Aristidou & Lasenby 2011, Algorithm 1): its two passes, without and with limits, and a record of passes."""

from __future__ import annotations

from typing import NamedTuple

from . import cython
from .figure import Figure, Pose
from .forms import Q4, V3, Doubles
from .limits.base import Limit
from .vectors import ORIGIN, conjugated, length, minus, plus, put3, put4, q4, rotated, scaled, v3


class Step(NamedTuple):
    """One recorded pass.

    Attributes:
        name: What was done: start, swing, backward, forward, descend, restart, end.
        joints: n + 1 points in solve space, relative to the root, for a figure of size 1.
    """

    name: str
    joints: tuple[V3, ...]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def follow(joint: V3, leader: V3, size: cython.double) -> V3:
    """Where a joint comes to that follows its neighbour at a bone's length."""
    span: V3 = minus(joint, leader)
    distance: cython.double = length(span)
    return plus(leader, scaled(span, size / distance)) if distance > 0.0 else leader


@cython.cfunc
@cython.exceptval(check=False)
def backward(joints: Doubles, lengths: Doubles, count: cython.int, target: V3) -> cython.void:
    """Tip to root, in place: the tip goes to the target, each joint follows at its bone's length."""
    put3(joints, count, target)
    for i in range(count - 1, -1, -1):
        put3(joints, i, follow(v3(joints, i), v3(joints, i + 1), lengths[i]))


@cython.cfunc
@cython.exceptval(check=False)
def forward(joints: Doubles, lengths: Doubles, count: cython.int) -> cython.void:
    """Root to tip, in place: the root goes back to where it belongs, each joint follows at its bone's length."""
    put3(joints, 0, ORIGIN)
    for i in range(count):
        put3(joints, i + 1, follow(v3(joints, i + 1), v3(joints, i), lengths[i]))


@cython.cfunc
def limited_forward(figure: Figure, pose: Pose, wanted: Doubles) -> cython.void:
    """Root to tip with the joint frames carried along: each bone is aimed at the next wanted joint within its limit.

    Args:
        figure: A chain of n joints.
        pose: Allowed rotations from which the joints turn; becomes the pose that they come to.
        wanted: n + 1 points, as the backward pass left them.
    """
    put3(pose.heads, 0, ORIGIN)
    for i in range(figure.count):
        limit: Limit = figure.limits[i]
        rest: Q4 = figure.rest_of(pose, i)
        head: V3 = v3(pose.heads, i)
        before: Q4 = q4(pose.rotations, i)
        segment: V3 = v3(figure.segments, i)
        direction: V3 = rotated(conjugated(rest), minus(v3(wanted, i + 1), head))
        rotation: Q4 = limit.aim(before, segment, direction)
        if figure.stiffness[i] > 0.0:
            rotation = limit.blend(rotation, before, figure.stiffness[i])
        put4(pose.rotations, i, rotation)
        figure.put_joint(pose, i, rest)
        put3(pose.heads, i + 1, v3(pose.ends, i))
