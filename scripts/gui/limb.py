# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg in Blender's window: made, live, dragged, snapped, stepped through, and baked."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from math import dist

import bpy
from mathutils import Quaternion, Vector

from blender import OPS, armature_of, limit_of, overlay_of, rig_of

from .window import CONTEXT, MODULE, WAIT, Window, check, curves_of, holds, leg, overridden, pose_of, tip

LONG, SHORT = 300_000, 120  # frames; the long ones take longer to bake than the check takes to look


def made(window: Window) -> Iterator[float]:
    """Add a chain, a target and a pole, and solve."""
    owner = leg()
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
    before = pose_of(owner)
    rig_of(owner).chains[0].target.location = (0.1, -0.8, 0.7)
    yield WAIT
    check("nothing moves before Solve", pose_of(owner) == before)
    yield from window.click("Solve")
    chain = rig_of(owner).chains[0]
    check("Solve brings the tip to the target", chain.status == "REACHED" and pose_of(owner) != before)
    yield from window.picture("2_solved")


def lived(window: Window) -> Iterator[float]:
    """Live posing and the overlay."""
    owner = leg()
    yield from window.click("Overlay")
    check("Overlay is on", overlay_of(CONTEXT.scene).show)
    yield from window.click("Live")
    check("Live is on", rig_of(owner).live)
    chain = rig_of(owner).chains[0]
    for number, place in enumerate(((0.1, -1.0, 0.9), (0.2, 0.6, 0.5), (0.0, -0.3, 1.2))):
        before = pose_of(owner)
        chain.target.location = place
        yield WAIT
        follows = dist(tip(owner), chain.target.matrix_world.translation) < 1e-3
        check(f"live, the limb follows its target to place {number}", follows or chain.status == "BLOCKED")
        check(f"live, the pose changes at place {number}", pose_of(owner) != before)
    chain.target.location = (0.1, -1.0, 0.9)
    yield from window.picture("3_live")
    chain.target.location = (0.0, 0.25, 1.9)
    yield WAIT
    check("a target that limits keep away is said to be blocked", chain.status == "BLOCKED")
    yield from window.picture("4_blocked")
    chain.target.location = (0.1, -0.8, 0.7)
    yield from window.click("Live")
    check("Live is off again", not rig_of(owner).live)


def dragged(window: Window) -> Iterator[float]:
    """Drag the tip with the mouse: along the view, along Z, as a rope, and cancel."""
    owner = leg()
    start, at = tip(owner), window.seen(tip(owner))
    yield from window.drag_from(at)
    yield from window.glide(at, (-72, 48), 6)
    yield WAIT
    moved = tip(owner) - start
    check("the tip is dragged in the plane of the view", abs(moved.x) < 1e-3 and moved.length > 0.2)
    yield from window.picture("5_dragging", away=False)
    there = at[0] - 72, at[1] + 48
    yield from window.key("Z", there)
    check("Z keeps to the Z axis", abs((tip(owner) - start).y) < 2e-2)
    yield from window.key("Z", there)
    yield from window.press(there)
    check("the dragged pose stays", (tip(owner) - start - moved).length < 1e-3)
    stood, root = pose_of(owner), owner.pose.bones["thigh"].location.copy()
    at = window.seen(tip(owner))
    yield from window.drag_from(at)
    yield from window.key("A", at)
    yield from window.glide(at, (-200, 0))
    yield WAIT
    pulled = dist(owner.pose.bones["thigh"].location, root)
    check("without anchor the whole chain is pulled along", pulled > 0.2)
    yield from window.picture("6_rope", away=False)
    yield from window.cancel(at)
    back = dist(owner.pose.bones["thigh"].location, root) < 1e-6 and pose_of(owner) == stood
    check("Esc puts all back", back)
    yield from window.undo()
    owner = leg()
    check("the drag is undone in one step", dist(tip(owner), start) < 1e-3 and bool(rig_of(owner).chains))


def snapped(window: Window) -> Iterator[float]:
    """Drag the tip with snapping: to a vertex of a mesh, and by steps."""
    owner = leg()
    mesh = bpy.data.meshes.new("Wall")
    corners = [(-1, -1.2, 0.4), (-1, -0.7, 0.4), (-1, -0.7, 0.9), (-1, -1.2, 0.9)]
    mesh.from_pydata([Vector(corner) for corner in corners], [], [(0, 1, 2, 3)])
    wall = bpy.data.objects.new("Wall", mesh)
    CONTEXT.scene.collection.objects.link(wall)
    tools = CONTEXT.scene.tool_settings
    tools.use_snap, tools.snap_elements = True, {"VERTEX"}
    yield WAIT
    at, to = window.seen(tip(owner)), window.seen(Vector((-1, -0.75, 0.85)))
    yield from window.drag_from(at)
    yield from window.glide(at, (to[0] - at[0], to[1] - at[1]), 4)
    yield WAIT
    off = dist(tip(owner), corners[2])
    blocked = dist(corners[2], owner.matrix_world @ owner.pose.bones["thigh"].head) > 2.2
    check(f"the tip snaps to a vertex ({off:.1e} off)", off < 2e-3 or blocked)
    yield from window.key("ESC", to)
    tools.snap_elements = {"INCREMENT"}
    start = tip(owner)
    at = window.seen(start)
    yield from window.drag_from(at)
    yield from window.key("Z", at)
    yield from window.glide(at, (0, 96), 6)
    yield WAIT
    moved = (tip(owner) - start).z
    check(f"the tip moves by whole steps ({moved:.3f})", abs(moved - 1.0) < 1e-2)
    yield from window.key("ESC", at)
    tools.use_snap = False
    bpy.data.objects.remove(wall)
    yield WAIT


