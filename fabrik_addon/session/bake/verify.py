# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake compared with what Blender makes of its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import atan2
from typing import NamedTuple

import bpy

from ...errors import FabrikError, place_of
from ...finite import LARGEST
from ...maths import (
    V3,
    axes_of,
    conjugated,
    cross,
    distance,
    dot,
    length,
    minus,
    multiplied,
    rotated,
    turn_angle,
    v3,
)
from ...rig.animated import Animated
from ...rig.chain_bones import pose_bones
from ...rig.chain_space import RigFrame
from ...rig.figures import is_let_go
from ...rig.goals import asked_point, goal_of, goals_of, read_turn, turns_tip
from ...rig.kinematics import world_turn
from ...rig.schema import FabrikChain
from ...rig.targets import read_point, resolve_point
from ...texts import Text
from ..frames import go_to
from ..order import bones_above, bones_of
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
    context: bpy.types.Context, tracks: Sequence[tuple[Track, list[ChainBake]]], frames: Sequence[float], slack: float
) -> Iterator[None]:
    """Let Blender evaluate frames, and measure how far the tips are from what they are to have.

    Args:
        context: Its scene's frame may be moved.
        tracks: The chains, each with what came of it; the errors are put in.
        frames: The frames.
        slack: Angle in radians by which each joint may be off since keys were left out.

    Yields:
        Nothing, after each frame.
    """
    if not frames:
        return
    baked = {(track.owner.name_full, name): track.owner for track, _ in tracks for name in track.prepared.bones}
    chains = [
        _Compared((track, k), result, slack, baked) for track, results in tracks for k, result in enumerate(results)
    ]
    animated = {track.owner.name_full: Animated(track.owner) for track, _ in tracks}
    for compared in chains:
        compared.changes = bool(animated[compared.track.owner.name_full].of_chain(compared.chain))
    with _scene_of(context, [track for track, _ in tracks]) as scene:
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
        chains = [chain for track in tracks for chain in track.chain_set.chains]
        for thing in {track.owner for track in tracks} | {goal.found for chain in chains for goal in goals_of(chain)}:
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

    evaluated: bpy.types.Object
    frame: RigFrame
    bones: bpy.types.bpy_prop_collection[bpy.types.PoseBone]

    @classmethod
    def of(cls, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> _EvaluatedRig:
        """Read an armature object."""
        evaluated = owner.evaluated_get(depsgraph)
        return cls(evaluated, RigFrame.of(evaluated.matrix_world), pose_bones(evaluated))

    def to_armature(self, point: Sequence[float]) -> V3:
        """A world point in armature space."""
        return self.frame.to_armature(minus(point, self.frame.away))


class _Asked(NamedTuple):
    """What a chain asks for in a frame.

    Attributes:
        counts: Whether it asks for anything.
        is_full: Whether it is to come to its goal in full.
        aims: Whether it aims.
        at_head: Whether the head of its last bone is its effector.
        turns: Whether its last bone is to have a rotation.
    """

    counts: bool
    is_full: bool
    aims: bool
    at_head: bool
    turns: bool

    @classmethod
    def of(cls, owner: bpy.types.Object, chain: FabrikChain) -> _Asked:
        """Read a chain."""
        return cls(
            chain.weight > 0.0 and not is_let_go(owner, chain),
            chain.influence >= 1.0,
            chain.kind == "AIM",
            chain.effector == "HEAD",
            turns_tip(chain),
        )


class _Compared:
    """A chain that is compared frame by frame.

    Args:
        place: Those that it is solved with, and its index among them.
        result: What came of it; the errors are put in.
        slack: See `verify`.
        baked: The armatures of all bones that are baked.

    Attributes:
        places: Index of each of its frames.
        changes: Whether what it asks for is animated.
    """

    def __init__(
        self,
        place: tuple[Track, int],
        result: ChainBake,
        slack: float,
        baked: Mapping[tuple[str, str], bpy.types.Object],
    ) -> None:
        self.track, k = place
        self.result, self.slack = result, slack
        chain_set, self.asked = self.track.chain_set, self.track.prepared.asked[k]
        self.chain, self.length = chain_set.chains[k], self.track.lengths[k]
        self.target = goal_of(self.chain, "target")
        self.now = _Asked.of(self.track.owner, self.chain)
        self.changes = False
        size = self.track.prepared.length
        self.turned = OFF + slack * self.track.way_to(k)
        self.allowed = OFF + slack * self.track.way_to(k) * size / self.length
        above = sorted(bones_above(chain_set, bones_of(chain_set)) & baked.keys()) if slack > 0.0 else []
        self.above = [(baked[pair], pair[1]) for pair in above]
        self.places = {frame: i for i, frame in enumerate(result.frames.tolist())}

    def compare(self, frame: float, rig: _EvaluatedRig, depsgraph: bpy.types.Depsgraph) -> None:
        """Put in the errors of one of its frames.

        Args:
            frame: For which Blender evaluated.
            rig: Its armature.
            depsgraph: With what it was evaluated.
        """
        result, k = self.result, self.places[frame]
        if self.changes:
            self.now = _Asked.of(self.track.owner, self.chain)
        if not self.now.counts:
            return
        try:
            with place_of(rig=result.rig, chain=result.chain):
                target = self._target(depsgraph)
                error = self._tip_error(rig, target, depsgraph) / self.length
                turn = self._turn_error(rig, target, depsgraph)
        except FabrikError as reason:
            reason.reason = Text("in frame {frame:g}, {reason}", frame=frame, reason=reason.reason)
            raise
        solved, turned = float(result.residuals[k]), float(result.turns[k])
        result.residuals[k], result.turns[k] = error, turn
        if result.status[k] != REACHED or not self.now.is_full:
            return
        softened = float(result.softened[k])
        result.worst_tip_error = _worse(result.worst_tip_error, abs(error - softened), frame)
        if self.now.aims or self.now.turns:
            result.worst_tip_turn = _worse(result.worst_tip_turn, turn, frame)
        over = max(error - solved - softened - self.allowed, turn - turned - self.turned)
        if over > 0.0 and over > self._carried(rig, depsgraph):
            result.status[k] = MOVED

    def _carried(self, rig: _EvaluatedRig, depsgraph: bpy.types.Depsgraph) -> float:
        """By what share of the length the tip may be off since keys were left out of bones that carry it or its goals.

        Each may be turned by the slack, which takes the tip along a lever from its head.
        """
        levers, tip = 0.0, rig.bones[self.asked.bones[-1]].tail
        for owner, name in self.above:
            evaluated = owner.evaluated_get(depsgraph)
            head = (evaluated.matrix_world @ pose_bones(evaluated)[name].head).to_tuple()
            levers += distance(rig.to_armature(head), tip)
        return self.slack * levers / self.length

    def _target(self, depsgraph: bpy.types.Depsgraph) -> V3:
        """Where the target is in the world, or what a pin holds."""
        if self.target is None:
            return asked_point(self.chain, depsgraph)
        return v3(read_point(*self.target, depsgraph))

    def _tip_error(self, rig: _EvaluatedRig, target: Sequence[float], depsgraph: bpy.types.Depsgraph) -> float:
        """From effector to target in armature space; nothing for a chain that aims."""
        if self.now.aims:
            return 0.0
        bone = rig.bones[self.asked.bones[-1]]
        error = distance(rig.to_armature(target), bone.head if self.now.at_head else bone.tail)
        if not error <= LARGEST and self.target is not None:
            resolve_point(*self.target, depsgraph)  # which says what is wrong
        return error

    def _turn_error(self, rig: _EvaluatedRig, target: Sequence[float], depsgraph: bpy.types.Depsgraph) -> float:
        """By how much the tip is off the rotation, or the aim, that it is to have, radians."""
        if not (self.now.aims or self.now.turns):
            return 0.0
        bone = rig.bones[self.asked.bones[-1]]
        if self.now.aims:
            along = rotated(axes_of(bone.matrix), v3(self.chain.aim_axis))
            wanted = minus(rig.to_armature(target), v3(bone.head))
            return atan2(length(cross(along, wanted)), dot(along, wanted))
        wanted_turn = read_turn(self.chain, depsgraph)
        assert wanted_turn is not None, "its tip is to have a rotation"
        return turn_angle(multiplied(conjugated(world_turn(rig.evaluated, bone)), wanted_turn))


def _worse(worst: tuple[float, float] | None, error: float, frame: float) -> tuple[float, float]:
    """The worst error so far, and its frame."""
    return worst if worst is not None and worst[0] >= error else (error, frame)
