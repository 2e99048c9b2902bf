# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking in Blender's window: the dialog, the progress, Esc, the report and the strip."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
from mathutils import Vector

from blender import rig_of

from .window import CONTEXT, OPS, WAIT, Window, check, curves_of, overridden

LONG, SHORT = 20000, 120  # frames


def _curves(owner: bpy.types.Object) -> int:
    return len(curves_of(owner))


def baked(window: Window) -> Iterator[float]:
    """Bake by the dialog: given up with Esc, then to the end."""
    owner = bpy.data.objects["Leg"]
    chain = rig_of(owner).chains[0]
    chain.use_plain = False
    for frame, place in ((1, (0.1, -0.8, 0.7)), (40, (0.0, 0.3, 0.4)), (80, (0.0, 0.25, 1.9)), (SHORT, (0, -0.3, 0.5))):
        chain.target.location = Vector(place)
        chain.target.keyframe_insert("location", frame=frame)
    region = window.region("WINDOW")
    middle = region.x + region.width // 2, region.y + region.height // 2
    yield from _given_up(window, owner, middle)
    yield from _to_the_end(window, owner, middle)


def _given_up(window: Window, owner: bpy.types.Object, middle: tuple[int, int]) -> Iterator[float]:
    """A bake that goes on beside the window, and Esc."""
    scene, chain = CONTEXT.scene, rig_of(owner).chains[0]
    still = chain.target.constraints.new("LIMIT_LOCATION")  # its frames have to be visited
    scene.frame_end = LONG
    scene.frame_set(1)
    yield WAIT
    yield from window.move(middle)
    with window.context():
        OPS.ed.undo_push(message="before the bake")
        OPS.fabrik.bake("INVOKE_DEFAULT")
    yield WAIT
    yield from window.picture("9_bake_dialog", away=False)
    yield from window.key("RET", middle)
    yield 1.5
    running = [found.bl_idname for found in window.window.modal_operators]
    check("a long bake goes on beside the window", "FABRIK_OT_bake" in running)
    yield from window.picture("10_bake_progress")
    yield from window.key("ESC", middle)
    yield WAIT
    check("Esc ends it", not window.window.modal_operators)
    check("and leaves no key and the chain enabled", not _curves(owner) and chain.enabled)
    chain.target.constraints.remove(still)


def _to_the_end(window: Window, owner: bpy.types.Object, middle: tuple[int, int]) -> Iterator[float]:
    """A bake whose report is looked at, and undone."""
    scene, chain = CONTEXT.scene, rig_of(owner).chains[0]
    scene.frame_end = SHORT
    was_live, rig_of(owner).live = rig_of(owner).live, True
    OPS.ed.undo_push(message="Live")
    with window.context():
        OPS.fabrik.bake("INVOKE_DEFAULT")
    yield WAIT
    yield from window.key("RET", middle)
    yield 1.0
    check("a short bake keys all bones", _curves(owner) == 12 and not chain.enabled)
    check("which the chain knows, and live posing is off", chain.is_baked and not rig_of(owner).live)
    for area in window.window.screen.areas:
        if area.type == "DOPESHEET_EDITOR":
            with overridden(window=window.window, area=area, region=area.regions[-1]):
                OPS.action.view_all()
    scene.frame_set(80)
    side = window.region("UI")
    at = side.x + side.width // 2, side.y + side.height // 2
    for _ in range(30):
        yield from window.events(("WHEELDOWNMOUSE", "PRESS"), at=at)
    yield from window.picture("11_bake_report")
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    undone = bpy.data.objects["Leg"]
    check("a bake is undone in one step", not _curves(undone) and rig_of(undone).chains[0].enabled)
    check("live posing included", rig_of(undone).live)
    rig_of(undone).live = was_live
