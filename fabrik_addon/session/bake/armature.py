# SPDX-License-Identifier: GPL-3.0-or-later
"""One armature of a bake: what is written into it, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import bpy

from ...rig.chain_bones import pose_bones
from ...rig.channels import channel_of, plain_path, read_values, rotation_path
from ...rig.curves import SAME_FRAME, CurveWriter
from ...rig.figures import ChainSet, figure_bones
from ...rig.keys import KeyedChannels
from ...rig.stretching import written_besides
from .destination import Destination
from .keying import BoneKeys, read_track
from .result import ChainBake
from .settings import BakeSettings
from .track import Answers, Track


class BakedArmature:
    """The keys, actions and pose of one armature.

    Args:
        owner: The armature object.
        sets: Its chains that are baked.
        into: See `BakeSettings`.
    """

    def __init__(self, owner: bpy.types.Object, sets: Sequence[ChainSet], into: str) -> None:
        self.owner = owner
        bones = [bone for one in sets for bone in figure_bones(one)]
        plain = [found for one in sets for found in written_besides(one)]
        self._pose = [(bone.name, channel_of(bone.rotation_mode)[0], read_values(bone)) for bone in bones]
        self._pose += [(bone.name, name, [*getattr(bone, name)]) for bone, name in plain]
        self._paths = {*map(rotation_path, bones), *(plain_path(bone, name) for bone, name in plain)}
        self._ends: list[float] = []  # first and last frames of what is keyed
        self._writer = CurveWriter(owner, can_restore=into == "ACTION")
        self._into = into
        self._destination: Destination | None = None
        self._before: KeyedChannels | None = None
        self._whole: dict[str, BoneKeys] = {}  # by data path, bones whose keys `clean` has still to thin

    def key(self, track: Track, answers: Answers, settings: BakeSettings, is_last: bool) -> list[ChainBake]:
        """Key chains of it that are solved together; what keys are written into is made for the first.

        Keys are left out at once where no chain hangs on these. Else that waits for `clean`: chains that hang on them
        are solved on the keys that are written, and a bone that is a little off may turn them far.

        Args:
            track: The chains.
            answers: How they are solved.
            settings: What to bake.
            is_last: Whether no chain that is solved later hangs on them.
        """
        if self._destination is None:
            self._destination = Destination(self.owner, self._into)
        if self._before is None:
            self._before = KeyedChannels(self.owner, settings.frames[0] - 2.0 * SAME_FRAME)
        self._ends += (float(track.frames[0]), float(track.frames[-1]))
        results, bones = read_track(track, answers, settings, self._before)
        with self._destination.writing():
            for bone in bones:
                if settings.clean_up > 0.0 and is_last:
                    bone.clean(self._writer, settings.clean_up)
                else:
                    bone.write(self._writer)
                if settings.clean_up > 0.0 and not is_last:
                    self._whole[bone.channels.path] = bone
        return results

    def clean(self, bound: float) -> None:
        """Leave out keys of chains on which others hang, once all are solved; `bound` is `BakeSettings.clean_up`."""
        if self._destination is not None:
            with self._destination.writing():
                for bone in self._whole.values():
                    bone.clean(self._writer, bound)
        self._whole.clear()

    def play(self) -> None:
        """Flush the curves and, for the NLA, make the strip, so that the next frame change plays them."""
        if self._destination is not None:
            with self._destination.writing():
                self._writer.flush()
            self._destination.play(self._paths, (min(self._ends), max(self._ends)))

    def finish(self) -> None:
        """Forget what would undo the bake: it stands."""
        self._writer.finish()
        if self._destination is not None:
            self._destination.finish()

    def take_back(self) -> None:
        """Put back keys, actions and pose; what fails of that keeps nothing else from being put back."""
        with ExitStack() as back:  # the last that is put onto it is the first that is done
            back.callback(self._put_pose_back)
            if self._destination is not None:
                back.callback(self._destination.take_back)
                back.callback(self._writer.finish)
                if self._destination.is_own:
                    back.callback(self._writer.restore)

    def _put_pose_back(self) -> None:
        bones = pose_bones(self.owner)
        for bone, path, values in self._pose:
            setattr(bones[bone], path, values)
