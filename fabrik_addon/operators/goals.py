# SPDX-License-Identifier: GPL-3.0-or-later
"""Make targets and poles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..errors import TargetError
from ..rig.properties import FabrikChain, rig_of
from ..session.defaults import read_defaults
from ..session.make import add_pole, add_target
from .base import ChainOperator, active_chain
from .chains import POLE_DISTANCE

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
        chains = _chains(context, owner, self.use_all, "target")
        made = [add_target(context, owner, chain, read_defaults(context)).name for chain in chains]
        self.report({"INFO"}, f"Added {', '.join(made)}")
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
            default=POLE_DISTANCE,
            min=0.01,
            soft_max=2.0,
        )
        use_all: BoolProperty(name="All Chains", description="For every chain that has no pole yet")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        chains = _chains(context, owner, self.use_all, "pole")
        made = [add_pole(context, owner, chain, self.distance, read_defaults(context)).name for chain in chains]
        self.report({"INFO"}, f"Added {', '.join(made)}")
        return {"FINISHED"}


def _chains(context: bpy.types.Context, owner: bpy.types.Object, use_all: bool, role: str) -> list[FabrikChain]:
    """The active chain, or all that lack a target or pole."""
    if use_all:
        chains = [chain for chain in rig_of(owner).chains if getattr(chain, role) is None]
        if not chains:
            raise TargetError(f"every chain has a {role} already", rig=owner.name)
        return chains
    chain = active_chain(context)
    return [chain] if chain is not None else []


CLASSES = (FABRIK_OT_target_add, FABRIK_OT_pole_add)
