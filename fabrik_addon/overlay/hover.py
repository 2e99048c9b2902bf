# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn for the hand: the bone that a click would take, or that is dragged."""

from __future__ import annotations

from typing import NamedTuple

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ..maths import V3, v3
from ..rig.bones import pose_bones
from .settings import state
from .shapes import Shapes, paint, theme_colours, write

RING = 0.1  # of an octahedral bone: how far from its head, and how wide, as a share of its length
TEXT_SIZE, TEXT_AWAY = 13.0, 14.0  # pixels at scale 1: of the name, and from the end beside which it stands


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


def show(found: Hovered | None) -> bool:
    """Show a bone from the next redraw on, or none any more; whether that is another one than before."""
    if found == state.shown:
        return False
    state.shown = found
    return True


def bone_shapes(matrix: Matrix, length: float, at_head: bool) -> Shapes:
    """A bone, by its matrix in the world, as an octahedron, its head or its tail marked."""
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
    place = seen.x + TEXT_AWAY * scale, seen.y + TEXT_AWAY * scale
    write(state.shown.text, place, TEXT_SIZE * scale, colours["text"])
