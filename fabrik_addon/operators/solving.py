# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve one chain or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import StringProperty

from ..errors import ChainError
from ..rig.properties import rig_of
from ..session.solve import Outcome, solve_chains
from .base import ChainOperator

if TYPE_CHECKING:
    from .base import Returned


def outcome_text(outcome: Outcome) -> str:
    """One line on how a chain's solve ended."""
    if outcome.status == "REFUSED":
        return outcome.message
    texts = {
        "REACHED": "reached",
        "TOO_FAR": "the target is too far away",
        "TOO_NEAR": "the target is too near to the root",
        "BLOCKED": f"held back by the limits of {', '.join(outcome.blocking) or 'its bones'}",
    }
    text = f"{outcome.chain}: {texts[outcome.status]}, {outcome.residual:.4g} from the target, {outcome.passes} passes"
    return "; ".join([text, *outcome.warnings])


class SolveOperator(ChainOperator):
    """An operator that solves chains and reports on each."""

    def solve(self, context: bpy.types.Context, owner: bpy.types.Object, names: list[str]) -> Returned:
        """Solve the named chains; an error where all of them were refused."""
        outcomes = solve_chains(context, owner, names)
        refused = [outcome for outcome in outcomes if outcome.status == "REFUSED"]
        if len(refused) == len(outcomes):
            self.report({"ERROR"}, "\n".join(outcome_text(outcome) for outcome in refused))
            return {"CANCELLED"}
        for outcome in outcomes:
            is_fine = outcome.status == "REACHED" and not outcome.warnings
            self.report({"INFO"} if is_fine else {"WARNING"}, outcome_text(outcome))
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
        rig = rig_of(owner)
        name = self.chain or (rig.active.name if rig.active else "")
        if name not in rig.chains:
            raise ChainError(f"there is no chain '{name}'", rig=owner.name)
        return self.solve(context, owner, [name])

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        if context.object is not None:
            self.layout.prop_search(self, "chain", context.object, "fabrik_chains")


class FABRIK_OT_solve_all(SolveOperator):
    """Bring the tip of every enabled chain to its target"""

    bl_idname = "fabrik.solve_all"
    bl_label = "Solve All"

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        chains = rig_of(context.object).chains if context.object else ()
        return "" if any(chain.enabled for chain in chains) else "no chain is enabled"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        return self.solve(context, owner, [chain.name for chain in rig_of(owner).chains if chain.enabled])


CLASSES = (FABRIK_OT_solve, FABRIK_OT_solve_all)