def turned(window: Window) -> Iterator[float]:
    """Drag the end of the knee's range."""
    owner = leg()
    knee = owner.pose.bones["shin"]
    armature_of(owner).bones.active = knee.bone
    yield WAIT
    before = limit_of(knee).angle_min
    placed_limit = import_module(f"{MODULE}.overlay.view").placed_limit
    frame = placed_limit(owner, knee, CONTEXT.evaluated_depsgraph_get())
    at, to = (
        window.seen(frame @ (Quaternion((1, 0, 0), angle) @ Vector((0, 1, 0)))) for angle in (before, before + 0.6)
    )
    yield from window.move((at[0] + 40, at[1] + 40))
    yield from window.move(at)
    yield WAIT
    yield from window.events(("LEFTMOUSE", "PRESS"), at=at)
    yield from window.glide(at, (to[0] - at[0], to[1] - at[1]), 5)
    yield from window.picture("8_limit_dragged", away=False)
    yield from window.events(("LEFTMOUSE", "RELEASE"), at=to)
    yield WAIT
    moved = limit_of(owner.pose.bones["shin"]).angle_min - before
    check(f"the end of a range is dragged ({moved:.2f} rad)", 0.4 < moved < 0.8)
    yield from window.picture("8_limit_handle")
    yield from window.undo()
    undone = leg()
    off = abs(limit_of(undone.pose.bones["shin"]).angle_min - before)
    check("dragging the end of a range is undone in one step", off < 1e-6)


def stepped(window: Window) -> Iterator[float]:
    """Step through a solve."""
    owner = leg()
    before = pose_of(owner)
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
    check("stepping leaves the rig as it was", pose_of(owner) == before)


def baked(window: Window) -> Iterator[float]:
    """Bake by the dialog: given up with Esc, then to the end."""
    owner = leg()
    chain = rig_of(owner).chains[0]
    chain.use_plain = False
    for frame, place in ((1, (0.1, -0.8, 0.7)), (40, (0.0, 0.3, 0.4)), (80, (0.0, 0.25, 1.9)), (SHORT, (0, -0.3, 0.5))):
        chain.target.location = Vector(place)
        chain.target.keyframe_insert("location", frame=frame)
    region = window.region("WINDOW")
    middle = region.x + region.width // 2, region.y + region.height // 2
    yield from _given_up(window, owner, middle)
    yield from _to_the_end(window, owner, middle)


def _given_up(window: Window, owner: bpy.types.Object, middle: tuple[int, int]) -> Iterator[float]:
    """A bake that goes on beside the window, and Esc."""
    scene, chain = CONTEXT.scene, rig_of(owner).chains[0]
    still = chain.target.constraints.new("LIMIT_LOCATION")  # its frames have to be visited
    scene.frame_end = LONG
    scene.frame_set(1)
    yield WAIT
    yield from window.move(middle)
    yield from window.push("before the bake")
    with window.context():
        OPS.fabrik.bake("INVOKE_DEFAULT")
    yield WAIT
    yield from window.picture("9_bake_dialog", away=False)
    yield from window.key("RET", middle)
    yield 1.5
    running = [found.bl_idname for found in window.window.modal_operators]
    check("a long bake goes on beside the window", "FABRIK_OT_bake" in running)
    yield from window.picture("10_bake_progress")
    yield from window.cancel(middle)
    check("Esc ends it", not window.window.modal_operators)
    check("and leaves no key and the chain enabled", not curves_of(owner) and chain.enabled)
    chain.target.constraints.remove(still)


def _to_the_end(window: Window, owner: bpy.types.Object, middle: tuple[int, int]) -> Iterator[float]:
    """A bake whose report is looked at, and undone."""
    scene, chain = CONTEXT.scene, rig_of(owner).chains[0]
    scene.frame_end = SHORT
    was_live, rig_of(owner).live = rig_of(owner).live, True
    OPS.ed.undo_push(message="Live")
    with window.context():
        OPS.fabrik.bake("INVOKE_DEFAULT")
    yield WAIT
    yield from window.key("RET", middle)
    yield 1.0
    yield from holds("a short bake keys all bones", lambda: len(curves_of(owner)) == 12 and not chain.enabled)
    check("which the chain knows, and live posing is off", chain.is_baked and not rig_of(owner).live)
    for area in window.window.screen.areas:
        if area.type == "DOPESHEET_EDITOR":
            with overridden(window=window.window, area=area, region=area.regions[-1]):
                OPS.action.view_all()
    scene.frame_set(80)
    yield from window.scroll("DOWN")
    yield from window.picture("11_bake_report")
    yield from window.undo()
    undone = leg()
    check("a bake is undone in one step", not curves_of(undone) and rig_of(undone).chains[0].enabled)
    check("live posing included", rig_of(undone).live)
    rig_of(undone).live = was_live
