# SPDX-License-Identifier: GPL-3.0-or-later
"""From the rotations of all frames to keys: run on, thinned, into an action or a strip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...kernel import Limit
from ...maths import Q4, Doubles, Mask, conjugated, multiplied, turn_angle
from ...rig.animation.channels import plain_path, read_values, rotation_path, run_on
from ...rig.animation.compat import (
    curves_of_action,
    give_action,
    lacks_slot,
    remove_slots,
    slot_names,
    slot_of,
    strips_of,
)
from ...rig.animation.curves import CONSTANT, PLAIN, Keys, staying
from ...rig.animation.keys import KeyedChannels
from ...rig.bones import pose_bones
from ...rig.figure.figure import BoneChannels
from .checks import BakeSettings
from .report import ChainBake
from .sample import Track

# The action that a bake writes into: made, played where it is wanted, and taken back.


class Destination:
    """Where the keys of one armature go.

    While chains are read the armature has the action that it had, so that all else in it plays; a track is written
    beside it.

    Args:
        owner: The armature object.
        into: "ACTION" for its action, "NEW_ACTION" for a copy of it, "NLA" for a new action on a new track.
        word: What is added to the name of the action for a new one.
    """

    def __init__(self, owner: bpy.types.Object, into: str, word: str = "Bake") -> None:
        self.owner, self.into = owner, into
        self._was_bare = owner.animation_data is None
        data = owner.animation_data or owner.animation_data_create()
        assert data is not None
        self._before, self._slot = data.action, slot_of(owner)
        self._slots = slot_names(self._before)
        self._made: bpy.types.Action | None = None
        self._track: bpy.types.NlaTrack | None = None
        if into == "NEW_ACTION" and self._before is not None and not lacks_slot(owner):
            data.action = self._made = self._before.copy()
            self._made.name = f"{self._before.name} {word}"
        elif into != "ACTION" or self._before is None:
            self._made = bpy.data.actions.new(f"{self._before.name if self._before else owner.name} {word}")
            if into != "NLA":
                data.action = self._made

    @property
    def _data(self) -> bpy.types.AnimData:
        assert self.owner.animation_data is not None
        return self.owner.animation_data

    @property
    def is_own(self) -> bool:
        """Whether keys go into the action that the armature had."""
        return self._made is None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Meanwhile the action to write into is the armature's."""
        if self.into != "NLA":
            yield
            return
        give_action(self._data, self._made)
        try:
            yield
        finally:
            self._give_back()

    def play(self, paths: set[str], span: tuple[float, float]) -> None:
        """Let the keys that are written play: on the track, for as long as they count.

        Args:
            paths: The data paths that are keyed. Where other tracks have one of them, the new track plays over them
                for its own frames alone, else it holds its ends as an action does.
            span: First and last frame that are baked; a channel that stays has a single key.
        """
        if self.into != "NLA" or self._made is None:
            return
        if self._track is None:
            self._track = self._data.nla_tracks.new()
            self._track.name = self._made.name
        for old in list(self._track.strips):
            self._track.strips.remove(old)
        first, last = span
        strip = self._track.strips.new(self._made.name, int(first), self._made)
        give_action(strip, self._made)
        if last > first:
            strip.action_frame_start, strip.action_frame_end = first, last
            strip.frame_start_raw, strip.frame_end_raw = first, last
        others = (found for found in strips_of(self._data) if found.action != self._made)
        is_keyed = any(curve.data_path in paths for other in others for curve in curves_of_action(other.action))
        strip.extrapolation = "NOTHING" if is_keyed else "HOLD"

    def finish(self) -> None:
        """Keep the action that the armature had from being lost, where nothing uses it any more."""
        if self._before is not None and self._before.is_editable and self._data.action != self._before:
            self._before.use_fake_user = True

    def take_back(self) -> None:
        """Remove what was made; the armature has what it had."""
        if self._track is not None:
            self._data.nla_tracks.remove(self._track)
            self._track = None
        self._give_back()
        remove_slots(self._before, slot_names(self._before) - self._slots)
        if self._made is not None:
            bpy.data.actions.remove(self._made)
            self._made = None
        if self._was_bare:
            self.owner.animation_data_clear()

    def _give_back(self) -> None:
        data = self._data
        if data.action != self._before:
            data.action = self._before
        if slot_of(self.owner) != self._slot:
            setattr(data, "action_slot", self._slot)


# From the rotations of all frames to keys.

BoneKeys: TypeAlias = tuple[Keys, list[ChainBake], Limit | None, float]  # results of its chains, limit, what it carries


def results_of(track: Track, steps: Doubles) -> list[ChainBake]:
    """How each of the chains went; `steps` are the `cosines` of the rotations."""
    answers, figure = track.answers, track.figure
    found = []
    for c, chain in enumerate(figure.chains):
        residual, turn, softened = (every[:, c].copy() for every in (answers.residual, answers.turn, answers.softened))
        status = answers.status[:, c].copy()
        result = ChainBake(track.owner.name, chain, track.frames, status, residual, turn, softened)
        result.together = [name for name in figure.chains if name != chain]
        result.worst_violation = answers.violation
        joints: Any = track.joints_of(c) if len(figure.asked) > 1 else slice(None)
        result.worst_turn = _worst_turn(answers.rotations[:, joints], steps[:, joints], track.frames)
        found.append(result)
    return found


