# SPDX-License-Identifier: GPL-3.0-or-later
"""What a target or a pole can be. A new type is one file here and one line in `TYPES`."""

from __future__ import annotations

from collections.abc import Callable

import bpy
from mathutils import Vector

from ...errors import AbsentTargetError, InvalidValueError
from ...finite import are_finite
from ...maths import Q4
from ...texts import ROLE_TEXTS, Text
from ..visibility import is_deleted, is_evaluated
from . import (
    bone_head,
    object_origin,
)
from .kind import Kind

TYPES: tuple[Kind, ...] = (  # the first that accepts a target counts
    bone_head,
    object_origin,
)


def resolve_point(role: str, target: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The evaluated world position of a target or pole.

    Args:
        role: "target" or "pole", for the error.
        target: The object.
        bone: Name of a bone of it, or "".
        depsgraph: Evaluated for the frame in question.

    Raises:
        AbsentTargetError: The object is not evaluated.
        TargetError: It has no such bone.
        InvalidValueError: The position is not a finite number.
    """
    check_present(role, target, depsgraph)
    point = read_point(role, target, bone, depsgraph)
    if not are_finite(point):
        name = target.name
        text = Text("the position of the {role} '{name}' is not a finite number", role=ROLE_TEXTS[role], name=name)
        raise InvalidValueError(text)
    return point


def check_present(role: str, target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Refuse a target or pole that is not evaluated.

    Raises:
        AbsentTargetError: It is not.
    """
    if not is_evaluated(target, depsgraph):
        word, name = ROLE_TEXTS[role], target.name
        if is_deleted(target):
            raise AbsentTargetError(Text("the {role} '{name}' was deleted", role=word, name=name))
        raise AbsentTargetError(
            Text("the {role} '{name}' is not in the view layer, or is disabled in the viewport", role=word, name=name)
        )


def resolve_turn(target: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Q4:
    """The evaluated world rotation of a target.

    Raises:
        AbsentTargetError: The object is not evaluated.
        TargetError: It has no such bone.
        InvalidValueError: The rotation is not one of finite numbers.
    """
    check_present("target", target, depsgraph)
    turn = kind_of(target, bone).turn("target", target.evaluated_get(depsgraph), bone)
    if not are_finite(turn):
        raise InvalidValueError(
            Text("the rotation of the target '{target}' is not a finite number", target=target.name)
        )
    return turn


def read_point(role: str, target: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Vector:
    """`resolve_point` for an object that is known to be evaluated; the numbers may be of any kind.

    Raises:
        TargetError: It has no such bone.
    """
    return reader_of(target, bone)(role, target.evaluated_get(depsgraph), bone)


def reader_of(target: bpy.types.Object, bone: str) -> Callable[[str, bpy.types.Object, str], Vector]:
    """What reads the world position of a target or pole, from its role, the evaluated object and a bone's name."""
    return kind_of(target, bone).read


def kind_of(target: bpy.types.Object, bone: str) -> Kind:
    """Of which type a target or pole is."""
    return next(kind for kind in TYPES if kind.accepts(target, bone))
