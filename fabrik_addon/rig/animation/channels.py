# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose bone's rotation channels in each rotation mode, as quaternions and back, for one frame or many; in doubles.

Blender rounds what is written to single precision, and nothing here does it before. So the same rotation gives the same
channels, whoever asks.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import atan2, hypot, pi
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import InvalidValueError, are_finite
from ...maths import (
    IDENTITY,
    Q4,
    V3,
    Doubles,
    Mask,
    dot,
    length,
    lengths,
    matrix_of,
    multiplied,
    normalized,
    products,
    q4,
    scaled,
    turn_about,
    turns_about,
    unit,
    units,
    v3,
)
from ...messages import Message
from ..bones import pose_bones

CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
EULER_CHANNEL = ("rotation_euler", 3)
AXES = "XYZ"
UNIT_AXES: tuple[V3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
EVEN_ORDERS = frozenset(("XYZ", "YZX", "ZXY"))  # whose axes follow each other as X, Y and Z do
LOCK = 1e-7  # cosine of the middle angle below which the first and the last turn about the same axis
TURN = 2.0 * pi


def channel_of(mode: str) -> tuple[str, int]:
    """Name and size of the property that holds the rotation in a rotation mode."""
    return CHANNELS.get(mode, EULER_CHANNEL)


def rotation_path(bone: bpy.types.PoseBone | bpy.types.Object) -> str:
    """Data path, from the object, of the property that holds the rotation of a bone, or of the object itself."""
    return bone.path_from_id(channel_of(bone.rotation_mode)[0])


def read_values(bone: bpy.types.PoseBone | bpy.types.Object) -> list[float]:
    """The numbers of the rotation channels of a bone, or of an object, in its own mode."""
    return [*getattr(bone, channel_of(bone.rotation_mode)[0])]


def without_delta(thing: bpy.types.Object, matrix: Matrix) -> tuple[V3, Q4]:
    """The location and rotation of an object that stands like this in its parent, on top of its delta transforms."""
    is_quaternion = thing.rotation_mode == "QUATERNION"
    delta = thing.delta_rotation_quaternion if is_quaternion else thing.delta_rotation_euler.to_quaternion()
    return v3(matrix.translation - thing.delta_location), q4(delta.inverted() @ matrix.to_quaternion())


def read_locks(bone: bpy.types.PoseBone | bpy.types.Object) -> list[bool]:
    """The rotation locks of X, Y and Z."""
    locks: Any = bone.lock_rotation
    return [*locks]


def read_rotation(bone: bpy.types.PoseBone | bpy.types.Object) -> Q4:
    """The bone's rotation as a unit quaternion.

    Raises:
        InvalidValueError: A channel is not finite, or the quaternion is zero.
    """
    return to_rotation(bone.rotation_mode, read_values(bone), bone.name)


def to_rotation(mode: str, values: Sequence[float], bone: str) -> Q4:
    """Rotation channels as a unit quaternion; see `read_rotation`."""
    if not are_finite(values):
        raise InvalidValueError(Message("ROTATION_NOT_FINITE"), bone=bone)
    if mode == "QUATERNION":
        if not any(values):
            raise InvalidValueError(Message("QUATERNION_ZERO"), bone=bone)
        return normalized(values)
    if mode == "AXIS_ANGLE":
        return turn_about(unit(values[1:]), values[0]) if any(values[1:]) else IDENTITY
    return from_euler(values, mode)


def to_values(mode: str, rotation: Sequence[float], near: Sequence[float]) -> list[float]:
    """A unit quaternion as channels of a rotation mode, on the side that continues the values `near`.

    Args:
        mode: The bone's rotation mode.
        rotation: Unit quaternion.
        near: Channel values of a neighbouring key or of the start pose.
    """
    if mode == "QUATERNION":
        w, x, y, z = rotation
        a, b, c, d = near
        return [-w, -x, -y, -z] if w * a + x * b + y * c + z * d < 0.0 else [w, x, y, z]
    return _to_axis_angle(rotation, near) if mode == "AXIS_ANGLE" else to_euler(rotation, mode, near)


def _to_axis_angle(rotation: Sequence[float], near: Sequence[float]) -> list[float]:
    size = length(rotation[1:])
    if not size:
        return [TURN * round(near[0] / TURN), *near[1:]]
    axis, angle = scaled(rotation[1:], 1.0 / size), 2.0 * atan2(size, rotation[0])
    if dot(axis, near[1:]) < 0.0:
        axis, angle = scaled(axis, -1.0), -angle
    return [same_turn(angle, near[0]), *axis]


def same_turn(angle: float, near: float) -> float:
    """The angle that means the same and is nearest to another."""
    return angle + TURN * round((near - angle) / TURN)


def euler_order(mode: str) -> str:
    """The order of an Euler mode; XYZ for the other modes, as Blender's own locks read them."""
    return "XYZ" if mode in CHANNELS else mode


def from_euler(angles: Sequence[float], mode: str) -> Q4:
    """Euler angles about X, Y and Z as a unit quaternion; those later in the order of the mode are applied outside."""
    found = IDENTITY
    for name in euler_order(mode):
        i = AXES.index(name)
        found = multiplied(turn_about(UNIT_AXES[i], angles[i]), found)
    return found


def to_euler(rotation: Sequence[float], mode: str, near: Sequence[float]) -> list[float]:
    """Euler angles about X, Y and Z of a unit quaternion, of all that mean the same those nearest to others."""
    first, second = (continued(angles, near) for angles in euler_pair(rotation, mode))
    return first if _apart(first, near) <= _apart(second, near) else second


def euler_pair(rotation: Sequence[float], mode: str) -> tuple[list[float], list[float]]:
    """The two triples of Euler angles that mean a rotation, but for whole turns.

    In the lock, where the first and the last angle turn about the same axis, the last is zero.
    """
    order = euler_order(mode)
    i, j, k = (AXES.index(name) for name in order)
    sign = 1.0 if order in EVEN_ORDERS else -1.0
    rows = matrix_of(rotation)
    along, across, up = rows[i][i], sign * rows[j][i], -sign * rows[k][i]
    cosine = hypot(along, across)
    if cosine > LOCK:
        found = atan2(sign * rows[k][j], rows[k][k]), atan2(up, cosine), atan2(across, along)
        other = atan2(-sign * rows[k][j], -rows[k][k]), atan2(up, -cosine), atan2(-across, -along)
    else:
        found = other = atan2(-sign * rows[j][k], rows[j][j]), atan2(up, cosine), 0.0
    first, second = [0.0] * 3, [0.0] * 3
    for at, a, b in zip((i, j, k), found, other, strict=True):
        first[at], second[at] = a, b
    return first, second


def continued(angles: Sequence[float], near: Sequence[float]) -> list[float]:
    """Angles with the whole turns that bring each nearest to another."""
    return [same_turn(angle, other) for angle, other in zip(angles, near, strict=True)]


def _apart(a: Sequence[float], b: Sequence[float]) -> float:
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2])


