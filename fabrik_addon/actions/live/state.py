# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing knows between two calls, which armatures are live, and what becomes of those that can't be solved.

What is known is plain data, and references to objects, which Blender invalidates when it frees them; they are let go
where it may not: at an undo, and while a file loads. No reference to a bone, a chain or anything evaluated is kept.
"""

from __future__ import annotations

import logging
from array import array
from binascii import Error as BinasciiError
from binascii import a2b_base64
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import AbsentTargetError, FabrikError, RigError
from ...maths import ULPS, Doubles, Singles
from ...rig.animation.animation import GROUPING, Animated, Motion
from ...rig.bones import bones_if_any, names_if_any, pose_bones
from ...rig.checks import movers_of
from ...rig.dependencies import scenes_of
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import ChainSet, sets_of
from ...rig.figure.pose_writer import PoseWriter
from ...rig.figure.reader import captured_starts
from ...rig.figure.solve import SolvedFigure
from ...rig.figure.space import ChainSpace, RigFrame
from ...rig.goals import GoalPoints, Source, Values, goals_of
from ...rig.schema import FabrikChain, RigRecord, name_all, rig_of
from ...rig.versions import newer_refusal
from ...texts import Text
from ..solve import parted, waiting_text
from ..status import Outcome, store

# What live posing knows between two calls.

Numbers = tuple[float, ...]
Foreseen = dict[float, tuple[Numbers, Values]]  # by frame: goals in chain space, and as they are seen
Names = tuple[str, ...]  # of chains that are solved together, in alphabetical order

LEFT = 7  # numbers that are kept of a bone: of its rotation, at most four, and of its location
MISSING = (ReferenceError, KeyError, TypeError)  # raised where an object, a chain or a bone is not there any more


# What is stored in numbers of how a chain ended, and as which type of array Blender takes it.
NUMBERS = {"residual": "f", "turn_residual": "f", "softened": "f", "passes": "i"}
NOT_BARE = -1  # in place of a status that does not tell all


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


@dataclass(slots=True, eq=False)
class LiveFigure:
    """Chains that are solved together, often one by itself, as they were read, and how they stand.

    Attributes:
        names: Of the chains.
        figure: As they were read, with the start pose that they have now. Its row has the pose in which they were
            solved last, influence included, and the shift of the root.
        sources: Of each chain in turn its target, that one's rotation where it counts, and its pole where it has one.
        fixed_goals: What the goals are where no source tells it: what pins hold, and rotations that are kept.
        facts: What moves them beside their goals.
        space: Where chain space lies now: it moves with every frame, and is not put into `figure` each time.
        rotations: (n, 4), a view of the row's.
        shift: The vector by which the root stands elsewhere than it starts, a view of the row's.
        factors: Of each goal by how much the bones on the way to it are longer, a view of the row's.
        ends: (n, 3), where the bones end in chain space, a view of the row's; as they stand, also where a frame is
            played again.
        near_enough: Square of the distance within which a tip counts as being where it was solved.
        is_plain: Whether it is a chain by itself that has a target, and perhaps a pole, and asks for nothing else.
        may_hide: Whether a goal is disabled in some frames.
        numbers: The goals for which they stand solved, in chain space.
        points: The same goals as they were seen.
        foreseen: Goals of frames, in chain space and as seen; None where more than their own curves decide.
        words: What is stored in words of how each chain ended; none where that has to be looked up.
        told: Of each chain the index of its stored status among the kernel's, where that tells all; else -1.
        posed: What came of chains whose figure depends on the pose, where they were solved anew; else None.
        is_fresh: False once something changed them; then they are read anew.
        keys: How many keys the rotations of their bones had when they were read.
        rests: Whether nothing is asked of them, so that they stand as keys play them.
        is_concluded: Whether their influence is taken off what was solved last, and what came of it is told.
    """

    names: Names
    figure: RigFigure
    sources: tuple[Source, ...]
    fixed_goals: tuple[GoalPoints, ...]
    facts: FigureFacts
    space: ChainSpace
    rotations: Doubles
    shift: Doubles
    factors: Doubles
    ends: Doubles
    near_enough: float
    is_plain: bool
    may_hide: bool
    numbers: Numbers = ()
    points: Values = ()
    foreseen: Foreseen | None = field(default_factory=dict)
    words: list[Outcome] = field(default_factory=list)
    told: list[int] = field(default_factory=list)
    posed: SolvedFigure | None = None
    is_fresh: bool = True
    keys: int = 0
    rests: bool = False
    is_concluded: bool = False


class Layout:
    """What stays the same from frame to frame of figures of an armature, so that all are written and seen at once.

    Args:
        figures: All figures of the armature, with C chains; it holds for these as long as they stand in their spaces.
        bones: Indices of its bones by their names.

    Attributes:
        figures: The same.
        spaces: In which they stood.
        sources: Of the goals of all.
        places: By the name of a property, of which bones they write it; None where `LiveRig.left` does not tell all
            that is.
    """

    def __init__(self, figures: Sequence[LiveFigure], bones: Mapping[str, int]) -> None:
        self.figures = figures
        self.sources = [source for known in figures for source in known.sources]
        self.spaces = [known.space for known in figures]
        tips = [(known, one) for known in figures for one in known.figure.goals]
        self._tips = np.array([bones[one.bones[-1]] for _, one in tips], dtype=np.intp)
        self._rows = np.array([known.space.rows for known, _ in tips]).reshape(-1, 3, 3)
        self._origins = np.array([known.space.origin for known, _ in tips])
        self._near_enough = np.array([known.near_enough for known, _ in tips])
        self._tails: Singles = np.empty((len(bones), 3), dtype=np.float32)
        places: dict[str, list[int]] = {}
        is_told = True
        for known in figures:
            channels = [one for one in known.figure.channels if one is not None]
            more = known.figure.plain_channels
            is_told &= "scale" not in [name for _, name in more] and all(one.locks is None for one in channels)
            for bone, name in [(one.bone, one.name) for one in channels] + more:
                places.setdefault(name, []).append(bones[bone])
        self.places = {name: np.array(own, dtype=np.intp) for name, own in places.items()} if is_told else None

    def tips(self) -> Doubles:
        """Where the C tips were solved, in armature space, (C, 3)."""
        ends = np.concatenate([known.ends[known.figure.goals.tips] for known in self.figures])
        found: Doubles = np.einsum("cij,cj->ci", self._rows, ends) + self._origins
        return found

    def stand(self, tips: Doubles, poses: Any) -> bool:
        """Whether the tips of evaluated pose bones stand there.

        Raises:
            TypeError: The armature has other bones.
        """
        poses.foreach_get("tail", self._tails.reshape(-1))
        off = self._tails[self._tips] - tips
        squares = np.einsum("ci,ci->c", off, off)
        if (squares <= self._near_enough).all():
            return True
        allowed = (ULPS * np.abs(tips).max(axis=1)) ** 2
        return bool((squares <= np.maximum(self._near_enough, allowed)).all())


Standing: TypeAlias = tuple[Values, Doubles]  # the goals of all figures of an armature as seen, and where its tips are


class PlayedFrame(NamedTuple):
    """How an armature was posed at a frame, for goals that were foreseen.

    Attributes:
        goals: Of each figure its goals, the very ones that it foresees.
        told: Of each figure how its chains ended.
        ends: Of each figure the ends of its bones.
        left: (count, 7), what stands in the channels (`LiveRig.left`).
        numbers: What is stored in numbers of how the chains ended.
        standing: How it stands there.
    """

    goals: list[tuple[Numbers, Values]]
    told: list[list[int]]
    ends: list[Doubles]
    left: Singles
    numbers: dict[str, list[float]]
    standing: Standing


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
        record: What is kept in the file for the add-on's own use.
        digest: Of what must be the same for `left` to hold (`digest_of`).
        left: (count, 7), what stood in the channels of all bones when live posing left them, as the file has it:
            rotation channels in the mode of the bone, and the location channels of a body bone; nan where that is not
            known. Another array, as `numbers` are other lists, each time that some are written.
        numbers: By name, of each of its chains, what is stored in numbers of how it ended (`NUMBERS`).
        frame: How the armature object stood at the last evaluation.
        world: The same as Blender has it.
        writer: What was needed to write some of its chains, the last time.
        layout: Of its figures, where all were foreseen the last time.
        played: How it was posed at frames that were played.
        standing: How it stands as it was posed ahead of a frame; None where it was posed otherwise since.
    """

    owner: bpy.types.Object
    figures: dict[Names, LiveFigure]
    facts: dict[Names, FigureFacts]
    grouped_by: tuple[object, ...] | None
    indices: dict[str, int]
    bones: dict[str, int]
    record: RigRecord
    digest: bytes
    left: Singles
    numbers: dict[str, list[float]]
    frame: RigFrame | None = None
    world: Matrix | None = None
    writer: PoseWriter | None = None
    layout: Layout | None = None
    played: dict[float, PlayedFrame] = field(default_factory=dict)
    standing: Standing | None = None

    def figure_of(self, bone: str) -> LiveFigure | None:
        """The chains, as far as they were read, that have a bone."""
        return next((known for known in self.figures.values() if bone in known.figure.bones), None)


