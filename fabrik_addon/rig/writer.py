# SPDX-License-Identifier: GPL-3.0-or-later
"""From solved rotations to rotation channels: how each bone takes its rotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ..kernel import Hinge, Limit
from ..maths import Q4, q4
from .channels import channel_of, neutral_values, read_locks, same_turn, to_values
from .joint_limits import free_channel, hinge_of_locks
from .keys import KeyedChannels


@dataclass(frozen=True, slots=True)
class BoneChannels:
    """How solved rotations of one bone become values of its channels; plain data, good for as long as the rig is.

    Attributes:
        bone: Name of the bone.
        mode: Its rotation mode.
        near: Channel values that the new ones are to continue.
        hinge: The hinge to which rotation locks leave a single channel, or None.
        free: Index of that channel.
    """

    bone: str
    mode: str
    near: list[float]
    hinge: Hinge | None
    free: int

    @property
    def name(self) -> str:
        """Name of the property that is written."""
        return channel_of(self.mode)[0]

    @property
    def indices(self) -> Sequence[int]:
        """Indices of the channels that are written."""
        return [self.free] if self.hinge is not None else range(channel_of(self.mode)[1])

    def values(self, rotation: Sequence[float], before: Sequence[float]) -> list[float]:
        """Channel values for a rotation, in double precision.

        Args:
            rotation: Unit quaternion in the rest frame of the bone.
            before: What stands in the channels: those that are locked keep it.
        """
        if self.hinge is None:
            return to_values(self.mode, rotation, self.near)
        values = list(before)
        values[self.free] = same_turn(self.hinge.angle_of(q4(rotation)), self.near[self.free])
        return values


def channels_of(
    bones: Sequence[bpy.types.PoseBone], starts: Sequence[Q4], limits: Sequence[Limit], keyed: KeyedChannels
) -> tuple[BoneChannels | None, ...]:
    """The channels of each bone of a chain; None for a bone whose channels are all locked.

    Quaternions and Euler angles continue the last key before the frame, or the start pose where there is none, and so
    do not depend on what was solved before. Locked channels are left alone.

    Args:
        bones: n original pose bones, root to tip.
        starts: n rotations of the start pose.
        limits: n limits, narrowed by the locks (`joint_limits.read_limit`).
        keyed: The curves of the armature at the frame.
    """
    found: list[BoneChannels | None] = []
    for bone, start, limit in zip(bones, starts, limits, strict=True):
        if limit.is_fixed and all(read_locks(bone)):
            found.append(None)
            continue
        mode = bone.rotation_mode
        near = keyed.previous(bone, to_values(mode, start, neutral_values(mode)))
        free = free_channel(bone)
        hinge = hinge_of_locks(bone) if free is not None else None
        found.append(BoneChannels(bone.name, mode, near, hinge, free or 0))
    return tuple(found)
