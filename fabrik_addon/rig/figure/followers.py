# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of a figure that constraints pose, as those between the controls of a generated rig, and that are carried.

Such a bone is a joint that does not turn: it stays in the frame of its parent as it is evaluated. That holds where all
that its constraints follow is carried as that parent is, or where they follow channels alone that no solve writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import bpy
from mathutils import Matrix, Quaternion

from ...errors import BoneError
from ...maths import Q4, V3, axes_of, length, minus, normalized, plus, scaled, slerp, v3
from ...messages import Message
from ..animation.channels import read_rotation
from ..bones import owner_of_bone, pose_bones, resolve_bones
from ..checks import SCALING
from ..dependencies import SLIGHT, bones_behind
from ..limit_types import LIMITS
from ..schema import limit_of, rig_of
from .groups import ChainSet
from .kinematics import AssumedChannels, Link, basis_for, rounded

DIGITS = 6  # of rotations, and of places as shares of the farthest at rest: evaluated matrices are no more exact
COPYING = "COPY_TRANSFORMS"
AGREEING = 2e-5  # the same shares by which an evaluated matrix may be off one that channels tell
SHEARED = 1e-4  # share of its size by which a matrix may differ from a rotation with one scale
OWN_SPACES = {"LOCAL", "LOCAL_WITH_PARENT", "LOCAL_OWNER_ORIENT"}  # of a constraint: where a bone is carried is no part


def read_followers(
    chain_set: ChainSet, poses: Sequence[bpy.types.PoseBone], held: Mapping[str, BoneError]
) -> dict[str, AssumedChannels]:
    """How the bones of a figure stand that constraints pose, and those that are no more posed by a solve than these.

    Where constraints pose bones between the body bone and the chains, and none of these is to give way, all of them are
    the rig's own: a solve reads how they stand, and writes none. So is a control that they follow and that is dragged.

    Args:
        chain_set: The chains.
        poses: Their n bones, evaluated.
        held: Those that constraints pose, each with why it can't be posed if it is not carried.

    Returns:
        By their names location and scale, and the rotation where they never turn.

    Raises:
        BoneError: A bone of a chain is turned by constraints, one follows something that is not carried with it, or
            its scale differs between axes.
    """
    owner, chains, body = chain_set
    rows = [(chain, [bone.name for bone in resolve_bones(owner, chain)]) for chain in chains]
    own = {body, *(name for _, names in rows for name in names)}
    turned = [pose for pose in poses if pose.name in held and not is_scaled_alone(pose)]
    for pose in turned:
        if pose.name in own:
            raise held[pose.name]
    still = set[str]()
    if turned and rig_of(owner).spine <= 0.0:
        between = [pose.name for pose in poses if pose.name not in own]
        still = {name for name in between if not limit_of(pose_bones(owner)[name]).of_limb}
    followed = {name for pose in turned for name in _in_own_space(pose)}
    still |= {names[-1] for chain, names in rows if chain.id_data is None and names[-1] in followed}
    still |= {name for name in held if not LIMITS[limit_of(pose_bones(owner)[name]).limit].turns}
    free = {pose.name for pose in poses} - still - {pose.name for pose in turned}
    for pose in turned:
        check_carried(pose, free)
    found: dict[str, AssumedChannels] = {}
    for pose in poses:
        if pose.name in held:
            found[pose.name] = _standing(pose, held[pose.name], turns=pose.name in free)
        elif pose.name in still:
            found[pose.name] = AssumedChannels(v3(Link.of(pose).location), v3(pose.scale), read_rotation(pose))
    return found


def _turning(pose: bpy.types.PoseBone) -> Iterator[Any]:
    """The constraints of an evaluated bone that turn or move it at present."""
    return (one for one in pose.constraints if not one.mute and one.influence > SLIGHT and one.type not in SCALING)


def _ties(constraint: Any) -> list[tuple[bpy.types.Object, str]]:
    """What an evaluated constraint follows: objects, each with the name of a bone or ""."""
    several = [one for one in getattr(constraint, "targets", ()) if one.weight > SLIGHT]
    return [(one.target, one.subtarget) for one in (constraint, *several) if getattr(one, "target", None) is not None]


def _is_in_own_space(constraint: Any, bone: bpy.types.PoseBone | None) -> bool:
    """Whether a constraint follows a bone by the channels of that alone, wherever both are carried."""
    is_own = constraint.owner_space in OWN_SPACES and constraint.target_space in OWN_SPACES
    return is_own and bone is not None and is_scaled_alone(bone)


