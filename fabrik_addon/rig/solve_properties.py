# SPDX-License-Identifier: GPL-3.0-or-later
"""How the last solve of a chain ended, as it is stored with the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)

from .changes import Changes
from .stored import OVERRIDE, OVERRIDE_COLLECTION, Items

STATUS_ITEMS = (
    ("NONE", "Not solved", "The chain was not solved since it was last changed"),
    ("REACHED", "Reached", "The tip is on the target"),
    ("TOO_FAR", "Too far", "The target is farther away than the chain is long"),
    ("TOO_NEAR", "Too near", "The target is closer to the root than the chain can fold"),
    ("BLOCKED", "Blocked", "Joint limits hold the chain back"),
    ("REFUSED", "Refused", "The chain could not be solved; nothing was moved"),
)
SOLVED_VECTORS = 6  # that begin `last_solve.Stand.numbers`
SOLVED_NUMBERS = 3 * SOLVED_VECTORS + 1  # and the length
SOLVED_TURNS = 8  # the same of the rotation that is asked for


class FabrikBoneName(bpy.types.PropertyGroup):
    """A bone's name, kept as the `name` of the group."""


def forget_status(chain: LastSolve, context: bpy.types.Context) -> None:
    """Update callback: clear the status of a chain, which was found with other settings."""
    Changes.count += 1
    if chain.status != "NONE":
        chain.status = "NONE"


class LastSolve:
    """What is stored of the last solve, and what it was about; a part of `FabrikChain`."""

    if TYPE_CHECKING:
        status: str
        residual: float
        turn_residual: float
        softened: float
        passes: int
        blocking_bones: Items[FabrikBoneName]
        message: str
        solved_as: Any
        solved_turn: Any
        target_name: str
        pole_name: str
        is_baked: bool
    else:
        status: EnumProperty(items=STATUS_ITEMS, name="Status", override=OVERRIDE)
        residual: FloatProperty(
            name="Residual",
            description="Distance from tip to target in scene units",
            subtype="DISTANCE",
            precision=5,
            override=OVERRIDE,
        )
        turn_residual: FloatProperty(
            name="Rotation Residual",
            description="Angle by which the tip bone is off the rotation that is asked of it",
            subtype="ANGLE",
            override=OVERRIDE,
        )
        softened: FloatProperty(
            name="Softened",
            description="Distance in scene units from the target to where the soft reach lets the tip come",
            subtype="DISTANCE",
            precision=5,
            override=OVERRIDE,
        )
        passes: IntProperty(name="Passes Used", override=OVERRIDE)
        blocking_bones: CollectionProperty(type=FabrikBoneName, override=OVERRIDE_COLLECTION)
        message: StringProperty(
            name="Message", description="Why the chain was refused, or what to look out for", override=OVERRIDE
        )
        solved_as: FloatVectorProperty(size=SOLVED_NUMBERS, options={"HIDDEN"}, override=OVERRIDE)
        solved_turn: FloatVectorProperty(size=SOLVED_TURNS, options={"HIDDEN"}, override=OVERRIDE)
        target_name: StringProperty(options={"HIDDEN"}, override=OVERRIDE)
        pole_name: StringProperty(options={"HIDDEN"}, override=OVERRIDE)
        is_baked: BoolProperty(
            name="Baked", description="A bake switched the chain off, so that its keys play", override=OVERRIDE
        )
