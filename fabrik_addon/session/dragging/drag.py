# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging an end of any bone: with the limb that the bone ends, or with the whole body while its pins hold.

A drag starts from the pose under the mouse, whatever the start poses of the chains are. It is prepared once; each step
is one solve and one write. A chain that is posed live is dragged by its target and posed from its own start pose all
the while, for live posing would do so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
from mathutils import Vector

from ...errors import BoneError, ChainError, TargetError
from ...kernel import Status
from ...maths import IDENTITY, ORIGIN, Q4, multiplied
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.channels import channel_of, read_rotation
from ...rig.goals import GoalPoints, goal_of, read_points, turns_tip
from ...rig.held import read_held
from ...rig.placing import carries, location_at, put, restorer, stays
from ...rig.pose_writer import write_pose
from ...rig.prepared import Prepared
from ...rig.preparing import carried, prepare
from ...rig.schema import FabrikChain, rig_of
from ...texts import Text
from ..bends import held_to_pole
from ..figure_pose import FigurePose
from ..keep_pose import exceeded, resume_live
from ..live.known import state as live_state
from ..posing import posed
from .falloff import with_falloff
from .rope import pull, root_refusal
from .scope import Scope, Taken, scope_of


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
        prepared: The same as it is solved now: with falloff, and with a rotation or without one.
        restore: Puts back all that stood before.
        with_turn: Whether the bone is also to have a rotation.
        pulled: Whether the root was pulled along.
        note: What the drag moves besides, as a sentence; or "".
    """

    rig: str
    name: str
    scope: Scope
    place: Vector
    turn: Q4
    started: Prepared
    prepared: Prepared
    restore: Callable[[], None]
    with_turn: bool = False
    pulled: bool = False
    note: str = ""

    @property
    def bone(self) -> str:
        """Name of the bone that is dragged."""
        return self.scope.taken.bone

    @property
    def index(self) -> int:
        """The place of what is dragged among all that asks for something."""
        return self.prepared.chains.index(self.name)


class Dragged(NamedTuple):
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


def begin(context: bpy.types.Context, owner: bpy.types.Object, taken: Taken) -> Drag:
    """Start to drag an end of a bone.

    Raises:
        FabrikError: It can't be posed.
    """
    depsgraph = context.evaluated_depsgraph_get()
    scope = scope_of(owner, taken)
    dragged = scope.dragged(owner)
    if scope.follows:
        _check_target(owner, dragged)
    stood = read_held(owner.evaluated_get(depsgraph), taken.bone, taken.end)
    place, turn = Vector(stood.location), stood.rotation
    chain_set = scope.chain_set(owner)
    pose = FigurePose.read(chain_set, depsgraph, {dragged.name: place})  # says what is wrong before anything moves
    started = pose.prepared if scope.follows else replace(held_to_pole(pose, dragged.name), influence=1.0)
    restore = _restorer(owner, scope, started)
    drag = Drag(owner.name, dragged.name, scope, place, turn, started, started, restore, note=exceeded(pose) or "")
    live_state.held = True
    live_state.paused = live_state.paused or _pauses(owner, scope)
    set_falloff(drag, owner)
    if scope.body == taken.bone or _keeps_turn(owner, taken):
        set_turning(drag, on=True)
    return drag


def _keeps_turn(owner: bpy.types.Object, taken: Taken) -> bool:
    """Whether a chain says that its tip has a rotation; so it keeps it while it is dragged."""
    chain = rig_of(owner).chains.get(taken.chain)
    return chain is not None and turns_tip(chain)


def waits(drag: Drag) -> bool:
    """Whether live posing waits for the end of the drag, since it would pose the same bones."""
    owner = bpy.data.objects.get(drag.rig)
    return owner is not None and _pauses(owner, drag.scope)


def _pauses(owner: bpy.types.Object, scope: Scope) -> bool:
    return rig_of(owner).live and not scope.follows and bool(scope.holding)


def _restorer(owner: bpy.types.Object, scope: Scope, prepared: Prepared) -> Callable[[], None]:
    """What puts back bones, the target that is moved along, and live posing, as they stand now."""
    rig, pauses = owner.name, _pauses(owner, scope)
    target = goal_of(rig_of(owner).chains[scope.taken.chain], "target") if scope.follows else None
    channels = [(name, channel_of(pose_bones(owner)[name].rotation_mode)[0]) for name in prepared.bones]
    channels += [(prepared.bones[0], "location"), *prepared.plain_channels]
    before = [(name, path, list(getattr(pose_bones(owner)[name], path))) for name, path in channels]
    restore_target = restorer(target) if target is not None else None

    def restore() -> None:
        live_state.held = False
        found = bpy.data.objects.get(rig)
        if found is not None and found.pose is not None:
            for name, path, values in before:
                if name in found.pose.bones:
                    setattr(found.pose.bones[name], path, values)
        if restore_target is not None:
            restore_target()
        if pauses:
            resume_live()

    return restore


def _check_target(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """A live chain goes where its target is, so that has to be moved along."""
    target = goal_of(chain, "target")
    reason = stays(target)
    if not reason and target is not None and carries(target, owner, resolve_bones(owner, chain)[0].name):
        reason = Text("carries it")
    if reason:
        text = Text("it is live and its target {reason}: drag the target", reason=reason)
        if target is not None:
            text = Text("it is live and its target {name} {reason}: drag the target", name=target.name, reason=reason)
        raise TargetError(text, chain=chain.name)


def set_turning(drag: Drag, on: bool) -> str:
    """Ask for a rotation of the dragged bone, too, or no more; why that can't be, or ""."""
    if on and drag.scope.follows:
        return Text("it is live and turns as its goal says: turn its target, or switch Live off")
    if on != drag.with_turn:
        drag.with_turn = on
        drag.started = _turning(drag, drag.started)
        drag.prepared = _turning(drag, drag.prepared)
    return ""


