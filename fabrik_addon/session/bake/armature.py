# SPDX-License-Identifier: GPL-3.0-or-later
"""One armature of a bake: what is written into it, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...rig.chain_bones import pose_bones
from ...rig.channels import channel_of, read_values, rotation_path
from ...rig.curves import CurveWriter
from ...rig.plain_motion import stands_still
from .into import Destination
from .keying import key_track
from .result import ChainBake
from .sample import Answers, Track
from .settings import BakeSettings


class BakedArmature:
    """The keys, actions and pose of one armature.

    Args:
        owner: The armature object.
        bones: The original pose bones of its chains that are baked.
        into: See `BakeSettings`.
    """

    def __init__(self, owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], into: str) -> None:
        self.owner = owner
        self.stands_still = stands_still(owner, {bone.name for bone in bones})
        self._pose = [(bone.name, channel_of(bone.rotation_mode)[0], read_values(bone)) for bone in bones]
        self._paths = {rotation_path(bone) for bone in bones}
        self._ends: list[float] = []  # first and last frames of what is keyed
        self._writer = CurveWriter(owner)
        self._into = into
        self._destination: Destination | None = None

    def begin(self) -> None:
        """Make what keys are written into."""
        self._destination = Destination(self.owner, self._into)

    @property
    def destination(self) -> Destination:
        """What keys are written into, once it is made."""
        assert self._destination is not None
        return self._destination

    def key(self, track: Track, answers: Answers, settings: BakeSettings) -> ChainBake:
        """Key one of its chains."""
        self._ends += (float(track.frames[0]), float(track.frames[-1]))
        with self.destination.writing():
            return key_track(self._writer, track, answers, settings)

    def play(self) -> None:
        """Let Blender play what was keyed."""
        with self.destination.writing():
            self._writer.flush()
        if self._ends:
            self.destination.play(self._paths, (min(self._ends), max(self._ends)))

    def finish(self) -> None:
        """Nothing is to be taken back any more."""
        self.destination.finish()

    def take_back(self) -> None:
        """Put back keys, actions and pose."""
        if self._destination is not None:
            if self._destination.is_own:
                self._writer.restore()
            self._destination.take_back()
        for bone, path, values in self._pose:
            setattr(pose_bones(self.owner)[bone], path, values)
