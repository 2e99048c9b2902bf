# SPDX-License-Identifier: GPL-3.0-or-later
"""The origin of an object."""

from __future__ import annotations

import bpy
from mathutils import Vector

from ...errors import TargetError
from ...maths import Q4, axes_of
from ...texts import Text


def accepts(target: bpy.types.Object, bone: str) -> bool:
    """Any object."""
    return True


def read(role: str, target: bpy.types.Object, bone: str) -> Vector:
    """World position of the evaluated object's origin."""
    return target.matrix_world.translation.copy()


def turn(role: str, target: bpy.types.Object, bone: str) -> Q4:
    """World rotation of the evaluated object."""
    return axes_of(target.matrix_world)


def name_of(target: bpy.types.Object, bone: str) -> str:
    """The object, quoted."""
    return f"'{target.name}'"


def holder(target: bpy.types.Object, bone: str) -> bpy.types.Object:
    """What has the channels of its location: the object."""
    return target


def key_group(target: bpy.types.Object, bone: str) -> str:
    """The group of an object's curves."""
    return "Object Transforms"


def refusal(target: bpy.types.Object, bone: str) -> str:
    """Nothing of its own keeps an object where it is."""
    return ""


def body_refusal(target: bpy.types.Object, bone: str) -> str:
    """An object is no part of a body."""
    return ""


def constraint_refusal(target: bpy.types.Object, bone: str) -> str:
    """Blender's IK takes the origins of objects."""
    return ""


def location_at(target: bpy.types.Object, bone: str, point: Vector) -> Vector:
    """The location channels that put the origin of an evaluated object to a point of the world.

    Raises:
        TargetError: What it is parented to has no scale.
    """
    try:
        parent = target.matrix_world @ target.matrix_basis.inverted()
        there = parent.inverted() @ point
    except ValueError as error:
        raise TargetError(Text("the target '{name}' has no scale, so it can't be moved", name=target.name)) from error
    return target.location + there - target.matrix_basis.translation
