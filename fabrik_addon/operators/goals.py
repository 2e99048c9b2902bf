# SPDX-License-Identifier: GPL-3.0-or-later
"""Make and pick targets and poles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..errors import TargetError
from ..rig.chain_bones import resolve_bones
from ..rig.find import working_chain
from ..rig.keys import KeyedChannels
from ..rig.properties import FabrikChain, rig_of
from ..rig.start_pose import read_start
from ..session.defaults import read_defaults
from ..session.make import PoleOptions, plan_pole, plan_target, set_pole, set_target
from .base import ChainOperator, listed

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_target_add(ChainOperator):
    """Add an empty at the tip of the chain and make it the target"""

    bl_idname = "fabrik.target_add"
    bl_label = "Add Target"

    if TYPE_CHECKING:
        use_all: bool
    else:
        use_all: BoolProperty(name="All Chains", description="For every chain that has no target yet")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        defaults = read_defaults(context)
        chains = _without(context, owner, self.use_all, "target")
        plans = [plan_target(context, owner, resolve_bones(owner, chain), defaults) for chain in chains]
        for chain, planned in zip(chains, plans, strict=True):
            set_target(context, owner, chain, planned)
        self.report({"INFO"}, f"Added {listed([chain.target.name for chain in chains], 'targets')}")
        return {"FINISHED"}


class FABRIK_OT_pole_add(ChainOperator):
    """Add an empty in the plane of the chain's bend and make it the pole; the pose stays as it is"""

    bl_idname = "fabrik.pole_add"
    bl_label = "Add Pole"

    if TYPE_CHECKING:
        distance: float
        use_all: bool
    else:
        distance: FloatProperty(
            name="Distance",
            description="Distance of the pole from the chain, as a share of the chain's length",
            default=PoleOptions().distance,
            min=0.01,
            soft_max=2.0,
        )
        use_all: BoolProperty(name="All Chains", description="For every chain of two bones or more without a pole")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        defaults = read_defaults(context)
        found = [(c, resolve_bones(owner, c)) for c in _without(context, owner, self.use_all, "pole")]
        if self.use_all:
            found = [(chain, bones) for chain, bones in found if len(bones) > 1]
        keyed = KeyedChannels(owner, context.scene.frame_current_final)
        plans = []
        for chain, bones in found:
            options = PoleOptions(self.distance, chain.pole_angle, read_start(owner, chain, bones, keyed))
            plans.append(plan_pole(context, owner, bones, options, defaults))
        for (chain, _), planned in zip(found, plans, strict=True):
            set_pole(context, owner, chain, planned)
        self.report({"INFO"}, f"Added {listed([chain.pole.name for chain, _ in found], 'poles')}")
        return {"FINISHED"}


class FABRIK_OT_goal_select(ChainOperator):
    """Select the target or pole of the chain, in Object mode, ready to be moved; the tab stays with the armature"""

    bl_idname = "fabrik.goal_select"
    bl_label = "Select Target or Pole"
    poses = False

    if TYPE_CHECKING:
        role: str
    else:
        role: EnumProperty(
            name="Role",
            items=(("target", "Target", "Select the target"), ("pole", "Pole", "Select the pole")),
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        goal: bpy.types.Object | None = getattr(working_chain(context), self.role)
        if goal is None or goal.name not in context.view_layer.objects:
            raise TargetError(f"there is no {self.role} in this view layer", chain=working_chain(context).name)
        if context.object is not None and context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        goal.hide_set(False)
        goal.select_set(True)
        context.view_layer.objects.active = goal
        return {"FINISHED"}


def _without(context: bpy.types.Context, owner: bpy.types.Object, use_all: bool, role: str) -> list[FabrikChain]:
    """The active chain, or all, that lack a target or pole.

    Raises:
        TargetError: There are none.
    """
    if use_all:
        chains = [chain for chain in rig_of(owner).chains if getattr(chain, role) is None]
        if not chains:
            raise TargetError(f"every chain has a {role} already", rig=owner.name)
        return chains
    chain = working_chain(context)
    goal: bpy.types.Object | None = getattr(chain, role)
    if goal is not None:
        raise TargetError(f"it has the {role} '{goal.name}' already", rig=owner.name, chain=chain.name)
    return [chain]


CLASSES = (FABRIK_OT_target_add, FABRIK_OT_pole_add, FABRIK_OT_goal_select)
