# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their goals whenever something moves."""

from .figures import goals_not_rendered, overwriting_keys
from .state import state, switch_rig_off
from .update import ahead, tick
from .user_edits import begin_anew, end_holds, notes_of, own_work, take_as_ours

__all__ = (
    "ahead",
    "begin_anew",
    "end_holds",
    "goals_not_rendered",
    "notes_of",
    "overwriting_keys",
    "own_work",
    "state",
    "switch_rig_off",
    "take_as_ours",
    "tick",
)
