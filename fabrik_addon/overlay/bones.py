# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn at bones: pins, trails with a dot for each frame, and the bone that a click takes or that is dragged.

Pins show where each holds its bone, of all armatures that are seen, whether the overlay is on or off.
A filled diamond holds a place of the world, an open one that of a target. Axes beside it show the rotation that is
held, and a line leads to it from where the bone could not follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from math import dist
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ..actions.drag import Grip
from ..actions.motion.marks import has_marks, marks_of
from ..actions.motion.through_time import Trail, end_of
from ..errors import FabrikError
from ..maths import Q4, V3, Z_AXIS, distance, plus, scaled, v3
from ..motion.contacts import NONE
from ..rig.bones import pose_bones, resolve_bones
from ..rig.goals import is_offset, read_points
from ..rig.schema import FabrikChain, rig_of
from ..rig.schema.chain import MISSED
from ..rig.versions import newer_refusal
from .settings import scene_settings, state
from .shapes import AXES, Drawing, Shapes, draw_axes, paint, theme_colours, write

SIZE = 0.06  # of a diamond, from its middle to its corners, as a share of the chain's length
NEARLY = 2.0  # times the tolerance that still counts as held
NEAR = 12.0  # pixels at scale 1 from the mouse to a dot
SAME = 1e-3  # of the length of a bone, by which a trail may be off where its bone stands now
RING = 0.1  # of an octahedral bone: how far from its head, and how wide, as a share of its length
TEXT_SIZE, TEXT_AWAY = 13.0, 14.0  # pixels at scale 1: of the name, and from the end beside which it stands


class Pin(NamedTuple):
    """A pin as it is shown; points in world space.

    Attributes:
        place: Where it holds.
        effector: Where the bone's end stands.
        length: Of the chain, in the world.
        turn: The rotation that it holds, or None.
        has_target: Whether a target says where, else a place of the world.
        is_held: Whether the end stands there.
    """

    place: V3
    effector: V3
    length: float
    turn: Q4 | None
    has_target: bool
    is_held: bool


def pin_shapes(pins: Iterable[Pin]) -> Shapes:
    """The primitives of pins."""
    shapes = Shapes()
    for pin in pins:
        _diamond(shapes, pin)
        if pin.turn is not None:
            draw_axes(shapes, pin.place, pin.turn, AXES * pin.length)
        if not pin.is_held:
            shapes.line("blocked", (pin.effector, pin.place))
    return shapes


def _diamond(shapes: Shapes, pin: Pin) -> None:
    size = SIZE * pin.length
    top, low = (plus(pin.place, scaled(Z_AXIS, side * size)) for side in (1.0, -1.0))
    around = [(size, 0.0, 0.0), (0.0, size, 0.0), (-size, 0.0, 0.0), (0.0, -size, 0.0), (size, 0.0, 0.0)]
    ring = [plus(pin.place, corner) for corner in around]
    colour = "pin" if pin.is_held else "blocked"
    shapes.line(colour, ring)
    for corner in ring[:-1]:
        shapes.line(colour, (top, corner, low))
    if not pin.has_target:
        shapes.fan(f"{colour}_face", top, ring)
        shapes.fan(f"{colour}_face", low, ring)


