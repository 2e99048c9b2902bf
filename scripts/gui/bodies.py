# SPDX-License-Identifier: GPL-3.0-or-later
"""A body: its bones pinned and dragged under the mouse, and Blender's own tools on it while it is live."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist

import bpy
from mathutils import Vector

from blender import OPS, rig_of, select_bones
from rigs import BoneRow, row_of_bones

from .window import CONTEXT, WAIT, Window, check, holds, is_alike, keyed_curves, pose_of, show_armature

TRUNK = {
    "hips": BoneRow("", (0, 0, 1.0), (0, 0, 1.2), False),
    "chest": BoneRow("hips", (0, 0, 1.2), (0, 0.03, 1.5), False),
    "head": BoneRow("chest", (0, 0.03, 1.5), (0, 0, 1.75), False),
}
LIMBS = {  # of the left side: bones, what they hang on, and joints
    "hips": (("thigh", "shin", "foot"), ((0.12, 0, 0.98), (0.14, -0.04, 0.54), (0.15, 0.02, 0.1), (0.15, -0.16, 0.03))),
    "chest": (
        ("upper_arm", "forearm", "hand"),
        ((0.18, 0.02, 1.45), (0.38, 0.03, 1.2), (0.55, -0.08, 1.02), (0.6, -0.12, 0.9)),
    ),
}
BONES = TRUNK | {
    name: row._replace(is_connected=False)
    for side, sign in ((".L", 1), (".R", -1))
    for parent, (names, joints) in LIMBS.items()
    for name, row in row_of_bones([n + side for n in names], [(sign * x, y, z) for x, y, z in joints], parent).items()
}


def body() -> bpy.types.Object:
    return bpy.data.objects["Body"]


def make_body(window: Window) -> Iterator[float]:
    """The body in Pose mode, seen from the front; nothing is keyed by itself, which an undo may have switched on."""
    CONTEXT.scene.frame_set(1)
    show_armature("Body", BONES)
    bpy.ops.pose.select_all(action="DESELECT")
    with window.context():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
        OPS.ed.undo_push(message="a body")
    yield WAIT


def place(bone: str, end: str = "head") -> Vector:
    return body().matrix_world @ getattr(body().pose.bones[bone], end)


def feet() -> list[Vector]:
    return [place(f"foot{side}", end) for side in (".L", ".R") for end in ("head", "tail")]


def hold(before: list[Vector]) -> bool:
    """Whether the feet stand where they stood."""
    return all(dist(a, b) < 3e-4 for a, b in zip(before, feet(), strict=True))


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
        before = pose_of(body())
        yield from window.key("P", at)
        yield WAIT
        pins = [chain.tip_bone for chain in rig_of(body()).chains if chain.pin]
        check(f"P pins the foot under the mouse ({side})", f"foot{side}" in pins and is_alike(before, pose_of(body())))


def _hips_dragged(window: Window) -> Iterator[float]:
    """Press, move, and let go: the hips sink, the feet stay; Ctrl Z takes it back in one step."""
    stood, before, start = feet(), pose_of(body()), place("hips")
    at = window.seen(start)
    yield from window.move(at)
    yield from window.events(("LEFTMOUSE", "PRESS"), at=at)
    yield from window.glide(at, (-20, -50))
    yield WAIT
    yield from window.picture("15_hips", away=False)
    check("the hips are dragged, and the feet stay", dist(place("hips"), start) > 0.1 and hold(stood))
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=(at[0] - 20, at[1] - 50))
    yield WAIT
    sunk = pose_of(body())
    with window.context():
        OPS.fabrik.solve_all()
    yield WAIT
    check("letting go anchors: a solve moves nothing", is_alike(sunk, pose_of(body()), 1e-3))
    yield from window.undo()
    check("a drag is one step to undo", is_alike(before, pose_of(body())))
    yield from window.cancel(at)


def _hand_dragged(window: Window) -> Iterator[float]:
    """By the shortcut: with rotation, turned, falloff by the wheel, cancelled; then out of reach, and G."""
    stood, before, falloff = feet(), pose_of(body()), rig_of(body()).falloff
    at = window.seen(place("hand.L").lerp(place("hand.L", "tail"), 0.1))
    yield from window.drag_from(at)
    yield from window.glide(at, (-60, 40))
    there = at[0] - 60, at[1] + 40
    turn = body().pose.bones["hand.L"].matrix.to_quaternion()
    yield from window.key("T", there)
    yield WAIT
    yield from window.key("R", there)
    yield from window.glide(there, (0, 80))
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
    yield from window.cancel(there)
    back = is_alike(before, pose_of(body())) and abs(rig_of(body()).falloff - falloff) < 1e-6
    check("Esc puts back pose and falloff", back)
    yield from window.drag_from(at)
    yield from window.glide(at, (330, 200), 12)
    yield WAIT
    yield from window.picture("17_out_of_reach", away=False)
    check("out of reach the feet stay", hold(stood))
    far = at[0] + 330, at[1] + 200
    yield from window.key("G", far)
    yield WAIT
    check("G lets go and keeps the pose", not is_alike(before, pose_of(body())) and hold(stood))
    to = window.seen(place("forearm.R").lerp(place("forearm.R", "tail"), 0.8))
    held = pose_of(body())
    yield from window.move(to)
    yield from window.events(("LEFTMOUSE", "PRESS"), at=to)
    yield from window.glide(to, (-30, -20))
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=(to[0] - 30, to[1] - 20))
    yield WAIT
    check("and grabs another bone", not is_alike(held, pose_of(body())) and hold(stood))
    yield from window.cancel(to)


def dragged_bodies(window: Window) -> Iterator[float]:
    """All of it."""
    yield from make_body(window)
    yield from _pinned(window)
    yield from _hips_dragged(window)
    yield from _hand_dragged(window)


def _made_live(window: Window) -> Iterator[float]:
    """A live body on pinned feet."""
    yield from make_body(window)
    with window.context():
        select_bones(body(), "foot.L", "foot.R")
        OPS.fabrik.pin_toggle()
        OPS.fabrik.body_bone_set()
    rig_of(body()).live = True
    select_bones(body(), "hips")
    yield WAIT
    yield from window.push("live body")


def _safe_tool(window: Window, kind: str, bone: str, way: tuple[int, int], end: str = "LEFTMOUSE") -> Iterator[float]:
    """A modal tool on a bone, begun by a key; the feet stay all the while."""
    stood = feet()
    x, y = window.seen(place(bone))
    told = f"the feet stay under {kind} on '{bone}'"
    yield from window.tool(kind, (x + 80, y + 30), way, end, lambda: check(told, hold(stood)))


def _posed_live(window: Window) -> Iterator[float]:
    """The hips grabbed, the chest turned: cancelled, confirmed, undone, done again."""
    for kind, bone, way in (("G", "hips", (-30, -40)), ("R", "hips", (-60, 60))):
        select_bones(body(), bone)
        before, stood = pose_of(body()), feet()
        starts = [chain.start for chain in rig_of(body()).chains]
        kept = len(rig_of(body()).body_captured)
        yield from _safe_tool(window, kind, bone, way, end="ESC")
        is_back = is_alike(pose_of(body()), before) and [chain.start for chain in rig_of(body()).chains] == starts
        check(f"{kind} on '{bone}', cancelled, leaves all", is_back and len(rig_of(body()).body_captured) == kept)
        yield from _safe_tool(window, kind, bone, way)
        posed = pose_of(body())
        is_kept = bone in rig_of(body()).body_captured
        check(
            f"{kind} on '{bone}' is the start pose of the body", is_kept and not is_alike(posed, before) and hold(stood)
        )
        yield from window.picture(f"16_live_{kind}")
        yield from window.history(back=True)
        yield from holds("undo", lambda: is_alike(pose_of(body()), before))  # noqa: B023
        yield from window.history(back=False)
        yield from holds("redo", lambda: is_alike(pose_of(body()), posed))  # noqa: B023
        with window.context():
            OPS.fabrik.solve_all()
        yield WAIT
        check("a solve by button moves nothing", is_alike(pose_of(body()), posed, 1e-4))


def _reached(window: Window) -> Iterator[float]:
    """A hand that reaches for a dragged target: the body follows, and automatic keying keys it, its place included."""
    stood = feet()
    tools = CONTEXT.scene.tool_settings
    CONTEXT.preferences.edit.use_keyframe_insert_available = False
    with window.context():
        select_bones(body(), "hand.L")
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
    yield from window.push("target")
    before = pose_of(body())
    yield from _safe_tool(window, "G", "hand.L", (60, -120))
    posed = pose_of(body())
    has_key = rig_of(body()).chains["hand.L"].target.animation_data is not None
    check(
        "the body follows a dragged target, which alone is keyed",
        has_key and not keyed_curves(body()) and not is_alike(posed, before),
    )
    yield from window.picture("16_live_reach")
    CONTEXT.scene.frame_set(CONTEXT.scene.frame_current + 3)
    CONTEXT.scene.frame_set(CONTEXT.scene.frame_current - 3)
    yield WAIT
    yield from holds("and they play what was seen", lambda: is_alike(pose_of(body()), posed, 1e-4) and hold(stood))
    yield from window.history(back=True)
    yield from holds(
        "undo takes the pose away", lambda: not keyed_curves(body()) and is_alike(pose_of(body()), before, 1e-4)
    )
    yield from window.history(back=False)
    yield from holds("redo brings it back", lambda: not keyed_curves(body()) and is_alike(pose_of(body()), posed, 1e-4))
    tools.use_keyframe_insert_auto = False


def lived_bodies(window: Window) -> Iterator[float]:
    """All of it."""
    yield from _made_live(window)
    yield from _posed_live(window)
    yield from _reached(window)
