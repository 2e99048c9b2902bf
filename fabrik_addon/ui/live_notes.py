# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing has to say in the panel, beside the status of the chains."""

from __future__ import annotations

from collections.abc import Callable

import bpy

from ..rig.properties import FabrikChain, rig_of
from ..session import live
from .status import Icon

Wrapped = Callable[[bpy.types.Context, bpy.types.UILayout, str, Icon], None]
NAMED = 3  # bones that are named; more are counted


def draw_notes(
    context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object, draw_wrapped: Wrapped
) -> None:
    """What was done by hand to the live chains of an armature and what came of it, and which keys are not heard.

    Args:
        context: Blender's.
        layout: Where to draw.
        owner: The armature object.
        draw_wrapped: Draws a text over several lines, with an icon.
    """
    rig = rig_of(owner)
    if not rig.live:
        return
    for chain in rig.chains:
        hand = live.state.hands.get((owner.name_full, chain.name))
        if hand is not None:
            box = layout.box().column(align=True)
            draw_wrapped(context, box, hand_text(chain, hand), "ERROR" if hand.reason else "INFO")
            if hand.reason:
                box.operator("fabrik.hand_pose_keep", icon="POSE_HLT").chain = chain.name
    deaf = live.deaf_to_keys(owner)
    if deaf:
        names = ", ".join(deaf)
        draw_wrapped(context, layout, f"{names}: live posing goes over its keys; Start: Animated hears them", "INFO")


def hand_text(chain: FabrikChain, hand: live.Hand) -> str:
    """What was done by hand to a chain, and what came of it."""
    bones = ", ".join(f"'{name}'" for name in hand.bones[:NAMED])
    if len(hand.bones) > NAMED:
        bones = f"{len(hand.bones)} bones"
    verb = "was" if len(hand.bones) == 1 else "were"
    if hand.reason:
        return f"{chain.name}: {bones} {verb} posed by hand, and live posing put it back: {hand.reason}"
    holds = "; the tip stays at its target" if chain.status == "REACHED" else ""
    kept = "is keyed" if hand.is_keyed else "is the start pose now"
    return f"{chain.name}: {bones} {verb} posed by hand, which {kept}{holds}"
