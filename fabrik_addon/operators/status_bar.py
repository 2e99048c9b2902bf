# SPDX-License-Identifier: GPL-3.0-or-later
"""What the status bar says of keys while an operator goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import bpy

from ..overlay.shapes import text_width
from ..translations import iface_

BETWEEN = "   "
# Pixels at scale 1.
RIGHT = 75.0  # of the bar, in which Blender has its own


def tell_keys(context: bpy.types.Context, hints: Sequence[str]) -> None:
    """Write hints to the status bar, as many as it has room for; the manual has all.

    Args:
        context: Blender's, of the window.
        hints: What each key does, the most important one first.
    """
    assert context.preferences is not None
    room = context.window.width - RIGHT * context.preferences.system.ui_scale
    told = fitting([iface_(hint) for hint in hints], room, lambda text: text_width(context, text))
    context.workspace.status_text_set(BETWEEN.join(told))


def fitting(hints: Sequence[str], room: float, measure: Callable[[str], float]) -> list[str]:
    """The first hints that have room beside each other: none is cut.

    Args:
        hints: The hints.
        room: How wide they may be in all.
        measure: Tells the width of a text.
    """
    count = len(hints)
    while count > 1 and measure(BETWEEN.join(hints[:count])) > room:
        count -= 1
    return list(hints[:count])
