# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels of the tab share."""

from __future__ import annotations

import bpy

from ..overlay.shapes import text_width
from ..rig.find import working_chain, working_rig
from ..rig.versions import newer_refusal
from ..translations import CONTEXT, label_
from .fitting import content_width

MODES = {"OBJECT", "POSE"}
HEADER = 44.0  # pixels at scale 1 of what stands beside the title of a panel
SIDE_BY_SIDE = 270  # pixels at scale 1 that the sidebar has to be wide for two buttons with words beside each other


def is_wide(context: bpy.types.Context) -> bool:
    """Whether two buttons with words, or a field and its name, have room beside each other."""
    width = context.region.width if context.region else SIDE_BY_SIDE
    return width >= SIDE_BY_SIDE * context.preferences.system.ui_scale


def row_or_column(context: bpy.types.Context, layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """A row for buttons with words; a column where the sidebar is so narrow that the words would be cut."""
    return layout.row(align=True) if is_wide(context) else layout.column(align=True)


class FabrikPanel(bpy.types.Panel):
    """A panel of the tab, shown for the active chain, with a button that opens its page of the manual.

    Attributes:
        told_at: The page of the manual, and the heading.
    """

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "FABRIK"
    bl_translation_context = CONTEXT
    told_at = ("index", "")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if newer_refusal(working_rig(context)):
            return False
        return context.mode in MODES and working_chain(context) is not None

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        if text_width(context, label_(self.bl_label)) > content_width(context, HEADER):
            return  # the button would stand on the title; F1 leads to the page, too
        button = self.layout.operator("fabrik.manual", text="", icon="QUESTION", emboss=False)
        button.page, button.heading = self.told_at
