# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotations in which bones are seen, constraints included, and the same put into their own channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
from mathutils import Matrix

from ..maths import Q4, normalized
from .chain_bones import pose_bones
from .channels import channel_of, read_values, to_values


def seen_rotations(owner: bpy.types.Object, names: Sequence[str], depsgraph: bpy.types.Depsgraph) -> dict[str, Q4]:
    """The rotation in its rest frame that each bone would have to have to stand as it is evaluated.

    Args:
        owner: The armature object.
        names: Of its bones.
        depsgraph: Evaluated.
    """
    bones = pose_bones(owner.evaluated_get(depsgraph))
    found = {}
    for name in names:
        bone = bones[name]
        data, parent = bone.bone, bone.parent
        if parent is None:
            basis = data.convert_local_to_pose(bone.matrix, data.matrix_local, invert=True)
        else:
            above = {"parent_matrix": parent.matrix, "parent_matrix_local": parent.bone.matrix_local}
            basis = data.convert_local_to_pose(bone.matrix, data.matrix_local, **above, invert=True)
        unscaled = basis.to_3x3() @ Matrix.Diagonal(bone.scale).inverted_safe()
        w, x, y, z = unscaled.to_quaternion()
        found[name] = normalized((w, x, y, z))
    return found


def write_rotations(owner: bpy.types.Object, rotations: Mapping[str, Q4]) -> None:
    """Put rotations into the channels of bones, on the side that continues what stands there."""
    bones = pose_bones(owner)
    for name, rotation in rotations.items():
        mode = bones[name].rotation_mode
        setattr(bones[name], channel_of(mode)[0], to_values(mode, rotation, read_values(bones[name])))
