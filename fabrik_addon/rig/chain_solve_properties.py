# SPDX-License-Identifier: GPL-3.0-or-later
"""How a chain is solved, and from which pose, as it is stored with the chain."""

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

from ..kernel import DEFAULT_MAX_PASSES, DEFAULT_RESTARTS, DEFAULT_TOLERANCE
from .solve_properties import forget_status
from .stored import OVERRIDE, OVERRIDE_COLLECTION, Items

START_ITEMS = (
    ("REST", "Rest", "Start each solve from the armature's rest pose"),
    ("CAPTURED", "Captured", "Start each solve from the pose that was captured"),
    ("ANIMATED", "Animated", "Start from the frame's keyed pose; bones without keys from the captured or rest pose"),
)


class FabrikCapturedRotation(bpy.types.PropertyGroup):
    """A bone's rotation in a captured start pose; the group's `name` is the bone's."""

    if TYPE_CHECKING:
        rotation: Any
    else:
        rotation: FloatVectorProperty(
            name="Rotation", size=4, subtype="QUATERNION", default=(1.0, 0.0, 0.0, 0.0), override=OVERRIDE
        )


class ChainSolving:
    """The settings of a chain's solve and its start pose; a part of `FabrikChain`."""

    if TYPE_CHECKING:
        tolerance: float
        max_passes: int
        restarts: int
        use_plain: bool
        influence: float
        start: str
        captured: Items[FabrikCapturedRotation]
        fingerprint: str
    else:
        tolerance: FloatProperty(
            name="Tolerance",
            description="Distance from tip to target that counts as reached: a share of the length of chain or body",
            min=1e-6,
            max=0.1,
            default=DEFAULT_TOLERANCE,
            precision=6,
            update=forget_status,
            override=OVERRIDE,
        )
        max_passes: IntProperty(
            name="Max Passes",
            description="Greatest number of passes over the chain; most solves need fewer than ten",
            min=1,
            soft_max=1000,
            default=DEFAULT_MAX_PASSES,
            update=forget_status,
            override=OVERRIDE,
        )
        restarts: IntProperty(
            name="Restarts",
            description="How many other starts are tried where limits hold the chain back",
            min=0,
            max=64,
            soft_max=32,
            default=DEFAULT_RESTARTS,
            update=forget_status,
            override=OVERRIDE,
        )
        use_plain: BoolProperty(
            name="Plain FABRIK",
            description="Only the passes of the paper: slow near full stretch, and stuck where limits get in the way",
            update=forget_status,
            override=OVERRIDE,
        )
        influence: FloatProperty(
            name="Influence",
            description="How far each bone turns from the start pose to the solved pose",
            subtype="FACTOR",
            min=0.0,
            max=1.0,
            default=1.0,
            update=forget_status,
            override=OVERRIDE,
        )
        start: EnumProperty(
            items=START_ITEMS,
            name="Start",
            description="Pose from which every solve starts",
            update=forget_status,
            override=OVERRIDE,
        )
        captured: CollectionProperty(type=FabrikCapturedRotation, override=OVERRIDE_COLLECTION)
        fingerprint: StringProperty(options={"HIDDEN"}, override=OVERRIDE)
