# SPDX-License-Identifier: GPL-3.0-or-later
"""The origin of an object."""

from __future__ import annotations

import bpy
from mathutils import Vector


def accepts(target: bpy.types.Object, bone: str) -> bool:
    """Any object."""
    return True


def read(role: str, target: bpy.types.Object, bone: str) -> Vector:
    """World position of the evaluated object's origin."""
    return target.matrix_world.translation.copy()
