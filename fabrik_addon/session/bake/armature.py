# SPDX-License-Identifier: GPL-3.0-or-later
"""One armature of a bake: what is written into it, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...rig.chain_bones import pose_bones
from ...rig.channels import channel_of, read_values, rotation_path
from ...rig.curves import CurveWriter
from .destination import Destination
from .keying import key_track
from .result import ChainBake
from .settings import BakeSettings
from .track import Answers, Track


class BakedArmature:
    """The keys, actions and pose of one armature.

    Args:
        owner: The armature object.
        bones: The original pose bones of its chains that are baked.
        into: See `BakeSettings`.
    """

    def __init__(self, owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], into: str) -> None:
        self.owner = owner
        self._pose = [(bone.name, channel_of(bone.rotation_mode)[0], read_values(bone)) for bone in bones]
        self._paths = {rotation_path(bone) for bone in bones}
        self._ends: list[float] = []  # first and last frames of what is keyed
        self._writer = CurveWriter(owner, can_restore=into == "ACTION")
        self._into = into
        self._destination: Destination | None = None

    def key(self, track: Track, answers: Answers, settings: BakeSettings) -> ChainBake:
        """Key one of its chains; what keys are written into is made for the first."""
        if self._destination is None:
            self._destination = Destination(self.owner, self._into)
        self._ends += (float(track.frames[0]), float(track.frames[-1]))
        with self._destination.writing():
            return key_track(self._writer, track, answers, settings)

    def play(self) -> None:
        """Let Blender play what was keyed."""
        if self._destination is not None:
            with self._destination.writing():
                self._writer.flush()
            self._destination.play(self._paths, (min(self._ends), max(self._ends)))

    def finish(self) -> None:
        """Nothing is to be taken back any more."""
        self._writer.finish()
        if self._destination is not None:
            self._destination.finish()

    def take_back(self) -> None:
        """Put back keys, actions and pose."""
        if self._destination is not None:
            if self._destination.is_own:
                self._writer.restore()
            self._writer.finish()
            self._destination.take_back()
        for bone, path, values in self._pose:
            setattr(pose_bones(self.owner)[bone], path, values)
