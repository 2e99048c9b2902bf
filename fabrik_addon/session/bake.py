# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: the chains of an armature solved over a range of frames, all frames of a chain at once, into keys.

Every frame is solved as by itself, from the same start pose as a solve by button or live, so frames do not depend on
each other and are solved as one batch. Chains that hang on others are sampled after those are keyed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import degrees
from typing import Any

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ..errors import ChainError, FabrikError, InvalidValueError, RigError
from ..kernel.batch import STATUSES, BatchSolution, ChainBatch, Goals, solve_batch
from ..kernel.model import Chain, Goal
from ..kernel.rotations import turn_angle
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import channel_of, read_values
from ..rig.checks import check_rig
from ..rig.curves import ChannelKeys, CurveWriter
from ..rig.keys import KeyedChannels
from ..rig.kinematics import axes_of
from ..rig.plain_motion import point_at, stands_still
from ..rig.properties import FabrikChain, rig_of
from ..rig.reader import Reading, read, to_root
from ..rig.targets import resolve_point
from ..rig.writer import BoneChannels, channels_of
from . import live
from .order import levels
from .solve import blended, compute, is_rigid

MOST_FRAMES = 1_000_000


@dataclass(frozen=True, slots=True)
class BakeSettings:
    """What to bake.

    Attributes:
        frames: The frames, rising.
        into: "ACTION" for the armature's action, "NEW_ACTION" for a copy of it, "NLA" for a new track.
        interpolation: "LINEAR" or "BEZIER".
        check: Whether to evaluate every frame afterwards and compare.
    """

    frames: tuple[int, ...]
    into: str = "ACTION"
    interpolation: str = "LINEAR"
    check: bool = True


@dataclass(slots=True)
class ChainBake:
    """How the bake of one chain went.

    Attributes:
        chain: Its name.
        keys: Number of keys written.
        unreached: Frames in which the tip does not come to the target, each with its status.
        worst_tip_error: Of the frames that were reached, as Blender evaluates them; a share of the chain's length.
        worst_violation: Of any limit, in radians.
        worst_turn: The largest turn of a joint between frames, in radians, and the frame to which it leads.
    """

    chain: str
    keys: int = 0
    unreached: list[tuple[int, str]] = field(default_factory=list)
    worst_tip_error: float = 0.0
    worst_violation: float = 0.0
    worst_turn: tuple[float, int] = (0.0, 0)

    def as_json(self) -> dict[str, object]:
        """What can be written as JSON; angles in degrees."""
        return {
            "chain": self.chain,
            "keys": self.keys,
            "unreached": [{"frame": frame, "status": status} for frame, status in self.unreached],
            "worst_tip_error": self.worst_tip_error,
            "worst_violation_degrees": degrees(self.worst_violation),
            "worst_turn_degrees": degrees(self.worst_turn[0]),
            "worst_turn_frame": self.worst_turn[1],
        }


@dataclass(slots=True)
class Sampled:
    """One chain over the frames, as far as it changes.

    Attributes:
        reading: At the first frame.
        chain: As measured there; the same in all frames, but for how its root is turned.
        goals: Of each frame, in armature space relative to the root, turned back by the turn of the root's rest frame.
        channels: How rotations become channel values; None for a locked bone.
    """

    reading: Reading
    chain: Chain
    goals: list[Goal]
    channels: list[BoneChannels | None]


@dataclass(slots=True)
class Solved:
    """The rotations of a chain: for each bone, for each frame."""

    sampled: Sampled
    rotations: list[list[Quaternion]]
    solution: BatchSolution


