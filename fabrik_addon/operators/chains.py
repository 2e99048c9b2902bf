# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, remove and reorder chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..errors import ChainError
from ..rig.properties import rig_of
from ..session.defaults import read_defaults
from ..session.make import add_chain, add_pole, add_target, selected_limbs
from .base import ChainOperator, RigOperator

if TYPE_CHECKING:
    from .base import Returned

POLE_DISTANCE = 0.6


class FABRIK_OT_chain_add(RigOperator):
    """Add a chain for each limb that is selected: for the tip of a limb, or for a run of bones"""

    bl_idname = "fabrik.chain_add"
    bl_label = "Add Chain"

    if TYPE_CHECKING:
        tip_bone: str
        bone_count: int
        use_target: bool
        use_pole: bool
    else:
        tip_bone: StringProperty(
            name="Tip Bone", description="Last bone of the chain; empty for the selected bones", options={"SKIP_SAVE"}
        )
        bone_count: IntProperty(
            name="Bones",
            description="Number of bones of each chain. 0: as selected, or all up to the root for a named tip bone",
            min=0,
            soft_max=20,
            options={"SKIP_SAVE"},
        )
        use_target: BoolProperty(name="Target", description="Make a target at the tip of each chain")
        use_pole: BoolProperty(name="Pole", description="Make a pole in the plane of each chain's bend")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        limbs = [(self.tip_bone, self.bone_count)] if self.tip_bone else selected_limbs(owner)
        if not limbs:
            raise ChainError("no bone is selected: select the tip of a limb, or a run of bones", rig=owner.name)
        defaults = read_defaults(context)
        names = []
        for tip, count in limbs:
            chain = add_chain(owner, tip, self.bone_count or count, defaults)
            names.append(chain.name)
            if self.use_target:
                add_target(context, owner, chain, defaults)
            if self.use_pole:
                add_pole(context, owner, chain, POLE_DISTANCE, defaults)
        self.report({"INFO"}, f"Added {', '.join(names)}")
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        if context.object is not None and context.object.pose is not None:
            layout.prop_search(self, "tip_bone", context.object.pose, "bones")
        for name in ("bone_count", "use_target", "use_pole"):
            layout.prop(self, name)


class FABRIK_OT_chain_remove(ChainOperator):
    """Remove the active chain; its bones, target and pole stay"""

    bl_idname = "fabrik.chain_remove"
    bl_label = "Remove Chain"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        rig = rig_of(owner)
        name = rig.chains[rig.active_index].name
        count = len(rig.chains)
        rig.chains.remove(rig.active_index)
        if len(rig.chains) == count:
            raise ChainError("it comes from the library file and can't be removed here: disable it", chain=name)
        rig.active_index = max(0, min(rig.active_index, len(rig.chains) - 1))
        self.report({"INFO"}, f"Removed {name}")
        return {"FINISHED"}


class FABRIK_OT_chain_move(ChainOperator):
    """Move the active chain up or down in the list"""

    bl_idname = "fabrik.chain_move"
    bl_label = "Move Chain"

    if TYPE_CHECKING:
        direction: str
    else:
        direction: EnumProperty(items=(("UP", "Up", ""), ("DOWN", "Down", "")), name="Direction")

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        chains = rig_of(context.object).chains if context.object else ()
        return "" if len(chains) > 1 else "there are no two chains to reorder"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        rig = rig_of(owner)
        to = rig.active_index + (-1 if self.direction == "UP" else 1)
        if not 0 <= to < len(rig.chains):
            return {"CANCELLED"}
        rig.chains.move(rig.active_index, to)
        rig.active_index = to
        return {"FINISHED"}


CLASSES = (FABRIK_OT_chain_add, FABRIK_OT_chain_remove, FABRIK_OT_chain_move)