def pins_of(owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> list[Pin]:
    """The pins of an armature; what can't be read is left out, for its status says why."""
    found = []
    for chain in rig_of(owner).chains:
        if not (chain.pin and chain.enabled and chain.weight > 0.0):
            continue
        try:
            found.append(_pin(owner, chain, depsgraph))
        except FabrikError:
            continue
    return found


def _pin(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Pin:
    evaluated = owner.evaluated_get(depsgraph)
    bones = [pose_bones(evaluated)[bone.name] for bone in resolve_bones(owner, chain)]
    joints = [v3(evaluated.matrix_world @ point) for point in [*(bone.head for bone in bones), bones[-1].tail]]
    effector, length = joints[-2 if chain.at_head else -1], sum(distance(a, b) for a, b in pairwise(joints))
    if is_offset(chain):  # it holds the tip where the motion has it, which no target shows
        return Pin(effector, effector, length, None, has_target=True, is_held=chain.status not in MISSED)
    points = read_points(chain, depsgraph)
    place = v3(points.target)
    is_held = distance(place, effector) <= NEARLY * chain.tolerance * length
    return Pin(place, effector, length, points.turn, chain.target is not None, is_held)


drawing = Drawing()


def draw_pins(context: bpy.types.Context) -> None:
    """Draw the pins of all armatures that a view shows."""
    scene, layer = context.scene, context.view_layer
    if not scene_settings(scene).show_pins:
        return
    owners = [owner for owner in layer.objects if owner.type == "ARMATURE"]
    owners = [one for one in owners if any(chain.pin for chain in rig_of(one).chains) and is_shown(context, one)]

    def shapes() -> Shapes:
        depsgraph = context.evaluated_depsgraph_get() if owners else None
        return pin_shapes(pin for owner in owners for pin in pins_of(owner, depsgraph))

    drawing.draw(context, (state.revision, scene.name_full, tuple(owner.name_full for owner in owners)), shapes)


def is_shown(context: bpy.types.Context, owner: bpy.types.Object) -> bool:
    """Whether the view shows overlays, and an armature in a mode in which it is posed."""
    space: Any = context.space_data
    if owner.mode == "EDIT" or newer_refusal(owner):
        return False
    if space is None:
        return owner.visible_get()
    return bool(space.overlay.show_overlays and owner.visible_in_viewport_get(space))


def owner_of(trail: Trail) -> bpy.types.Object | None:
    """The armature object of a trail; None where it, or the bone, is gone."""
    owner: bpy.types.Object | None = bpy.data.objects.get(trail.rig)
    is_there = owner is not None and owner.session_uid == trail.uid and owner.pose is not None
    return owner if is_there and trail.taken.bone in pose_bones(owner) else None


def is_true(context: bpy.types.Context, trail: Trail) -> bool:
    """Whether the bone of a trail stands where the trail has it at this frame."""
    owner, scene = owner_of(trail), context.scene
    place = trail.at(scene.frame_current) if not scene.frame_subframe else None
    if owner is None or place is None:
        return owner is not None
    stands = end_of(owner, trail.taken, context.evaluated_depsgraph_get())
    size = pose_bones(owner)[trail.taken.bone].bone.length * owner.matrix_world.median_scale
    return distance(place, stands) <= SAME * float(size)


def trail_shapes(trail: Trail, frame: int, marked: set[int]) -> Shapes:
    """A trail, its dots, and those of this frame and of contacts."""
    shapes = Shapes()
    shapes.line("step", trail.places)
    shapes.dots("after", [place for at, place in zip(trail.frames, trail.places, strict=True) if at not in marked])
    shapes.dots("pin", [place for at, place in zip(trail.frames, trail.places, strict=True) if at in marked])
    here = trail.at(frame)
    shapes.dots("target", [here] if here is not None else [])
    return shapes


def draw_trails(context: bpy.types.Context) -> None:
    """Draw all trails; one that is old is dashed, and has no dots."""
    old = Shapes()
    for trail in _shown_trails(context):
        if is_true(context, trail):
            paint(context, trail_shapes(trail, context.scene.frame_current, _marked(trail)))
        else:
            for a, b in zip(trail.places, trail.places[1:], strict=False):
                old.dashes("before", a, b)
    if old.lines:
        paint(context, old)


def _shown_trails(context: bpy.types.Context) -> list[Trail]:
    """The trails of armatures that the view shows."""
    owners = [(trail, owner_of(trail)) for trail in state.trails.values()]
    objects = context.scene.objects
    return [trail for trail, owner in owners if owner and owner.name in objects and is_shown(context, owner)]


def _marked(trail: Trail) -> set[int]:
    """The frames in which the foot of a trail is marked to be on the ground."""
    owner = owner_of(trail)
    bone = pose_bones(owner)[trail.taken.bone]
    if not has_marks(owner, bone):
        return set()
    kinds = marks_of(owner, bone, np.array(trail.frames, dtype=np.float64))
    return {trail.first + k for k in np.flatnonzero(kinds != NONE).tolist()}


def trail_at(
    context: bpy.types.Context, seen_at: Callable[[Vector], Vector | None], mouse: Vector, scale: float
) -> tuple[Trail, int] | None:
    """The trail and the frame of the dot that is nearest to the mouse in a region; None where none is near."""
    found, least = None, NEAR * scale
    for trail in (one for one in _shown_trails(context) if is_true(context, one)):
        for frame, place in zip(trail.frames, trail.places, strict=True):
            seen = seen_at(Vector(place))
            if seen is not None and dist(seen, mouse) < least:
                found, least = (trail, frame), dist(seen, mouse)
    return found


def _seen(context: bpy.types.Context, place: V3 | Vector) -> Vector | None:
    if context.region is None or context.region_data is None:
        return None
    return location_3d_to_region_2d(context.region, context.region_data, Vector(place))


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


def _shown() -> tuple[bpy.types.Object, Grip] | None:
    """The armature object of the bone that is shown, and which end of it; None where there is none, or it is gone."""
    rig, taken, _ = state.shown or ("", Grip(""), "")
    owner: bpy.types.Object | None = bpy.data.objects.get(rig)
    return (owner, taken) if owner is not None and owner.pose is not None and taken.bone in owner.pose.bones else None


def draw_bone(context: bpy.types.Context) -> None:
    """Draw the bone in the world."""
    found = _shown()
    if found is not None:
        evaluated = found[0].evaluated_get(context.evaluated_depsgraph_get())
        bone = pose_bones(evaluated)[found[1].bone]
        paint(context, bone_shapes(evaluated.matrix_world @ bone.matrix, bone.bone.length, found[1].at_head))


def draw_name(context: bpy.types.Context) -> None:
    """Write the bone's name beside it."""
    found = _shown()
    seen = _seen(context, end_of(*found, context.evaluated_depsgraph_get())) if found is not None else None
    if seen is None or state.shown is None:
        return
    scale, colours = context.preferences.system.ui_scale, theme_colours(context.preferences)
    place = seen.x + TEXT_AWAY * scale, seen.y + TEXT_AWAY * scale
    write(state.shown[2], place, TEXT_SIZE * scale, colours["text"])