def neutral_values(mode: str) -> list[float]:
    """The rotation channels of the rest pose."""
    return {"QUATERNION": [1.0, 0.0, 0.0, 0.0], "AXIS_ANGLE": [0.0, 0.0, 1.0, 0.0]}.get(mode, [0.0, 0.0, 0.0])


def stored(values: Sequence[float]) -> list[float]:
    """Numbers as Blender keeps them, in single precision."""
    return array("f", values).tolist()


class KeptChannels:
    """Channels of bones as they stand, to be put back later; all goes by names, since an undo makes the data anew."""

    def __init__(self, owner: bpy.types.Object, channels: Iterable[tuple[str, str]]) -> None:
        bones = pose_bones(owner)
        self._values = [(bone, name, tuple(getattr(bones[bone], name))) for bone, name in channels]

    def put_back(self, owner: bpy.types.Object) -> None:
        """Write what stood there, where it differs, into the bones that the armature object still has."""
        bones = pose_bones(owner)
        for bone, name, values in self._values:
            found = bones.get(bone)
            if found is not None and tuple(getattr(found, name)) != values:
                setattr(found, name, values)


# Values of rotation channels for many frames that follow each other, each running on from the one before; and back.
#
# The numbers are those of `to_values` frame by frame. What depends on the frame before is a sign or a number
# of whole turns, which add up, or which of two triples of Euler angles is the nearer: so no frame has to wait for
# another.


def run_on(mode: str, rotations: Doubles, steps: Doubles, near: Doubles) -> Doubles:
    """Channel values of m bones over F frames.

    Args:
        mode: The rotation mode of the bones.
        rotations: (F, m, 4), unit quaternions in the rest frames of the bones, w first.
        steps: Their `cosines`.
        near: (m, k), k channels each, on from which the first frame runs.

    Returns:
        (F, m, k).
    """
    if mode == "QUATERNION":
        first = np.einsum("mk,mk->m", rotations[0], near)
        if first.min() >= 0.0 and steps.min(initial=0.0) >= 0.0:
            return rotations
        return rotations * _signs(first, steps)[..., None]
    return _axis_angles(rotations, near) if mode == "AXIS_ANGLE" else _euler_angles(rotations, near, mode)


def run_of_turns(angles: Doubles, near: Doubles) -> Doubles:
    """Angles (F, ...) with the whole turns by which each is nearest to the one before, and the first to `near`."""
    before = np.concatenate((near[None], angles[:-1]))
    return angles + TURN * np.cumsum(np.round((before - angles) / TURN), axis=0)


def to_rotations(mode: str, values: Doubles) -> Doubles:
    """The channels of F frames, (F, k), as unit quaternions (F, 4); see `to_rotation`."""
    if mode == "QUATERNION":
        return units(values)
    if mode == "AXIS_ANGLE":
        return turns_about(units(values[:, 1:]), values[:, 0])
    axes = [AXES.index(name) for name in euler_order(mode)]
    first, second, third = (turns_about(np.array(UNIT_AXES[i]), values[:, i]) for i in axes)
    return products(third, products(second, first))  # those later in the order are applied outside


