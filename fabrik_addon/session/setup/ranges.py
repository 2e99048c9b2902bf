# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of the parts of a character: the ranges of a human, hinges by the bend at rest for an animal."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import NamedTuple

import bpy

from ...errors import FabrikError
from ...recognise.parts import ARM, FINGER, LEG, SPINE
from ...rig.chain_bones import pose_bones
from ...rig.channels import read_rotation
from ...rig.joint_limits import read_limit
from ...rig.limit_properties import limit_of
from ..bend_limits import give_limits, hinges_from_bend
from ..human_joints import HUMAN_JOINTS, apply_human_joint
from .finding import RigPart

ROUNDING = 1e-3  # radians by which a bone may stand outside
FREE = "FREE"  # the limit of a bone that has none
JOINT_OF = {
    "THIGH": "HIP",
    "SHIN": "KNEE",
    "FOOT": "ANKLE",
    "UPPER_ARM": "SHOULDER",
    "FOREARM": "ELBOW",
    "HAND": "WRIST",
}
MOST = {"QUADRUPED": 120.0, "MANY_LEGS": 150.0}  # degrees by which a joint of a leg bends; a dog's knee (dm_control)


class Given(NamedTuple):
    """What was given limits, by the names of bones.

    Attributes:
        limited: Those that have a limit now and had none.
        exceeded: Those that were left free, since they are posed beyond the range that they would have.
    """

    limited: list[str]
    exceeded: list[str]


def give_ranges(owner: bpy.types.Object, parts: Sequence[RigPart], plan: str) -> Given:
    """Give joint limits to the bones of parts that have none yet, where the pose at hand is inside.

    Args:
        owner: The armature object.
        parts: Its parts.
        plan: What kind of body it is.
    """
    bones = pose_bones(owner)
    free = {bone for part in parts for bone in part.bones if limit_of(bones[bone]).limit == FREE}
    for part in parts:
        if plan == "HUMAN" and part.kind in (ARM, LEG) and any(part.roles):
            _limb(owner, part, free)
        elif part.kind in (ARM, LEG):
            inner = part.bones[1:-1] if part.holds_head else part.bones[1:]
            wanted = [bone for bone in inner if bone in free]
            hinges_from_bend(owner, wanted, radians(MOST.get(plan, 150.0)), are_inner=True)
        elif part.kind == FINGER:
            _human(owner, [bone for bone in part.bones if bone in free], "FINGER")
        elif part.kind == SPINE and plan == "HUMAN":
            _human(owner, [bone for bone in part.bones if bone in free], "SPINE")
    given = [bone for part in parts for bone in part.bones if bone in free and limit_of(bones[bone]).limit != FREE]
    exceeded = [bone for bone in given if _exceeds(bones[bone])]
    give_limits(owner, [(bone, {"limit": FREE, "use_twist": False}) for bone in exceeded])
    return Given([bone for bone in given if bone not in exceeded], exceeded)


def _exceeds(bone: bpy.types.PoseBone) -> bool:
    try:
        rotation = read_rotation(bone)
        return read_limit(bone, rotation).violation(rotation) > ROUNDING
    except FabrikError:  # its own locks leave nothing over of it
        return True


def _limb(owner: bpy.types.Object, part: RigPart, free: set[str]) -> None:
    """A human arm or leg: each role at its first bone; what goes on it is its second half, and holds still.

    A hand or foot at the end is left free: its rotation is asked for by the goal, and a foot that stays flat while the
    knee bends turns farther in its ankle than one that hangs.
    """
    done: set[str] = set()
    count = len(part.bones) - part.holds_head
    for bone, role in zip(part.bones[:count], part.roles[:count], strict=True):
        if role in done and bone in free:
            give_limits(owner, [(bone, {"limit": "LOCKED"})])
        elif role in JOINT_OF and bone in free:
            _human(owner, [bone], JOINT_OF[role])
        done.add(role)


def _human(owner: bpy.types.Object, bones: Sequence[str], joint: str) -> None:
    if bones:
        apply_human_joint(owner, bones, HUMAN_JOINTS[joint], flip=False)