def bake(
    context: bpy.types.Context, owner: bpy.types.Object, names: Sequence[str], settings: BakeSettings
) -> list[ChainBake]:
    """Bake chains of one armature into keys, and switch them off so that the keys play.

    Args:
        context: Its scene's frame is moved and put back.
        owner: The armature object.
        names: Names of its chains.
        settings: What to bake.

    Returns:
        What came of each chain.

    Raises:
        FabrikError: Something can't be baked; what was keyed by then is taken back.
    """
    scene = context.scene
    assert scene is not None
    if not settings.frames:
        raise InvalidValueError("the range ends before it starts: there is no frame to bake", rig=owner.name)
    if len(settings.frames) > MOST_FRAMES:
        raise InvalidValueError(f"{len(settings.frames)} frames are more than {MOST_FRAMES}", rig=owner.name)
    _check_action(owner)
    check_rig(owner, context.evaluated_depsgraph_get())
    chains = [chain for chain in rig_of(owner).chains if chain.name in set(names)]
    if not chains:
        raise ChainError("there is no chain to bake", rig=owner.name)
    stood = scene.frame_current_final
    writer, results, done = CurveWriter(owner), [], []
    own = {bone.name for chain in chains for bone in resolve_bones(owner, chain)}
    stands = stands_still(owner, own)
    before = _start_action(owner, settings.into)
    live.state.paused = True
    try:
        for number, level in enumerate(levels([(owner, chain) for chain in chains])):
            sampled = [sample(context, owner, chain, settings.frames, stands and not number) for _, chain in level]
            for item in [solve_frames(one, settings.frames) for one in sampled]:
                results.append(_write(writer, item, settings))
                done.append(item)
            writer.flush()
        if settings.into == "NLA":
            _to_track(owner, before, settings.frames[0])
        if settings.check:
            _check(context, owner, done, results, settings.frames)
    except FabrikError as error:
        writer.restore()
        _take_back_action(owner, before)
        error.rig = error.rig or owner.name
        raise
    finally:
        live.state.paused = False
        scene.frame_set(int(stood), subframe=stood - int(stood))
    for chain in chains:
        chain.enabled = False
    return results


def _check_action(owner: bpy.types.Object) -> None:
    data = owner.animation_data
    if data is None:
        return
    if data.action is not None and not data.action.is_editable:
        raise RigError(f"its action '{data.action.name}' is linked: make it local first", rig=owner.name)
    if data.use_tweak_mode:
        raise RigError("an NLA strip is being tweaked: leave tweak mode first", rig=owner.name)


def _start_action(owner: bpy.types.Object, into: str) -> bpy.types.Action | None:
    """Give the armature the action to bake into; the one that it had."""
    data = owner.animation_data or owner.animation_data_create()
    assert data is not None
    before = data.action
    if before is None:
        data.action = bpy.data.actions.new(f"{owner.name} Bake")
    elif into != "ACTION":
        data.action = before.copy() if into == "NEW_ACTION" else bpy.data.actions.new(before.name)
        data.action.name = f"{before.name} Bake"
    return before


def _to_track(owner: bpy.types.Object, before: bpy.types.Action | None, first: int) -> None:
    """Move the baked action to a track of its own, and give the armature back the action it had."""
    data: Any = owner.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    track = data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, first, action)
    if slot is not None:
        strip.action_slot = slot
    data.action = before


def _take_back_action(owner: bpy.types.Object, before: bpy.types.Action | None) -> None:
    data = owner.animation_data
    if data is None or data.action == before or data.action is None:
        return
    made = data.action
    data.action = before
    bpy.data.actions.remove(made)


def sample(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, frames: Sequence[int], stands: bool
) -> Sampled:
    """Read a chain in every frame: by the curves of its goals alone where these tell, else as Blender evaluates it.

    Args:
        context: Its scene's frame is moved.
        owner: The armature object.
        chain: One of its chains.
        frames: Rising.
        stands: Whether the armature, but for the chains' own bones, stands still.

    Raises:
        FabrikError: The chain can't be solved in some frame, which is named.
    """
    scene = context.scene
    assert scene is not None
    scene.frame_set(frames[0])
    depsgraph = context.evaluated_depsgraph_get()
    first = read(owner, chain, depsgraph)
    keyed = KeyedChannels(owner, float(frames[0]))
    known = compute(first, keyed)
    if not is_rigid(first) or chain.start == "ANIMATED":
        raise ChainError(
            "its lengths or its start pose change from frame to frame, which can't be baked at once", chain=chain.name
        )
    turn = axes_of(first.path.frames(first.starts)[0])
    by_curves = _goals_by_curves(chain, first, frames) if stands else None
    goals = by_curves or [_goal(context, owner, chain, frame, turn) for frame in frames]
    return Sampled(first, known.chain, goals, channels_of(first, keyed))


def _goals_by_curves(chain: FabrikChain, reading: Reading, frames: Sequence[int]) -> list[Goal] | None:
    """The goals of all frames without evaluating one, where only target and pole move, and by their own curves."""
    back, away = reading.world.to_3x3().inverted(), reading.world.translation
    goals = []
    for frame in frames:
        points: list[Vector | None] = []
        for goal, bone in ((chain.target, chain.target_bone), (chain.pole, chain.pole_bone)):
            point = point_at(goal, bone, float(frame)) if goal is not None else None
            if goal is not None and point is None:
                return None
            points.append(back @ (point - away) - reading.origin if point is not None else None)
        assert points[0] is not None
        goals.append(Goal(points[0], points[1], chain.pole_angle))
    return goals


