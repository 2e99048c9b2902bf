# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers that fail once: Blender would say so at every redraw, in the console alone."""

from __future__ import annotations

import logging
from collections.abc import Callable

import bpy

Draw = Callable[[bpy.types.Context], None]


def guarded(log: logging.Logger, draw: Draw, switch_off: Draw) -> None:
    """Draw; where that fails, log why and switch off what was drawn.

    Args:
        log: Of what is drawn.
        draw: Draws it.
        switch_off: Is called where that failed, so that it is not tried again.
    """
    try:
        draw(bpy.context)
    except Exception:
        log.exception("drawing failed and is switched off")
        switch_off(bpy.context)
