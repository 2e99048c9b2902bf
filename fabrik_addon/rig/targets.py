# SPDX-License-Identifier: GPL-3.0-or-later
"""What a target or a pole can be, and where it stands. A new kind is one class here and one line in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..errors import AbsentTargetError, FabrikError, InvalidValueError, TargetError
from ..finite import are_finite
from ..maths import Q4, Doubles, axes_of, products, units
from ..messages import ROLES, Message
from .bones import armature_of, pose_bones, resolve_bones
from .dependencies import is_deleted, is_evaluated
from .figure.kinematics import Link, rounded, world_turn
from .schema.rig import rig_of

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
        return target.matrix_world @ _bone_of(role, target, bone).head

    def turn(self, role: str, target: bpy.types.Object, bone: str) -> Q4:
        """World rotation of the evaluated bone; see `kinematics.world_turn`."""
        return world_turn(target, _bone_of(role, target, bone))

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
            try:
                bones = resolve_bones(target, chain)
            except FabrikError:  # it has no bones
                continue
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
        parent = found.parent.matrix.to_3x3().to_4x4() if found.parent is not None else None
        axes = target.matrix_world.to_3x3() @ Link.of(found).location_axes(parent)
        if abs(axes.determinant()) <= FLAT * prod(column.length for column in axes.col):
            raise TargetError(Message("TARGET_BONE_PARENT_WITHOUT_SCALE", bone=bone, target=target.name))
        return found.location + axes.inverted() @ (point - target.matrix_world @ found.head)


def _bone_of(role: str, target: bpy.types.Object, bone: str) -> bpy.types.PoseBone:
    found = target.pose.bones.get(bone) if target.pose else None
    if found is None:
        raise TargetError(Message("GOAL_BONE_MISSING", role=ROLES[role], name=target.name, bone=bone))
    return found


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
    """The evaluated world position of a target or pole.

    Args:
        role: "target" or "pole", for the error.
        target: The object.
        bone: Name of a bone of it, or "".
        depsgraph: Evaluated for the frame in question.

    Raises:
        AbsentTargetError: The object is not evaluated.
        TargetError: It has no such bone.
        InvalidValueError: The position is not a finite number.
    """
    check_present(role, target, depsgraph)
    point = read_point(role, target, bone, depsgraph)
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


def read_point(role: str, target: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Vector:
    """`resolve_point` for an object that is known to be evaluated; the numbers may be of any kind.

    Raises:
        TargetError: It has no such bone.
    """
    return reader_of(target, bone)(role, target.evaluated_get(depsgraph), bone)


def reader_of(target: bpy.types.Object, bone: str) -> Callable[[str, bpy.types.Object, str], Vector]:
    """What reads the world position of a target or pole, from its role, the evaluated object and a bone's name."""
    return kind_of(target, bone).read


def kind_of(target: bpy.types.Object, bone: str) -> Kind:
    """Of which kind a target or pole is."""
    for kind in KINDS[:-1]:
        if kind.accepts(target, bone):
            return kind
    return KINDS[-1]


def quaternions_of(matrices: Sequence[Matrix]) -> Doubles:
    """The rotations of matrices, (m, 4), as `rotations.axes_of` finds them one by one."""
    found: list[Sequence[float]] = []
    for matrix in matrices:
        axes = matrix.to_3x3()
        found.append((axes * -1.0 if axes.determinant() < 0.0 else axes).to_quaternion())
    return units(np.array(found, dtype=np.float64).reshape(-1, 4))


# Where goals stand that hang on a bone of the figure that is to reach them: in the frame of that bone.

UNSCALED = {"NONE", "NONE_LEGACY"}  # how a bone inherits scale that takes none of its parent's
ALIKE = 1e-5  # share of a scale by which its axes may differ through rounding


def carrier_of(bone: str, role: str, goal: bpy.types.Object, name: str) -> Matrix:
    """What carries a goal in the frame of the bone on which it hangs (`goals.bone_below`), by channels alone.

    So it is the same to the last bit wherever that bone stands, and nothing runs in a circle.

    Args:
        bone: Name of the bone.
        role: "target" or "pole".
        goal: The evaluated object.
        name: Of a bone of it, or "".

    Returns:
        The matrix that comes before the goal's own channels: relative to the bone's head and axes, in lengths of
        armature space.

    Raises:
        TargetError: A scale on the way differs between axes.
    """
    way = list[bpy.types.PoseBone]()
    objects = list[bpy.types.Object]()
    found, holder = goal, pose_bones(goal)[name] if name and goal.type == "ARMATURE" else None
    while holder is None or holder.name != bone:
        if holder is None:
            objects.append(found)
            assert found.parent is not None, "it hangs on the bone"
            holder = pose_bones(found.parent)[found.parent_bone] if found.parent_type == "BONE" else None
            found = found.parent
        else:
            way.append(holder)
            holder = holder.parent
    rest, size = holder.bone.matrix_local.to_3x3(), size_of(holder)
    if not size:
        raise TargetError(Message("GOAL_HANGS_ON_CHAIN", role=ROLES[role], bone=bone))
    own, length = (rest * size).to_4x4(), holder.bone.length
    for k, one in enumerate(reversed(way), 1):
        basis = Matrix() if k == len(way) and not objects else one.matrix_basis
        own, length = Link.of(one).placed(Matrix(), own) @ basis, one.bone.length
    for k, thing in enumerate(reversed(objects), 1):
        if thing.parent_type == "BONE":
            own = own @ Matrix.Translation((0.0, length, 0.0))
        own = own @ thing.matrix_parent_inverse @ (Matrix() if k == len(objects) else thing.matrix_basis)
    return rest.inverted().to_4x4() @ own


def size_of(bone: bpy.types.PoseBone) -> float:
    """The scale of an evaluated bone by the channels of it and of those above; 0 where one differs between axes."""
    size = 1.0
    for one in (bone, *bone.parent_recursive):
        x, y, z = one.scale
        if max(abs(y - x), abs(z - x)) > ALIKE * abs(x):
            return 0.0
        size *= x
        if one.bone.inherit_scale in UNSCALED:
            break
    return rounded(size)


def within(bone: str, role: str, goal: bpy.types.Object, name: str) -> Matrix:
    """A goal in the frame of the bone on which it hangs; see `carrier_of`."""
    holder: Any = pose_bones(goal)[name] if name and goal.type == "ARMATURE" else goal
    return carrier_of(bone, role, goal, name) @ holder.matrix_basis


def reader_within(bone: str, *, turns: bool) -> Callable[[str, bpy.types.Object, str], Sequence[float]]:
    """What reads a goal in the frame of the bone on which it hangs, from its role, the evaluated object and a name.

    What carries a goal that hangs on the bone itself is found out once: it is the same in all poses.

    Args:
        bone: Name of the bone.
        turns: Whether its rotation is read, else its place.
    """
    known: Matrix | None = None

    def reader(role: str, goal: Any, name: str) -> Sequence[float]:
        nonlocal known
        holder: Any = goal.pose.bones[name] if name and goal.type == "ARMATURE" else goal
        carrier = known
        if carrier is None:
            carrier = carrier_of(bone, role, goal, name)
            known = carrier if holder != goal and holder.parent.name == bone else None
        found: Matrix = carrier @ holder.matrix_basis
        return axes_of(found) if turns else found.translation

    return reader
