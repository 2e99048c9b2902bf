# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing knows between two calls.

That is plain data, and references to objects, which Blender invalidates when it frees them; they are let go where it
may not: at an undo, and while a file loads. No reference to a bone, a chain or anything evaluated is kept.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from ...rig.animated import Motion
from ...rig.array_types import Doubles
from ...rig.chain_space import ChainSpace, RigFrame
from ...rig.kept_start import KeptStart
from ...rig.prepared import Prepared
from ...rig.rotations import Q4, V3
from ..outcome import Outcome
from .batch import Batch
from .tips import Tips

Numbers = tuple[float, ...]
Foreseen = dict[float, tuple[Numbers, tuple[V3, ...]]]  # by frame: goals in chain space, and in the world

REMEMBERED = 256  # states that undo may come back to
GONE = (ReferenceError, KeyError, TypeError)  # raised where an object, a chain or a bone is not there any more


class Ways(NamedTuple):
    """What moves a live chain beside its goals.

    Attributes:
        motion: From frame to frame: animation, and other live chains on which it hangs.
        shares: Whether another live chain has bones of it, so that it may have to be written though nothing moved it.
        are_none: Whether nothing but its goals moves it.
    """

    motion: Motion
    shares: bool
    are_none: bool

    @classmethod
    def of(cls, motion: Motion, shares: bool) -> Ways:
        """All that moves a chain."""
        return cls(motion, shares, not any(motion) and not shares)


class Source(NamedTuple):
    """Where a goal is read.

    Attributes:
        read: From the role, the evaluated object and the bone's name to a world position.
        role: "target" or "pole".
        found: The object.
        bone: Name of a bone of it, or "".
        may_hide: Whether it is disabled in some frames.
    """

    read: Callable[[str, bpy.types.Object, str], Vector]
    role: str
    found: bpy.types.Object
    bone: str
    may_hide: bool


