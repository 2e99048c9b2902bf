# SPDX-License-Identifier: GPL-3.0-or-later
"""The target and the pole of a chain, where it has them."""

from __future__ import annotations

from typing import NamedTuple

import bpy

from .properties import FabrikChain


class GoalRef(NamedTuple):
    """What a chain is to reach, or towards which it bends.

    Attributes:
        role: "target" or "pole".
        found: The object.
        bone: Name of a bone of it, or "".
    """

    role: str
    found: bpy.types.Object
    bone: str


def goals_of(chain: FabrikChain) -> list[GoalRef]:
    """The target, then the pole, as far as they are set."""
    pairs = (("target", chain.target, chain.target_bone), ("pole", chain.pole, chain.pole_bone))
    return [GoalRef(role, found, bone) for role, found, bone in pairs if found is not None]
