# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of live posing on an armature object, beside the switch itself (`properties`)."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from .stored import OVERRIDE


def unkeyed_chains(owner: bpy.types.Object) -> list[str]:
    """Names of the chains whose bones automatic keying has yet to key, when the mouse is let go."""
    return str(getattr(owner, "fabrik_unkeyed")).splitlines()


def mark_unkeyed(owner: bpy.types.Object, names: list[str]) -> None:
    """Keep these names; what is the same is not written, for every write makes Blender evaluate."""
    if unkeyed_chains(owner) != names:
        setattr(owner, "fabrik_unkeyed", "\n".join(names))


def register() -> None:
    """Register the properties."""
    stored: Any = bpy.types.Object
    switch: Any = BoolProperty
    stored.fabrik_auto_capture = switch(
        name="Automatic Capture",
        description="A pose made by hand on a live chain becomes its start pose, if no other frame would change",
        options=set(),
        default=True,
        override=OVERRIDE,
    )
    text: Any = StringProperty
    stored.fabrik_unkeyed = text(name="Keys to Come", options={"HIDDEN"}, override=OVERRIDE)


def unregister() -> None:
    """Take them away again; what is stored in files stays in them."""
    stored: Any = bpy.types.Object
    del stored.fabrik_unkeyed, stored.fabrik_auto_capture
