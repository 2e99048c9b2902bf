# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators share: when they are enabled, and how a refusal becomes a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..errors import FabrikError
from ..rig.checks import rig_refusal
from ..rig.properties import FabrikChain, rig_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

    Returned = set[OperatorReturnItems]


def active_chain(context: bpy.types.Context) -> FabrikChain | None:
    """The active chain of the active armature."""
    owner = context.object
    return rig_of(owner).active if owner is not None and owner.type == "ARMATURE" else None


class RigOperator(bpy.types.Operator):
    """An operator on the active armature, in Object and Pose mode."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = rig_refusal(context.object) or cls.refusal(context)
        if reason:
            cls.poll_message_set(reason[0].upper() + reason[1:])
        return not reason

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        """Why the operator is disabled, or ""; called for an armature that can be posed."""
        return ""

    def execute(self, context: bpy.types.Context) -> Returned:
        try:
            return self.run(context, context.object)
        except FabrikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        """Do it; a `FabrikError` becomes a report."""
        raise NotImplementedError


class ChainOperator(RigOperator):
    """An operator on the active chain."""

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if active_chain(context) else "there is no active chain: add one first"
