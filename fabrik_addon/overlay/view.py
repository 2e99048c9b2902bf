# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: the one owner of its draw handlers, and of what was drawn last in the 3D View.

Of a planned walk that is the path of the body, footprints, the steps of the next second, refused footholds, and the
support.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from math import atan2
from typing import Any

import bpy

from ..actions.chain_edit import working_rig
from ..actions.walk.bake import footprints_of, outline
from ..errors import FabrikError
from ..gait.plan import WalkPlan, feet_at, steps_between
from ..maths import minus, plus, scaled, v3
from ..rig.schema import rig_of
from ..rig.walk_goals import plan_of
from . import hover, pins, sheet, steps, trails
from .collect import pictures_of
from .settings import parts_of, scene_settings, state
from .shapes import Drawing, Shapes, guarded, shapes_of

log = logging.getLogger(__name__)

EVERY = 6  # samples of the body's path between two points that are drawn
AHEAD = 1.0  # seconds of which the steps are drawn
ABOUT = 3.0  # seconds before and after of which footprints are
ARC = 8  # pieces in which the way of a foot through the air is drawn
CROSS = 0.03  # of a leg's reach: half the size of a refused foothold's mark


drawing = Drawing()


def touch() -> None:
    """Have all that is drawn made anew at the next redraw, since it may have changed."""
    state.revision += 1


def draw(context: bpy.types.Context) -> None:
    """Draw the overlay of the view's scene, where it is on."""
    scene, owner = context.scene, working_rig(context)
    if scene is None or owner is None or owner.type != "ARMATURE":
        return
    settings, rig, frame = scene_settings(scene), rig_of(owner), scene.frame_current_final
    if not settings.show or not pins.is_shown(context, owner):
        return
    parts = parts_of(settings)

    def shapes() -> Shapes:
        chains = list(rig.chains) if settings.all_chains else [rig.active] if rig.active else []
        depsgraph = context.evaluated_depsgraph_get()
        found = shapes_of(pictures_of(owner, chains, depsgraph, "limited_reach" in parts), parts)
        if settings.show_walk:
            draw_walk(found, owner, frame)
        return found

    shown = (rig.active_index, settings.all_chains, frozenset(parts), settings.show_walk)
    walk = walk_key(owner, frame) if settings.show_walk else None
    drawing.draw(context, (state.revision, scene.name_full, owner.name_full, *shown, walk), shapes)


def walk_key(owner: bpy.types.Object, frame: float) -> object:
    """What the picture of a walk depends on."""
    walker = rig_of(owner).walker
    return (walker.digest, frame) if walker.on and walker.digest else None


def draw_walk(shapes: Shapes, owner: bpy.types.Object, frame: float) -> None:
    """Add the primitives of an armature's walk at a frame; none where there is none, or where it can't be read."""
    walker = rig_of(owner).walker
    try:
        plan = plan_of(owner) if walker.on else None
    except FabrikError:  # the panel tells
        return
    if plan is None:
        return
    places = [place for place, _ in plan.body]
    shapes.line("before", [*places[::EVERY], places[-1]])
    for leg, landing, matrix, _ in footprints_of(plan, frame, ABOUT):
        sole = [v3(matrix @ place) for place in outline(leg)]
        shapes.line("before" if landing <= frame else "target", [*sole, sole[0]])
    _steps(shapes, plan, frame)
    _support(shapes, plan, frame)


def _steps(shapes: Shapes, plan: WalkPlan, frame: float) -> None:
    """The steps under way and those of the next second: their ways, their ends, and what was refused for them."""
    for step in steps_between(plan, frame, frame + AHEAD * plan.fps):
        leg = plan.legs[step.leg]
        lift, land = (plan.first + time * plan.fps for time in (step.lift, step.land))
        way = [feet_at(plan, lift + (land - lift) * k / ARC)[step.leg].sole for k in range(ARC + 1)]
        shapes.line("target", way)
        shapes.dots("target", [way[-1]])
        arm = CROSS * leg.reach
        for place, _ in step.refused:
            for axis in ((arm, arm, 0.0), (arm, -arm, 0.0)):  # a cross that lies flat
                shapes.line("blocked", (minus(place, axis), plus(place, axis)))


def _support(shapes: Shapes, plan: WalkPlan, frame: float) -> None:
    """The polygon of the standing feet, in the order round their middle as seen from above."""
    feet = [foot.base for foot in feet_at(plan, frame) if foot.is_planted and not foot.is_hanging]
    if len(feet) < 2:
        return
    middle = scaled((sum(p[0] for p in feet), sum(p[1] for p in feet), sum(p[2] for p in feet)), 1.0 / len(feet))
    feet.sort(key=lambda place: atan2(place[1] - middle[1], place[0] - middle[0]))
    shapes.line("pin", [*feet, feet[0]])


def _draw_all(works: Sequence[Callable[[bpy.types.Context], None]], off: Callable[[bpy.types.Context], None]) -> None:
    for work in works:
        guarded(log, work, off)


def _switch_off(context: bpy.types.Context) -> None:
    state.recording = state.shown = None
    state.trails.clear()
    if context.scene is not None:
        settings = scene_settings(context.scene)
        settings.show = settings.show_pins = False


def _switch_sheet_off(context: bpy.types.Context) -> None:
    if context.scene is not None:
        settings = scene_settings(context.scene)
        settings.show_strip = settings.show_contacts = False


def register() -> None:
    """Draw in every 3D View, timeline and dope sheet from now on."""
    view, dope_sheet = bpy.types.SpaceView3D, bpy.types.SpaceDopeSheetEditor
    world = draw, pins.draw, trails.draw, steps.draw_view, hover.draw_view
    for space, works, off, when in (
        (view, world, _switch_off, "POST_VIEW"),
        (view, (steps.draw_pixels, hover.draw_pixels), _switch_off, "POST_PIXEL"),
        (dope_sheet, (sheet.draw,), _switch_sheet_off, "POST_PIXEL"),
    ):
        add: Any = space.draw_handler_add
        state.handles.append((space, add(_draw_all, (works, off), "WINDOW", when)))


def unregister() -> None:
    """Draw no more, and keep nothing."""
    while state.handles:
        space, handle = state.handles.pop()
        remove: Any = space.draw_handler_remove
        remove(handle, "WINDOW")
    drawing.forget()
    pins.drawing.forget()
    state.recording = state.shown = None
    state.trails.clear()
