# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that comes with the extension, opened in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..translations import CONTEXT, rpt_
from .manual_pages import MANUAL, file_of, folder, manual_map

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_manual(bpy.types.Operator):
    """Open the page of the manual that describes this, in the web browser; it comes with the extension"""

    bl_idname = "fabrik.manual"
    bl_label = "FABRIK Manual"
    bl_translation_context = CONTEXT
    bl_options = {"INTERNAL"}  # a redo would open it again

    if TYPE_CHECKING:
        page: str
        heading: str
    else:
        page: StringProperty(
            name="Page",
            description="File of the manual, without its ending; empty for the first",
            options={"SKIP_SAVE"},
        )
        heading: StringProperty(
            name="Heading",
            description="Heading on the page, in small letters with hyphens; empty for its top",
            options={"SKIP_SAVE"},
        )

    def execute(self, context: bpy.types.Context) -> Returned:
        file = file_of(self.page or "index", self.heading)
        if not (MANUAL / file).is_file():
            self.report({"ERROR"}, rpt_("the manual has no '{file}'", file=file))
            return {"CANCELLED"}
        bpy.ops.wm.url_open(url=folder() + file)
        return {"FINISHED"}


def register() -> None:
    """Let Blender's F1 and *Online Manual* open our pages for what is ours."""
    add: Any = bpy.utils.register_manual_map
    add(manual_map)


def unregister() -> None:
    """Let them no more."""
    remove: Any = bpy.utils.unregister_manual_map
    remove(manual_map)


CLASSES = (FABRIK_OT_manual,)
