# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation locks of a bone: the limit of the kernel that they are, and the channels that they leave to be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import bpy

from ...kernel import AxisLock, Hinge, Limit, Locked, QuaternionLock, Universal
from ...maths import Q4, V3, conjugated, dot, length, multiplied, q4, rotated, unit
from ..animation.channels import (
    AXES,
    CHANNELS,
    UNIT_AXES,
    euler_order,
    from_euler,
    read_locks,
    read_rotation,
    read_values,
    same_turn,
    to_euler,
    to_values,
)

# Locked numbers of a quaternion or an axis keep their share of its length, which stays as well: so each lock leaves one
# channel less. Blender divides both by their length, so that a lock by itself would leave as much freedom as none.

FULL = 2.0 * pi  # radians to either side that a hinge turns which only locks make
OFF_ZERO = 1e-6  # share of the length by which a locked number may be off zero, or an axis off that of its lock
KEPT_DIGITS = 5  # of locked angles that are read back from a quaternion, so that rounding does not add up
ONE_AXIS = 1.0 - 1e-10  # cosine between the axes of two channels from which on they are one
SIZE_DIGITS = 6  # of the length of a quaternion or an axis, likewise
NO_SIDE = 1e-9  # of unit quaternions: less tells of two opposite ones none


def read_channel_locks(bone: bpy.types.PoseBone) -> ChannelLocks | None:
    """The rotation locks of a bone; None for a bone without any.

    Raises:
        InvalidValueError: A rotation channel makes no sense.
    """
    locked = read_locks(bone)
    if not (any(locked) or (bone.lock_rotation_w and _locks_four(bone))):
        return None
    if not _locks_four(bone):
        return _of_euler(bone, locked)
    locked = [bone.lock_rotation_w, *locked]
    rotation, values = read_rotation(bone), read_values(bone)
    if bone.rotation_mode == "AXIS_ANGLE":
        return _of_axis_angle(values, locked, rotation)
    size, free = _size(values), tuple([i for i in range(4) if not locked[i]])
    kept = [value / size if lock else None for value, lock in zip(values, locked, strict=True)]
    return ChannelLocks(_of_quaternion(kept, rotation), free, "QUATERNION", tuple(values))


@dataclass(frozen=True, slots=True)
class ChannelLocks:
    """What rotation locks make of a bone.

    Attributes:
        limit: The limit that they are.
        free: Indices of the channels that are written, unless the bone keeps its rotation.
        mode: "" where the limit's own angles are written, one for each index; else the rotation mode, whose channels
            are made of the rotation.
        stand: How the channels stand, where one of quaternion or axis is locked: it stays so, and so does the length.
    """

    limit: Limit
    free: tuple[int, ...]
    mode: str = ""
    stand: tuple[float, ...] = ()

    def values(self, rotation: Sequence[float], near: Sequence[float]) -> list[float]:
        """The values of the free channels.

        Args:
            rotation: Unit quaternion that the locks allow.
            near: The values of all channels that they are to continue.
        """
        if self.mode and not self.stand:
            return to_values(self.mode, rotation, near)
        if self.mode == "QUATERNION":
            return self._numbers(rotation, near)
        if self.mode == "AXIS_ANGLE":
            return self._axis_and_angle(rotation, near) if 0 in self.free else self._axis(rotation, near)
        angles = self.limit.angles_of(rotation)
        return [same_turn(angle, near[i]) for angle, i in zip(angles, self.free, strict=True)]

    def _numbers(self, rotation: Sequence[float], near: Sequence[float]) -> list[float]:
        """Of a quaternion, of its length, and of its two signs that of the locked numbers."""
        size = _size(self.stand)
        locked = sum([self.stand[i] * rotation[i] for i in range(4) if i not in self.free])
        side = locked if abs(locked) > NO_SIDE * size else sum([a * b for a, b in zip(rotation, near, strict=True)])
        return [-size * rotation[i] if side < 0.0 else size * rotation[i] for i in self.free]

    def _axis(self, rotation: Sequence[float], near: Sequence[float]) -> list[float]:
        """Of an axis whose angle is locked."""
        sine, cosine, size = sin(0.5 * self.stand[0]), cos(0.5 * self.stand[0]), _size(self.stand[1:])
        locked = cosine * rotation[0] * size
        locked += sum([sine * self.stand[i] * rotation[i] for i in (1, 2, 3) if i not in self.free])
        along = sine * sum([near[i] * rotation[i] for i in (1, 2, 3)])
        factor = size / sine if (locked if abs(locked) > NO_SIDE * size else along) >= 0.0 else -size / sine
        return [factor * rotation[i] for i in self.free]

    def _axis_and_angle(self, rotation: Sequence[float], near: Sequence[float]) -> list[float]:
        """Of an axis of whose numbers one is locked, on whose side it stays, and of the angle about it."""
        (i,) = [k for k in (1, 2, 3) if k not in self.free]
        if length(rotation[1:]) < NO_SIDE:  # about no axis
            return [same_turn(0.0, near[0]) if k == 0 else self.stand[k] for k in self.free]
        angle, *axis = to_values(self.mode, rotation, near)
        factor = _size(self.stand[1:])
        if axis[i - 1] * self.stand[i] < 0.0 and isinstance(self.limit, AxisLock):
            angle, factor = same_turn(-angle, near[0]), -factor
        return [angle if k == 0 else factor * axis[k - 1] for k in self.free]


