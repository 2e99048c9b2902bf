# SPDX-License-Identifier: GPL-3.0-or-later
"""Two skinned humans with the ranges of human joints, for demo, benchmark and tests; the extension has to be enabled.

Their files, and where they come from, are in `tests/data/humans/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import radians
from typing import TYPE_CHECKING

import bpy
from mathutils import Vector

from blender import OPS, limit_of, select_bones
from environment import ROOT
from rigs import give_cone, give_hinge, import_gltf

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import LimitView

FOLDER = ROOT / "tests" / "data" / "humans"
HUMANS = ("human_game_engine", "human_mixamo")
HEIGHT = 1.69  # of both, in metres

# By part how its bone is called in each of the humans; of parts that there are two of, without their sides.
SINGLE = {
    "hips": ("pelvis", "mixamorig:Hips"),
    "spine": ("spine_01", "mixamorig:Spine"),
    "waist": ("spine_02", "mixamorig:Spine1"),
    "chest": ("spine_03", "mixamorig:Spine2"),
    "neck": ("neck_01", "mixamorig:Neck"),
    "head": ("head", "mixamorig:Head"),
}
TWIN = {
    "clavicle": ("clavicle_{}", "mixamorig:{}Shoulder"),
    "upper arm": ("upperarm_{}", "mixamorig:{}Arm"),
    "forearm": ("lowerarm_{}", "mixamorig:{}ForeArm"),
    "hand": ("hand_{}", "mixamorig:{}Hand"),
    "thigh": ("thigh_{}", "mixamorig:{}UpLeg"),
    "shin": ("calf_{}", "mixamorig:{}Leg"),
    "foot": ("foot_{}", "mixamorig:{}Foot"),
    "toe": ("ball_{}", "mixamorig:{}ToeBase"),
}
SIDES = {"L": ("l", "Left"), "R": ("r", "Right")}
FINGERS = ("thumb", "index", "middle", "ring", "pinky")

HUMAN_JOINTS = {
    "SPINE": ("spine", "waist", "chest"),
    "NECK": ("neck", "head"),
    "SHOULDER": ("upper arm",),
    "ELBOW": ("forearm",),
    "WRIST": ("hand",),
    "HIP": ("thigh",),
    "KNEE": ("shin",),
    "ANKLE": ("foot",),
}
# What the operator has no ranges for, in degrees.
CLAVICLE_SWING, CLAVICLE_TWIST = 20.0, 15.0
TOES_UP, TOES_DOWN = 40.0, 30.0
SIDEWAYS = Vector((1.0, 0.0, 0.0))  # the axis of the toes
FOOT_UP = 38.0  # of a foot that bears weight, as it does in a squat; raised freely it is 20
PRONATION = 80.0  # of a forearm, both ways
ALIGNED = 0.99  # of an elbow's axis along the bone's X, from which on a cone can say the same as its hinge


def make_human(name: str) -> bpy.types.Object:
    """Import one of `HUMANS` into the open file, in its rest pose; its armature, the active object in Object mode.

    Blender's own glTF importer stands it up along Z, facing -Y, in metres.
    """
    owner = import_gltf(FOLDER / f"{name}.glb")
    owner.name = name
    return owner


def bone_of(human: str, part: str, side: str = "") -> str:
    """The name of a bone.

    Args:
        human: One of `HUMANS`.
        part: A key of `SINGLE` or `TWIN`.
        side: "L" or "R" for a part that there are two of.
    """
    number = HUMANS.index(human)
    return TWIN[part][number].format(SIDES[side][number]) if side else SINGLE[part][number]


def both(human: str, part: str) -> list[str]:
    """The names of both bones of a part, the left one first."""
    return [bone_of(human, part, side) for side in "LR"]


def named(human: str, part: str) -> list[str]:
    """The names of the bones of a part, be it single or not."""
    return both(human, part) if part in TWIN else [bone_of(human, part)]


def give_ranges(owner: bpy.types.Object) -> None:
    """Give all bones of a human but its hips the ranges of human joints, as a user would; ends in Object mode."""
    human = owner.name
    for joint, parts in HUMAN_JOINTS.items():
        _limit(owner, joint, [name for part in parts for name in named(human, part)])
    bones = owner.pose.bones
    _limit(owner, "FINGER", [bone.name for bone in bones if any(word in bone.name.lower() for word in FINGERS)])
    for name in both(human, "clavicle"):
        give_cone(bones[name], CLAVICLE_SWING, CLAVICLE_TWIST)
    for side in "LR":
        give_hinge(bones[bone_of(human, "toe", side)], -TOES_UP, TOES_DOWN, SIDEWAYS)
        _bear(limit_of(bones[bone_of(human, "foot", side)]))
        _pronate(limit_of(bones[bone_of(human, "forearm", side)]), limit_of(bones[bone_of(human, "hand", side)]))
    bpy.ops.object.mode_set(mode="OBJECT")


def select(owner: bpy.types.Object, names: Iterable[str]) -> None:
    """Pose mode with just these bones selected, the first of them active."""
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(owner, *names)


def _limit(owner: bpy.types.Object, joint: str, names: Iterable[str]) -> None:
    """Select bones and press *Human Joint*."""
    select(owner, names)
    OPS.fabrik.limit_human(joint=joint)


def _bear(ankle: LimitView) -> None:
    """An ankle that bears weight bends further up."""
    up = radians(FOOT_UP)
    if -ankle.cone_x_min < ankle.cone_x_max:  # down it bends further
        ankle.cone_x_min = -up
    else:
        ankle.cone_x_max = up


def _pronate(forearm: LimitView, hand: LimitView) -> None:
    """A forearm that turns about itself; where its elbow bends about none of its own axes, the hand turns instead."""
    turned = hand
    if abs(forearm.axis[0]) > ALIGNED:
        turned = forearm
        forearm.limit, forearm.use_ellipse = "CONE", True
        forearm.cone_x_min, forearm.cone_x_max = _about_x(forearm)
        forearm.cone_z_min = forearm.cone_z_max = 0.0
    turned.use_twist = True
    turned.twist_min, turned.twist_max = radians(-PRONATION), radians(PRONATION)


def _about_x(hinge: LimitView) -> tuple[float, float]:
    """The range of a hinge, as one about the bone's X axis."""
    low, high = hinge.angle_min, hinge.angle_max
    return (low, high) if hinge.axis[0] > 0.0 else (-high, -low)
