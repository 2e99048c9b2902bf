# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of stored settings: that there were some, and chains that were switched on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from .chain import FabrikChain


class Changes:
    """How often a setting was changed, in this session.

    Attributes:
        count: Rises with every change; compared with an earlier value.
    """

    count = 0


def announce(owner: object, context: bpy.types.Context) -> None:
    """Update callback: count a change. That there is a callback makes Blender evaluate the object anew."""
    Changes.count += 1


class FirstHeld:
    """Callback from property updates up to the session layer: a chain is pinned, or keeps its rotation, anew.

    Attributes:
        listener: Is called with the chain, whose place and rotation may never have been stored; and with whether its
            place is another one than was stored.
    """

    listener: Callable[[FabrikChain, bool], None] | None = None

    @classmethod
    def tell(cls, chain: FabrikChain, is_elsewhere: bool = False) -> None:
        """Tell whoever listens."""
        if cls.listener is not None:
            cls.listener(chain, is_elsewhere)


class SwitchedOn:
    """Callback from property updates up to the session layer: chains were enabled, or an armature went live.

    Attributes:
        listener: Is called with an armature object and those of its chains that are to be solved from now on.
    """

    listener: Callable[[bpy.types.Object, Sequence[FabrikChain]], None] | None = None

    @classmethod
    def tell(cls, owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> None:
        """Tell whoever listens."""
        if cls.listener is not None:
            cls.listener(owner, chains)