def mark_stale(rigs: Iterable[LiveRig]) -> None:
    """Chains of these armatures have to be read anew."""
    for rig in rigs:
        rig.standing = None
        for known in rig.figures.values():
            known.is_fresh = False


LiveItem = tuple[LiveRig, Names]  # an armature, and chains of it that are solved together
Pair = tuple[bpy.types.Object, Names]  # the same by what lasts longer
Key = tuple[str, ...]  # and by what outlasts undo: full name of the armature object, names of the chains
MOVED = "\t"  # behind the name of a bone: its location was
Hands = dict[LiveItem, list[str]]  # of chains the bones that were turned by hand, or moved


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
        own: How many operators of the add-on are at work: what these write is not done by hand.
        posing: Armatures that a tool at work poses by hand.
        may_hold: Whether an armature may have a pose that holds until the frame changes.
        notes: What there is to say of what was posed by hand, for as long as nothing else happened to the chains.
        heard: `Changes.count` at the last call.
        reads: How often chains were read in full in this session. This and the next two are gauges for tests, by which
            nothing is decided.
        solves: How often some were solved.
        writes: How many bones were written.
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
    own: int = 0
    posing: set[bpy.types.Object] = field(default_factory=set)
    may_hold: bool = True
    notes: dict[Key, Text] = field(default_factory=dict)
    heard: int = -1
    reads: int = 0
    solves: int = 0
    writes: int = 0

    def turn_to(self, scene: str) -> None:
        """Another scene was evaluated, in another window, or since the window shows it now: all is looked up there."""
        self.others[self.scene] = self.rigs
        self.scene, self.rigs = scene, self.others.pop(scene, [])
        self.watched.clear()
        self.look_again()

    def look_again(self) -> None:
        """Something may have changed that was not heard of: all chains are read anew at the next call."""
        self.order = None
        mark_stale(self.rigs)

    def forget(self) -> None:
        """Everything may have changed: undo, a file."""
        self.others.clear()
        self.order = None
        self.rigs.clear()
        self.watched.clear()
        self.posing.clear()
        self.notes.clear()
        self.may_hold = True

    def forget_all(self) -> None:
        """Another file: a drag ends with its file."""
        self.forget()
        self.held = self.was_held = False


