# SPDX-License-Identifier: GPL-3.0-or-later
"""Two skinned humans with the ranges of human joints, for demo, benchmark and tests; the extension has to be enabled.

Their files, and where they come from, are in `tests/data/humans/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import radians
from typing import TYPE_CHECKING

import addon_utils
import bpy
from mathutils import Vector

from blender import OPS, armature_of, limit_of
from environment import ROOT

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import LimitView

FOLDER = ROOT / "tests" / "data" / "humans"
HUMANS = ("human_game_engine", "human_mixamo")
HEIGHT = 1.69  # of both, in metres

# For each human: the names of the bones that are single, and of those that there are two of, by part.
SINGLE = {
    "human_game_engine": {
        "hips": "pelvis",
        "spine": "spine_01",
        "waist": "spine_02",
        "chest": "spine_03",
        "neck": "neck_01",
        "head": "head",
    },
    "human_mixamo": {
        "hips": "mixamorig:Hips",
        "spine": "mixamorig:Spine",
        "waist": "mixamorig:Spine1",
        "chest": "mixamorig:Spine2",
        "neck": "mixamorig:Neck",
        "head": "mixamorig:Head",
    },
}
TWIN = {
    "human_game_engine": {
        "clavicle": "clavicle_{}",
        "upper arm": "upperarm_{}",
        "forearm": "lowerarm_{}",
        "hand": "hand_{}",
        "thigh": "thigh_{}",
        "shin": "calf_{}",
        "foot": "foot_{}",
        "toe": "ball_{}",
    },
    "human_mixamo": {
        "clavicle": "mixamorig:{}Shoulder",
        "upper arm": "mixamorig:{}Arm",
        "forearm": "mixamorig:{}ForeArm",
        "hand": "mixamorig:{}Hand",
        "thigh": "mixamorig:{}UpLeg",
        "shin": "mixamorig:{}Leg",
        "foot": "mixamorig:{}Foot",
        "toe": "mixamorig:{}ToeBase",
    },
}
SIDES = {"human_game_engine": {"L": "l", "R": "r"}, "human_mixamo": {"L": "Left", "R": "Right"}}
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
FOOT_UP = 38.0  # of a foot that bears weight, as it does in a squat; raised freely it is 20
PRONATION = 80.0  # of a forearm, both ways
ALIGNED = 0.99  # of an elbow's axis along the bone's X, from which on a cone can say the same as its hinge


def make_human(name: str) -> bpy.types.Object:
    """Import one of `HUMANS` into the open file, in its rest pose; its armature, the active object in Object mode.

    Blender's own glTF importer stands it up along Z, facing -Y, in metres.
    """
    addon_utils.enable("io_scene_gltf2", default_set=True, persistent=True)
    OPS.import_scene.gltf(filepath=str(FOLDER / f"{name}.glb"))
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    if "Icosphere" in bpy.data.objects:  # the importer's shape for bones
        bpy.data.objects.remove(bpy.data.objects["Icosphere"])
    bpy.context.view_layer.objects.active = owner
    owner.name = name
    return owner


def bone_of(human: str, part: str, side: str = "") -> str:
    """The name of a bone.

    Args:
        human: One of `HUMANS`.
        part: A key of `SINGLE` or `TWIN`.
        side: "L" or "R" for a part that there are two of.
    """
    return TWIN[human][part].format(SIDES[human][side]) if side else SINGLE[human][part]


def both(human: str, part: str) -> list[str]:
    """The names of both bones of a part, the left one first."""
    return [bone_of(human, part, side) for side in "LR"]


def named(human: str, part: str) -> list[str]:
    """The names of the bones of a part, be it single or not."""
    return both(human, part) if part in TWIN[human] else [bone_of(human, part)]


def give_ranges(owner: bpy.types.Object) -> None:
    """Give all bones of a human but its hips the ranges of human joints, as a user would; ends in Object mode."""
    human = owner.name
    for joint, parts in HUMAN_JOINTS.items():
        _limit(owner, joint, [name for part in parts for name in named(human, part)])
    bones = owner.pose.bones
    _limit(owner, "FINGER", [bone.name for bone in bones if any(word in bone.name.lower() for word in FINGERS)])
    for name in both(human, "clavicle"):
        _round(limit_of(bones[name]), CLAVICLE_SWING, CLAVICLE_TWIST)
    for side in "LR":
        _toes(bones[bone_of(human, "toe", side)])
        _bear(limit_of(bones[bone_of(human, "foot", side)]))
        _pronate(limit_of(bones[bone_of(human, "forearm", side)]), limit_of(bones[bone_of(human, "hand", side)]))
    bpy.ops.object.mode_set(mode="OBJECT")


def select(owner: bpy.types.Object, names: Iterable[str]) -> None:
    """Pose mode with just these bones selected, the first of them active."""
    chosen = list(names)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in owner.pose.bones:
        setattr(bone if hasattr(bone, "select") else bone.bone, "select", bone.name in chosen)
    armature_of(owner).bones.active = armature_of(owner).bones[chosen[0]]


def _limit(owner: bpy.types.Object, joint: str, names: Iterable[str]) -> None:
    """Select bones and press *Human Joint*."""
    select(owner, names)
    OPS.fabrik.limit_human(joint=joint)


def _round(limit: LimitView, swing: float, twist: float) -> None:
    """A round cone with twist, by degrees."""
    limit.limit, limit.use_ellipse, limit.use_twist = "CONE", False, True
    limit.cone_min, limit.cone_max = 0.0, radians(swing)
    limit.twist_min, limit.twist_max = radians(-twist), radians(twist)


def _toes(bone: bpy.types.PoseBone) -> None:
    """A hinge about the axis of the armature's X, on which the human stands sideways."""
    limit = limit_of(bone)
    limit.limit = "HINGE"
    limit.axis = bone.bone.matrix_local.to_3x3().inverted() @ Vector((1.0, 0.0, 0.0))
    limit.angle_min, limit.angle_max = radians(-TOES_UP), radians(TOES_DOWN)


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
