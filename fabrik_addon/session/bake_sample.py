# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and their goals over a range of frames, read for baking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ..errors import ChainError, FabrikError
from ..finite import are_finite
from ..kernel.arrays import Array
from ..kernel.batch import Goals
from ..kernel.model import Chain, Goal
from ..kernel.rotations import turn_angle
from ..rig.keys import KeyedChannels
from ..rig.kinematics import axes_of
from ..rig.plain_motion import points_at
from ..rig.properties import FabrikChain
from ..rig.reader import Reading, read
from ..rig.writer import BoneChannels, channels_of
from .solve import EXACT, is_rigid

TURNED = 1e-5  # radians


@dataclass(slots=True, eq=False)
class Sampled:
    """One chain over F frames, as far as it changes.

    Attributes:
        reading: At the first frame.
        chain: As measured there; the same in all frames, but for how its root is turned.
        turn: The rest frame of its root there, in armature space.
        targets: (F, 3), in armature space relative to the root, turned back by the turn of the root's rest frame.
        poles: (F, 3), or None without a pole.
        channels: How rotations become channel values; None for a locked bone.
    """

    reading: Reading
    chain: Chain
    turn: Quaternion
    targets: Array
    poles: Array | None
    channels: list[BoneChannels | None]


def sample_level(
    context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[FabrikChain], frames: Array, stands: bool
) -> list[Sampled]:
    """Read chains in every frame: by the curves of their goals alone where these tell, else as Blender evaluates them.

    Args:
        context: Its scene's frame is moved.
        owner: The armature object.
        chains: Chains of it that do not depend on each other.
        frames: (F,), rising.
        stands: Whether the armature, but for the chains' own bones, stands still.

    Raises:
        FabrikError: A chain can't be solved in some frame, which is named.
    """
    scene = context.scene
    assert scene is not None
    scene.frame_set(int(frames[0]))
    keyed = KeyedChannels(owner, float(frames[0]))
    found = [_first(context, owner, chain, keyed, len(frames)) for chain in chains]
    left = [item for item in found if not (stands and _by_curves(item, frames))]
    if not left:
        return found
    for k, frame in enumerate(frames):
        scene.frame_set(int(frame))
        depsgraph = context.evaluated_depsgraph_get()
        for item in left:
            try:
                goal = _goal(item, read(owner, item.reading.chain, depsgraph))
            except FabrikError as error:
                error.reason = f"in frame {frame:g}, {error.reason}"
                raise
            item.targets[k] = goal.target
            if item.poles is not None and goal.pole is not None:
                item.poles[k] = goal.pole
    return found


def goals_of(level: Sequence[Sampled]) -> Goals:
    """The goals of all frames of all chains of a level, chain after chain."""
    count = len(level[0].targets)
    missing = np.full((count, 3), np.nan)
    return Goals(
        np.repeat(np.arange(len(level)), count),
        np.concatenate([item.targets for item in level]).T,
        np.concatenate([missing if item.poles is None else item.poles for item in level]).T,
        np.repeat([item.reading.goal.pole_angle for item in level], count),
    )


def _first(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, keyed: KeyedChannels, count: int
) -> Sampled:
    reading = read(owner, chain, context.evaluated_depsgraph_get())
    if not is_rigid(reading) or chain.start == "ANIMATED":
        raise ChainError("its lengths or its start pose depend on the frame, so it can't be baked", chain=chain.name)
    turn = axes_of(reading.path.frames(reading.starts)[0])
    poles = np.empty((count, 3)) if chain.pole is not None else None
    measured = reading.measured(reading.starts)
    return Sampled(reading, measured, turn, np.empty((count, 3)), poles, channels_of(reading, keyed))


def _by_curves(item: Sampled, frames: Array) -> bool:
    """Fill in the goals where only target and pole move, and by their own curves; whether that is so."""
    chain, reading = item.reading.chain, item.reading
    back = np.array(reading.world.to_3x3().inverted())
    away, origin = np.array(reading.world.translation), np.array(reading.origin)
    for goal, bone, into in (
        (chain.target, chain.target_bone, item.targets),
        (chain.pole, chain.pole_bone, item.poles),
    ):
        if into is None or goal is None:
            continue
        points = points_at(goal, bone, frames)
        if points is None or not are_finite(points.ravel()):
            return False
        into[:] = (points - away) @ back.T - origin
    return True


def _goal(item: Sampled, reading: Reading) -> Goal:
    """The goal of one frame, turned as if the root's rest frame stood as in the first frame."""
    now = reading.measured(reading.starts)
    if any(abs(a - b) > EXACT * item.chain.length for a, b in zip(now.lengths, item.chain.lengths, strict=True)):
        raise ChainError("its bones have other lengths than in the first frame", chain=reading.chain.name)
    if not is_rigid(reading):
        raise ChainError("its lengths depend on the pose", chain=reading.chain.name)
    back = item.turn @ axes_of(reading.path.frames(reading.starts)[0]).conjugated()
    if turn_angle(back) > TURNED and not all(joint.inherits for joint in now.joints[1:]):
        raise ChainError("a bone that does not inherit rotation hangs on a root that turns", chain=reading.chain.name)
    pole: Vector | None = back @ reading.goal.pole if reading.goal.pole is not None else None
    return Goal(back @ reading.goal.target, pole, reading.goal.pole_angle)
