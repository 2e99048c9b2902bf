# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of what a chain's goal asks, beside where it is: of which end, how strongly, of which rotation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

from ..translations import CONTEXT
from .changes import FirstHeld
from .solve_properties import forget_status
from .stored import OVERRIDE

KIND_ITEMS = (
    ("REACH", "Reach", "Bring the tip to the target"),
    ("AIM", "Aim", "Point an axis of the tip bone at the target: heads, eyes, turrets"),
)
EFFECTOR_ITEMS = (
    ("TAIL", "Tail", "The tail of the tip bone comes to the target"),
    ("HEAD", "Head", "The head of the tip bone comes to the target: the bone itself, a foot or a hand, only turns"),
)
ORIENTATION_ITEMS = (
    ("FREE", "Free", "The tip bone turns as reaching the target needs it"),
    ("KEEP", "Keep", "The tip bone keeps the rotation in the world that it had when this was chosen"),
    (
        "TARGET",
        "Target",
        "The tip bone turns with the target, keeping the angle that is between them when this is chosen",
    ),
)
if TYPE_CHECKING:
    from .properties import FabrikChain

NO_ROTATION = (1.0, 0.0, 0.0, 0.0)
ALONG_BONE = (0.0, 1.0, 0.0)


def _hold(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: a chain that is told to hold a place or rotation for the first time stores those at hand."""
    forget_status(chain, context)
    FirstHeld.tell(chain)


class ChainGoal:
    """How the goal of a chain is meant; a part of `FabrikChain`.

    Attributes:
        held_location: Where the effector stands, in the world, while the chain is pinned and has no target.
        held_rotation: World rotation (w, x, y, z) that the tip bone keeps.
        rotation_offset: Rotation (w, x, y, z) of the tip bone in the target's axes.
    """

    if TYPE_CHECKING:
        kind: str
        effector: str
        weight: float
        pin: bool
        held_location: Any
        held_rotation: Any
        orientation: str
        orientation_weight: float
        rotation_offset: Any
        aim_axis: Any
        stretch: float
        soft: float
    else:
        kind: EnumProperty(
            items=KIND_ITEMS,
            name="Kind",
            description="What the chain does with its target",
            translation_context=CONTEXT,  # "Reach" is a verb here, and a distance in the overlay
            update=forget_status,
            override=OVERRIDE,
        )
        effector: EnumProperty(
            items=EFFECTOR_ITEMS,
            name="End",
            description="Which end of the tip bone comes to the target",
            update=forget_status,
            override=OVERRIDE,
        )
        weight: FloatProperty(
            name="Weight",
            description="How much the goal counts among others that are asked for; 0: it asks nothing",
            subtype="FACTOR",
            min=0.0,
            max=1.0,
            default=1.0,
            update=forget_status,
            override=OVERRIDE,
        )
        pin: BoolProperty(
            name="Pin",
            description="Hold the tip in place, with priority over all other goals: at its target or, without "
            "one, where it was pinned",
            update=_hold,
            override=OVERRIDE,
        )
        held_location: FloatVectorProperty(
            name="Held Location",
            description="Place in the world where the pin holds the tip of a chain without a target",
            size=3,
            subtype="TRANSLATION",
            update=forget_status,
            override=OVERRIDE,
        )
        held_rotation: FloatVectorProperty(
            name="Held Rotation",
            description="Rotation in the world that the tip bone keeps",
            size=4,
            subtype="QUATERNION",
            default=NO_ROTATION,
            update=forget_status,
            override=OVERRIDE,
        )
        orientation: EnumProperty(
            items=ORIENTATION_ITEMS,
            name="Rotation",
            description="Which rotation the tip bone is to have",
            update=_hold,
            override=OVERRIDE,
        )
        orientation_weight: FloatProperty(
            name="Rotation Weight",
            description="How much the rotation of the tip bone counts beside its place",
            subtype="FACTOR",
            min=0.0,
            max=1.0,
            default=1.0,
            update=forget_status,
            override=OVERRIDE,
        )
        rotation_offset: FloatVectorProperty(
            name="Rotation Offset",
            description="Rotation of the tip bone as the target sees it",
            size=4,
            subtype="QUATERNION",
            default=NO_ROTATION,
            update=forget_status,
            override=OVERRIDE,
        )
        aim_axis: FloatVectorProperty(
            name="Aim Axis",
            description="Axis of the tip bone that points at the target: Y runs along the bone",
            size=3,
            subtype="XYZ",
            default=ALONG_BONE,
            soft_min=-1.0,
            soft_max=1.0,
            update=forget_status,
            override=OVERRIDE,
        )
        stretch: FloatProperty(
            name="Stretch",
            description="Greatest factor by which the bones grow longer to reach; 1: they keep their lengths",
            min=1.0,
            soft_max=2.0,
            default=1.0,
            update=forget_status,
            override=OVERRIDE,
        )
        soft: FloatProperty(
            name="Soft",
            description="Slows the limb down before it is fully stretched, so that the knee does not snap. "
            "A share of the chain's length; 0: off",
            min=0.0,
            soft_max=0.1,
            max=1.0,
            precision=3,
            update=forget_status,
            override=OVERRIDE,
        )
