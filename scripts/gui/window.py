# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's window and a hand on the mouse, for the steps of `gui_check.py`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

from blender import OPS, rig_of, select_bones
from rigs import BoneRow, make_armature, row_of_bones

ARCHIVE, OUT, REPORT, GRAB, PART = sys.argv[sys.argv.index("--") + 1 :]
MODULE = "bl_ext.user_default.fabrik"  # the installed extension
CONTEXT = bpy.context
PATIENCE = 8  # waits
WAIT = 0.4  # seconds for Blender to redraw and handle events
# Where the buttons stand in the sidebar: share of its width, pixels below its top at scale 1.
BUTTONS = {
    "Add Chain": (0.5, 82),
    "Posing ?": (0.78, 15),
    "Live": (0.2, 46),
    "Overlay": (0.62, 46),
    "Solve": (0.25, 183),
}
BELOW_LIST, ROW = "Solve", 20  # the button below the list, which has three rows at least, ten at most; pixels of a row


def say(text: str) -> None:
    with Path(REPORT).open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def check(what: str, holds: bool) -> None:
    """Report whether something holds."""
    say(f"{'ok' if holds else 'FAILED'}: {what}")


def overridden(**places: bpy.types.bpy_struct) -> AbstractContextManager[None]:
    """The context with another window, area or region; Blender's types do not know that this can be entered."""
    override: Callable[..., AbstractContextManager[None]] = getattr(CONTEXT, "temp_override")
    return override(**places)


