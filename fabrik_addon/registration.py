# SPDX-License-Identifier: GPL-3.0-or-later
"""Registration in order, taken back where a step fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import bpy

from . import cli, handlers, operators, translations, ui
from .actions import keep_pose, pins
from .operators import manual
from .overlay import settings, view
from .rig import schema
from .ui import menus, panels, preferences

Step = tuple[Callable[[], None], Callable[[], None]]


def _class_step(cls: type) -> Step:
    return lambda: bpy.utils.register_class(cls), lambda: bpy.utils.unregister_class(cls)


STEPS: Sequence[Step] = (
    (translations.register, translations.unregister),
    (schema.register, schema.unregister),
    *(_class_step(cls) for cls in (*operators.CLASSES, *ui.CLASSES)),
    (settings.register, settings.unregister),
    (panels.register, panels.unregister),
    (view.register, view.unregister),
    (keep_pose.register, keep_pose.unregister),
    (pins.register, pins.unregister),
    (handlers.register, handlers.unregister),
    (menus.register, menus.unregister),
    (preferences.register, preferences.unregister),
    (manual.register, manual.unregister),
    (cli.register, cli.unregister),
)


def register() -> None:
    """Register everything, or nothing: what was registered before a failure is taken back."""
    done: list[Callable[[], None]] = []
    try:
        for add, remove in STEPS:
            add()
            done.append(remove)
    except Exception:
        for remove in reversed(done):
            remove()
        raise


def unregister() -> None:
    """Take everything away again, in reverse order."""
    for _, remove in reversed(STEPS):
        remove()
