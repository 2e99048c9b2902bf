# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing says of what was done by hand."""

from __future__ import annotations

from ...texts import Text, joined
from .known import Hand

NAMED = 3  # bones that are named; more are counted


def hand_text(hand: Hand, is_held: bool) -> Text:
    """What was done by hand to chains, and what came of it.

    Args:
        hand: What was done.
        is_held: Whether the tips of these are at their targets.
    """
    chains = ", ".join(hand.chains) if len(hand.chains) <= NAMED else Text("{count} chains", count=len(hand.chains))
    bones: str = ", ".join(f"'{name}'" for name in hand.bones)
    if len(hand.bones) > NAMED:
        bones = Text("{count} bones", count=len(hand.bones))
    done = Text("{chains}: {bones} were posed by hand", chains=chains, bones=bones)
    if len(hand.bones) == 1:
        done = Text("{chains}: {bones} was posed by hand", chains=chains, bones=bones)
    if hand.reason:
        return Text("{done}, and live posing put it back: {reason}", done=done, reason=hand.reason)
    if hand.is_keyed:
        kept = Text("{done}, which is keyed", done=done)
    else:
        kept = Text("{done}, which is the start pose now", done=done)
    tip, tips = Text("the tip stays at its target"), Text("the tips stay where they are held")
    return joined("; ", (kept, tip if len(hand.chains) == 1 else tips)) if is_held else kept
