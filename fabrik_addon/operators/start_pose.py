# SPDX-License-Identifier: GPL-3.0-or-later
"""Capture and reset the start pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty

from ..rig.chain_bones import resolve_bones
from ..rig.channels import channel_of, neutral_values
from ..rig.find import working_chain
from ..rig.schema import FabrikChain, rig_of
from ..rig.start_pose import capture, reset
from ..translations import rpt_
from .base import ChainOperator, listed

if TYPE_CHECKING:
    from .base import Returned


class StartPoseOperator(ChainOperator):
    """An operator on the start pose of the active chain or of all."""

    def chains(self, context: bpy.types.Context, owner: bpy.types.Object, use_all: bool) -> list[FabrikChain]:
        """The active chain, or all."""
        active = working_chain(context)
        return list(rig_of(owner).chains) if use_all or active is None else [active]


class FABRIK_OT_start_pose_capture(StartPoseOperator):
    """Keep the pose as it stands as the start pose of the chain"""

    bl_idname = "fabrik.start_pose_capture"
    bl_label = "Capture Start Pose"

    if TYPE_CHECKING:
        use_all: bool
    else:
        use_all: BoolProperty(name="All Chains", description="For every chain of the armature")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        found = [(chain, resolve_bones(owner, chain)) for chain in self.chains(context, owner, self.use_all)]
        for chain, bones in found:
            capture(chain, bones)
        names = listed([chain.name for chain, _ in found], "{count} chains")
        self.report({"INFO"}, rpt_("Captured the start pose of {chains}", chains=names))
        return {"FINISHED"}


class FABRIK_OT_start_pose_reset(StartPoseOperator):
    """Make the armature's rest pose the start pose of the chain again"""

    bl_idname = "fabrik.start_pose_reset"
    bl_label = "Reset Start Pose"
    poses = False

    if TYPE_CHECKING:
        use_pose: bool
        use_all: bool
    else:
        use_pose: BoolProperty(name="Pose", description="Turn the bones back to their rest pose, too")
        use_all: BoolProperty(name="All Chains", description="For every chain of the armature")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        found = [(chain, resolve_bones(owner, chain)) for chain in self.chains(context, owner, self.use_all)]
        for chain, bones in found:
            reset(chain, bones)
            for bone in bones if self.use_pose else ():
                setattr(bone, channel_of(bone.rotation_mode)[0], neutral_values(bone.rotation_mode))
        names = listed([chain.name for chain, _ in found], "{count} chains")
        self.report({"INFO"}, rpt_("Rest pose is the start pose of {chains}", chains=names))
        return {"FINISHED"}


CLASSES = (FABRIK_OT_start_pose_capture, FABRIK_OT_start_pose_reset)
