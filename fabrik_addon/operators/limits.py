# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of bones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..errors import BoneError
from ..rig.chain_bones import pose_bones
from ..rig.compat import is_selected
from ..rig.joint_limits import set_from_ik
from ..rig.limit_properties import limit_of
from .base import RigOperator

if TYPE_CHECKING:
    from .base import Returned


class BoneOperator(RigOperator):
    """An operator on the active pose bone."""

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if context.active_pose_bone else "no pose bone is active: pick one in Pose mode"


class FABRIK_OT_limit_from_ik(BoneOperator):
    """Take the joint limit from the bone's own locks and limits for Blender's IK; bones without any keep theirs"""

    bl_idname = "fabrik.limit_from_ik"
    bl_label = "Copy from IK Limits"
    poses = False

    if TYPE_CHECKING:
        use_selected: bool
    else:
        use_selected: BoolProperty(name="Selected Bones", description="For every selected bone", default=True)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        active = context.active_pose_bone
        bones = [bone for bone in pose_bones(owner) if bone == active or (self.use_selected and is_selected(bone))]
        refused = []
        for bone in bones:
            try:
                set_from_ik(bone)
            except BoneError as error:
                error.rig = owner.name
                refused.append(str(error))
        if len(refused) == len(bones):
            self.report({"ERROR"}, "\n".join(refused))
            return {"CANCELLED"}
        for text in refused:
            self.report({"WARNING"}, text)
        self.report({"INFO"}, f"Set the limits of {len(bones) - len(refused)} of {len(bones)} bones")
        return {"FINISHED"}


class FABRIK_OT_limit_axis(BoneOperator):
    """Turn the hinge about an axis of the bone"""

    bl_idname = "fabrik.limit_axis"
    bl_label = "Hinge Axis"
    poses = False

    if TYPE_CHECKING:
        axis: str
    else:
        axis: EnumProperty(
            name="Axis",
            items=(
                ("X", "X", "The bone's X axis"),
                ("Y", "Y", "The bone's Y axis, along the bone"),
                ("Z", "Z", "The bone's Z axis"),
            ),
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        assert context.active_pose_bone is not None
        limit_of(context.active_pose_bone).axis = [float(axis == self.axis) for axis in "XYZ"]
        return {"FINISHED"}


CLASSES = (FABRIK_OT_limit_from_ik, FABRIK_OT_limit_axis)
