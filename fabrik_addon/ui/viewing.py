# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches of live posing and of the overlay, and a solve step by step."""

from __future__ import annotations

import bpy

from ..actions.status import length_text
from ..overlay.settings import OPTIONS, scene_settings
from ..overlay.steps import STEP_TEXTS, current_step
from ..rig.schema import is_scene_live, rig_of
from ..translations import CONTEXT, iface_
from .base import Icon, RiggingPanel, check, draw_wrapped, row_or_column

WAYS: tuple[tuple[str, Icon], ...] = (
    ("FIRST", "REW"),
    ("BACK", "FRAME_PREV"),
    ("", "PLAY"),
    ("FORWARD", "FRAME_NEXT"),
    ("LAST", "FF"),
)


def draw_switches(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """Live posing of this armature, that of the scene where it is off, and the overlay."""
    both = row_or_column(context, layout)
    row = both.row(align=True)
    live = row.row(align=True)
    live.active = is_scene_live(context.scene)
    live.prop(owner, "fabrik_live", text="Live", icon=check(rig_of(owner).live), toggle=True)
    if not live.active:
        row.prop(context.scene, "fabrik_live", text="", icon="PAUSE")
    both.separator()
    row = both.row(align=True)
    settings = scene_settings(context.scene)
    row.prop(settings, "show", icon=check(settings.show), toggle=True)
    arrow = row.row(align=True)
    arrow.ui_units_x = 1.0
    arrow.popover("FABRIK_PT_overlay", text="")


class FABRIK_PT_overlay(bpy.types.Panel):
    """Which parts of the overlay are shown"""

    bl_label = "FABRIK Overlay"
    bl_translation_context = CONTEXT
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_options = {"INSTANCED"}

    def draw(self, context: bpy.types.Context) -> None:
        settings = scene_settings(context.scene)
        column = self.layout.column(align=True)
        column.prop(settings, "show_pins")
        column.separator()
        column.prop(settings, "show")
        column = column.column(align=True)
        column.active = settings.show
        column.prop(settings, "show_walk")
        for name in OPTIONS:
            column.prop(settings, name)


class FABRIK_PT_steps(RiggingPanel):
    """A recorded solve of the active chain, pass by pass"""

    bl_label = "Step by Step"
    told_at = ("steps", "step-by-step")

    def draw(self, context: bpy.types.Context) -> None:
        layout, manager = self.layout, context.window_manager
        layout.operator("fabrik.record", icon="REC")
        found = current_step(manager)
        if found is None:
            return
        recording, step, index, count = found
        row = layout.row(align=True)
        for to, icon in WAYS:
            if to:
                row.operator("fabrik.step", text="", icon=icon).to = to
            else:
                row.operator("fabrik.steps_play", text="", icon=icon)
        row.operator("fabrik.record_clear", text="Exit", icon="X")
        layout.prop(manager, "fabrik_by_joint")
        layout.prop(manager, "fabrik_step", slider=False)
        text = iface_(
            "{chain}: {number} of {count}, {step}",
            chain=recording.chain,
            number=index + 1,
            count=count,
            step=STEP_TEXTS[step.name],
        )
        draw_wrapped(context, layout, text, "NONE")
        layout.label(text=iface_("{distance} off", distance=length_text(step.error, context.scene)))


CLASSES = (FABRIK_PT_overlay, FABRIK_PT_steps)