def _turning(drag: Drag, prepared: Prepared) -> Prepared:
    asked = list(prepared.asked)
    asked[drag.index] = asked[drag.index]._replace(turns=drag.with_turn)
    return prepared.asking(asked)


def set_falloff(drag: Drag, owner: bpy.types.Object) -> str:
    """Take over the armature's falloff; why it does not count, or "".

    A limb alone is solved as by button: only so it stands still when it is grabbed. A chain that is posed live knows
    none, either.
    """
    if drag.scope.follows:
        return Text("it is live, and has no falloff")
    if drag.started.is_chain:
        return Text("a limb alone has no falloff")
    joint = drag.started.asked[drag.index].joints[-1]
    drag.prepared = with_falloff(drag.started, joint, rig_of(owner).falloff)
    return ""


def drag_to(
    context: bpy.types.Context, drag: Drag, point: Vector, turn: Q4 = IDENTITY, *, anchored: bool = True
) -> Dragged:
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
    owner = _owner(drag)
    chains, depsgraph = drag.scope.chain_set(owner).chains, context.evaluated_depsgraph_get()
    dragged = next(chain for chain in chains if chain.name == drag.name)
    target = goal_of(dragged, "target") if drag.scope.follows else None
    if target is not None:
        put(target, location_at(target, point, depsgraph))
    if not anchored:
        refusal = pull_refusal(drag)
        if refusal:
            raise BoneError(Text("{refusal}: keep it anchored", refusal=refusal), rig=drag.rig)
        drag.pulled = True
        pull(owner, _now(drag, owner, depsgraph), depsgraph, point)
        if drag.prepared.is_rigid:
            return Dragged(Status.REACHED.value)
        depsgraph.update()
        depsgraph = context.evaluated_depsgraph_get()
    prepared = _now(drag, owner, depsgraph)
    if not anchored:  # it lies where it was pulled: only what its lengths took from it is made up for
        prepared = prepared.started([read_rotation(pose_bones(owner)[name]) for name in prepared.bones])
    points = _points(drag, chains, depsgraph, GoalPoints(point, turn=multiplied(turn, drag.turn)))
    item = posed(prepared, points, owner, depsgraph)
    write_pose(owner, item.pose)
    ended = item.ended[drag.index]
    pairs = zip(prepared.chains, item.ended, strict=True)
    missed = tuple(name for name, one in pairs if name != drag.name and one.status is not Status.REACHED)
    return Dragged(ended.status.value, ended.residual, ended.turn_residual, missed)


def _points(
    drag: Drag, chains: Sequence[FabrikChain], depsgraph: bpy.types.Depsgraph, own: GoalPoints
) -> list[GoalPoints]:
    """Where the goals of the chains that take part are; those of the dragged end are given."""
    found = []
    for chain in chains:
        is_own = chain.name == drag.name
        points = read_points(chain, depsgraph, own.target if is_own else None)
        found.append(points._replace(turn=own.turn) if is_own and not drag.scope.follows else points)
    return found


def _now(drag: Drag, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Prepared:
    """All that takes part where it is carried now."""
    here = carried(drag.prepared, owner, depsgraph)
    if here is None:
        before = drag.started
        fresh = prepare(drag.scope.chain_set(owner), depsgraph)
        if not drag.scope.follows:
            shift = fresh.root.shift_for(before.root.location) if fresh.root and before.root else ORIGIN
            fresh = replace(fresh.started(before.starts, shift), influence=1.0).asking(before.asked)
        drag.started = drag.prepared = fresh
        set_falloff(drag, owner)
        return drag.prepared
    drag.prepared = here
    return here


def found(drag: Drag) -> tuple[bpy.types.Object, FabrikChain]:
    """The armature object, and the chain that is dragged or what stands for it.

    Raises:
        ChainError: One is gone.
    """
    owner = _owner(drag)
    return owner, drag.scope.dragged(owner)


def _owner(drag: Drag) -> bpy.types.Object:
    """The armature object.

    Raises:
        ChainError: It is gone.
    """
    owner = bpy.data.objects.get(drag.rig)
    if owner is None:
        raise ChainError("it is gone", rig=drag.rig, chain=drag.name)
    return owner


def pull_refusal(drag: Drag) -> str:
    """Why the root can't be let go, so that the whole limb is pulled along; or "".

    Raises:
        ChainError: It is gone.
    """
    owner, _ = found(drag)
    if not drag.prepared.is_chain or drag.scope.body:
        return Text("the body follows already")
    if drag.scope.taken.end == "HEAD" or drag.with_turn:
        return Text("only a tail without a rotation of its own is pulled along")
    return root_refusal(pose_bones(owner)[drag.prepared.bones[0]])