state = LiveState()


# Live chains that can't be solved: told why, and switched off where that is not but for a while.

log = logging.getLogger(__name__)


def refuse(rig: LiveRig, names: Names, error: FabrikError, is_seen: bool) -> bool:
    """Tell why chains can't be solved together: for a while, in edit mode, rest position, hidden; or at all.

    Those at fault are switched off, unless it is but for a while; then all of them wait.

    Args:
        rig: The armature.
        names: Of the chains.
        error: What is wrong.
        is_seen: Whether it is the viewport that is evaluated, and not a render.

    Returns:
        Whether one was switched off that has others beside it, which can be solved without it.
    """
    found = [chain for chain in map(rig_of(rig.owner).chains.get, names) if chain is not None]
    if not isinstance(error, RigError | AbsentTargetError):
        at_fault = _at_fault(rig.owner, found, error)
        for chain in at_fault:
            switch_off(rig.owner, chain, error)
        return len(at_fault) < len(found)
    for chain in found if is_seen else ():
        reason = Text("live posing waits: {reason}", reason=error.local)
        if error.chain not in {"", chain.name}:
            fields = {"chain": error.chain, "reason": error.local}
            reason = Text("live posing waits for '{chain}', which is solved together with it: {reason}", **fields)
        store(chain, Outcome(chain.name, "REFUSED", reason=reason))
    return False


def _at_fault(owner: bpy.types.Object, chains: Sequence[FabrikChain], error: FabrikError) -> Sequence[FabrikChain]:
    """The chain that an error names, unless it names a bone that this one does not have: then all that have it."""
    named = [chain for chain in chains if chain.name == error.chain]
    having = [chain for chain in chains if error.bone in names_if_any(owner, chain)] if error.bone else named
    if named and (not error.bone or named[0] in having):
        return named
    return having or chains


def switch_off(owner: bpy.types.Object, chain: FabrikChain, error: FabrikError) -> None:
    """Take a chain that can't be solved out of live posing, and say why where the user sees it."""
    error.rig, error.chain = owner.name, chain.name
    log.warning("switched off, %s", error)
    chain.enabled = False
    state.order = None
    store(chain, Outcome(chain.name, "REFUSED", reason=Text("switched off while live: {reason}", reason=error.local)))


def switch_rig_off(owner: bpy.types.Object, error: Exception) -> None:
    """Switch live posing off for an armature that fails in a way not foreseen, and say so where the user sees it."""
    log.error("live posing of '%s' failed and is switched off", owner.name, exc_info=error)
    found = rig_of(owner)
    found.live = False
    state.order = None
    reason = Text(
        "live posing failed and is switched off: {name} {error}", name=type(error).__name__, error=error
    ).strip()
    for chain in found.chains:
        if chain.enabled:
            store(chain, Outcome(chain.name, "REFUSED", reason=reason))


