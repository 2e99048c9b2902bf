# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve one chain or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import StringProperty

from ..rig.find import working_rig
from ..rig.schema import FabrikChain, name_all, rig_of
from ..session.order import Item
from ..session.outcome import message_of
from ..session.pose import solve_items
from ..session.wording import measure_text, status_text
from ..texts import Text, joined
from ..translations import rpt_
from .base import ChainOperator, named_chain

if TYPE_CHECKING:
    from .base import Returned


def _sentence(chain: FabrikChain, scene: bpy.types.Scene) -> Text:
    """One line on how a chain's solve ended."""
    how = joined(", ", (status_text(chain), measure_text(chain, scene)))
    text = joined(": ", (chain.name, how))
    return joined("; ", (text, message_of(chain))) if chain.message else text


class SolveOperator(ChainOperator):
    """An operator that solves chains and reports on each."""

    def solve(self, context: bpy.types.Context, items: list[Item]) -> Returned:
        """Solve chains; an error where all of them were refused."""
        owners = {owner.name: owner for owner, _ in items}
        outcomes = solve_items(context, items)
        refused = [outcome for outcome in outcomes if outcome.status == "REFUSED"]
        if len(refused) == len(outcomes):
            self.report({"ERROR"}, "\n".join(rpt_(outcome.refusal) for outcome in refused))
            return {"CANCELLED"}
        for outcome in outcomes:
            is_fine = outcome.status == "REACHED" and not outcome.warnings
            chain = rig_of(owners[outcome.rig]).chains[outcome.chain]
            text = rpt_(outcome.refusal or _sentence(chain, context.scene))
            self.report({"INFO"} if is_fine else {"WARNING"}, text)
        return {"FINISHED"}


class FABRIK_OT_solve(SolveOperator):
    """Bring the tip of the chain to its target"""

    bl_idname = "fabrik.solve"
    bl_label = "Solve"

    if TYPE_CHECKING:
        chain: str
    else:
        chain: StringProperty(
            name="Chain", description="Name of the chain; empty for the active one", options={"SKIP_SAVE"}
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        name_all(owner)
        return self.solve(context, [(owner, named_chain(owner, self.chain))])

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        owner = working_rig(context)
        if owner is not None:
            self.layout.prop_search(self, "chain", owner, "fabrik_chains", icon="CON_KINEMATIC")


class FABRIK_OT_solve_all(SolveOperator):
    """Bring the tip of every enabled chain to its target"""

    bl_idname = "fabrik.solve_all"
    bl_label = "Solve All"

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        chains = rig_of(working_rig(context)).chains
        return "" if any(chain.enabled for chain in chains) else Text("no chain is enabled")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        name_all(owner)
        return self.solve(context, [(owner, chain) for chain in rig_of(owner).chains if chain.enabled])


CLASSES = (FABRIK_OT_solve, FABRIK_OT_solve_all)
