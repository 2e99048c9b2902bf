# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging an end of any bone: with the limb that the bone ends, or with the whole body while its pins hold.

A drag starts from the pose under the mouse, whatever the start poses of the chains are. It is read once; each step is
one solve and one write. At its end keys are set where these are automatic, and chains are anchored, so that the next
solve moves nothing. A chain that is posed live is dragged by its target and posed from its own start pose all the
while, for live posing would do so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import pow
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ...errors import BoneError, ChainError, TargetError
from ...kernel import SOLVE_SPACE, Solver, Status
from ...maths import IDENTITY, ORIGIN, Q4, multiplied, rotated
from ...messages import Message
from ...rig.animation.channels import KeptChannels, channel_of
from ...rig.animation.keys import KeyedChannels, insert_posed_keys
from ...rig.bones import names_if_any, pose_bones, resolve_bones
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import sets_of
from ...rig.figure.joint_limits import path_of, read_stiffness, way_up
from ...rig.figure.pose_writer import Pose, PoseWriter, places_of, updated, write_pose
from ...rig.figure.reader import carried, frame_of, read_figure, read_goals
from ...rig.figure.solve import SolvedFigure, posed, posed_rigidly
from ...rig.figure.uneven import measured_at, mounted_path
from ...rig.goals import GoalPoints, asking_for, control_of, into_frame, is_offset, read_held, turns_tip
from ...rig.schema import FabrikChain, rig_of
from ...texts import Text
from ..bends import held_to_pole
from ..figure_pose import FigurePose
from ..keep_pose import ReleaseReport, exceeded, hold_by_hand, let_go, resume_live, unposed
from ..live.state import state as live_state
from ..moved_goals import ReleasedChain, goal_to_leave, key_goal
from ..solve import edited_bones
from .scope import Grip, Scope, is_trunk, moved_chains, scope_of

TRUNK = 0.8  # stiffness of the joints of a dragged trunk: limbs turn 1 / (1 - 0.97 * 0.8) = 4.5 times as readily
A_BONE = 0.5  # share of a joint's readiness to turn that full falloff leaves the next one farther away
Stamp = list[object]  # what the goals that are not dragged, and the space of the figure, depend on


class StepCache(NamedTuple):
    """What stays from step to step while nothing but the figure moves.

    Attributes:
        stamp: As long as this is the same.
        points: Where the goals of the chains are.
        numbers: The same as each chain puts them into a row.
        is_rigid: Whether the figure is the same in every pose, and comes whole to where it is solved.
        writer: What writes the pose in which the row of the figure leaves it.
    """

    stamp: Stamp
    points: list[GoalPoints]
    numbers: list[tuple[float, ...]]
    is_rigid: bool
    writer: PoseWriter


@dataclass(slots=True)
class Drag:
    """A drag that is going on. Bones and chains are looked up by name at every step.

    Attributes:
        rig: Name of the armature object.
        name: Of the chain that is dragged, or of the limb without one.
        scope: What takes part.
        place: Where the dragged end stood, in world space.
        turn: How the dragged bone was turned in the world.
        started: All that takes part as it stood when the drag began.
        figure: The same as it is solved now: with falloff, and with a rotation or without one.
        restore: Puts back all that stood before.
        with_turn: Whether the bone is also to have a rotation.
        pulled: Whether the root was pulled along.
        note: What the drag moves besides, as a sentence; or "".
        cache: What stays from step to step; None where it has to be found out.
    """

    rig: str
    name: str
    scope: Scope
    place: Vector
    turn: Q4
    started: RigFigure
    figure: RigFigure
    restore: Callable[[], None]
    with_turn: bool = False
    pulled: bool = False
    note: str = ""
    cache: StepCache | None = None

    @property
    def bone(self) -> str:
        """Name of the bone that is dragged."""
        return self.scope.taken.bone

    @property
    def index(self) -> int:
        """The place of what is dragged among all that asks for something."""
        return self.figure.chains.index(self.name)

    @property
    def leads_body(self) -> bool:
        """Whether the body moves as the dragged bone does, which is the rig's own and hangs on it."""
        return self.started.goals[self.index].joints[-1] in self.started.start.carried


