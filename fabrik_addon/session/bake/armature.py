# SPDX-License-Identifier: GPL-3.0-or-later
"""One armature of a bake: what is written into it, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...rig.chain_bones import pose_bones
from ...rig.channels import channel_of, read_values
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
        self._paths = {f"{bone.path_from_id()}.{channel_of(bone.rotation_mode)[0]}" for bone in bones}
        self._writer = CurveWriter(owner)
        self._destination = Destination(owner, into)

    def key(self, track: Track, answers: Answers, settings: BakeSettings) -> ChainBake:
        """Key one of its chains."""
        with self._destination.writing():
            return key_track(self._writer, track, answers, settings)

    def play(self) -> None:
        """Let Blender play what was keyed."""
        with self._destination.writing():
            self._writer.flush()
        self._destination.play(self._paths)

    def finish(self) -> None:
        """Nothing is to be taken back any more."""
        self._destination.finish()

    def take_back(self) -> None:
        """Put back keys, actions and pose."""
        if self._destination.is_own:
            self._writer.restore()
        self._destination.take_back()
        for bone, path, values in self._pose:
            setattr(pose_bones(self.owner)[bone], path, values)