def _in_own_space(pose: bpy.types.PoseBone) -> list[str]:
    """Names of the bones that a bone follows by their channels alone."""
    bones = pose_bones(owner_of_bone(pose))
    return [name for one in _turning(pose) for _, name in _ties(one) if _is_in_own_space(one, bones.get(name))]


def is_scaled_alone(pose: bpy.types.PoseBone) -> bool:
    """Whether constraints leave a bone its rotation and place."""
    return not any(_turning(pose))


def check_carried(pose: bpy.types.PoseBone, free: Collection[str]) -> None:
    """Refuse constraints that do not leave a bone where its parent carries it, by the names of the bones that turn.

    Raises:
        BoneError: One follows something that is not carried as the bone is.
    """
    owner = owner_of_bone(pose)
    carried = _carriers(owner, pose.parent.name if pose.parent else "", free)
    for constraint in _turning(pose):
        ties = _ties(constraint)
        if not ties and constraint.owner_space not in OWN_SPACES:
            raise BoneError(Message("CONSTRAINT_OVERRIDES_POSE", name=constraint.name), bone=pose.name)
        for target, name in ties:
            is_bone = target.name_full == owner.name_full and bool(name)
            if is_bone and _is_in_own_space(constraint, pose_bones(owner).get(name)) and name not in free:
                continue
            if (_carriers(owner, name, free) if is_bone else bones_behind(owner, target, name) & {*free}) != carried:
                reason = Message("CONSTRAINT_HOLDS_STILL", name=constraint.name, followed=name or target.name)
                raise BoneError(reason, bone=pose.name)


def _carriers(owner: bpy.types.Object, name: str, free: Collection[str]) -> set[str]:
    """The nearest of the joints that turn which move an evaluated bone: by parents and constraints, at any remove."""
    bones, found, seen, waiting = pose_bones(owner), set[str](), set[str](), [name]
    while waiting:
        bone = bones.get(waiting.pop())
        if bone is None or bone.name in seen:
            continue
        seen.add(bone.name)
        if bone.name in free:
            found.add(bone.name)
            continue
        waiting += [bone.parent.name] if bone.parent is not None else []
        waiting += [
            name for one in _turning(bone) for target, name in _ties(one) if target.name_full == owner.name_full
        ]
    return found


def _standing(pose: bpy.types.PoseBone, held: BoneError, *, turns: bool) -> AssumedChannels:
    """How an evaluated bone that constraints pose stands in its parent's frame; raises `held` where axes scale apart.

    Numbers come from channels where these tell them, since evaluated matrices are rounded otherwise in each pose.
    """
    bone, basis = pose.bone, basis_for(pose, pose.matrix)
    turn, size = axes_of(basis), rounded(abs(basis.determinant()) ** (1.0 / 3.0))
    if _is_off(basis.to_3x3(), Quaternion(turn).to_matrix() * size, SHEARED * size):
        raise held
    scale = (size, size, size)
    if is_scaled_alone(pose):
        return AssumedChannels(v3(Link.of(pose).location), scale, None if turns else read_rotation(pose))
    far = max(bone.length, *map(abs, bone.head_local), *map(abs, bone.tail_local))
    told = _told_by_channels(pose)
    if told is not None:
        place, rotation = told
        is_there = length(minus(place, v3(basis.translation))) <= AGREEING * far
        if is_there and not _is_off(basis.to_3x3(), Quaternion(rotation).to_matrix() * size, AGREEING * size):
            return AssumedChannels(place, scale, rotation)
    x, y, z = (round(value / far, DIGITS) * far for value in basis.translation)
    a, b, c, d = (round(value, DIGITS) for value in turn)
    return AssumedChannels((x, y, z), scale, normalized((a, b, c, d)))


def _is_off(one: Matrix, other: Matrix, slack: float) -> bool:
    return any(
        abs(a - b) > slack for left, right in zip(one, other, strict=True) for a, b in zip(left, right, strict=True)
    )


def _told_by_channels(pose: bpy.types.PoseBone) -> tuple[V3, Q4] | None:
    """Place and rotation of a bone, by its own channels and those of the one bone whose transforms it copies, if any.

    What else constraints make of it is not told.
    """
    place, turn = v3(Link.of(pose).location), read_rotation(pose)
    for constraint in _turning(pose):
        copied = pose_bones(owner_of_bone(pose)).get(constraint.subtarget) if constraint.type == COPYING else None
        if copied is None or not is_scaled_alone(copied):
            return None
        is_beside = copied.parent == pose.parent and constraint.influence >= 1.0
        if not (is_beside or _is_in_own_space(constraint, copied)):
            return None
        share = constraint.influence
        place = plus(scaled(place, 1.0 - share), scaled(v3(Link.of(copied).location), share))
        turn = slerp(turn, read_rotation(copied), share)
    return place, turn
