# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels share: width and wrapping of texts, which no panel cuts, rows of settings, icons of statuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ..actions.chain_edit import working_chain, working_rig
from ..overlay.shapes import lines_of, text_width
from ..rig.versions import newer_refusal
from ..translations import CONTEXT, label_, name_

Icon = Any  # the stubs spell out some thousand names, other ones in each version
ICONS: dict[str, Icon] = {
    "NONE": "RADIOBUT_OFF",
    "REACHED": "CHECKMARK",
    "TOO_FAR": "TRACKING_FORWARDS_SINGLE",
    "TOO_NEAR": "TRACKING_BACKWARDS_SINGLE",
    "BLOCKED": "LOCKED",
    "REFUSED": "ERROR",
    "OLD": "FILE_REFRESH",
    "BAKED": "KEYFRAME_HLT",
    "GONE": "LIBRARY_DATA_BROKEN",
}
MODES = {"OBJECT", "POSE"}
HEADER = 44.0  # pixels at scale 1 of what stands beside the title of a panel
SIDE_BY_SIDE = 270  # pixels at scale 1 that the sidebar has to be wide for two buttons with words beside each other
# Pixels at scale 1.
NARROWEST = 120.0  # sidebar that is drawn for; one that opens is narrower for a while
MARGINS = 55.0  # beside what a panel shows: the tabs, and the edges of region and panel
PADDING = 18.0  # in a label or a button, before and behind the text
ICON = 22.0  # an icon before a text
BOX = 10.0  # the edges of a box
NAME = 4.0  # the edge of a name before its value
NAMES = 0.4  # of the width, which Blender gives to the names of settings
WORDS = {"ENUM", "POINTER", "STRING"}  # kinds of settings whose values are words
VALUES = 100.0  # more of the width that these want
KEYS = 20.0  # the mark of keys beside a setting


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
        needs_chain: Whether it is shown only where the armature has a chain.
    """

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "FABRIK"
    bl_translation_context = CONTEXT
    told_at = ("index", "")
    needs_chain = True

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        owner = working_rig(context)
        if owner is None or owner.type != "ARMATURE" or newer_refusal(owner) or context.mode not in MODES:
            return False
        return not cls.needs_chain or working_chain(context) is not None

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        if text_width(context, label_(self.bl_label)) > content_width(context, HEADER):
            return  # the button would stand on the title; F1 leads to the page, too
        button = self.layout.operator("fabrik.manual", text="", icon="QUESTION", emboss=False)
        button.page, button.heading = self.told_at


class RiggingPanel(FabrikPanel):
    """A panel of settings below that of rigging."""

    bl_parent_id = "FABRIK_PT_rigging"
    bl_options = {"DEFAULT_CLOSED"}


def content_width(context: bpy.types.Context, beside: float = 0.0) -> float:
    """How wide a panel is inside, in pixels; `beside`, in pixels at scale 1, is taken by something else."""
    scale = context.preferences.system.ui_scale
    width = context.region.width if context.region else 0.0
    return max(width, NARROWEST * scale) - (MARGINS + beside) * scale


def draw_wrapped(context: bpy.types.Context, layout: bpy.types.UILayout, text: str, icon: Icon) -> None:
    """Text over as many lines as the width of the sidebar wants, in a box or not; "NONE" is no icon."""
    room = content_width(context, PADDING + BOX + (0.0 if icon == "NONE" else ICON))
    column = layout.column(align=True)
    for i, line in enumerate(lines_of(text, room, lambda part: text_width(context, part))):
        column.label(text=line, icon=icon if i == 0 or icon == "NONE" else "BLANK1", translate=False)


def row_after(
    context: bpy.types.Context, layout: bpy.types.UILayout, text: str, beside: float, icon: Icon
) -> bpy.types.UILayout:
    """The row behind a text, or under it, where the text has no room on one line with what is to stand there.

    Args:
        context: Blender's.
        layout: Where to draw.
        text: The text, translated.
        beside: How wide what is to stand there is, in pixels at scale 1.
        icon: The icon before the text; "NONE" for none.
    """
    room = content_width(context, beside + PADDING + BOX + (0.0 if icon == "NONE" else ICON))
    if text_width(context, text) > room:
        draw_wrapped(context, layout, text, icon)
        row = layout.row(align=True)
        row.alignment = "RIGHT"
        return row
    row = layout.row(align=True)
    row.label(text=text, icon=icon, translate=False)
    return row


def is_room_beside(context: bpy.types.Context, names: Sequence[str], share: float = NAMES, beside: float = 0.0) -> bool:
    """Whether names have room before their values, of which they get a share of the width."""
    room = share * content_width(context, beside) - NAME * context.preferences.system.ui_scale
    return all(text_width(context, name) <= room for name in names)


def row_for(context: bpy.types.Context, layout: bpy.types.UILayout, labels: Sequence[str]) -> bpy.types.UILayout:
    """A row for buttons with icons and words; a column where the sidebar is so narrow that the words would be cut."""
    room = content_width(context) / len(labels) - (PADDING + ICON) * context.preferences.system.ui_scale
    fits = all(text_width(context, label) <= room for label in labels)
    return layout.row(align=True) if fits else layout.column(align=True)


def operator_labels(*names: str) -> list[str]:
    """What stands on the buttons of operators of ours."""
    operators: Any = bpy.ops
    return [label_(getattr(operators.fabrik, name).get_rna_type().name) for name in names]


def draw_settings(
    context: bpy.types.Context,
    layout: bpy.types.UILayout,
    thing: bpy.types.bpy_struct,
    names: Sequence[str],
    *,
    texts: Mapping[str, str] | None = None,
    keys: bool = False,
) -> None:
    """Settings below one another: their names stand before the values, or above them where there is no room.

    Args:
        context: Blender's.
        layout: Where to draw.
        thing: What has the settings.
        names: The properties, no switches and no vectors.
        texts: What stands in place of their names, translated.
        keys: Whether the mark of keys stands beside them.
    """
    properties: Any = thing.bl_rna.properties
    told = {name: (texts or {}).get(name) or name_(properties[name]) for name in names}
    values = any(properties[name].type in WORDS for name in names)
    beside = (KEYS if keys else 0.0) + (VALUES if values else 0.0)
    column = layout.column(align=True)
    column.use_property_split = is_room_beside(context, list(told.values()), beside=beside)
    column.use_property_decorate = keys
    for name, text in told.items():
        if column.use_property_split:
            column.prop(thing, name, text=text, translate=False)
            continue
        column.label(text=text, translate=False)
        row = column.row(align=True)
        row.prop(thing, name, text="")
        if keys:
            row.prop_decorator(thing, name)


def radio(is_chosen: bool) -> Icon:
    """The icon of one of several that are chosen from, so that the chosen one is told by more than its colour."""
    return "RADIOBUT_ON" if is_chosen else "RADIOBUT_OFF"


def check(is_on: bool) -> Icon:
    """The icon of a button that is a switch; as `radio`."""
    return "CHECKBOX_HLT" if is_on else "CHECKBOX_DEHLT"
