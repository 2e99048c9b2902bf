# SPDX-License-Identifier: GPL-3.0-or-later
"""What a target or a pole can be, and where it stands. A new kind is one class here and one line in `KINDS`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..errors import AbsentTargetError, InvalidValueError, TargetError, are_finite
from ..maths import Q4, Doubles, axes_of, multiplied, products, units
from ..messages import ROLES, Message
from .bones import armature_of, bones_if_any
from .dependencies import is_deleted, is_evaluated
from .figure.kinematics import Link
from .schema.rig import rig_of
from .spaces import in_force

FLAT = 1e-6  # volume of three axes, as a share of the product of their lengths, that single precision can't tell from 0

Named = tuple[bpy.types.Object, str]  # an object, with the name of a bone or of something else in it, or ""


class Kind:
    """What a kind of target or pole has to tell.

    `target` is an object, the original one where nothing else is said, and `bone` the name of a bone or of something
    else in it, or "".
    """

    def accepts(self, target: bpy.types.Object, bone: str) -> bool:
        """Whether it is of this kind, asked at every solve; a name that is not found is for `read` to refuse."""
        raise NotImplementedError

    def read(self, role: str, target: bpy.types.Object, bone: str) -> Vector:
        """Where it stands in the world, of an evaluated object; TargetError where it is not there."""
        raise NotImplementedError

    def turn(self, role: str, target: bpy.types.Object, bone: str) -> Q4:
        """How it is turned in the world, of an evaluated object; TargetError where it is not there."""
        raise NotImplementedError

    def read_all(self, depsgraph: bpy.types.Depsgraph, found: Sequence[Named]) -> list[Vector]:
        """`read` for many that are evaluated; KeyError or TargetError where one is not there."""
        return [self.read("target", target.evaluated_get(depsgraph), bone) for target, bone in found]

    def turn_all(self, depsgraph: bpy.types.Depsgraph, found: Sequence[Named]) -> Doubles:
        """`turn` for many that are evaluated, (m, 4); KeyError or TargetError where one is not there."""
        return np.array([self.turn("target", target.evaluated_get(depsgraph), bone) for target, bone in found])

    def name_of(self, target: bpy.types.Object, bone: str) -> str | Message:
        """How a message calls it: by its name, quoted."""
        return Message("BONE_OF_TARGET", bone=bone, target=target.name)

    def holder(self, target: bpy.types.Object, bone: str) -> bpy.types.Object | bpy.types.PoseBone:
        """What has the channels of its location; TargetError where it is not there."""
        raise NotImplementedError

    def key_group(self, target: bpy.types.Object, bone: str) -> str:
        """The group of its curves."""
        return ""

    def refusal(self, target: bpy.types.Object, bone: str) -> Message | None:
        """Why it can't be put elsewhere, as far as that is of this kind alone; or None."""
        return None

    def body_refusal(self, target: bpy.types.Object, bone: str) -> Message | None:
        """Why it is not to be put elsewhere unless that is asked for; or None."""
        return None

    def constraint_refusal(self, target: bpy.types.Object, bone: str) -> Message | None:
        """Why Blender's own IK can't have it as target or pole; or None."""
        return None

    def location_at(self, target: bpy.types.Object, bone: str, point: Vector) -> Vector:
        """The location channels with which it stands at a point of the world, or TargetError."""
        raise NotImplementedError


