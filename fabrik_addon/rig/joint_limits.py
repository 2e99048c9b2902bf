# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's limit of a pose bone: from its FABRIK limit, its rotation locks, or its settings for Blender's IK."""

from __future__ import annotations

from math import pi

import bpy
from mathutils import Quaternion, Vector

from ..errors import BoneError, InvalidValueError
from ..kernel.limits import FREE, LIMITS, Cone, Free, Hinge, Limit, Locked, Planar
from ..kernel.rotations import turn_angle
from .channels import CHANNELS, euler, euler_order, read_locks, read_rotation, read_values
from .limit_properties import LimitView, limit_of

AXES = "XYZ"
PARALLEL = 1e-4  # radians
KEPT_DIGITS = 5


def read_limit(bone: bpy.types.PoseBone, start: Quaternion) -> Limit:
    """The limit that holds for a bone: its own, narrowed by its rotation locks.

    Args:
        bone: The pose bone.
        start: The joint's rotation in the start pose, for a bone whose limit is to keep it.

    Raises:
        BoneError: The locks are no limit of the types that there are, or locks and limit leave nothing over.
        InvalidValueError: The limit's numbers make no sense.
    """
    view = limit_of(bone)
    try:
        own = LIMITS[view.limit].make(view, start)
    except InvalidValueError as error:
        error.bone = bone.name
        raise
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
    """Index of the one rotation channel that is not locked and is the angle of the hinge that the locks make.

    That is the third Euler angle, or the angle of an axis-angle bone; None for the other modes and locks.
    """
    locked = read_locks(bone)
    if bone.rotation_mode == "AXIS_ANGLE":
        return 0 if bone.lock_rotations_4d and all(locked) and not bone.lock_rotation_w else None
    return locked.index(False) if sum(locked) == 2 and bone.rotation_mode not in CHANNELS else None


def _hinge_of_channel(bone: bpy.types.PoseBone, free: int) -> Hinge:
    """The hinge that one free Euler channel makes: R = before * turn(axis) * after, the locked channels in both."""
    order = euler_order(bone.rotation_mode)
    is_euler = bone.rotation_mode not in CHANNELS
    values = read_values(bone) if is_euler else list(read_rotation(bone).to_euler(order))
    if not is_euler:  # read again from what was written, they must not drift
        values = [round(value, KEPT_DIGITS) for value in values]
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
    if isinstance(own, Free):
        return hinge
    if not isinstance(own, Hinge):
        raise BoneError("two rotation channels are locked, which only goes with a hinge or no limit", bone=bone.name)
    along = own.axis.dot(hinge.axis)
    if own.axis.cross(hinge.axis).length > PARALLEL or turn_angle(hinge.zero) > PARALLEL:
        raise BoneError("the hinge's axis is not the rotation channel that is left unlocked", bone=bone.name)
    low, high = (own.angle_min, own.angle_max) if along > 0.0 else (-own.angle_max, -own.angle_min)
    return Hinge(hinge.axis, low, high, hinge.zero)


def read_stiffness(bone: bpy.types.PoseBone) -> float:
    """How much less than others the joint turns, 0 to 1: the bone's own, or that for Blender's IK."""
    view = limit_of(bone)
    return view.ik_stiffness if view.limit == "BONE_IK" else view.stiffness


def set_from_ik(bone: bpy.types.PoseBone) -> None:
    """Set a bone's limit from its locks and limits for Blender's own IK, as one of the other types.

    Raises:
        BoneError: The bone has no such settings.
        InvalidValueError: They make no sense.
    """
    view = limit_of(bone)
    if not any(view.ik_locks) and not any(view.ik_ranges):
        raise BoneError("it has no IK locks or limits, and keeps its joint limit", bone=bone.name)
    try:
        limit = LIMITS["BONE_IK"].make(view, Quaternion())
    except InvalidValueError as error:
        error.bone = bone.name
        raise
    _store(view, limit)
    view.stiffness = view.ik_stiffness


def _store(view: LimitView, limit: Limit) -> None:
    """Write a limit into a bone's settings."""
    if isinstance(limit, Locked):
        view.limit = "LOCKED"
        return
    if isinstance(limit, Hinge | Planar):
        view.limit = "HINGE" if isinstance(limit, Hinge) else "PLANAR"
        view.axis, view.angle_min, view.angle_max = limit.axis, limit.angle_min, limit.angle_max
    if isinstance(limit, Cone):
        view.limit, view.use_ellipse = "CONE", True
        view.cone_x_min, view.cone_x_max = -limit.x_low, limit.x_high
        view.cone_z_min, view.cone_z_max = -limit.z_low, limit.z_high
    if isinstance(limit, Planar | Cone):
        view.use_twist = limit.twist is not None
        if limit.twist is not None:
            view.twist_min, view.twist_max = limit.twist.low, limit.twist.high
