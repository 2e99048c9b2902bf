# SPDX-License-Identifier: GPL-3.0-or-later
"""From the rotations of all frames to keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...maths import Doubles, Mask, conjugated, multiplied, turn_angle
from ...rig.chain_bones import pose_bones
from ...rig.channel_runs import cosines, run_of_turns, run_on
from ...rig.channels import plain_path, read_values, rotation_path
from ...rig.curves import PLAIN, Channels, CurveWriter, Keys, staying
from ...rig.keys import KeyedChannels
from ...rig.writer import BoneChannels
from .clean_up import Measure, Moved, Turned, cleaned
from .result import ChainBake
from .settings import BakeSettings
from .track import Answers, Track


@dataclass(slots=True, eq=False)
class BoneKeys:
    """A bone's rotation, or its location, with a key for each frame.

    Attributes:
        results: Of the chains that have the bone; its keys count for the first.
        channels: Of the bone.
        keys: All of them.
        measure: How far values of the channels are off.
        count: Number of keys that are written.
    """

    results: Sequence[ChainBake]
    channels: Channels
    keys: Keys
    measure: Measure
    count: int = 0

    def write(self, writer: CurveWriter) -> None:
        """Write all keys."""
        self._put(writer, self.keys)

    def clean(self, writer: CurveWriter, bound: float) -> None:
        """Write those that keep the bone within an angle, in place of what it has."""
        keys = cleaned(self.keys, self.measure, bound)
        for result in self.results:
            result.worst_violation = max(result.worst_violation, self.measure.violation)
        self._put(writer, keys)

    def _put(self, writer: CurveWriter, keys: Keys) -> None:
        before = writer.keys
        writer.write(self.channels, keys)
        count = writer.keys - before
        self.results[0].keys += count - self.count
        self.count = count


def read_track(
    track: Track, answers: Answers, settings: BakeSettings, before: KeyedChannels
) -> tuple[list[ChainBake], list[BoneKeys]]:
    """What of chains is to be keyed; quaternions and Euler angles run on from frame to frame.

    Args:
        track: The chains.
        answers: How they are solved.
        settings: What to bake.
        before: The curves of their armature before the span whose keys are replaced, on from which the first frame
            runs.

    Returns:
        How each chain went, and the bones that have channels.
    """
    prepared, frames = track.prepared, track.frames
    steps = cosines(answers.rotations)
    results = [_result(track, answers, steps, k) for k in range(len(prepared.asked))]
    bones = pose_bones(track.owner)
    stood = {own.bone: read_values(bones[own.bone]) for own in prepared.channels if own is not None}
    channels_of = [own and replace(own, near=before.previous(bones[own.bone], own.near)) for own in prepared.channels]
    runs = _runs(channels_of, answers.rotations, steps, stood)
    span = settings.frames[0], settings.frames[-1]
    found = []
    for i, own in enumerate(channels_of):
        if own is not None:
            channels = Channels(rotation_path(bones[own.bone]), own.mode, own.bone, own.indices, stood[own.bone])
            limit = prepared.limits[i] if track.is_one else None  # else it may change from frame to frame
            keys = Keys(frames, *runs[i], settings.interpolation, span)
            measure = Turned(own.mode, keys.values, limit)
            found.append(BoneKeys(_with_joint(track, results, i), channels, keys, measure))
    found += [_plain_keys(track, answers.plain[:, i], i, settings, results) for i in range(answers.plain.shape[1])]
    return results, found


def _result(track: Track, answers: Answers, steps: Doubles, k: int) -> ChainBake:
    """How one of the chains went."""
    joints: Any = track.joints_of(k) if len(track.prepared.asked) > 1 else slice(None)
    result = ChainBake(
        track.owner.name,
        track.prepared.chains[k],
        track.frames,
        answers.status[:, k].copy(),
        answers.residual[:, k].copy(),
        answers.turn[:, k].copy(),
        answers.softened[:, k].copy(),
    )
    result.together = [name for name in track.prepared.chains if name != result.chain]
    result.worst_violation = answers.violation
    result.worst_turn = _worst_turn(answers.rotations[:, joints], steps[:, joints], track.frames)
    return result


def _with_joint(track: Track, results: Sequence[ChainBake], i: int) -> list[ChainBake]:
    """The results of the chains that have a joint; of all where none has."""
    found = [result for result, one in zip(results, track.prepared.asked, strict=True) if i in one.joints]
    return found or [*results]


def _plain_keys(
    track: Track, values: Doubles, i: int, settings: BakeSettings, results: Sequence[ChainBake]
) -> BoneKeys:
    """The values (F, 3) of the location or scale of a bone: of `Prepared.plain_channels` the one at an index."""
    name, channel = track.prepared.plain_channels[i]
    bone = pose_bones(track.owner)[name]
    channels = Channels(plain_path(bone, channel), PLAIN, name, range(3), [*getattr(bone, channel)])
    keys = Keys(
        track.frames, values, staying(values), settings.interpolation, (settings.frames[0], settings.frames[-1])
    )
    own = [result for result, one in zip(results, track.prepared.asked, strict=True) if name in one.bones]
    size = track.prepared.length if channel == "location" else 1.0
    return BoneKeys(own or [*results], channels, keys, Moved(values, size))


def _worst_turn(rotations: Doubles, steps: Doubles, frames: Doubles) -> tuple[float, float]:
    """The largest turn of a joint between frames, radians, and the frame to which it leads.

    Args:
        rotations: (F, n, 4).
        steps: Their `cosines`.
        frames: (F,).
    """
    if len(frames) < 2:
        return 0.0, float(frames[0])
    k, i = np.unravel_index(np.abs(steps).argmin(), steps.shape)
    between = multiplied(conjugated(rotations[k, i].tolist()), rotations[k + 1, i].tolist())
    return turn_angle(between), float(frames[k + 1])


def _runs(
    channels: Sequence[BoneChannels | None], rotations: Doubles, steps: Doubles, stood: dict[str, list[float]]
) -> dict[int, tuple[Doubles, Mask]]:
    """Values (F, k) of each bone's channels, and which of these stay, (k,); bones of one rotation mode go together.

    Args:
        channels: Of the n bones.
        rotations: (F, n, 4).
        steps: Their `cosines`.
        stood: What stands in the channels of each bone; those that are locked keep it.
    """
    modes: dict[str, list[int]] = {}
    found: dict[int, tuple[Doubles, Mask]] = {}
    for i, own in enumerate(channels):
        if own is not None and own.hinge is not None:
            values = _hinge_run(own, rotations[:, i], stood[own.bone])
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


def _hinge_run(own: BoneChannels, rotations: Doubles, stood: Sequence[float]) -> Doubles:
    """Values (F, k) of a bone of which a single channel, the angle of a hinge, is free."""
    assert own.hinge is not None
    angles = np.array([own.hinge.angle_of(rotation) for rotation in rotations.tolist()])
    values: Doubles = np.tile(np.array(stood), (len(rotations), 1))
    values[:, own.free] = run_of_turns(angles, np.array(own.near[own.free]))
    return values
