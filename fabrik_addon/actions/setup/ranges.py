# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of the parts of a character: the ranges of a human or of a dog, else hinges by the bend at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians
from typing import Any

import bpy

from ...errors import FabrikError
from ...recognise.limbs import Limbs
from ...recognise.part import ARM, FINGER, LEG, SPINE, Part
from ...rig.animation.channels import read_rotation
from ...rig.bones import pose_bones
from ...rig.figure.joint_limits import read_limit
from ...rig.schema import limit_of
from ..bends import give_limits, hinges_from_bend
from ..joint_ranges import DOG_JOINTS, HUMAN_JOINTS, JointRange, apply_range

ROUNDING = 1e-3  # radians by which a bone may stand outside a range and count as inside
NO_LIMIT = {"limit": "FREE", "use_twist": False}
HELD: Mapping[str, Any] = {"limit": "LOCKED"}  # of bones that never bend by themselves
# Of a clavicle: about as far as it goes forwards, backwards and up, and turns about itself (Neumann, Kinesiology of the
# Musculoskeletal System, 2010, chapter 5).
CLAVICLE: Mapping[str, Any] = {
    "limit": "CONE",
    "cone_max": radians(30.0),
    "use_twist": True,
    "twist_min": radians(-30.0),
    "twist_max": radians(30.0),
}
Joints = Mapping[str, JointRange]  # by roles of bones
HUMAN_LIMB: Joints = {
    "THIGH": HUMAN_JOINTS["HIP"],
    "SHIN": HUMAN_JOINTS["KNEE"],
    "FOOT": HUMAN_JOINTS["ANKLE"],
    "UPPER_ARM": HUMAN_JOINTS["SHOULDER"],
    "FOREARM": HUMAN_JOINTS["ELBOW"],
    "HAND": HUMAN_JOINTS["WRIST"],
}
HIND_LEG: Joints = {
    "THIGH": DOG_JOINTS["HIP"],
    "SHIN": DOG_JOINTS["KNEE"],
    "FOOT": DOG_JOINTS["HOCK"],
    "TOE": DOG_JOINTS["TOES"],
}
FRONT_LEG: Joints = {
    "UPPER_ARM": DOG_JOINTS["SHOULDER"],
    "FOREARM": DOG_JOINTS["ELBOW"],
    "HAND": DOG_JOINTS["WRIST"],
    "TOE": DOG_JOINTS["FRONT_TOES"],
}
MOST_BEND = 150.0  # degrees by which a joint of a leg bends
MOST_BENDS = {"QUADRUPED": 120.0}  # the same where a body bends less: a dog's knee


def give_ranges(
    owner: bpy.types.Object, limbs: Limbs, parts: Sequence[Part[str]], plan: str
) -> tuple[list[str], list[str]]:
    """Give joint limits to the bones of parts that have none yet, where the pose at hand is inside.

    Args:
        owner: The armature object.
        limbs: Of its skeleton.
        parts: Its parts.
        plan: What kind of body it is.

    Returns:
        Names of the bones that have a limit now and had none, and of those that were left free, since they are posed
        beyond the range that they would have.
    """
    bones = pose_bones(owner)
    free = {bone for part in parts for bone in part.bones if not limit_of(bones[bone]).type.holds}
    for part in parts:
        joints = _joints_of(part, plan)
        if joints:
            _limb(owner, limbs, part, joints, free)
        elif part.kind in (ARM, LEG):
            inner = part.bones[1:-1] if part.holds_head else part.bones[1:]
            wanted = [bone for bone in inner if bone in free]
            hinges_from_bend(owner, limbs, wanted, radians(MOST_BENDS.get(plan, MOST_BEND)), are_inner=True)
        elif part.kind == FINGER:
            _give(owner, limbs, [bone for bone in part.bones if bone in free], HUMAN_JOINTS["FINGER"])
        elif part.kind == SPINE and plan == "HUMAN":
            _give(owner, limbs, [bone for bone in part.bones if bone in free], HUMAN_JOINTS["SPINE"])
    given = [bone for part in parts for bone in part.bones if bone in free and limit_of(bones[bone]).type.holds]
    exceeded = [bone for bone in given if _exceeds(bones[bone])]
    give_limits(owner, [(bone, NO_LIMIT) for bone in exceeded])
    return [bone for bone in given if bone not in exceeded], exceeded


def give_to_free(owner: bpy.types.Object, names: Sequence[str], settings: Mapping[str, Any]) -> list[str]:
    """Give a limit to those of some bones that have none yet and are posed inside it; their names."""
    bones = pose_bones(owner)
    free = [name for name in names if not limit_of(bones[name]).type.holds]
    give_limits(owner, [(name, settings) for name in free])
    exceeded = [name for name in free if _exceeds(bones[name])]
    give_limits(owner, [(name, NO_LIMIT) for name in exceeded])
    return [name for name in free if name not in exceeded]


def _exceeds(bone: bpy.types.PoseBone) -> bool:
    try:
        rotation = read_rotation(bone)
        return read_limit(bone, rotation).violation(rotation) > ROUNDING
    except FabrikError:  # its own locks leave nothing over of it
        return True


def _joints_of(part: Part[str], plan: str) -> Joints:
    """The joints of an arm or leg by the roles of its bones; none where they are those of another animal."""
    if plan == "HUMAN" and part.kind in (ARM, LEG) and any(part.roles):
        return HUMAN_LIMB
    if plan == "QUADRUPED" and part.kind == LEG:
        return next((joints for joints in (HIND_LEG, FRONT_LEG) if set(list(joints)[:2]) <= set(part.roles)), {})
    return {}


def _limb(owner: bpy.types.Object, limbs: Limbs, part: Part[str], joints: Joints, free: set[str]) -> None:
    """An arm or leg: each role at its first bone; what goes on a long one is its second half, and holds still.

    A hand or foot at the end is left free: its rotation is asked for by the goal, and a foot that stays flat while the
    knee bends turns farther in its ankle than one that hangs.
    """
    done: set[str] = set()
    count = len(part.bones) - part.holds_head
    for bone, role in zip(part.bones[:count], part.roles[:count], strict=True):
        if role in done - {"TOE"} and bone in free:
            give_limits(owner, [(bone, {"limit": "LOCKED"})])
        elif role in joints and bone in free:
            _give(owner, limbs, [bone], joints[role])
        done.add(role)


def _give(owner: bpy.types.Object, limbs: Limbs, bones: Sequence[str], joint: JointRange) -> None:
    if bones:
        apply_range(owner, limbs, bones, joint, flip=False)
