# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's limit of a pose bone: from its FABRIK limit, its rotation locks, or its settings for Blender's IK."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import bpy
from mathutils import Quaternion, Vector

from ..errors import BoneError, InvalidValueError
from ..finite import are_finite
from ..kernel.limits import FREE, Free, Hinge, Limit, Locked
from .channels import CHANNELS, euler, euler_order, read_locks, read_rotation, read_values
from .properties import LimitView, limit_of

AXES = "XYZ"
PARALLEL = 1e-4


def read_limit(bone: bpy.types.PoseBone, start: Quaternion) -> Limit:
    """The limit that holds for a bone: its own, narrowed by its rotation locks.

    Args:
        bone: The pose bone.
        start: The joint's rotation in the start pose, for a bone whose limit is to keep it.

    Raises:
        BoneError: The locks are no limit of the types that there are, or locks and limit leave nothing over.
        InvalidValueError: The limit's numbers make no sense.
    """
    own = BUILDERS[limit_of(bone).limit](bone, start)
    locks = _limit_of_locks(bone)
    if isinstance(locks, Free):
        return own
    return _narrowed(bone, locks, own) if isinstance(locks, Hinge) else locks


def _limit_of_locks(bone: bpy.types.PoseBone) -> Limit:
    """What a bone's rotation locks leave.

    All channels locked: the bone keeps its rotation. Two of X, Y and Z: it is a hinge about the third, the locked
    channels as they stand. An axis-angle bone whose axis is locked is a hinge about it.
    """
    locked = read_locks(bone)
    four = bone.lock_rotations_4d and bone.rotation_mode in CHANNELS
    if four and bone.rotation_mode == "AXIS_ANGLE":
        return _limit_of_axis_angle_locks(bone, [*locked, bool(bone.lock_rotation_w)])
    if all(locked):
        return Locked(read_rotation(bone))
    if not any(locked) and not (four and bone.lock_rotation_w):
        return FREE
    if sum(locked) != 2:
        raise BoneError(
            "its locks leave two rotation channels free: lock two of X, Y and Z (a hinge), all, or none", bone=bone.name
        )
    free = locked.index(False)
    if four and any(abs(value) > PARALLEL for i, value in enumerate(read_values(bone)[1:]) if i != free):
        raise BoneError("quaternion channels are locked away from zero, which is no hinge", bone=bone.name)
    return _hinge_of_channel(bone, free)


def _limit_of_axis_angle_locks(bone: bpy.types.PoseBone, locked: list[bool]) -> Limit:
    """Locks of an axis-angle bone: X, Y and Z are its axis, W its angle."""
    if all(locked):
        return Locked(read_rotation(bone))
    if not any(locked):
        return FREE
    axis = Vector(read_values(bone)[1:])
    if locked == [True, True, True, False] and axis.length:
        return Hinge(axis.normalized(), -2.0 * pi, 2.0 * pi)
    raise BoneError("its axis is locked in part: lock X, Y and Z (a hinge), W too, or none", bone=bone.name)


def free_channel(bone: bpy.types.PoseBone) -> int | None:
    """Index of the one Euler channel that is not locked, where two are; else None."""
    locked = read_locks(bone)
    return locked.index(False) if sum(locked) == 2 and bone.rotation_mode not in CHANNELS else None


def _hinge_of_channel(bone: bpy.types.PoseBone, free: int) -> Hinge:
    """The hinge that one free Euler channel makes: R = before * turn(axis) * after, the locked channels in both."""
    order = euler_order(bone.rotation_mode)
    is_euler = bone.rotation_mode not in CHANNELS
    values = read_values(bone) if is_euler else list(read_rotation(bone).to_euler(order))
    values[free] = 0.0
    zero = euler(values, order).to_quaternion()
    later = [values[i] if order.index(AXES[i]) > order.index(AXES[free]) else 0.0 for i in range(3)]
    before = euler(later, order).to_quaternion()  # channels later in the order are applied outside
    axis = Vector([float(i == free) for i in range(3)])
    return Hinge((before @ axis).normalized(), -2.0 * pi, 2.0 * pi, zero)


def _narrowed(bone: bpy.types.PoseBone, hinge: Hinge, own: Limit) -> Limit:
    """What both the hinge of the locks and the bone's own limit allow."""
    if isinstance(own, Locked):
        return Locked(hinge.clamp(own.rotation))
    if not isinstance(own, Hinge):
        return hinge
    along = own.axis.dot(hinge.axis)
    if abs(along) < 1.0 - PARALLEL or abs(hinge.zero.w) < 1.0 - PARALLEL:
        raise BoneError("the hinge's axis is not the rotation channel that is left unlocked", bone=bone.name)
    low, high = (own.angle_min, own.angle_max) if along > 0.0 else (-own.angle_max, -own.angle_min)
    return Hinge(hinge.axis, low, high, hinge.zero)


def _free(bone: bpy.types.PoseBone, start: Quaternion) -> Limit:
    return FREE


def _locked(bone: bpy.types.PoseBone, start: Quaternion) -> Limit:
    return Locked(start)


def _hinge(bone: bpy.types.PoseBone, start: Quaternion) -> Limit:
    view = limit_of(bone)
    axis = Vector(view.axis)
    if not are_finite((*axis, view.angle_min, view.angle_max)):
        raise InvalidValueError("the hinge has a number that is not finite", bone=bone.name)
    if axis.length < 1e-6:
        raise InvalidValueError("the hinge's axis is zero", bone=bone.name)
    if view.angle_min > view.angle_max:
        raise InvalidValueError("the hinge's least angle is above its greatest", bone=bone.name)
    return Hinge(axis.normalized(), view.angle_min, view.angle_max)


Builder = Callable[[bpy.types.PoseBone, Quaternion], Limit]
BUILDERS: dict[str, Builder] = {"FREE": _free, "HINGE": _hinge, "LOCKED": _locked}


def set_from_ik(bone: bpy.types.PoseBone) -> None:
    """Set a bone's limit from its locks and limits for Blender's own IK.

    One free axis is a hinge with that axis' limits, none is locked.

    Raises:
        BoneError: The bone has no such settings, or they are no limit of the types that there are.
    """
    locks = [bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z]
    limited = [bone.use_ik_limit_x, bone.use_ik_limit_y, bone.use_ik_limit_z]
    view: LimitView = limit_of(bone)
    if not any(locks) and not any(limited):
        raise BoneError("it has no IK locks or limits, and keeps its joint limit", bone=bone.name)
    if all(locks):
        view.limit = "LOCKED"
        return
    free = [i for i in range(3) if not locks[i]]
    if len(free) > 1:
        axes = " and ".join(AXES[i] for i in free)
        raise BoneError(f"its IK settings leave {axes} free within limits; a hinge has one axis", bone=bone.name)
    (axis,) = free
    low, high = ((bone.ik_min_x, bone.ik_max_x), (bone.ik_min_y, bone.ik_max_y), (bone.ik_min_z, bone.ik_max_z))[axis]
    view.limit = "HINGE"
    view.axis = [float(i == axis) for i in range(3)]
    view.angle_min, view.angle_max = (low, high) if limited[axis] else (-pi, pi)
