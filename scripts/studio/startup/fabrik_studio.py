# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets FABRIK Posing up when Blender starts: switches it on, gives it the studio's preferences, lists the assets.

Copy the folder that holds this one, and change what is below. Preferences that a user has changed stay as they are,
also when those of the studio change.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

STUDIO = Path(__file__).parents[1]
MODULE = "bl_ext.system.fabrik"  # of the repository "System": the folder extensions/system beside this one
PREFERENCES: dict[str, object] = {"goal_kind": "BONE", "target_size": 0.06}
ASSETS = "FABRIK Studio"  # the library's name in the asset browser
GIVEN = "fabrik_studio.json"  # in the user's folder: the preferences that the studio gave the last time

log = logging.getLogger(__name__)


def _prefer(*_: object) -> None:
    """Once the extension is on, which is after this module is registered and before the first file is there."""
    _forget()
    addon: Any = bpy.context.preferences.addons.get(MODULE) if bpy.context.preferences is not None else None
    if addon is None or addon.preferences is None:
        return
    own, given, before = addon.preferences, dict[str, object](), dict[str, object]()
    file = Path(bpy.utils.user_resource("CONFIG", create=True)) / GIVEN
    with suppress(OSError, ValueError):
        before = json.loads(file.read_text(encoding="utf-8"))
    for name, value in PREFERENCES.items():
        if not own.is_property_set(name) or getattr(own, name) == before.get(name):
            try:
                setattr(own, name, value)
                given[name] = getattr(own, name)  # which may be rounded
            except (AttributeError, TypeError) as error:
                log.warning("%s is no value of the preference %s: %s", value, name, error)
    with suppress(OSError):
        file.write_text(json.dumps({**before, **given}), encoding="utf-8")


def _forget() -> None:
    handlers = bpy.app.handlers.load_post
    handlers[:] = [one for one in handlers if one is not _prefer]


def register() -> None:
    """Have Blender switch the extension on with the other add-ons, and list the asset library."""
    preferences: Any = bpy.context.preferences
    if not any(addon.module.endswith(".fabrik") for addon in preferences.addons):  # else a user has one of his own
        preferences.addons.new().module = MODULE
    libraries = preferences.filepaths.asset_libraries
    library = libraries.get(ASSETS) or libraries.new(name=ASSETS)
    library.path = str(STUDIO / "assets")
    bpy.app.handlers.load_post.append(bpy.app.handlers.persistent(_prefer))


def unregister() -> None:
    """Leave all as it is."""
    _forget()
