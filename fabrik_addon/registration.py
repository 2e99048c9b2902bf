# SPDX-License-Identifier: GPL-3.0-or-later
"""Registration in order, taken back where a step fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import bpy

from . import cli, handlers, operators, ui
from .actions.keep_pose import keep_switched_on
from .actions.pins import hold_first
from .operators import motion
from .operators.manual import manual_map
from .overlay import settings, view
from .rig import schema
from .rig.schema.fields import Changes, View, nobody
from .texts import PACKAGE
from .translations import LANGUAGES
from .ui import menus, panels, preferences


class AlreadyOnError(Exception):
    """Two of the extension can't be on at once; the text names the other."""


Step = tuple[Callable[[], None], Callable[[], None]]


HEARD = {"switched_on": keep_switched_on, "first_held": hold_first}  # changes of settings, and who is told of them
VIEWS: Sequence[tuple[type[View[Any]], type]] = (*schema.VIEWS, *settings.VIEWS, (panels.ListView, bpy.types.Scene))
AFTER = (view, handlers, motion, preferences, cli)  # what registers more than classes and views
# The stubs say that these take and return something else.
told: Any = bpy.app.translations
utils: Any = bpy.utils


STEPS: Sequence[Step] = (
    (partial(told.register, PACKAGE, LANGUAGES), partial(told.unregister, PACKAGE)),
    *(
        (partial(bpy.utils.register_class, cls), partial(bpy.utils.unregister_class, cls))
        for cls in (*schema.GROUPS, settings.FabrikOverlay, *operators.CLASSES, *ui.CLASSES)
    ),
    *((partial(one.register, owners), partial(one.unregister, owners)) for one, owners in VIEWS),
    *(
        (partial(setattr, owners, "fabrik", property(read)), partial(delattr, owners, "fabrik"))
        for owners, read in schema.SHORT
    ),
    *((partial(setattr, Changes, name, one), partial(setattr, Changes, name, nobody)) for name, one in HEARD.items()),
    *((module.register, module.unregister) for module in AFTER),
    *(
        (partial(home.append, draw), partial(home.remove, draw))
        for name, draw in menus.DRAWN.items()
        if (home := getattr(bpy.types, name, None)) is not None
    ),
    (partial(utils.register_manual_map, manual_map), partial(utils.unregister_manual_map, manual_map)),  # for F1
)


def register() -> None:
    """Register everything, or nothing: what was registered before a failure is taken back.

    Raises:
        AlreadyOnError: The extension is on from another repository, as compiled or without binaries.
    """
    other: Any = bpy.types.AddonPreferences.bl_rna_get_subclass_py(preferences.FABRIK_AP_preferences.__name__)
    if other is not None:
        preferred: Any = bpy.context.preferences
        module = other.bl_idname.split(".")[1]
        name = next((one.name for one in preferred.extensions.repos if one.module == module), module)
        raise AlreadyOnError(f"FABRIK Posing of '{name}' is on: switch that off first, for two can't be on at once")
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
