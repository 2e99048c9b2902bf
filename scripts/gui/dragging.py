# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags of a limb that was posed by hand: with a chain, without one, and where there is nothing to drag."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist

import bpy

from blender import rig_of
from gui.window import OPS, WAIT, Window, check, rotations, tip


def _leg() -> bpy.types.Object:
    return bpy.data.objects["Leg"]


def _moved(before: list[tuple[float, ...]]) -> float:
    """How far the channel that changed most did."""
    pairs = zip(before, rotations(_leg()), strict=True)
    apart: list[float] = [abs(a - b) for first, second in pairs for a, b in zip(first, second, strict=True)]
    return max(apart)


def _drag(window: Window, start: tuple[int, int], steps: int, confirm: bool = True) -> Iterator[float]:
    """Drag from a place of the window to the left by a pixel a step."""
    yield from window.move(start)
    yield from window.key("G", start, ctrl=True, shift=True)
    for step in range(1, steps + 1):
        yield from window.move((start[0] - step, start[1]))
    yield WAIT
    if confirm:
        at = start[0] - steps, start[1]
        yield from window.events(("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE"), at=at)
        yield WAIT


def _posed(owner: bpy.types.Object) -> None:
    for name, turn in (("thigh", (0.9, 0.3, 0.2, -0.1)), ("shin", (0.8, -0.6, 0.0, 0.0)), ("foot", (0.95, 0.2, 0, 0))):
        owner.pose.bones[name].rotation_quaternion = turn


def dragged_as_posed(window: Window) -> Iterator[float]:
    """A drag by six pixels of a posed limb moves it by as much, and it stays so when it is solved."""
    owner = _leg()
    chain = rig_of(owner).chains[0]
    _posed(owner)
    with window.context():
        OPS.ed.undo_push(message="posed by hand")
    yield WAIT
    before, stood, place = rotations(owner), tip(owner), chain.target.location.copy()
    yield from _drag(window, window.seen(stood), 6)
    owner = _leg()
    chain = rig_of(owner).chains[0]
    check(f"six pixels turn a posed limb by little ({_moved(before):.3f})", 0.0 < _moved(before) < 0.1)
    check("letting go captures the start pose", chain.start == "CAPTURED")
    check("and takes the target along", dist(chain.target.matrix_world.translation, tip(owner)) < 1e-4)
    there = rotations(owner)
    with window.context():
        OPS.fabrik.solve()
    yield WAIT
    check("a solve leaves the limb there", chain.status == "REACHED" and _moved(there) < 1e-4)
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    chain = rig_of(_leg()).chains[0]
    back = chain.start == "REST" and dist(chain.target.location, place) < 1e-6 and _moved(before) < 1e-6
    check("one step back the pose, the start pose and the target are as they were", back)
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT


def dragged_without_a_chain(window: Window) -> Iterator[float]:
    """The limb that a bone ends, and nothing where there is no bone."""
    owner = _leg()
    with window.context():
        OPS.ed.undo_push(message="with a chain")
        rig_of(owner).chains.clear()
    yield WAIT
    before, stood = rotations(owner), tip(owner)
    middle = window.seen(owner.matrix_world @ (owner.pose.bones["foot"].head.lerp(owner.pose.bones["foot"].tail, 0.5)))
    yield from _drag(window, middle, 12, confirm=False)
    yield from window.picture("12_drag_bone", away=False)
    at = middle[0] - 12, middle[1]
    yield from window.events(("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE"), at=at)
    yield WAIT
    moved = dist(tip(_leg()), stood)
    check("a bone without a chain is dragged with its limb", 0.0 < moved < 0.3 and _moved(before) > 0.0)
    check("and no chain is left of it", not rig_of(_leg()).chains)
    before = rotations(_leg())
    side = window.region("WINDOW")
    yield from _drag(window, (side.x + 150, side.y + side.height // 2), 12, confirm=False)
    yield from window.picture("13_drag_nothing", away=False)
    check("off any bone nothing is dragged", rotations(_leg()) == before)
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    check("and the chain is there again", len(rig_of(_leg()).chains) == 1)
