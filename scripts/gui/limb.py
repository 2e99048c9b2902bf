# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg in Blender's window: made, live, dragged, snapped, stepped through, baked, and posed by Blender's own tools."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from math import dist
from typing import TYPE_CHECKING

import bpy
from mathutils import Quaternion, Vector

from blender import OPS, armature_of, limit_of, overlay_of, rig_of, select_bones

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
    moved,
    overridden,
    pose_of,
    replay,
    select_target,
    tip,
)

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import FabrikChain

LONG, SHORT = 300_000, 120  # frames; the long ones take longer to bake than the check takes to look


def made(window: Window) -> Iterator[float]:
    """Add a chain, a target and a pole, and solve."""
    owner = leg()
    yield from window.picture("1_no_chain")
    yield from window.click("Add Chain")
    check("Add Chain makes a chain of the selected bones", [c.bone_count for c in rig_of(owner).chains] == [3])
    yield from window.do(OPS.fabrik.target_add, OPS.fabrik.pole_add)
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
    there = yield from window.drag(at, (-72, 48), 6)
    moved = tip(owner) - start
    check("the tip is dragged in the plane of the view", abs(moved.x) < 1e-3 and moved.length > 0.2)
    yield from window.picture("5_dragging", away=False)
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
    yield from window.drag(at, (to[0] - at[0], to[1] - at[1]), 4)
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
    seen = window.picture("8_limit_dragged", away=False)
    yield from window.pull(at, (to[0] - at[0], to[1] - at[1]), 5, seen)
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
    yield from window.do(lambda: OPS.fabrik.steps_play("INVOKE_DEFAULT"))
    yield 2.0
    check("playing goes on", getattr(manager, "fabrik_step") > 3)
    yield from window.do(OPS.fabrik.record_clear)
    check("stepping leaves the rig as it was", pose_of(owner) == before)


def baked(window: Window) -> Iterator[float]:
    """Bake by the dialog: given up with Esc, then to the end."""
    owner = leg()
    chain = rig_of(owner).chains[0]
    chain.use_plain = False
    for frame, place in ((1, (0.1, -0.8, 0.7)), (40, (0.0, 0.3, 0.4)), (80, (0.0, 0.25, 1.9)), (SHORT, (0, -0.3, 0.5))):
        chain.target.location = Vector(place)
        chain.target.keyframe_insert("location", frame=frame)
    yield from _given_up(window, owner, window.middle())
    yield from _to_the_end(window, owner, window.middle())


def _given_up(window: Window, owner: bpy.types.Object, middle: tuple[int, int]) -> Iterator[float]:
    """A bake that goes on beside the window, and Esc."""
    scene, chain = CONTEXT.scene, rig_of(owner).chains[0]
    still = chain.target.constraints.new("LIMIT_LOCATION")  # its frames have to be visited
    scene.frame_end = LONG
    scene.frame_set(1)
    yield WAIT
    yield from window.move(middle)
    yield from window.push("before the bake")
    yield from window.do(lambda: OPS.fabrik.bake("INVOKE_DEFAULT"))
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
    yield from window.do(lambda: OPS.fabrik.bake("INVOKE_DEFAULT"))
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


# ---- drags

POSED = {"thigh": (0.9, 0.3, 0.2, -0.1), "shin": (0.8, -0.6, 0.0, 0.0), "foot": (0.95, 0.2, 0, 0)}


def dragged_as_posed(window: Window) -> Iterator[float]:
    """A drag by six pixels of a posed limb moves it by as much, and it stays so when it is solved."""
    owner = leg()
    chain = rig_of(owner).chains[0]
    for name, turn in POSED.items():
        owner.pose.bones[name].rotation_quaternion = turn
    yield from window.push("posed by hand")
    before, stood, place = pose_of(owner), tip(owner), chain.target.location.copy()
    end = yield from window.drag(window.seen(stood), (-6, 0), 6)
    yield from window.press(end)
    owner = leg()
    chain = rig_of(owner).chains[0]
    turned = moved(before, pose_of(owner))
    check(f"six pixels turn a posed limb by little ({turned:.3f})", 0.0 < turned < 0.1)
    check("letting go captures the start pose", chain.start == "CAPTURED")
    check("and takes the target along", dist(chain.target.matrix_world.translation, tip(owner)) < 1e-4)
    there = pose_of(owner)
    yield from window.do(OPS.fabrik.solve)
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
    yield from window.do(rig_of(owner).chains.clear)
    before, stood = pose_of(owner), tip(owner)
    middle = window.seen(owner.matrix_world @ (owner.pose.bones["foot"].head.lerp(owner.pose.bones["foot"].tail, 0.5)))
    there = yield from window.drag(middle, (-12, 0), 12)
    yield from window.picture("12_drag_bone", away=False)
    yield from window.press(there)
    way = dist(tip(leg()), stood)
    check("a bone without a chain is dragged with its limb", 0.0 < way < 0.3 and moved(before, pose_of(leg())) > 0.0)
    check("and no chain is left of it", not rig_of(leg()).chains)
    before = pose_of(leg())
    yield from window.drag((window.region("WINDOW").x + 150, window.middle()[1]), (-12, 0), 12)
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
        there = yield from window.drag(at, (-36, 30), 6)
        way = dist(_goal(), stood)
        check(f"a live limb is dragged by its control bone ({way:.2f})", way > 0.1)
        check("and its tip is with it", dist(_goal(), tip(leg())) < 1e-3)
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


