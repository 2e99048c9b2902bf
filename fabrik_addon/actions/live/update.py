# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done in each of Blender's updates for the chains that are posed live.

Blender calls `tick` after it evaluated a change or a frame, and evaluates what is written there before it draws, in
the same update. A chain is read in full when its armature changed; from frame to frame only that is looked at which
may move it: its goals, the armature and the parents that carry it where these are animated, and the pose from which it
starts where that is keyed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import filterfalse
from operator import is_
from typing import Any

import bpy

from ...errors import FabrikError, are_finite, place_of
from ...rig.animation.animation import keeps_turn, points_ahead
from ...rig.animation.compat import evaluated_now
from ...rig.animation.keys import StripValues
from ...rig.bones import pose_bones
from ...rig.figure.groups import ChainSet
from ...rig.figure.pose_writer import flush_animation, write_left
from ...rig.figure.reader import FactsByRig, frame_of, is_beside, restarted
from ...rig.figure.space import ChainSpace, RigFrame
from ...rig.figure.start_pose import held_bones
from ...rig.goals import Source, Values, read_sources
from ...rig.schema import Changes, rig_of
from .figures import (
    as_foreseen,
    follow,
    keep,
    let_go,
    numbers_of,
    read_anew,
    renew_channels,
    renew_space,
    rest_where_off,
    solved,
    stand,
    write,
)
from .state import (
    MISSING,
    NOT_BARE,
    Foreseen,
    Hands,
    Layout,
    LiveFigure,
    LiveItem,
    LiveRig,
    Names,
    PlayedFrame,
    grouping_of,
    look,
    mark_stale,
    refuse,
    state,
    switch_rig_off,
)
from .user_edits import enabled_among, find, is_tool_at_work, released, settle, started, take_as_ours

BLOCK = 12  # frames for which curves are evaluated at once
MOST = 512  # frames of which the goals of a chain are kept, and the poses of an armature


def tick(context: bpy.types.Context, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, is_frame: bool) -> None:
    """Solve what no longer stands as its goals want it, after Blender evaluated a change or a frame."""
    if state.paused:
        return
    if not getattr(scene, "fabrik_live"):
        if scene.name_full == state.scene:
            state.forget()
            state.scene = ""
        return
    if scene.name_full != state.scene:
        _turn_to(scene)
    state.frame = scene.frame_current_final
    if state.held:
        state.was_held = True
    elif state.was_held:
        take_as_ours()
    try:
        posed, settled = _posed(context, depsgraph, is_frame)
    except MISSING:
        state.forget()
        posed, settled = _posed(context, depsgraph, is_frame, is_last=True)
    if state.notes:  # what there is to say of poses made by hand holds until their chains are posed again
        others = [(rig.owner.name_full, names) for rig, names in posed if (rig, names) not in settled]
        moved = {(rig, name) for rig, names in others for name in names}
        kept = [key for key in state.notes if not any((key[0], name) in moved for name in key[1:])]
        state.notes = {key: state.notes[key] for key in kept}
    if is_frame:
        state.notes.clear()


def _turn_to(scene: bpy.types.Scene) -> None:
    """Go on with another scene; an armature of both stands as the other one left it, if that is at another frame."""
    is_elsewhere = scene.frame_current_final != state.frame
    state.turn_to(scene.name_full)
    if is_elsewhere:
        take_as_ours()


