# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the body bone, and fill in the shares of mass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import EnumProperty, StringProperty

from ..errors import BoneError
from ..rig.find import working_rig
from ..rig.schema import rig_of
from ..session.body import find_body, set_body
from ..session.masses import fill_masses
from ..texts import Text
from ..translations import rpt_
from .base import RigOperator, listed

if TYPE_CHECKING:
    from .base import Returned

SOURCES = (
    ("FIND", "Find", "The hips by their name, or the nearest bone on which all enabled chains hang"),
    ("ACTIVE", "Active Bone", "The active bone in Pose mode"),
    ("NONE", "None", "No body bone: the roots of the chains stay"),
)
BY = (
    ("PARTS", "Human Parts", "By what the bones' names say they are of a human (de Leva 1996)"),
    ("LENGTH", "Lengths", "By the lengths of the bones that deform"),
    ("NONE", "Clear", "Forget what was set: each bone counts by its length"),
)


class FABRIK_OT_body_bone_set(RigOperator):
    """Choose the bone that moves and turns with all chains below it, as the hips do; the pose stays as it is"""

    bl_idname = "fabrik.body_bone_set"
    bl_label = "Set Body Bone"

    if TYPE_CHECKING:
        source: str
        bone: str
    else:
        source: EnumProperty(name="Source", description="Where the body bone comes from", items=SOURCES)
        bone: StringProperty(
            name="Bone", description="Name of the bone; empty to go by the source", options={"SKIP_SAVE"}
        )

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return (
            "" if len(rig_of(working_rig(context)).chains) else Text("there is no chain: add those of the limbs first")
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        found = set_body(context, owner, self.bone or self._chosen(context, owner))
        for note in found.notes:
            self.report({"WARNING"}, rpt_(note))
        text = rpt_("There is no body bone now")
        if found.bone:
            text = rpt_("{bone} moves with {chains}", bone=found.bone, chains=listed(found.below, "{count} chains"))
        self.report({"INFO"}, text)
        return {"FINISHED"}

    def _chosen(self, context: bpy.types.Context, owner: bpy.types.Object) -> str:
        if self.source == "NONE":
            return ""
        if self.source == "FIND":
            return find_body(owner)
        bone = context.active_pose_bone
        if bone is None or bone.id_data != owner:
            raise BoneError("no bone is active: choose one in Pose mode", rig=owner.name)
        return bone.name


class FABRIK_OT_balance_masses(RigOperator):
    """Fill in which share of the body's mass each bone carries, for the balance"""

    bl_idname = "fabrik.balance_masses"
    bl_label = "Fill Masses"
    poses = False

    if TYPE_CHECKING:
        by: str
    else:
        by: EnumProperty(name="By", description="Where the shares come from", items=BY)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        count = fill_masses(owner, self.by)
        text = rpt_("Each bone counts by its length")
        self.report({"INFO"}, rpt_("{count} bones have a share of the mass", count=count) if count else text)
        return {"FINISHED"}


CLASSES = (FABRIK_OT_body_bone_set, FABRIK_OT_balance_masses)
