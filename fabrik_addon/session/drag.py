# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging the tip of a chain: anchored at its root, or pulled along like a rope. No target object is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import BoneError, ChainError, TargetError
from ..kernel import Chain, Status
from ..kernel.orientation import place
from ..kernel.passes import backward, limited_forward
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import channel_of, read_rotation, read_values
from ..rig.checks import check_rig
from ..rig.keys import KeyedChannels, insert_auto_keys, insert_location_keys, insert_object_keys
from ..rig.kinematics import Link
from ..rig.placing import held_by, location_at
from ..rig.properties import FabrikChain, rig_of
from ..rig.reader import frame_of, read, to_root
from ..rig.writer import plan
from .live_state import state as live_state
from .solve import compute

SETTLED = 1e-6


@dataclass(slots=True)
class Drag:
    """A drag that is going on. Bones are looked up by name at every step.

    Attributes:
        rig: Name of the armature object.
        chain: Name of the chain.
        tip: Where the tip stood, in world space.
        restore: Puts back all that stood before.
        known: The chain of the last solve, or None.
        pulled: Whether the root was pulled along.
    """

    rig: str
    chain: str
    tip: Vector
    restore: Callable[[], None]
    known: Chain | None = None
    pulled: bool = False


def begin(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> Drag:
    """Start to drag the tip of a chain.

    Raises:
        FabrikError: The chain can't be posed.
    """
    depsgraph = context.evaluated_depsgraph_get()
    check_rig(owner, depsgraph)
    tip = tip_of(owner, chain, depsgraph)
    read(owner, chain, depsgraph, tip)  # says what is wrong before anything moves
    if rig_of(owner).live and chain.enabled:
        _check_target(chain)
    names = [bone.name for bone in resolve_bones(owner, chain)]
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

    return Drag(rig, chain.name, tip, restore)


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
        _pull(owner, chain, depsgraph, point)
        depsgraph.update()
        depsgraph = context.evaluated_depsgraph_get()
    reading = read(owner, chain, depsgraph, point)
    reading = replace(reading, settings=replace(reading.settings, explain=False))
    if not anchored:  # it lies where it was pulled, the tip on the point: only what a limit took is made up for
        reading = replace(reading, starts=[read_rotation(bone) for bone in reading.bones])
        if _is_there(reading.measured(reading.starts), reading.starts, reading.goal.target):
            return Status.REACHED.value
    solved = compute(reading, KeyedChannels(owner, frame_of(depsgraph)), drag.known)
    drag.known = solved.chain
    for write in solved.writes:
        write.write()
    return solved.solution.status.value


def _is_there(chain: Chain, rotations: list[Quaternion], target: Vector) -> bool:
    return bool((place(chain, rotations)[0][-1] - target).length <= SETTLED * chain.length)


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


def _pull(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, point: Vector) -> None:
    """Pull the chain by its tip: each joint follows the next at its bone's length, and the root comes along."""
    reading = read(owner, chain, depsgraph, point)
    root = reading.bones[0]
    locks: Any = root.lock_location
    if root.bone.use_connect or any(locks):
        held = "connected to its parent" if root.bone.use_connect else "locked in its location"
        raise BoneError(f"it is {held}, so the chain can't be pulled along: keep it anchored", bone=root.name)
    rotations = [limit.clamp(read_rotation(bone)) for bone, limit in zip(reading.bones, reading.limits, strict=True)]
    measured = reading.measured(rotations)
    wanted = place(measured, rotations)[0]
    target = to_root(reading.world, reading.origin, point)
    backward(wanted, measured.lengths, target)
    away = wanted[0]
    rotations, _ = limited_forward(measured, rotations, [joint - away for joint in wanted])
    shift = target - place(measured, rotations)[0][-1]
    keyed = KeyedChannels(owner, frame_of(depsgraph))
    for write in plan(reading, rotations, keyed):
        write.write()
    root.location = root.location + _location_for(reading.path.links[0], reading.path.parent, shift)


def _location_for(link: Link, parent: Matrix | None, shift: Vector) -> Vector:
    """The change of a bone's location that moves its head by a vector of armature space."""
    here = link.frame(parent).translation
    axes = (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1)))
    moved = [replace(link, location=link.location + axis).frame(parent).translation - here for axis in axes]
    return Matrix(moved).transposed().inverted() @ shift
