# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins in the 3D View: where each holds its bone, of all armatures that are seen, whether the overlay is on or off.

A filled diamond holds a place of the world, an open one that of a target. Axes beside it show the rotation that is
held, and a line leads to it from where the bone could not follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import bpy

from ..errors import FabrikError
from ..maths import Q4, V3, Z_AXIS, distance, plus, scaled, v3
from ..rig.bones import pose_bones, resolve_bones
from ..rig.goals import is_offset, read_points
from ..rig.schema import FabrikChain, rig_of
from ..rig.schema.chain import MISSED
from ..rig.versions import newer_refusal
from .settings import scene_settings, state
from .shapes import AXES, Drawing, Shapes, draw_axes

SIZE = 0.06  # of a diamond, from its middle to its corners, as a share of the chain's length
NEARLY = 2.0  # times the tolerance that still counts as held


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


def draw(context: bpy.types.Context) -> None:
    """Draw the pins of all armatures that a view shows."""
    scene, layer = context.scene, context.view_layer
    if scene is None or layer is None or not scene_settings(scene).show_pins:
        return
    owners = [owner for owner in layer.objects if owner.type == "ARMATURE"]
    owners = [one for one in owners if any(chain.pin for chain in rig_of(one).chains) and is_shown(context, one)]

    def shapes() -> Shapes | None:
        depsgraph = context.evaluated_depsgraph_get() if owners else None
        pins = [pin for owner in owners for pin in pins_of(owner, depsgraph)] if depsgraph is not None else []
        return pin_shapes(pins) if pins else None

    drawing.draw(context, (state.revision, scene.name_full, tuple(owner.name_full for owner in owners)), shapes)


def is_shown(context: bpy.types.Context, owner: bpy.types.Object) -> bool:
    """Whether the view shows overlays, and an armature in a mode in which it is posed."""
    space: Any = context.space_data
    if owner.mode == "EDIT" or newer_refusal(owner):
        return False
    if space is None:
        return owner.visible_get()
    return bool(space.overlay.show_overlays and owner.visible_in_viewport_get(space))