class DragResult(NamedTuple):
    """How far a drag got.

    Attributes:
        status: A status of the kernel; "" before the first step.
        residual: Distance of the dragged end from where it is wanted, in scene units.
        turn_residual: Angle in radians by which the bone is off the rotation that is wanted.
        missed: Names of the other chains whose goals are not met.
    """

    status: str = ""
    residual: float = 0.0
    turn_residual: float = 0.0
    missed: tuple[str, ...] = ()


def begin(context: bpy.types.Context, owner: bpy.types.Object, taken: Grip) -> Drag:
    """Start to drag an end of a bone.

    Raises:
        FabrikError: It can't be posed.
    """
    depsgraph = context.evaluated_depsgraph_get()
    scope = scope_of(owner, taken)
    dragged = scope.dragged(owner)
    if scope.follows:
        _check_target(owner, dragged)
    stood = read_held(owner.evaluated_get(depsgraph), taken.bone, taken.end == "HEAD")
    place, turn = Vector(stood.location), stood.rotation
    chain_set = scope.chain_set(owner)
    pose = FigurePose.read(chain_set, depsgraph, {dragged.name: place})  # says what is wrong before anything moves
    started = pose.figure if scope.follows else replace(held_to_pole(pose, dragged.name), influence=1.0)
    target = control_of(dragged) if scope.follows else None
    also = target.restorer() if target is not None else None
    restore = pose_restorer(owner, started, pauses=_pauses(owner, scope), also=also)
    drag = Drag(owner.name, dragged.name, scope, place, turn, started, started, restore, note=exceeded(pose) or "")
    live_state.held = True
    live_state.paused = live_state.paused or _pauses(owner, scope)
    chain = rig_of(owner).chains.get(taken.chain)
    if scope.body == taken.bone or drag.leads_body or (chain is not None and turns_tip(chain)):
        set_turning(drag, on=True)
    else:
        set_falloff(drag, owner)
    return drag


def _pauses(owner: bpy.types.Object, scope: Scope) -> bool:
    """Whether live posing waits for the end of a drag, since it would pose the same bones."""
    chain = rig_of(owner).chains.get(scope.taken.chain)
    is_moved = bool(scope.holding) or (chain is not None and chain.enabled and is_offset(chain))
    return rig_of(owner).live and not scope.follows and is_moved


def pose_restorer(
    owner: bpy.types.Object, figure: RigFigure, *, pauses: bool, also: Callable[[], None] | None = None
) -> Callable[[], None]:
    """What puts back the bones of a figure as they stand now, something else, and live posing where that pauses."""
    rig, bones = owner.name, pose_bones(owner)
    channels = [(name, channel_of(bones[name].rotation_mode)[0]) for name in figure.bones]
    before = KeptChannels(owner, [*channels, (figure.bones[0], "location"), *figure.plain_channels])

    def restore() -> None:
        live_state.held = False
        found = bpy.data.objects.get(rig)
        if found is not None and found.pose is not None:
            before.put_back(found)
        if also is not None:
            also()
        if pauses:
            resume_live()

    return restore


