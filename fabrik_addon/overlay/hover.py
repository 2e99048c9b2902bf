# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn for the hand: the bone that a click would take, or that is dragged, and notices of live posing.

A notice is a line at the foot of the 3D View where live posing put back what was done by hand: the sidebar may be
closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any, NamedTuple

import blf
import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ..actions import live
from ..maths import V3, v3
from ..rig.bones import pose_bones
from ..texts import Text
from ..translations import iface_
from .shapes import Shapes, paint, theme_colours, write

RING = 0.1  # of an octahedral bone: how far from its head, and how wide, as a share of its length
TEXT_SIZE, TEXT_AWAY = 13.0, 14.0  # pixels at scale 1: of the name, and from the end beside which it stands
SIZE, ABOVE = 12.0, 60.0  # pixels at scale 1: of the letters; from the lower edge, over the last operation's panel
LETTER, LINE = 0.6, 1.5  # width of a letter and distance of lines, of that size
MODES = {"OBJECT", "POSE"}
WAY_OUT = Text("(FABRIK tab: Make It the Start Pose)")


class Hovered(NamedTuple):
    """A bone that is shown.

    Attributes:
        rig: Name of the armature object.
        bone: Name of the bone.
        end: "HEAD" or "TAIL": which of its ends is marked.
        text: What stands beside that.
    """

    rig: str
    bone: str
    end: str
    text: str


@dataclass(slots=True)
class HoverState:
    """What is shown now.

    Attributes:
        shown: The bone, or None for nothing.
        has_notices: Whether notices are drawn; not where that failed in this session.
    """

    shown: Hovered | None = None
    has_notices: bool = True


state = HoverState()


def show(found: Hovered | None) -> bool:
    """Show a bone from the next redraw on, or none any more; whether that is another one than before."""
    if found == state.shown:
        return False
    state.shown = found
    return True


def bone_shapes(matrix: Matrix, length: float, at_head: bool) -> Shapes:
    """A bone as an octahedron, one of its ends marked.

    Args:
        matrix: Of the bone, in the world.
        length: Of the bone, before that.
        at_head: Whether it is its head that is marked, else its tail.
    """
    shapes = Shapes()
    wide = RING * length
    ring: list[V3] = [v3(matrix @ Vector((x, wide, z))) for x, z in ((wide, 0), (0, wide), (-wide, 0), (0, -wide))]
    head, tail = v3(matrix.translation), v3(matrix @ Vector((0.0, length, 0.0)))
    shapes.line("hover", [*ring, ring[0]])
    for corner in ring:
        shapes.line("hover", (head, corner, tail))
    shapes.dots("hover_end", [head if at_head else tail])
    return shapes


def _evaluated(context: bpy.types.Context) -> tuple[Matrix, bpy.types.PoseBone] | None:
    """The bone that is shown as it stands, and its matrix in the world; None where there is none."""
    owner = bpy.data.objects.get(state.shown.rig) if state.shown is not None else None
    if state.shown is None or owner is None or owner.pose is None:
        return None
    evaluated = owner.evaluated_get(context.evaluated_depsgraph_get())
    bone = pose_bones(evaluated).get(state.shown.bone)
    return None if bone is None else (evaluated.matrix_world @ bone.matrix, bone)


def draw_view(context: bpy.types.Context) -> None:
    """Draw the bone in the world."""
    found = _evaluated(context)
    if found is None or state.shown is None:
        return
    matrix, bone = found
    paint(context, bone_shapes(matrix, bone.bone.length, state.shown.end == "HEAD"))


def draw_pixels(context: bpy.types.Context) -> None:
    """Write the bone's name beside it."""
    found = _evaluated(context)
    if found is None or state.shown is None or context.preferences is None:
        return
    if context.region is None or context.region_data is None:
        return
    matrix, bone = found
    point = matrix.translation if state.shown.end == "HEAD" else matrix @ Vector((0.0, bone.bone.length, 0.0))
    seen: Vector | None = location_3d_to_region_2d(context.region, context.region_data, point)
    if seen is None:
        return
    scale, colours = context.preferences.system.ui_scale, theme_colours(context.preferences)
    blf.size(0, TEXT_SIZE * scale)
    write(state.shown.text, (seen.x + TEXT_AWAY * scale, seen.y + TEXT_AWAY * scale), colours["text"])


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


def draw_notices(context: bpy.types.Context) -> None:
    """Write what there is to say at the foot of the view."""
    space: Any = context.space_data
    if not state.has_notices or not live.state.hands or context.mode not in MODES or not space.overlay.show_overlays:
        return
    preferences = context.preferences
    assert preferences is not None
    scale = preferences.system.ui_scale
    theme: Any = preferences.themes[0].view_3d
    blf.size(0, SIZE * scale)
    red, green, blue = theme.space.text_hi
    left, right = _free_width(context)
    letters = max(20, int((right - left) / (LETTER * SIZE * scale)))
    lines = [line for text in notices() for part in text.splitlines() for line in wrap(part, letters)]
    size: Any = blf.dimensions  # the stubs of 4.2 say that it returns nothing
    for i, line in enumerate(reversed(lines)):
        width = size(0, line)[0]
        place = max(0.5 * (left + right - width), left), (ABOVE + LINE * SIZE * i) * scale
        write(line, place, (red, green, blue, 1.0))