class BoneHead(Kind):
    """The head of a bone of an armature, as Blender's own IK constraint takes it."""

    def accepts(self, target: bpy.types.Object, bone: str) -> bool:
        """An armature, where a bone is named."""
        return bool(bone) and target.type == "ARMATURE"

    def read(self, role: str, target: bpy.types.Object, bone: str) -> Vector:
        found = target.pose.bones.get(bone) if target.pose else None
        if found is None:
            raise _without_bone(role, target, bone)
        return target.matrix_world @ found.head

    def turn(self, role: str, target: bpy.types.Object, bone: str) -> Q4:
        """World rotation of the evaluated bone; see `kinematics.world_turn`."""
        found = target.pose.bones.get(bone) if target.pose else None
        if found is None:
            raise _without_bone(role, target, bone)
        return multiplied(axes_of(target.matrix_world), axes_of(found.matrix))

    def read_all(self, depsgraph: bpy.types.Depsgraph, found: Sequence[Named]) -> list[Vector]:
        places = []
        for target, bone in found:
            evaluated: Any = target.evaluated_get(depsgraph)
            places.append(evaluated.matrix_world @ evaluated.pose.bones[bone].head)
        return places

    def turn_all(self, depsgraph: bpy.types.Depsgraph, found: Sequence[Named]) -> Doubles:
        worlds, own = [], []
        for target, bone in found:
            evaluated: Any = target.evaluated_get(depsgraph)
            worlds.append(evaluated.matrix_world)
            own.append(evaluated.pose.bones[bone].matrix)
        turns = quaternions_of([*worlds, *own])
        return products(turns[: len(own)], turns[len(own) :])

    def holder(self, target: bpy.types.Object, bone: str) -> bpy.types.PoseBone:
        found = target.pose.bones.get(bone) if target.pose else None
        if found is None:
            raise TargetError(Message("TARGET_BONE_MISSING", target=target.name, bone=bone))
        return found

    def key_group(self, target: bpy.types.Object, bone: str) -> str:
        return bone

    def refusal(self, target: bpy.types.Object, bone: str) -> Message | None:
        """Why the channels of its location don't move a bone, or something else does."""
        found = target.pose.bones.get(bone) if target.pose else None
        if found is None:
            return Message("HAS_NO_BONE", bone=bone)
        if found.parent is not None and found.bone.use_connect:
            return Message("IS_CONNECTED", parent=found.parent.name)
        if armature_of(target).pose_position == "REST":
            return Message("IS_OF_RIG_IN_REST_POSITION")
        for chain in rig_of(target).chains:
            bones = bones_if_any(target, chain)
            if found in bones and (found != bones[0] or found.parent is not None):
                return Message("IS_BONE_OF_CHAIN", chain=chain.name)
        return None

    def body_refusal(self, target: bpy.types.Object, bone: str) -> Message | None:
        """That a bone is a part of a body, which tears where one of its bones is moved."""
        found = self.holder(target, bone)
        if found.parent is None or not (found.bone.use_deform and found.parent.bone.use_deform):
            return None
        return Message("DEFORMS_BODY", parent=found.parent.name)

    def location_at(self, target: bpy.types.Object, bone: str, point: Vector) -> Vector:
        """The location channels that put the head of an evaluated armature's bone to a point of the world.

        Raises:
            TargetError: The armature, or what the bone hangs on, has no scale.
        """
        found = self.holder(target, bone)
        if in_force(found):  # a space
            own = (found.matrix @ found.matrix_basis.inverted_safe()).to_3x3()
        else:
            parent = found.parent.matrix.to_3x3().to_4x4() if found.parent is not None else None
            own = Link.of(found).location_axes(parent)
        axes = target.matrix_world.to_3x3() @ own
        if abs(axes.determinant()) <= FLAT * prod(column.length for column in axes.col):
            raise TargetError(Message("TARGET_BONE_PARENT_WITHOUT_SCALE", bone=bone, target=target.name))
        return found.location + axes.inverted() @ (point - target.matrix_world @ found.head)


def _without_bone(role: str, target: bpy.types.Object, bone: str) -> TargetError:
    word = ROLES["target" if role == "turn" else role]
    return TargetError(Message("GOAL_BONE_MISSING", role=word, name=target.name, bone=bone))


