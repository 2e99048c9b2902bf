# SPDX-License-Identifier: GPL-3.0-or-later
"""What live posing says of what was done by hand."""

from __future__ import annotations

from .known import Hand

NAMED = 3  # bones that are named; more are counted


def hand_text(hand: Hand, is_held: bool) -> str:
    """What was done by hand to chains, and what came of it.

    Args:
        hand: What was done.
        is_held: Whether the tips of these are at their targets.
    """
    chains = ", ".join(hand.chains) if len(hand.chains) <= NAMED else f"{len(hand.chains)} chains"
    bones = ", ".join(f"'{name}'" for name in hand.bones[:NAMED])
    if len(hand.bones) > NAMED:
        bones = f"{len(hand.bones)} bones"
    done = f"{chains}: {bones} {'was' if len(hand.bones) == 1 else 'were'} posed by hand"
    if hand.reason:
        return f"{done}, and live posing put it back: {hand.reason}"
    kept = "is keyed" if hand.is_keyed else "is the start pose now"
    held = "the tip stays at its target" if len(hand.chains) == 1 else "the tips stay where they are held"
    return f"{done}, which {kept}{f'; {held}' if is_held else ''}"
