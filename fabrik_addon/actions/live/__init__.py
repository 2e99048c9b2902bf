# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their goals whenever something moves."""

from .prefetch import ahead
from .state import Hand, state, switch_rig_off
from .update import tick
from .user_edits import (
    hand_text,
    hands_of,
    keep_hand,
    overwriting_keys,
    own_work,
    remember_restored,
    take_as_ours,
)

__all__ = (
    "Hand",
    "ahead",
    "hand_text",
    "hands_of",
    "keep_hand",
    "overwriting_keys",
    "own_work",
    "remember_restored",
    "state",
    "switch_rig_off",
    "take_as_ours",
    "tick",
)
