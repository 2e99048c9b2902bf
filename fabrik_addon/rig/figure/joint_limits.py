# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of a figure: their limits, as set or as Blender's own IK has them, start and stiffness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import bpy

from ...errors import BoneError, place_of
from ...kernel import AxisLock, Hinge, Limit, Locked, QuaternionLock, Universal
from ...maths import (
    IDENTITY,
    Q4,
    V3,
    X_AXIS,
    Z_AXIS,
    conjugated,
    dot,
    length,
    multiplied,
    q4,
    rotated,
    turn_about,
    unit,
)
from ...messages import Message
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
from ..animation.keys import KeyedChannels
from ..bones import pose_bones
from ..limit_types import LIMITS, limit_settings, type_of
from ..schema import limit_of, rig_of
from ..schema.limit import IK_AXES
from .groups import ChainSet
from .kinematics import AssumedChannels, BoneTree, Joints
from .start_pose import Start, read_starts

# The kernel's limit of a pose bone: from its FABRIK limit, its rotation locks, or its settings for Blender's IK.


def read_limit(bone: bpy.types.PoseBone, start: Q4) -> Limit:
    """The limit that holds for a bone: its own, narrowed by its rotation locks.

    Args:
        bone: The pose bone.
        start: The joint's rotation in the start pose, for a bone whose limit is to keep it.

    Raises:
        BoneError: What locks and limit both allow is no limit of the types that there are.
        InvalidValueError: The limit's numbers make no sense.
    """
    view = limit_of(bone)
    with place_of(bone=bone.name):
        own, locks = LIMITS[view.limit].make(view, start), read_channel_locks(bone)
        if locks is None:
            return own
        return locks.limit if locks.limit.is_fixed else _narrowed(own, locks.limit)


def _narrowed(own: Limit, locks: Limit) -> Limit:
    """What both rotation locks and the bone's own limit allow."""
    found = type_of(own).narrowed(own, locks)
    if found is not None:
        return found
    if own.dofs != 1:
        raise BoneError(Message("LOCKS_NEED_HINGE"))
    raise BoneError(Message("HINGE_AXIS_LOCKED") if locks.dofs == 1 else Message("HINGE_TURNS_LOCKED"))


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


# A joint limit as a bone's locks, limits and stiffness for Blender's own IK.

STIFFEST = 0.99  # as Blender allows
FULL_TURN = 2.0 * pi - 1e-6  # radians from which a hinge is not limited


def write_ik_settings(bone: bpy.types.PoseBone, limit: Limit, stiffness: float) -> list[str | Message]:
    """Set what Blender's IK can heed of a limit, and of a stiffness of 0 to 1; what it can't heed is told."""
    free, ranges, parts = type_of(limit).ik_meaning(limit)
    lost: list[str | Message] = list(parts)
    for i, axis in enumerate(IK_AXES):
        setattr(bone, f"lock_ik_{axis}", i not in free)
        found = ranges.get(i)
        setattr(bone, f"use_ik_limit_{axis}", found is not None)
        if found is not None:
            low, high = max(found[0], -pi), min(found[1], pi)
            if (low, high) != found and max(abs(found[0]), abs(found[1])) < FULL_TURN:
                lost.append(Message("RANGE_BEYOND_HALF_TURN", axis=axis.upper()))
            setattr(bone, f"ik_min_{axis}", min(low, 0.0))
            setattr(bone, f"ik_max_{axis}", max(high, 0.0))
            if low > 0.0 or high < 0.0:
                lost.append(Message("RANGE_WITHOUT_REST_POSE", axis=axis.upper()))
        setattr(bone, f"ik_stiffness_{axis}", min(stiffness, STIFFEST))
    return lost


# The bones of a figure as the kernel's joints, and whether these are the same in every pose.

RIGID = 2e-5  # share of the longest bone by which lengths may differ between poses
BENT = 0.7  # radians by which all joints are turned to see whether lengths depend on the pose


def path_of(owner: bpy.types.Object, bones: Sequence[str], depsgraph: bpy.types.Depsgraph) -> BoneTree:
    """The bones of a chain, root to tip, as Blender evaluated them; good until the next evaluation."""
    poses = pose_bones(owner.evaluated_get(depsgraph))
    return BoneTree.of([poses[name] for name in bones])


def way_up(parents: Sequence[int], joint: int) -> list[int]:
    """A joint of a figure and all above it, the root last, by the parent of each; -1 for the root."""
    way = [joint]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return way


