# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains from Blender's own IK constraints, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty

from ..errors import ChainError
from ..rig.chain_bones import pose_bones
from ..rig.compat import is_selected
from ..session.convert import convert_ik, ik_constraints
from ..session.convert_aims import convert_tracks, tracks
from ..session.convert_back import convert_to_ik
from .base import ChainOperator, RigOperator
from .choices import chains_property, items_of

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_from_ik(RigOperator):
    """Make a chain of each IK constraint, with its target, pole, limits and bend, and mute the constraint"""

    bl_idname = "fabrik.from_ik"
    bl_label = "Chains from IK"

    if TYPE_CHECKING:
        use_selected: bool
        use_aims: bool
    else:
        use_selected: BoolProperty(
            name="Selected Bones", description="Only constraints of selected bones, not all of the armature"
        )
        use_aims: BoolProperty(
            name="Aims", description="Make a chain that aims of each Damped Track constraint as well"
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        bones = [bone for bone in pose_bones(owner) if not self.use_selected or is_selected(bone)]
        with_tracks = self.use_aims and bool(tracks(bones))
        if not ik_constraints(bones) and not with_tracks:
            raise ChainError("no bone has an IK constraint that is in force", rig=owner.name)
        names = [bone.name for bone in bones]
        results = convert_ik(context, owner, names) + (convert_tracks(context, owner, names) if with_tracks else [])
        for result in results:
            what = f"{result.bone}, '{result.constraint}'"
            if not result.chain:
                self.report({"WARNING"}, f"{what}: left as it is, {result.lost[0]}")
            elif result.lost:
                self.report({"WARNING"}, f"{what}: made the chain {result.chain}, but for {'; '.join(result.lost)}")
            else:
                self.report({"INFO"}, f"{what}: made the chain {result.chain}")
        return {"FINISHED"} if any(result.chain for result in results) else {"CANCELLED"}


class FABRIK_OT_to_ik(ChainOperator):
    """Make an IK constraint of each chain, with its target, pole, limits and bend, and disable the chain"""

    bl_idname = "fabrik.to_ik"
    bl_label = "IK from Chains"

    if TYPE_CHECKING:
        chains: str
    else:
        chains: chains_property("ALL")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        results = convert_to_ik(context, items_of(context, owner, self.chains))
        for result in results:
            if not result.constraint:
                self.report({"WARNING"}, f"{result.chain}: left as it is, {result.lost[0]}")
                continue
            made = f"{result.chain}: '{result.constraint}' of {result.bone}"
            lost = f", but for {'; '.join(result.lost)}" if result.lost else ""
            self.report({"WARNING"} if lost else {"INFO"}, made + lost)
        return {"FINISHED"} if any(result.constraint for result in results) else {"CANCELLED"}


CLASSES = (FABRIK_OT_from_ik, FABRIK_OT_to_ik)