def _locks_four(bone: bpy.types.PoseBone) -> bool:
    """Whether each of four channels has a lock of its own."""
    return bone.lock_rotations_4d and bone.rotation_mode in CHANNELS


def _size(numbers: Sequence[float]) -> float:
    """The length of a quaternion or an axis as it stays when it is written and read again and again."""
    return float(f"{sum([number * number for number in numbers]) ** 0.5:.{SIZE_DIGITS}g}")


def _of_euler(bone: bpy.types.PoseBone, locked: Sequence[bool]) -> ChannelLocks:
    """Of Euler angles, which another mode is locked by as well: R = last * middle * first, in the order of the mode."""
    order, mode, rotation = euler_order(bone.rotation_mode), bone.rotation_mode, read_rotation(bone)
    if all(locked):
        return ChannelLocks(Locked(rotation), ())
    values = read_values(bone)
    if mode in CHANNELS:  # read again from what was written
        values = [round(value, KEPT_DIGITS) for value in to_euler(rotation, order, (0.0, 0.0, 0.0))]
    free = [i for i in (AXES.index(name) for name in reversed(order)) if not locked[i]]  # the outer one first
    axes = [_axis_of_channel(i, values, order, free) for i in free]
    if len(free) == 2 and abs(dot(axes[0], axes[1])) > ONE_AXIS:  # laid there by the locked one between them
        free, axes = free[:1], axes[:1]
    zero = from_euler([0.0 if i in free else value for i, value in enumerate(values)], order)
    limit = Universal(axes[0], axes[1], zero) if len(free) == 2 else Hinge(axes[0], -FULL, FULL, zero)
    return ChannelLocks(limit, (0, 1, 2, 3), mode) if mode in CHANNELS else ChannelLocks(limit, tuple(free))


def _axis_of_channel(i: int, values: Sequence[float], order: str, free: Sequence[int]) -> V3:
    """About which a free Euler channel turns, in the rest frame of the bone, where the other free ones are zero."""
    at = order.index(AXES[i])
    later = [value if order.index(AXES[k]) > at and k not in free else 0.0 for k, value in enumerate(values)]
    return unit(rotated(from_euler(later, order), UNIT_AXES[i]))  # channels later in the order are applied outside


def _of_quaternion(kept: Sequence[float | None], rotation: Q4) -> Limit:
    """Of the numbers of a unit quaternion, those that are free None; two free ones beside zeros are a hinge."""
    free = [i for i, number in enumerate(kept) if number is None]
    locked = [number for number in kept if number is not None]
    if len(free) < 2 or 1.0 - sum([number * number for number in locked]) < OFF_ZERO**2:
        return Locked(rotation)
    if len(free) == 2 and all(abs(number) < OFF_ZERO for number in locked):
        zero, quarter = (q4([float(i == k) for i in range(4)]) for k in free)
        return Hinge(multiplied(quarter, conjugated(zero))[1:], -FULL, FULL, zero)
    return QuaternionLock(kept)


def _of_axis_angle(values: Sequence[float], locked: Sequence[bool], rotation: Q4) -> ChannelLocks:
    """Of an angle and the three numbers of the axis; two of these and the length tell the third."""
    size = _size(values[1:])
    shares = [values[i] / size if locked[i] else None for i in (1, 2, 3)] if size else []
    known = [share for share in shares if share is not None]
    if not size:
        limit: Limit = Locked(rotation)
    elif locked[0]:
        cosine, sine = cos(0.5 * values[0]), sin(0.5 * values[0])
        limit = _of_quaternion([cosine, *[None if share is None else sine * share for share in shares]], rotation)
    elif len(known) > 1 or 1.0 - known[0] ** 2 < OFF_ZERO**2:
        return ChannelLocks(Hinge(unit(values[1:]), -FULL, FULL), (0,))
    elif abs(known[0]) < OFF_ZERO:
        limit = QuaternionLock([None, *[None if share is None else 0.0 for share in shares]])
    else:
        limit = AxisLock(UNIT_AXES[shares.index(known[0])], known[0])
    return ChannelLocks(limit, tuple([i for i in range(4) if not locked[i]]), "AXIS_ANGLE", tuple(values))
