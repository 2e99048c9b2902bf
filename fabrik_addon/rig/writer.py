# SPDX-License-Identifier: GPL-3.0-or-later
"""From solved rotations to rotation channels: how each bone takes its rotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ..kernel import Hinge, Limit
from ..maths import Q4, q4
from .channels import channel_of, neutral_values, read_locks, read_values, same_turn, stored, to_values
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

    def write(self, bone: bpy.types.PoseBone, rotation: Q4) -> ChannelWrite:
        """What is to be written for a rotation."""
        before = read_values(bone)
        return ChannelWrite(bone.name, self.name, stored(self.values(rotation, before)), before)


@dataclass(frozen=True, slots=True)
class ChannelWrite:
    """New values for the rotation channels of one bone, or for its location or scale.

    Attributes:
        bone: Name of the bone.
        name: Of the property.
        values: What to write, in single precision.
        before: What stands there now.
    """

    bone: str
    name: str
    values: list[float]
    before: list[float]

    @property
    def is_new(self) -> bool:
        """Whether the values differ at all from what stands there."""
        return self.values != self.before


def plain_write(bone: bpy.types.PoseBone, name: str, values: Sequence[float]) -> ChannelWrite:
    """What is to be written for the location or scale channels of a bone."""
    return ChannelWrite(bone.name, name, stored(values), [*getattr(bone, name)])


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
