# SPDX-License-Identifier: GPL-3.0-or-later
"""A body and a spider: bones pinned and dragged, Blender's own tools, led by the mouse; and motion through time."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from importlib import import_module
from math import cos, dist, hypot, sin
from typing import Any

import bpy
from mathutils import Vector

from blender import OPS, overlay_of, rig_of, select_bones
from dev.walking_rigs import make_rubble, make_spider
from rigs import BoneRow, row_of_bones

from .window import (
    CONTEXT,
    MODULE,
    WAIT,
    Window,
    check,
    curves_of,
    holds,
    is_alike,
    keyed_curves,
    leg,
    make_leg,
    overridden,
    pose_of,
    replay,
    select_target,
    show_armature,
)

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
    yield from window.do(lambda: bpy.ops.view3d.view_axis(type="FRONT"), bpy.ops.view3d.view_all)
    yield from window.push("a body")


def place(bone: str, end: str = "head") -> Vector:
    return body().matrix_world @ getattr(body().pose.bones[bone], end)


def feet() -> list[Vector]:
    return [place(f"foot{side}", end) for side in (".L", ".R") for end in ("head", "tail")]


def hold(before: list[Vector]) -> bool:
    """Whether the feet stand where they stood."""
    return max(map(dist, before, feet())) < 3e-4


def _pinned(window: Window) -> Iterator[float]:
    """From the button: bones are shown as the mouse comes over them, and P pins them."""
    yield from window.do(lambda: OPS.fabrik.drag_pick("INVOKE_DEFAULT"))
    for side in (".L", ".R"):
        at = window.seen(place(f"foot{side}").lerp(place(f"foot{side}", "tail"), 0.4))
        yield from window.move(at)
        yield WAIT
        if side == ".R":
            yield from window.picture("14_hover", away=False)
        before = pose_of(body())
        yield from window.press(at, "P")
        pins = [chain.tip_bone for chain in rig_of(body()).chains if chain.pin]
        check(f"P pins the foot under the mouse ({side})", f"foot{side}" in pins and is_alike(before, pose_of(body())))


def _hips_dragged(window: Window) -> Iterator[float]:
    """Press, move, and let go: the hips sink, the feet stay; Ctrl Z takes it back in one step."""
    stood, before, start = feet(), pose_of(body()), place("hips")
    at = window.seen(start)

    def look() -> Iterator[float]:
        yield WAIT
        yield from window.picture("15_hips", away=False)
        check("the hips are dragged, and the feet stay", dist(place("hips"), start) > 0.1 and hold(stood))

    yield from window.pull(at, (-20, -50), look=look())
    sunk = pose_of(body())
    yield from window.do(OPS.fabrik.solve_all)
    check("letting go anchors: a solve moves nothing", is_alike(sunk, pose_of(body()), 1e-3))
    yield from window.undo()
    check("a drag is one step to undo", is_alike(before, pose_of(body())))
    yield from window.cancel(at)


def _hand_dragged(window: Window) -> Iterator[float]:
    """By the shortcut: with rotation, turned, falloff by the wheel, cancelled; then out of reach, and G."""
    stood, before, falloff = feet(), pose_of(body()), rig_of(body()).falloff
    at = window.seen(place("hand.L").lerp(place("hand.L", "tail"), 0.1))
    there = yield from window.drag(at, (-60, 40))
    turn = body().pose.bones["hand.L"].matrix.to_quaternion()
    yield from window.press(there, "T")
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
    far = yield from window.drag(at, (330, 200), 12)
    yield from window.picture("17_out_of_reach", away=False)
    check("out of reach the feet stay", hold(stood))
    yield from window.press(far, "G")
    check("G lets go and keeps the pose", not is_alike(before, pose_of(body())) and hold(stood))
    to = window.seen(place("forearm.R").lerp(place("forearm.R", "tail"), 0.8))
    held = pose_of(body())
    yield from window.pull(to, (-30, -20))
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
    select_bones(body(), "foot.L", "foot.R")
    yield from window.do(OPS.fabrik.pin_toggle, OPS.fabrik.body_bone_set)
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
        yield from window.back_and_again(
            lambda: is_alike(pose_of(body()), before),  # noqa: B023
            lambda: is_alike(pose_of(body()), posed),  # noqa: B023
        )
        yield from window.do(OPS.fabrik.solve_all)
        check("a solve by button moves nothing", is_alike(pose_of(body()), posed, 1e-4))


def _reached(window: Window) -> Iterator[float]:
    """A hand that reaches for a dragged target: the body follows, and automatic keying keys it, its place included."""
    stood = feet()
    tools = CONTEXT.scene.tool_settings
    CONTEXT.preferences.edit.use_keyframe_insert_available = False
    select_bones(body(), "hand.L")
    yield from window.do(lambda: OPS.fabrik.chain_add(tip_bone="hand.L", bone_count=3), OPS.fabrik.target_add)
    chain = rig_of(body()).chains["hand.L"]
    check("a chain of a live body moves nothing", hold(stood) and chain.status == "REACHED")
    tools.use_keyframe_insert_auto = True
    yield from select_target(window, chain.target)
    before = pose_of(body())
    yield from _safe_tool(window, "G", "hand.L", (60, -120))
    posed = pose_of(body())
    has_key = rig_of(body()).chains["hand.L"].target.animation_data is not None
    check(
        "the body follows a dragged target, which alone is keyed",
        has_key and not keyed_curves(body()) and not is_alike(posed, before),
    )
    yield from window.picture("16_live_reach")
    yield from replay(CONTEXT.scene.frame_current)
    yield from holds("and they play what was seen", lambda: is_alike(pose_of(body()), posed, 1e-4) and hold(stood))
    yield from window.back_and_again(
        lambda: not keyed_curves(body()) and is_alike(pose_of(body()), before, 1e-4),
        lambda: not keyed_curves(body()) and is_alike(pose_of(body()), posed, 1e-4),
        " of the pose",
    )
    tools.use_keyframe_insert_auto = False


def lived_bodies(window: Window) -> Iterator[float]:
    """All of it."""
    yield from _made_live(window)
    yield from _posed_live(window)
    yield from _reached(window)


# ---- a spider that is led

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
    yield from window.do(lambda: OPS.fabrik.walk_by_hand("INVOKE_DEFAULT", record=record))
    way = (-STEP * STEPS, -STEP * STEPS // 3)
    yield from window.glide(start, way, STEPS)
    yield WAIT
    for _ in range(PATIENCE):  # it arrives
        before = _tips()
        yield WAIT
        if _moved(before) < 1e-4:
            break
    return start[0] + way[0], start[1] + way[1]


SECOND = 24  # frames


def _tips() -> list[Vector]:
    owner = _spider()
    return [owner.matrix_world @ owner.pose.bones[f"b{3 * leg + 3}"].tail for leg in range(2 * LEGS)]


def _moved(before: list[Vector]) -> float:
    """The farthest that a tip has moved."""
    return max(map(dist, _tips(), before))


def walked(window: Window) -> Iterator[float]:
    """Led and cancelled, led and recorded, played, and undone."""
    yield from _make(window)
    owner = _spider()
    stood, rest = owner.pose.bones["b0"].location.copy(), _tips()
    yield from _led(window, record=False)
    way = dist(_spider().pose.bones["b0"].location, stood)
    check(f"the body follows the mouse ({way:.2f})", way > 0.5)
    check("its feet step", min(map(dist, _tips(), rest)) > 0.1)
    yield from window.picture("18_walk_by_hand", away=False)
    yield from window.cancel((400, 400))
    check("Esc puts all back", _moved(rest) < 1e-4 and not rig_of(_spider()).walker.digest)
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
    for seconds in (1, 2):
        before = _tips()
        CONTEXT.scene.frame_set(frames[1] + seconds * SECOND)
        yield WAIT
    moved = _moved(before)
    check(f"and all feet have landed a second later ({moved:.1e})", moved < 1e-4)
    CONTEXT.scene.frame_set(frames[1] // 2)
    overlay_of(CONTEXT.scene).show = True
    yield from window.push("shown")
    yield from window.do(OPS.fabrik.walk_mark)
    prints = [one for one in bpy.data.curves if one.name.startswith("Spider_footprints")]
    check("footprints and markers", len(prints) == 1 and len(CONTEXT.scene.timeline_markers) > LEGS)
    yield from window.picture("19_recorded_walk")
    yield from window.do(bpy.ops.ed.undo, bpy.ops.ed.undo)
    check("one step back there is no walk", not rig_of(_spider()).walker.digest and _spider().animation_data is None)


# ---- motion

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
    yield from window.do(lambda: OPS.fabrik.trails_show(span="RANGE", frame_start=10, frame_end=30))
    yield from window.picture("16_trail")
    (trail,) = import_module(f"{MODULE}.overlay.settings").state.trails.values()
    at, before = window.seen(Vector(trail.at(FRAME + 6))), _keys()
    yield from window.drag(at, (0, 30), 5)
    yield from window.press((at[0], at[1] + 30))
    check("a dot of a trail is dragged in its frame", CONTEXT.scene.frame_current == FRAME + 6)
    yield from holds("and keys what it is of about that", lambda: _keys() == before | _about(FRAME + 6))
    yield from window.undo()
    yield from window.do(OPS.fabrik.trails_hide)


def _bar(window: Window) -> Iterator[float]:
    """The bar of a contact is dragged in a dope sheet by its last end; the timeline is too low for it as it opens."""
    yield from window.do(
        lambda: OPS.fabrik.contact_mark(kind="FLAT", span="RANGE", frame_start=STANDS[0], frame_end=STANDS[1])
    )
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
    yield from window.pull(at, (by, 0), 4)
    yield from holds("the bar of a contact is dragged by its end", lambda: _spans() == [(STANDS[0], STANDS[1] + 4)])
    area.type = "VIEW_3D"
    yield WAIT
    yield from window.undo()
    check("and one step back it is as it was", _spans() == [STANDS])
