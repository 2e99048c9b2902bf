# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone of a limb has a rotation of its own to keep: a hand, a foot, a head, and none that others go on from.

A shin whose rotation is held would hold the knee, too. So where the rotation of a limb that ends at the ankle is to be
held, the limb goes on to the foot, whose head is then brought to the target.
"""

from __future__ import annotations

import bpy

from ..maths import q4
from ..recognise.limbs import Limbs
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.schema import FabrikChain
from ..rig.start_pose import StoredStart, fingerprint, is_stale
from .selected_limbs import limbs_of

ENDS = {"HAND", "FOOT", "HEAD"}


def keeps_rotation(owner: bpy.types.Object, bone: str) -> bool:
    """Whether a bone ends a limb: a hand, a foot or a head by its name, or one from which no limb goes on."""
    limbs, number = _limbs(owner, bone)
    return limbs.parts[number] in ENDS or number not in limbs.above


def end_beyond(owner: bpy.types.Object, tip: str) -> str:
    """The bone to which a limb goes on, where that is to keep a rotation in place of the limb's last bone.

    Args:
        owner: The armature object.
        tip: Name of the limb's last bone.

    Returns:
        The one bone that goes on where the last one ends; "" where that is an end itself, or none goes on there.
    """
    limbs, number = _limbs(owner, tip)
    if limbs.parts[number] in ENDS:
        return ""
    found = [child for child in limbs.skeleton.children[number] if limbs.above[child] == number]
    if len(found) != 1 or not limbs.skeleton.is_joined(found[0]):
        return ""
    return limbs.skeleton.names[found[0]]


def _limbs(owner: bpy.types.Object, bone: str) -> tuple[Limbs, int]:
    limbs = limbs_of(owner, [bone])
    return limbs, list(limbs.skeleton.names).index(bone)


def go_on_to(owner: bpy.types.Object, chain: FabrikChain, bone: str) -> None:
    """Make a child of a chain's last bone the last one, its head the effector; start pose and goal stay.

    Args:
        owner: The armature object.
        chain: A chain that can be resolved.
        bone: Name of the child, whose rotation as it stands becomes its start, where the chain has captured ones.
    """
    before, is_old = StoredStart.of(chain), is_stale(chain, resolve_bones(owner, chain))
    if chain.bone_count:
        chain.bone_count += 1
    chain.tip_bone, chain.effector = bone, "HEAD"
    rotations = before.rotations
    if rotations:
        rotations = (*rotations, (bone, q4(read_rotation(pose_bones(owner)[bone]))))
    digest = before.digest if is_old else fingerprint(resolve_bones(owner, chain))
    StoredStart(before.kind, rotations, digest).store(chain)
