# SPDX-License-Identifier: GPL-3.0-or-later
"""Putting targets and poles somewhere."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector

from ..errors import TargetError


def held_by(goal: bpy.types.Object | None, bone: str) -> str:
    """Why a target or pole can't be put somewhere, to follow its name; "" where it can."""
    if goal is None:
        return "is not set"
    if bone:
        return f"is the bone '{bone}'"
    if not goal.is_editable:
        return "is linked"
    if any(not constraint.mute for constraint in goal.constraints):
        return "has constraints"
    data = goal.animation_data
    if data is not None and any("location" in driver.data_path for driver in data.drivers):
        return "is driven"
    locks: Any = goal.lock_location
    return "is locked in its location" if any(locks) else ""


def location_at(goal: bpy.types.Object, point: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The location channels that put an object's origin to a point of the world, whatever it is parented to.

    Raises:
        TargetError: What it is parented to has no scale.
    """
    evaluated = goal.evaluated_get(depsgraph)
    try:
        parent = evaluated.matrix_world @ evaluated.matrix_basis.inverted()
        there = parent.inverted() @ point
    except ValueError as error:
        raise TargetError(f"the target '{goal.name}' has no scale, so it can't be moved") from error
    return evaluated.location + there - evaluated.matrix_basis.translation
