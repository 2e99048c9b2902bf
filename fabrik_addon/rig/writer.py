# SPDX-License-Identifier: GPL-3.0-or-later
"""From solved rotations to rotation channels: computed for all bones, then written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Quaternion

from ..kernel.arrays import Array
from ..kernel.limits import Hinge, Locked
from .channels import channel_of, neutral_values, read_locks, read_values, same_turn, to_values
from .joint_limits import free_channel
from .keys import KeyedChannels
from .reader import Reading

ROUNDING = 2.0**-24  # of single precision, which Blender stores


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

    @property
    def is_new(self) -> bool:
        """Whether the values differ from what stands there by more than single precision."""
        if self.values == self.before:
            return False
        return any(abs(a - b) > ROUNDING * max(1.0, abs(b)) for a, b in zip(self.values, self.before, strict=True))

    def write(self) -> None:
        """Write the new values, if they are new."""
        if self.is_new:
            setattr(self.bone, self.path, self.values)

    def restore(self) -> None:
        """Put back what stood there."""
        setattr(self.bone, self.path, self.before)


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
    hinge: Hinge | None = None
    free: int = 0

    def values(self, rotation: Quaternion, before: Sequence[float]) -> list[float]:
        """Channel values for a rotation; locked channels stay as they were before."""
        if self.hinge is None:
            return to_values(self.mode, rotation, self.near)
        values = list(before)
        values[self.free] = same_turn(self.hinge.angle(rotation), self.near[self.free])
        return values

    @property
    def indices(self) -> Sequence[int]:
        """Indices of the channels that are written."""
        return [self.free] if self.hinge is not None else range(channel_of(self.mode)[1])

    def run(self, rotations: Array, before: Sequence[float]) -> Array:
        """Channel values for the rotations of frames that follow each other, each running on from the one before.

        Args:
            rotations: (4, F), unit quaternions.
            before: What stands in the channels now.

        Returns:
            (F, k), k the number of channels.
        """
        if self.mode == "QUATERNION" and self.hinge is None:
            turned = np.einsum("kf,kf->f", rotations[:, 1:], rotations[:, :-1]) < 0.0
            first = float(np.dot(rotations[:, 0], self.near)) < 0.0
            signs = np.cumprod(np.where(np.concatenate(([first], turned)), -1.0, 1.0))
            return (rotations * signs).T
        found: list[list[float]] = []
        near = self.near
        for rotation in map(Quaternion, rotations.T.tolist()):
            if self.hinge is None:
                near = to_values(self.mode, rotation, near)
            else:
                last = near[self.free]
                near = [*before]
                near[self.free] = same_turn(self.hinge.angle(rotation), last)
            found.append(near)
        return np.array(found)

    def put(self, bone: bpy.types.PoseBone, rotation: Quaternion) -> None:
        """Write a rotation at once."""
        before = read_values(bone) if self.hinge is not None else ()
        setattr(bone, channel_of(self.mode)[0], self.values(rotation, before))

    def write(self, bone: bpy.types.PoseBone, rotation: Quaternion) -> ChannelWrite:
        """What is to be written for a rotation."""
        before = read_values(bone)
        return ChannelWrite(bone, channel_of(self.mode)[0], self.values(rotation, before), before)


def channels_of(reading: Reading, keyed: KeyedChannels) -> list[BoneChannels | None]:
    """The channels of each bone of a chain; None for a bone whose channels are all locked.

    Quaternions and Euler angles continue the last key before the frame, or the start pose where there is none, and so
    do not depend on what was solved before. Locked channels are left alone.
    """
    found: list[BoneChannels | None] = []
    for bone, start, limit in zip(reading.bones, reading.starts, reading.limits, strict=True):
        if isinstance(limit, Locked) and all(read_locks(bone)):
            found.append(None)
            continue
        mode = bone.rotation_mode
        near = keyed.previous(bone, to_values(mode, start, neutral_values(mode)))
        free = free_channel(bone)
        hinge = limit if free is not None and isinstance(limit, Hinge) else None
        found.append(BoneChannels(bone.name, mode, near, hinge, free or 0))
    return found


def plan(reading: Reading, rotations: Sequence[Quaternion], keyed: KeyedChannels) -> list[ChannelWrite]:
    """The channels of a chain for its solved rotations; nothing is written."""
    bones = zip(channels_of(reading, keyed), reading.bones, rotations, strict=True)
    return [channels.write(bone, rotation) for channels, bone, rotation in bones if channels is not None]