@dataclass(slots=True, eq=False)
class LiveChain:
    """A chain as it was read, and how it stands.

    Attributes:
        name: Of the chain.
        prepared: As it was read. Its row has the pose in which it stands, influence included, and the tip of that.
        sources: Its target, and its pole where it has one.
        ways: What moves it beside its goals.
        space: Where chain space lies now.
        places: Indices of its bones that are written, in the armature.
        near: (n, 4), what the quaternions of its bones continue; None where a bone is locked or has other channels.
        rotations: (n, 4), a view of the row's.
        near_enough: Square of the distance within which its tip counts as being where it was solved.
        numbers: The goals for which it stands solved, in chain space.
        points: The same goals in the world.
        before: Those for which it stood before, in chain space.
        foreseen: Goals of frames, in chain space and in the world; None where more than their own curves decide.
        outcome: What came of it.
        stored: What is stored of that with the chain; None where it has to be looked up.
        is_fresh: False once something changed it; then it is read anew.
        start: The start pose as it was stored when the chain was read; None where nobody asked.
        accepted: Values of channels, by bones, that stand there by the add-on's own doing, beside those written live.
    """

    name: str
    prepared: Prepared
    sources: tuple[Source, ...]
    ways: Ways
    space: ChainSpace
    places: list[int]
    near: Doubles | None
    rotations: Doubles
    near_enough: float
    numbers: Numbers = ()
    points: tuple[V3, ...] = ()
    before: Numbers = ()
    foreseen: Foreseen | None = field(default_factory=dict)
    outcome: Outcome = field(default_factory=lambda: Outcome("", "NONE"))
    stored: Outcome | None = None
    is_fresh: bool = True
    start: KeptStart | None = None
    accepted: dict[str, list[float]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class LiveRig:
    """A live armature.

    Attributes:
        owner: The armature object.
        chains: Those of its enabled chains that were read, by their names.
        ways: Of each enabled chain.
        indices: Of each of its chains by its name.
        bones: Indices of its bones by their names.
        residuals: Of each of its chains, as stored.
        passes: The same.
        frame: How the armature object stood at the last evaluation.
        world: The same as Blender has it.
        batch: What was needed to write some of its chains at once, the last time.
        tips: What was needed to look at the tips of its chains at once, the last time.
    """

    owner: bpy.types.Object
    chains: dict[str, LiveChain]
    ways: dict[str, Ways]
    indices: dict[str, int]
    bones: dict[str, int]
    residuals: array[float]
    passes: array[int]
    frame: RigFrame | None = None
    world: Matrix | None = None
    batch: Batch | None = None
    tips: Tips | None = None


@dataclass(slots=True, eq=False)
class Hand:
    """What was done by hand to a live chain, and what came of it.

    Attributes:
        bones: Names of the bones that were turned.
        wanted: The rotation of each bone of the chain as it was wanted: those by hand, the others as they stood.
        stood: The values of their channels before.
        before: The start pose as it was stored before.
        reason: Why live posing put the bones back; "" where the pose became the start pose.
        is_keyed: Whether automatic keying is to keep it, for a start pose that is what is keyed.
        tool: Which modal tool is at it; 0 for none.
        after: The start pose as it was stored then.
    """

    bones: list[str]
    wanted: dict[str, Q4]
    stood: dict[str, list[float]]
    before: KeptStart
    reason: str = ""
    is_keyed: bool = False
    tool: int = 0
    after: KeptStart | None = None


Item = tuple[LiveRig, str]  # an armature and the name of a chain of it
Pair = tuple[bpy.types.Object, str]  # the same by what lasts longer
Names = tuple[str, str]  # and by what outlasts undo: full name of the armature object, name of the chain
Values = dict[str, list[float]]  # of the rotation channels of bones


class Replay(NamedTuple):
    """What live posing made of a state of a chain that undo or redo may bring back.

    Attributes:
        names: The chain.
        start: Its start pose as it was stored.
        values: Its channels as they stood.
        hand: What was made of these.
    """

    names: Names
    start: KeptStart
    values: Values
    hand: Hand


@dataclass(slots=True)
class LiveState:
    """All that live posing knows.

    Attributes:
        paused: While a file loads, or frames are visited, nothing is solved.
        held: While a tip is dragged nothing is keyed, nor done by hand.
        was_held: Whether it was at the last call, so that what stands now is where the drag left it.
        scene: Full name of the scene for which the rest holds.
        frame: At which it was.
        others: The live armatures of other scenes, which other windows show, as they were known there.
        rigs: Its live armatures.
        order: Their chains by levels, or None where all has to be looked up.
        watched: The live armatures, and their targets and poles.
        unkeyed: Chains posed while a modal transform ran, to be keyed when it ends, each with the goals before it.
        undone: Whether the next evaluation follows an undo or a redo.
        restored: The channels of chains as an undo or a redo left them, until they are evaluated.
        own: How many operators of the add-on are at work: what these write is not done by hand.
        hands: What was done by hand to chains, for as long as nothing else happened to them.
        heeded: Chains of which the last call heard so.
        replays: The last states that were answered after Blender had kept them for undo.
        key_steps: The same for automatic keys: chain, frame, and goals in chain space.
        heard: `Changes.count` at the last call.
        reads: Number of times that a chain was read in full so far.
        solves: Number of solves so far.
        writes: Number of bones written so far.
    """

    paused: bool = False
    held: bool = False
    was_held: bool = False
    scene: str = ""
    frame: float = 0.0
    others: dict[str, list[LiveRig]] = field(default_factory=dict)
    rigs: list[LiveRig] = field(default_factory=list)
    order: list[list[Item]] | None = None
    watched: set[bpy.types.Object] = field(default_factory=set)
    unkeyed: dict[Pair, Numbers] = field(default_factory=dict)
    undone: bool = False
    restored: dict[Names, Values] = field(default_factory=dict)
    own: int = 0
    hands: dict[Names, Hand] = field(default_factory=dict)
    heeded: set[Names] = field(default_factory=set)
    replays: deque[Replay] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    key_steps: deque[tuple[Names, float, Numbers]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    heard: int = -1
    reads: int = 0
    solves: int = 0
    writes: int = 0

    def turn_to(self, scene: str) -> None:
        """Another scene was evaluated, in another window, or since the window shows it now: all is looked up there."""
        self.others[self.scene] = self.rigs
        self.scene, self.rigs = scene, self.others.pop(scene, [])
        self.order = None
        self.watched.clear()
        for rig in self.rigs:
            for known in rig.chains.values():
                known.is_fresh = False

    def forget(self) -> None:
        """Everything may have changed: undo, a file."""
        self.others.clear()
        self.order = None
        self.rigs.clear()
        self.watched.clear()
        self.unkeyed.clear()
        self.restored.clear()
        self.hands.clear()

    def forget_all(self) -> None:
        """Another file: nor may any state come back."""
        self.forget()
        self.replays.clear()
        self.key_steps.clear()
        self.held = self.was_held = self.undone = False  # a drag ends with its file


state = LiveState()
