# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a posed body: its skin, the goals in orange, the pins as green rings, on a floor."""

from __future__ import annotations

import bpy
from body_scenes import HUMAN, Scene, ends
from mathutils import Vector
from picture import TARGET, Drawing, evaluated_meshes

from blender import rig_of
from dev.humans import HEIGHT, bone_of, both

BODY, SEAT, PIN = (0.6, 0.66, 0.76, 1), (0.72, 0.62, 0.5, 1), (0.1, 0.72, 0.3, 1)
EYES = 0.45  # of the bone of the head, at which they are


def draw_body(scene: Scene, owner: bpy.types.Object) -> Drawing:
    """A scene as Blender evaluates it now."""
    drawing = Drawing(floor=Vector((0.0, 0.0, 0.0)), extent=HEIGHT)
    drawing.skins += [(mesh, SEAT if name == "Seat" else BODY) for name, mesh in evaluated_meshes()]
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for chain in rig_of(owner).chains:
        if chain.tip_bone in both(HUMAN, "foot"):
            drawing.points.append((Vector(chain.held_location), PIN, "ring"))
    for end, place in ends(scene):
        _add_goal(drawing, evaluated.pose.bones[end.bone].head, Vector(place), "frame")
    if scene.look is not None:
        eyes = evaluated.pose.bones[bone_of(HUMAN, "head")]
        _add_goal(drawing, eyes.head + (eyes.tail - eyes.head) * EYES, Vector(scene.look), "sphere")
    return drawing


def _add_goal(drawing: Drawing, end: Vector, place: Vector, shape: str) -> None:
    """A goal, and a line to it from what is to come to it."""
    drawing.points.append((place, TARGET, shape))
    drawing.lines.append((end.copy(), place, TARGET))
