# SPDX-License-Identifier: GPL-3.0-or-later
"""Flip a pose, and give that of one side to the other: true for any roll of the bones, with all goals."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..actions.mirror.pose import Plan, flipped, mirrored, pose_as
from ..rig.animation.compat import is_selected
from ..rig.bones import armature_of, pose_bones
from ..rig.checks import rig_refusal
from ..rig.renames import follow_renames_of
from ..rig.schema.fields import FORGOTTEN, choice
from ..texts import Text, counted, joined
from .base import RigOperator, rigs_in_pose_mode

BONES = (
    ("SELECTED", "Selected", "The selected bones; of a selected target or pole the limb that it moves"),
    ("ALL", "All", "All bones of the armature"),
)


class PoseOperator(RigOperator):
    """An operator that poses bones of all armatures in Pose mode by those of the other side."""

    bones = choice(BONES, "Bones", "Which bones", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        rigs, warnings = rigs_in_pose_mode(context, owner), list[Text]()
        chosen = {rig: [bone.name for bone in pose_bones(rig) if is_selected(bone)] for rig in rigs}
        is_chosen = self.bones == "SELECTED" and owner.mode == "POSE" and any(chosen.values())
        plans = list[tuple[bpy.types.Object, Plan]]()
        for rig in rigs:
            names = chosen[rig] if is_chosen else [*pose_bones(rig).keys()]
            refusal = rig_refusal(rig) if names else ""
            if refusal:  # the active one was asked before
                warnings.append(Text("{name} is left out: {reason}", name=rig.name, reason=refusal))
            elif names:
                follow_renames_of(rig)
                plans.append((rig, self.planned(context, rig, names)))
        for rig, (wanted, poles, alone) in plans:
            notes = [*alone, *pose_as(context, rig, wanted, poles)]
            warnings += notes if len(rigs) == 1 else [joined(": ", (rig.name, note)) for note in notes]
        self.tell(self.told(sum(len(wanted) for _, (wanted, _, _) in plans)), warnings=warnings)

    def planned(self, context: bpy.types.Context, rig: bpy.types.Object, names: Sequence[str]) -> Plan:
        """How bones of an armature are to stand. Every operator overrides it."""
        return {}, {}, []

    def told(self, count: int) -> Text:
        """What was done. Every operator overrides it."""
        return Text("")


class FABRIK_OT_flip_pose(PoseOperator):
    """Exchange the poses of left and right, whatever the roll of the bones; goals come along, so that the pose holds"""

    bl_label = "Flip Pose"

    def planned(self, context: bpy.types.Context, rig: bpy.types.Object, names: Sequence[str]) -> Plan:
        return flipped(context, rig, names)

    def told(self, count: int) -> Text:
        return counted(count, "Flipped 1 bone", "Flipped {count} bones")


class FABRIK_OT_mirror_pose(PoseOperator):
    """Give the pose of the selected side to the other, whatever the roll of the bones; goals come along"""

    bl_label = "Mirror Pose"

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if context.selected_pose_bones else Text("select bones of the side to take, in Pose mode")

    def planned(self, context: bpy.types.Context, rig: bpy.types.Object, names: Sequence[str]) -> Plan:
        active = armature_of(rig).bones.active
        return mirrored(context, rig, names, active.name if active is not None else "")

    def told(self, count: int) -> Text:
        return counted(count, "Mirrored to 1 bone", "Mirrored to {count} bones")
