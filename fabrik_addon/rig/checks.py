# SPDX-License-Identifier: GPL-3.0-or-later
"""What can't be posed, found before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ..errors import AbsentTargetError, BoneError, InvalidValueError, RigError, TargetError, are_finite, place_of
from ..messages import ROLES, Message
from .animation.channels import rotation_path
from .bones import armature_of, names_if_any, pose_bones, swings
from .dependencies import bones_behind, broken_driver, is_evaluated
from .figure.groups import is_let_go, lacks_goal
from .figure.space import RigFrame
from .goals import goals_of, is_offset
from .schema import FabrikChain, owner_of, walker_of
from .schema.chain import OFFSET
from .spaces import holder_in, is_tied, lost_space
from .versions import newer_refusal
from .walk_goals import is_of_walker

SCALING = {"COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME"}  # constraints that leave the rotation alone


def check_rig(owner: bpy.types.Object | None, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
    """The armature object, if it can be posed now.

    Raises:
        RigError: It is no armature, is not editable, of a newer extension, in edit or rest position, not evaluated, or
            has no extent.
    """
    reason = rig_refusal(owner)
    if reason is not None:
        raise RigError(reason, rig=owner.name if owner else "")
    assert owner is not None, "what is not there is refused"
    check_in_view_layer(owner, depsgraph)
    with place_of(rig=owner.name):
        RigFrame.of(owner.evaluated_get(depsgraph).matrix_world)
    return owner


def check_in_view_layer(owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Refuse an armature object that is not evaluated: it can't be posed, nor can its bones be edited.

    Raises:
        RigError: That.
    """
    if not is_evaluated(owner, depsgraph):
        raise RigError(Message("RIG_NOT_IN_VIEW_LAYER"), rig=owner.name)


def edit_refusal(owner: bpy.types.Object | None) -> Message | None:
    """Why nothing can be set on an object; None where it can."""
    if owner is None or owner.type != "ARMATURE" or owner.pose is None:
        return Message("NO_ARMATURE")
    if owner.is_missing:
        return Message("RIG_MISSING_IN_LIBRARY")
    if owner.override_library is not None and owner.override_library.is_system_override:
        return Message("RIG_SYSTEM_OVERRIDE")  # Blender drops what is written to it without a word
    return newer_refusal(owner) or (None if owner.is_editable else Message("RIG_LINKED"))


def rig_refusal(owner: bpy.types.Object | None) -> Message | None:
    """Why an object can't be posed, as far as no evaluation is needed to see it; None where it can."""
    refusal = edit_refusal(owner)
    if refusal or owner is None:
        return refusal
    data = armature_of(owner)
    if data.is_editmode:  # perhaps through another object that has it
        return Message("RIG_IN_EDIT_MODE")
    return Message("RIG_IN_REST_POSITION") if data.pose_position == "REST" else None


@dataclass(frozen=True, slots=True)
class Movers:
    """What moves bones of an armature beside their own channels.

    Attributes:
        driven: Data paths of drivers.
        by_ik: Names of bones that an active IK constraint moves, each with the bone that has the constraint.
    """

    driven: set[str]
    by_ik: dict[str, str]


def movers_of(owner: bpy.types.Object) -> Movers:
    """Gather what moves an armature's bones beside their own channels."""
    driven = {driver.data_path for driver in owner.animation_data.drivers} if owner.animation_data else set()
    moved = dict[str, str]()
    for bone in pose_bones(owner):
        for constraint in bone.constraints:
            if constraint.type not in {"IK", "SPLINE_IK"} or not _is_active(constraint, driven):
                continue
            settings: Any = constraint
            bones = [bone, *bone.parent_recursive]
            if constraint.type == "IK" and not settings.use_tail:
                bones = bones[1:]
            moved |= dict.fromkeys([link.name for link in bones[: settings.chain_count or len(bones)]], bone.name)
    return Movers(driven, moved)


def constrained_bones(
    owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], movers: Movers
) -> dict[str, BoneError]:
    """Those of some bones that active constraints pose, each with what then stands against posing it.

    Raises:
        BoneError: A bone is moved by an IK constraint, or has driven rotation.
        InvalidValueError: A location or scale channel is not finite, or a scale is zero.
    """
    found: dict[str, BoneError] = {}
    for bone in bones:
        for constraint in bone.constraints:
            if bone.name not in found and _is_active(constraint, movers.driven):
                found[bone.name] = BoneError(_reason_of(owner, constraint), bone=bone.name)
        if bone.name in movers.by_ik:
            raise BoneError(Message("MOVED_BY_IK", bone=movers.by_ik[bone.name]), bone=bone.name)
        path = rotation_path(bone)
        if path in movers.driven:
            raise BoneError(Message("ROTATION_DRIVEN"), bone=bone.name)
        location = () if bone.bone.use_connect else bone.location  # which Blender ignores where it is connected
        if not are_finite((*location, *bone.scale)):
            raise InvalidValueError(Message("CHANNEL_NOT_FINITE"), bone=bone.name)
        if not all(bone.scale):
            raise InvalidValueError(Message("BONE_SCALE_ZERO"), bone=bone.name)
    return found