def _goal(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, frame: int, turn: Quaternion
) -> Goal:
    """The goal of one frame as evaluated, turned as if the root's rest frame stood as in the first frame."""
    assert context.scene is not None
    context.scene.frame_set(frame)
    try:
        reading = read(owner, chain, context.evaluated_depsgraph_get())
    except FabrikError as error:
        error.reason = f"in frame {frame}, {error.reason}"
        raise
    back = turn @ axes_of(reading.path.frames(reading.starts)[0]).conjugated()
    pole = back @ reading.goal.pole if reading.goal.pole is not None else None
    return Goal(back @ reading.goal.target, pole, reading.goal.pole_angle)


def solve_frames(sampled: Sampled, frames: Sequence[int]) -> Solved:
    """Solve all frames of a chain at once."""
    count = len(frames)
    missing = (np.nan,) * 3
    goals = Goals(
        np.zeros(count, dtype=np.intp),
        np.array([goal.target for goal in sampled.goals], dtype=np.float64).T,
        np.array([goal.pole if goal.pole is not None else missing for goal in sampled.goals], dtype=np.float64).T,
        np.array([goal.pole_angle for goal in sampled.goals]),
    )
    solution = solve_batch(ChainBatch([sampled.chain]), goals, sampled.reading.settings)
    reading = sampled.reading
    rotations = [[Quaternion(q) for q in joint.T] for joint in solution.parts[0].rotations]
    if reading.chain.influence < 1.0:
        poses = [
            blended(reading.limits, reading.starts, [own[k] for own in rotations], reading.chain.influence)
            for k in range(count)
        ]
        rotations = [[pose[i] for pose in poses] for i in range(len(rotations))]
    return Solved(sampled, rotations, solution)


def _write(writer: CurveWriter, item: Solved, settings: BakeSettings) -> ChainBake:
    """Key a chain; quaternions and Euler angles run on from frame to frame."""
    reading, frames = item.sampled.reading, np.array(settings.frames, dtype=np.float64)
    result = ChainBake(reading.chain.name)
    before = writer.keys
    for channels, bone, rotations, limit in zip(
        item.sampled.channels, reading.bones, item.rotations, reading.limits, strict=True
    ):
        result.worst_violation = max(result.worst_violation, *(limit.violation(rotation) for rotation in rotations))
        turn, at = _largest_turn(rotations)
        if turn > result.worst_turn[0]:
            result.worst_turn = turn, settings.frames[at]
        if channels is None:
            continue
        values = np.array(channels.run(rotations, read_values(bone)))
        path = f"{bone.path_from_id()}.{channel_of(channels.mode)[0]}"
        for index in channels.indices:
            writer.write(ChannelKeys(path, index, bone.name, values[:, index]), frames, settings.interpolation)
    result.keys = writer.keys - before
    for frame, status in zip(settings.frames, item.solution.status, strict=True):
        if status:
            result.unreached.append((frame, STATUSES[int(status)].value))
    return result


def _largest_turn(rotations: Sequence[Quaternion]) -> tuple[float, int]:
    turns = [turn_angle(a.conjugated() @ b) for a, b in pairwise(rotations)]
    return (max(turns), int(np.argmax(turns)) + 1) if turns else (0.0, 0)


def _check(
    context: bpy.types.Context,
    owner: bpy.types.Object,
    done: Sequence[Solved],
    results: Sequence[ChainBake],
    frames: Sequence[int],
) -> None:
    """Let Blender evaluate every frame, and measure how far the tips are from their targets."""
    scene = context.scene
    assert scene is not None
    for k, frame in enumerate(frames):
        scene.frame_set(frame)
        depsgraph = context.evaluated_depsgraph_get()
        evaluated = owner.evaluated_get(depsgraph)
        for item, result in zip(done, results, strict=True):
            if item.solution.status[k]:
                continue
            chain = item.sampled.reading.chain
            assert chain.target is not None
            target = resolve_point("target", chain.target, chain.target_bone, depsgraph)
            tip = pose_bones(evaluated)[item.sampled.reading.bones[-1].name].tail
            off = to_root(evaluated.matrix_world, tip, target).length / item.sampled.chain.length
            result.worst_tip_error = max(result.worst_tip_error, float(off))


__all__ = ("BakeSettings", "ChainBake", "bake", "sample", "solve_frames")
