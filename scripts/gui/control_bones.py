# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb whose target is a bone of its rig: dragged by the tip, cancelled, let go, and undone."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist

import bpy
from mathutils import Vector

from blender import rig_of
from gui.window import OPS, WAIT, Window, check, rotations, tip


def _leg() -> bpy.types.Object:
    return bpy.data.objects["Leg"]


def _goal() -> Vector:
    """Where the control bone of the leg's chain is."""
    owner = _leg()
    head: Vector = owner.matrix_world @ owner.pose.bones[rig_of(owner).chains[0].target_bone].head
    return head


def dragged_by_a_bone(window: Window) -> Iterator[float]:
    """The tip is dragged, and the control bone goes along; Esc puts both back, and one step of undo does."""
    owner = _leg()
    with window.context():
        OPS.ed.undo_push(message="before control bones")
        rig_of(owner).chains[0].target = None
        OPS.fabrik.target_add(kind="BONE")
        owner = _leg()
        rig_of(owner).live = True
        OPS.ed.undo_push(message="live, with a control bone")
    yield WAIT
    stood, before = _goal(), rotations(_leg())
    check("a control bone stands at the tip", dist(stood, tip(_leg())) < 1e-4)
    for confirm in (False, True):
        at = window.seen(tip(_leg()))
        yield from window.move(at)
        yield from window.key("G", at, ctrl=True, shift=True)
        for step in range(1, 7):
            yield from window.move((at[0] - 6 * step, at[1] + 5 * step))
        yield WAIT
        moved = dist(_goal(), stood)
        check(f"a live limb is dragged by its control bone ({moved:.2f})", moved > 0.1)
        check("and its tip is with it", dist(_goal(), tip(_leg())) < 1e-3)
        there = at[0] - 36, at[1] + 30
        if not confirm:
            yield from window.picture("14_drag_control_bone", away=False)
            yield from window.key("ESC", there)
            yield WAIT
            back = dist(_goal(), stood) < 1e-6 and rotations(_leg()) == before
            check("Esc puts the control bone and the limb back", back)
            continue
        goal = _goal()
        yield from window.events(("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE"), at=there)
        yield WAIT
        held = dist(_goal(), goal) < 1e-6 and dist(_goal(), tip(_leg())) < 1e-3
        check("let go, the control bone and the tip stay", held)
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    pairs = zip(before, rotations(_leg()), strict=True)
    apart: list[float] = [abs(a - b) for one, two in pairs for a, b in zip(one, two, strict=True)]
    back = dist(_goal(), stood) < 1e-6 and max(apart) < 1e-6
    check("one step back the control bone and the limb are as they were", back)
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    check("and one more the chain has its empty", not rig_of(_leg()).chains[0].target_bone and not rig_of(_leg()).live)
