# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a posed body: its skin, the goals in orange, the pins as green rings, on a floor."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector
from picture import TARGET, Drawing, evaluated_meshes

from dev.humans import HEIGHT

BODY, SEAT, PIN = (0.6, 0.66, 0.76, 1), (0.72, 0.62, 0.5, 1), (0.1, 0.72, 0.3, 1)


def draw_body(owner: Any) -> Drawing:
    """The scene of a body as Blender evaluates it now."""
    drawing = Drawing(floor=Vector((0.0, 0.0, 0.0)), extent=HEIGHT)
    drawing.skins += [(mesh, SEAT if name == "Seat" else BODY) for name, mesh in evaluated_meshes()]
    evaluated: Any = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for chain in owner.fabrik.chains:
        head = evaluated.matrix_world @ evaluated.pose.bones[chain.tip_bone].head
        if chain.pin:
            drawing.points.append((Vector(chain.held_location), PIN, "ring"))
        elif chain.kind == "AIM":
            _add_goal(drawing, head, chain.target.matrix_world.translation, "sphere")
        else:
            _add_goal(drawing, head, chain.target.matrix_world.translation, "frame")
    return drawing


def _add_goal(drawing: Drawing, end: Vector, place: Vector, shape: str) -> None:
    """A goal, and a line to it from what is to come to it."""
    drawing.points.append((place.copy(), TARGET, shape))
    drawing.lines.append((end.copy(), place.copy(), TARGET))
