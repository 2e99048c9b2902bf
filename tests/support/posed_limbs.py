# SPDX-License-Identifier: GPL-3.0-or-later
"""Two limbs posed by hand, in any rotation mode, with chains on them; and how far they are moved from there."""

from __future__ import annotations

from math import radians
from typing import Any

import bpy
from fabrik_addon.maths import distance
from fabrik_addon.rig.channels import channel_of
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Euler, Matrix, Quaternion, Vector

from support.rigs import Bone, make_armature, press, select

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
LIMBS = {"hinge": 3, "free": 4, "cones": 4, "one": 1}
ROUNDING = 2e-5  # share of a limb's length
HAND = ((0.4, (1.0, 0.2, -0.3)), (0.9, (1.0, 0.0, 0.0)), (-0.3, (1.0, 0.4, 0.1)), (0.25, (0.2, 1.0, 0.3)))


def make_limbs(kind: str, mode: str = "QUATERNION") -> bpy.types.Object:
    """Two limbs side by side, posed by hand, each on a bone of its own."""
    count, bones = LIMBS[kind], list[Bone]()
    for side in (0.0, 3.0):
        points = [(side + 0.05 * i, 0.1 * (i % 2), 3.0 - i) for i in range(count + 1)]
        bones.append(Bone((side, 0, 4), (side, 0.2, 3.5), parent=None))
        bones += [Bone(points[i], points[i + 1], roll=0.3 * i, connect=i > 0) for i in range(count)]
    owner = make_armature(bones)
    owner.location, owner.rotation_euler, owner.scale = (1, -2, 0.5), (0.2, 0.1, 0.7), (1.5, 1.5, 1.5)
    for start in (0, count + 1):
        for i in range(count):
            bone = owner.pose.bones[start + 1 + i]
            angle, axis = HAND[i]
            turn = Quaternion(axis, angle)
            if kind == "hinge" and i == 1:
                limit_of(bone).limit = "HINGE"
                limit_of(bone).angle_min, limit_of(bone).angle_max = radians(-5), radians(140)
            if kind == "cones" and i > 0:
                limit_of(bone).limit, limit_of(bone).cone_max = "CONE", radians(70)
            turned(bone, turn, mode)
    bpy.context.view_layer.update()
    return owner


def turned(bone: Any, turn: Quaternion, mode: Any) -> None:
    """Pose a bone in a rotation mode."""
    bone.rotation_mode = mode
    if mode == "QUATERNION":
        bone.rotation_quaternion = turn
    elif mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(mode)


def tips(owner: bpy.types.Object) -> tuple[str, str]:
    """The names of the last bones of the two limbs."""
    last = len(owner.pose.bones) // 2
    return f"b{last - 1}", f"b{2 * last - 1}"


def key(owner: bpy.types.Object) -> None:
    """Keys at the frame, and others of another pose later on."""
    for bone in owner.pose.bones:
        name = channel_of(bone.rotation_mode)[0]
        kept = [*getattr(bone, name)]
        bone.keyframe_insert(name, frame=1)
        is_hinge = limit_of(bone).limit == "HINGE"
        turned(bone, Quaternion((1, 0, 0) if is_hinge else (0, 0, 1), 0.5), bone.rotation_mode)
        bone.keyframe_insert(name, frame=20)
        setattr(bone, name, kept)


class Stand:
    """Where all joints, and the sides of all bones, stand."""

    def __init__(self, owner: bpy.types.Object) -> None:
        self.name = owner.name
        self.points = self._points()

    def _points(self) -> list[Vector]:
        bpy.context.view_layer.update()
        owner = bpy.data.objects[self.name]
        evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found = []
        for bone in evaluated.pose.bones:
            side = bone.matrix @ Vector((0.5 * bone.length, 0, 0))
            found += [evaluated.matrix_world @ point for point in (bone.head, bone.tail, side)]
        return found

    def moved(self) -> float:
        """How far the point that moved most did, as a share of a limb's length."""
        return max(distance(a, b) for a, b in zip(self.points, self._points(), strict=True)) / 4.0


def chains_of(owner: bpy.types.Object, **options: object) -> None:
    """A chain of each limb, by the operator, as a user selects them."""
    bpy.context.view_layer.objects.active = owner
    select(owner, *tips(owner))
    press("chain_add", bone_count=(len(owner.pose.bones) - 2) // 2, **options)


def assert_stays(owner: bpy.types.Object, stand: Stand) -> None:
    """Nothing moved, and nothing does with the next solve or live."""
    assert stand.moved() <= ROUNDING
    press("solve_all")
    assert stand.moved() <= ROUNDING
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
    rig_of(owner).live = True
    assert stand.moved() <= ROUNDING
    for chain in rig_of(owner).chains:  # a hair away there is no other pose either
        chain.target.location.z += 1e-5
    assert stand.moved() <= 1e-2


def to_rest(owner: bpy.types.Object) -> None:
    """Take the pose back to the rest pose."""
    for bone in owner.pose.bones:
        bone.matrix_basis = Matrix()


def put(owner: bpy.types.Object, pose: list[tuple[float, ...]]) -> None:
    """Pose all bones as `rigs.channels` read them."""
    for bone, values in zip(owner.pose.bones, pose, strict=True):
        bone.rotation_quaternion, bone.rotation_euler = values[:4], Euler(values[4:7], bone.rotation_euler.order)
        bone.rotation_axis_angle = values[7:11]
