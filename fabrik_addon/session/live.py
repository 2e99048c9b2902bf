# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their targets whenever something moves.

Blender calls `tick` after it evaluated a change or a frame, and evaluates what is written there before it draws, in
the same update. A chain is read in full when its armature changed; what was read is kept as plain data, so that a moved
target alone costs one solve. `ahead` comes before a frame is evaluated: where only the target moves, and by its own
curves, the pose is written then and the frame is evaluated once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

import bpy
from mathutils import Vector

from ..errors import AbsentTargetError, FabrikError, RigError
from ..finite import are_finite
from ..kernel import Goal, solve
from ..rig.chain_bones import pose_bones
from ..rig.checks import check_rig
from ..rig.flush import flush_animation
from ..rig.keys import KeyedChannels
from ..rig.plain_motion import point_at, stands_still
from ..rig.properties import Changes, FabrikChain, name_all, rig_of
from ..rig.reader import frame_of, read, to_root
from ..rig.targets import resolve_point
from ..rig.writer import ChannelWrite, channels_of
from .live_keys import key_posed
from .live_state import Key, Pair, Ready, key_of, object_of, state
from .order import Item, ordered
from .solve import EXACT, Outcome, Solved, blended, compute, is_rigid, outcome_of, store

log = logging.getLogger(__name__)


def tick(context: bpy.types.Context, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, is_frame: bool) -> None:
    """Solve what no longer stands as its goals want it, after Blender evaluated a change or a frame.

    Args:
        context: For automatic keying.
        scene: That was evaluated.
        depsgraph: With which it was.
        is_frame: Whether the frame changed; such poses are not keyed.
    """
    if state.paused:
        return
    if scene.name_full != state.scene or not getattr(scene, "fabrik_live"):
        state.forget()
        state.scene = scene.name_full
    changed = _changed(depsgraph)
    owners = _owners(scene)
    undone, state.undone = state.undone, False
    posed_ahead, state.ahead = state.ahead, set()
    state.heard = Changes.count
    if not owners or not (state.order is None or changed & state.watched or state.unkeyed):
        return
    if depsgraph.mode == "RENDER":
        for owner in owners:
            flush_animation(owner, depsgraph)
        changed |= {key_of(owner) for owner in owners}
    for pair, ready in state.ready.items():
        is_ours = pair in posed_ahead and _stands_as_posed(pair, ready, depsgraph)
        ready.is_fresh = ready.is_fresh and (is_ours or pair[0] not in changed)
    posed = _pose_all(scene, depsgraph, changed if state.order is not None else None)
    if not is_frame and not undone:
        key_posed(context, posed, depsgraph)


def ahead(scene: bpy.types.Scene) -> None:
    """Pose the chains whose goals move by their own curves alone, before the frame is evaluated."""
    is_known = scene.name_full == state.scene and Changes.count == state.heard and getattr(scene, "fabrik_live")
    if state.paused or not is_known or len(state.order or ()) != 1:
        return
    frame = float(scene.frame_current_final)
    for pair, ready in state.ready.items():
        owner = object_of(pair[0])
        chain = rig_of(owner).chains.get(pair[1]) if owner is not None else None
        if owner is None or chain is None or not (ready.is_fresh and ready.is_rigid and ready.is_still):
            continue
        points = [point_at(goal, bone, frame) if goal else None for goal, bone in _goals(chain)]
        if points[0] is None or (chain.pole is not None and points[1] is None) or not _are_usable(points):
            continue
        if _follow(owner, chain, ready, points):
            state.ahead.add(pair)


