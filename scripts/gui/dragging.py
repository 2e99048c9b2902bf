# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags of a limb: posed by hand, without a chain, where there is nothing to drag, and by its control bone."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist

from mathutils import Vector

from blender import OPS, rig_of

from .window import WAIT, Window, check, is_alike, leg, moved, pose_of, tip

POSED = {"thigh": (0.9, 0.3, 0.2, -0.1), "shin": (0.8, -0.6, 0.0, 0.0), "foot": (0.95, 0.2, 0, 0)}


def _drag(window: Window, start: tuple[int, int], steps: int, confirm: bool = True) -> Iterator[float]:
    """Drag from a place of the window to the left by a pixel a step."""
    yield from window.drag_from(start)
    yield from window.glide(start, (-steps, 0), steps)
    yield WAIT
    if confirm:
        yield from window.press((start[0] - steps, start[1]))


def dragged_as_posed(window: Window) -> Iterator[float]:
    """A drag by six pixels of a posed limb moves it by as much, and it stays so when it is solved."""
    owner = leg()
    chain = rig_of(owner).chains[0]
    for name, turn in POSED.items():
        owner.pose.bones[name].rotation_quaternion = turn
    yield from window.push("posed by hand")
    before, stood, place = pose_of(owner), tip(owner), chain.target.location.copy()
    yield from _drag(window, window.seen(stood), 6)
    owner = leg()
    chain = rig_of(owner).chains[0]
    turned = moved(before, pose_of(owner))
    check(f"six pixels turn a posed limb by little ({turned:.3f})", 0.0 < turned < 0.1)
    check("letting go captures the start pose", chain.start == "CAPTURED")
    check("and takes the target along", dist(chain.target.matrix_world.translation, tip(owner)) < 1e-4)
    there = pose_of(owner)
    with window.context():
        OPS.fabrik.solve()
    yield WAIT
    check("a solve leaves the limb there", chain.status == "REACHED" and moved(there, pose_of(leg())) < 1e-4)
    yield from window.undo()
    chain = rig_of(leg()).chains[0]
    back = chain.start == "REST" and dist(chain.target.location, place) < 1e-6 and moved(before, pose_of(leg())) < 1e-6
    check("one step back the pose, the start pose and the target are as they were", back)
    yield from window.undo()


def dragged_without_a_chain(window: Window) -> Iterator[float]:
    """The limb that a bone ends, and nothing where there is no bone."""
    owner = leg()
    yield from window.push("with a chain")
    with window.context():
        rig_of(owner).chains.clear()
    yield WAIT
    before, stood = pose_of(owner), tip(owner)
    middle = window.seen(owner.matrix_world @ (owner.pose.bones["foot"].head.lerp(owner.pose.bones["foot"].tail, 0.5)))
    yield from _drag(window, middle, 12, confirm=False)
    yield from window.picture("12_drag_bone", away=False)
    at = middle[0] - 12, middle[1]
    yield from window.press(at)
    way = dist(tip(leg()), stood)
    check("a bone without a chain is dragged with its limb", 0.0 < way < 0.3 and moved(before, pose_of(leg())) > 0.0)
    check("and no chain is left of it", not rig_of(leg()).chains)
    before = pose_of(leg())
    side = window.region("WINDOW")
    yield from _drag(window, (side.x + 150, side.y + side.height // 2), 12, confirm=False)
    yield from window.picture("13_drag_nothing", away=False)
    check("off any bone nothing is dragged", pose_of(leg()) == before)
    yield from window.undo()
    check("and the chain is there again", len(rig_of(leg()).chains) == 1)


def _goal() -> Vector:
    """Where the control bone of the leg's chain is."""
    owner = leg()
    head: Vector = owner.matrix_world @ owner.pose.bones[rig_of(owner).chains[0].target_bone].head
    return head


def dragged_by_a_bone(window: Window) -> Iterator[float]:
    """The tip is dragged, and the control bone goes along; Esc puts both back, and one step of undo does."""
    owner = leg()
    yield from window.push("before control bones")
    with window.context():
        rig_of(owner).chains[0].target = None
        OPS.fabrik.target_add(kind="BONE")
        owner = leg()
        rig_of(owner).live = True
        OPS.ed.undo_push(message="live, with a control bone")
    yield WAIT
    stood, before = _goal(), pose_of(leg())
    check("a control bone stands at the tip", dist(stood, tip(leg())) < 1e-4)
    for confirm in (False, True):
        at = window.seen(tip(leg()))
        yield from window.drag_from(at)
        yield from window.glide(at, (-36, 30), 6)
        yield WAIT
        way = dist(_goal(), stood)
        check(f"a live limb is dragged by its control bone ({way:.2f})", way > 0.1)
        check("and its tip is with it", dist(_goal(), tip(leg())) < 1e-3)
        there = at[0] - 36, at[1] + 30
        if not confirm:
            yield from window.picture("14_drag_control_bone", away=False)
            yield from window.cancel(there)
            back = dist(_goal(), stood) < 1e-6 and pose_of(leg()) == before
            check("Esc puts the control bone and the limb back", back)
            continue
        goal = _goal()
        yield from window.press(there)
        held = dist(_goal(), goal) < 1e-6 and dist(_goal(), tip(leg())) < 1e-3
        check("let go, the control bone and the tip stay", held)
    yield from window.undo()
    back = dist(_goal(), stood) < 1e-6 and is_alike(before, pose_of(leg()), 1e-6)
    check("one step back the control bone and the limb are as they were", back)
    yield from window.undo()
    check("and one more the chain has its empty", not rig_of(leg()).chains[0].target_bone and not rig_of(leg()).live)