def _posed(
    context: bpy.types.Context, depsgraph: bpy.types.Depsgraph, is_frame: bool, is_last: bool = False
) -> tuple[list[LiveItem], list[LiveItem]]:
    """Bring every chain that does not stand as its goals want it to them; which were written, which posed by hand.

    `is_last` says that all was looked up anew after an error, so that another one is the armature's own.
    """
    scene = depsgraph.scene
    assert scene is not None
    changed = _changed(scene, depsgraph, is_frame)
    is_known = state.order is not None
    is_render = is_beside(depsgraph)
    is_same = _catch_up(scene, depsgraph, is_frame, is_render)
    if not state.rigs:
        return [], []
    left = state.rigs
    if is_frame and not is_render and is_same:
        left = [*filterfalse(partial(as_foreseen, depsgraph=depsgraph), left)]
        if not left:
            return [], []
    if is_render or not is_frame:
        is_switched = any(len(found.constraints) for found in changed & state.watched if found.type != "ARMATURE")
        mark_stale(rig for rig in state.rigs if is_render or is_switched or rig.owner in changed)
    if is_known and not is_frame and not is_render and not changed & state.watched and not state.posing:
        return [], []
    hands = Hands()
    if not (is_frame or is_render or state.own or state.held):
        rigs = [rig for rig in state.rigs if rig.owner in changed | state.posing or not is_known]
        hands = find(context, rigs, frame_of(depsgraph))
        mark_stale(rig for rig, _ in hands)
    tick = _Tick(context, depsgraph, is_frame, changed if is_known else None, hands)
    tick.rigs = left
    written = tick.posed(is_last)
    while tick.is_parted:  # what is left of chains that were solved together goes on without those that were in the way
        look(scene)
        settled = tick.settled
        tick = _Tick(context, depsgraph, is_frame, None, Hands())
        written += tick.posed(is_last)
        tick.settled += settled
    return written, tick.settled


def _catch_up(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, is_frame: bool, is_render: bool) -> bool:
    """Look up what may be others than they were; whether nothing may."""
    heard, state.heard = state.heard, Changes.count
    if is_frame and heard != Changes.count:  # nobody evaluated what was set before the frame changed
        state.look_again()
    is_same = state.order is not None
    if not is_same:
        look(scene)
    for rig in state.rigs if is_render else ():
        for thing in (rig.owner, rig.owner.data):
            flush_animation(thing, depsgraph)
        StripValues.evaluated(scene.frame_current_final, [rig.owner])
    is_regrouped = False
    for rig in state.rigs:
        if rig.grouped_by is not None and rig.grouped_by != grouping_of(rig.owner):
            is_regrouped = True
            if is_frame:
                rest_where_off(rig, frame_of(depsgraph))
    if is_regrouped:
        look(scene)
    return is_same and not is_regrouped


def _changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, is_frame: bool) -> set[bpy.types.Object]:
    """Objects that Blender evaluated anew; the order is forgotten where it may have changed with them.

    With a frame it may have been any: what moves them from frame to frame is known, and all are looked at.
    """
    if is_frame:
        is_other = depsgraph.id_type_updated("COLLECTION") or depsgraph.id_type_updated("SCENE")
        if is_other and not _is_animated(scene):
            state.look_again()
        return state.watched
    changed: set[bpy.types.Object] = set()
    for update in depsgraph.updates:
        found = update.id.original if update.id else None
        if isinstance(found, bpy.types.Object):
            changed.add(found)
            if found.type == "ARMATURE" and (found in state.watched or rig_of(found).live):
                state.order = None  # its chains may be others now
        elif isinstance(found, bpy.types.Armature):
            changed |= {rig.owner for rig in state.rigs if rig.owner.data == found}
        elif isinstance(found, bpy.types.Scene | bpy.types.Collection | bpy.types.Action):
            state.order = None  # by an action, what moves the chains from frame to frame
    for rig in state.rigs:
        for known in rig.figures.values():
            known.foreseen = {}
    return changed


def _is_animated(scene: bpy.types.Scene) -> bool:
    """Whether a scene is evaluated with every frame."""
    data = scene.animation_data
    return data is not None and bool(data.action or data.drivers)


