# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake compared with what Blender makes of its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import bpy

from ...errors import FabrikError, place_of
from ...finite import LARGEST
from ...rig.chain_bones import pose_bones
from ...rig.chain_space import RigFrame
from ...rig.goals import goals_of
from ...rig.rotations import distance, minus
from ...rig.targets import read_point, resolve_point
from ..frames import go_to
from ..order import bones_above
from .result import MOVED, REACHED, ChainBake, all_frames
from .track import Track

OFF = 1e-3  # share of the length by which a tip is off where something else moves it
SAMPLES = 50


def frames_to_check(results: Sequence[ChainBake], verify: str) -> list[float]:
    """The frames that are evaluated: all, or some spread evenly and those of the largest turns."""
    if verify == "NONE":
        return []
    frames: list[float] = all_frames(results).tolist()
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
        context: Its scene's frame may be moved.
        tracks: The chains.
        results: What came of each; the errors are put in.
        frames: The frames.
        slack: Angle in radians by which each joint may be off since keys were left out.

    Yields:
        Nothing, after each frame.
    """
    if not frames:
        return
    baked = {(track.owner.name_full, name): track.owner for track in tracks for name in track.prepared.bones}
    chains = [_Compared(track, result, slack, baked) for track, result in zip(tracks, results, strict=True)]
    with _scene_of(context, tracks) as scene:
        for frame in frames:
            go_to(scene, frame)
            depsgraph = _depsgraph_of(context, scene)
            rigs: dict[str, _EvaluatedRig] = {}
            for compared in chains:
                name = compared.track.owner.name_full
                if frame in compared.places:
                    rigs[name] = rigs.get(name) or _EvaluatedRig.of(compared.track.owner, depsgraph)
                    compared.compare(frame, rigs[name], depsgraph)
            yield


@contextmanager
def _scene_of(context: bpy.types.Context, tracks: Sequence[Track]) -> Iterator[bpy.types.Scene]:
    """Where frames are evaluated: the scene of the context, or one that has nothing but armatures and targets.

    The latter is as good where nothing else moves these, and spares the evaluation of all that hangs on them.
    """
    assert context.scene is not None
    if not all(track.is_plain for track in tracks):
        yield context.scene
        return
    scene = bpy.data.scenes.new("Bake")
    try:
        for thing in {track.owner for track in tracks} | {
            goal.found for track in tracks for goal in goals_of(track.chain)
        }:
            scene.collection.objects.link(thing)
        yield scene
    finally:
        bpy.data.scenes.remove(scene)


def _depsgraph_of(context: bpy.types.Context, scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    """That of a scene, evaluated for the frame to which it was set."""
    own = scene.view_layers[0].depsgraph if scene != context.scene else None
    return own or context.evaluated_depsgraph_get()


class _EvaluatedRig(NamedTuple):
    """An armature as evaluated in a frame."""

    frame: RigFrame
    bones: bpy.types.bpy_prop_collection[bpy.types.PoseBone]

    @classmethod
    def of(cls, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> _EvaluatedRig:
        """Read an armature object."""
        evaluated = owner.evaluated_get(depsgraph)
        return cls(RigFrame.of(evaluated.matrix_world), pose_bones(evaluated))


class _Compared:
    """A chain that is compared frame by frame.

    Args:
        track: The chain.
        result: What came of it; the errors are put in.
        slack: See `verify`.
        baked: The armatures of all bones that are baked.

    Attributes:
        places: Index of each of its frames.
    """

    def __init__(
        self, track: Track, result: ChainBake, slack: float, baked: Mapping[tuple[str, str], bpy.types.Object]
    ) -> None:
        (self.target,) = (goal for goal in goals_of(track.chain) if goal.role == "target")
        self.track, self.result = track, result
        self.tip, self.length = track.prepared.bones[-1], track.prepared.length
        self.slack, self.allowed = slack, OFF + slack * len(track.prepared.bones)
        own = {(track.owner.name_full, name) for name in track.prepared.bones}
        above = sorted(bones_above(track.owner, track.chain, own) & baked.keys()) if slack > 0.0 else []
        self.above = [(baked[pair], pair[1]) for pair in above]
        self.places = {frame: k for k, frame in enumerate(result.frames.tolist())}

    def compare(self, frame: float, rig: _EvaluatedRig, depsgraph: bpy.types.Depsgraph) -> None:
        """Put in the error of one of its frames.

        Args:
            frame: For which Blender evaluated.
            rig: Its armature.
            depsgraph: With what it was evaluated.
        """
        result, k = self.result, self.places[frame]
        try:
            with place_of(rig=result.rig, chain=result.chain):
                error = self._tip_error(rig, depsgraph) / self.length
        except FabrikError as reason:
            reason.reason = f"in frame {frame:g}, {reason.reason}"
            raise
        solved = float(result.residuals[k])
        result.residuals[k] = error
        if result.status[k] != REACHED or self.track.chain.influence < 1.0:  # which may be animated
            return
        if result.worst_tip_error is None or error > result.worst_tip_error[0]:
            result.worst_tip_error = error, frame
        if error > solved + self.allowed and error > solved + self.allowed + self._carried(rig, depsgraph):
            result.status[k] = MOVED

    def _carried(self, rig: _EvaluatedRig, depsgraph: bpy.types.Depsgraph) -> float:
        """By what share of the length the tip may be off since keys were left out of bones that carry it or its goals.

        Each may be turned by the slack, which takes the tip along a lever from its head.
        """
        levers, tip = 0.0, rig.bones[self.tip].tail
        for owner, name in self.above:
            evaluated = owner.evaluated_get(depsgraph)
            head = (evaluated.matrix_world @ pose_bones(evaluated)[name].head).to_tuple()
            levers += distance(rig.frame.to_armature(minus(head, rig.frame.away)), tip)
        return self.slack * levers / self.length

    def _tip_error(self, rig: _EvaluatedRig, depsgraph: bpy.types.Depsgraph) -> float:
        """From tip to target in armature space."""
        role, found, bone = self.target
        target = read_point(role, found, bone, depsgraph)
        error = distance(rig.frame.to_armature(minus(target, rig.frame.away)), rig.bones[self.tip].tail)
        if not error <= LARGEST:
            resolve_point(role, found, bone, depsgraph)  # which says what is wrong
        return error
