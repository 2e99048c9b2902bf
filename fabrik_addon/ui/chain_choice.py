# SPDX-License-Identifier: GPL-3.0-or-later
"""The row of the list that is picked. It stores nothing: what is stored is the armature's active chain.

A click in the list sets this property and with it the active bone, in one step to undo; operators and scripts that set
the active chain leave the selection alone.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import IntProperty

from ..rig.find import working_rig
from ..rig.schema import rig_of
from ..session.chain_choice import choose


def _read(scene: bpy.types.Scene) -> int:
    owner = working_rig(bpy.context)
    return rig_of(owner).active_index if owner is not None and owner.type == "ARMATURE" else 0


def _write(scene: bpy.types.Scene, index: int) -> None:
    owner = working_rig(bpy.context)
    if owner is not None and owner.type == "ARMATURE":
        choose(owner, index)


def register() -> None:
    """Register the property."""
    scene: Any = bpy.types.Scene
    number: Any = IntProperty
    scene.fabrik_list_index = number(
        name="Active Chain",
        description="Chain that the panel shows; choosing one makes its tip the active bone",
        options={"HIDDEN", "SKIP_SAVE"},
        get=_read,
        set=_write,
    )


def unregister() -> None:
    """Take it away."""
    scene: Any = bpy.types.Scene
    del scene.fabrik_list_index