# ---- Blender's own tools

PLACE = (0.1, -0.8, 0.7)


def chain() -> FabrikChain:
    return rig_of(leg()).chains[0]


def keyed_bones() -> set[str]:
    """Bones that have a key at this frame."""
    paths = [curve.data_path for curve in keyed_curves(leg())]
    return {path.split('"')[1] for path in paths if path.startswith("pose.bones")}


def tool(window: Window, kind: str, way: tuple[int, int], end: str = "LEFTMOUSE") -> Iterator[float]:
    """A modal tool, begun beside the foot."""
    x, y = window.seen(tip(leg()))
    yield from window.tool(kind, (x + 60, y + 40), way, end)


def place() -> tuple[float, ...]:
    """Where the target stands."""
    return tuple(chain().target.location)


def is_there() -> bool:
    """Whether the tip stands at its target."""
    return dist(tip(leg()), chain().target.matrix_world.translation) < 1e-3


def made_live(window: Window) -> Iterator[float]:
    """A live leg with a target."""
    make_leg()
    yield from window.do(OPS.fabrik.chain_add, OPS.fabrik.target_add)
    chain().target.location = PLACE
    rig_of(leg()).live = True
    select_bones(leg(), "shin")
    yield WAIT
    yield from window.push("live leg")


def posed_by_hand(window: Window) -> Iterator[float]:
    """Bones turned, cleared, pasted: what comes of it, and of undo and redo."""
    yield from made_live(window)
    before, goal = pose_of(leg()), place()
    yield from tool(window, "R", (0, 120), end="ESC")
    check("R, cancelled on a live limb, leaves pose and start", pose_of(leg()) == before and chain().start == "REST")
    check("and the goal", place() == goal)
    yield from tool(window, "R", (20, 150))
    turned = pose_of(leg())
    check("a bone turned by hand becomes the start pose", chain().start == "CAPTURED" and not is_alike(turned, before))
    check("its goal came along", is_there() and place() != goal)
    yield from window.picture("12_by_hand")
    yield from window.back_and_again(
        lambda: is_alike(pose_of(leg()), before) and chain().start == "REST" and place() == goal,
        lambda: is_alike(pose_of(leg()), turned) and chain().start == "CAPTURED" and is_there() and place() != goal,
        " brings back pose, start and goal",
    )
    select_bones(leg(), "thigh", "shin", "foot")
    yield from window.do(OPS.pose.copy)
    yield from cleared(window)
    yield from window.do(lambda: OPS.pose.paste(flipped=False))
    yield from holds("Paste Pose brings the pose back", lambda: is_alike(pose_of(leg()), turned, 1e-3) and is_there())


def cleared(window: Window) -> Iterator[float]:
    """Alt R, from where redo and undo come back."""
    before, goal = pose_of(leg()), place()
    at = window.seen(tip(leg()))
    yield from window.move(at)
    yield from window.press(at, "R", alt=True)
    after = pose_of(leg())
    is_rest = chain().start == "REST" and is_there() and not is_alike(before, after)
    check("Alt R brings the limb to its rest pose, and its goal along", is_rest and place() != goal)
    yield from window.back_and_again(
        lambda: is_alike(pose_of(leg()), before) and place() == goal,
        lambda: is_alike(pose_of(leg()), after) and is_there(),
        " of Alt R",
    )


def adjusted(window: Window) -> Iterator[float]:
    """The panel that does the last operation again with other numbers."""
    yield from made_live(window)
    yield from window.push("once more")  # the operator that is done again leaves no step of its own
    before = pose_of(leg())
    yield from tool(window, "R", (20, 150))
    first = pose_of(leg())
    numbers = CONTEXT.window_manager.operators[-1].properties
    setattr(numbers, "value", 0.3 * getattr(numbers, "value"))
    yield from window.do(bpy.ops.ed.undo_redo)
    found = pose_of(leg())
    check("Adjust Last Operation is heard", not is_alike(found, first) and not is_alike(found, before) and is_there())
    yield from window.history(back=True)
    yield from holds("and undone", lambda: is_alike(pose_of(leg()), before) and chain().start == "REST" and is_there())