def read_settings(
    chain_set: ChainSet,
    bones: Sequence[bpy.types.PoseBone],
    keyed: KeyedChannels,
    followers: Mapping[str, AssumedChannels],
) -> tuple[list[Q4], list[Limit], list[float], Start]:
    """Read start pose, limits and stiffness of the bones of a figure.

    The body bone is as stiff as the armature says; that of a walker, which goes where its own goal is, not at all, so
    that it does not hold the feet back. Of the bones between it and the chains `spine` says how readily they
    give way; at zero they stay as they start. That does not count for bones that are of a limb, such as clavicles.

    Returns:
        Of the n bones the rotations of the start pose, inside the limits; the limits; how stiff they are. And the
        start pose as it was read, with where the body bone starts.

    Raises:
        FabrikError: One makes no sense.
    """
    start = read_starts(chain_set, bones, keyed)
    if followers:
        start = start.following([followers.get(bone.name) for bone in bones])
    limits = [_read_limit(chain_set.owner, bone, start, i) for i, bone in enumerate(bones)]
    stiffness = [read_stiffness(bone) for bone in bones]
    rig = rig_of(chain_set.owner)
    of_body = rig.body_stiffness if rig.walker.body not in chain_set.names else 0.0
    for i, bone in enumerate(bones):
        if bone.name == chain_set.body:
            stiffness[i] = max(stiffness[i], of_body)
        elif start.is_between[i] and not limit_of(bone).of_limb:
            stiffness[i] = max(stiffness[i], 1.0 - rig.spine)
    inside = [limit.clamped(turn) for limit, turn in zip(limits, start.rotations, strict=True)]
    return inside, limits, stiffness, start


def restarted_limits(
    owner: bpy.types.Object, bones: Sequence[str], limits: Sequence[Limit], start: Start
) -> list[Limit]:
    """The limits of a figure with another start pose: a bone that does not turn is held there.

    Raises:
        FabrikError: One makes no sense.
    """
    pose = pose_bones(owner)
    return [
        _read_limit(owner, pose[name], start, i) if limit.is_fixed else limit
        for i, (name, limit) in enumerate(zip(bones, limits, strict=True))
    ]


def _read_limit(owner: bpy.types.Object, bone: bpy.types.PoseBone, start: Start, i: int) -> Limit:
    """The limit of a bone of a figure, whose index there is i."""
    turn = start.rotations[i]
    if i in start.carried:
        return Locked(turn)
    limit = read_limit(bone, turn)
    is_of_spine = start.is_between[i] and rig_of(owner).spine <= 0.0 and not limit_of(bone).of_limb
    return Locked(limit.clamped(turn)) if is_of_spine else limit


def joints_of(
    tree: BoneTree,
    starts: Sequence[Q4],
    limits: Sequence[Limit],
    stiffness: Sequence[float],
    is_even: bool,
    moves: bool = False,
) -> tuple[Joints, bool]:
    """The n bones of a tree as the kernel takes them, and whether they are the same in every pose.

    Where they are, they are measured in the rest pose, so that they do not differ by rounding with the start pose; else
    at the start pose. To tell, they are measured in two bent poses besides.
    """
    found, is_rigid = tree.joints([IDENTITY] * len(tree.links)), True
    spans = _spans(found) if not is_even else ()
    for axis in (X_AXIS, Z_AXIS) if not is_even else ():
        bent = tree.joints([multiplied(turn_about(axis, BENT), start) for start in starts])
        if any(abs(a - b) > RIGID * max(spans) for a, b in zip(_spans(bent), spans, strict=True)):
            found, is_rigid = tree.joints(starts), False
            break
    told = zip(found.joints, starts, limits, stiffness, strict=True)
    joints = [joint._replace(start=start, limit=limit, stiffness=stiff) for joint, start, limit, stiff in told]
    return found._replace(joints=tuple(joints), moves=moves), is_rigid


def _spans(bones: Joints) -> list[float]:
    """The lengths of bones, and the distances of heads from those before them."""
    pairs = zip(bones.joints, bones.heads, strict=True)
    return [length(one) for joint, head in pairs for one in (joint.segment, head or joint.segment)]


# Rotation locks of channels as limits, and how solved rotations go into the channels that they leave free.

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
        """The values of the free channels for a unit quaternion that the locks allow, near to those of all channels."""
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
        if axis[i - 1] * self.stand[i] < 0.0 and abs(self.stand[i] / factor) >= OFF_ZERO:  # else it has no side
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
