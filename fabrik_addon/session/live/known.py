# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing knows between two calls.

That is plain data, and references to objects, which Blender invalidates when it frees them; they are let go where it
may not: at an undo, and while a file loads. No reference to a bone, a chain or anything evaluated is kept.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
from mathutils import Matrix

from ...maths import Q4, V3, Doubles, Places
from ...rig.animation import Motion
from ...rig.chain_space import ChainSpace, RigFrame
from ...rig.goals import GoalPoints
from ...rig.pose_writer import PoseWriter
from ...rig.prepared import Prepared
from ...rig.start_pose import StoredPose
from ..status import Outcome
from .tips import Tips

Numbers = tuple[float, ...]
Seen = tuple[tuple[float, ...], ...]  # of each source the place, or the rotation, in the world
Foreseen = dict[float, tuple[Numbers, Seen]]  # by frame: goals in chain space, and as they are seen
Names = tuple[str, ...]  # of chains that are solved together, in alphabetical order

REMEMBERED = 256  # states that undo may come back to
MISSING = (ReferenceError, KeyError, TypeError)  # raised where an object, a chain or a bone is not there any more


class FigureFacts(NamedTuple):
    """Chains of a live armature that are solved together, and what moves them beside their goals.

    Attributes:
        body: Name of their body bone, or "".
        motion: From frame to frame: animation, and other live chains on which they hang.
        only_goals_move: Whether nothing else moves these chains: no animation, constraint or other live chain does.
        keyed: Names of those of the chains whose bones are keyed.
    """

    body: str
    motion: Motion
    only_goals_move: bool
    keyed: Names = ()


class Source(NamedTuple):
    """Where a goal is read.

    Attributes:
        read: From a role, the evaluated object and the bone's name to a world position, or to a world rotation; None
            where a planned walk tells (`walk_goals.walk_pose`).
        role: "target" or "pole"; or "turn", for the rotation of the target.
        found: The object; for a walk the armature object itself.
        bone: Name of a bone of it, or ""; for a walk the part that walks.
        may_hide: Whether it is disabled in some frames.
        chain: Which of the chains that are solved together asks for it.
        offset: Of the chain's last bone in the axes of the target, where it is to turn with that.
    """

    read: Callable[[str, bpy.types.Object, str], Sequence[float]] | None
    role: str
    found: bpy.types.Object
    bone: str
    may_hide: bool
    chain: int = 0
    offset: Q4 | None = None


class Measure(NamedTuple):
    """Where in a solved row there is told how one of the chains stands.

    Attributes:
        first: Its first goal, a place or an aim.
        stop: After the last of those that can be missed.
        row_at: Where its target is among the numbers.
        end: Where its effector is among the ends of the joints, or their heads.
        at_head: Whether it is among the heads.
        reaches: Whether it is to reach a place.
        turn: The goal by which its last bone is turned; -1 where it is free.
        bend: The goal of its pole; -1 where it has none.
    """

    first: int
    stop: int
    row_at: int
    end: int
    at_head: bool
    reaches: bool
    turn: int
    bend: int


@dataclass(slots=True, eq=False)
class LiveFigure:
    """Chains that are solved together, often one by itself, as they were read, and how they stand.

    Attributes:
        names: Of the chains.
        prepared: As they were read, with the start pose that they have now. Its row has the pose in which they stand,
            influence included, the tip of that, and the shift of the root.
        sources: Of each chain in turn its target, that one's rotation where it counts, and its pole where it has one.
        fixed_goals: What the goals are where no source tells it: what pins hold, and rotations that are kept.
        facts: What moves them beside their goals.
        space: Where chain space lies now: it moves with every frame, and is not put into `prepared` each time.
        rotations: (n, 4), a view of the row's.
        shift: The vector by which the root stands elsewhere than it starts, a view of the row's.
        factors: Of each goal by how much the bones on the way to it are longer, a view of the row's.
        ends: (n, 3), where the bones end in chain space, a view of the row's.
        tip_joints: (C,), the last joint of each chain.
        tip_bones: Names of the last bones of the chains.
        near_enough: Square of the distance within which a tip counts as being where it was solved.
        is_plain: Whether it is a chain by itself that has a target, and perhaps a pole, and asks for nothing else.
        measures: Of each chain where a row tells how it stands.
        may_hide: Whether a goal is disabled in some frames.
        numbers: The goals for which they stand solved, in chain space.
        points: The same goals as they were seen.
        before: Those for which they stood before, in chain space.
        foreseen: Goals of frames, in chain space and as seen; None where more than their own curves decide.
        outcomes: What came of each chain.
        stored: What is stored of that with the chains; None where it has to be looked up.
        is_fresh: False once something changed them; then they are read anew.
        start: The start pose as it was stored when they were read; None where nobody asked.
        accepted: Values of channels, by bones, that stand there by the add-on's own doing, beside those written live.
    """

    names: Names
    prepared: Prepared
    sources: tuple[Source, ...]
    fixed_goals: tuple[GoalPoints, ...]
    facts: FigureFacts
    space: ChainSpace
    rotations: Doubles
    shift: Doubles
    factors: Doubles
    ends: Doubles
    tip_joints: Places
    tip_bones: Names
    near_enough: float
    is_plain: bool
    measures: tuple[Measure, ...]
    may_hide: bool
    numbers: Numbers = ()
    points: Seen = ()
    before: Numbers = ()
    foreseen: Foreseen | None = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    stored: list[Outcome | None] = field(default_factory=list)
    is_fresh: bool = True
    start: StoredPose | None = None
    accepted: Values = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class LiveRig:
    """A live armature.

    Attributes:
        owner: The armature object.
        figures: Those of its enabled chains that were read, by the names of those that are solved together.
        facts: Of all enabled chains, likewise.
        grouped_by: The settings of its chains on which it depends which are solved together, where these are animated.
        indices: Of each of its chains by its name.
        bones: Indices of its bones by their names.
        residuals: Of each of its chains, as stored.
        turn_residuals: The same.
        softened: The same.
        passes: The same.
        frame: How the armature object stood at the last evaluation.
        world: The same as Blender has it.
        writer: What was needed to write some of its chains, the last time.
        tips: What was needed to look at the tips of its chains at once, the last time.
    """

    owner: bpy.types.Object
    figures: dict[Names, LiveFigure]
    facts: dict[Names, FigureFacts]
    grouped_by: tuple[object, ...] | None
    indices: dict[str, int]
    bones: dict[str, int]
    residuals: array[float]
    turn_residuals: array[float]
    softened: array[float]
    passes: array[int]
    frame: RigFrame | None = None
    world: Matrix | None = None
    writer: PoseWriter | None = None
    tips: Tips | None = None