def _check_target(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """A live chain goes where its target is, so that has to be moved along."""
    target = control_of(chain)
    if target is None:
        text = Text("it is live and its target {reason}: drag the target", reason=Message("IS_NOT_SET"))
        raise TargetError(text, chain=chain.name)
    reason: str | Message | None = target.stays()
    if not reason and target.carries(owner, resolve_bones(owner, chain)[0].name):
        reason = Text("carries it")
    if reason:
        text = Text("it is live and its target {name} {reason}: drag the target", name=target.name, reason=reason)
        raise TargetError(text, chain=chain.name)


def set_turning(drag: Drag, on: bool) -> str:
    """Ask for a rotation of the dragged bone, too, or no more; why that can't be, or ""."""
    if on and drag.scope.follows:
        return Text("it is live and turns as its goal says: turn its target, or switch Live off")
    if on != drag.with_turn:
        drag.with_turn = on
        asked = list(drag.started.goals)
        asked[drag.index] = asked[drag.index]._replace(turns=on)
        drag.started = drag.started.with_goals(asked)
        set_falloff(drag, _owner(drag))
    return ""


def set_falloff(drag: Drag, owner: bpy.types.Object) -> str:
    """Take over the armature's falloff; why it does not count, or "".

    A limb alone is solved as by button: only so it stands still when it is grabbed. A chain that is posed live knows
    none, either. Nor does the trunk, unless it is to be turned: with what is far from the dragged bone stiffer, the
    spine would fold before the hips come along.
    """
    started, falloff = drag.started, rig_of(owner).falloff
    drag.figure, drag.cache = started, None
    if drag.scope.follows:
        return Text("it is live, and has no falloff")
    if started.is_chain:
        return Text("a limb alone has no falloff")
    way = way_up(started.bodies.parents, started.goals[drag.index].joints[-1])
    stiffness = [joint.stiffness for joint in started.joints]
    if not drag.with_turn and len(way) > 1 and is_trunk(owner, [started.bones[i] for i in way]):
        # what holds it still beside a limb that is asked for something, `body_stiffness` and `spine`, does not hold it
        for i in way:
            stiffness[i] = max(read_stiffness(pose_bones(owner)[started.bones[i]]), TRUNK)
        drag.figure = _stiffened(started, stiffness, drag.index)
        return Text("the trunk moves as a whole, and has no falloff")
    if falloff > 0.0:
        pairs = zip(stiffness, bones_away(started.bodies.parents, way[0]), strict=True)
        fallen = [1.0 - (1.0 - own) * pow(A_BONE, falloff * away) for own, away in pairs]
        drag.figure = _stiffened(started, fallen, drag.index)
    return ""


def drag_to(
    context: bpy.types.Context, drag: Drag, point: Vector, turn: Q4 = IDENTITY, *, anchored: bool = True
) -> DragResult:
    """Bring the dragged end to a point of the world; nothing is keyed yet.

    The stored statuses of chains are left alone, for they are about their goals.

    Args:
        context: Its view layer is evaluated.
        drag: From `begin`.
        point: World space.
        turn: Rotation in the world by which the bone is to be turned from how it stood, where that is asked for.
        anchored: Whether the root stays; else the whole limb is pulled along.

    Raises:
        FabrikError: Something is gone, or can't be posed so.
    """
    owner, depsgraph = _owner(drag), context.evaluated_depsgraph_get()
    chain = drag.scope.dragged(owner) if drag.scope.follows else None
    target = control_of(chain) if chain is not None else None
    if chain is not None and target is not None:
        target.put(asking_for(chain, target, point, depsgraph))
    if not anchored:
        refusal = pull_refusal(drag)
        if refusal:
            raise BoneError(Text("{refusal}: keep it anchored", refusal=refusal), rig=drag.rig)
        drag.pulled, drag.cache = True, None
        pull(owner, _now(drag, owner, depsgraph), depsgraph, point)
        if drag.figure.is_rigid:
            return DragResult(Status.REACHED.value)
        depsgraph.update()
        depsgraph = context.evaluated_depsgraph_get()
    cache = _cache_of(drag, owner, depsgraph)
    k, figure = drag.index, drag.figure
    place: Sequence[float] = point
    if figure.goals[k].frame != SOLVE_SPACE:
        place = into_frame(owner.evaluated_get(depsgraph), figure.frames(k)["target"], point)
    own = GoalPoints(place, cache.points[k].pole, cache.points[k].turn)
    if not drag.scope.follows:
        own = own._replace(turn=multiplied(turn, drag.turn))
    if cache.is_rigid and anchored:
        return _step(drag, owner, cache, own)
    if not anchored:  # it lies where it was pulled: only what its lengths took from it is made up for
        figure = figure.started(figure.standing(pose_bones(owner)))
    item = posed(figure, [*cache.points[:k], own, *cache.points[k + 1 :]], owner, depsgraph)
    write_pose(owner, item.pose)
    return _dragged(drag, item)


def _step(drag: Drag, owner: bpy.types.Object, cache: StepCache, own: GoalPoints) -> DragResult:
    """Solve and write a figure that is the same in every pose, in the numbers of its row."""
    figure, k = drag.figure, drag.index
    cache.numbers[k] = figure.goals[k].numbers(figure.space, own)
    item = posed_rigidly(figure, tuple([number for numbers in cache.numbers for number in numbers]))
    cache.writer.write(owner)
    return _dragged(drag, item)


def _dragged(drag: Drag, item: SolvedFigure) -> DragResult:
    """How far a step of a drag got."""
    k, statuses = drag.index, item.statuses
    ended = zip(item.figure.chains, statuses, strict=True)
    missed = tuple([name for name, status in ended if name != drag.name and status is not Status.REACHED])
    return DragResult(statuses[k].value, item.residuals[k], item.result.turn[0, k].item(), missed)


def _cache_of(drag: Drag, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> StepCache:
    """What stays from step to step, found out anew where something else moved."""
    stamp = _stamp(drag, owner, depsgraph)
    if drag.cache is not None and drag.cache.stamp == stamp:
        return drag.cache
    figure = _now(drag, owner, depsgraph)
    points = [*read_goals(drag.scope.chain_set(owner), figure, depsgraph, {drag.name: drag.place})]
    if not drag.scope.follows:
        points = [
            own._replace(turn=drag.turn) if name == drag.name else own
            for name, own in zip(figure.chains, points, strict=True)
        ]
    numbers = [one.numbers(figure.space, own) for one, own in zip(figure.goals, points, strict=True)]
    is_whole = figure.is_rigid and figure.influence >= 1.0 and figure.weighed is None
    is_rigid = is_whole and not any(one.soft > 0.0 for one in figure.goals)
    row = figure.row
    rotations = np.frombuffer(row.rotations).reshape(-1, 4)
    pose = Pose(figure, rotations, np.frombuffer(row.shifts), np.frombuffer(row.factors))
    drag.cache = StepCache(stamp, points, numbers, is_rigid, PoseWriter([pose], places_of(owner)))
    return drag.cache


def _stamp(drag: Drag, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Stamp:
    """The frame, where the armature and the parent of the figure stand, and what other chains ask for."""
    assert depsgraph.scene is not None
    posed, chains = owner.evaluated_get(depsgraph), rig_of(owner).chains
    root = pose_bones(posed)[drag.figure.bones[0]]
    found: Stamp = [depsgraph.scene.frame_current_final, posed.matrix_world.copy()]
    found += [root.parent.matrix.copy() if root.parent else None, None if drag.figure.root else root.head.copy()]
    swung = {one.chain for one in drag.figure.goals if one.swing}  # whose poles move with them, and not by themselves
    for name in (*drag.scope.holding, drag.scope.taken.chain):
        chain = chains.get(name)
        found.append(name if chain is not None else None)
        if chain is None:
            continue
        found += [tuple(chain.held_location), tuple(chain.held_rotation), tuple(chain.rotation_offset)]
        for goal, bone in ((chain.target, chain.target_bone), (chain.pole, chain.pole_bone)):
            there = goal.evaluated_get(depsgraph) if goal is not None else None
            held = there.pose.bones.get(bone) if there is not None and there.pose and bone else None
            if there is not None and name in swung and (goal, bone) == (chain.pole, chain.pole_bone):
                found.append((held or there).matrix_basis.copy())
                continue
            found += [there.matrix_world.copy() if there else None, held.matrix.copy() if held else None]
    return found


def _now(drag: Drag, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> RigFigure:
    """All that takes part where it is carried now."""
    here = carried(drag.figure, owner, depsgraph)
    if here is None:
        before = drag.started
        fresh = read_figure(drag.scope.chain_set(owner), depsgraph)
        if not drag.scope.follows:
            shift = fresh.root.shift_for(before.root.location) if fresh.root and before.root else ORIGIN
            fresh = replace(fresh.started(before.starts, shift), influence=1.0).with_goals(before.goals)
        drag.started = drag.figure = fresh
        set_falloff(drag, owner)
        return drag.figure
    drag.figure = here
    return here


def _owner(drag: Drag) -> bpy.types.Object:
    """The armature object; refused where it is gone."""
    owner = bpy.data.objects.get(drag.rig)
    if owner is None:
        raise ChainError("it is gone", rig=drag.rig, chain=drag.name)
    return owner


def pull_refusal(drag: Drag) -> str:
    """Why the root can't be let go, so that the whole limb is pulled along; or "".

    Raises:
        ChainError: It is gone.
    """
    owner = _owner(drag)
    drag.scope.dragged(owner)  # which may be gone
    if not drag.figure.is_chain or drag.scope.body:
        return Text("the body follows already")
    if drag.scope.taken.end == "HEAD" or drag.with_turn:
        return Text("only a tail without a rotation of its own is pulled along")
    root = pose_bones(owner)[drag.figure.bones[0]]
    locks: Any = root.lock_location
    if root.parent is not None and root.bone.use_connect:
        return Text("'{root}' is connected to its parent, so the chain can't be pulled along", root=root.name)
    if root.parent is not None:
        text = Text("'{root}' hangs on '{parent}', which would stay behind, so the chain can't be pulled along")
        return Text(text, root=root.name, parent=root.parent.name)
    if any(locks):
        return Text("'{root}' is locked in its location, so the chain can't be pulled along", root=root.name)
    return ""


def pull(owner: bpy.types.Object, figure: RigFigure, depsgraph: bpy.types.Depsgraph, point: Vector) -> None:
    """Pull a chain that is solved by itself, where it is carried now, by its tip to a point of the world; written."""
    bones = pose_bones(owner)
    root, stood = bones[figure.bones[0]], figure.standing(bones)
    solver = figure.solver
    if not figure.is_rigid:
        solver = measured_at(figure, mounted_path(figure, owner, depsgraph), stood)
    rotations, shift = solver.pulled(stood, figure.space.to_chain(point))
    write_pose(owner, Pose(figure, np.array(rotations)))
    tree = path_of(owner, figure.bones, depsgraph)
    moved = Vector(rotated(figure.space.turn, shift))
    root.location = root.location + tree.links[0].location_axes(tree.parent).inverted() @ moved


def bones_away(parents: Sequence[int], dragged: int) -> list[int]:
    """How many bones lie between each joint of a figure and the dragged one, along the tree.

    Args:
        parents: For each of n joints the one on which it hangs, which comes before it; -1 for the root.
        dragged: Index of a joint.
    """
    way = way_up(parents, dragged)
    found = [0] * len(parents)
    for i, parent in enumerate(parents):
        found[i] = way.index(i) if i in way else found[parent] + 1
    return found


def _stiffened(figure: RigFigure, stiffness: Sequence[float], chain: int) -> RigFigure:
    """A figure with another stiffness of each joint, to which no limbs but the dragged one add, or take from it."""
    asked = [*figure.goals]
    for k, one in enumerate(asked):
        if k != chain and one.helps < 1.0:
            asked[k] = one._replace(helps=1.0)
    joints = tuple([joint._replace(stiffness=own) for joint, own in zip(figure.joints, stiffness, strict=True)])
    bodies = figure.bodies._replace(joints=joints)
    return replace(figure, bodies=bodies, solver=Solver(bodies.figure())).with_goals(asked)


def finish(context: bpy.types.Context, drag: Drag) -> ReleaseReport:
    """End the drag with the pose as it stands, so that the next solve leaves it there; keyed where that is automatic.

    Raises:
        ChainError: The chain is gone.
    """
    live_state.held = False
    try:
        owner = _owner(drag)
        chain = drag.scope.dragged(owner)
        updated(context)
        target = control_of(chain) if drag.scope.follows else None
        if target is not None:
            if edited_bones(owner).isdisjoint(drag.figure.bones):
                _key(context, owner, drag.figure, is_pulled=drag.pulled)
            return ReleaseReport([], key_goal(context, target))  # live posing brings the pose back in every frame
        if drag.bone == rig_of(owner).body_bone or drag.leads_body:
            rig_of(owner).body_stays = True
        chains = moved_chains(owner, drag.figure, has_body=bool(drag.scope.body), dragged=drag.scope.taken.chain)
        own, unedited = set[str](), ""
        if not edited_bones(owner).isdisjoint(drag.figure.bones):
            editing = [one for one in chains if one.enabled and is_offset(one)]
            own = {one.name for one in editing if drag.bone in names_if_any(owner, one)}
            way = way_up(drag.figure.bodies.parents, drag.figure.goals[drag.index].joints[-1])
            is_played = KeyedChannels(owner, 0.0).has(pose_bones(owner)[drag.bone])
            if not own and (is_played or is_trunk(owner, [drag.figure.bones[i] for i in way])):
                unedited = drag.bone
        holding = set(drag.scope.holding) - own  # whose controls come along
        return leave(context, owner, (drag.figure, chains), holding, is_pulled=drag.pulled, unedited=unedited)
    finally:
        armature = bpy.data.objects.get(drag.rig)
        if armature is not None and _pauses(armature, drag.scope):
            resume_live()


def leave(
    context: bpy.types.Context,
    owner: bpy.types.Object,
    posed: tuple[RigFigure, Sequence[FabrikChain]],
    holding: Collection[str],
    *,
    is_pulled: bool = False,
    unedited: str = "",
) -> ReleaseReport:
    """Leave bones in the pose in which they were written, so that the next solve keeps it; keyed where automatic.

    Args:
        context: Its view layer is evaluated.
        owner: The armature object.
        posed: What was posed, and the chains that it moved.
        holding: Names of those of these whose goals held meanwhile, and are not brought along.
        is_pulled: Whether the root was pulled along.
        unedited: Name of the bone that was posed, if it is of a trunk whose motion controls edit, and none its own.
    """
    figure, chains = posed
    depsgraph = context.evaluated_depsgraph_get()
    loosed = [ReleasedChain(one, goal_to_leave(owner, one, depsgraph), one.name in holding) for one in chains]
    is_edited = not edited_bones(owner).isdisjoint(figure.bones)  # their controls are keyed, not the motion below
    is_keyed, lost = (False, list[str]()) if is_edited else _key(context, owner, figure, is_pulled=is_pulled)
    for one in chains:
        if one.status != "NONE":
            one.status = "NONE"  # what was solved last is not what stands
    if unedited:
        lost = [Text("no control edits '{bone}': the next frame change takes it back", bone=unedited)]
        _hold(context, owner, chains)
    ended = let_go(context, owner, loosed, is_keyed)
    if lost and not unedited:
        _hold(context, owner, chains)
    if is_edited and not rig_of(owner).live:
        lost.append(Text("Live is off: the next frame change plays the motion without its edits"))
    return ReleaseReport(ended.done, [*lost, *ended.warnings])


def _hold(context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> None:
    """Let bones of chains that have keys stand as they were left until the frame changes."""
    with unposed():
        now = updated(context)
        for chain_set in sets_of(owner, [chain for chain in rig_of(owner).chains if chain.enabled]):
            if not {chain.name for chain in chains}.isdisjoint(chain_set.names):
                hold_by_hand(FigurePose.without_goals(chain_set, now, {}), ())


def _key(
    context: bpy.types.Context, owner: bpy.types.Object, figure: RigFigure, *, is_pulled: bool
) -> tuple[bool, list[str]]:
    """Key the bones that took part; whether that was done, and what is lost with the next frame otherwise."""
    bones = [pose_bones(owner)[name] for i, name in enumerate(figure.bones) if i not in figure.start.carried]
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    plain = [(pose_bones(owner)[name], channel) for name, channel in figure.plain_channels]
    plain += [(bones[0], "location")] if is_pulled else []
    had, is_keyed = insert_posed_keys(context, bones, plain, keyed)
    if not had or is_keyed:
        return is_keyed, []
    return False, [Text("'{bone}' is keyed: key the pose, or the next frame change loses it", bone=had[0])]
