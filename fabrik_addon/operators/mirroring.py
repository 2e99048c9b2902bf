# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror chains to the other side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty

from ..recognise.words import side_of
from ..rig.find import working_chain
from ..rig.schema import rig_of
from ..session.mirror import mirror_chains
from ..texts import Text, joined
from ..translations import rpt_
from .base import ChainOperator, listed

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_chain_mirror(ChainOperator):
    """Make the chain on the other side, by the names of its bones, with goals, joint limits, start pose and settings"""

    bl_idname = "fabrik.chain_mirror"
    bl_label = "Mirror Chain"

    if TYPE_CHECKING:
        use_all: bool
        use_update: bool
    else:
        use_all: BoolProperty(name="All of This Side", description="Every chain of the side of the active one")
        use_update: BoolProperty(
            name="Update", description="Bring a chain that is on the other side already up to date", default=True
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        active = working_chain(context)
        chains = [active]
        if self.use_all:
            side = side_of(active.tip_bone)
            chains = [chain for chain in rig_of(owner).chains if chain == active or side_of(chain.tip_bone) == side]
        told = mirror_chains(context, owner, chains, self.use_update)
        for one in told:
            for note in one.notes:
                self.report({"WARNING"}, rpt_(joined(": ", (one.chain, note))))
        made = [one.chain for one in told if one.is_new]
        updated = [one.chain for one in told if not one.is_new]
        words = [Text("Made {chains}", chains=listed(made, "{count} chains"))] if made else []
        words += [Text("Updated {chains}", chains=listed(updated, "{count} chains"))] if updated else []
        self.report({"INFO"}, rpt_(joined(", ", words)))
        return {"FINISHED"}


CLASSES = (FABRIK_OT_chain_mirror,)
