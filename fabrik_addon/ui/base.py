# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels of the tab share."""

from __future__ import annotations

import bpy

from ..rig.find import working_chain, working_rig
from ..rig.versions import newer_refusal

MODES = {"OBJECT", "POSE"}


class FabrikPanel(bpy.types.Panel):
    """A panel of the tab, shown for the active chain, with a button that opens its page of the manual.

    Attributes:
        told_at: The page of the manual, and the heading.
    """

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "FABRIK"
    told_at = ("index", "")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if newer_refusal(working_rig(context)):
            return False
        return context.mode in MODES and working_chain(context) is not None

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        button = self.layout.operator("fabrik.manual", text="", icon="QUESTION", emboss=False)
        button.page, button.heading = self.told_at