def _stands_as_posed(pair: Pair, ready: Ready, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a chain that was posed before the frame was evaluated stands so after it."""
    owner = object_of(pair[0])
    if owner is None:
        return False
    evaluated = owner.evaluated_get(depsgraph)
    tip = pose_bones(evaluated).get(ready.bones[-1])
    if tip is None or evaluated.matrix_world != ready.world:
        return False
    return bool((tip.tail - ready.origin - ready.tip).length <= EXACT * ready.chain.length)


def _goals(chain: FabrikChain) -> tuple[tuple[bpy.types.Object | None, str], tuple[bpy.types.Object | None, str]]:
    return (chain.target, chain.target_bone), (chain.pole, chain.pole_bone)


def _are_usable(points: Iterable[Vector | None]) -> bool:
    return all(point is None or are_finite(point) for point in points)


def _changed(depsgraph: bpy.types.Depsgraph) -> set[Key]:
    """Objects that Blender evaluated anew; the order is forgotten where it may have changed with them."""
    changed: set[Key] = set()
    ahead_of = {pair[0] for pair in state.ahead}
    for update in depsgraph.updates:
        found = update.id.original if update.id else None
        if isinstance(found, bpy.types.Object):
            key = key_of(found)
            changed.add(key)
            if found.type == "ARMATURE" and (rig_of(found).live or key in state.watched) and key not in ahead_of:
                state.owners = state.order = None  # its chains may be others now
        elif isinstance(found, bpy.types.Armature):
            changed |= {key for key in state.owners or () if (owner := object_of(key)) and owner.data == found}
        elif isinstance(found, bpy.types.Scene | bpy.types.Collection):
            state.owners = state.order = None
    if changed - state.watched and any(object_of(key) is None for key in state.watched):
        state.owners = state.order = None  # one of them was renamed
        for ready in state.ready.values():
            ready.is_fresh = False
    return changed


def _owners(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The live armatures of the scene."""
    if not getattr(scene, "fabrik_live"):
        return []
    if state.owners is None:
        state.owners = [key_of(found) for found in scene.objects if found.type == "ARMATURE" and rig_of(found).live]
    found = (object_of(key) for key in state.owners)
    return [owner for owner in found if owner is not None and rig_of(owner).live]


def _pose_all(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changed: set[Key] | None) -> list[Pair]:
    """Bring every chain that does not stand as its goals want it to them; which were written.

    Args:
        scene: Its live armatures.
        depsgraph: Evaluated.
        changed: Objects that were evaluated anew, so that only chains with these have to be looked at; None for all.
    """
    if state.order is None:
        state.order = _ordered(scene)
    order, written = state.order, list[Pair]()
    for i, level in enumerate(order):
        posed = [pair for pair in level if _may_have_moved(pair, changed) and _pose(pair, depsgraph)]
        written += posed
        if not posed or i + 1 == len(order):
            continue
        state.paused = True  # Blender calls the handlers for this evaluation, too
        try:
            depsgraph.update()
        finally:
            state.paused = False
        changed = None
        for pair in (pair for later in order[i + 1 :] for pair in later if pair in state.ready):
            state.ready[pair].is_fresh = False  # it may hang on what was posed
    return written


def _may_have_moved(pair: Pair, changed: set[Key] | None) -> bool:
    ready = state.ready.get(pair)
    return changed is None or ready is None or not ready.is_fresh or bool(ready.goal_keys & changed)


def _ordered(scene: bpy.types.Scene) -> list[list[Pair]]:
    """The chains by levels; those that wait for each other switch themselves off."""
    items: list[Item] = []
    state.watched = set()
    for owner in _owners(scene):
        name_all(owner)
        items += [(owner, chain) for chain in rig_of(owner).chains if chain.enabled]
        state.watched.add(key_of(owner))
    for _, chain in items:
        state.watched |= {key_of(goal) for goal, _ in _goals(chain) if goal is not None}
    live = {(key_of(owner), chain.name) for owner, chain in items}
    state.ready = {pair: ready for pair, ready in state.ready.items() if pair in live}
    groups, waiting = ordered(items)
    names = " and ".join(f"'{chain.name}' of '{owner.name}'" for owner, chain in waiting)
    for owner, chain in waiting:
        _switch_off(owner, chain, FabrikError(f"the chains {names} wait for each other"))
    return [[(key_of(owner), chain.name) for owner, chain in level] for level in groups]


def _pose(pair: Pair, depsgraph: bpy.types.Depsgraph) -> bool:
    """Bring one chain to its goals, if it does not stand so; whether bones were written."""
    key, name = pair
    owner = object_of(key)
    chain = rig_of(owner).chains.get(name) if owner is not None else None
    if owner is None or chain is None or not chain.enabled:
        return False
    try:
        ready = state.ready.get(pair)
        if ready is None or not (ready.is_fresh and ready.is_rigid):
            return _pose_anew(owner, chain, pair, depsgraph)
        points = [
            resolve_point(role, goal, bone, depsgraph) if goal else None
            for role, (goal, bone) in zip(("target", "pole"), _goals(chain), strict=True)
        ]
        if points[0] is None:
            return _pose_anew(owner, chain, pair, depsgraph)  # which says what is wrong
        return _follow(owner, chain, ready, points)
    except (RigError, AbsentTargetError) as error:  # edit mode, rest position, hidden: not for ever
        if depsgraph.mode == "VIEWPORT":
            store(chain, Outcome(chain.name, "REFUSED", reason=f"live posing waits: {error.local}"))
        state.ready.pop(pair, None)
    except FabrikError as error:
        _switch_off(owner, chain, error)
    return False


def _pose_anew(owner: bpy.types.Object, chain: FabrikChain, pair: Pair, depsgraph: bpy.types.Depsgraph) -> bool:
    """Read a chain, solve it and keep what was read."""
    check_rig(owner, depsgraph)
    reading = read(owner, chain, depsgraph)
    reading = replace(reading, settings=replace(reading.settings, explain=False))
    keyed = KeyedChannels(owner, frame_of(depsgraph))
    before = state.ready.get(pair)
    solved = compute(reading, keyed, before.chain if before else None)
    state.solves += 1
    ready = _kept(owner, solved, keyed)
    ready.before = before.goal if before else ready.goal
    state.ready[pair] = ready
    outcome = outcome_of(chain.name, solved.solution, ready.bones, solved.solution.residual)
    return _write(chain, solved.writes, outcome)


def _kept(owner: bpy.types.Object, solved: Solved, keyed: KeyedChannels) -> Ready:
    reading = solved.reading
    return Ready(
        [bone.name for bone in reading.bones],
        channels_of(reading, keyed),
        solved.chain,
        reading.starts,
        reading.limits,
        reading.goal,
        reading.goal,
        solved.joints[-1],
        reading.settings,
        reading.chain.influence,
        reading.world,
        reading.origin,
        is_rigid=is_rigid(reading),
        is_still=stands_still(owner),
        goal_keys={key_of(goal) for goal, _ in _goals(reading.chain) if goal is not None},
    )


def _follow(owner: bpy.types.Object, chain: FabrikChain, ready: Ready, points: list[Vector | None]) -> bool:
    """Solve a chain of which only the goals moved; whether bones were written."""
    target, pole = (to_root(ready.world, ready.origin, point) if point is not None else None for point in points)
    assert target is not None
    goal = Goal(target, pole, ready.goal.pole_angle)
    bones = [pose_bones(owner).get(name) for name in ready.bones]
    if goal == ready.goal:
        return False
    if None in bones:
        ready.is_fresh = False  # one was renamed
        return False
    solution = solve(ready.chain, goal, ready.settings)
    state.solves += 1
    ready.before, ready.goal, ready.tip = ready.goal, goal, solution.joints[-1]
    rotations = blended(ready.limits, ready.starts, solution.rotations, ready.influence)
    for bone, channels, rotation in zip(bones, ready.channels, rotations, strict=True):
        if bone is not None and channels is not None:
            channels.put(bone, rotation)
            state.writes += 1
    residual = (ready.world.to_3x3() @ (target - solution.joints[-1])).length
    store(chain, outcome_of(chain.name, solution, ready.bones, residual))
    return True


def _write(chain: FabrikChain, writes: list[ChannelWrite], outcome: Outcome) -> bool:
    """Write a pose and its outcome; whether a bone changed."""
    fresh = [write for write in writes if write.is_new]
    for write in fresh:
        write.write()
    state.writes += len(fresh)
    store(chain, outcome)
    return bool(fresh)


def _switch_off(owner: bpy.types.Object, chain: FabrikChain, error: FabrikError) -> None:
    """Take a chain that can't be solved out of live posing, and say why where the user sees it."""
    error.rig, error.chain = owner.name, chain.name
    log.warning("switched off, %s", error)
    chain.enabled = False
    state.ready.pop((key_of(owner), chain.name), None)
    state.order = None
    store(chain, Outcome(chain.name, "REFUSED", reason=f"switched off while live: {error.local}"))


__all__ = ("ahead", "state", "tick")
