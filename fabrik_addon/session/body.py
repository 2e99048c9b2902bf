# SPDX-License-Identifier: GPL-3.0-or-later
"""The body bone of an armature: found or chosen, so that nothing moves by it."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy

from ..errors import BoneError, ChainError, FabrikError
from ..recognise.words import parts_of
from ..rig.chain_bones import bones_to, pose_bones
from ..rig.checks import check_rig
from ..rig.control_bones import is_control
from ..rig.figures import body_moves, chain_above, set_of
from ..rig.schema import rig_of
from ..rig.skeleton import read_skeleton
from ..rig.versions import bring_up_to_date
from ..texts import Text
from .keep_pose import keep_and_tell, unposed


class BodySet(NamedTuple):
    """What `set_body` did.

    Attributes:
        bone: Name of the body bone, or "".
        below: Names of the chains that move with it.
        notes: What to look out for, as sentences.
    """

    bone: str
    below: list[str]
    notes: list[str]


def find_body(owner: bpy.types.Object) -> str:
    """The bone on which all enabled chains hang, or from which they begin.

    Of those above all of them: hips by their name, else the nearest that deforms and can be moved, else the nearest
    that deforms, else the nearest.

    Raises:
        ChainError: There is no enabled chain, or no bone is above all.
    """
    ways = [_way_up(owner, chain.tip_bone, chain.bone_count) for chain in rig_of(owner).chains if chain.enabled]
    ways = [way for way in ways if way]
    if not ways:
        raise ChainError("no chain is enabled: add those of the limbs first", rig=owner.name)
    common = [name for name in ways[0] if all(name in way for way in ways)]
    if not common:
        raise ChainError("no bone is above all enabled chains: choose one, or disable some", rig=owner.name)
    if len(ways) == 1:  # what carries the one chain, not its own first bone
        common = common[1:] or common
    skeleton = read_skeleton(owner)
    parts = dict(zip(skeleton.names, parts_of(skeleton), strict=True))
    bones = pose_bones(owner)
    hips = next((name for name in common if parts[name] == "PELVIS"), "")
    deforming = [name for name in common if bones[name].bone.use_deform]
    moving = next((name for name in deforming if _moves(bones[name])), "")
    return hips or moving or next(iter(deforming), common[0])


def _moves(bone: bpy.types.PoseBone) -> bool:
    """Whether the location channels of a bone are free to move it."""
    locks: Any = bone.lock_location
    return not (bone.parent is not None and bone.bone.use_connect) and not any(locks)


def _way_up(owner: bpy.types.Object, tip: str, count: int) -> list[str]:
    """The first bone of a chain and all above it, nearest first; none where it has no bones."""
    try:
        root = bones_to(owner, tip, count)[0]
    except FabrikError:  # a solve says so
        return []
    return [bone.name for bone in (root, *root.parent_recursive) if not is_control(bone)]


def set_body(context: bpy.types.Context, owner: bpy.types.Object, name: str) -> BodySet:
    """Make a bone the body bone, or have none; how it stands becomes its start where that keeps the pose.

    Args:
        context: Its view layer has the armature.
        owner: The armature object.
        name: Of the bone, or "".

    Raises:
        BoneError: No chain hangs on it, or it was made as a target or pole.
        ChainError: There is no such bone.
        RigError: The armature can't be posed.
    """
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
    below = _below(owner, name) if name else []
    if name and is_control(pose_bones(owner)[name]):
        raise BoneError("it was made as a target or pole, and carries no body", rig=owner.name, bone=name)
    if name and not below:
        raise BoneError("no chain begins with it or hangs on it", rig=owner.name, bone=name)
    bring_up_to_date(owner)
    rig = rig_of(owner)
    if rig.body_bone != name:
        rig.body_bone = name
    notes = _notes(owner, name, below) + _kept(owner, below)
    return BodySet(name, below, notes)


def _below(owner: bpy.types.Object, name: str) -> list[str]:
    """Names of the chains that begin with a bone or hang on it."""
    bones_to(owner, name, 1)
    chains = rig_of(owner).chains
    return [chain.name for chain in chains if name in _way_up(owner, chain.tip_bone, chain.bone_count)]


def _notes(owner: bpy.types.Object, name: str, below: list[str]) -> list[str]:
    """What else there is to say of a body bone."""
    if not name:
        return []
    chains = rig_of(owner).chains
    apart = [chain.name for chain in chains if chain.enabled and chain.name not in below]
    notes: list[str] = []
    if len(apart) == 1:
        notes.append(Text("{chain} is not below it, and solved apart", chain=apart[0]))
    elif apart:
        notes.append(Text("{chains} are not below it, and solved apart", chains=", ".join(apart)))
    enabled = [chain for chain in chains if chain.enabled and chain.name in below]
    chain_set = set_of(owner, enabled[0], is_given=True) if enabled else None
    if chain_set is not None and chain_set.body and not body_moves(chain_set):
        above = chain_above(chain_set)
        if above:
            notes.append(Text("it turns and does not move, for '{chain}' begins above it", chain=above))
        else:
            notes.append(Text("it turns and does not move, for it is connected or its location is locked"))
    return notes


def _kept(owner: bpy.types.Object, below: list[str]) -> list[str]:
    """Let the next solve leave the pose of the chains; what it moves all the same."""
    chains = [chain for chain in rig_of(owner).chains if chain.enabled and chain.name in below]
    wanted = next((chain for chain in chains if chain.target is not None or chain.pin), None)
    if wanted is None:
        return []
    moves = keep_and_tell([(owner, wanted)])[0].moves
    return [moves] if moves else []