class _Tick:
    """The chains looked at after one evaluation.

    Attributes:
        is_frame: Whether the frame changed.
        changed: Objects that were evaluated anew, so that only chains with these have to be looked at; None for all.
        hands: Of some chains the bones that were posed by hand.
        rigs: The armatures that are looked at: the others stand as they were foreseen.
        is_parted: Whether a chain was switched off that is solved together with others.
        settled: Chains that start from what was posed by hand.
    """

    def __init__(
        self,
        context: bpy.types.Context,
        depsgraph: bpy.types.Depsgraph,
        is_frame: bool,
        changed: set[bpy.types.Object] | None,
        hands: Hands,
    ) -> None:
        self.context, self.depsgraph, self.is_frame, self.changed = context, depsgraph, is_frame, changed
        self.hands, self.rigs = hands, state.rigs
        self.is_parted, self.settled = False, list[LiveItem]()
        self.is_later = False  # whether chains of an earlier level were posed
        self.rig_facts = FactsByRig(frame_of(depsgraph))
        self.poses: dict[LiveRig, Any] = {}

    def posed(self, is_last: bool) -> list[LiveItem]:
        """Pose level by level; which chains were written. At last an armature whose data are gone is at fault."""
        written: list[LiveItem] = []
        levels = state.order or []
        for i, level in enumerate(levels):
            by_rig: dict[LiveRig, list[Names]] = {}
            for rig, names in level:
                if rig in self.rigs:
                    by_rig.setdefault(rig, []).append(names)
            posed: list[LiveItem] = []
            for rig, groups in by_rig.items():
                try:
                    posed += self._posed(rig, groups)
                except MISSING as error:
                    if not is_last:
                        raise
                    switch_rig_off(rig.owner, error)
                except Exception as error:  # the others go on
                    switch_rig_off(rig.owner, error)
            written += posed
            if posed and i + 1 < len(levels):
                self.is_later = True
                with self._evaluated():  # for the chains that may hang on what was written
                    evaluated_now(self.depsgraph)
        return written

    def _posed(self, rig: LiveRig, groups: Iterable[Names]) -> list[LiveItem]:
        """Pose chains of one armature; which were written."""
        rig.standing = None
        looked = [self._looked(rig, names) for names in groups]
        moved = [known for known in looked if known is not None]
        return [(rig, known.names) for known in write(rig, moved)] if moved else []

    @contextmanager
    def _evaluated(self) -> Iterator[None]:
        """Let Blender evaluate what is written inside this block: what was read is forgotten."""
        state.paused = True  # Blender calls the handlers for this evaluation, too
        try:
            yield
        finally:
            state.paused = False
        self.poses.clear()
        self.rig_facts = FactsByRig(frame_of(self.depsgraph))

    def _looked(self, rig: LiveRig, names: Names) -> LiveFigure | None:
        """Chains that are to be written; None for those that stand as their goals want it."""
        known = rig.figures.get(names)
        try:
            if known is None or not known.is_fresh or (self.is_frame and known.facts.motion.changes):
                return self._anew(rig, names)
            changed = None if self.is_frame or self.is_later else self.changed
            if changed is not None and changed.isdisjoint([one.found for one in known.sources]):
                return None
            start, space = known.figure.start, known.space
            points = read_sources(known.sources, self.depsgraph)
            if not self._is_same(rig, known, points):
                return self._anew(rig, names)
            now, numbers = known.figure, known.numbers
            is_restarted, is_carried = now.start is not start, known.space is not space
            if points != known.points or is_restarted or is_carried:
                numbers = numbers_of(known, points)
            if numbers != known.numbers or is_restarted or (is_carried and now.weighed is not None):
                follow(known, numbers, points)
                return known
            known.points = points
            return known if self.is_frame and known.facts.motion.is_keyed else None
        except FabrikError as error:
            rig.figures.pop(names, None)
            self.is_parted |= refuse(rig, names, error, is_seen=not is_beside(self.depsgraph))
        return None

    def _anew(self, rig: LiveRig, names: Names) -> LiveFigure | None:
        """Read chains in full, and solve them; None where one is gone or disabled."""
        chains = rig_of(rig.owner).chains
        enabled = enabled_among(chains, names)
        if len(enabled) < len(names):
            state.order = None
            return None
        self._poses_of(rig)
        chain_set = ChainSet(rig.owner, enabled, rig.facts[names].body)
        known = read_anew(rig, chain_set, self.depsgraph, self.rig_facts)
        if (rig, names) in self.hands:
            known = self._by_hand(rig, chain_set, known)
        known.is_fresh = not held_bones(rig.owner, self.rig_facts.frame)  # in another frame these start elsewhere
        if rig.frame is not None and rig.frame == known.space.rig:
            known.space = known.space._replace(rig=rig.frame)
            known.figure = replace(known.figure, space=known.space)  # so that no frame has to
        rig.figures[names] = known
        return known

    def _by_hand(self, rig: LiveRig, chain_set: ChainSet, known: LiveFigure) -> LiveFigure:
        """Chains of which bones were posed by hand, solved from there; as they are where none stands otherwise."""
        root, tool = self._poses_of(rig)[known.figure.bones[0]], is_tool_at_work(self.context)
        by_hand = started(known, rig, self.hands.pop((rig, chain_set.names)), root, settles=not tool)
        if by_hand is None:
            return known
        if tool:
            names = [chain.name for chain in released(chain_set, by_hand[1])]
            return solved(let_go(known, by_hand[0], names, chain_set), chain_set, self.depsgraph)
        self.settled.append((rig, chain_set.names))
        with self._evaluated():
            settle(self.context, self.depsgraph, rig, chain_set, by_hand)
        self._poses_of(rig)
        return read_anew(rig, chain_set, self.depsgraph, self.rig_facts)

    def _is_same(self, rig: LiveRig, known: LiveFigure, points: Values) -> bool:
        """Whether chains need no full read: they are only carried, or start elsewhere, and are brought there."""
        motion, is_evaluated = known.facts.motion, self.changed is None or rig.owner in self.changed
        if not known.figure.is_rigid:
            is_still = self.is_frame and known.facts.only_goals_move and points == known.points
            return is_still and stand([known], self._poses_of(rig)) and rig.frame == known.space.rig
        before = known.figure
        if self.is_frame and not self._has_same_joints(rig, known):
            return False
        if not (is_evaluated or motion.is_carried or self.is_later):
            return True
        poses = self._poses_of(rig)
        assert rig.frame is not None
        is_moved = motion.is_carried or known.figure is not before
        is_moved |= rig.frame is not known.space.rig and rig.frame != known.space.rig
        if is_moved and not renew_space(known, rig.frame, poses):
            return False
        if self.is_frame and motion.is_turned:
            renew_channels(known, rig, self.rig_facts.keyed(rig.owner))
        return motion.is_keyed or self.is_later or stand([known], poses)

    def _has_same_joints(self, rig: LiveRig, known: LiveFigure) -> bool:
        """Whether chains are in another frame what they were, but for where they start; then they start from there."""
        motion = known.facts.motion
        if motion.changes or motion.settings:
            return False
        if motion.start_changes:
            found = restarted(known.figure, rig.owner, self.rig_facts.keyed(rig.owner))
            if found is None:
                return False
            known.figure = found
        return True

    def _poses_of(self, rig: LiveRig) -> Any:
        """The evaluated pose bones of an armature, noting how its object stands; refused where that has no scale."""
        if rig not in self.poses:
            evaluated = rig.owner.evaluated_get(self.depsgraph)
            world = evaluated.matrix_world
            if rig.frame is None or world != rig.world:
                with place_of(rig=rig.owner.name):
                    rig.frame, rig.world = RigFrame.of(world), world.copy()
            self.poses[rig] = pose_bones(evaluated)
        return self.poses[rig]


