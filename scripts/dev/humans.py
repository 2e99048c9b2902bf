# SPDX-License-Identifier: GPL-3.0-or-later
"""Two skinned humans with the ranges of human joints, and clips of them; the extension has to be enabled.

Their files, and where they come from, are in `tests/data/humans/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import radians
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from fabrik_addon.maths import Doubles, Mask
from fabrik_addon.motion.contacts import FLAT
from fabrik_addon.rig.animation.compat import fcurves_of
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
STRIDES = 0.0455  # metres a frame that the hips of a clip go, at 24 frames a second
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
    human, bones = owner.name, owner.pose.bones
    joints = {joint: [name for part in parts for name in named(human, part)] for joint, parts in HUMAN_JOINTS.items()}
    joints["FINGER"] = [bone.name for bone in bones if any(word in bone.name.lower() for word in FINGERS)]
    for joint, names in joints.items():
        select(owner, names)
        OPS.fabrik.limit_human(joint=joint)
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
        low, high = forearm.angle_min, forearm.angle_max
        forearm.cone_x_min, forearm.cone_x_max = (low, high) if forearm.axis[0] > 0.0 else (-high, -low)
        forearm.cone_z_min = forearm.cone_z_max = 0.0
    turned.use_twist = True
    turned.twist_min, turned.twist_max = radians(-PRONATION), radians(PRONATION)


def walking_clip(human: str, walked: tuple[int, int], frames: tuple[int, int]) -> Any:
    """A clip as those that are captured or bought: a human that walks straight ahead, keyed in each frame of its bones.

    Args:
        human: Name of the skeleton.
        walked: Frames between which its hips go.
        frames: Of the scene.
    """
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = frames
    owner: Any = make_human(human)
    give_ranges(owner)
    hips = owner.pose.bones[bone_of(human, "hips")]
    back = hips.bone.matrix_local.to_3x3().inverted()
    for frame, way in zip(walked, (0.0, STRIDES * (walked[1] - walked[0])), strict=True):
        hips.location = back @ Vector((0.0, -way, 0.0))
        hips.keyframe_insert("location", frame=frame)
    bpy.ops.object.mode_set(mode="POSE")
    OPS.fabrik.walker_add()
    OPS.fabrik.walk_plan(span="SCENE")
    OPS.fabrik.walk_bake(into="BONES")
    OPS.fabrik.rig_clear()
    for mode in ("EDIT", "OBJECT") * 2:  # to leave it rounds rest bones, as the set-up does that makes controls
        bpy.ops.object.mode_set(mode=mode)
    return owner


def stretch_way(owner: Any, hips: str, factor: float) -> None:
    """Let the hips of a clip go farther, by a factor, than its steps, so that its feet slide."""
    path = owner.pose.bones[hips].path_from_id("location")
    for curve in fcurves_of(owner):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.co[1] *= factor
            curve.update()


def transfer(source: Any, owner: Any, **options: object) -> None:
    """Press *Transfer Motion* with two armatures selected."""
    for one in bpy.context.scene.objects:
        one.select_set(one in (source, owner))
    bpy.context.view_layer.objects.active = owner
    OPS.fabrik.motion_transfer(**options)


def played(owner: Any, names: Sequence[str]) -> Doubles:
    """Where the heads of bones are in the world in all frames of the scene, (F, n, 3)."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        posed = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([posed.matrix_world @ posed.pose.bones[name].head for name in names])
    return np.array(found, dtype=np.float64)


def ways(places: Doubles) -> Doubles:
    """How far something at places, (F, 3), moves from each frame to the next, (F - 1,)."""
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=1))


def flat_steps(owner: Any, foot: str) -> Mask:
    """From which frames of the scene to the next a foot is marked to stay flat on the ground, (F - 1,)."""
    scene, path = bpy.context.scene, owner.pose.bones[foot].path_from_id("fabrik_contact")
    (curve,) = [one for one in fcurves_of(owner) if one.data_path == path]
    marks = [round(curve.evaluate(frame)) == FLAT for frame in range(scene.frame_start, scene.frame_end + 1)]
    return np.logical_and(marks[1:], marks[:-1])
