# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's window for `gui_check.py`: clicks, drags, and checks what changed in the data after each."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from math import dist
from pathlib import Path

import bpy
from mathutils import Quaternion, Vector

sys.path.insert(0, str(Path(__file__).parent.parent))  # Blender runs this file by its path

from blender import armature_of, limit_of, overlay_of, rig_of
from gui.baking import baked
from gui.bodies import dragged_bodies
from gui.by_hand import beside
from gui.control_bones import dragged_by_a_bone
from gui.dragging import dragged_as_posed, dragged_without_a_chain
from gui.live_bodies import lived_bodies
from gui.menus import at_hand
from gui.panels import photographed
from gui.surfaces import surfaces
from gui.walkers import walked
from gui.window import ARCHIVE, CONTEXT, MODULE, OPS, PART, WAIT, Window, check, make_leg, rotations, say, tip


def opened(window: Window) -> Iterator[float]:
    """Install the archive and open the tab."""
    bpy.ops.extensions.package_install_files(filepath=ARCHIVE, repo="user_default", enable_on_install=True)
    check("the built archive installs and is enabled", hasattr(bpy.types.Object, "fabrik_chains"))
    make_leg()
    window.view.show_region_ui = True
    while window.region("UI").width <= 1 or window.region("UI").active_panel_category == "UNSUPPORTED":
        yield 0.1
    setattr(window.region("UI"), "active_panel_category", "FABRIK")
    with window.context():
        bpy.ops.view3d.view_axis(type="RIGHT")
        bpy.ops.view3d.view_all()
    window.view.region_3d.view_distance = 6.5
    yield WAIT


