# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains from Blender's own IK constraints, and back."""

from __future__ import annotations

import bpy

from ..actions.convert import convert_ik, convert_tracks, ik_constraints, tracks
from ..actions.convert_back import convert_to_ik
from ..errors import ChainError
from ..rig.animation.compat import is_selected
from ..rig.bones import pose_bones
from ..rig.schema.fields import switch
from ..texts import Text, joined
from .baking import chains_choice, items_of
from .base import ChainOperator, Returned, RigOperator


class FABRIK_OT_from_ik(RigOperator):
    """Make a chain of each IK constraint, with its target, pole, limits and bend, and mute the constraint"""

    bl_idname = "fabrik.from_ik"
    bl_label = "Chains from IK"

    use_selected = switch("Selected Bones", "Only constraints of selected bones, not all of the armature")
    use_aims = switch("Aims", "Make a chain that aims of each Damped Track constraint as well")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        bones = [bone for bone in pose_bones(owner) if not self.use_selected or is_selected(bone)]
        with_tracks = self.use_aims and bool(tracks(bones))
        if not ik_constraints(bones) and not with_tracks:
            raise ChainError("no bone has an IK constraint that is in force", rig=owner.name)
        names = [bone.name for bone in bones]
        results = convert_ik(context, owner, names) + (convert_tracks(context, owner, names) if with_tracks else [])
        for result in results:
            what, lost = f"{result.bone}, '{result.constraint}'", joined("; ", result.lost)
            if not result.chain:
                self.warn("{what}: left as it is, {reason}", what=what, reason=result.lost[0])
            elif lost:
                self.warn("{what}: made the chain {chain}, but for {lost}", what=what, chain=result.chain, lost=lost)
            else:
                self.tell("{what}: made the chain {chain}", what=what, chain=result.chain)
        return {"FINISHED"} if any(result.chain for result in results) else {"CANCELLED"}


class FABRIK_OT_to_ik(ChainOperator):
    """Make an IK constraint of each chain, with its target, pole, limits and bend, and disable the chain"""

    bl_idname = "fabrik.to_ik"
    bl_label = "IK from Chains"

    chains = chains_choice("ALL")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        results = convert_to_ik(context, items_of(context, owner, self.chains))
        for result in results:
            if not result.constraint:
                self.warn("{what}: left as it is, {reason}", what=result.chain, reason=result.lost[0])
                continue
            chain, made = result.chain, result.constraint
            text = Text("{chain}: '{constraint}' of {bone}", chain=chain, constraint=made, bone=result.bone)
            if result.lost:
                text = Text("{made}, but for {lost}", made=text, lost=joined("; ", result.lost))
            (self.warn if result.lost else self.tell)(text)
        return {"FINISHED"} if any(result.constraint for result in results) else {"CANCELLED"}


CLASSES = (FABRIK_OT_from_ik, FABRIK_OT_to_ik)
