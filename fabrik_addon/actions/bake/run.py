# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: levels of chains, step by step, and the way back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import ChainError
from ...maths import Doubles
from ...rig.animation.animation import Animated
from ...rig.animation.channels import KeptChannels, channel_of, cosines, plain_path, rotation_path
from ...rig.animation.curves import SAME_FRAME, CurveWriter
from ...rig.animation.keys import KeyedChannels
from ...rig.figure.figure import RigFigure
from ...rig.figure.goal_options import written_besides
from ...rig.figure.groups import ChainSet, figure_bones
from ...rig.schema import rig_of
from ...texts import Text
from ..frames import Steps, frames_visited, keys_of_goals, part_of, scene_of, to_the_end
from ..motion.edits import edits_of, rest_within
from ..solve import Item, levels, together
from .checks import BakeSettings, check_bake
from .clean_up import clean
from .keys import BoneKeys, Destination, keys_of, results_of
from .report import BakeResult, ChainBake, Report
from .sample import Track, sample
from .verify import frames_to_check, verify


class _Whole(NamedTuple):
    """What is to be keyed of chains that are solved together, and how many keys of each property were written."""

    figure: RigFigure
    chain_set: ChainSet
    every: Sequence[BoneKeys]
    counts: list[int]


class BakedArmature:
    """The keys, actions and pose of one armature."""

    def __init__(self, owner: bpy.types.Object, sets: Sequence[ChainSet], into: str) -> None:
        self.owner = owner
        bones = [bone for one in sets for bone in figure_bones(one)]
        plain = [found for one in sets for found in written_besides(one)]
        turned = [(bone.name, channel_of(bone.rotation_mode)[0]) for bone in bones]
        self._pose = KeptChannels(owner, [*turned, *((bone.name, name) for bone, name in plain)])
        self._paths = {*map(rotation_path, bones), *(plain_path(bone, name) for bone, name in plain)}
        self._ends: list[float] = []  # first and last frames of what is keyed
        self._writer = CurveWriter(owner, can_restore=into == "ACTION")
        self._into = into
        self._destination: Destination | None = None
        self._before: KeyedChannels | None = None
        self._whole: list[_Whole] = []  # whose keys `clean` has still to thin

    def key(self, track: Track, settings: BakeSettings, is_last: bool) -> list[ChainBake]:
        """Key chains of it that are solved together; what keys are written into is made for the first.

        Keys are left out at once where no chain hangs on these. Else that waits for `clean`: chains that hang on them
        are solved on the keys that are written, and a bone that is a little off may turn them far.

        `is_last` says that no chain that is solved later hangs on them.
        """
        if self._destination is None:
            self._destination = Destination(self.owner, self._into)
        if self._before is None:
            self._before = KeyedChannels(self.owner, settings.frames[0] - 2.0 * SAME_FRAME)
        self._ends += (float(track.frames[0]), float(track.frames[-1]))
        steps = cosines(track.answers.rotations)
        results = results_of(track, steps)
        every = [*keys_of(track, results, steps, settings, self._before)]
        whole = _Whole(track.figure, track.chain_set, every, [])
        with self._destination.writing():
            self._write(whole, settings.clean_up if is_last else 0.0)
        if settings.clean_up > 0.0 and not is_last:
            self._whole.append(whole)
        return results

    def clean(self, bound: float) -> None:
        """Leave out keys of chains on which others hang, once all are solved; `bound` is `BakeSettings.clean_up`."""
        if self._destination is not None:
            with self._destination.writing():
                for whole in self._whole:
                    self._write(whole, bound)
        self._whole.clear()

    def _write(self, whole: _Whole, bound: float) -> None:
        """Write the keys of chains, those alone that keep all within an angle, in place of those written before."""
        figure, chain_set, every, before = whole
        kept = clean(figure, chain_set, every, bound) if bound > 0.0 else [own[0] for own in every]
        counts = [self._writer.write(keys) for keys in kept]
        for (_, results, _, _), count, was in zip(every, counts, before or [0] * len(counts), strict=True):
            results[0].keys += count - was
        whole.counts[:] = counts

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
            back.callback(self._pose.put_back, self.owner)
            if self._destination is not None:
                back.callback(self._destination.take_back)
                back.callback(self._writer.finish)
                if self._destination.is_own:
                    back.callback(self._writer.restore)


# The report of an armature's last bake, kept with it in the file.

FORMAT = 1  # of what is stored


def read_report(owner: bpy.types.Object) -> Report | None:
    """What came of an armature's last bake; None where there was none, or where it was written by another version."""
    return _read(rig_of(owner).bake_report)


@lru_cache(maxsize=8)  # panel and timeline ask at every redraw
def _read(text: str) -> Report | None:
    try:
        report = json.loads(text) if text else None
    except ValueError:
        return None
    return report if isinstance(report, dict) and report.get("format") == FORMAT else None


def switch_off(items: Sequence[Item]) -> list[str]:
    """Switch chains off, so that their keys play, and live posing of armatures that are left without enabled ones.

    Returns:
        The names of the armatures whose live posing was switched off.
    """
    for _, chain in items:
        chain.enabled = False
        chain.is_baked = True
    rested = []
    for owner in {owner.name_full: owner for owner, _ in items}.values():
        rig = rig_of(owner)
        if rig.live and not any(chain.enabled for chain in rig.chains):
            rig.live = False
            rested.append(owner.name)
    return rested


# From settings to keys, or to what stood there before.
#
# Every frame is solved by itself, from the same start pose and by the same solver as by button or live, so the answer
# is the same and frames do not depend on each other. Chains that hang on others are read after those are keyed.

