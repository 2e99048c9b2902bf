# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --background FILE --command fabrik ...`: solve, bake and inspect without a screen."""

from __future__ import annotations

from typing import Any

import bpy

from .commands import run

NAME = "fabrik"
handles: list[Any] = []


def register() -> None:
    """Offer the command to Blender."""
    offer: Any = bpy.utils.register_cli_command
    handles.append(offer(NAME, run))


def unregister() -> None:
    """Take it back."""
    withdraw: Any = bpy.utils.unregister_cli_command
    while handles:
        withdraw(handles.pop())
