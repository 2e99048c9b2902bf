# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts in the 3D View, and their part of the preferences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import rna_keymap_ui

from ..texts import Text
from ..translations import iface_
from .menus import PIE


@dataclass(frozen=True)
class Shortcut:
    """A key with Ctrl and Shift.

    Attributes:
        keymap: Name of Blender's keymap.
        key: The key.
        operator: What it calls.
        options: And with what.
    """

    keymap: str
    key: str
    operator: str
    options: dict[str, str] = field(default_factory=dict)


# Free in both modes, in Blender's keymap, the industry compatible one and that of 2.7x, from 4.2 to 5.2.
SHORTCUTS = (
    Shortcut("Pose", "G", "fabrik.drag"),
    Shortcut("Pose", "P", "fabrik.pin_toggle"),
    Shortcut("Pose", "F", "wm.call_menu_pie", {"name": PIE}),
    Shortcut("Object Mode", "F", "wm.call_menu_pie", {"name": PIE}),
)
KEYMAPS = {"Pose": Text("Pose"), "Object Mode": Text("Object Mode")}
items: list[tuple[Any, Any]] = []


def register() -> None:
    """Add the shortcuts; in background there is no keymap to add them to."""
    manager: Any = bpy.context.window_manager
    configuration = manager.keyconfigs.addon if manager is not None else None
    if configuration is None:
        return
    for shortcut in SHORTCUTS:
        keymap = configuration.keymaps.new(name=shortcut.keymap)
        item = keymap.keymap_items.new(shortcut.operator, shortcut.key, "PRESS", ctrl=True, shift=True)
        for name, value in shortcut.options.items():
            setattr(item.properties, name, value)
        items.append((keymap, item))


def unregister() -> None:
    """Take the shortcuts away."""
    while items:
        keymap, item = items.pop()
        keymap.keymap_items.remove(item)


def draw_shortcuts(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """The shortcuts as the user has them, to be changed."""
    configuration: Any = context.window_manager.keyconfigs.user
    column = layout.column()
    shown = ""
    for shortcut in SHORTCUTS:
        if shortcut.keymap != shown:
            shown = shortcut.keymap
            column.label(text=f"{iface_(KEYMAPS[shown])}:")
        keymap = configuration.keymaps.get(shortcut.keymap)
        found = item_of(keymap, shortcut) if keymap is not None else None
        if found is None:
            column.label(text="Removed: restore it in Blender's preferences, Keymap", icon="INFO")
            continue
        column.context_pointer_set("keymap", keymap)
        rna_keymap_ui.draw_kmi([], configuration, keymap, found, column, 0)


def item_of(keymap: Any, shortcut: Shortcut) -> Any:
    """The user's item for a shortcut, whatever its key is now; None where it was removed."""
    for item in keymap.keymap_items:
        same = item.idname == shortcut.operator
        if same and all(getattr(item.properties, name) == value for name, value in shortcut.options.items()):
            return item
    return None
