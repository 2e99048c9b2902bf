# SPDX-License-Identifier: GPL-3.0-or-later
"""From the rotations of all frames to keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kernel import Limit
from ...rig.array_types import Doubles, Mask
from ...rig.chain_bones import pose_bones
from ...rig.channel_runs import cosines, run_of_turns, run_on
from ...rig.channels import read_values, rotation_path
from ...rig.curves import Channels, CurveWriter, Keys, staying
from ...rig.keys import KeyedChannels
from ...rig.rotations import conjugated, multiplied, turn_angle
from ...rig.writer import BoneChannels
from .clean_up import cleaned
from .result import ChainBake
from .settings import BakeSettings
from .track import Answers, Track


@dataclass(slots=True, eq=False)
class BoneKeys:
    """A bone of a chain with a key for each frame.

    Attributes:
        result: Of the chain.
        channels: Of the bone.
        keys: All of them.
        limit: The bone's limit, where it is the same in all frames.
        count: Number of keys that are written.
    """

    result: ChainBake
    channels: Channels
    keys: Keys
    limit: Limit | None
    count: int = 0

    def write(self, writer: CurveWriter) -> None:
        """Write all keys."""
        self._put(writer, self.keys)

    def clean(self, writer: CurveWriter, bound: float) -> None:
        """Write those that keep the bone within an angle, in place of what it has."""
        keys, violation = cleaned(self.keys, self.channels.mode, bound, self.limit)
        self.result.worst_violation = max(self.result.worst_violation, violation)
        self._put(writer, keys)

    def _put(self, writer: CurveWriter, keys: Keys) -> None:
        before = writer.keys
        writer.write(self.channels, keys)
        count = writer.keys - before
        self.result.keys += count - self.count
        self.count = count


def read_track(
    track: Track, answers: Answers, settings: BakeSettings, before: KeyedChannels
) -> tuple[ChainBake, list[BoneKeys]]:
    """What of a chain is to be keyed; quaternions and Euler angles run on from frame to frame.

    Args:
        track: The chain.
        answers: How it is solved.
        settings: What to bake.
        before: The curves of its armature before the span whose keys are replaced, on from which the first frame runs.

    Returns:
        How it went, and its bones that have channels.
    """
    prepared, frames = track.prepared, track.frames
    result = ChainBake(track.owner.name, prepared.chain, frames, answers.status, answers.residual)
    result.worst_violation = answers.violation
    steps = cosines(answers.rotations)
    result.worst_turn = _worst_turn(answers.rotations, steps, frames)
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
            found.append(BoneKeys(result, channels, Keys(frames, *runs[i], settings.interpolation, span), limit))
    return result, found


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
