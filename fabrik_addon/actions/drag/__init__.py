# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging an end of any bone by the mouse."""

from .drag import Drag, DragResult, begin, drag_to, finish, pull_refusal, set_falloff, set_turning
from .scope import Grip

__all__ = ("Drag", "DragResult", "Grip", "begin", "drag_to", "finish", "pull_refusal", "set_falloff", "set_turning")