class ObjectOrigin(Kind):
    """The origin of an object."""

    def accepts(self, target: bpy.types.Object, bone: str) -> bool:
        return True

    def read(self, role: str, target: bpy.types.Object, bone: str) -> Vector:
        return target.matrix_world.translation.copy()

    def turn(self, role: str, target: bpy.types.Object, bone: str) -> Q4:
        return axes_of(target.matrix_world)

    def read_all(self, depsgraph: bpy.types.Depsgraph, found: Sequence[Named]) -> list[Vector]:
        return [target.evaluated_get(depsgraph).matrix_world.translation.copy() for target, _ in found]

    def turn_all(self, depsgraph: bpy.types.Depsgraph, found: Sequence[Named]) -> Doubles:
        return quaternions_of([target.evaluated_get(depsgraph).matrix_world for target, _ in found])

    def name_of(self, target: bpy.types.Object, bone: str) -> str | Message:
        return f"'{target.name}'"

    def holder(self, target: bpy.types.Object, bone: str) -> bpy.types.Object:
        return target

    def key_group(self, target: bpy.types.Object, bone: str) -> str:
        """That in which Blender itself puts the curves of an object."""
        return "Object Transforms"

    def location_at(self, target: bpy.types.Object, bone: str, point: Vector) -> Vector:
        """The location channels that put the origin of an evaluated object to a point of the world.

        Raises:
            TargetError: What it is parented to has no scale.
        """
        try:
            parent = target.matrix_world @ target.matrix_basis.inverted()
            there = parent.inverted() @ point
        except ValueError as error:
            raise TargetError(Message("TARGET_WITHOUT_SCALE", name=target.name)) from error
        return target.location + there - target.matrix_basis.translation


KINDS: tuple[Kind, ...] = (  # the first that accepts a target counts
    BoneHead(),
    ObjectOrigin(),
)


def resolve_point(role: str, target: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The evaluated world position of a target or pole; the error tells which it is.

    Raises:
        AbsentTargetError: The object is not evaluated.
        TargetError: It has no such bone.
        InvalidValueError: The position is not a finite number.
    """
    check_present(role, target, depsgraph)
    point = kind_of(target, bone).read(role, target.evaluated_get(depsgraph), bone)
    if not are_finite(point):
        raise InvalidValueError(Message("GOAL_PLACE_NOT_FINITE", role=ROLES[role], name=target.name))
    return point


def check_present(role: str, target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Refuse a target or pole that is not evaluated.

    Raises:
        AbsentTargetError: It is not.
    """
    if not is_evaluated(target, depsgraph):
        if is_deleted(target):
            raise AbsentTargetError(Message("GOAL_DELETED", role=ROLES[role], name=target.name))
        raise AbsentTargetError(Message("GOAL_NOT_IN_VIEW_LAYER", role=ROLES[role], name=target.name))


def resolve_turn(target: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Q4:
    """The evaluated world rotation of a target.

    Raises:
        AbsentTargetError: The object is not evaluated.
        TargetError: It has no such bone.
        InvalidValueError: The rotation is not one of finite numbers.
    """
    check_present("target", target, depsgraph)
    turn = kind_of(target, bone).turn("target", target.evaluated_get(depsgraph), bone)
    if not are_finite(turn):
        raise InvalidValueError(Message("TARGET_ROTATION_NOT_FINITE", target=target.name))
    return turn


def kind_of(target: bpy.types.Object, bone: str) -> Kind:
    """Of which kind a target or pole is."""
    for kind in KINDS[:-1]:
        if kind.accepts(target, bone):
            return kind
    return KINDS[-1]


def quaternions_of(matrices: Sequence[Matrix]) -> Doubles:
    """The rotations of matrices, (m, 4), as `maths.axes_of` finds them one by one."""
    return units(rounded_quaternions_of(matrices))


def rounded_quaternions_of(matrices: Sequence[Matrix]) -> Doubles:
    """`quaternions_of` in single precision, still to be made unit."""
    found: list[Sequence[float]] = []
    for matrix in matrices:
        axes = matrix.to_3x3()
        found.append((axes * -1.0 if axes.determinant() < 0.0 else axes).to_quaternion())
    return np.array(found, dtype=np.float64).reshape(-1, 4)
