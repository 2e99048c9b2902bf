# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels share: width and wrapping of texts, which no panel cuts, rows of settings, icons of statuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ..actions.chain_edit import working_chain, working_rig
from ..overlay.shapes import lines_of, text_width
from ..rig.versions import newer_refusal
from ..translations import CONTEXT, iface_, label_, name_

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
INDENT = 20.0  # of the title of a panel below another
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


class Sidebar:
    """A layout in the sidebar, and what is drawn into it: no text is cut, however narrow the sidebar is.

    Attributes:
        context: Blender's.
        layout: Where to draw.
    """

    def __init__(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        self.context, self.layout = context, layout
        self._scale = context.preferences.system.ui_scale

    def box(self) -> Sidebar:
        """A column in a box."""
        return Sidebar(self.context, self.layout.box().column(align=True))

    @property
    def is_wide(self) -> bool:
        """Whether two buttons with words, or a field and its name, have room beside each other."""
        width = self.context.region.width if self.context.region else SIDE_BY_SIDE
        return width >= SIDE_BY_SIDE * self._scale

    def row_or_column(self, layout: bpy.types.UILayout | None = None) -> bpy.types.UILayout:
        """A row for buttons with words; a column where the sidebar is so narrow that the words would be cut."""
        layout = layout or self.layout
        return layout.row(align=True) if self.is_wide else layout.column(align=True)

    def row_for(self, labels: Sequence[str]) -> bpy.types.UILayout:
        """A row for buttons with icons and words; a column where the words would be cut."""
        room = self.width() / len(labels) - (PADDING + ICON) * self._scale
        fits = all(self.text_width(label) <= room for label in labels)
        return self.layout.row(align=True) if fits else self.layout.column(align=True)

    def width(self, beside: float = 0.0) -> float:
        """How wide a panel is inside, in pixels; `beside`, in pixels at scale 1, is taken by something else."""
        width = self.context.region.width if self.context.region else 0.0
        return max(width, NARROWEST * self._scale) - (MARGINS + beside) * self._scale

    def text_width(self, text: str) -> float:
        """How wide a text is, in pixels."""
        return text_width(self.context, text)

    def _room(self, icon: Icon, beside: float = 0.0) -> float:
        """For a text in a box or not, behind an icon; "NONE" is none."""
        return self.width(beside + PADDING + BOX + (0.0 if icon == "NONE" else ICON))

    def has_room(self, names: Sequence[str], share: float = NAMES, beside: float = 0.0) -> bool:
        """Whether names have room before their values, of which they get a share of the width."""
        room = share * self.width(beside) - NAME * self._scale
        return all(self.text_width(name) <= room for name in names)

    def wrapped(self, text: str, icon: Icon) -> None:
        """Text over as many lines as the width of the sidebar wants."""
        column = self.layout.column(align=True)
        for i, line in enumerate(lines_of(text, self._room(icon), self.text_width)):
            column.label(text=line, icon=icon if i == 0 or icon == "NONE" else "BLANK1", translate=False)

    def row_after(self, text: str, beside: float, icon: Icon) -> bpy.types.UILayout:
        """The row behind a text, or under it, where the text has no room on one line with what is to stand there.

        Args:
            text: The text, translated.
            beside: How wide what is to stand there is, in pixels at scale 1.
            icon: The icon before the text; "NONE" for none.
        """
        if self.text_width(text) > self._room(icon, beside):
            self.wrapped(text, icon)
            row = self.layout.row(align=True)
            row.alignment = "RIGHT"
            return row
        row = self.layout.row(align=True)
        row.label(text=text, icon=icon, translate=False)
        return row

    def settings(
        self,
        thing: bpy.types.bpy_struct,
        names: Sequence[str],
        *,
        texts: Mapping[str, str] | None = None,
        keys: bool = False,
    ) -> None:
        """Settings below one another: their names stand before the values, or above them where there is no room.

        Args:
            thing: What has the settings.
            names: The properties, no switches and no vectors.
            texts: What stands in place of their names, translated.
            keys: Whether the mark of keys stands beside them.
        """
        properties: Any = thing.bl_rna.properties
        told = {name: (texts or {}).get(name) or name_(properties[name]) for name in names}
        values = any(properties[name].type in WORDS for name in names)
        beside = (KEYS if keys else 0.0) + (VALUES if values else 0.0)
        column = self.layout.column(align=True)
        column.use_property_split = self.has_room(list(told.values()), beside=beside)
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

    def choices(self, thing: bpy.types.bpy_struct, name: str, items: Sequence[tuple[Any, ...]]) -> None:
        """The buttons of a setting that is one of several."""
        row = self.row_for([iface_(label) for _, label, *_ in items])
        for value, *_ in items:
            row.prop_enum(thing, name, value, icon=radio(getattr(thing, name) == value))


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
        sidebar = Sidebar(context, self.layout)
        if sidebar.text_width(label_(self.bl_label)) > sidebar.width(HEADER + INDENT * hasattr(self, "bl_parent_id")):
            return  # the button would stand on the title; F1 leads to the page, too
        button = self.layout.operator("fabrik.manual", text="", icon="QUESTION", emboss=False)
        button.page, button.heading = self.told_at


class RiggingPanel(FabrikPanel):
    """A panel of settings below that of rigging."""

    bl_parent_id = "FABRIK_PT_rigging"
    bl_options = {"DEFAULT_CLOSED"}


def radio(is_chosen: bool) -> Icon:
    """The icon of one of several that are chosen from, so that the chosen one is told by more than its colour."""
    return "RADIOBUT_ON" if is_chosen else "RADIOBUT_OFF"


def check(is_on: bool) -> Icon:
    """The icon of a button that is a switch; as `radio`."""
    return "CHECKBOX_HLT" if is_on else "CHECKBOX_DEHLT"
