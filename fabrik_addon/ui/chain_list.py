# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of an armature's chains."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.schema import FabrikChain
from ..session.telling import told_of
from ..translations import CONTEXT, iface_
from .base import is_wide
from .entries import LIST, draw_parts
from .status import ICONS


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
        if told.short and is_wide(context):
            hint = row.row(align=True)
            hint.active = False
            hint.alignment = "RIGHT"
            hint.label(text=iface_(told.short))
        if item.pin:
            mark = row.row(align=True)
            mark.alignment = "RIGHT"
            mark.label(icon="PINNED")
        row.prop(item, "enabled", text="")


class FABRIK_MT_chains(bpy.types.Menu):
    """What is done with many chains"""

    bl_label = "Chain Specials"
    bl_translation_context = CONTEXT

    def draw(self, context: bpy.types.Context) -> None:
        draw_parts(context, self.layout, LIST)


CLASSES = (FABRIK_MT_chains, FABRIK_UL_chains)
