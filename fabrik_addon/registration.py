# SPDX-License-Identifier: GPL-3.0-or-later
"""Registration in order, taken back where a step fails."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
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


HEARD = {"switched_on": keep_switched_on, "first_held": hold_first}  # changes of settings, and who is told of them
VIEWS: Sequence[tuple[type[View[Any]], type]] = (*schema.VIEWS, *settings.VIEWS, (panels.ListView, bpy.types.Scene))
AFTER = (view.register, preferences.register, cli.register)  # what is taken back by what it puts onto the stack
PAIRS = (handlers, motion)
# The stubs say that these take and return something else.
told: Any = bpy.app.translations
utils: Any = bpy.utils
on = ExitStack()  # takes everything away again, in reverse order


def _switch_on(back: ExitStack) -> None:
    """Register everything; each step puts onto a stack what takes it back."""
    told.register(PACKAGE, LANGUAGES)
    back.callback(told.unregister, PACKAGE)
    for cls in (*schema.GROUPS, settings.FabrikOverlay, *operators.CLASSES, *ui.CLASSES):
        bpy.utils.register_class(cls)
        back.callback(bpy.utils.unregister_class, cls)
    for field, owners in ((field, owners) for one, owners in VIEWS for field in one.fields.values()):
        setattr(owners, field.path, field.definition())
        back.callback(delattr, owners, field.path)  # what is stored in files stays in them
    for owners, read in schema.SHORT:
        setattr(owners, "fabrik", property(read))
        back.callback(delattr, owners, "fabrik")
    for name, heard in HEARD.items():
        setattr(Changes, name, heard)
        back.callback(setattr, Changes, name, nobody)
    for module in PAIRS:
        module.register()
        back.callback(module.unregister)
    for name, draw in menus.DRAWN.items():
        home: Any = getattr(bpy.types, name, None)
        if home is not None:
            home.append(draw)
            back.callback(home.remove, draw)
    utils.register_manual_map(manual_map)  # for F1
    back.callback(utils.unregister_manual_map, manual_map)
    for step in AFTER:
        step(back)


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
    with ExitStack() as back:
        _switch_on(back)
        on.enter_context(back.pop_all())


def unregister() -> None:
    """Take everything away again."""
    on.close()