# Which armatures are live, what moves their chains, and in which order these are solved.


def look(scene: bpy.types.Scene) -> None:
    """Look up the live armatures and the order of their chains; those that wait for each other are left out."""
    before = {rig.owner: rig for rig in state.rigs}
    owners = live_armatures(scene)
    sets: list[ChainSet] = []
    for owner in owners:
        name_all(owner)
        sets += sets_of(owner, [chain for chain in rig_of(owner).chains if chain.enabled])
    watched = {goal.found for one in sets for chain in one.chains for goal in goals_of(chain)}
    levels, closing = parted(sets)
    for _, chain in closing:
        reason = Text("live posing waits: {reason}", reason=waiting_text(closing))
        store(chain, Outcome(chain.name, "REFUSED", reason=reason))
    sets = [one for level in levels for one in level]
    rigs = {
        owner: _looked_up(owner, [one for one in sets if one.owner == owner], before.get(owner)) for owner in owners
    }
    state.rigs = list(rigs.values())
    state.order = [[(rigs[one.owner], one.names) for one in level] for level in levels]
    state.watched = {*owners, *watched}


def live_armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The live armatures of a scene and of its background sets; of those of newer versions the panel tells."""
    scenes = [one for one in scenes_of(scene) if getattr(one, "fabrik_live")]
    found = dict.fromkeys(found for one in scenes for found in one.objects if found.type == "ARMATURE")
    return [owner for owner in found if rig_of(owner).live and not newer_refusal(owner)]


def _looked_up(owner: bpy.types.Object, sets: Sequence[ChainSet], before: LiveRig | None) -> LiveRig:
    """A live armature; its chains that were read stay so as long as nothing else changes them."""
    chains, animated = rig_of(owner).chains, Animated(owner)
    numbers = {name: [getattr(chain, name) for chain in chains] for name in NUMBERS}
    bones = {bone.name: i for i, bone in enumerate(pose_bones(owner))}
    record, digest = RigRecord(owner), digest_of(owner)
    left = left_in(record.left, digest, len(bones))
    facts, grouped_by = _facts_of(animated, sets, owner), grouping_of(owner) if animated.regroups() else None
    indices = {chain.name: i for i, chain in enumerate(chains)}
    rig = LiveRig(owner, {}, facts, grouped_by, indices, bones, record, digest, left, numbers)
    for names, known in before.figures.items() if before is not None else ():
        if names in facts and facts[names].body == known.facts.body:
            known.is_fresh &= facts[names] == known.facts and all(name in bones for name in known.figure.bones)
            known.facts, known.foreseen = facts[names], {}
            rig.figures[names] = known
    return rig


def left_in(kept: bytes, digest: bytes, count: int) -> Singles:
    """What stood in the channels of bones (`LiveRig.left`), from what the file has; nan where that holds no more."""
    with suppress(BinasciiError):
        found = a2b_base64(kept)
        if found.startswith(digest) and len(found) == len(digest) + 4 * LEFT * count:
            return np.frombuffer(found, dtype=np.float32, offset=len(digest)).reshape(-1, LEFT).copy()
    return np.full((count, LEFT), np.nan, dtype=np.float32)


def digest_of(owner: bpy.types.Object) -> bytes:
    """A digest of the names and the rotation modes of an armature's bones, and of the start poses of its chains."""
    bones: Any = pose_bones(owner)
    modes = array("i", [0]) * len(bones)
    bones.foreach_get("rotation_mode", modes)
    starts = captured_starts(ChainSet(owner, tuple(rig_of(owner).chains), rig_of(owner).body_bone))
    return crc32("\n".join(bones.keys()).encode() + modes.tobytes() + starts).to_bytes(4, "little")


def grouping_of(owner: bpy.types.Object) -> tuple[object, ...]:
    """The settings of the chains of an armature on which it depends which are solved together."""
    return tuple(getattr(chain, name) for chain in rig_of(owner).chains for name in GROUPING)


def _facts_of(animated: Animated, sets: Sequence[ChainSet], owner: bpy.types.Object) -> dict[Names, FigureFacts]:
    """The chains of an armature by those that are solved together, and what moves them beside their goals."""
    motions, found = animated.motions_of(sets, movers_of(owner).by_ik), {}
    for one in sets:
        motion = motions[one.names]
        keyed = [chain.name for chain in one.chains if animated.are_turned(bones_if_any(owner, chain))]
        found[one.names] = FigureFacts(one.body, motion, not any(motion), tuple(keyed))
    return found
