# SPDX-License-Identifier: GPL-3.0-or-later
"""The head of a bone of an armature, as Blender's own IK constraint takes it."""

from __future__ import annotations

from math import prod

import bpy
from mathutils import Vector

from ...errors import FabrikError, TargetError
from ...maths import Q4
from ...texts import ROLE_TEXTS, Text
from ..chain_bones import armature_of, resolve_bones
from ..kinematics import Link, world_turn
from ..schema import rig_of

FLAT = 1e-6  # volume of three axes, as a share of the product of their lengths, that single precision can't tell from 0


def accepts(target: bpy.types.Object, bone: str) -> bool:
    """An armature, where a bone is named."""
    return bool(bone) and target.type == "ARMATURE"


def read(role: str, target: bpy.types.Object, bone: str) -> Vector:
    """World position of the evaluated bone's head."""
    return target.matrix_world @ _found(role, target, bone).head


def turn(role: str, target: bpy.types.Object, bone: str) -> Q4:
    """World rotation of the evaluated bone; see `kinematics.world_turn`."""
    return world_turn(target, _found(role, target, bone))


def _found(role: str, target: bpy.types.Object, bone: str) -> bpy.types.PoseBone:
    found = target.pose.bones.get(bone) if target.pose else None
    if found is None:
        word = ROLE_TEXTS[role]
        raise TargetError(
            Text("the {role} armature '{name}' has no bone '{bone}'", role=word, name=target.name, bone=bone)
        )
    return found


def name_of(target: bpy.types.Object, bone: str) -> str:
    """The bone and its armature, quoted."""
    return Text("'{bone}' of '{target}'", bone=bone, target=target.name)


def holder(target: bpy.types.Object, bone: str) -> bpy.types.PoseBone:
    """What has the channels of its location: the pose bone.

    Raises:
        TargetError: There is no such bone.
    """
    found = target.pose.bones.get(bone) if target.pose else None
    if found is None:
        raise TargetError(Text("the armature '{target}' has no bone '{bone}'", target=target.name, bone=bone))
    return found


def key_group(target: bpy.types.Object, bone: str) -> str:
    """The group of a bone's curves."""
    return bone


def refusal(target: bpy.types.Object, bone: str) -> str:
    """Why the channels of its location don't move a bone, or something else does; "" where they do."""
    found = target.pose.bones.get(bone) if target.pose else None
    if found is None:
        return Text("has no bone '{bone}'", bone=bone)
    if found.parent is not None and found.bone.use_connect:
        return Text("is connected to '{parent}'", parent=found.parent.name)
    if armature_of(target).pose_position == "REST":
        return Text("is of an armature that is shown in its rest position")
    for chain in rig_of(target).chains:
        try:
            bones = resolve_bones(target, chain)
        except FabrikError:  # it has no bones
            continue
        if found in bones and (found != bones[0] or found.parent is not None):
            return Text("is a bone of the chain '{chain}'", chain=chain.name)
    return ""


def body_refusal(target: bpy.types.Object, bone: str) -> str:
    """That a bone is a part of a body, which tears where one of its bones is moved; "" where it is none."""
    found = holder(target, bone)
    if found.parent is None or not (found.bone.use_deform and found.parent.bone.use_deform):
        return ""
    return Text("deforms a body, as '{parent}' does on which it hangs", parent=found.parent.name)


def constraint_refusal(target: bpy.types.Object, bone: str) -> str:
    """Blender's IK takes the heads of bones."""
    return ""


def location_at(target: bpy.types.Object, bone: str, point: Vector) -> Vector:
    """The location channels that put the head of an evaluated armature's bone to a point of the world.

    Raises:
        TargetError: The armature, or what the bone hangs on, has no scale.
    """
    found = holder(target, bone)
    parent = found.parent.matrix.to_3x3().to_4x4() if found.parent is not None else None
    axes = target.matrix_world.to_3x3() @ Link.of(found).location_axes(parent)
    if abs(axes.determinant()) <= FLAT * prod(column.length for column in axes.col):
        raise TargetError(
            Text(
                "what the bone '{bone}' of '{target}' hangs on has no scale, so it can't be moved",
                bone=bone,
                target=target.name,
            )
        )
    return found.location + axes.inverted() @ (point - target.matrix_world @ found.head)