def _is_active(constraint: bpy.types.Constraint, driven: set[str]) -> bool:
    """Whether a constraint does something, or may, since its influence is driven and does not stay at zero."""
    if constraint.mute or constraint.influence > 0.0:
        return not constraint.mute
    return f"{constraint.path_from_id()}.influence" in driven


def _reason_of(owner: bpy.types.Object, constraint: bpy.types.Constraint) -> Message:
    """Why a bone with an active constraint can't be posed; of a rig's own mechanism, what is to be posed instead."""
    if constraint.type in SCALING:
        return Message("CONSTRAINT_CHANGES_SCALE", name=constraint.name)
    followed = getattr(constraint, "subtarget", "") if getattr(constraint, "target", None) == owner else ""
    if followed:
        return Message("CONSTRAINT_FOLLOWS_BONE", name=constraint.name, bone=followed)
    return Message("CONSTRAINT_OVERRIDES_POSE", name=constraint.name)


def _absence(chain: FabrikChain) -> Message:
    """Why a chain has no goal."""
    if chain.target_name:
        return Message("TARGET_DELETED", name=chain.target_name)
    walker = walker_of(owner_of(chain))
    if not is_of_walker(chain, walker):
        return Message("NO_TARGET")
    return Message("WALK_IS_OFF") if walker.digest else Message("WALK_NOT_PLANNED")


def check_has_goal(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Refuse a chain that asks for something, but has neither target nor pin.

    Raises:
        AbsentTargetError: It has none, or its target was deleted.
    """
    if chain.target is None and chain.aims:
        raise AbsentTargetError(Message("AIM_WITHOUT_TARGET"), chain=chain.name)
    if lacks_goal(chain) and not is_let_go(owner, chain):
        raise AbsentTargetError(_absence(chain), chain=chain.name)


def check_goal(owner: bpy.types.Object, chain: FabrikChain, bones: Sequence[str], frames: Mapping[str, str]) -> None:
    """Refuse a target or pole that moves with the bones that it is to move: all that are solved with its chain.

    Raises:
        TargetError: There is neither target nor pin, or target or pole hangs on the chain itself, or on a bone that is
            solved with it by more than parents.
    """
    check_has_goal(owner, chain)
    own = set(bones)
    if chain.goal == OFFSET and is_offset(chain):
        check_offset(owner, chain, frames)
    for role, goal, bone in goals_of(chain):
        if goal.is_missing:
            raise TargetError(Message("GOAL_MISSING_IN_LIBRARY", role=ROLES[role], name=goal.name), chain=chain.name)
        holder = holder_in(goal, bone)
        lost = lost_space(holder) if holder is not None else None
        if lost is not None:
            reason = Message("GOAL_LOST_SPACE", role=ROLES[role], space=lost.name)
            raise TargetError(reason, chain=chain.name)
        carriers = own & bones_behind(owner, goal, bone, now=True)
        below = frames.get(role, "")
        if carriers and (not below or below in names_if_any(owner, chain)):
            name = next(found for found in reversed(bones) if found in carriers)
            reason = Message("GOAL_FOLLOWS_FIGURE", role=ROLES[role], bone=name)
            if name in names_if_any(owner, chain):
                reason = Message("GOAL_HANGS_ON_CHAIN", role=ROLES[role], bone=name)
            raise TargetError(reason, chain=chain.name)


def check_offset(owner: bpy.types.Object, chain: FabrikChain, frames: Mapping[str, str]) -> None:
    """Refuse a chain whose controls can't tell how far it is to be from its start pose.

    Raises:
        TargetError: Its target is no bone of its armature, or one that constraints place, or its pole does not swing
            with the limb.
    """
    if chain.target != owner or not chain.target_bone:
        raise TargetError(Message("OFFSET_WITHOUT_BONE"), chain=chain.name)
    control = pose_bones(owner).get(chain.target_bone)
    if control is not None and is_tied(control):
        raise TargetError(Message("OFFSET_CONSTRAINED"), chain=chain.name)
    pole = frames.get("pole", "")
    if chain.pole is not None and not (pole and swings(pose_bones(owner)[pole])):
        raise TargetError(Message("OFFSET_POLE_ELSEWHERE"), chain=chain.name)


def check_drivers(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Refuse goals whose drivers Blender can't evaluate: they stand still, or anywhere.

    Raises:
        TargetError: There is such a driver.
    """
    for role, goal, bone in goals_of(chain):
        broken = broken_driver(goal, bone)
        if broken:
            reason = Message("DRIVER_BROKEN", path=broken, role=ROLES[role])
            if bpy.app.autoexec_fail:
                reason = Message("SCRIPTS_NOT_RUN", reason=reason)
            raise TargetError(reason, rig=owner.name, chain=chain.name)
