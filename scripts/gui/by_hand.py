# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of `gui_check.py`: Blender's own tools on the bones and the goal of a live limb, with undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from math import dist
from typing import TYPE_CHECKING

import bpy

from blender import armature_of, rig_of

from .window import CONTEXT, MODULE, OPS, WAIT, Window, check, curves_of, make_leg, rotations, tip

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import FabrikChain
    from fabrik_addon.session.live.known import Hand, Key

PLACE = (0.1, -0.8, 0.7)
PATIENCE = 8  # waits


def leg() -> bpy.types.Object:
    return bpy.data.objects["Leg"]


def chain() -> FabrikChain:
    return rig_of(leg()).chains[0]


def is_there() -> bool:
    """Whether the tip stands at its target."""
    return dist(tip(leg()), chain().target.matrix_world.translation) < 1e-3


def is_alike(a: list[tuple[float, ...]], b: list[tuple[float, ...]], most: float = 1e-5) -> bool:
    return all(abs(x - y) < most for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


def keyed_bones() -> set[str]:
    """Bones that have a key at this frame."""
    frame = CONTEXT.scene.frame_current
    curves = [c for c in curves_of(leg()) if any(abs(key.co[0] - frame) < 1e-3 for key in c.keyframe_points)]
    return {curve.data_path.split('"')[1] for curve in curves if curve.data_path.startswith("pose.bones")}


def select(*names: str) -> None:
    """Select bones, the first one active."""
    for bone in leg().pose.bones:
        setattr(bone if hasattr(bone, "select") else bone.bone, "select", bone.name in names)
    armature_of(leg()).bones.active = armature_of(leg()).bones[names[0]]


def history(window: Window, *, back: bool) -> Iterator[float]:
    """Undo or redo by the keyboard."""
    region = window.region("WINDOW")
    at = (region.x + 200, region.y + 200)
    yield from window.move(at)
    yield from window.key("Z", at, ctrl=True, shift=not back)
    yield WAIT


def tool(window: Window, kind: str, *ways: tuple[int, int], end: str = "LEFTMOUSE") -> Iterator[float]:
    """A modal tool begun by a key, the mouse moved from the foot, and ended by another."""
    at = window.seen(tip(leg()))
    at = at[0] + 60, at[1] + 40
    yield from window.move(at)
    yield from window.key(kind, at)
    for way in ways:
        at = at[0] + way[0], at[1] + way[1]
        yield from window.move(at)
    yield WAIT
    yield from window.events((end, "PRESS"), (end, "RELEASE"), at=at)
    yield WAIT


def holds(what: str, condition: Callable[[], bool]) -> Iterator[float]:
    """Report whether something holds, as soon as it does: a busy machine redraws late."""
    for _ in range(PATIENCE):
        if condition():
            break
        yield WAIT
    check(what, condition())


def made_live(window: Window) -> Iterator[float]:
    """A live leg with a target."""
    make_leg()
    with window.context():
        OPS.fabrik.chain_add()
        OPS.fabrik.target_add()
    chain().target.location = PLACE
    rig_of(leg()).live = True
    select("shin")
    yield WAIT
    with window.context():
        bpy.ops.ed.undo_push(message="live leg")
    yield WAIT


def posed_by_hand(window: Window) -> Iterator[float]:
    """Bones turned, cleared, pasted: what comes of it, and of undo and redo."""
    yield from made_live(window)
    before = rotations(leg())
    yield from tool(window, "R", (0, 60), (0, 60), end="ESC")
    check("R, cancelled on a live limb, leaves pose and start", rotations(leg()) == before and chain().start == "REST")
    yield from tool(window, "R", (0, 60), (0, 60), (20, 30))
    turned = rotations(leg())
    check("a bone turned by hand becomes the start pose", chain().start == "CAPTURED" and not is_alike(turned, before))
    check("the tip stays at its target", is_there())
    yield from window.picture("12_by_hand")
    yield from history(window, back=True)
    yield from holds(
        "undo brings pose and start back", lambda: is_alike(rotations(leg()), before) and chain().start == "REST"
    )
    yield from history(window, back=False)
    yield from holds(
        "redo brings back what came of it", lambda: is_alike(rotations(leg()), turned) and chain().start == "CAPTURED"
    )
    select("thigh", "shin", "foot")
    with window.context():
        OPS.pose.copy()
    yield from cleared(window)
    with window.context():
        OPS.pose.paste(flipped=False)
    yield WAIT
    yield from holds("Paste Pose brings the pose back", lambda: is_alike(rotations(leg()), turned, 1e-3) and is_there())


def cleared(window: Window) -> Iterator[float]:
    """Alt R, from where redo and undo come back."""
    before = rotations(leg())
    at = window.seen(tip(leg()))
    yield from window.move(at)
    yield from window.key("R", at, alt=True)
    yield WAIT
    after = rotations(leg())
    is_rest = chain().start == "REST" and is_there() and not is_alike(before, after)
    check("Alt R lets the limb start from its rest pose", is_rest)
    yield from history(window, back=True)
    yield from holds("undo of Alt R", lambda: is_alike(rotations(leg()), before))
    yield from history(window, back=False)
    yield from holds("redo of Alt R", lambda: is_alike(rotations(leg()), after))


def adjusted(window: Window) -> Iterator[float]:
    """The panel that does the last operation again with other numbers."""
    yield from made_live(window)
    before = rotations(leg())
    yield from tool(window, "R", (0, 60), (0, 60), (20, 30))
    first = rotations(leg())
    numbers = CONTEXT.window_manager.operators[-1].properties
    setattr(numbers, "value", 0.3 * getattr(numbers, "value"))
    with window.context():
        bpy.ops.ed.undo_redo()
    yield WAIT
    found = rotations(leg())
    check("Adjust Last Operation is heard", not is_alike(found, first) and not is_alike(found, before) and is_there())
    yield from history(window, back=True)
    yield from holds("and undone", lambda: is_alike(rotations(leg()), before) and chain().start == "REST")


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
    with window.context():
        bpy.ops.ed.undo_push(message="keys")
    for kind, keys in (("R", {}), ("E", {"shift": True})):
        before = rotations(leg())
        at = window.seen(tip(leg()))
        yield from window.move(at)
        yield from window.key(kind, at, **keys)
        for step in range(1, 5):
            yield from window.move((at[0] + 40 * step, at[1] + 30 * step))
        yield WAIT
        shown = rotations(leg())
        yield from window.events(("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE"), at=(at[0] + 160, at[1] + 120))
        yield WAIT
        is_kept = not is_alike(shown, before) and is_alike(rotations(leg()), shown, 1e-3) and "shin" in keyed_bones()
        check(f"{kind} on a chain that starts from its keys is heard and keyed", is_kept and is_there())
        posed = rotations(leg())
        CONTEXT.scene.frame_set(7)
        CONTEXT.scene.frame_set(6)
        yield WAIT
        check("and plays", is_alike(rotations(leg()), posed, 1e-4))
        yield from history(window, back=True)
        check("undo", is_alike(rotations(leg()), before, 1e-4))
        yield from history(window, back=False)
        check("redo", is_alike(rotations(leg()), posed, 1e-4) and "shin" in keyed_bones())
    tools.use_keyframe_insert_auto = False


def put_back(window: Window) -> Iterator[float]:
    """With Automatic Capture off a turned bone is put back, with a button that keeps it."""
    yield from made_live(window)
    rig_of(leg()).auto_capture = False
    yield WAIT
    before = rotations(leg())
    yield from tool(window, "R", (0, 60), (0, 60), end="ESC")
    hands: dict[Key, Hand] = import_module(f"{MODULE}.session.live").state.hands
    check("nothing is told of what was cancelled", not hands)
    yield from tool(window, "R", (0, 60), (0, 60))
    yield from holds(
        "a turned bone is put back", lambda: is_alike(rotations(leg()), before) and chain().start == "REST"
    )
    told = [hand.reason for hand in hands.values()]
    check("the panel says why", told == ["Automatic Capture is off"])
    yield from window.picture("13_put_back")
    with window.context():
        OPS.fabrik.hand_pose_keep()
    yield WAIT
    kept = chain().start == "CAPTURED" and not is_alike(rotations(leg()), before) and is_there()
    check("the button makes it the start pose", kept)


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
    with window.context():
        bpy.ops.ed.undo_push(message="target")
    yield WAIT
    everyone = {"thigh", "shin", "foot"}
    yield from tool(window, "G", (30, 10), (40, 20), end="ESC")
    check("a cancelled drag keys nothing", not keyed_bones() and not getattr(leg(), "fabrik_unkeyed"))
    seen = []
    for way in ((30, 40), (-20, 30)):
        yield from tool(window, "G", way, (10, 10))
        has_key = chain().target.animation_data is not None
        check("a dragged target keys itself and its limb", has_key and keyed_bones() == everyone and is_there())
        seen.append(rotations(leg()))
    yield from history(window, back=True)
    yield from holds("undo of a drag", lambda: is_alike(rotations(leg()), seen[0]) and keyed_bones() == everyone)
    yield from history(window, back=True)
    yield from holds("undo of the first drag takes all keys away", lambda: not keyed_bones() and is_there())
    for number, expected in enumerate(seen):
        yield from history(window, back=False)
        is_same = is_alike(rotations(leg()), expected) and keyed_bones() == everyone and is_there()
        check(f"redo {number + 1} brings back the limb's keys with the target's", is_same)
    CONTEXT.scene.frame_set(9)
    CONTEXT.scene.frame_set(5)
    yield WAIT
    yield from holds("and they play", lambda: is_alike(rotations(leg()), seen[1]))
    tools.use_keyframe_insert_auto = False


def beside(window: Window) -> Iterator[float]:
    """Everything of it."""
    for part in (posed_by_hand, adjusted, put_back, keyed, from_keys):
        yield from part(window)