# Chains posed before a frame is evaluated: those that nothing moves but their goals, which move by their own curves.
#
# So the frame is evaluated once. Where the curves do not tell the truth, since something was changed that nobody told
# us of, that is found after the evaluation, and the chain is read anew. How an armature was posed at a frame is kept
# for as long as its goals are foreseen there, so that what is played again is only written.


def ahead(scene: bpy.types.Scene) -> None:
    """Pose the chains whose goals move by their own curves alone, before the frame is evaluated."""
    if scene.name_full != state.scene or Changes.count != state.heard or state.order is None:
        return
    if not getattr(scene, "fabrik_live"):
        return
    frame = scene.frame_current_final
    try:
        for rig in state.rigs:
            if frame in rig.played and _played_again(rig, frame):
                continue
            posed = [known for known in rig.figures.values() if _follows(known, frame)]
            if posed:
                write(rig, posed)
            if rig.standing is None:
                _keep(rig, frame)
    except MISSING:  # all is looked up anew at the frame
        state.forget()


def _keep(rig: LiveRig, frame: float) -> None:
    """Note how an armature stands for goals that are foreseen; for a frame, where `left` and the goals tell it all."""
    layout, figures = rig.layout, [*rig.figures.values()]
    points, spaces = list[tuple[float, ...]](), list[ChainSpace]()
    for known in figures:
        if known.foreseen is None or known.may_hide or not known.figure.is_rigid:
            return
        if not (known.is_fresh and known.facts.only_goals_move):
            return
        points += known.points
        spaces.append(known.space)
    if not figures or len(figures) < len(rig.facts):
        return
    if layout is None or layout.figures != figures or layout.spaces != spaces:
        layout = rig.layout = Layout(figures, rig.bones)
        rig.played.clear()
    rig.standing = tuple(points), layout.tips()
    if layout.places is None:
        return
    played = PlayedFrame([], [], [], rig.left, rig.numbers, rig.standing)
    for known in figures:
        goals = known.foreseen.get(frame) if known.foreseen else None
        if goals is None or goals[0] != known.numbers or known.rests or NOT_BARE in known.told:
            return
        played.goals.append(goals)
        played.told.append([*known.told])
        played.ends.append(known.ends.copy())
    if len(rig.played) >= MOST:
        rig.played.clear()
    rig.played[frame] = played