def from_keys(window: Window) -> Iterator[float]:
    """A chain that starts from its keys, with automatic keying: turned, and between two poses."""
    yield from made_live(window)
    tools = CONTEXT.scene.tool_settings
    chain().start = "ANIMATED"
    for frame, angle in ((1, 0.0), (11, -0.5)):
        CONTEXT.scene.frame_set(frame)
        for bone in leg().pose.bones:
            bone.rotation_quaternion = (1.0, angle, 0.0, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    CONTEXT.scene.frame_set(6)
    tools.use_keyframe_insert_auto = True
    yield WAIT
    yield from window.push("keys")
    for kind, keys in (("R", {}), ("E", {"shift": True})):
        before, at = pose_of(leg()), window.seen(tip(leg()))
        yield from window.move(at)
        yield from window.key(kind, at, **keys)
        yield from window.glide(at, (160, 120), 4)
        yield WAIT
        shown = pose_of(leg())
        yield from window.press((at[0] + 160, at[1] + 120))
        is_kept = not is_alike(shown, before) and is_alike(pose_of(leg()), shown, 1e-3) and "shin" in keyed_bones()
        check(f"{kind} on a chain that starts from its keys is heard and keyed", is_kept and is_there())
        posed = pose_of(leg())
        yield from replay(6)
        check("and plays", is_alike(pose_of(leg()), posed, 1e-4))
        yield from window.history(back=True)
        check("undo", is_alike(pose_of(leg()), before, 1e-4))
        yield from window.history(back=False)
        check("redo", is_alike(pose_of(leg()), posed, 1e-4) and "shin" in keyed_bones())
    tools.use_keyframe_insert_auto = False


def held(window: Window) -> Iterator[float]:
    """Bones with keys: a pose made by hand holds until the frame changes."""
    yield from made_live(window)
    for frame in (1, 20):
        for bone in leg().pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    CONTEXT.scene.frame_set(1)
    yield WAIT
    yield from window.push("keys")
    before, goal = pose_of(leg()), place()
    yield from tool(window, "R", (0, 120), end="ESC")
    check("R, cancelled on a keyed limb, leaves the pose", pose_of(leg()) == before and place() == goal)
    yield from tool(window, "R", (0, 120))
    turned = pose_of(leg())
    is_held = not is_alike(turned, before) and chain().start == "REST" and place() != goal and is_there()
    check("a keyed bone turned by hand stays so", is_held)
    notes: list[str] = import_module(f"{MODULE}.actions.live").notes_of(leg())
    check("the panel says for how long", [note.endswith("holds until the frame changes") for note in notes] == [True])
    yield from window.picture("13_held")
    yield from window.back_and_again(
        lambda: is_alike(pose_of(leg()), before) and place() == goal,
        lambda: is_alike(pose_of(leg()), turned) and place() != goal and is_there(),
    )
    chain().target.location = goal
    yield from replay(1)
    yield from holds("the next frame ends it", lambda: is_alike(pose_of(leg()), before))


def keyed(window: Window) -> Iterator[float]:
    """Automatic keys of a dragged target, through undo and redo."""
    yield from made_live(window)
    tools = CONTEXT.scene.tool_settings
    tools.use_keyframe_insert_auto = True
    CONTEXT.preferences.edit.use_keyframe_insert_available = False
    CONTEXT.scene.frame_set(5)
    yield from select_target(window, chain().target)
    yield from tool(window, "G", (70, 30), end="ESC")
    check("a cancelled drag keys nothing", not keyed_bones())
    seen = []
    for way in ((40, 50), (-10, 40)):
        yield from tool(window, "G", way)
        has_key = chain().target.animation_data is not None
        check("a dragged target keys itself and no bone", has_key and not keyed_bones() and is_there())
        seen.append(pose_of(leg()))
    yield from window.history(back=True)
    yield from holds("undo of a drag", lambda: is_alike(pose_of(leg()), seen[0]) and not keyed_bones())
    yield from window.history(back=True)
    yield from holds("undo of the first drag takes all keys away", lambda: not keyed_bones() and is_there())
    for number, expected in enumerate(seen):
        yield from window.history(back=False)
        is_same = is_alike(pose_of(leg()), expected) and not keyed_bones() and is_there()
        check(f"redo {number + 1} brings back the target's keys, and the limb with them", is_same)
    yield from replay(5)
    yield from holds("and they play", lambda: is_alike(pose_of(leg()), seen[1]))
    tools.use_keyframe_insert_auto = False


def beside(window: Window) -> Iterator[float]:
    """Everything of it."""
    for part in (posed_by_hand, adjusted, held, keyed, from_keys):
        yield from part(window)
