# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on the arms of the human that walks: they hang at its sides, and swing against the legs."""

from __future__ import annotations

from math import radians

import bpy
from mathutils import Quaternion, Vector

from dev.humans import bone_of

ASIDE, FORWARD = 0.28, 0.35  # how far an arm that hangs points to its side, and its forearm forwards, for one downwards
SWING = radians(40.0)  # of an arm for a foot that is as far ahead of the hips as this:
AHEAD = 1.0  # metres
EVERY = 4  # frames between keys
FRONT = Vector((0.0, -1.0, 0.0))
SIDES = {"L": 1.0, "R": -1.0}  # the sign of X


def let_arms_hang(owner: bpy.types.Object) -> None:
    """Pose both arms downwards; no keys."""
    for side, sign in SIDES.items():
        down = _turn_arm(owner, side, Quaternion())
        forearm = owner.pose.bones[bone_of(owner.name, "forearm", side)]
        wanted = down.conjugated() @ Vector((0.5 * sign * ASIDE, -FORWARD, -1.0))
        _turn(forearm, _along(forearm).rotation_difference(wanted))


def swing_arms(owner: bpy.types.Object) -> None:
    """Key both arms, each forwards as far as the foot of the other side is; the walk has to be planned."""
    scene = bpy.context.scene
    hips = bone_of(owner.name, "hips")
    for frame in range(scene.frame_start, scene.frame_end + 1, EVERY):
        scene.frame_set(frame)
        poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        for side, other in zip(SIDES, reversed(SIDES), strict=True):
            ahead = (poses[bone_of(owner.name, "foot", other)].head - poses[hips].head).dot(FRONT)
            _turn_arm(owner, side, Quaternion((1.0, 0.0, 0.0), -SWING * ahead / AHEAD))
            owner.pose.bones[bone_of(owner.name, "upper arm", side)].keyframe_insert("rotation_quaternion", frame=frame)
    scene.frame_set(scene.frame_start)


def _turn_arm(owner: bpy.types.Object, side: str, swing: Quaternion) -> Quaternion:
    """Let an upper arm hang, and swing it from there, in the armature's axes; the whole turn."""
    arm = owner.pose.bones[bone_of(owner.name, "upper arm", side)]
    turn = swing @ _along(arm).rotation_difference(Vector((SIDES[side] * ASIDE, 0.0, -1.0)))
    _turn(arm, turn)
    return turn


def _along(bone: bpy.types.PoseBone) -> Vector:
    """Where a bone points at rest, in the armature's axes."""
    return Vector(bone.bone.tail_local - bone.bone.head_local)


def _turn(bone: bpy.types.PoseBone, turn: Quaternion) -> None:
    """Turn a bone from its rest by a rotation in the armature's axes."""
    rest = bone.bone.matrix_local.to_quaternion()
    bone.rotation_quaternion = rest.conjugated() @ turn @ rest
