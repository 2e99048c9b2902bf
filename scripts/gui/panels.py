# SPDX-License-Identifier: GPL-3.0-or-later
"""All panels of the tab, photographed: at two scales, in a narrow sidebar, in both themes and in German."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

import bpy
from mathutils import Vector

from blender import armature_of, limit_of, overlay_of, rig_of
from gui.bodies import body, make_body
from gui.looks import FRAMES, Look, dressed
from gui.window import CONTEXT, MODULE, OPS, WAIT, Window, check, overridden

NARROW = 190  # pixels at scale 1 of the narrowest sidebar, its tabs included
WIDE = 300
PAGE = 0.85  # of the height of the sidebar that is scrolled from picture to picture
PAGES = 24  # more than there are
LOOKS = (
    Look(1.0, NARROW),
    Look(1.0, WIDE, "Light"),
    Look(1.0, NARROW, "Light"),
    Look(2.0, NARROW),
    Look(2.0, NARROW, "Light"),
    Look(1.0, NARROW, language="de_DE"),
    Look(2.0, NARROW, language="de_DE"),
    Look(1.0, WIDE, language="de_DE"),
)


def _opened_panels() -> None:
    """Register the panels of the tab anew, none closed."""
    ui = import_module(f"{MODULE}.ui")
    panels = [found for found in ui.CLASSES if getattr(found, "bl_category", "") == "FABRIK"]
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    for panel in panels:  # by another name, since the sidebar keeps by their names which ones are closed
        panel.bl_idname = f"{panel.__name__}_open"
        if getattr(panel, "bl_parent_id", ""):
            panel.bl_parent_id += "_open"
        panel.bl_options = set(getattr(panel, "bl_options", ())) - {"DEFAULT_CLOSED"}
        bpy.utils.register_class(panel)


def _set_up(window: Window) -> Iterator[float]:
    """A character whose arm is blocked and whose other arm reaches; a baked one, pins, limits, and a planned walk."""
    yield from make_body(window)
    owner = body()
    with window.context():
        OPS.fabrik.character_setup(controls="EMPTIES", use_walker=True)
    yield WAIT
    chains = {chain.tip_bone: chain for chain in rig_of(owner).chains}
    hinge = limit_of(owner.pose.bones["forearm.L"])
    hinge.limit, hinge.angle_min, hinge.angle_max = "HINGE", -0.1, 0.1
    limit_of(owner.pose.bones["upper_arm.L"]).limit = "LOCKED"
    rig_of(owner).spine, rig_of(owner).body_stiffness = 0.0, 1.0
    chains["hand.L"].target.location += Vector((-0.4, -0.1, 0.5))
    chains["hand.R"].target.location += Vector((0.1, -0.1, 0.1))
    hips = owner.pose.bones["hips"]
    for frame, way in zip(FRAMES, (0.0, 0.6), strict=True):
        hips.location.z = way
        hips.keyframe_insert("location", frame=frame)
    CONTEXT.scene.frame_set(1)
    overlay_of(CONTEXT.scene).show = True
    armature_of(owner).bones.active = armature_of(owner).bones["forearm.L"]
    rig_of(owner).active_index = list(rig_of(owner).chains).index(chains["hand.L"])
    with window.context():
        OPS.fabrik.bake(frame_start=FRAMES[0], frame_end=FRAMES[1], chains="ACTIVE")
        OPS.fabrik.walk_plan(frame_start=FRAMES[0], frame_end=FRAMES[1])
        rig_of(owner).walker.on = False
        for chain in rig_of(owner).chains:
            chain.enabled = chain.pin or chain.target is not None
        OPS.fabrik.solve_all()
    yield WAIT
    found = {chain.status for chain in rig_of(owner).chains}
    check(f"a chain is reached and one is blocked ({', '.join(sorted(found))})", {"REACHED", "BLOCKED"} <= found)


def _made_wide(window: Window, width: int) -> Iterator[float]:
    """Drag the edge of the sidebar until it has a width."""
    side = window.region("UI")
    start = (side.x - 1, side.y + side.height // 2)
    to = (side.x + side.width - width, start[1])
    yield from window.move(start)
    yield from window.events(("LEFTMOUSE", "PRESS"), at=start)
    for step in range(1, 5):
        yield from window.move((start[0] + (to[0] - start[0]) * step // 4, start[1]))
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=to)
    yield WAIT


def _pages(window: Window, name: str) -> Iterator[float]:
    """Pictures of the tab from its top to its end."""
    side = window.region("UI")
    at: Callable[[float, float], tuple[float, float]] = getattr(side.view2d, "region_to_view")
    context = {"window": window.window, "area": window.area, "region": side}
    with overridden(**context):
        bpy.ops.view2d.pan(deltay=100000)
    for page in range(1, PAGES + 1):
        yield from window.picture(f"{name}_{page}")
        before = at(0, 0)[1]
        with overridden(**context):
            bpy.ops.view2d.pan(deltay=-int(PAGE * side.height))
        yield WAIT
        if abs(at(0, 0)[1] - before) < 1.0:
            return


def _photographed(window: Window, look: Look) -> Iterator[float]:
    if not (yield from dressed(window, look)):
        return
    setattr(window.region("UI"), "active_panel_category", "FABRIK")
    yield from _made_wide(window, int(look.width * look.scale))
    side = window.region("UI")
    got = side.width / look.scale
    check(f"the sidebar is as wide as wanted ({look.name}: {got:.0f})", abs(got - look.width) < 12)
    yield from _pages(window, look.name)


def photographed(window: Window) -> Iterator[float]:
    """All looks; then all is as it was."""
    _opened_panels()
    yield from _set_up(window)
    for look in LOOKS:
        yield from _photographed(window, look)
