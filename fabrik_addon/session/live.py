# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their targets whenever something moves.

Blender calls `tick` after it evaluated a change or a frame, and evaluates what is written there before it draws, in
the same update. A chain is read in full when its armature changed; what was read is kept as plain data (no reference
to anything of Blender's), so that a moved target alone costs one solve. `ahead` comes before a frame is evaluated:
where only the target moves, and by its own curves, the pose is written then and the frame is evaluated once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import FabrikError, RigError
from ..finite import are_finite
from ..kernel import Chain, Goal, Settings, solve
from ..kernel.limits import Limit
from ..rig.chain_bones import pose_bones
from ..rig.checks import check_rig
from ..rig.keys import KeyedChannels, insert_auto_keys
from ..rig.plain_motion import point_at, stands_still
from ..rig.properties import FabrikChain, rig_of
from ..rig.reader import frame_of, read, to_root
from ..rig.targets import resolve_point
from ..rig.writer import BoneChannels, ChannelWrite, channels_of
from .order import Item, levels
from .solve import Outcome, Solved, blended, compute, outcome_of, store

log = logging.getLogger(__name__)

Key = tuple[str, str]  # name of an object, file of its library


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
    """All that live posing knows between two calls.

    Attributes:
        paused: While a file loads nothing is solved.
        owners: The live armatures of the scene, or None where they have to be looked up.
        order: Chains by levels, or None where it has to be found.
        watched: The live armatures, and their targets and poles.
        ready: What was read, by armature and chain.
        ahead: Armatures that were posed before the frame was evaluated.
        unkeyed: Chains posed while a modal transform ran, to be keyed when it ends, each with the goal before it.
        undone: Whether the next evaluation follows an undo or a redo.
        solves: Number of solves so far.
        writes: Number of bones written so far.
    """

    paused: bool = False
    owners: list[Key] | None = None
    order: list[list[tuple[Key, str]]] | None = None
    watched: set[Key] = field(default_factory=set)
    ready: dict[tuple[Key, str], Ready] = field(default_factory=dict)
    ahead: set[Key] = field(default_factory=set)
    unkeyed: dict[tuple[Key, str], Goal] = field(default_factory=dict)
    undone: bool = False
    solves: int = 0
    writes: int = 0

    def forget(self) -> None:
        """Everything may have changed: undo, a file, a scene."""
        self.owners = self.order = None
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
    changed = _changed(depsgraph)
    owners = _owners(scene)
    undone, state.undone = state.undone, False
    posed_ahead, state.ahead = state.ahead, set()
    if not owners or not (state.order is None or changed & state.watched or state.unkeyed):
        return
    for pair, ready in state.ready.items():
        ready.is_fresh = ready.is_fresh and pair[0] not in changed - posed_ahead
    posed = _pose_all(scene, depsgraph, changed if state.order is not None else None)
    if not is_frame and not undone:
        _key(context, posed, depsgraph)


def ahead(scene: bpy.types.Scene) -> None:
    """Pose the chains whose goals move by their own curves alone, before the frame is evaluated."""
    if state.paused or not state.ready or len(state.order or ()) != 1 or not getattr(scene, "fabrik_live"):
        return
    frame = float(scene.frame_current_final)
    for (key, name), ready in state.ready.items():
        owner = object_of(key)
        chain = rig_of(owner).chains.get(name) if owner is not None else None
        if owner is None or chain is None or not (ready.is_fresh and ready.is_rigid and ready.is_still):
            continue
        points = [point_at(goal, bone, frame) if goal else None for goal, bone in _goals(chain)]
        if points[0] is None or (chain.pole is not None and points[1] is None) or not _are_usable(points):
            continue
        if _follow(owner, chain, ready, points):
            state.ahead.add(key)


def _goals(chain: FabrikChain) -> tuple[tuple[bpy.types.Object | None, str], tuple[bpy.types.Object | None, str]]:
    return (chain.target, chain.target_bone), (chain.pole, chain.pole_bone)


def _are_usable(points: Iterable[Vector | None]) -> bool:
    return all(point is None or are_finite(point) for point in points)


def _changed(depsgraph: bpy.types.Depsgraph) -> set[Key]:
    """Objects that Blender evaluated anew; the order is forgotten where it may have changed with them."""
    changed: set[Key] = set()
    for update in depsgraph.updates:
        found = update.id.original if update.id else None
        if isinstance(found, bpy.types.Object):
            key = key_of(found)
            changed.add(key)
            if found.type == "ARMATURE" and (rig_of(found).live or key in state.watched) and key not in state.ahead:
                state.owners = state.order = None  # its chains may be others now
        elif isinstance(found, bpy.types.Armature):
            changed |= {key for key in state.owners or () if (owner := object_of(key)) and owner.data == found}
        elif isinstance(found, bpy.types.Scene | bpy.types.Collection):
            state.owners = state.order = None
    return changed


def _owners(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The live armatures of the scene."""
    if not getattr(scene, "fabrik_live"):
        return []
    if state.owners is None:
        state.owners = [key_of(found) for found in scene.objects if found.type == "ARMATURE" and rig_of(found).live]
    found = (object_of(key) for key in state.owners)
    return [owner for owner in found if owner is not None and rig_of(owner).live]


def _pose_all(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changed: set[Key] | None
) -> list[tuple[Key, str]]:
    """Bring every chain that does not stand as its goals want it to them; which were written.

    Args:
        scene: Its live armatures.
        depsgraph: Evaluated.
        changed: Objects that were evaluated anew, so that only chains with these have to be looked at; None for all.
    """
    if state.order is None:
        state.order = _ordered(scene)
    written: list[tuple[Key, str]] = []
    for i, level in enumerate(state.order):
        posed = [pair for pair in level if _may_have_moved(pair, changed) and _pose(pair, depsgraph)]
        written += posed
        if posed and i + 1 < len(state.order):
            state.paused = True  # Blender calls the handlers for this evaluation, too
            try:
                depsgraph.update()
            finally:
                state.paused = False
            changed = None
    return written


def _may_have_moved(pair: tuple[Key, str], changed: set[Key] | None) -> bool:
    ready = state.ready.get(pair)
    return changed is None or ready is None or not ready.is_fresh or bool(ready.goal_keys & changed)


def _ordered(scene: bpy.types.Scene) -> list[list[tuple[Key, str]]]:
    items: list[Item] = []
    state.watched = set()
    for owner in _owners(scene):
        items += [(owner, chain) for chain in rig_of(owner).chains if chain.enabled]
        state.watched.add(key_of(owner))
    for _, chain in items:
        state.watched |= {key_of(goal) for goal, _ in _goals(chain) if goal is not None}
    live = {(key_of(owner), chain.name) for owner, chain in items}
    state.ready = {pair: ready for pair, ready in state.ready.items() if pair in live}
    try:
        found = levels(items)
    except FabrikError as error:
        for owner, chain in items:
            _switch_off(owner, chain, error)
        return []
    return [[(key_of(owner), chain.name) for owner, chain in level] for level in found]


def _pose(pair: tuple[Key, str], depsgraph: bpy.types.Depsgraph) -> bool:
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
    except RigError as error:
        log.debug("%s: waiting, %s", owner.name, error)  # edit mode, rest position, hidden: not for ever
        state.ready.pop(pair, None)
    except FabrikError as error:
        _switch_off(owner, chain, error)
    return False


def _pose_anew(
    owner: bpy.types.Object, chain: FabrikChain, pair: tuple[Key, str], depsgraph: bpy.types.Depsgraph
) -> bool:
    """Read a chain, solve it and keep what was read."""
    check_rig(owner, depsgraph)
    reading = read(owner, chain, depsgraph)
    reading = replace(reading, settings=replace(reading.settings, explain=False))
    keyed = KeyedChannels(owner, frame_of(depsgraph))
    before = state.ready.get(pair)
    solved = compute(reading, keyed, before.chain if before else None)
    state.solves += 1
    state.ready[pair] = _kept(owner, solved, keyed)
    return _write(
        chain, solved.writes, outcome_of(chain.name, solved.solution, state.ready[pair].bones, solved.solution.residual)
    )


def _kept(owner: bpy.types.Object, solved: Solved, keyed: KeyedChannels) -> Ready:
    reading = solved.reading
    return Ready(
        [bone.name for bone in reading.bones],
        channels_of(reading, keyed),
        solved.chain,
        reading.starts,
        reading.limits,
        reading.goal,
        reading.settings,
        reading.chain.influence,
        reading.world,
        reading.origin,
        is_rigid=solved.is_rigid,
        is_still=stands_still(owner),
        goal_keys={key_of(goal) for goal, _ in _goals(reading.chain) if goal is not None},
    )


def _follow(owner: bpy.types.Object, chain: FabrikChain, ready: Ready, points: list[Vector | None]) -> bool:
    """Solve a chain of which only the goals moved; whether bones were written."""
    target, pole = (to_root(ready.world, ready.origin, point) if point is not None else None for point in points)
    assert target is not None
    goal = Goal(target, pole, ready.goal.pole_angle)
    if goal == ready.goal:
        return False
    solution = solve(ready.chain, goal, ready.settings)
    state.solves += 1
    ready.goal = goal
    rotations = blended(ready.limits, ready.starts, solution.rotations, ready.influence)
    bones = pose_bones(owner)
    for name, channels, rotation in zip(ready.bones, ready.channels, rotations, strict=True):
        if channels is not None:
            channels.put(bones[name], rotation)
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


def _key(context: bpy.types.Context, posed: list[tuple[Key, str]], depsgraph: bpy.types.Depsgraph) -> None:
    """Key the chains that were posed, where automatic keying is on; after the operator that is dragging a target."""
    scene = context.scene
    if scene is None or not scene.tool_settings.use_keyframe_insert_auto:
        state.unkeyed.clear()
        return
    if _is_dragging(context):
        for pair in posed:
            state.unkeyed.setdefault(pair, state.ready[pair].goal)
        return
    pairs = {*posed, *(pair for pair, goal in state.unkeyed.items() if pair in state.ready)}
    state.unkeyed.clear()
    for key, name in sorted(pairs):
        owner, ready = object_of(key), state.ready.get((key, name))
        if owner is None or ready is None:
            continue
        bones = [pose_bones(owner)[channels.bone] for channels in ready.channels if channels is not None]
        insert_auto_keys(context, bones, KeyedChannels(owner, frame_of(depsgraph)))


def _is_dragging(context: bpy.types.Context) -> bool:
    """Whether a modal transform is going on."""
    manager = context.window_manager
    windows = manager.windows if manager else ()
    return any(
        operator.bl_idname.startswith("TRANSFORM_OT") for window in windows for operator in window.modal_operators
    )
