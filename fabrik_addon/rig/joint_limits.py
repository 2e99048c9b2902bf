# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's limit of a pose bone: from its FABRIK limit, its rotation locks, or its settings for Blender's IK."""

from __future__ import annotations

from math import pi

import bpy

from ..errors import BoneError, place_of
from ..kernel import FREE, Hinge, Limit, Locked
from ..maths import IDENTITY, Q4, rotated, unit
from ..messages import Message
from .channels import (
    AXES,
    CHANNELS,
    UNIT_AXES,
    euler_order,
    from_euler,
    read_locks,
    read_rotation,
    read_values,
    to_euler,
)
from .limit_types import LIMITS, limit_settings, type_of
from .schema import limit_of

OFF_ZERO = 1e-4  # by which a locked quaternion channel may be off zero where the bone is to be a hinge
KEPT_DIGITS = 5  # of locked angles that are read back from a quaternion, so that rounding does not add up


def read_limit(bone: bpy.types.PoseBone, start: Q4) -> Limit:
    """The limit that holds for a bone: its own, narrowed by its rotation locks.

    Args:
        bone: The pose bone.
        start: The joint's rotation in the start pose, for a bone whose limit is to keep it.

    Raises:
        BoneError: The locks are no limit of the types that there are, or locks and limit leave nothing over.
        InvalidValueError: The limit's numbers make no sense.
    """
    view = limit_of(bone)
    with place_of(bone=bone.name):
        own = LIMITS[view.limit].make(view, start)
        if not any(read_locks(bone)) and not bone.lock_rotation_w:
            return own
        hinge = hinge_of_locks(bone)
        if hinge is not None:
            return _narrowed(own, hinge)
        locked = _limit_of_other_locks(bone)
        return own if locked.is_free else locked


def hinge_of_locks(bone: bpy.types.PoseBone) -> Hinge | None:
    """The hinge that is left where all rotation channels but one are locked; None for all other locks.

    With two of X, Y and Z locked the bone is a hinge about the third, the locked channels as they stand. An axis-angle
    bone whose axis is locked is a hinge about it.

    Raises:
        BoneError: Quaternion channels are locked away from zero.
        InvalidValueError: A rotation channel makes no sense.
    """
    locked = read_locks(bone)
    four = _locks_four(bone)
    if four and bone.rotation_mode == "AXIS_ANGLE":
        axis = read_values(bone)[1:]
        is_hinge = all(locked) and not bone.lock_rotation_w and any(axis)
        return Hinge(unit(axis), -2.0 * pi, 2.0 * pi) if is_hinge else None
    if sum(locked) != 2:
        return None
    free = locked.index(False)
    if four and any(abs(value) > OFF_ZERO for i, value in enumerate(read_values(bone)[1:]) if i != free):
        raise BoneError(Message("QUATERNION_LOCKED_OFF_ZERO"))
    return _hinge_of_channel(bone, free)


def _limit_of_other_locks(bone: bpy.types.PoseBone) -> Limit:
    """What rotation locks leave that make no hinge: with all channels locked the bone keeps its rotation."""
    locked = read_locks(bone)
    four = _locks_four(bone)
    if four and bone.rotation_mode == "AXIS_ANGLE":
        locked.append(bool(bone.lock_rotation_w))  # X, Y and Z are its axis, W its angle
    if all(locked):
        return Locked(read_rotation(bone))
    if not any(locked) and not (four and bone.lock_rotation_w):
        return FREE
    if len(locked) > 3:
        raise BoneError(Message("AXIS_LOCKED_IN_PART"))
    raise BoneError(Message("LOCKS_LEAVE_TWO_FREE"))


def _locks_four(bone: bpy.types.PoseBone) -> bool:
    """Whether each of four channels has a lock of its own."""
    return bone.lock_rotations_4d and bone.rotation_mode in CHANNELS


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
    if bone.rotation_mode not in CHANNELS:
        values = read_values(bone)
    else:  # read again from what was written, they must not drift
        values = [round(value, KEPT_DIGITS) for value in to_euler(read_rotation(bone), order, (0.0, 0.0, 0.0))]
    values[free] = 0.0
    later = [values[i] if order.index(AXES[i]) > order.index(AXES[free]) else 0.0 for i in range(3)]
    before = from_euler(later, order)  # channels later in the order are applied outside
    return Hinge(unit(rotated(before, UNIT_AXES[free])), -2.0 * pi, 2.0 * pi, from_euler(values, order))


def _narrowed(own: Limit, hinge: Hinge) -> Limit:
    """What both the hinge of the locks and the bone's own limit allow."""
    found = type_of(own).narrowed(own, hinge)
    if found is not None:
        return found
    if own.dofs == 1:
        raise BoneError(Message("HINGE_AXIS_LOCKED"))
    raise BoneError(Message("LOCKS_NEED_HINGE"))


def read_stiffness(bone: bpy.types.PoseBone) -> float:
    """How much less than others the joint turns, 0 to 1: the bone's own, or that for Blender's IK."""
    view = limit_of(bone)
    return view.ik_stiffness if view.type.is_of_blender else view.stiffness


def set_from_ik(bone: bpy.types.PoseBone) -> None:
    """Set a bone's limit from its locks and limits for Blender's own IK, as one of the other types.

    Raises:
        BoneError: The bone has no such settings.
        InvalidValueError: They make no sense.
    """
    view = limit_of(bone)
    if not any(view.ik_locks) and not any(view.ik_ranges):
        raise BoneError(Message("NO_IK_LIMITS"), bone=bone.name)
    with place_of(bone=bone.name):
        limit = LIMITS["BONE_IK"].make(view, IDENTITY)
    for name, value in limit_settings(limit).items():
        setattr(view, name, value)
    view.stiffness = view.ik_stiffness
