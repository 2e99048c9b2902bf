# SPDX-License-Identifier: GPL-3.0-or-later
"""From rotations to joints (forward kinematics) and from joints to rotations."""

from __future__ import annotations

from collections.abc import Sequence

from mathutils import Quaternion, Vector

from .model import Chain
from .rotations import X_AXIS, from_to


def rest_frame(chain: Chain, index: int, frames: Sequence[Quaternion]) -> Quaternion:
    """Frame in which the rotation of joint `index` is given, from the frames of the joints before it."""
    joint = chain.joints[index]
    if not joint.inherits:
        return joint.rest
    return (frames[index - 1] if index else chain.base) @ joint.rest


def place(chain: Chain, rotations: Sequence[Quaternion]) -> tuple[list[Vector], list[Quaternion]]:
    """Forward kinematics.

    Args:
        chain: n joints.
        rotations: n rotations, each in the rest frame of its joint.

    Returns:
        The n + 1 joints relative to the root, and the n frames, both in solve space.
    """
    joints = [Vector()]
    frames: list[Quaternion] = []
    for i, rotation in enumerate(rotations):
        frame = rest_frame(chain, i, frames) @ rotation
        frame.normalize()
        frames.append(frame)
        joints.append(joints[i] + frame @ chain.joints[i].segment)
    return joints, frames


def orient(chain: Chain, joints: Sequence[Vector], swing: Quaternion) -> list[Quaternion]:
    """Local rotations that put a free chain onto solved joints.

    The start pose is turned by `swing` as a whole; from there each bone is turned by the smallest rotation onto its
    solved direction, root to tip, so that no twist is invented and the same joints always give the same rotations.

    Args:
        chain: n joints; limits are not looked at.
        joints: n + 1 points in solve space.
        swing: Turn of the whole start pose about the root.

    Returns:
        n rotations, each in the rest frame of its joint.
    """
    rotations: list[Quaternion] = []
    frames: list[Quaternion] = []
    for i, joint in enumerate(chain.joints):
        rest = rest_frame(chain, i, frames)
        carried = rest @ joint.start
        if i == 0:
            carried = swing @ carried
        span = joints[i + 1] - joints[i]
        frame = from_to(carried @ joint.segment, span, carried @ X_AXIS) @ carried
        frame.normalize()
        frames.append(frame)
        rotation = rest.conjugated() @ frame
        rotation.normalize()
        rotations.append(rotation)
    return rotations
