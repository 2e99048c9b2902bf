# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging the tip of a chain, or of a limb without one: anchored at its root, or pulled along like a rope.

A drag starts from the pose under the mouse, whatever the chain's start pose is, and letting go leaves start pose and
goals where the chain then stands. A live chain is posed from its own start pose all the while, for live posing would do
so; it is dragged by its target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

from ..errors import BoneError, ChainError, TargetError
from ..kernel import Solver, Status
from ..rig import pose_writer
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import channel_of, read_rotation, read_values
from ..rig.goals import goal_of, read_points
from ..rig.joints import path_of
from ..rig.keys import KeyedChannels, insert_auto_keys, insert_location_keys
from ..rig.kinematics import BoneTree
from ..rig.placing import carries, location_at, put, restorer, stays
from ..rig.prepared import Prepared, RigFacts, carried, frame_of, measured_at, mounted_path, prepare
from ..rig.properties import FabrikChain, rig_of
from ..rig.rotations import rotated
from .anchoring import exceeded
from .letting_go import LetGo, key_goal, let_go
from .live.known import state as live_state
from .loose_limb import loose_limb
from .posing import posed
from .standing import Standing, held_to_pole, tip_of


@dataclass(slots=True)
class Drag:
    """A drag that is going on. Bones are looked up by name at every step.

    Attributes:
        rig: Name of the armature object.
        chain: Name of the chain, or of the limb that is dragged without one.
        tip: Where the tip stood, in world space.
        prepared: The chain as it was when the drag began, its start pose that in which it then stood.
        restore: Puts back all that stood before.
        loose: What stands for the chain of a limb that has none; else None.
        follows: Whether the chain is live, so that its target is moved along.
        pulled: Whether the root was pulled along.
        note: What the drag moves besides, as a sentence; or "".
    """

    rig: str
    chain: str
    tip: Vector
    prepared: Prepared
    restore: Callable[[], None]
    loose: FabrikChain | None = None
    follows: bool = False
    pulled: bool = False
    note: str = ""

    @property
    def bone(self) -> str:
        """Name of the bone whose tail is dragged."""
        return self.prepared.bones[-1]


class Dragged(NamedTuple):
    """How far a drag got: a status of the kernel, and the distance of the tip from the goal in scene units."""

    status: str
    residual: float