def cosines(vectors: Doubles) -> Doubles:
    """The scalar products of vectors (F, m, k) with those of the frame before, (F - 1, m)."""
    found: Doubles = np.einsum("fmk,fmk->fm", vectors[1:], vectors[:-1])
    return found


def _signs(first: Doubles, steps: Doubles) -> Doubles:
    """The signs, (F, m), by which vectors run on.

    `first`, (m,), are scalar products of the first frame's with what they continue; `steps`, (F - 1, m), of the others'
    with those before them.
    """
    return np.cumprod(np.where(np.concatenate((first[None], steps)) < 0.0, -1.0, 1.0), axis=0)


def _axis_angles(rotations: Doubles, near: Doubles) -> Doubles:
    """(F, m, 4): the angle, then the axis, which stays as it was where a rotation has none."""
    sizes = lengths(rotations[..., 1:])
    turns = sizes > 0.0
    axes = rotations[..., 1:] * (1.0 / np.where(turns, sizes, 1.0))[..., None]
    axes = np.concatenate((near[None, :, 1:], axes))
    own = np.concatenate((np.zeros((1, len(near)), dtype=bool), turns)) * np.arange(len(axes))[:, None]
    axes = np.take_along_axis(axes, np.maximum.accumulate(own, axis=0)[..., None], axis=0)
    between = cosines(axes)
    signs = _signs(between[0], between[1:])
    found = np.empty(rotations.shape)
    found[..., 1:] = axes[1:] * signs[..., None]
    angles = np.where(turns, signs * (2.0 * np.arctan2(sizes, rotations[..., 0])), 0.0)
    found[..., 0] = run_of_turns(angles, near[:, 0])
    return found


def _euler_angles(rotations: Doubles, near: Doubles, mode: str) -> Doubles:
    """(F, m, 3): of the two triples of each frame the one that is nearer to the angles of the frame before."""
    one, other = _euler_pairs(rotations, mode)
    from_one = distances(other[1:], one[:-1]) < distances(one[1:], one[:-1])
    from_other = distances(other[1:], other[:-1]) < distances(one[1:], other[:-1])
    is_other = _followed(distances(other[0], near) < distances(one[0], near), from_one, from_other)
    return run_of_turns(np.where(is_other[..., None], other, one), near)


def distances(angles: Doubles, others: Doubles) -> Doubles:
    """The sum of the differences of three angles (..., 3), whole turns left out, (...)."""
    between = angles - others
    rest = np.abs(between - TURN * np.round(between / TURN))
    found: Doubles = rest[..., 0] + rest[..., 1] + rest[..., 2]
    return found


def _followed(first: Mask, from_one: Mask, from_other: Mask) -> Mask:
    """Whether each frame takes the other triple, (F, m).

    The first frame does by `first`, (m,), the others, (F - 1, m), by `from_one` after one that does not, by
    `from_other` after one that does.
    """
    found = np.broadcast_to(first, (len(from_one) + 1, len(first))).copy()
    for i in np.flatnonzero(np.where(first, ~from_other, from_one).any(axis=0)).tolist():
        is_other = bool(first[i])
        steps = zip(from_one[:, i].tolist(), from_other[:, i].tolist(), strict=True)
        found[1:, i] = [is_other := after_other if is_other else after_one for after_one, after_other in steps]
    return found


def _euler_pairs(rotations: Doubles, mode: str) -> tuple[Doubles, Doubles]:
    """`euler_pair` for many rotations (..., 4): two arrays (..., 3)."""
    order = euler_order(mode)
    i, j, k = (AXES.index(name) for name in order)
    sign = 1.0 if order in EVEN_ORDERS else -1.0
    w, x, y, z = sign * rotations[..., 0], rotations[..., 1 + i], rotations[..., 1 + j], rotations[..., 1 + k]
    along, across = 1.0 - 2.0 * (y * y + z * z), sign * (2.0 * (x * y + w * z))
    out, over, up = sign * (2.0 * (y * z + w * x)), 1.0 - 2.0 * (x * x + y * y), sign * (2.0 * (w * y - x * z))
    cosine = np.hypot(along, across)
    one, other = np.empty((*rotations.shape[:-1], 3)), np.empty((*rotations.shape[:-1], 3))
    one[..., i], one[..., j], one[..., k] = np.arctan2(out, over), np.arctan2(up, cosine), np.arctan2(across, along)
    other[..., i] = np.arctan2(-out, -over)
    other[..., j], other[..., k] = np.arctan2(up, -cosine), np.arctan2(-across, -along)
    locked = cosine <= LOCK
    if locked.any():
        w, x, y, z = w[locked], x[locked], y[locked], z[locked]
        one[locked, i] = np.arctan2(sign * (2.0 * (w * x - y * z)), 1.0 - 2.0 * (x * x + z * z))
        one[locked, k] = 0.0
        other[locked] = one[locked]
    return one, other