SAMPLING = 0.9  # share of a level's work where frames are visited


def bake(context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings) -> BakeResult:
    """Bake chains into keys, and switch them off so that the keys play; with those that are solved together with them.

    The scene's frame is moved and put back.

    Raises:
        FabrikError: Something can't be baked; what was keyed by then is taken back.
    """
    return to_the_end(bake_steps(context, items, settings))


def bake_steps(context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings) -> Steps[BakeResult]:
    """`bake` in steps; closed before its end it leaves all as it was."""
    scene = scene_of(context)
    if not items:
        raise ChainError("there is no chain to bake: none is enabled or chosen")
    sets = together(items)
    check_bake(context, sets, settings.into)
    asked = [(owner.name, chain.name) for owner, chain in items]
    every = [(one.owner, chain) for one in sets for chain in one.chains]
    edits = {_key(one): edits_of(one.owner, one.names, scene) if not settings.only_keys else {} for one in sets}
    with frames_visited(scene):
        run = _Run(context, sets, settings)
        try:
            yield from run.steps()
        except BaseException:
            run.take_back()
            raise
        rested = [] if settings.stays_enabled else switch_off(every)
        left = [name for one in sets for name in rest_within(one.owner, edits[_key(one)], settings.frames)]
        notes = [Text("'{chain}' also edits frames that were not baked, and goes on to", chain=name) for name in left]
    found = {(result.rig, result.chain): result for result in run.results}
    others = [found[key] for key in found if key not in asked]
    for other in others:
        other.is_asked = False
    result = BakeResult(settings.verify, [*(found[key] for key in asked), *others], rested, [*notes])
    for armature in run.armatures.values():
        own = {"format": FORMAT, **result.of(armature.owner.name).as_json()}
        rig_of(armature.owner).bake_report = json.dumps(own)
    return result


def _key(one: ChainSet) -> tuple[str, ...]:
    return one.owner.name_full, *one.names


def _frames_of(sets: Sequence[ChainSet], settings: BakeSettings) -> dict[tuple[str, ...], Doubles]:
    """The frames of chains that are solved together: the same array for all that have the same."""
    if not settings.only_keys:
        return dict.fromkeys(map(_key, sets), np.array(settings.frames, dtype=np.float64))
    return {_key(one): _keys_of_goals(one, settings) for one in sets}


def _keys_of_goals(one: ChainSet, settings: BakeSettings) -> Doubles:
    first, last = settings.frames[0], settings.frames[-1]
    keys = keys_of_goals(one, first, last)
    if not keys:
        text = Text("neither target nor pole has a key from frame {first:g} to {last:g}", first=first, last=last)
        raise ChainError(text, rig=one.owner.name, chain=one.names[0])
    return np.array(keys, dtype=np.float64)


class _Run:
    """One bake, and the way back.

    Attributes:
        results: Of the chains that are keyed, in the order of solving.
    """

    def __init__(self, context: bpy.types.Context, sets: Sequence[ChainSet], settings: BakeSettings) -> None:
        self.context, self.settings = context, settings
        self.frames = _frames_of(sets, settings)
        self.groups = levels(sets)
        self.results: list[ChainBake] = []
        self.tracks: list[tuple[Track, list[ChainBake]]] = []
        owners = {one.owner.name_full: one.owner for one in sets}
        own = {name: [one for one in sets if one.owner == owner] for name, owner in owners.items()}
        self.motions = {name: Animated(owner).motions_alone(own[name]) for name, owner in owners.items()}
        self.armatures = {name: BakedArmature(owner, own[name], settings.into) for name, owner in owners.items()}

    def steps(self) -> Iterator[float]:
        """Read, solve and key level by level, then compare; yields how much is done: a part for each of these."""
        count = len(self.groups)
        parts = count + (self.settings.verify != "NONE")
        for i, group in enumerate(self.groups):
            yield from part_of(self._level(group, is_last=i + 1 == count), i / parts, (i + 1) / parts)
        frames = frames_to_check(self.results, self.settings.verify)
        for i, _ in enumerate(verify(self.context, self.tracks, frames, self.settings.clean_up)):
            yield (count + (i + 1) / len(frames)) / parts
        for armature in self.armatures.values():
            armature.finish()

    def _level(self, group: Sequence[ChainSet], is_last: bool) -> Steps[None]:
        """Chains that do not depend on each other; of those that are keyed only what is compared later is kept."""
        tracks = [self._track(one) for one in group]
        most = max(len(track.frames) for track in tracks)
        for i, _ in enumerate(sample(self.context, tracks)):
            yield min(SAMPLING * (i + 1) / most, SAMPLING)
        for i, track in enumerate(tracks):
            for share in track.solve():
                yield SAMPLING + (1.0 - SAMPLING) * (i + share) / len(tracks)
            results = self.armatures[track.owner.name_full].key(track, self.settings, is_last)
            self.results += results
            self.tracks.append((track, results))
            track.forget()
            yield SAMPLING + (1.0 - SAMPLING) * (i + 1) / len(tracks)
        for armature in self.armatures.values():
            if is_last:
                armature.clean(self.settings.clean_up)
            armature.play()

    def _track(self, one: ChainSet) -> Track:
        motion = self.motions[one.owner.name_full][one.names]
        return Track(one, self.frames[_key(one)], self.settings.frames[0], motion)

    def take_back(self) -> None:
        """Put back keys, actions and pose of every armature that is still there.

        Raises:
            ReferenceError: One is gone; the others are as they were.
        """
        with ExitStack() as back:
            for armature in self.armatures.values():
                back.callback(armature.take_back)
