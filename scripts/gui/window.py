# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's window and a hand on the mouse, for the steps of `gui_check.py`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

import blender

ARCHIVE, OUT, REPORT, GRAB, PART = sys.argv[sys.argv.index("--") + 1 :]
MODULE = "bl_ext.user_default.fabrik"  # the installed extension
OPS = blender.OPS
CONTEXT = bpy.context
WAIT = 0.4  # seconds for Blender to redraw and handle events
# Where the buttons stand in the sidebar: share of its width, pixels below its top at scale 1.
BUTTONS = {
    "Set Up Character": (0.5, 178),
    "Add Chain": (0.5, 208),
    "Chains ?": (0.78, 15),
    "Live": (0.2, 46),
    "Overlay": (0.62, 46),
    "Solve": (0.25, 205),
    "Drag Bone": (0.5, 233),
}


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

    def events(self, *kinds: tuple[str, str], at: tuple[int, int], **keys: bool) -> Iterator[float]:
        for kind, value in kinds:
            self.simulate(type=kind, value=value, x=at[0], y=at[1], **keys)
            yield 0.1

    def button(self, button: str) -> tuple[int, int]:
        """Where a button of the panel stands, in pixels of the window."""
        share, below = BUTTONS[button]
        side, scale = self.region("UI"), CONTEXT.preferences.system.ui_scale
        return int(side.x + side.width * share), int(side.y + side.height - below * scale)

    def click(self, button: str) -> Iterator[float]:
        """Click a button of the panel."""
        at = self.button(button)
        yield from self.events(("MOUSEMOVE", "NOTHING"), ("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE"), at=at)
        yield WAIT

    def key(self, kind: str, at: tuple[int, int], **keys: bool) -> Iterator[float]:
        yield from self.events((kind, "PRESS"), (kind, "RELEASE"), at=at, **keys)

    def move(self, at: tuple[int, int], **keys: bool) -> Iterator[float]:
        yield from self.events(("MOUSEMOVE", "NOTHING"), at=at, **keys)

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


def make_leg() -> bpy.types.Object:
    """A leg of three bones in pose mode, all bones selected."""
    for found in list(bpy.data.objects):
        bpy.data.objects.remove(found)
    data = bpy.data.armatures.new("Leg")
    owner = bpy.data.objects.new("Leg", data)
    CONTEXT.scene.collection.objects.link(owner)
    CONTEXT.view_layer.objects.active = owner
    owner.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    points = [(0, 0, 2), (0, -0.15, 1.1), (0, 0, 0.2), (0, -0.45, 0)]
    parent: bpy.types.EditBone | None = None
    for name, (head, tail) in zip(("thigh", "shin", "foot"), pairwise(points), strict=True):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent, bone.use_connect = head, tail, parent, parent is not None
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    data.bones.active = data.bones["foot"]
    return owner


def tip(owner: bpy.types.Object) -> Vector:
    return owner.matrix_world @ owner.pose.bones["foot"].tail


def rotations(owner: bpy.types.Object) -> list[tuple[float, ...]]:
    return [tuple(bone.rotation_quaternion) for bone in owner.pose.bones]


def curves_of(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The curves of an object's action, as the extension finds them in each version of Blender."""
    curves: Callable[[bpy.types.Object], list[bpy.types.FCurve]] = import_module(f"{MODULE}.rig.compat").fcurves_of
    return curves(owner)