def keys_of(
    track: Track, results: Sequence[ChainBake], steps: Doubles, settings: BakeSettings, before: KeyedChannels
) -> Iterator[BoneKeys]:
    """What of chains is to be keyed; quaternions and Euler angles run on from frame to frame.

    Args:
        track: The chains.
        results: How each of them went.
        steps: The `cosines` of the rotations.
        settings: What to bake.
        before: The curves of their armature before the span whose keys are replaced, on from which the first frame
            runs.

    Yields:
        The keys of a property, the results of the chains that have the bone (its keys count for the first), its limit
        where that is the same in all frames, and the size of what it carries.
    """
    figure, answers, pose = track.figure, track.answers, pose_bones(track.owner)
    interpolation, span = settings.interpolation, (settings.frames[0], settings.frames[-1])
    of_all = partial(Keys, frames=track.frames, interpolation=interpolation, span=span)
    bones = [(own, pose[own.bone]) if own is not None else None for own in figure.channels]
    stood = [read_values(one[1]) if one is not None else [] for one in bones]
    channels = [one and replace(one[0], near=before.previous(one[1], one[0].near)) for one in bones]
    runs = _runs(channels, answers.rotations, steps, stood) | dict(_played(track, channels))
    for i, (own, one) in enumerate(zip(channels, bones, strict=True)):
        if own is not None and one is not None:
            values, stays = runs[i]
            keys = of_all(rotation_path(one[1]), own.mode, own.bone, own.indices, stood[i], values, stays)
            holders = [result for result, chain in zip(results, figure.asked, strict=True) if i in chain.joints]
            yield keys, holders or [*results], figure.limits[i] if track.is_one else None, 1.0
    for i, (name, channel) in enumerate(figure.plain_channels):
        values, bone = answers.plain[:, i], pose[name]
        place, stays = [*getattr(bone, channel)], staying(values, within=0.0 if answers.played else CONSTANT)
        keys = of_all(plain_path(bone, channel), PLAIN, name, range(3), place, values, stays)
        holders = [result for result, chain in zip(results, figure.asked, strict=True) if name in chain.bones]
        yield keys, holders or [*results], None, figure.length if channel == "location" else 1.0


def _played(track: Track, channels: Sequence[BoneChannels | None]) -> Iterator[tuple[int, tuple[Doubles, Mask]]]:
    """`_runs` of the bones whose keys goals offset: they run on from these, and are these where nothing is asked."""
    answers = track.answers
    for i, played in answers.played.items():
        own = channels[i]
        if own is None:
            continue
        values = played.copy()
        for k in np.flatnonzero(~answers.rests).tolist():
            near = played[k].tolist()
            values[k] = replace(own, near=near).values(answers.rotations[k, i].tolist(), near)
        yield i, (values, staying(values, within=0.0))


def _worst_turn(rotations: Doubles, steps: Doubles, frames: Doubles) -> tuple[float, float]:
    """The largest turn of a joint in rotations (F, n, 4), radians, and the frame to which it leads."""
    if len(frames) < 2:
        return 0.0, float(frames[0])
    k, i = np.unravel_index(np.abs(steps).argmin(), steps.shape)
    between = multiplied(conjugated(rotations[k, i].tolist()), rotations[k + 1, i].tolist())
    return turn_angle(between), float(frames[k + 1])


def _locked_run(own: BoneChannels, rotations: Sequence[Q4], stood: list[float]) -> Iterator[list[float]]:
    """The values of a bone with rotation locks, frame by frame; those that are locked keep what stood there."""
    for rotation in rotations:
        values = own.values(rotation, stood)
        own = replace(own, near=values)
        yield values


def _runs(
    channels: Sequence[BoneChannels | None], rotations: Doubles, steps: Doubles, stood: Sequence[list[float]]
) -> dict[int, tuple[Doubles, Mask]]:
    """Values (F, k) of each bone's channels, and which of these stay, (k,); bones of one rotation mode go together.

    Rotations are (F, n, 4), `steps` their `cosines`; locked channels keep what `stood` in those of each bone.
    """
    modes: dict[str, list[int]] = {}
    found: dict[int, tuple[Doubles, Mask]] = {}
    for i, own in enumerate(channels):
        if own is not None and own.locks is not None:
            values: Doubles = np.array([*_locked_run(own, rotations[:, i].tolist(), stood[i])])
            found[i] = values, staying(values)
        elif own is not None:
            modes.setdefault(own.mode, []).append(i)
    for mode, indices in modes.items():
        near = np.array([one.near for i in indices if (one := channels[i]) is not None])
        picked = slice(None) if len(indices) == len(channels) else indices  # which spares a copy
        values = run_on(mode, rotations[:, picked], steps[:, picked], near)
        stays = staying(values)
        found |= {i: (values[:, m], stays[m]) for m, i in enumerate(indices)}
    return found
