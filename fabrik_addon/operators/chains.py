# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, remove and reorder chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..errors import ChainError
from ..rig.chain_bones import bones_to
from ..rig.find import working_rig
from ..rig.properties import rig_of
from ..session.defaults import Defaults, read_defaults
from ..session.make import (
    Empty,
    PoleOptions,
    add_chain,
    plan_pole,
    plan_target,
    same_bones,
    selected_limbs,
    set_pole,
    set_target,
)
from .base import ChainOperator, RigOperator, listed

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_chain_add(RigOperator):
    """Add a chain for each limb that is selected in Pose mode: select the tip of a limb, or a run of bones"""

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
            name="Bones (0 = Automatic)",
            description="Number of bones of each chain. 0: as selected, or all up to the root for a named tip bone",
            min=0,
            soft_max=20,
            options={"SKIP_SAVE"},
        )
        use_target: BoolProperty(name="Add Target", description="Make a target at the tip of each chain")
        use_pole: BoolProperty(
            name="Add Pole", description="Make a pole in the plane of the bend of each chain of two bones or more"
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        limbs = [(self.tip_bone, self.bone_count)] if self.tip_bone else selected_limbs(owner)
        if not limbs:
            raise ChainError("no bone is selected: select the tip of a limb, or a run of bones", rig=owner.name)
        defaults = read_defaults(context)
        limbs = [(tip, self.bone_count or count) for tip, count in limbs]
        plans = [(count, *self._plan(context, owner, (tip, count), defaults)) for tip, count in limbs]
        names = []
        for count, bones, target, pole in plans:
            chain = add_chain(owner, bones, count, defaults)
            names.append(chain.name)
            if target is not None:
                set_target(context, owner, chain, target)
            if pole is not None:
                set_pole(context, owner, chain, pole)
            twin = same_bones(owner, chain)
            if twin:
                self.report({"WARNING"}, f"{chain.name} has the same bones as {twin}")
        self.report({"INFO"}, f"Added {listed(names, 'chains')}")
        return {"FINISHED"}

    def _plan(
        self, context: bpy.types.Context, owner: bpy.types.Object, limb: tuple[str, int], defaults: Defaults
    ) -> tuple[list[bpy.types.PoseBone], Empty | None, Empty | None]:
        """The bones of a limb, and its target and pole where they are wanted."""
        bones = bones_to(owner, *limb)
        target = plan_target(context, owner, bones, defaults) if self.use_target else None
        bends = len(bones) > 1
        pole = plan_pole(context, owner, bones, PoleOptions(), defaults) if self.use_pole and bends else None
        return bones, target, pole

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        owner = working_rig(context)
        if owner is not None and owner.pose is not None:
            layout.prop_search(self, "tip_bone", owner.pose, "bones")
        for name in ("bone_count", "use_target", "use_pole"):
            layout.prop(self, name)


class FABRIK_OT_chain_remove(ChainOperator):
    """Remove the active chain; its bones, target and pole stay"""

    bl_idname = "fabrik.chain_remove"
    bl_label = "Remove Chain"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        rig = rig_of(owner)
        name = rig.chains[rig.active_index].name
        try:
            rig.chains.remove(rig.active_index)
        except TypeError:  # Blender's word for a member of an override's collection that is not its own
            raise ChainError("it comes from the library file and can't be removed: disable it", chain=name) from None
        rig.active_index = max(0, min(rig.active_index, len(rig.chains) - 1))
        self.report({"INFO"}, f"Removed {name}")
        return {"FINISHED"}


class FABRIK_OT_chain_move(ChainOperator):
    """Move the active chain up or down in the list; where chains share bones, the lower one has its way"""

    bl_idname = "fabrik.chain_move"
    bl_label = "Move Chain"
    poses = False

    if TYPE_CHECKING:
        direction: str
    else:
        direction: EnumProperty(items=(("UP", "Up", ""), ("DOWN", "Down", "")), name="Direction")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        rig = rig_of(owner)
        to = rig.active_index + (-1 if self.direction == "UP" else 1)
        if not 0 <= to < len(rig.chains):
            return {"CANCELLED"}
        rig.chains.move(rig.active_index, to)
        rig.active_index = to
        return {"FINISHED"}


CLASSES = (FABRIK_OT_chain_add, FABRIK_OT_chain_remove, FABRIK_OT_chain_move)