class Window:
    """The 3D View of Blender's window, and a hand on the mouse."""

    def __init__(self) -> None:
        manager = bpy.context.window_manager
        self.window: bpy.types.Window = manager.windows[0]
        self.simulate: Callable[..., bpy.types.Event] = self.window.event_simulate

    @property
    def area(self) -> bpy.types.Area:
        return next(area for area in self.window.screen.areas if area.type == "VIEW_3D")

    @property
    def view(self) -> bpy.types.SpaceView3D:
        """What the area shows."""
        space = self.area.spaces.active
        assert isinstance(space, bpy.types.SpaceView3D)
        return space

    def region(self, kind: str) -> bpy.types.Region:
        return next(region for region in self.area.regions if region.type == kind)

    def context(self) -> AbstractContextManager[None]:
        return overridden(window=self.window, area=self.area, region=self.region("WINDOW"))

    def do(self, *works: Callable[[], object]) -> Iterator[float]:
        """Call something in the 3D View, and let Blender draw."""
        with self.context():
            for work in works:
                work()
        yield WAIT

    def events(self, *kinds: tuple[str, str], at: tuple[int, int], **keys: bool) -> Iterator[float]:
        for kind, value in kinds:
            self.simulate(type=kind, value=value, x=at[0], y=at[1], **keys)
            yield 0.1

    def button(self, button: str) -> tuple[int, int]:
        """Where a button of the panel stands, in pixels of the window."""
        share, below = BUTTONS[button]
        owner: bpy.types.Object | None = bpy.data.objects.get("Body") or bpy.data.objects.get("Leg")
        if button == BELOW_LIST and owner is not None:
            below += ROW * (min(max(len(rig_of(owner).chains), 3), 10) - 3)
        side, scale = self.region("UI"), CONTEXT.preferences.system.ui_scale
        return int(side.x + side.width * share), int(side.y + side.height - below * scale)

    def click(self, button: str) -> Iterator[float]:
        """Click a button of the panel."""
        yield from self.click_at(self.button(button))

    def key(self, kind: str, at: tuple[int, int], **keys: bool) -> Iterator[float]:
        yield from self.events((kind, "PRESS"), (kind, "RELEASE"), at=at, **keys)

    def move(self, at: tuple[int, int], **keys: bool) -> Iterator[float]:
        yield from self.events(("MOUSEMOVE", "NOTHING"), at=at, **keys)

    def press(self, at: tuple[int, int], kind: str = "LEFTMOUSE", **keys: bool) -> Iterator[float]:
        """Press a button of the mouse, or a key, let it go, and let Blender draw."""
        yield from self.key(kind, at, **keys)
        yield WAIT

    def click_at(self, at: tuple[int, int]) -> Iterator[float]:
        """Click where the mouse is moved to."""
        yield from self.move(at)
        yield from self.press(at)

    def cancel(self, at: tuple[int, int]) -> Iterator[float]:
        """Press Esc."""
        yield from self.press(at, "ESC")

    def drag_from(self, at: tuple[int, int]) -> Iterator[float]:
        """Begin our drag by its shortcut."""
        yield from self.move(at)
        yield from self.key("G", at, ctrl=True, shift=True)

    def glide(self, start: tuple[int, int], way: tuple[int, int], steps: int = 8) -> Iterator[float]:
        """Move the mouse in steps."""
        for step in range(1, steps + 1):
            yield from self.move((start[0] + way[0] * step // steps, start[1] + way[1] * step // steps))

    def drag(
        self, at: tuple[int, int], way: tuple[int, int], steps: int = 8
    ) -> Generator[float, None, tuple[int, int]]:
        """Begin our drag by its shortcut, and move the mouse in steps; where it is then."""
        yield from self.drag_from(at)
        yield from self.glide(at, way, steps)
        yield WAIT
        return at[0] + way[0], at[1] + way[1]

    def middle(self, x: float = 0.5, y: float = 0.5) -> tuple[int, int]:
        """The middle of the 3D View, or another share of its width and height."""
        region = self.region("WINDOW")
        return region.x + int(region.width * x), region.y + int(region.height * y)

    def pull(
        self, start: tuple[int, int], way: tuple[int, int], steps: int = 8, look: Iterable[float] = ()
    ) -> Iterator[float]:
        """Press the left button, move the mouse, take a look, and let the button go."""
        yield from self.move(start)
        yield from self.events(("LEFTMOUSE", "PRESS"), at=start)
        yield from self.glide(start, way, steps)
        yield from look
        yield from self.events(("LEFTMOUSE", "RELEASE"), at=(start[0] + way[0], start[1] + way[1]))
        yield WAIT

    def tool(
        self,
        kind: str,
        at: tuple[int, int],
        way: tuple[int, int],
        end: str = "LEFTMOUSE",
        look: Callable[[], object] = bool,
    ) -> Iterator[float]:
        """A modal tool of Blender's begun by a key, the mouse moved, a look taken, and ended by another key."""
        yield from self.move(at)
        yield from self.key(kind, at)
        yield from self.glide(at, way, 5)
        yield WAIT
        look()
        yield from self.press((at[0] + way[0], at[1] + way[1]), end)

    def history(self, *, back: bool) -> Iterator[float]:
        """Undo or redo by the keyboard."""
        region = self.region("WINDOW")
        at = (region.x + 200, region.y + 200)
        yield from self.move(at)
        yield from self.press(at, "Z", ctrl=True, shift=not back)

    def back_and_again(self, undone: Callable[[], bool], redone: Callable[[], bool], what: str = "") -> Iterator[float]:
        """Undo, and redo; report whether what should then hold does."""
        for name, back, condition in (("undo", True, undone), ("redo", False, redone)):
            yield from self.history(back=back)
            yield from holds(f"{name}{what}", condition)

    def undo(self) -> Iterator[float]:
        """Take one step back."""
        with self.context():
            bpy.ops.ed.undo()
        yield WAIT

    def push(self, message: str) -> Iterator[float]:
        """Keep what stands, so that an undo comes back to it."""
        with self.context():
            OPS.ed.undo_push(message=message)
        yield WAIT

    def scroll(self, way: str) -> Iterator[float]:
        """The sidebar to its end."""
        side = self.region("UI")
        at = (side.x + side.width // 2, side.y + side.height // 2)
        for _ in range(30):
            yield from self.events((f"WHEEL{way}MOUSE", "PRESS"), at=at)
        yield WAIT

    def seen(self, point: Vector) -> tuple[int, int]:
        """Where a point of the world is seen, in pixels of the window."""
        region = self.region("WINDOW")
        place = location_3d_to_region_2d(region, self.view.region_3d, point)
        assert place is not None
        return int(region.x + place.x), int(region.y + place.y)

    def picture(self, name: str, away: bool = True) -> Iterator[float]:
        """Save what is seen, the mouse out of the way where that is wanted."""
        region = self.region("WINDOW")
        if away:
            yield from self.move((region.x + 30, region.y + 30))
        self.area.tag_redraw()
        yield from self.grab(name)

    def grab(self, name: str) -> Iterator[float]:
        """Save what is seen, once Blender has drawn it."""
        yield WAIT
        path = str(Path(OUT) / f"{name}.png")
        if GRAB:
            subprocess.run([*shlex.split(GRAB), path], check=True)
        else:
            with overridden(window=self.window):
                bpy.ops.screen.screenshot(filepath=path)


def holds(what: str, condition: Callable[[], bool]) -> Iterator[float]:
    """Report whether something holds, as soon as it does: a busy machine redraws late."""
    for _ in range(PATIENCE):
        if condition():
            break
        yield WAIT
    check(what, condition())


def replay(frame: int) -> Iterator[float]:
    """Go to another frame and back to this one."""
    CONTEXT.scene.frame_set(frame + 1)
    CONTEXT.scene.frame_set(frame)
    yield WAIT


def select_target(window: Window, target: bpy.types.Object) -> Iterator[float]:
    """Object mode, with just the target of a chain selected."""
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
    target.select_set(True)
    CONTEXT.view_layer.objects.active = target
    yield WAIT
    yield from window.push("target")


def show_armature(name: str, bones: Mapping[str, BoneRow]) -> bpy.types.Object:
    """A file's only armature, in Pose mode; nothing is keyed by itself, which an undo may have switched on."""
    if CONTEXT.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    CONTEXT.scene.tool_settings.use_keyframe_insert_auto = False
    for found in list(bpy.data.objects):
        bpy.data.objects.remove(found)
    owner = make_armature(name, bones)
    owner.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    return owner


def make_leg() -> bpy.types.Object:
    """A leg of three bones in Pose mode, all bones selected."""
    points = [(0, 0, 2), (0, -0.15, 1.1), (0, 0, 0.2), (0, -0.45, 0)]
    owner = show_armature("Leg", row_of_bones(("thigh", "shin", "foot"), points))
    select_bones(owner, "foot", "thigh", "shin")
    return owner


def leg() -> bpy.types.Object:
    """The leg, found again: an undo makes another object of it."""
    return bpy.data.objects["Leg"]


def tip(owner: bpy.types.Object) -> Vector:
    """Where a leg's foot ends."""
    return owner.matrix_world @ owner.pose.bones["foot"].tail


Pose: TypeAlias = list[tuple[float, ...]]


def pose_of(owner: bpy.types.Object) -> Pose:
    """Rotation and location of each bone."""
    return [(*bone.rotation_quaternion, *bone.location) for bone in owner.pose.bones]


def moved(before: Pose, now: Pose) -> float:
    """How far the channel that changed most did."""
    return max(abs(a - b) for one, two in zip(before, now, strict=True) for a, b in zip(one, two, strict=True))


def is_alike(a: Pose, b: Pose, most: float = 1e-5) -> bool:
    """Whether two poses are the same but for rounding."""
    return moved(a, b) < most


def curves_of(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The curves of an object's action, as the extension finds them in each version of Blender."""
    compat = import_module(f"{MODULE}.rig.animation.compat")
    curves: Callable[[bpy.types.Object], list[bpy.types.FCurve]] = compat.fcurves_of
    return curves(owner)


def keyed_curves(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Those that have a key at this frame."""
    frame = CONTEXT.scene.frame_current
    return [c for c in curves_of(owner) if any(abs(key.co[0] - frame) < 1e-3 for key in c.keyframe_points)]
