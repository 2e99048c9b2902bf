# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion in the window: a control moved through time by Blender's own key, a trail dragged, a contact's bar dragged."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import bpy
from mathutils import Vector

from blender import OPS, rig_of, select_bones

from .window import CONTEXT, MODULE, WAIT, Window, check, curves_of, holds, leg, make_leg, overridden

FRAME, WIDTH = 20, 8
STANDS = 5, 15  # frames of a contact


def _keys() -> set[float]:
    """The frames in which the control of the leg has keys."""
    name = rig_of(leg()).chains[0].target_bone
    own = [curve for curve in curves_of(leg()) if f'"{name}"' in curve.data_path]
    return {round(point.co[0], 3) for curve in own for point in curve.keyframe_points}


def _about(frame: int) -> set[float]:
    return {float(frame - WIDTH), float(frame), float(frame + WIDTH)}


def _spans() -> list[tuple[int, int]]:
    marks = import_module(f"{MODULE}.actions.motion.marks")
    return [(one.first, one.last) for one in marks.contacts_of(leg())]


def edited_through_time(window: Window) -> Iterator[float]:
    """A control is moved, its trail and the bar of a contact are dragged; each is undone in one step."""
    make_leg()
    with window.context():
        OPS.fabrik.chain_add(tip_bone="foot", bone_count=3)
        OPS.fabrik.target_add(kind="BONE")
    owner, scene = leg(), CONTEXT.scene
    rig_of(owner).live = True
    scene.frame_set(FRAME)
    settings: Any = scene
    settings.fabrik_through_time, settings.fabrik_time_width = True, WIDTH
    select_bones(owner, rig_of(owner).chains[0].target_bone)
    yield from window.push("through time")
    goal = owner.matrix_world @ owner.pose.bones[rig_of(owner).chains[0].target_bone].head
    yield from window.tool("G", window.seen(goal), (-40, 30))
    yield from holds("G through time keys the control about its frame", lambda: _keys() == _about(FRAME))
    yield from window.undo()
    check("and one step back there is no key", not _keys())
    yield from window.tool("G", window.seen(goal), (-40, 30))
    yield from _trail(window)
    yield from _bar(window)


def _trail(window: Window) -> Iterator[float]:
    """A dot of a trail is dragged in its own frame."""
    with window.context():
        OPS.fabrik.trails_show(span="RANGE", frame_start=10, frame_end=30)
    yield from window.picture("16_trail")
    (trail,) = import_module(f"{MODULE}.overlay.settings").state.trails.values()
    at, before = window.seen(Vector(trail.at(FRAME + 6))), _keys()
    yield from window.drag_from(at)
    yield from window.glide(at, (0, 30), 5)
    yield WAIT
    yield from window.press((at[0], at[1] + 30))
    check("a dot of a trail is dragged in its frame", CONTEXT.scene.frame_current == FRAME + 6)
    yield from holds("and keys what it is of about that", lambda: _keys() == before | _about(FRAME + 6))
    yield from window.undo()
    with window.context():
        OPS.fabrik.trails_hide()


def _bar(window: Window) -> Iterator[float]:
    """The bar of a contact is dragged in a dope sheet by its last end; the timeline is too low for it as it opens."""
    with window.context():
        OPS.fabrik.contact_mark(kind="FLAT", span="RANGE", frame_start=STANDS[0], frame_end=STANDS[1])
    yield from window.push("a contact")
    area = window.area
    area.type = "DOPESHEET_EDITOR"
    yield WAIT
    region = next(region for region in area.regions if region.type == "WINDOW")
    with overridden(window=window.window, area=area, region=region):
        bpy.ops.action.view_all()
    yield WAIT
    with overridden(window=window.window, area=area, region=region):
        scale = import_module(f"{MODULE}.overlay.sheet").Scale.of(CONTEXT)
    x, y = region.x + scale.at(STANDS[1] + 0.4), region.y + scale.low_of(0) + 4.0 * scale.size
    at, by = (int(x), int(y)), round(4.0 * scale.per_frame)
    yield from window.move(at)
    yield from window.events(("LEFTMOUSE", "PRESS"), at=at)
    yield from window.glide(at, (by, 0), 4)
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=(at[0] + by, at[1]))
    yield from holds("the bar of a contact is dragged by its end", lambda: _spans() == [(STANDS[0], STANDS[1] + 4)])
    area.type = "VIEW_3D"
    yield WAIT
    yield from window.undo()
    check("and one step back it is as it was", _spans() == [STANDS])
