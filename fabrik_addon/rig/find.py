# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armature, and which chain of it, the user is working on."""

from __future__ import annotations

import bpy

from .schema import FabrikChain, rig_of


def working_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature, or the one of which the active object is a target or pole; else the active object."""
    active = context.object
    if active is None or active.type == "ARMATURE" or context.view_layer is None:
        return active
    for owner in context.view_layer.objects:
        if owner.type == "ARMATURE" and any(active in (chain.target, chain.pole) for chain in rig_of(owner).chains):
            return owner
    return active


def working_chain(context: bpy.types.Context) -> FabrikChain | None:
    """The active chain of the armature the user is working on."""
    owner = working_rig(context)
    return rig_of(owner).active if owner is not None and owner.type == "ARMATURE" else None
