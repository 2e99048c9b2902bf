# SPDX-License-Identifier: GPL-3.0-or-later
"""Pie, search, list, help and preferences in Blender's window."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import addon_utils
import bpy
from mathutils import Vector

from blender import OPS, armature_of, limit_of, overlay_of, rig_of

from .window import CONTEXT, MODULE, WAIT, Window, check, leg, make_leg, overridden, pose_of

ROWS = 76, 98  # pixels below the sidebar's top at scale 1 at which the first rows of the list stand
QUESTION_MARK = "Posing ?"


def _leg() -> bpy.types.Object:
    """A leg with a chain of thigh and shin and a chain of the foot, both with targets out of place."""
    owner = make_leg()
    for tip, count in (("shin", 2), ("foot", 1)):
        OPS.fabrik.chain_add(tip_bone=tip, bone_count=count, use_target=True)
    rig_of(owner).chains["shin"].target.location = (0.0, -0.5, 0.6)
    OPS.fabrik.chain_move(direction="UP")
    return owner


def _middle(window: Window) -> tuple[int, int]:
    region = window.region("WINDOW")
    return region.x + region.width // 3, region.y + region.height // 2


def _type(window: Window, text: str, at: tuple[int, int]) -> Iterator[float]:
    for letter in text:
        kind = "SPACE" if letter == " " else letter.upper()
        window.simulate(type=kind, value="PRESS", unicode=letter, x=at[0], y=at[1])
        window.simulate(type=kind, value="RELEASE", x=at[0], y=at[1])
        yield 0.05


def at_hand(window: Window) -> Iterator[float]:
    """All of it."""
    with window.context():
        owner = _leg()
        bpy.ops.view3d.view_axis(type="RIGHT")
    overlay_of(CONTEXT.scene).show = False
    yield from window.scroll("UP")
    for part in (_piled, _searched, _listed, _helped, _preferred):
        yield from part(window, owner)


def _piled(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """The pie by its key, and Solve in it."""
    rig_of(owner).active_index = [chain.name for chain in rig_of(owner).chains].index("shin")
    at = _middle(window)
    yield from window.move(at)
    yield from window.key("F", at, ctrl=True, shift=True)
    yield WAIT
    yield from window.picture("12_pie", away=False)
    yield from window.click_at((at[0] - 120, at[1]))
    chain = rig_of(leg()).chains["shin"]
    check(f"Solve in the pie solves ({chain.status})", chain.status == "REACHED")
    with window.context():
        OPS.fabrik.goal_select(role="target")
    chain.target.location.z += 0.1
    before = pose_of(owner)
    yield WAIT
    yield from window.key("F", at, ctrl=True, shift=True)
    yield WAIT
    yield from window.click_at((at[0] - 120, at[1]))
    check("and in Object Mode, with the target active", pose_of(leg()) != before)
    with window.context():
        CONTEXT.view_layer.objects.active = leg()
        bpy.ops.object.mode_set(mode="POSE")


def _searched(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """An operator of a submenu, found by its name."""
    at = _middle(window)
    armature_of(owner).bones.active = armature_of(owner).bones["shin"]
    limit_of(owner.pose.bones["shin"]).limit = "HINGE"
    yield from window.move(at)
    with window.context():
        OPS.wm.search_menu("INVOKE_DEFAULT")
    yield WAIT
    yield from _type(window, "hinge axis z", at)
    yield WAIT
    yield from window.picture("14_search", away=False)
    yield from window.key("RET", at)
    yield WAIT
    axis = tuple(limit_of(leg().pose.bones["shin"]).axis)
    check(f"what stands in a menu is found by the search ({axis})", axis == (0.0, 0.0, 1.0))


def _listed(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """A click on a bone switches the list, a click in the list picks the bone."""
    for bone, chain in (("foot", "foot"), ("thigh", "shin"), ("foot", "foot")):
        found = leg()
        pose: Any = found.pose.bones[bone]
        yield from window.click_at(window.seen(found.matrix_world @ Vector((pose.head + pose.tail) / 2)))
        now = leg()
        check(f"the bone {bone} is clicked", armature_of(now).bones.active.name == bone)
        check(f"and the list shows {chain}", rig_of(now).active.name == chain)
    index = rig_of(leg()).active_index
    side, scale = window.region("UI"), CONTEXT.preferences.system.ui_scale
    yield from window.click_at((side.x + int(side.width * 0.3), int(side.y + side.height - ROWS[1 - index] * scale)))
    now = leg()
    check("a click in the list chooses the other chain", rig_of(now).active.name == "shin")
    check("and its tip is the active bone", armature_of(now).bones.active.name == "shin")
    selected = [bone.name for bone in CONTEXT.selected_pose_bones]
    check(f"and the only selected one ({selected})", selected == ["shin"])
    yield from window.picture("15_list")
    yield from window.undo()
    now = leg()
    both = armature_of(now).bones.active.name, rig_of(now).active.name
    check(f"the click is undone in one step, list and bone {both}", both == ("foot", "foot"))


def _helped(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """F1 over a button, and the question mark of a panel, lead to files that are there."""
    opened: list[str] = []
    browser: Any = webbrowser
    usual, browser.open = browser.open, lambda url, *_, **__: opened.append(url)
    try:
        for name, button in (("F1", "Solve"), ("the question mark", QUESTION_MARK)):
            at = window.button(button)
            yield from window.move((at[0], at[1] + 3))
            yield from window.move(at)
            yield WAIT
            if name == "F1":
                yield from window.key("F1", at)
            else:
                yield from window.click_at(at)
            yield WAIT
            files = [Path(unquote(urlparse(url).path)) for url in opened]
            check(f"{name} opens one page, that is there {[file.name for file in files]}", len(files) == 1)
            check("and is HTML of the extension", all(file.is_file() and file.suffix == ".html" for file in files))
            opened.clear()
    finally:
        browser.open = usual


def _preferred(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """The preferences in a window of their own, in which nothing is wrong."""
    with window.context():
        OPS.preferences.addon_show(module=MODULE)
    yield 1.0
    manager = bpy.context.window_manager
    check("the preferences have a window", len(manager.windows) == 2)
    warnings: Any = addon_utils
    warnings._is_first_reset()
    told = warnings._extensions_warnings_get()
    check(f"and warn of nothing {dict(told)}", not told)
    form: Mapping[str, str] = import_module(f"{MODULE}.kernel").FORM
    check(f"the solver is {form}", form["kind"] == "compiled")
    other = next(found for found in manager.windows if found != window.window)
    with overridden(window=other):
        OPS.wm.window_close()
    yield WAIT
