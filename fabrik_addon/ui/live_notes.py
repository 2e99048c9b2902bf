# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing has to say in the panel, beside the status of the chains."""

from __future__ import annotations

import bpy

from ..rig.schema import rig_of
from ..session import live
from ..translations import iface_
from .fitting import draw_wrapped


def draw_notes(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """What was done by hand to the live chains of an armature and what came of it, and which keys are not heard.

    Args:
        context: Blender's.
        layout: Where to draw.
        owner: The armature object.
    """
    rig = rig_of(owner)
    if not rig.live:
        return
    for name, hand in live.hands_of(owner):
        are_held = all(chain.status == "REACHED" for chain in rig.chains if chain.name in hand.chains)
        box = layout.box().column(align=True)
        draw_wrapped(context, box, iface_(live.hand_text(hand, are_held)), "ERROR" if hand.reason else "INFO")
        if hand.reason:
            box.operator("fabrik.hand_pose_keep", icon="POSE_HLT").chain = name
    overwritten = live.overwriting_keys(owner)
    if overwritten:
        text = iface_(
            "{chains}: live posing goes over its keys; Start: Animated hears them", chains=", ".join(overwritten)
        )
        draw_wrapped(context, layout, text, "INFO")
