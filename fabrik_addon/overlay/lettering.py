# SPDX-License-Identifier: GPL-3.0-or-later
"""How wide texts are in Blender's interface, and where they are broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import blf
import bpy

Measure = Callable[[str], float]


def text_width(context: bpy.types.Context, text: str) -> float:
    """How wide a text is in a panel, a header or the status bar, in pixels."""
    preferences: Any = context.preferences
    blf.size(0, preferences.ui_styles[0].widget.points * preferences.system.ui_scale)
    size: Any = blf.dimensions  # the stubs of 4.2 say that it returns nothing
    return float(size(0, text)[0])


def lines_of(text: str, room: float, measure: Measure) -> list[str]:
    """Break a text between words, or inside of those that are too long; one line at least.

    Args:
        text: The text.
        room: Width of a line.
        measure: Tells the width of a text.
    """
    lines: list[str] = []
    for word in text.split():
        rest = word
        if lines and measure(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
            continue
        while measure(rest) > room and len(rest) > 1:
            count = max((n for n in range(1, len(rest)) if measure(rest[:n]) <= room), default=1)
            lines.append(rest[:count])
            rest = rest[count:]
        lines.append(rest)
    return lines or [""]
