# SPDX-License-Identifier: GPL-3.0-or-later
"""How wide texts are in Blender's interface."""

from __future__ import annotations

from typing import Any

import blf
import bpy


def text_width(context: bpy.types.Context, text: str) -> float:
    """How wide a text is in a panel, a header or the status bar, in pixels."""
    preferences: Any = context.preferences
    blf.size(0, preferences.ui_styles[0].widget.points * preferences.system.ui_scale)
    size: Any = blf.dimensions  # the stubs of 4.2 say that it returns nothing
    return float(size(0, text)[0])
