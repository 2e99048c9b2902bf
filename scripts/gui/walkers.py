# SPDX-License-Identifier: GPL-3.0-or-later
"""A spider that is led over the ground by the mouse: its feet step, what is recorded plays, one undo takes it back."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from math import cos, dist, hypot, sin

import bpy
from mathutils import Vector

from blender import OPS, overlay_of, rig_of
from dev.walking_rigs import make_rubble, make_spider

from .window import CONTEXT, WAIT, Window, check, leg, make_leg

LEGS = 4  # on each side
PATIENCE = 60  # waits
STEPS, STEP = 24, 8  # moves of the mouse, and pixels of each


def _spider() -> bpy.types.Object:
    return bpy.data.objects["Spider"]


def _hills(x: float, y: float) -> float:
    return 0.12 * sin(2.1 * x) * cos(1.7 * y) * min(hypot(x, y) / 2.0, 1.0)


def _make(window: Window) -> Iterator[float]:
    """The spider in Pose mode on a hilly ground, seen from above and aside."""
    CONTEXT.scene.frame_set(1)
    make_leg()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(leg())
    make_rubble(_hills, 40, 5.0, 10.0)
    make_spider(LEGS).select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    with window.context():
        window.view.region_3d.view_rotation = (0.8, 0.46, 0.19, 0.33)
        bpy.ops.view3d.view_all()
        OPS.fabrik.walker_add()
        OPS.ed.undo_push(message="a walker")
    yield WAIT


def _led(window: Window, *, record: bool) -> Generator[float, None, tuple[int, int]]:
    """Lead it to the lower left; where the mouse is then."""
    owner = _spider()
    start = window.seen(owner.matrix_world @ owner.pose.bones["b0"].head)
    yield from window.move(start)
    with window.context():
        OPS.fabrik.walk_by_hand("INVOKE_DEFAULT", record=record)
    yield WAIT
    way = (-STEP * STEPS, -STEP * STEPS // 3)
    yield from window.glide(start, way, STEPS)
    before: list[Vector] = []
    for _ in range(PATIENCE):  # it arrives
        yield WAIT
        now = _tips()
        if before and max(dist(a, b) for a, b in zip(now, before, strict=True)) < 1e-4:
            break
        before = now
    return start[0] + way[0], start[1] + way[1]


SECOND = 24  # frames


def _tips() -> list[Vector]:
    owner = _spider()
    return [owner.matrix_world @ owner.pose.bones[f"b{3 * leg + 3}"].tail for leg in range(2 * LEGS)]


def walked(window: Window) -> Iterator[float]:
    """Led and cancelled, led and recorded, played, and undone."""
    yield from _make(window)
    owner = _spider()
    stood, rest = owner.pose.bones["b0"].location.copy(), _tips()
    yield from _led(window, record=False)
    way = dist(_spider().pose.bones["b0"].location, stood)
    check(f"the body follows the mouse ({way:.2f})", way > 0.5)
    check("its feet step", all(dist(a, b) > 0.1 for a, b in zip(_tips(), rest, strict=True)))
    yield from window.picture("18_walk_by_hand", away=False)
    yield from window.cancel((400, 400))
    back = max(dist(a, b) for a, b in zip(_tips(), rest, strict=True))
    check("Esc puts all back", back < 1e-4 and not rig_of(_spider()).walker.digest)
    at = yield from _led(window, record=True)
    led = _spider().pose.bones["b0"].head.to_2d()
    yield from window.events(("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE"), at=at)
    yield 2.0 * WAIT
    walker = rig_of(_spider()).walker
    frames = [int(part) for part in walker.inputs.split()[:2]]
    check(f"a click keeps frames {frames}", walker.on and rig_of(_spider()).live and frames[1] > 20)
    CONTEXT.scene.frame_set(frames[1])
    yield WAIT
    last = dist(_spider().pose.bones["b0"].head.to_2d(), led)
    check(f"the body ends where it was led ({last:.3f})", last < 0.02)
    found = []
    for seconds in (1, 2):
        CONTEXT.scene.frame_set(frames[1] + seconds * SECOND)
        yield WAIT
        found.append(_tips())
    moved = max(dist(a, b) for a, b in zip(*found, strict=True))
    check(f"and all feet have landed a second later ({moved:.1e})", moved < 1e-4)
    CONTEXT.scene.frame_set(frames[1] // 2)
    overlay_of(CONTEXT.scene).show = True
    yield from window.push("shown")
    with window.context():
        OPS.fabrik.walk_mark()
    prints = [one for one in bpy.data.curves if one.name.startswith("Spider_footprints")]
    check("footprints and markers", len(prints) == 1 and len(CONTEXT.scene.timeline_markers) > LEGS)
    yield from window.picture("19_recorded_walk")
    with window.context():
        bpy.ops.ed.undo()
        bpy.ops.ed.undo()
    yield WAIT
    check("one step back there is no walk", not rig_of(_spider()).walker.digest and _spider().animation_data is None)
