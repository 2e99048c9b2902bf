# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets FABRIK Posing up when Blender starts: switches it on, gives it the studio's preferences, lists the assets.

Copy the folder that holds this one, and change what is below. What a user has chosen for himself is left as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

STUDIO = Path(__file__).parents[1]
MODULE = "bl_ext.system.fabrik"  # of the repository "System": the folder extensions/system beside this one
PREFERENCES: dict[str, object] = {"goal_kind": "BONE", "target_size": 0.06}
ASSETS = "FABRIK Studio"  # the library's name in the asset browser


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs
def _prefer(*_: object) -> None:
    """Once the extension is on, which is after this module is registered and before the first file is there."""
    _forget()
    assert bpy.context.preferences is not None
    own: Any = bpy.context.preferences.addons[MODULE].preferences
    for name, value in PREFERENCES.items():
        if own is not None and not own.is_property_set(name):
            setattr(own, name, value)


def _forget() -> None:
    handlers = bpy.app.handlers.load_post
    handlers[:] = [one for one in handlers if one is not _prefer]


def register() -> None:
    """Have Blender switch the extension on with the other add-ons, and list the asset library."""
    preferences: Any = bpy.context.preferences
    if MODULE not in preferences.addons:
        preferences.addons.new().module = MODULE
    libraries = preferences.filepaths.asset_libraries
    if ASSETS not in libraries:
        libraries.new(name=ASSETS, directory=str(STUDIO / "assets"))
    bpy.app.handlers.load_post.append(_prefer)


def unregister() -> None:
    """Leave all as it is."""
    _forget()
