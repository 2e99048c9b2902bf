# SPDX-License-Identifier: GPL-3.0-or-later
"""Trails drawn in the view, with a dot for each frame, by which they are dragged."""

from __future__ import annotations

from math import dist

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

from ..actions.motion.marks import has_marks, marks_of
from ..actions.motion.trails import Trail, place_of
from ..maths import V3, distance
from ..motion.contacts import NONE
from ..rig.bones import pose_bones
from .pins import is_shown
from .settings import state
from .shapes import Shapes, paint

NEAR = 12.0  # pixels at scale 1 from the mouse to a dot
SAME = 1e-3  # of the length of a bone, by which a trail may be off where its bone stands now


def owner_of(trail: Trail) -> bpy.types.Object | None:
    """The armature object of a trail; None where it, or the bone, is gone."""
    owner = bpy.data.objects.get(trail.rig)
    return owner if owner is not None and owner.pose is not None and trail.taken.bone in pose_bones(owner) else None


def is_true(context: bpy.types.Context, trail: Trail) -> bool:
    """Whether the bone of a trail stands where the trail has it at this frame."""
    owner, scene = owner_of(trail), context.scene
    place = trail.at(scene.frame_current) if scene is not None and not scene.frame_subframe else None
    if owner is None or place is None:
        return owner is not None
    stands = place_of(owner, trail.taken, context.evaluated_depsgraph_get())
    size = pose_bones(owner)[trail.taken.bone].bone.length * owner.matrix_world.median_scale
    return distance(place, stands) <= SAME * float(size)


def shapes_of(trail: Trail, frame: int, marked: set[int]) -> Shapes:
    """A trail, its dots, and those of this frame and of contacts."""
    shapes = Shapes()
    shapes.line("step", trail.places)
    shapes.dots("after", [place for at, place in zip(trail.frames, trail.places, strict=True) if at not in marked])
    shapes.dots("pin", [place for at, place in zip(trail.frames, trail.places, strict=True) if at in marked])
    here = trail.at(frame)
    shapes.dots("target", [here] if here is not None else [])
    return shapes


def draw(context: bpy.types.Context) -> None:
    """Draw all trails; one that is old is dashed, and has no dots."""
    scene = context.scene
    if not state.trails or scene is None:
        return
    old = Shapes()
    for trail in state.trails.values():
        owner = owner_of(trail)
        if owner is None or owner.name not in scene.objects or not is_shown(context, owner):
            continue
        if is_true(context, trail):
            paint(context, shapes_of(trail, scene.frame_current, _marked(trail)))
        else:
            for a, b in zip(trail.places, trail.places[1:], strict=False):
                old.dashes("before", a, b)
    paint(context, old)


def _marked(trail: Trail) -> set[int]:
    """The frames in which the foot of a trail is marked to be on the ground."""
    owner = owner_of(trail)
    assert owner is not None, "it was asked for"
    bone = pose_bones(owner)[trail.taken.bone]
    if not has_marks(owner, bone):
        return set()
    kinds = marks_of(owner, bone, np.array(trail.frames, dtype=np.float64))
    return {trail.first + k for k in np.flatnonzero(kinds != NONE).tolist()}


def at(context: bpy.types.Context, mouse: Vector, scale: float) -> tuple[Trail, int] | None:
    """The trail and the frame of the dot that is nearest to the mouse in a region; None where none is near."""
    found, least = None, NEAR * scale
    for trail in state.trails.values():
        if not is_true(context, trail):
            continue
        for frame, place in zip(trail.frames, trail.places, strict=True):
            seen = _seen(context, place)
            if seen is not None and dist(seen, mouse) < least:
                found, least = (trail, frame), dist(seen, mouse)
    return found


def _seen(context: bpy.types.Context, place: V3) -> Vector | None:
    if context.region is None or context.region_data is None:
        return None
    seen: Vector | None = location_3d_to_region_2d(context.region, context.region_data, Vector(place))
    return seen
