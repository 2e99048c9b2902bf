# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their goals whenever something moves."""

from .ahead import ahead
from .by_hand import hands_of, keep_hand, overwriting_keys, own_work, remember_restored, take_as_ours
from .known import Hand, state
from .refusing import switch_rig_off
from .ticking import tick
from .words import hand_text

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
