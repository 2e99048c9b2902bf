# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches of live posing and of the overlay."""

from __future__ import annotations

import bpy

from ..overlay.settings import OPTIONS, scene_settings


def draw_switches(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """Live posing, of this armature and of all in the scene, and the overlay."""
    row = layout.row(align=True)
    live = row.row(align=True)
    live.active = bool(getattr(context.scene, "fabrik_live"))
    live.prop(owner, "fabrik_live", text="Live", icon="DECORATE_DRIVER", toggle=True)
    row.prop(context.scene, "fabrik_live", text="", icon="SCENE_DATA")
    row.separator()
    row.prop(scene_settings(context.scene), "show", text="Overlay", icon="OVERLAY", toggle=True)
    row.popover("FABRIK_PT_overlay", text="")


class FABRIK_PT_overlay(bpy.types.Panel):
    """Which parts of the overlay are shown"""

    bl_label = "FABRIK Overlay"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_options = {"INSTANCED"}

    def draw(self, context: bpy.types.Context) -> None:
        settings = scene_settings(context.scene)
        column = self.layout.column(align=True)
        column.prop(settings, "show")
        column = column.column(align=True)
        column.active = settings.show
        for name in OPTIONS:
            column.prop(settings, name)


CLASSES = (FABRIK_PT_overlay,)
