# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: the chains of an armature solved over a range of frames, all frames of a chain at once, into keys.

Every frame is solved as by itself, from the same start pose as a solve by button or live, so frames do not depend on
each other and are solved as one batch. Chains that hang on others are sampled after those are keyed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import degrees
from typing import Any

import bpy
import numpy as np

from ..errors import ChainError, FabrikError, InvalidValueError
from ..kernel.arrays import REAL, Array, column, conjugated, multiply, turn_angle
from ..kernel.batch import STATUSES, ChainBatch, solve_batch
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import channel_of, read_values
from ..rig.checks import check_rig
from ..rig.curves import ChannelKeys, CurveWriter
from ..rig.plain_motion import stands_still
from ..rig.properties import FabrikChain, rig_of
from ..rig.reader import to_root
from ..rig.targets import resolve_point
from .bake_checks import check_bake
from .bake_sample import Sampled, goals_of, sample_level
from .frames import frames_visited
from .order import levels

MOST_FRAMES = 1_000_000
MOVED = 1e-3  # share of the length by which a tip is off where something else moves it


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
        unreached: Frames in which the tip does not come to the target, each with the kernel's status, or MOVED where
            Blender's evaluation has it elsewhere than it was solved.
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
class Solved:
    """A chain solved in F frames: for each of its n bones (4, F) rotations, and the status of each frame."""

    sampled: Sampled
    rotations: Array
    status: Array


def frames_between(first: int, last: int, step: int) -> tuple[int, ...]:
    """The frames of a range by steps, its last one always among them, so that no old key stays inside it."""
    frames = tuple(range(first, last + 1, step))
    return frames if not frames or frames[-1] == last else (*frames, last)


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
    chains = _checked(context, owner, names, settings)
    with frames_visited(scene):
        try:
            return _baked(context, owner, chains, settings)
        except FabrikError as error:
            error.rig = error.rig or owner.name
            raise


def _checked(
    context: bpy.types.Context, owner: bpy.types.Object, names: Sequence[str], settings: BakeSettings
) -> list[FabrikChain]:
    """The chains to bake, if they can be."""
    if not settings.frames:
        raise InvalidValueError("the range ends before it starts: there is no frame to bake", rig=owner.name)
    if len(settings.frames) > MOST_FRAMES:
        raise InvalidValueError(f"{len(settings.frames)} frames are more than {MOST_FRAMES}", rig=owner.name)
    check_rig(owner, context.evaluated_depsgraph_get())
    chains = [chain for chain in rig_of(owner).chains if chain.name in set(names)]
    if not chains:
        raise ChainError("there is no chain to bake: none is enabled or chosen", rig=owner.name)
    check_bake(context, owner, chains, settings.into)
    return chains


def _baked(
    context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[FabrikChain], settings: BakeSettings
) -> list[ChainBake]:
    """Bake chains that were checked; whatever stops it, all is as it was before."""
    writer, results, done = CurveWriter(owner), list[ChainBake](), list[Solved]()
    bones = [bone for chain in chains for bone in resolve_bones(owner, chain)]
    pose = [(bone.name, channel_of(bone.rotation_mode)[0], read_values(bone)) for bone in bones]
    stands, frames = stands_still(owner, {bone.name for bone in bones}), np.array(settings.frames, dtype=np.float64)
    before = _start_action(owner, settings.into)
    try:
        for number, level in enumerate(levels([(owner, chain) for chain in chains])):
            sampled = sample_level(context, owner, [chain for _, chain in level], frames, stands and not number)
            for item in solve_level(sampled):
                results.append(_write(writer, item, settings))
                done.append(item)
            writer.flush()
        if settings.check:
            _check(context, owner, done, results, settings.frames)
        if settings.into == "NLA":
            _to_track(owner, before, settings.frames[0])
    except BaseException:
        writer.restore()
        _take_back_action(owner, before)
        for name, path, values in pose:
            setattr(pose_bones(owner)[name], path, values)
        raise
    for chain in chains:
        chain.enabled = False
    return results


def _start_action(owner: bpy.types.Object, into: str) -> bpy.types.Action | None:
    """Give the armature the action to bake into; the one that it had."""
    data = owner.animation_data or owner.animation_data_create()
    assert data is not None
    before = data.action
    if before is None:
        data.action = bpy.data.actions.new(f"{owner.name} Bake")
    elif into != "ACTION":
        before.use_fake_user = True  # it is used no more, and is not to be lost
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


def solve_level(level: Sequence[Sampled]) -> list[Solved]:
    """Solve all frames of all chains of a level at once."""
    found: list[Solved] = []
    for settings in {item.reading.settings: None for item in level}:
        some = [item for item in level if item.reading.settings == settings]
        count = len(some[0].targets)
        solution = solve_batch(ChainBatch([item.chain for item in some]), goals_of(some), settings)
        for i, item in enumerate(some):
            part = next(part for part in solution.parts if i * count in part.goals)
            first = int(np.searchsorted(part.goals, i * count))
            rotations = part.rotations[..., first : first + count]
            found.append(Solved(item, _blended(item, rotations), solution.status[i * count : (i + 1) * count]))
    return sorted(found, key=lambda item: level.index(item.sampled))


def _blended(item: Sampled, rotations: Array) -> Array:
    """The rotations between start and solution by the chain's influence."""
    influence = item.reading.chain.influence
    if influence >= 1.0:
        return rotations
    share = np.array([influence], dtype=REAL)
    pairs = zip(item.reading.limits, item.reading.starts, rotations, strict=True)
    return np.stack([limit.stacked([limit]).way(column(start), own)(share) for limit, start, own in pairs])


def _write(writer: CurveWriter, item: Solved, settings: BakeSettings) -> ChainBake:
    """Key a chain; quaternions and Euler angles run on from frame to frame."""
    reading, frames = item.sampled.reading, np.array(settings.frames, dtype=np.float64)
    result = ChainBake(reading.chain.name)
    before = writer.keys
    bones = zip(item.sampled.channels, reading.bones, item.rotations, reading.limits, strict=True)
    for channels, bone, rotations, limit in bones:
        worst = float(limit.stacked([limit]).violation(rotations).max())
        result.worst_violation = max(result.worst_violation, worst)
        turns = turn_angle(multiply(conjugated(rotations[:, :-1]), rotations[:, 1:]))
        if turns.size and turns.max() > result.worst_turn[0]:
            result.worst_turn = float(turns.max()), settings.frames[int(turns.argmax()) + 1]
        if channels is None:
            continue
        values = channels.run(rotations, read_values(bone))
        path = f"{bone.path_from_id()}.{channel_of(channels.mode)[0]}"
        for index in channels.indices:
            writer.write(ChannelKeys(path, index, bone.name, values[:, index]), frames, settings.interpolation)
    result.keys = writer.keys - before
    for k in np.flatnonzero(item.status):
        result.unreached.append((settings.frames[k], STATUSES[int(item.status[k])].value))
    return result


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
            if item.status[k]:
                continue
            chain = item.sampled.reading.chain
            assert chain.target is not None
            target = resolve_point("target", chain.target, chain.target_bone, depsgraph)
            tip = pose_bones(evaluated)[item.sampled.reading.bones[-1].name].tail
            off = to_root(evaluated.matrix_world, tip, target).length / item.sampled.chain.length
            result.worst_tip_error = max(result.worst_tip_error, float(off))
            if off > MOVED and chain.influence >= 1.0:
                result.unreached.append((frame, "MOVED"))


__all__ = ("BakeSettings", "ChainBake", "bake", "frames_between")
