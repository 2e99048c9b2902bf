# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake compared with what Blender makes of its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...errors import FabrikError
from ...rig.chain_bones import pose_bones
from ...rig.reader import to_root
from ...rig.targets import resolve_point
from ..frames import go_to
from .result import MOVED, REACHED, ChainBake
from .sample import Track

OFF = 1e-3  # share of the length by which a tip is off where something else moves it
SAMPLES = 50


def frames_to_check(results: Sequence[ChainBake], verify: str) -> list[float]:
    """The frames that are evaluated: all, or some spread evenly and those of the largest turns."""
    frames: list[float] = np.unique(np.concatenate([result.frames for result in results])).tolist()
    if verify == "NONE":
        return []
    if verify == "EVERY" or len(frames) <= SAMPLES:
        return frames
    step = (len(frames) - 1) / (SAMPLES - 1)
    some = {frames[round(i * step)] for i in range(SAMPLES)}
    some |= {result.worst_turn[1] for result in results if result.worst_turn[0] > 0.0}
    return sorted(some)


def verify(
    context: bpy.types.Context,
    tracks: Sequence[Track],
    results: Sequence[ChainBake],
    frames: Sequence[float],
    slack: float,
) -> Iterator[None]:
    """Let Blender evaluate frames, and measure how far the tips are from their targets.

    Args:
        context: Its scene's frame is moved.
        tracks: The chains.
        results: What came of each; the errors are put in.
        frames: The frames.
        slack: Angle in radians by which each joint may be off since keys were left out.

    Yields:
        Nothing, after each frame.
    """
    scene = context.scene
    assert scene is not None
    lengths = [track.length for track in tracks]
    places = [{frame: k for k, frame in enumerate(result.frames.tolist())} for result in results]
    for frame in frames:
        go_to(scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        for track, result, length, place in zip(tracks, results, lengths, places, strict=True):
            if frame not in place:
                continue
            try:
                k, error = place[frame], _tip_error(track, depsgraph) / length
            except FabrikError as reason:
                reason.rig, reason.chain = track.owner.name, result.chain
                reason.reason = f"in frame {frame:g}, {reason.reason}"
                raise
            solved, result.residuals[k] = result.residuals[k], error
            if result.status[k] != REACHED or track.reading.chain.influence < 1.0:
                continue
            if result.worst_tip_error is None or error > result.worst_tip_error[0]:
                result.worst_tip_error = error, frame
            if error > solved + OFF + slack * len(track.reading.bones):
                result.status[k] = MOVED
        yield


def _tip_error(track: Track, depsgraph: bpy.types.Depsgraph) -> float:
    """From tip to target in armature space."""
    chain = track.reading.chain
    assert chain.target is not None
    evaluated = track.owner.evaluated_get(depsgraph)
    target = resolve_point("target", chain.target, chain.target_bone, depsgraph)
    tip = pose_bones(evaluated)[track.reading.bones[-1].name].tail
    return float(to_root(evaluated.matrix_world, tip, target).length)
