# SPDX-License-Identifier: GPL-3.0-or-later
"""The two passes of FABRIK (Aristidou & Lasenby 2011, Algorithm 1), without and with limits."""

from __future__ import annotations

from collections.abc import Sequence

from mathutils import Quaternion, Vector

from .model import Chain
from .orientation import rest_frame


def backward(joints: list[Vector], lengths: Sequence[float], target: Vector) -> None:
    """Tip to root, in place: the tip goes to the target, each joint follows at its bone's length."""
    joints[-1] = target.copy()
    for i in range(len(lengths) - 1, -1, -1):
        span = joints[i] - joints[i + 1]
        span.length = lengths[i]
        joints[i] = joints[i + 1] + span


def forward(joints: list[Vector], lengths: Sequence[float]) -> None:
    """Root to tip, in place: the root goes back to the origin, each joint follows at its bone's length."""
    joints[0] = Vector()
    for i, length in enumerate(lengths):
        span = joints[i + 1] - joints[i]
        span.length = length
        joints[i + 1] = joints[i] + span


def limited_forward(
    chain: Chain, rotations: Sequence[Quaternion], wanted: Sequence[Vector]
) -> tuple[list[Quaternion], list[Vector]]:
    """Root to tip with the joint frames carried along: each bone is aimed at the next wanted joint within its limit.

    Args:
        chain: n joints.
        rotations: n rotations from which the joints turn.
        wanted: n + 1 points, as the backward pass left them.

    Returns:
        n allowed rotations and the n + 1 joints that they give.
    """
    joints = [Vector()]
    frames: list[Quaternion] = []
    turned: list[Quaternion] = []
    for i, joint in enumerate(chain.joints):
        rest = rest_frame(chain, i, frames)
        direction = rest.conjugated() @ (wanted[i + 1] - joints[i])
        rotation = joint.limit.aim(rotations[i], joint.segment, direction)
        if joint.stiffness:
            rotation = joint.limit.blend(rotation, rotations[i], joint.stiffness)
        frame = rest @ rotation
        frame.normalize()
        turned.append(rotation)
        frames.append(frame)
        joints.append(joints[i] + frame @ joint.segment)
    return turned, joints
