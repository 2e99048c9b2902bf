# SPDX-License-Identifier: GPL-3.0-or-later
"""What a target or a pole can be. A new type is one file here and one line in `TYPES`."""

from __future__ import annotations

import bpy
from mathutils import Vector

from ...errors import InvalidValueError, TargetError
from ...finite import are_finite
from . import bone_head, object_origin

TYPES = (bone_head, object_origin)


def resolve_point(role: str, target: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The evaluated world position of a target or pole.

    Args:
        role: "target" or "pole", for the error.
        target: The object.
        bone: Name of a bone of it, or "".
        depsgraph: Evaluated for the frame in question.

    Raises:
        TargetError: The object is not in the scene, or has no such bone.
        InvalidValueError: The position is not a finite number.
    """
    evaluated = target.evaluated_get(depsgraph)
    scene = depsgraph.scene
    if scene is None or target.name not in scene.objects:  # a deleted object lives on while a chain names it
        raise TargetError(f"the {role} '{target.name}' is not in the scene")
    if not evaluated.is_evaluated:
        raise TargetError(f"the {role} '{target.name}' is disabled in the viewport")
    kind = next(kind for kind in TYPES if kind.accepts(evaluated, bone))
    point = kind.read(role, evaluated, bone)
    if not are_finite(point):
        raise InvalidValueError(f"the position of the {role} '{target.name}' is not a finite number")
    return point
