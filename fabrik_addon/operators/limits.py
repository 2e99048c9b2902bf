# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of bones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..errors import BoneError, place_of
from ..rig.chain_bones import pose_bones
from ..rig.compat import is_selected
from ..rig.joint_limits import set_from_ik
from ..rig.limit_properties import limit_of
from ..session.limits import HUMAN_JOINTS, SOURCE, apply_human_joint, copy_limit, mirror_limit
from .base import RigOperator, listed

if TYPE_CHECKING:
    from .base import Returned


JOINT_ITEMS = tuple((kind, joint.label, SOURCE) for kind, joint in HUMAN_JOINTS.items())


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
                with place_of(rig=owner.name):
                    set_from_ik(bone)
            except BoneError as error:
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


class FABRIK_OT_limit_copy(BoneOperator):
    """Give the joint limit of the active bone to the other selected bones"""

    bl_idname = "fabrik.limit_copy"
    bl_label = "Copy to Selected"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        count = copy_limit(context.active_pose_bone, _selected(owner))
        if not count:
            raise BoneError("no other bone is selected", rig=owner.name, bone=context.active_pose_bone.name)
        self.report({"INFO"}, f"Copied the limit to {count} bone{'' if count == 1 else 's'}")
        return {"FINISHED"}


class FABRIK_OT_limit_mirror(BoneOperator):
    """Give the joint limits of the selected bones to the bones of the other side, by Blender's naming of sides"""

    bl_idname = "fabrik.limit_mirror"
    bl_label = "Copy Mirrored"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        done, refused = [], []
        for bone in _selected(owner) or [context.active_pose_bone]:
            try:
                done.append(mirror_limit(bone, owner).name)
            except BoneError as error:
                refused.append(str(error))
        if not done:
            raise BoneError("no selected bone has one on the other side", rig=owner.name)
        for text in refused:
            self.report({"WARNING"}, text)
        self.report({"INFO"}, f"Set the limit of {listed(done, 'bones')}")
        return {"FINISHED"}


class FABRIK_OT_limit_human(BoneOperator):
    """Give the selected bones the range of a human joint"""

    bl_idname = "fabrik.limit_human"
    bl_label = "Human Joint"
    poses = False

    if TYPE_CHECKING:
        joint: str
        use_flip: bool
    else:
        joint: EnumProperty(name="Joint", items=JOINT_ITEMS)
        use_flip: BoolProperty(
            name="Flip", description="The bones flex about -X; those of Rigify's metarigs flex about +X"
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        bones = _selected(owner) or [context.active_pose_bone]
        apply_human_joint(bones, HUMAN_JOINTS[self.joint], self.use_flip)
        self.report({"INFO"}, f"{HUMAN_JOINTS[self.joint].label}: {listed([bone.name for bone in bones], 'bones')}")
        return {"FINISHED"}


def _selected(owner: bpy.types.Object) -> list[bpy.types.PoseBone]:
    return [bone for bone in pose_bones(owner) if is_selected(bone)]


CLASSES = (
    FABRIK_OT_limit_from_ik,
    FABRIK_OT_limit_axis,
    FABRIK_OT_limit_copy,
    FABRIK_OT_limit_mirror,
    FABRIK_OT_limit_human,
)
