# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a drag, for the redo panel and for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty

ENDS = (
    ("TAIL", "Tail", "The tail of the bone is dragged"),
    ("HEAD", "Head", "The head of the bone is dragged: the joint on which it turns"),
)


class DragOptions:
    """What is dragged, how far, and how; a part of the operator."""

    if TYPE_CHECKING:
        rig: str
        chain: str
        bone: str
        end: str
        way: Any
        with_turn: bool
        turn: Any
        falloff: float
        anchored: bool
    else:
        rig: StringProperty(
            name="Armature", description="Armature object; empty for the active one", options={"SKIP_SAVE"}
        )
        chain: StringProperty(name="Chain", description="Chain whose tip is dragged", options={"SKIP_SAVE"})
        bone: StringProperty(
            name="Bone", description="Without a chain: the bone that is dragged", options={"SKIP_SAVE"}
        )
        end: EnumProperty(items=ENDS, name="End", description="Which end of the bone is dragged", options={"SKIP_SAVE"})
        way: FloatVectorProperty(
            name="Way",
            description="How far the end is dragged, in the world",
            subtype="TRANSLATION",
            options={"SKIP_SAVE"},
        )
        with_turn: BoolProperty(
            name="With Rotation",
            description="Let the bone keep its rotation in the world, or have that which it is turned to",
            options={"SKIP_SAVE"},
        )
        turn: FloatVectorProperty(
            name="Turn",
            description="How the bone is turned in the world from how it stood, with a rotation",
            subtype="EULER",
            options={"SKIP_SAVE"},
        )
        falloff: FloatProperty(
            name="Falloff",
            description="How much less the bones far from the dragged one follow than those near it; stored with the "
            "armature",
            subtype="FACTOR",
            min=0.0,
            max=1.0,
            options={"SKIP_SAVE"},
        )
        anchored: BoolProperty(
            name="Anchored Root",
            description="Keep the root of a limb where it is; else the whole limb is pulled along",
            default=True,
            options={"SKIP_SAVE"},
        )

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        for name in ("way", "with_turn", "turn", "falloff", "anchored"):
            self.layout.prop(self, name)
