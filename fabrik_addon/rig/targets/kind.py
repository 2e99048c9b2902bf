# SPDX-License-Identifier: GPL-3.0-or-later
"""What each type of target or pole has to tell; its module is one."""

from __future__ import annotations

from typing import Protocol

import bpy
from mathutils import Vector

from ...maths import Q4


class Kind(Protocol):
    """A module of a type; `target` is the object, `bone` the name of a bone or of something else in it, or "".

    The object is the original one where nothing else is said.
    """

    def accepts(self, target: bpy.types.Object, bone: str) -> bool:
        """Whether it is of this type, asked at every solve; a name that is not found is for `read` to refuse."""
        ...

    def read(self, role: str, target: bpy.types.Object, bone: str) -> Vector:
        """Where it stands in the world, of an evaluated object; TargetError where it is not there."""
        ...

    def turn(self, role: str, target: bpy.types.Object, bone: str) -> Q4:
        """How it is turned in the world, of an evaluated object; TargetError where it is not there."""
        ...

    def name_of(self, target: bpy.types.Object, bone: str) -> str:
        """How a message calls it."""
        ...

    def holder(self, target: bpy.types.Object, bone: str) -> bpy.types.Object | bpy.types.PoseBone:
        """What has the channels of its location; TargetError where it is not there."""
        ...

    def key_group(self, target: bpy.types.Object, bone: str) -> str:
        """The group of its curves."""
        ...

    def refusal(self, target: bpy.types.Object, bone: str) -> str:
        """Why it can't be put elsewhere, as far as that is of this type alone; or ""."""
        ...

    def body_refusal(self, target: bpy.types.Object, bone: str) -> str:
        """Why it is not to be put elsewhere unless that is asked for; or ""."""
        ...

    def constraint_refusal(self, target: bpy.types.Object, bone: str) -> str:
        """Why Blender's own IK can't have it as target or pole; or ""."""
        ...

    def location_at(self, target: bpy.types.Object, bone: str, point: Vector) -> Vector:
        """The location channels with which it stands at a point of the world, of an evaluated object."""
        ...