def made(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """Add a chain, a target and a pole, and solve."""
    yield from window.picture("1_no_chain")
    yield from window.click("Add Chain")
    check("Add Chain makes a chain of the selected bones", [c.bone_count for c in rig_of(owner).chains] == [3])
    with window.context():
        OPS.fabrik.target_add()
        OPS.fabrik.pole_add()
    yield WAIT
    shin = limit_of(owner.pose.bones["shin"])
    shin.limit, shin.angle_min, shin.angle_max = "HINGE", -2.6, 0.0
    foot = limit_of(owner.pose.bones["foot"])
    foot.limit, foot.angle_min, foot.angle_max = "HINGE", -0.8, 1.0
    before = rotations(owner)
    rig_of(owner).chains[0].target.location = (0.1, -0.8, 0.7)
    yield WAIT
    check("nothing moves before Solve", rotations(owner) == before)
    yield from window.click("Solve")
    chain = rig_of(owner).chains[0]
    check("Solve brings the tip to the target", chain.status == "REACHED" and rotations(owner) != before)
    yield from window.picture("2_solved")


def lived(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """Live posing and the overlay."""
    yield from window.click("Overlay")
    check("Overlay is on", overlay_of(CONTEXT.scene).show)
    yield from window.click("Live")
    check("Live is on", rig_of(owner).live)
    chain = rig_of(owner).chains[0]
    for number, place in enumerate(((0.1, -1.0, 0.9), (0.2, 0.6, 0.5), (0.0, -0.3, 1.2))):
        before = rotations(owner)
        chain.target.location = place
        yield WAIT
        follows = dist(tip(owner), chain.target.matrix_world.translation) < 1e-3
        check(f"live, the limb follows its target to place {number}", follows or chain.status == "BLOCKED")
        check(f"live, the pose changes at place {number}", rotations(owner) != before)
    chain.target.location = (0.1, -1.0, 0.9)
    yield from window.picture("3_live")
    chain.target.location = (0.0, 0.25, 1.9)
    yield WAIT
    check("a target that limits keep away is said to be blocked", chain.status == "BLOCKED")
    yield from window.picture("4_blocked")
    chain.target.location = (0.1, -0.8, 0.7)
    yield from window.click("Live")
    check("Live is off again", not rig_of(owner).live)


def dragged(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """Drag the tip with the mouse: along the view, along Z, as a rope, and cancel."""
    start, at = tip(owner), window.seen(tip(owner))
    yield from window.move(at)
    yield from window.key("G", at, ctrl=True, shift=True)
    for step in range(1, 7):
        yield from window.move((at[0] - 12 * step, at[1] + 8 * step))
    yield WAIT
    moved = tip(owner) - start
    check("the tip is dragged in the plane of the view", abs(moved.x) < 1e-3 and moved.length > 0.2)
    yield from window.picture("5_dragging", away=False)
    there = at[0] - 72, at[1] + 48
    yield from window.key("Z", there)
    check("Z keeps to the Z axis", abs((tip(owner) - start).y) < 2e-2)
    yield from window.key("Z", there)
    yield from window.events(("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE"), at=there)
    yield WAIT
    check("the dragged pose stays", (tip(owner) - start - moved).length < 1e-3)
    stood, root = rotations(owner), owner.pose.bones["thigh"].location.copy()
    at = window.seen(tip(owner))
    yield from window.move(at)
    yield from window.key("G", at, ctrl=True, shift=True)
    yield from window.key("A", at)
    for step in range(1, 9):
        yield from window.move((at[0] - 25 * step, at[1]))
    yield WAIT
    pulled = dist(owner.pose.bones["thigh"].location, root)
    check("without anchor the whole chain is pulled along", pulled > 0.2)
    yield from window.picture("6_rope", away=False)
    yield from window.key("ESC", at)
    yield WAIT
    back = dist(owner.pose.bones["thigh"].location, root) < 1e-6 and rotations(owner) == stood
    check("Esc puts all back", back)
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    owner = bpy.data.objects["Leg"]
    check("the drag is undone in one step", dist(tip(owner), start) < 1e-3 and bool(rig_of(owner).chains))


def snapped(window: Window) -> Iterator[float]:
    """Drag the tip with snapping: to a vertex of a mesh, and by steps."""
    owner = bpy.data.objects["Leg"]
    mesh = bpy.data.meshes.new("Wall")
    corners = [(-1, -1.2, 0.4), (-1, -0.7, 0.4), (-1, -0.7, 0.9), (-1, -1.2, 0.9)]
    mesh.from_pydata([Vector(corner) for corner in corners], [], [(0, 1, 2, 3)])
    wall = bpy.data.objects.new("Wall", mesh)
    CONTEXT.scene.collection.objects.link(wall)
    tools = CONTEXT.scene.tool_settings
    tools.use_snap, tools.snap_elements = True, {"VERTEX"}
    yield WAIT
    at, to = window.seen(tip(owner)), window.seen(Vector((-1, -0.75, 0.85)))
    yield from window.move(at)
    yield from window.key("G", at, ctrl=True, shift=True)
    for step in range(1, 5):
        yield from window.move((at[0] + (to[0] - at[0]) * step // 4, at[1] + (to[1] - at[1]) * step // 4))
    yield WAIT
    off = dist(tip(owner), corners[2])
    blocked = dist(corners[2], owner.matrix_world @ owner.pose.bones["thigh"].head) > 2.2
    check(f"the tip snaps to a vertex ({off:.1e} off)", off < 2e-3 or blocked)
    yield from window.key("ESC", to)
    tools.snap_elements = {"INCREMENT"}
    start = tip(owner)
    at = window.seen(start)
    yield from window.move(at)
    yield from window.key("G", at, ctrl=True, shift=True)
    yield from window.key("Z", at)
    for step in range(1, 7):
        yield from window.move((at[0], at[1] + 16 * step))
    yield WAIT
    moved = (tip(owner) - start).z
    check(f"the tip moves by whole steps ({moved:.3f})", abs(moved - 1.0) < 1e-2)
    yield from window.key("ESC", at)
    tools.use_snap = False
    bpy.data.objects.remove(wall)
    yield WAIT


def turned(window: Window) -> Iterator[float]:
    """Drag the end of the knee's range."""
    owner = bpy.data.objects["Leg"]
    knee = owner.pose.bones["shin"]
    armature_of(owner).bones.active = knee.bone
    yield WAIT
    before = limit_of(knee).angle_min
    placed_limit = import_module(f"{MODULE}.overlay.collect").placed_limit
    frame = placed_limit(owner, knee, CONTEXT.evaluated_depsgraph_get())
    at, to = (
        window.seen(frame @ (Quaternion((1, 0, 0), angle) @ Vector((0, 1, 0)))) for angle in (before, before + 0.6)
    )
    yield from window.move((at[0] + 40, at[1] + 40))
    yield from window.move(at)
    yield WAIT
    yield from window.events(("LEFTMOUSE", "PRESS"), at=at)
    for step in range(1, 6):
        x, y = (int(a + (b - a) * step / 5) for a, b in zip(at, to, strict=True))
        yield from window.move((x, y))
    yield from window.picture("8_limit_dragged", away=False)
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=to)
    yield WAIT
    moved = limit_of(owner.pose.bones["shin"]).angle_min - before
    check(f"the end of a range is dragged ({moved:.2f} rad)", 0.4 < moved < 0.8)
    yield from window.picture("8_limit_handle")
    with window.context():
        bpy.ops.ed.undo()
    yield WAIT
    undone = bpy.data.objects["Leg"]
    off = abs(limit_of(undone.pose.bones["shin"]).angle_min - before)
    check("dragging the end of a range is undone in one step", off < 1e-6)


def stepped(window: Window) -> Iterator[float]:
    """Step through a solve."""
    owner = bpy.data.objects["Leg"]
    before = rotations(owner)
    rig_of(owner).chains[0].use_plain = True
    rig_of(owner).chains[0].target.location = (0.1, -0.9, 0.9)
    yield WAIT
    with window.context():
        OPS.fabrik.record()
        for _ in range(2):
            OPS.fabrik.step(to="FORWARD")
    manager = bpy.context.window_manager
    check("two steps forward", getattr(manager, "fabrik_step") == 3)
    yield from window.picture("7_steps")
    with window.context():
        OPS.fabrik.steps_play("INVOKE_DEFAULT")
    yield 2.0
    check("playing goes on", getattr(manager, "fabrik_step") > 3)
    with window.context():
        OPS.fabrik.record_clear()
    yield WAIT
    check("stepping leaves the rig as it was", rotations(owner) == before)


def steps() -> Iterator[float]:
    """Everything; each yield is a wait in seconds, in which Blender redraws and handles events."""
    window = Window()
    yield from opened(window)
    owner = bpy.data.objects["Leg"]
    parts: dict[str, Callable[[], Iterator[float]]] = {
        "made": lambda: made(window, owner),
        "lived": lambda: lived(window, owner),
        "dragged": lambda: dragged(window, owner),
        "dragged_as_posed": lambda: dragged_as_posed(window),
        "dragged_without_a_chain": lambda: dragged_without_a_chain(window),
        "dragged_by_a_bone": lambda: dragged_by_a_bone(window),
        "snapped": lambda: snapped(window),
        "turned": lambda: turned(window),
        "stepped": lambda: stepped(window),
        "baked": lambda: baked(window),
        "at_hand": lambda: at_hand(window),
        "beside": lambda: beside(window),
        "dragged_bodies": lambda: dragged_bodies(window),
        "lived_bodies": lambda: lived_bodies(window),
        "walked": lambda: walked(window),
        "surfaces": lambda: surfaces(window),
        "panels": lambda: photographed(window),
    }
    for name, part in parts.items():
        if PART in {"", name}:
            yield from part()
    say("ok: done")


def run(waits: Iterator[float]) -> float | None:
    """The next wait; at the end, or where something breaks, Blender is left."""
    try:
        return next(waits)
    except StopIteration:
        pass
    except Exception:
        say("FAILED: " + traceback.format_exc().strip().splitlines()[-1])
        traceback.print_exc()
    with contextlib.suppress(RuntimeError):
        bpy.ops.wm.quit_blender()
    return None


preferences = bpy.context.preferences
preferences.view.show_splash = False
preferences.view.smooth_view = 0
preferences.view.pie_tap_timeout = 1000  # a key that a busy machine lets go late is no drag through the pie
preferences.use_preferences_save = False
running = steps()
bpy.app.timers.register(lambda: run(running), first_interval=0.3, persistent=True)
