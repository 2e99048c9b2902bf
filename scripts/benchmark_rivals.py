# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver is measured against: plain FABRIK, with limits and CCD, compiled by numba, and Blender's own IK."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
from typing import Any, TypeAlias

import bpy
import numpy as np
from mathutils import Quaternion, Vector
from numba import njit

Points: TypeAlias = np.ndarray[Any, Any]


@njit(cache=False)  # type: ignore[untyped-decorator]
def _pull(points: Points, fixed: int, moved: int, length: float) -> None:
    """Bring one joint to its bone's length from another, along the line between them."""
    size = 0.0
    for k in range(3):
        size += (points[moved, k] - points[fixed, k]) ** 2
    scale = length / max(np.sqrt(size), 1e-12)
    for k in range(3):
        points[moved, k] = points[fixed, k] + (points[moved, k] - points[fixed, k]) * scale


@njit(cache=False)  # type: ignore[untyped-decorator]
def fabrik_scalar(points: Points, lengths: Points, target: Points, tolerance: float, most: int) -> int:
    """Plain FABRIK on float64 arrays, in place; the stand-in for native speed. Returns the iterations used.

    Args:
        points: (n + 1, 3), the root at the origin.
        lengths: (n,).
        target: (3,).
        tolerance: Distance at which to stop.
        most: Greatest number of iterations.
    """
    n = lengths.shape[0]
    for count in range(most):
        if np.sqrt(((points[n] - target) ** 2).sum()) <= tolerance:
            return count
        points[n] = target
        for i in range(n - 1, -1, -1):
            _pull(points, i + 1, i, lengths[i])
        points[0] = 0.0
        for i in range(n):
            _pull(points, i, i + 1, lengths[i])
    return most


@njit(cache=False)  # type: ignore[untyped-decorator]
def fabrik_many(points: Points, lengths: Points, targets: Points, tolerance: float, most: int) -> int:
    """Plain FABRIK of many chains in one compiled loop; arrays as of `fabrik_scalar`, the chain as their first axis."""
    total = 0
    for i in range(points.shape[0]):
        total += fabrik_scalar(points[i], lengths[i], targets[i], tolerance, most)
    return total


def plain_limited(kernel: Any, chain: Any, target: Vector, tolerance: float, passes: int) -> float:
    """FABRIK with each bone clamped in the forward pass, and nothing else; the best error as a share of the length."""
    rotations = [joint.limit.clamp(joint.start) for joint in chain.joints]
    joints, _ = kernel.place(chain, rotations)
    best = (joints[-1] - target).length
    for _ in range(passes):
        if best <= tolerance * chain.length:
            break
        kernel.backward(joints, chain.lengths, target)
        rotations, joints = kernel.limited_forward(chain, rotations, joints)
        best = min(best, (joints[-1] - target).length)
        joints = [joint.copy() for joint in joints]
    return float(best / chain.length)


def with_ccd(kernel: Any, chain: Any, target: Vector, tolerance: float, passes: int) -> float:
    """FABRIK as above, each pass followed by cyclic coordinate descent from root to tip inside the limits."""
    rotations = [joint.limit.clamp(joint.start) for joint in chain.joints]
    joints, _ = kernel.place(chain, rotations)
    best = (joints[-1] - target).length
    for _ in range(passes):
        if best <= tolerance * chain.length:
            break
        wanted = [joint.copy() for joint in joints]
        kernel.backward(wanted, chain.lengths, target)
        rotations, _ = kernel.limited_forward(chain, rotations, wanted)
        for i, joint in enumerate(chain.joints):
            placed, frames = kernel.place(chain, rotations)
            rest = frames[i] @ rotations[i].conjugated()
            segment = frames[i].conjugated() @ (placed[-1] - placed[i])
            rotations[i] = joint.limit.aim(rotations[i], segment, rest.conjugated() @ (target - placed[i]))
        joints, _ = kernel.place(chain, rotations)
        best = min(best, (joints[-1] - target).length)
    return float(best / chain.length)


class BlenderIk:
    """Blender's own IK constraint on an armature made like a kernel chain."""

    def __init__(self, chain: Any, joints: Sequence[Vector], frames: Sequence[Quaternion], pole: bool) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        data: Any = bpy.data.armatures.new("ik")
        self.owner: Any = bpy.data.objects.new("ik", data)
        context: Any = bpy.context
        self.scene: Any = context.scene
        self.scene.collection.objects.link(self.owner)
        self.layer: Any = context.view_layer
        self.layer.objects.active = self.owner
        bpy.ops.object.mode_set(mode="EDIT")
        parent = None
        for i, frame in enumerate(frames):
            bone = data.edit_bones.new(f"b{i}")
            bone.head, bone.tail = joints[i], joints[i + 1]
            bone.align_roll(frame @ Vector((0, 0, 1)))
            bone.parent, bone.use_connect = parent, parent is not None
            parent = bone
        bpy.ops.object.mode_set(mode="OBJECT")
        self.chain = chain
        self.expressible = all(
            self._limit(bone, joint.limit) for bone, joint in zip(self.bones, chain.joints, strict=True)
        )
        self.target = self._empty("target")
        constraint = self.bones[-1].constraints.new("IK")
        constraint.target, constraint.iterations, constraint.use_tail = self.target, 500, True
        if pole:
            constraint.pole_target = self._empty("pole")
            constraint.pole_target.location = (joints[-1] * 0.5) + Vector((3.0, -4.0, 2.0))

    @property
    def bones(self) -> Any:
        return self.owner.pose.bones

    def _empty(self, name: str) -> Any:
        empty = bpy.data.objects.new(name, None)
        self.scene.collection.objects.link(empty)
        return empty

    def _limit(self, bone: Any, limit: Any) -> bool:
        """Give a bone the same limit; False where Blender's IK can't say it."""
        kind = type(limit).__name__
        if kind == "Free":
            return True
        if kind == "Hinge":
            axis = max(range(3), key=lambda i: abs(limit.axis[i]))
            if abs(limit.axis[axis]) < 0.999 or limit.axis[axis] < 0:
                return False
            for i, name in enumerate("xyz"):
                setattr(bone, f"lock_ik_{name}", i != axis)
            self._range(bone, "xyz"[axis], (limit.angle_min, limit.angle_max))
            return True
        if kind == "Cone":
            self._range(bone, "x", (-limit.x_low, limit.x_high))
            self._range(bone, "z", (-limit.z_low, limit.z_high))
            if limit.twist is not None:
                self._range(bone, "y", (limit.twist.low, limit.twist.high))
            return bool(limit.inner == 0.0)
        return False

    def _range(self, bone: Any, axis: str, ends: tuple[float, float]) -> None:
        setattr(bone, f"use_ik_limit_{axis}", True)
        setattr(bone, f"ik_min_{axis}", max(ends[0], -np.pi))
        setattr(bone, f"ik_max_{axis}", min(ends[1], np.pi))

    def solve(self, target: Vector) -> tuple[float, float]:
        """Tip error as a share of the length, and the worst limit violation in degrees."""
        self.target.location = target
        self.layer.update()
        error = (self.bones[-1].tail - target).length / self.chain.length
        worst = 0.0
        for bone, joint in zip(self.bones, self.chain.joints, strict=True):
            worst = max(worst, joint.limit.violation(self.local(bone).to_quaternion().normalized()))
        return error, degrees(worst)

    def local(self, bone: Any) -> Any:
        """The evaluated matrix of a bone in its own rest frame."""
        return self.owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
