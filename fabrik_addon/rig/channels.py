# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose bone's rotation channels, in each rotation mode, as quaternions and back."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, pi
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Quaternion, Vector

from ..errors import InvalidValueError
from ..finite import are_finite
from ..kernel import arrays
from ..kernel.arrays import X_COLUMN, Y_COLUMN, Z_COLUMN, Array, multiply, unit
from ..kernel.rotations import turn_about

CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
EULER_CHANNEL = ("rotation_euler", 3)
AXES, COLUMNS = "XYZ", (X_COLUMN, Y_COLUMN, Z_COLUMN)


def channel_of(mode: str) -> tuple[str, int]:
    """Name and size of the property that holds the rotation in a rotation mode."""
    return CHANNELS.get(mode, EULER_CHANNEL)


def rotation_path(bone: bpy.types.PoseBone) -> str:
    """Data path, from the object, of the property that holds a bone's rotation."""
    return f"{bone.path_from_id()}.{channel_of(bone.rotation_mode)[0]}"


def read_values(bone: bpy.types.PoseBone) -> list[float]:
    """The numbers of the rotation channels in the bone's own mode."""
    return [float(value) for value in getattr(bone, channel_of(bone.rotation_mode)[0])]


def read_locks(bone: bpy.types.PoseBone) -> list[bool]:
    """The rotation locks of X, Y and Z."""
    locks: Any = bone.lock_rotation
    return [bool(lock) for lock in locks]


def read_rotation(bone: bpy.types.PoseBone) -> Quaternion:
    """The bone's rotation as a unit quaternion.

    Raises:
        InvalidValueError: A channel is not finite, or the quaternion is zero.
    """
    return to_rotation(bone.rotation_mode, read_values(bone), bone.name)


def to_rotation(mode: str, values: Sequence[float], bone: str) -> Quaternion:
    """Rotation channels as a unit quaternion; see `read_rotation`."""
    if not are_finite(values):
        raise InvalidValueError("a rotation channel is not a finite number", bone=bone)
    if mode == "QUATERNION":
        rotation = Quaternion(values)
        if not rotation.magnitude:
            raise InvalidValueError("the rotation quaternion is zero", bone=bone)
        return rotation.normalized()
    if mode == "AXIS_ANGLE":
        axis = Vector(values[1:])
        return turn_about(axis.normalized(), values[0]) if axis.length_squared else Quaternion()
    return euler(values, mode).to_quaternion()


def to_rotations(mode: str, values: Array) -> Array:
    """The channels of F frames, (F, k), as unit quaternions (4, F), as Blender reads them."""
    found = values.T
    if mode == "QUATERNION":
        return unit(found)
    if mode == "AXIS_ANGLE":
        return arrays.turn_about(unit(found[1:]), found[0])
    rotations: Array = np.array((1.0, 0.0, 0.0, 0.0))[:, None]
    for axis in euler_order(mode):  # channels later in the order are applied outside
        i = AXES.index(axis)
        rotations = multiply(arrays.turn_about(COLUMNS[i], found[i]), rotations)
    return rotations


def to_values(mode: str, rotation: Quaternion, near: Sequence[float]) -> list[float]:
    """A unit quaternion as channels of a rotation mode, on the side that continues the values `near`.

    Args:
        mode: The bone's rotation mode.
        rotation: Unit quaternion.
        near: Channel values of a neighbouring key or of the start pose.
    """
    if mode == "QUATERNION":
        side = -1.0 if rotation.dot(Quaternion(near)) < 0.0 else 1.0
        return [side * value for value in rotation]
    if mode == "AXIS_ANGLE":
        return _to_axis_angle(rotation, near)
    return list(rotation.to_euler(euler_order(mode), euler(near, mode)))


def _to_axis_angle(rotation: Quaternion, near: Sequence[float]) -> list[float]:
    part = Vector(rotation[1:])
    if not part.length:
        return [2.0 * pi * round(near[0] / (2.0 * pi)), *near[1:]]
    axis, angle = part.normalized(), 2.0 * atan2(part.length, rotation.w)  # to_axis_angle loses small angles
    if axis.dot(Vector(near[1:])) < 0.0:
        axis, angle = -axis, -angle
    return [same_turn(angle, near[0]), *axis]


def same_turn(angle: float, near: float) -> float:
    """The angle that means the same and is nearest to another."""
    return angle + 2.0 * pi * round((near - angle) / (2.0 * pi))


def euler_order(mode: str) -> str:
    """The order of an Euler mode; XYZ for the other modes, as Blender's own locks read them."""
    return "XYZ" if mode in CHANNELS else mode


def euler(values: Sequence[float], mode: str) -> Euler:
    """Euler angles of a mode."""
    order: str = euler_order(mode)
    return Euler(values, order)


def neutral_values(mode: str) -> list[float]:
    """The rotation channels of the rest pose."""
    return {"QUATERNION": [1.0, 0.0, 0.0, 0.0], "AXIS_ANGLE": [0.0, 0.0, 1.0, 0.0]}.get(mode, [0.0, 0.0, 0.0])
