# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones a chain names."""

from __future__ import annotations

import bpy

from ..errors import ChainError
from .properties import FabrikChain


def pose_bones(owner: bpy.types.Object) -> bpy.types.bpy_prop_collection[bpy.types.PoseBone]:
    """The pose bones of an armature object, original or evaluated."""
    assert owner.pose is not None, "the object is no armature"
    return owner.pose.bones


def resolve_bones(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone]:
    """The pose bones of a chain, root to tip, looked up by name now.

    Args:
        owner: The armature object, original or evaluated.
        chain: Its tip bone and number of bones; 0 means up to the root.

    Raises:
        ChainError: No tip bone is named, the armature has no such bone, or fewer bones than the chain wants.
    """
    if not chain.tip_bone:
        raise ChainError("no tip bone is set", chain=chain.name)
    tip = pose_bones(owner).get(chain.tip_bone)
    if tip is None:
        raise ChainError(f"'{owner.name}' has no bone '{chain.tip_bone}'", chain=chain.name)
    bones = [tip, *tip.parent_recursive]
    if chain.bone_count > len(bones):
        raise ChainError(
            f"{chain.bone_count} bones are wanted, but '{chain.tip_bone}' has {len(bones) - 1} parents",
            chain=chain.name,
        )
    return bones[: chain.bone_count or len(bones)][::-1]


def limb_length(tip: bpy.types.PoseBone) -> int:
    """Number of bones from a tip up to the bone that is not connected to its parent: a limb's root."""
    count, bone = 1, tip
    while bone.parent is not None and bone.bone.use_connect:
        count, bone = count + 1, bone.parent
    return count
