# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags of a body: bones shown under the mouse, pinned, dragged with the body behind them, turned, and let go."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist

import bpy
from mathutils import Vector

from blender import rig_of
from gui.window import CONTEXT, OPS, WAIT, Window, check, make_leg

# Name, parent, head and tail of each bone.
BONES = (
    ("hips", "", (0, 0, 1.0), (0, 0, 1.2)),
    ("chest", "hips", (0, 0, 1.2), (0, 0.03, 1.5)),
    ("head", "chest", (0, 0.03, 1.5), (0, 0, 1.75)),
    *(
        (name + side, parent if parent in {"hips", "chest"} else parent + side, (x * a[0], *a[1:]), (x * b[0], *b[1:]))
        for side, x in ((".L", 1), (".R", -1))
        for name, parent, a, b in (
            ("thigh", "hips", (0.12, 0, 0.98), (0.14, -0.04, 0.54)),
            ("shin", "thigh", (0.14, -0.04, 0.54), (0.15, 0.02, 0.1)),
            ("foot", "shin", (0.15, 0.02, 0.1), (0.15, -0.16, 0.03)),
            ("upper_arm", "chest", (0.18, 0.02, 1.45), (0.38, 0.03, 1.2)),
            ("forearm", "upper_arm", (0.38, 0.03, 1.2), (0.55, -0.08, 1.02)),
            ("hand", "forearm", (0.55, -0.08, 1.02), (0.6, -0.12, 0.9)),
        )
    ),
)


def body() -> bpy.types.Object:
    return bpy.data.objects["Body"]


def make_body(window: Window) -> Iterator[float]:
    """The body in Pose mode, seen from the front; nothing is keyed by itself, which an undo may have switched on."""
    tools = CONTEXT.scene.tool_settings
    tools.use_keyframe_insert_auto = False
    CONTEXT.scene.frame_set(1)
    make_leg()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(bpy.data.objects["Leg"])
    data = bpy.data.armatures.new("Body")
    owner = bpy.data.objects.new("Body", data)
    CONTEXT.scene.collection.objects.link(owner)
    CONTEXT.view_layer.objects.active = owner
    owner.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in BONES:
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    with window.context():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
        OPS.ed.undo_push(message="a body")
    yield WAIT


def place(bone: str, end: str = "head") -> Vector:
    return body().matrix_world @ getattr(body().pose.bones[bone], end)


def pose() -> list[tuple[float, ...]]:
    return [(*bone.rotation_quaternion, *bone.location) for bone in body().pose.bones]


