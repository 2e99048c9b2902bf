# SPDX-License-Identifier: GPL-3.0-or-later
"""From the rotations of all frames to keys."""

from __future__ import annotations

import numpy as np

from ...kernel.arrays import REAL, conjugated, multiply, turn_angle
from ...rig.channels import read_values, rotation_path
from ...rig.curves import ChannelKeys, CurveWriter, Keys
from .clean_up import cleaned
from .result import ChainBake
from .sample import Answers, Track
from .settings import BakeSettings


def key_track(writer: CurveWriter, track: Track, answers: Answers, settings: BakeSettings) -> ChainBake:
    """Key a chain; quaternions and Euler angles run on from frame to frame, and into the keys that follow."""
    reading, frames = track.reading, track.frames
    residuals = answers.residual.astype(np.float64)
    result = ChainBake(track.owner.name, reading.chain.name, frames, answers.status.copy(), residuals)
    result.worst_violation = answers.violation
    result.worst_turn = 0.0, float(frames[0])
    before = writer.keys
    bones = zip(track.channels, reading.bones, reading.limits, answers.rotations, strict=True)
    for channels, bone, own_limit, rotations in bones:
        turns = turn_angle(multiply(conjugated(rotations[:, :-1]), rotations[:, 1:]))
        if turns.size and turns.max() > result.worst_turn[0]:
            result.worst_turn = float(turns.max()), float(frames[int(turns.argmax()) + 1])
        if channels is None:
            continue
        stood = read_values(bone)
        values = channels.run(rotations, stood)
        keys = Keys(frames, values, settings.interpolation, (settings.frames[0], settings.frames[-1]))
        if settings.clean_up > 0.0:
            limit = own_limit if track.goals is not None else None  # else it may change from frame to frame
            keys, found = cleaned(keys, channels.mode, settings.clean_up, limit)
            if limit is not None:
                left = limit.stacked([limit]).violation(found.astype(REAL))
                result.worst_violation = max(result.worst_violation, float(left.max()))
        path = rotation_path(bone)
        writer.turn_later_keys(path, channels.mode, keys, channels.indices)
        for index in channels.indices:
            writer.write(ChannelKeys(path, index, bone.name), keys, stood[index])
    result.keys = writer.keys - before
    return result
