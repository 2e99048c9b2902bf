# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging the tip of a chain: anchored at its root, or pulled along like a rope. No target object is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ..errors import BoneError, ChainError, TargetError
from ..kernel import Solver, Status
from ..rig import pose_writer
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import channel_of, read_rotation, read_values
from ..rig.checks import check_rig
from ..rig.goals import read_points
from ..rig.joints import path_of
from ..rig.keys import KeyedChannels, insert_auto_keys, insert_location_keys, insert_object_keys
from ..rig.kinematics import BonePath
from ..rig.placing import held_by, location_at
from ..rig.prepared import Prepared, RigFacts, carried, frame_of, measured_at, mounted_path, prepare, read
from ..rig.properties import FabrikChain, rig_of
from ..rig.rotations import rotated
from .live.known import state as live_state
from .posing import posed


@dataclass(slots=True)
class Drag:
    """A drag that is going on. Bones are looked up by name at every step.

    Attributes:
        rig: Name of the armature object.
        chain: Name of the chain.
        tip: Where the tip stood, in world space.
        prepared: The chain as it was when the drag began.
        restore: Puts back all that stood before.
        pulled: Whether the root was pulled along.
    """

    rig: str
    chain: str
    tip: Vector
    prepared: Prepared
    restore: Callable[[], None]
    pulled: bool = False


def begin(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> Drag:
    """Start to drag the tip of a chain.

    Raises:
        FabrikError: The chain can't be posed.
    """
    depsgraph = context.evaluated_depsgraph_get()
    check_rig(owner, depsgraph)
    tip = tip_of(owner, chain, depsgraph)
    prepared, _ = read(owner, chain, depsgraph, point=tip)  # says what is wrong before anything moves
    if rig_of(owner).live and chain.enabled:
        _check_target(chain)
    names = prepared.bones
    rig, target = owner.name, chain.target.name if chain.target else ""
    bones = [pose_bones(owner)[name] for name in names]
    before = [(bone.name, channel_of(bone.rotation_mode)[0], read_values(bone)) for bone in bones]
    location = bones[0].location.copy()
    stood = chain.target.location.copy() if chain.target else None

    def restore() -> None:
        found = bpy.data.objects.get(rig)
        if found is None or found.pose is None:
            return
        for name, path, values in before:
            if name in found.pose.bones:
                setattr(found.pose.bones[name], path, values)
        if names[0] in found.pose.bones:
            found.pose.bones[names[0]].location = location
        goal = bpy.data.objects.get(target)
        if goal is not None and stood is not None:
            goal.location = stood
        live_state.held = False

    live_state.held = True

    return Drag(rig, chain.name, tip, prepared, restore)


def _check_target(chain: FabrikChain) -> None:
    """A live chain goes where its target is, so that has to be moved along."""
    reason = held_by(chain.target, chain.target_bone)
    if reason:
        raise TargetError(f"it is live and its target {reason}: drag the target", chain=chain.name)


def tip_of(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, *, root: bool = False
) -> Vector:
    """Where the tip of a chain stands, in world space; or its root."""
    bones = resolve_bones(owner, chain)
    evaluated = owner.evaluated_get(depsgraph)
    poses = pose_bones(evaluated)
    return evaluated.matrix_world @ (poses[bones[0].name].head if root else poses[bones[-1].name].tail)


def drag_to(context: bpy.types.Context, drag: Drag, point: Vector, anchored: bool) -> str:
    """Bring the tip to a point of the world; nothing is keyed yet.

    The chain's stored status is left alone, for it is about its target.

    Args:
        context: Its view layer is evaluated.
        drag: From `begin`.
        point: World space.
        anchored: Whether the root stays; else the whole chain is pulled along.

    Returns:
        The status of the kernel.

    Raises:
        FabrikError: The chain is gone, or can't be posed so.
    """
    owner, chain = _found(drag)
    depsgraph = context.evaluated_depsgraph_get()
    if rig_of(owner).live and chain.enabled and chain.target is not None:
        chain.target.location = location_at(chain.target, point, depsgraph)
    if not anchored:
        drag.pulled = True
        _pull(owner, _now(drag, owner, chain, depsgraph), depsgraph, point)
        if drag.prepared.is_rigid:
            return Status.REACHED.value
        depsgraph.update()
        depsgraph = context.evaluated_depsgraph_get()
    prepared = _now(drag, owner, chain, depsgraph)
    if not anchored:  # it lies where it was pulled: only what its lengths took from it is made up for
        prepared = prepared.started([read_rotation(pose_bones(owner)[name]) for name in prepared.bones])
    item = posed(prepared, read_points(chain, depsgraph, point), owner, depsgraph)
    pose_writer.write(owner, prepared.writes(owner, item.rotations))
    return item.solution.status.value


def _now(drag: Drag, owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Prepared:
    """The dragged chain where it is carried now."""
    found = carried(drag.prepared, owner, depsgraph)
    if found is None:
        found = prepare(owner, chain, depsgraph, RigFacts.of(owner, frame_of(depsgraph)))
    drag.prepared = found
    return found


def finish(context: bpy.types.Context, drag: Drag) -> None:
    """End the drag with the pose as it stands, and key it where automatic keying is on."""
    live_state.held = False
    owner, chain = _found(drag)
    bones = resolve_bones(owner, chain)
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    insert_auto_keys(context, bones, keyed)
    if drag.pulled:
        insert_location_keys(context, bones[0], keyed)
    if rig_of(owner).live and chain.enabled and chain.target is not None:
        insert_object_keys(context, chain.target)
    elif chain.status != "NONE":
        chain.status = "NONE"  # what was solved last is not what stands


def _found(drag: Drag) -> tuple[bpy.types.Object, FabrikChain]:
    owner = bpy.data.objects.get(drag.rig)
    chain = rig_of(owner).chains.get(drag.chain) if owner is not None else None
    if owner is None or chain is None:
        raise ChainError("it is gone", rig=drag.rig, chain=drag.chain)
    return owner, chain


def _pull(owner: bpy.types.Object, prepared: Prepared, depsgraph: bpy.types.Depsgraph, point: Vector) -> None:
    """Pull the chain by its tip: each joint follows the next at its bone's length, and the root comes along."""
    bones = [pose_bones(owner)[name] for name in prepared.bones]
    root = bones[0]
    locks: Any = root.lock_location
    if root.bone.use_connect or any(locks):
        held = "connected to its parent" if root.bone.use_connect else "locked in its location"
        raise BoneError(f"it is {held}, so the chain can't be pulled along: keep it anchored", bone=root.name)
    stood = [read_rotation(bone) for bone in bones]
    solver = prepared.solver
    if not prepared.is_rigid:
        solver = Solver(measured_at(prepared, mounted_path(prepared, owner, depsgraph), stood))
    rotations, shift = solver.pulled(stood, prepared.space.to_chain(point))
    pose_writer.write(owner, prepared.writes(owner, rotations))
    path = path_of(owner, prepared.bones, depsgraph)
    root.location = root.location + _location_for(path, Vector(rotated(prepared.space.turn, shift)))


def _location_for(path: BonePath, shift: Vector) -> Vector:
    """The change of the first bone's location that moves its head by a vector of armature space."""
    link = path.links[0]
    here = link.frame(path.parent).translation
    axes = (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1)))
    moved = [replace(link, location=link.location + axis).frame(path.parent).translation - here for axis in axes]
    return Matrix(moved).transposed().inverted() @ shift
