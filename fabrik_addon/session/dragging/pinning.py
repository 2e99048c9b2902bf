# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinning and freeing bones between two drags."""

from __future__ import annotations

import bpy

from ...texts import Text, joined
from ..live.by_hand import own_work
from ..pins import toggle, wanted_of_bones


def pin_bone(context: bpy.types.Context, owner: bpy.types.Object, bone: str) -> str:
    """Pin a bone where it stands, or free it; what was done, as a sentence.

    Raises:
        FabrikError: It can't be pinned; nothing was changed.
    """
    with own_work():
        told = toggle(context, owner, wanted_of_bones(owner, [bone]))
    done = Text("pinned {bone}", bone=bone) if told.pinned else Text("freed {bone}", bone=bone)
    return joined("; ", [done, *told.notes])
