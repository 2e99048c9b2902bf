# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is to say of the goals of an armature as a whole."""

from __future__ import annotations

import bpy

from ..session.single_user import original_of
from ..translations import iface_
from .fitting import draw_wrapped


def draw_goal_notes(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """Tell of an armature that follows the goals of the one of which it is a duplicate, with the way out."""
    if context.view_layer is None:
        return
    original = original_of(owner, context.view_layer.objects)
    if original is None:
        return
    column = layout.box().column(align=True)
    draw_wrapped(context, column, iface_("Follows the goals of {name}", name=original.name), "INFO")
    column.operator("fabrik.goals_single_user", icon="DUPLICATE")