def is_alike(a: list[tuple[float, ...]], b: list[tuple[float, ...]]) -> bool:
    return all(abs(x - y) < 1e-6 for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


def feet() -> list[Vector]:
    return [place(f"foot{side}", end) for side in (".L", ".R") for end in ("head", "tail")]


def hold(before: list[Vector]) -> bool:
    """Whether the feet stand where they stood."""
    return all(dist(a, b) < 3e-4 for a, b in zip(before, feet(), strict=True))


def _glide(window: Window, start: tuple[int, int], way: tuple[int, int], steps: int = 8) -> Iterator[float]:
    for step in range(1, steps + 1):
        yield from window.move((start[0] + way[0] * step // steps, start[1] + way[1] * step // steps))


def _pinned(window: Window) -> Iterator[float]:
    """From the button: bones are shown as the mouse comes over them, and P pins them."""
    with window.context():
        OPS.fabrik.drag_pick("INVOKE_DEFAULT")
    for side in (".L", ".R"):
        at = window.seen(place(f"foot{side}").lerp(place(f"foot{side}", "tail"), 0.4))
        yield from window.move(at)
        yield WAIT
        if side == ".R":
            yield from window.picture("14_hover", away=False)
        before = pose()
        yield from window.key("P", at)
        yield WAIT
        pins = [chain.tip_bone for chain in rig_of(body()).chains if chain.pin]
        check(f"P pins the foot under the mouse ({side})", f"foot{side}" in pins and is_alike(before, pose()))


def _hips_dragged(window: Window) -> Iterator[float]:
    """Press, move, and let go: the hips sink, the feet stay; Ctrl Z takes it back in one step."""
    stood, before, start = feet(), pose(), place("hips")
    at = window.seen(start)
    yield from window.move(at)
    yield from window.events(("LEFTMOUSE", "PRESS"), at=at)
    yield from _glide(window, at, (-20, -50))
    yield WAIT
    yield from window.picture("15_hips", away=False)
    check("the hips are dragged, and the feet stay", dist(place("hips"), start) > 0.1 and hold(stood))
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=(at[0] - 20, at[1] - 50))
    yield WAIT
    sunk = pose()
    with window.context():
        OPS.fabrik.solve_all()
    yield WAIT
    check("letting go anchors: a solve moves nothing", _near(sunk, pose()))
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    check("a drag is one step to undo", is_alike(before, pose()))
    yield from window.key("ESC", at)
    yield WAIT


def _near(a: list[tuple[float, ...]], b: list[tuple[float, ...]]) -> bool:
    return all(abs(x - y) < 1e-3 for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


def _hand_dragged(window: Window) -> Iterator[float]:
    """By the shortcut: with rotation, turned, falloff by the wheel, cancelled; then out of reach, and G."""
    stood, before, falloff = feet(), pose(), rig_of(body()).falloff
    at = window.seen(place("hand.L").lerp(place("hand.L", "tail"), 0.1))
    yield from window.move(at)
    yield from window.key("G", at, ctrl=True, shift=True)
    yield from _glide(window, at, (-60, 40))
    there = at[0] - 60, at[1] + 40
    turn = body().pose.bones["hand.L"].matrix.to_quaternion()
    yield from window.key("T", there)
    yield WAIT
    yield from window.key("R", there)
    yield from _glide(window, there, (0, 80))
    yield WAIT
    turned = turn.rotation_difference(body().pose.bones["hand.L"].matrix.to_quaternion()).angle
    check(f"R turns the hand ({turned:.2f})", turned > 0.3 and hold(stood))
    chest = place("chest", "tail")
    for _ in range(4):
        yield from window.events(("WHEELUPMOUSE", "PRESS"), at=there)
    yield WAIT
    check("the wheel changes the falloff", abs(rig_of(body()).falloff - falloff - 0.4) < 1e-6)
    check("and so what follows", dist(place("chest", "tail"), chest) > 1e-4 and hold(stood))
    yield from window.picture("16_turned", away=False)
    yield from window.key("ESC", there)
    yield WAIT
    back = is_alike(before, pose()) and abs(rig_of(body()).falloff - falloff) < 1e-6
    check("Esc puts back pose and falloff", back)
    yield from window.move(at)
    yield from window.key("G", at, ctrl=True, shift=True)
    yield from _glide(window, at, (330, 200), 12)
    yield WAIT
    yield from window.picture("17_out_of_reach", away=False)
    check("out of reach the feet stay", hold(stood))
    far = at[0] + 330, at[1] + 200
    yield from window.key("G", far)
    yield WAIT
    check("G lets go and keeps the pose", not is_alike(before, pose()) and hold(stood))
    to = window.seen(place("forearm.R").lerp(place("forearm.R", "tail"), 0.8))
    held = pose()
    yield from window.move(to)
    yield from window.events(("LEFTMOUSE", "PRESS"), at=to)
    yield from _glide(window, to, (-30, -20))
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=(to[0] - 30, to[1] - 20))
    yield WAIT
    check("and grabs another bone", not is_alike(held, pose()) and hold(stood))
    yield from window.key("ESC", to)
    yield WAIT


def dragged_bodies(window: Window) -> Iterator[float]:
    """All of it."""
    yield from make_body(window)
    yield from _pinned(window)
    yield from _hips_dragged(window)
    yield from _hand_dragged(window)
