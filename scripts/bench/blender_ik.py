# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own IK constraint on an armature made like a chain of the kernel."""

from __future__ import annotations

from math import degrees, pi

import bpy
from fabrik_addon.kernel import Figure, Limit
from mathutils import Quaternion, Vector

from .problems import V3
from .rigs import add_ik

POLE = Vector((3.0, -4.0, 2.0))  # from the middle of the line to the tip


class BlenderIk:
    """A scene with one armature, one IK constraint, its target and perhaps its pole.

    Attributes:
        expressible: Whether Blender can say all limits.
    """

    def __init__(self, chain: Figure, with_pole: bool) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        data = bpy.data.armatures.new("ik")
        self.owner = bpy.data.objects.new("ik", data)
        self.scene = bpy.context.scene
        self.scene.collection.objects.link(self.owner)
        self.layer = bpy.context.view_layer
        self.layer.objects.active = self.owner
        self.chain = chain
        placed = chain.placed(chain.starts)
        bpy.ops.object.mode_set(mode="EDIT")
        parent: bpy.types.EditBone | None = None
        for i, frame in enumerate(placed.frames):
            bone = data.edit_bones.new(f"b{i}")
            bone.head, bone.tail = placed.heads[i], placed.ends[i]
            bone.align_roll(Quaternion(frame) @ Vector((0, 0, 1)))
            bone.parent, bone.use_connect = parent, parent is not None
            parent = bone
        bpy.ops.object.mode_set(mode="OBJECT")
        self.expressible = True
        for posed, limit in zip(self.bones, chain.joint_limits, strict=True):
            self.expressible &= _give_limit(posed, limit)
        self.target, self.pole = self._empty("target"), self._empty("pole")
        constraint = add_ik(self.bones[-1])
        constraint.target, constraint.iterations, constraint.use_tail = self.target, 500, True
        if with_pole:
            constraint.pole_target = self.pole
            self.pole.location = Vector(placed.joints[-1]) * 0.5 + POLE

    @property
    def bones(self) -> bpy.types.bpy_prop_collection[bpy.types.PoseBone]:
        return self.owner.pose.bones

    def _empty(self, name: str) -> bpy.types.Object:
        empty = bpy.data.objects.new(name, None)
        self.scene.collection.objects.link(empty)
        return empty

    def follow(self, target: V3, pole: V3 | None = None) -> None:
        """Let Blender bring the tip to a target."""
        self.target.location = target
        if pole is not None:
            self.pole.location = pole
        self.layer.update()

    def solve(self, target: V3) -> tuple[float, float]:
        """Tip error as a share of the length, and the worst limit violation in degrees."""
        self.follow(target)
        error = float((self.bones[-1].tail - Vector(target)).length / self.chain.size)
        pairs = zip(self.rotations(), self.chain.joint_limits, strict=True)
        worst = max(limit.violation(rotation) for rotation, limit in pairs)
        return error, degrees(worst)

    def rotations(self) -> list[tuple[float, float, float, float]]:
        """The evaluated rotation of each bone in its own rest frame."""
        found = []
        for bone in self.bones:
            local = self.owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
            w, x, y, z = local.to_quaternion().normalized()
            found.append((w, x, y, z))
        return found


def _give_limit(bone: bpy.types.PoseBone, limit: Limit) -> bool:
    """Give a bone the same limit; False where Blender's IK can't say it."""
    meaning = limit.ik_meaning()
    for i, name in enumerate("xyz"):
        setattr(bone, f"lock_ik_{name}", i not in meaning.free)
        if i in meaning.ranges:
            low, high = meaning.ranges[i]
            setattr(bone, f"use_ik_limit_{name}", True)
            setattr(bone, f"ik_min_{name}", max(low, -pi))
            setattr(bone, f"ik_max_{name}", min(high, pi))
    return not meaning.lost