class Done(NamedTuple):
    """How the channels of a bone differ from what was last written live: its rotation, its location."""

    is_turned: bool
    is_moved: bool


@dataclass(slots=True, eq=False)
class Hand:
    """Bones of one live figure that somebody else posed, and our answer: a new start pose, put back, or keyed.

    Attributes:
        parts: By the names of the bones that were turned, or moved, which of both.
        wanted: The rotation of each bone of the chains as it was wanted: those by hand, the others as they stood.
        location: The location channels of the body bone, likewise; None where it does not move.
        stood: The values of the channels before.
        before: The start pose as it was stored before.
        chains: Names of those of the chains that have one of the bones; of all where none has.
        reason: Why live posing put the bones back; "" where the pose became the start pose.
        is_keyed: Whether automatic keying is to keep it, for a start pose that is what is keyed.
        tool: Which modal tool is at it; 0 for none.
        after: The start pose as it was stored then.
    """

    parts: dict[str, Done]
    wanted: dict[str, Q4]
    location: V3 | None
    stood: Values
    before: StoredPose
    chains: Names = ()
    reason: str = ""
    is_keyed: bool = False
    tool: int = 0
    after: StoredPose | None = None

    @property
    def bones(self) -> list[str]:
        """Names of the bones that were turned, or moved."""
        return [*self.parts]


LiveItem = tuple[LiveRig, Names]  # an armature, and chains of it that are solved together
Pair = tuple[bpy.types.Object, Names]  # the same by what lasts longer
Key = tuple[str, ...]  # and by what outlasts undo: full name of the armature object, names of the chains
Values = dict[str, list[float]]  # by bones: rotation channels; of a body bone that moves, its location after them
Starts = dict[Key, tuple[list[Q4], V3 | None]]  # from what to solve: rotations, and the location of the body bone


class Replay(NamedTuple):
    """A pose made by hand as an undo state has it, with our answer, so that undo and redo give that answer again.

    Attributes:
        key: The chains.
        start: Their start pose as it was stored.
        values: Their channels as they stood.
        hand: What was made of these.
    """

    key: Key
    start: StoredPose
    values: Values
    hand: Hand


@dataclass(slots=True)
class LiveCounts:
    """How much live posing did in this session: gauges for tests and benchmarks, by which nothing is decided.

    Attributes:
        reads: Number of times that chains were read in full.
        solves: Number of solves.
        writes: Number of bones written.
    """

    reads: int = 0
    solves: int = 0
    writes: int = 0


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
        restored: The channels of the bones of chains as an undo or a redo left them, until they are evaluated.
        own: How many operators of the add-on are at work: what these write is not done by hand.
        hands: What was done by hand to chains, for as long as nothing else happened to them.
        answered: Chains of which the last call answered a pose made by hand.
        replays: The last states that were answered after Blender had kept them for undo.
        key_steps: The same for automatic keys: chain, frame, and goals in chain space.
        heard: `Changes.count` at the last call.
        counts: How much was done so far.
    """

    paused: bool = False
    held: bool = False
    was_held: bool = False
    scene: str = ""
    frame: float = 0.0
    others: dict[str, list[LiveRig]] = field(default_factory=dict)
    rigs: list[LiveRig] = field(default_factory=list)
    order: list[list[LiveItem]] | None = None
    watched: set[bpy.types.Object] = field(default_factory=set)
    unkeyed: dict[Pair, Numbers] = field(default_factory=dict)
    undone: bool = False
    restored: dict[Key, Values] = field(default_factory=dict)
    own: int = 0
    hands: dict[Key, Hand] = field(default_factory=dict)
    answered: set[Key] = field(default_factory=set)
    replays: deque[Replay] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    key_steps: deque[tuple[Key, float, Numbers]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    heard: int = -1
    counts: LiveCounts = field(default_factory=LiveCounts)

    def turn_to(self, scene: str) -> None:
        """Another scene was evaluated, in another window, or since the window shows it now: all is looked up there."""
        self.others[self.scene] = self.rigs
        self.scene, self.rigs = scene, self.others.pop(scene, [])
        self.watched.clear()
        self.look_again()

    def look_again(self) -> None:
        """Something may have changed that was not heard of: all chains are read anew at the next call."""
        self.order = None
        for rig in self.rigs:
            for known in rig.figures.values():
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
