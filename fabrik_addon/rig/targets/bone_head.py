# SPDX-License-Identifier: GPL-3.0-or-later
"""The head of a bone of an armature, as Blender's own IK constraint takes it."""

from __future__ import annotations

import bpy
from mathutils import Vector

from ...errors import TargetError


def accepts(target: bpy.types.Object, bone: str) -> bool:
    """An armature, where a bone is named."""
    return bool(bone) and target.type == "ARMATURE"


def read(role: str, target: bpy.types.Object, bone: str) -> Vector:
    """World position of the evaluated bone's head."""
    found = target.pose.bones.get(bone) if target.pose else None
    if found is None:
        raise TargetError(f"the {role} armature '{target.name}' has no bone '{bone}'")
    return target.matrix_world @ found.head
