# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own tools on the bones and the goal of a live limb, with undo and redo."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from math import dist
from typing import TYPE_CHECKING

import bpy

from blender import OPS, rig_of, select_bones

from .window import CONTEXT, MODULE, WAIT, Window, check, holds, is_alike, keyed_curves, leg, make_leg, pose_of, tip

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import FabrikChain

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
    with window.context():
        OPS.fabrik.chain_add()
        OPS.fabrik.target_add()
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
    yield from window.history(back=True)
    yield from holds(
        "undo brings pose, start and goal back",
        lambda: is_alike(pose_of(leg()), before) and chain().start == "REST" and place() == goal,
    )
    yield from window.history(back=False)
    yield from holds(
        "redo brings back what came of it",
        lambda: is_alike(pose_of(leg()), turned) and chain().start == "CAPTURED" and is_there() and place() != goal,
    )
    select_bones(leg(), "thigh", "shin", "foot")
    with window.context():
        OPS.pose.copy()
    yield from cleared(window)
    with window.context():
        OPS.pose.paste(flipped=False)
    yield WAIT
    yield from holds("Paste Pose brings the pose back", lambda: is_alike(pose_of(leg()), turned, 1e-3) and is_there())


def cleared(window: Window) -> Iterator[float]:
    """Alt R, from where redo and undo come back."""
    before, goal = pose_of(leg()), place()
    at = window.seen(tip(leg()))
    yield from window.move(at)
    yield from window.key("R", at, alt=True)
    yield WAIT
    after = pose_of(leg())
    is_rest = chain().start == "REST" and is_there() and not is_alike(before, after)
    check("Alt R brings the limb to its rest pose, and its goal along", is_rest and place() != goal)
    yield from window.history(back=True)
    yield from holds("undo of Alt R", lambda: is_alike(pose_of(leg()), before) and place() == goal)
    yield from window.history(back=False)
    yield from holds("redo of Alt R", lambda: is_alike(pose_of(leg()), after) and is_there())


def adjusted(window: Window) -> Iterator[float]:
    """The panel that does the last operation again with other numbers."""
    yield from made_live(window)
    yield from window.push("once more")  # the operator that is done again leaves no step of its own
    before = pose_of(leg())
    yield from tool(window, "R", (20, 150))
    first = pose_of(leg())
    numbers = CONTEXT.window_manager.operators[-1].properties
    setattr(numbers, "value", 0.3 * getattr(numbers, "value"))
    with window.context():
        bpy.ops.ed.undo_redo()
    yield WAIT
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
        before = pose_of(leg())
        at = window.seen(tip(leg()))
        yield from window.move(at)
        yield from window.key(kind, at, **keys)
        yield from window.glide(at, (160, 120), 4)
        yield WAIT
        shown = pose_of(leg())
        yield from window.press((at[0] + 160, at[1] + 120))
        is_kept = not is_alike(shown, before) and is_alike(pose_of(leg()), shown, 1e-3) and "shin" in keyed_bones()
        check(f"{kind} on a chain that starts from its keys is heard and keyed", is_kept and is_there())
        posed = pose_of(leg())
        CONTEXT.scene.frame_set(7)
        CONTEXT.scene.frame_set(6)
        yield WAIT
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
    yield from window.history(back=True)
    yield from holds("undo", lambda: is_alike(pose_of(leg()), before) and place() == goal)
    yield from window.history(back=False)
    yield from holds("redo", lambda: is_alike(pose_of(leg()), turned) and place() != goal and is_there())
    chain().target.location = goal
    CONTEXT.scene.frame_set(2)
    CONTEXT.scene.frame_set(1)
    yield WAIT
    yield from holds("the next frame ends it", lambda: is_alike(pose_of(leg()), before))


def keyed(window: Window) -> Iterator[float]:
    """Automatic keys of a dragged target, through undo and redo."""
    yield from made_live(window)
    tools = CONTEXT.scene.tool_settings
    tools.use_keyframe_insert_auto = True
    CONTEXT.preferences.edit.use_keyframe_insert_available = False
    CONTEXT.scene.frame_set(5)
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
    chain().target.select_set(True)
    CONTEXT.view_layer.objects.active = chain().target
    yield WAIT
    yield from window.push("target")
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
    CONTEXT.scene.frame_set(9)
    CONTEXT.scene.frame_set(5)
    yield WAIT
    yield from holds("and they play", lambda: is_alike(pose_of(leg()), seen[1]))
    tools.use_keyframe_insert_auto = False


def beside(window: Window) -> Iterator[float]:
    """Everything of it."""
    for part in (posed_by_hand, adjusted, held, keyed, from_keys):
        yield from part(window)
