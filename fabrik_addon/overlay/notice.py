# SPDX-License-Identifier: GPL-3.0-or-later
"""A line at the foot of the 3D View where live posing put back what was done by hand: the sidebar may be closed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

import blf
import bpy

from ..session import live
from ..texts import Text
from ..translations import iface_
from .guarded import guarded

log = logging.getLogger(__name__)

SIZE, ABOVE = 12.0, 60.0  # pixels at scale 1: of the letters; from the lower edge, over the last operation's panel
LETTER, LINE = 0.6, 1.5  # width of a letter and distance of lines, of that size
MODES = {"OBJECT", "POSE"}
WAY_OUT = Text("(FABRIK tab: Make It the Start Pose)")


@dataclass(slots=True)
class NoticeState:
    """What is kept between two redraws.

    Attributes:
        is_off: Whether drawing failed, so that it is not tried again in this session.
        handles: Blender's draw handlers.
    """

    is_off: bool = False
    handles: list[Any] = field(default_factory=list)


state = NoticeState()


def notices() -> list[str]:
    """What there is to say, a text each."""
    hands = [hand for hand in live.state.hands.values() if hand.reason]
    return [f"{iface_(live.hand_text(hand, False))}\n{iface_(WAY_OUT)}" for hand in hands]


def _free_width(context: bpy.types.Context) -> tuple[float, float]:
    """Left and right end of what toolbar and sidebar leave free of the view, in pixels."""
    assert context.area is not None
    assert context.preferences is not None
    widths = {region.type: region.width if region.width > 1 else 0 for region in context.area.regions}
    whole = widths.get("WINDOW", 0)
    is_over: bool = context.preferences.system.use_region_overlap
    left, right = (widths.get("TOOLS", 0), widths.get("UI", 0)) if is_over else (0, 0)
    return left, whole - right


def _draw(context: bpy.types.Context) -> None:
    space: Any = context.space_data
    if state.is_off or not live.state.hands or context.mode not in MODES or not space.overlay.show_overlays:
        return
    preferences = context.preferences
    assert preferences is not None
    scale = preferences.system.ui_scale
    theme: Any = preferences.themes[0].view_3d
    blf.size(0, SIZE * scale)
    red, green, blue = theme.space.text_hi
    blf.color(0, red, green, blue, 1.0)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    left, right = _free_width(context)
    letters = max(20, int((right - left) / (LETTER * SIZE * scale)))
    lines = [line for text in notices() for part in text.splitlines() for line in wrap(part, letters)]
    size: Any = blf.dimensions  # the stubs of 4.2 say that it returns nothing
    for i, line in enumerate(reversed(lines)):
        width = size(0, line)[0]
        blf.position(0, max(0.5 * (left + right - width), left), (ABOVE + LINE * SIZE * i) * scale, 0.0)
        blf.draw(0, line)
    blf.disable(0, blf.SHADOW)


def _switch_off(context: bpy.types.Context) -> None:
    state.is_off = True


def register() -> None:
    """Draw in every 3D View from now on."""
    state.is_off = False
    add: Any = bpy.types.SpaceView3D.draw_handler_add
    state.handles.append(add(guarded, (log, _draw, _switch_off), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Draw no more."""
    remove: Any = bpy.types.SpaceView3D.draw_handler_remove
    while state.handles:
        remove(state.handles.pop(), "WINDOW")
