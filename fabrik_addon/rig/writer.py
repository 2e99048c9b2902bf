# SPDX-License-Identifier: GPL-3.0-or-later
"""From solved rotations to rotation channels: computed for all bones, then written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Quaternion

from ..kernel.limits import Hinge, Locked
from .channels import channel_of, neutral_values, read_locks, read_values, same_turn, to_values
from .joint_limits import free_channel
from .keys import KeyedChannels
from .reader import Reading


@dataclass(frozen=True, slots=True)
class ChannelWrite:
    """New values for the rotation channels of one bone.

    Attributes:
        bone: The original pose bone.
        path: Name of the property.
        values: What to write.
        before: What stands there now.
    """

    bone: bpy.types.PoseBone
    path: str
    values: list[float]
    before: list[float]

    def write(self) -> None:
        """Write the new values, if they are new."""
        if self.values != self.before:
            setattr(self.bone, self.path, self.values)

    def restore(self) -> None:
        """Put back what stood there."""
        setattr(self.bone, self.path, self.before)


def plan(reading: Reading, rotations: Sequence[Quaternion], keyed: KeyedChannels) -> list[ChannelWrite]:
    """The channels of a chain for its solved rotations; nothing is written.

    Quaternions and Euler angles continue the last key before the frame, or the start pose where there is none, and so
    do not depend on what was solved before. Locked channels are left alone.
    """
    writes = []
    joints = zip(reading.bones, rotations, reading.starts, reading.limits, strict=True)
    for bone, rotation, start, limit in joints:
        if isinstance(limit, Locked) and all(read_locks(bone)):
            continue
        mode = bone.rotation_mode
        before = read_values(bone)
        near = keyed.previous(bone, to_values(mode, start, neutral_values(mode)))
        free = free_channel(bone)
        if free is not None and isinstance(limit, Hinge):
            values = list(before)
            values[free] = same_turn(limit.angle(rotation), near[free])
        else:
            values = to_values(mode, rotation, near)
        writes.append(ChannelWrite(bone, channel_of(mode)[0], values, before))
    return writes
