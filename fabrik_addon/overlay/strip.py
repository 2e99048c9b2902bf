# SPDX-License-Identifier: GPL-3.0-or-later
"""The residuals of the last bake as a coloured strip along the timeline and the dope sheet."""

from __future__ import annotations

import logging
from typing import Any

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ..rig.find import working_rig
from ..session.bake import read_report
from ..session.bake.result import LEVELS
from .colours import Colour, theme_colours
from .guarded import guarded
from .settings import scene_settings

log = logging.getLogger(__name__)

BELOW, HEIGHT = 23.0, 6.0  # pixels at scale 1: of the scrubbing region above the strip, of the strip
LEAST = 2.0  # pixels by which a run is seen

Run = tuple[float, float, int]  # first and last frame, level
Rectangle = tuple[float, float, int]  # left and right in pixels, level


handles: list[Any] = []


def runs_of_report(owner: bpy.types.Object) -> list[Run]:
    """The runs of frames of an armature's last report."""
    report = read_report(owner)
    return [(first, last, level) for first, last, level in report["strip"]] if report else []


def rectangles(runs: list[Run], origin: float, per_frame: float, width: float) -> list[Rectangle]:
    """The parts of runs that are in view.

    Args:
        runs: Frames and levels.
        origin: Where frame 0 is, in pixels.
        per_frame: Pixels of a frame.
        width: Of the region.
    """
    found = []
    for first, last, level in runs:
        left, right = origin + (first - 0.5) * per_frame, origin + (last + 0.5) * per_frame
        right = max(right, left + LEAST)
        if right > 0.0 and left < width:
            found.append((max(left, 0.0), min(right, width), level))
    return sorted(found, key=lambda rectangle: rectangle[2])  # the worst is drawn over the others


def level_colour(level: int, best: Colour, worst: Colour) -> Colour:
    """The colour of a level, between those of the best and the worst."""
    share = level / LEVELS
    red, green, blue, alpha = (a + (b - a) * share for a, b in zip(best, worst, strict=True))
    return red, green, blue, alpha


def _draw(context: bpy.types.Context) -> None:
    if context.scene is None or not scene_settings(context.scene).show_strip:
        return
    owner = working_rig(context)
    if owner is None or owner.type != "ARMATURE":
        return
    runs = runs_of_report(owner)
    if runs:
        _paint(context, runs)


def _paint(context: bpy.types.Context, runs: list[Run]) -> None:
    region: Any = context.region
    preferences = context.preferences
    assert preferences is not None
    origin = region.view2d.view_to_region(0.0, 0.0, clip=False)[0]
    per_frame = (region.view2d.view_to_region(1000.0, 0.0, clip=False)[0] - origin) / 1000.0
    scale = preferences.system.ui_scale
    top = max(region.height - BELOW * scale, HEIGHT * scale)  # a timeline may be no higher than its numbers
    colours = theme_colours(preferences)
    points: list[tuple[float, float]] = []
    tints: list[Colour] = []
    for left, right, level in rectangles(runs, origin, per_frame, region.width):
        low, high = (left, top - HEIGHT * scale), (right, top)
        points += [low, (right, low[1]), high, low, high, (left, top)]
        tints += [level_colour(level, colours["target"], colours["blocked"])] * 6
    if not points:
        return
    builtin: Any = gpu.shader.from_builtin
    make: Any = batch_for_shader
    shader = builtin("FLAT_COLOR")
    make(shader, "TRIS", {"pos": points, "color": tints}).draw(shader)


def _switch_off(context: bpy.types.Context) -> None:
    if context.scene is not None:
        scene_settings(context.scene).show_strip = False


def register() -> None:
    """Draw in every timeline and dope sheet from now on."""
    add: Any = bpy.types.SpaceDopeSheetEditor.draw_handler_add
    handles.append(add(guarded, (log, _draw, _switch_off), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Draw no more."""
    remove: Any = bpy.types.SpaceDopeSheetEditor.draw_handler_remove
    while handles:
        remove(handles.pop(), "WINDOW")
