# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a chain, looked up by the names that it stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..errors import ChainError, FabrikError
from ..messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .schema import FabrikChain

SWING = "FABRIK Swing"  # how the name of the constraint begins that lets a bone swing with a limb
ON_HEAD = 1e-4  # share of its length by which a bone's head may be off another's that stands on it


def pose_bones(owner: bpy.types.Object) -> bpy.types.bpy_prop_collection[bpy.types.PoseBone]:
    """The pose bones of an armature object, original or evaluated."""
    assert owner.pose is not None, "the object is no armature"
    return owner.pose.bones


def owner_of_bone(bone: bpy.types.PoseBone) -> bpy.types.Object:
    """The armature object of a pose bone."""
    owner = bone.id_data
    assert isinstance(owner, bpy.types.Object), "pose bones are of objects"
    return owner


def armature_of(owner: bpy.types.Object) -> bpy.types.Armature:
    """The data of an armature object."""
    data = owner.data
    assert isinstance(data, bpy.types.Armature), "the object is no armature"
    return data


def resolve_bones(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone]:
    """The pose bones of a chain, root to tip, looked up by name now; see `bones_to`."""
    try:
        return bones_to(owner, chain.tip_bone, chain.bone_count)
    except FabrikError as error:
        error.chain = error.chain or chain.name
        raise


def bones_if_any(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone]:
    """`resolve_bones`, but an empty list where the chain has no such bones: its solve will say why."""
    try:
        return resolve_bones(owner, chain)
    except FabrikError:
        return []


def names_if_any(owner: bpy.types.Object, chain: FabrikChain) -> list[str]:
    """Names of a chain's bones, root to tip; none where it has no such bones (`bones_if_any`)."""
    return [bone.name for bone in bones_if_any(owner, chain)]


def bones_to(owner: bpy.types.Object, tip_bone: str, bone_count: int) -> list[bpy.types.PoseBone]:
    """The pose bones from a chain's root to its tip; all of them where their count is 0.

    Raises:
        ChainError: No tip bone is named, the armature has no such bone, or fewer bones than wanted.
    """
    if not tip_bone:
        raise ChainError(Message("NO_TIP_BONE"), rig=owner.name)
    tip = pose_bones(owner).get(tip_bone)
    if tip is None:
        raise ChainError(Message("BONE_MISSING", bone=tip_bone), rig=owner.name)
    bones = [tip, *tip.parent_recursive]
    if bone_count > len(bones):
        parents = len(bones) - 1
        raise ChainError(Message("TOO_MANY_BONES", count=bone_count, parents=parents), rig=owner.name, bone=tip_bone)
    return bones[: bone_count or len(bones)][::-1]


def numbers_of(items: Any, name: str, width: int = 1, kind: type[np.generic] = np.float32) -> NDArray[Any]:
    """A property of all n items of a collection of Blender's, (n, width), read at once."""
    found = np.empty((len(items), width), dtype=kind)
    items.foreach_get(name, found.reshape(-1))
    return found


def swings(bone: bpy.types.Object | bpy.types.PoseBone) -> bool:
    """Whether a bone swings with a limb; what it carries is read in its axes, by channels alone."""
    return len(bone.constraints) > 0 and bone.constraints[0].name.startswith(SWING)


def bending_count(bones: Sequence[bpy.types.PoseBone], *, at_head: bool) -> int:
    """How many bones of a chain reach from its root to its effector: all, or those before the last one's head.

    A bone that stands on that head, as one between the controls of a generated rig, is none of them.
    """
    count = len(bones)
    if at_head:
        tip = bones[-1].bone
        while count > 1 and (bones[count - 1].bone.head_local - tip.head_local).length <= ON_HEAD * tip.length:
            count -= 1
    return count
