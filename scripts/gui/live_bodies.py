# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own tools on the bones and the goals of a live body, with undo, redo and automatic keying."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import bpy

from blender import armature_of, rig_of
from gui.bodies import body, feet, hold, make_body, place, pose
from gui.window import CONTEXT, OPS, WAIT, Window, check, curves_of

PATIENCE = 8  # waits


def _is_near(a: list[tuple[float, ...]], b: list[tuple[float, ...]], most: float = 1e-5) -> bool:
    return all(abs(x - y) < most for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


def _holds(what: str, condition: Callable[[], bool]) -> Iterator[float]:
    """Report whether something holds, as soon as it does: a busy machine redraws late."""
    for _ in range(PATIENCE):
        if condition():
            break
        yield WAIT
    check(what, condition())


def _select(*names: str) -> None:
    for bone in body().pose.bones:
        setattr(bone if hasattr(bone, "select") else bone.bone, "select", bone.name in names)
    armature_of(body()).bones.active = armature_of(body()).bones[names[0]]


def _made_live(window: Window) -> Iterator[float]:
    """A live body on pinned feet."""
    yield from make_body(window)
    with window.context():
        _select("foot.L", "foot.R")
        OPS.fabrik.pin_toggle()
        OPS.fabrik.body_bone_set()
    rig_of(body()).live = True
    _select("hips")
    yield WAIT
    with window.context():
        OPS.ed.undo_push(message="live body")
    yield WAIT


def _tool(window: Window, kind: str, bone: str, way: tuple[int, int], end: str = "LEFTMOUSE") -> Iterator[float]:
    """A modal tool on a bone, begun by a key; the feet stay all the while."""
    stood = feet()
    x, y = window.seen(place(bone))
    at = (x + 80, y + 30)
    yield from window.move(at)
    yield from window.key(kind, at)
    for step in range(1, 6):
        at = (x + 80 + way[0] * step // 5, y + 30 + way[1] * step // 5)
        yield from window.move(at)
    yield WAIT
    check(f"the feet stay under {kind} on '{bone}'", hold(stood))
    yield from window.events((end, "PRESS"), (end, "RELEASE"), at=at)
    yield WAIT


def _history(window: Window, *, back: bool) -> Iterator[float]:
    region = window.region("WINDOW")
    at = (region.x + 200, region.y + 200)
    yield from window.move(at)
    yield from window.key("Z", at, ctrl=True, shift=not back)
    yield WAIT


def _posed(window: Window) -> Iterator[float]:
    """The hips grabbed, the chest turned: cancelled, confirmed, undone, done again."""
    for kind, bone, way in (("G", "hips", (-30, -40)), ("R", "hips", (-60, 60))):
        _select(bone)
        before, stood = pose(), feet()
        starts = [chain.start for chain in rig_of(body()).chains]
        kept = len(rig_of(body()).body_captured)
        yield from _tool(window, kind, bone, way, end="ESC")
        is_back = _is_near(pose(), before) and [chain.start for chain in rig_of(body()).chains] == starts
        check(f"{kind} on '{bone}', cancelled, leaves all", is_back and len(rig_of(body()).body_captured) == kept)
        yield from _tool(window, kind, bone, way)
        posed = pose()
        is_kept = bone in rig_of(body()).body_captured
        check(
            f"{kind} on '{bone}' is the start pose of the body", is_kept and not _is_near(posed, before) and hold(stood)
        )
        yield from window.picture(f"16_live_{kind}")
        yield from _history(window, back=True)
        yield from _holds("undo", lambda: _is_near(pose(), before))  # noqa: B023
        yield from _history(window, back=False)
        yield from _holds("redo", lambda: _is_near(pose(), posed))  # noqa: B023
        with window.context():
            OPS.fabrik.solve_all()
        yield WAIT
        check("a solve by button moves nothing", _is_near(pose(), posed, 1e-4))


def _keyed() -> set[str]:
    """What has a key at this frame."""
    frame = CONTEXT.scene.frame_current
    return {c.data_path for c in curves_of(body()) if any(abs(key.co[0] - frame) < 1e-3 for key in c.keyframe_points)}


def _reached(window: Window) -> Iterator[float]:
    """A hand that reaches for a dragged target: the body follows, and automatic keying keys it, its place included."""
    stood = feet()
    tools = CONTEXT.scene.tool_settings
    CONTEXT.preferences.edit.use_keyframe_insert_available = False
    with window.context():
        _select("hand.L")
        OPS.fabrik.chain_add(tip_bone="hand.L", bone_count=3)
        OPS.fabrik.target_add()
    chain = rig_of(body()).chains["hand.L"]
    yield WAIT
    check("a chain of a live body moves nothing", hold(stood) and chain.status == "REACHED")
    tools.use_keyframe_insert_auto = True
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
    chain.target.select_set(True)
    CONTEXT.view_layer.objects.active = chain.target
    yield WAIT
    with window.context():
        OPS.ed.undo_push(message="target")
    before = pose()
    yield from _tool(window, "G", "hand.L", (60, -120))
    posed = pose()
    location = body().pose.bones["hips"].path_from_id("location")
    check("the body follows a dragged target, and is keyed", location in _keyed() and not _is_near(posed, before))
    yield from window.picture("16_live_reach")
    CONTEXT.scene.frame_set(CONTEXT.scene.frame_current + 3)
    CONTEXT.scene.frame_set(CONTEXT.scene.frame_current - 3)
    yield WAIT
    yield from _holds("and its keys are what was seen", lambda: _is_near(pose(), posed, 1e-4) and hold(stood))
    yield from _history(window, back=True)
    yield from _holds("undo takes pose and keys away", lambda: not _keyed() and _is_near(pose(), before, 1e-4))
    yield from _history(window, back=False)
    yield from _holds("redo brings both back", lambda: location in _keyed() and _is_near(pose(), posed, 1e-4))
    tools.use_keyframe_insert_auto = False


def lived_bodies(window: Window) -> Iterator[float]:
    """All of it."""
    yield from _made_live(window)
    yield from _posed(window)
    yield from _reached(window)
