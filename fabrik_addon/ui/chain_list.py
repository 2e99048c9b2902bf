# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of an armature's chains."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.properties import FabrikChain
from ..session.telling import told_of
from .status import ICONS, Icon

SNAPS: tuple[tuple[str, str, Icon], ...] = (
    ("fabrik.goal_snap", "All Goals to Pose", "SNAP_ON"),
    ("fabrik.pose_snap", "Pose to All Goals", "CON_KINEMATIC"),
)


class FABRIK_UL_chains(bpy.types.UIList):
    """Name, last status and switch of each chain"""

    def draw_item(  # type: ignore[override]  # noqa: PLR0913, PLR0917  # Blender counts the arguments
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: FabrikChain,
        icon: int,
        active_data: Any,
        active_property: str,
    ) -> None:
        row = layout.row(align=True)
        name = row.row(align=True)
        name.active = item.enabled
        told = told_of(item, context)
        name.prop(item, "name", text="", emboss=False, icon=ICONS[told.kind])
        if told.short:
            hint = row.row(align=True)
            hint.active = False
            hint.alignment = "RIGHT"
            hint.label(text=told.short)
        row.prop(item, "enabled", text="")


class FABRIK_MT_chains(bpy.types.Menu):
    """What is done with many chains"""

    bl_label = "Chain Specials"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator("fabrik.chain_mirror", icon="MOD_MIRROR")
        layout.separator()
        layout.operator("fabrik.from_ik", icon="CON_KINEMATIC")
        layout.operator("fabrik.to_ik", icon="CONSTRAINT_BONE")
        layout.separator()
        for name, text, icon in SNAPS:
            layout.operator(name, text=text, icon=icon).chains = "ALL"
        layout.separator()
        hinges = layout.operator("fabrik.limit_from_bend", text="Hinges from Bend", icon="MOD_SIMPLEDEFORM")
        hinges.bones = "CHAIN"
        layout.operator("fabrik.chain_remove_all", icon="X")


CLASSES = (FABRIK_MT_chains, FABRIK_UL_chains)
