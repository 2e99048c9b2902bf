# SPDX-License-Identifier: GPL-3.0-or-later
"""The plain way to write such an add-on: frame by frame, bone by bone, an update and a key for each."""

from __future__ import annotations

from itertools import pairwise

import bpy
from mathutils import Vector

from .rigs import CONTEXT, Rig

TOLERANCE, MOST = 1e-4, 100


def _fabrik(points: list[Vector], target: Vector) -> None:
    """Plain FABRIK, in place."""
    lengths = [(b - a).length for a, b in pairwise(points)]
    root, count = points[0].copy(), len(lengths)
    for _ in range(MOST):
        if (points[-1] - target).length <= TOLERANCE * sum(lengths):
            return
        points[-1] = target.copy()
        for i in range(count - 1, -1, -1):
            points[i] = points[i + 1] + (points[i] - points[i + 1]).normalized() * lengths[i]
        points[0] = root.copy()
        for i in range(count):
            points[i + 1] = points[i] + (points[i + 1] - points[i]).normalized() * lengths[i]


def naive_bake(rig: Rig, frames: int) -> None:
    """Pose the limbs at each frame by `PoseBone.matrix`, and key every bone."""
    owner = rig.owner
    for frame in range(1, frames + 1):
        CONTEXT.scene.frame_set(frame)
        for tip, target in zip(rig.tips, rig.targets, strict=True):
            last = owner.pose.bones[tip]
            above: list[bpy.types.PoseBone] = last.parent_recursive
            chain = [last, *above][: rig.bones][::-1]
            inverse = owner.matrix_world.inverted()
            points = [bone.head.copy() for bone in chain] + [last.tail.copy()]
            _fabrik(points, inverse @ target.matrix_world.translation)
            for i, bone in enumerate(chain):
                turn = (bone.tail - bone.head).rotation_difference(points[i + 1] - points[i])
                matrix = turn.to_matrix().to_4x4() @ bone.matrix.to_3x3().to_4x4()
                matrix.translation = bone.head
                bone.matrix = matrix
                CONTEXT.view_layer.update()
                bone.keyframe_insert("rotation_quaternion", frame=frame)
