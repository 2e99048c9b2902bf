# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging an end of any bone by the mouse."""

from .drag import Drag, Dragged, begin, drag_to, pull_refusal, set_falloff, set_turning
from .ending import finish
from .pinning import pin_bone
from .scope import Taken

__all__ = (
    "Drag",
    "Dragged",
    "Taken",
    "begin",
    "drag_to",
    "finish",
    "pin_bone",
    "pull_refusal",
    "set_falloff",
    "set_turning",
)
