# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts in the 3D View."""

from __future__ import annotations

from typing import Any

import bpy

DRAG = {"type": "G", "value": "PRESS", "ctrl": True, "shift": True}
MAPS = ("Pose",)
items: list[tuple[Any, Any]] = []


def register() -> None:
    """Add the shortcuts; in background there is no keymap to add them to."""
    manager: Any = bpy.context.window_manager
    configuration = manager.keyconfigs.addon if manager is not None else None
    if configuration is None:
        return
    for name in MAPS:
        keymap = configuration.keymaps.new(name=name)
        items.append((keymap, keymap.keymap_items.new("fabrik.drag", **DRAG)))


def unregister() -> None:
    """Take the shortcuts away."""
    while items:
        keymap, item = items.pop()
        keymap.keymap_items.remove(item)
