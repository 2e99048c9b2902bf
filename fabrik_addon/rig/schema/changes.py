# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of stored settings: that there were some, and who is told of chains that are held or switched on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from .chain import FabrikChain


def nobody(*_: object) -> None:
    """Hears of nothing."""


class Changes:
    """Changes of settings in this session, and who in the session layer is told of some.

    Attributes:
        count: Rises with every change; compared with an earlier value.
        first_held: Is called with a chain that is pinned, or keeps its rotation, anew, whose place and rotation may
            never have been stored; and with whether its place is another one than was stored.
        switched_on: Is called with an armature object that went live, or whose chains were enabled, and those of its
            chains that are to be solved from now on.
    """

    count = 0
    first_held: Callable[[FabrikChain, bool], None] = nobody
    switched_on: Callable[[bpy.types.Object, Sequence[FabrikChain]], None] = nobody


def announce(owner: object, context: bpy.types.Context) -> None:
    """Update callback: count a change. That there is a callback makes Blender evaluate the object anew."""
    Changes.count += 1