def begin(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> Drag:
    """Start to drag the tip of a chain.

    Raises:
        FabrikError: The chain can't be posed.
    """
    return _begun(context, owner, chain, None)


def begin_limb(context: bpy.types.Context, owner: bpy.types.Object, bone: str) -> Drag:
    """Start to drag the tail of a bone, and with it the limb that the bone ends, which needs no chain and gets none.

    Raises:
        FabrikError: The limb can't be posed.
    """
    limb = loose_limb(owner, bone)
    return _begun(context, owner, limb, limb)


def _begun(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, loose: FabrikChain | None) -> Drag:
    depsgraph = context.evaluated_depsgraph_get()
    tip = tip_of(owner, chain, depsgraph)
    standing = Standing.of((owner, chain), depsgraph, tip)  # says what is wrong before anything moves
    follows = rig_of(owner).live and chain.enabled and chain.target is not None
    if follows:
        _check_target(owner, chain)
    prepared = standing.prepared if follows else _held(standing)
    restore = _restorer(owner, chain, prepared.bones, follows)
    live_state.held = True
    return Drag(owner.name, chain.name, tip, prepared, restore, loose, follows, note=exceeded(standing))


def _held(standing: Standing) -> Prepared:
    """A chain that starts as it stands, bends to the side to which it does, and follows the mouse all the way."""
    return replace(held_to_pole(standing), influence=1.0)


def _restorer(owner: bpy.types.Object, chain: FabrikChain, names: tuple[str, ...], follows: bool) -> Callable[[], None]:
    """What puts back bones, and the target that is moved along, as they stand now."""
    rig, target = owner.name, goal_of(chain, "target") if follows else None
    bones = [pose_bones(owner)[name] for name in names]
    before = [(bone.name, channel_of(bone.rotation_mode)[0], read_values(bone)) for bone in bones]
    location = bones[0].location.copy()
    restore_target = restorer(target) if target is not None else None

    def restore() -> None:
        live_state.held = False
        found = bpy.data.objects.get(rig)
        if found is None or found.pose is None:
            return
        for name, path, values in before:
            if name in found.pose.bones:
                setattr(found.pose.bones[name], path, values)
        if names[0] in found.pose.bones:
            found.pose.bones[names[0]].location = location
        if restore_target is not None:
            restore_target()

    return restore


def _check_target(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """A live chain goes where its target is, so that has to be moved along."""
    target = goal_of(chain, "target")
    reason = stays(target)
    if not reason and target is not None and carries(target, owner, resolve_bones(owner, chain)[0].name):
        reason = "carries it"
    if reason:
        name = f" {target.name}" if target is not None else ""
        raise TargetError(f"it is live and its target{name} {reason}: drag the target", chain=chain.name)


def drag_to(context: bpy.types.Context, drag: Drag, point: Vector, anchored: bool) -> Dragged:
    """Bring the tip to a point of the world; nothing is keyed yet.

    The chain's stored status is left alone, for it is about its target.

    Args:
        context: Its view layer is evaluated.
        drag: From `begin`.
        point: World space.
        anchored: Whether the root stays; else the whole chain is pulled along.

    Raises:
        FabrikError: The chain is gone, or can't be posed so.
    """
    owner, chain = _found(drag)
    depsgraph = context.evaluated_depsgraph_get()
    target = goal_of(chain, "target") if drag.follows else None
    if target is not None:
        put(target, location_at(target, point, depsgraph))
    if not anchored:
        refusal = pull_refusal(drag)
        if refusal:
            raise BoneError(f"{refusal}: keep it anchored", rig=drag.rig)
        drag.pulled = True
        _pull(owner, _now(drag, owner, chain, depsgraph), depsgraph, point)
        if drag.prepared.is_rigid:
            return Dragged(Status.REACHED.value, 0.0)
        depsgraph.update()
        depsgraph = context.evaluated_depsgraph_get()
    prepared = _now(drag, owner, chain, depsgraph)
    if not anchored:  # it lies where it was pulled: only what its lengths took from it is made up for
        prepared = prepared.started([read_rotation(pose_bones(owner)[name]) for name in prepared.bones])
    item = posed(prepared, read_points(chain, depsgraph, point), owner, depsgraph)
    pose_writer.write(owner, prepared.writes(owner, item.rotations))
    return Dragged(item.solution.status.value, item.residual)


def _now(drag: Drag, owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Prepared:
    """The dragged chain where it is carried now."""
    found = carried(drag.prepared, owner, depsgraph)
    if found is None:
        found = prepare(owner, chain, depsgraph, RigFacts.of(owner, frame_of(depsgraph)))
        if not drag.follows:
            before = drag.prepared
            found = replace(found.started(before.starts), pole_angle=before.pole_angle, influence=1.0)
    drag.prepared = found
    return found


def finish(context: bpy.types.Context, drag: Drag) -> LetGo:
    """End the drag with the pose as it stands, so that the next solve leaves it there; keyed where that is automatic.

    Raises:
        ChainError: The chain is gone.
    """
    live_state.held = False
    owner, chain = _found(drag)
    assert context.view_layer is not None
    context.view_layer.update()
    depsgraph = context.evaluated_depsgraph_get()
    bones = resolve_bones(owner, chain)
    tip = tip_of(owner, chain, depsgraph)
    keyed = KeyedChannels(owner, frame_of(depsgraph))
    named = [bone.name for bone in bones if keyed.has(bone)]
    is_keyed = insert_auto_keys(context, bones, keyed) > 0
    if drag.pulled:
        insert_location_keys(context, bones[0], keyed)
    lost = [f"'{named[0]}' is keyed: key the pose, or the next frame change loses it"] if named and not is_keyed else []
    target = goal_of(chain, "target") if drag.follows else None
    if target is not None:
        return LetGo([], key_goal(context, target))  # live posing brings the pose back in every frame
    if drag.loose is not None:
        return LetGo([], lost)
    if chain.status != "NONE":
        chain.status = "NONE"  # what was solved last is not what stands
    found = let_go(context, (owner, chain), tip, is_keyed)
    return LetGo(found.done, [*lost, *found.warnings])


def _found(drag: Drag) -> tuple[bpy.types.Object, FabrikChain]:
    owner = bpy.data.objects.get(drag.rig)
    chain = drag.loose if owner is None or drag.loose is not None else rig_of(owner).chains.get(drag.chain)
    if owner is None or chain is None:
        raise ChainError("it is gone", rig=drag.rig, chain=drag.chain)
    return owner, chain


def pull_refusal(drag: Drag) -> str:
    """Why the root can't be let go, so that the whole chain is pulled along; or "".

    Raises:
        ChainError: The chain is gone.
    """
    owner, _ = _found(drag)
    root = pose_bones(owner)[drag.prepared.bones[0]]
    locks: Any = root.lock_location
    if root.parent is not None and root.bone.use_connect:
        return f"'{root.name}' is connected to its parent, so the chain can't be pulled along"
    if root.parent is not None:
        return (
            f"'{root.name}' hangs on '{root.parent.name}', which would stay behind, so the chain can't be pulled along"
        )
    return f"'{root.name}' is locked in its location, so the chain can't be pulled along" if any(locks) else ""


def _pull(owner: bpy.types.Object, prepared: Prepared, depsgraph: bpy.types.Depsgraph, point: Vector) -> None:
    """Pull the chain by its tip: each joint follows the next at its bone's length, and the root comes along."""
    bones = [pose_bones(owner)[name] for name in prepared.bones]
    root = bones[0]
    stood = [read_rotation(bone) for bone in bones]
    solver = prepared.solver
    if not prepared.is_rigid:
        solver = Solver(measured_at(prepared, mounted_path(prepared, owner, depsgraph), stood))
    rotations, shift = solver.pulled(stood, prepared.space.to_chain(point))
    pose_writer.write(owner, prepared.writes(owner, rotations))
    path = path_of(owner, prepared.bones, depsgraph)
    root.location = root.location + _location_for(path, Vector(rotated(prepared.space.turn, shift)))


def _location_for(path: BoneTree, shift: Vector) -> Vector:
    """The change of the first bone's location that moves its head by a vector of armature space."""
    return path.links[0].location_axes(path.parent).inverted() @ shift
