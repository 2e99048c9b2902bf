# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing knows between two calls: plain data and names, no reference to anything of Blender's."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..kernel import Chain, Goal, Settings
from ..kernel.limits import Limit
from ..rig.writer import BoneChannels

Key = tuple[str, str]  # name of an object, file of its library
Pair = tuple[Key, str]  # an armature, a chain of it


@dataclass(slots=True)
class Ready:
    """A chain that was read, as plain data.

    Attributes:
        bones: Names of the n bones.
        channels: How rotations become their channel values; None for a locked bone.
        chain: As measured. The kernel keeps with it what it found out about it.
        starts: n rotations of the start pose.
        limits: n limits.
        goal: Target and pole for which the chain stands solved, in armature space relative to the root.
        before: The goal for which it stood before.
        tip: Where the tip then stands, in the same space.
        settings: How to solve.
        influence: How far to turn from start to solution.
        world: World matrix of the armature object.
        origin: Head of the first bone in armature space.
        is_rigid: Whether the measured chain holds in every pose, so that the solve alone tells where it will stand.
        is_still: Whether nothing but its goal can move it from frame to frame.
        goal_keys: Target and pole.
        is_fresh: False once the armature changed; what was found out about the chain may still hold.
    """

    bones: list[str]
    channels: list[BoneChannels | None]
    chain: Chain
    starts: list[Quaternion]
    limits: list[Limit]
    goal: Goal
    before: Goal
    tip: Vector
    settings: Settings
    influence: float
    world: Matrix
    origin: Vector
    is_rigid: bool
    is_still: bool
    goal_keys: set[Key]
    is_fresh: bool = True


@dataclass(slots=True)
class LiveState:
    """All that live posing knows.

    Attributes:
        paused: While a file loads nothing is solved.
        held: While a tip is dragged nothing is keyed.
        scene: Full name of the scene for which the rest holds.
        owners: The live armatures of the scene, or None where they have to be looked up.
        order: Chains by levels, or None where it has to be found.
        watched: The live armatures, and their targets and poles.
        ready: What was read, by armature and chain.
        ahead: Chains that were posed before the frame was evaluated.
        unkeyed: Chains posed while a modal transform ran, to be keyed when it ends, each with the goal before it.
        undone: Whether the next evaluation follows an undo or a redo.
        heard: `Changes.count` at the last call.
        solves: Number of solves so far.
        writes: Number of bones written so far.
    """

    paused: bool = False
    held: bool = False
    scene: str = ""
    owners: list[Key] | None = None
    order: list[list[Pair]] | None = None
    watched: set[Key] = field(default_factory=set)
    ready: dict[Pair, Ready] = field(default_factory=dict)
    ahead: set[Pair] = field(default_factory=set)
    unkeyed: dict[Pair, Goal] = field(default_factory=dict)
    undone: bool = False
    heard: int = -1
    solves: int = 0
    writes: int = 0

    def forget(self) -> None:
        """Everything may have changed: undo, a file, a scene."""
        self.owners = self.order = None
        self.watched = set()
        self.ready.clear()
        self.ahead.clear()
        self.unkeyed.clear()


state = LiveState()


def key_of(found: bpy.types.ID) -> Key:
    """The name by which an object is found again."""
    return found.name, found.library.filepath if found.library else ""


def object_of(key: Key) -> bpy.types.Object | None:
    """The object of a name, if it is still there."""
    name, library = key
    return bpy.data.objects.get((name, library or None))