def _played_again(rig: LiveRig, frame: float) -> bool:
    """Pose an armature as it was posed for a frame, if it is to follow the very same goals there."""
    played, layout = rig.played[frame], rig.layout
    if layout is None or layout.places is None or layout.figures != [*rig.figures.values()]:
        return False
    figures = layout.figures
    if [known.told for known in figures] != played.told or False in [one.is_fresh for one in figures]:
        return False
    if not all(map(is_, [known.foreseen and known.foreseen.get(frame) for known in figures], played.goals)):
        return False
    write_left(rig.owner, played.left, layout.places)
    for known, (numbers, points), ends in zip(figures, played.goals, played.ends, strict=True):
        known.numbers, known.points, known.ends[:] = numbers, points, ends
    before, rig.numbers, rig.left, rig.standing = rig.numbers, played.numbers, played.left, played.standing
    keep(rig, before)
    state.writes += sum(map(len, layout.places.values()))
    return True


def _follows(known: LiveFigure, frame: float) -> bool:
    """Solve chains for a frame that is to come; whether they stand elsewhere then, as far as that can be foreseen."""
    foreseen = known.foreseen
    if foreseen is None or not (known.sources and known.is_fresh and known.facts.only_goals_move):
        return False
    if not known.figure.is_rigid:
        return False
    found = foreseen.get(frame)
    if found is None:
        _foresee(known, foreseen, frame)
        found = foreseen.get(frame)
        if found is None:
            return False
    numbers, points = found
    if numbers == known.numbers:
        known.points = points
        return False
    follow(known, numbers, points)
    return True


def _foresee(known: LiveFigure, foreseen: Foreseen, frame: float) -> None:
    """Find where the goals of chains will stand at a frame, and at those about it."""
    is_whole = frame == int(frame)
    frames = [float(int(frame) // BLOCK * BLOCK + k) for k in range(BLOCK)] if is_whole else [frame]
    paths: list[Sequence[tuple[float, ...]]] = []
    for source, seen in zip(known.sources, known.points, strict=True):
        points = _path(source, seen, frames)
        if points is None:
            known.foreseen = None
            return
        paths.append(points)
    if len(foreseen) >= MOST:
        foreseen.clear()
    for at, points_at in zip(frames, zip(*paths, strict=True), strict=True):
        if all(are_finite(point) for point in points_at):
            foreseen[at] = numbers_of(known, points_at), points_at


def _path(source: Source, seen: tuple[float, ...], frames: Sequence[float]) -> Sequence[tuple[float, ...]] | None:
    """What a source will tell at some frames, or None where more than its own curves decide."""
    if source.frame != "":
        return None
    if source.role == "turn":
        return [seen] * len(frames) if keeps_turn(source.found, source.bone) else None
    return points_ahead(source.found, source.bone, frames)
