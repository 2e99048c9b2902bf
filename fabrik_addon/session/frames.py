# SPDX-License-Identifier: GPL-3.0-or-later
"""Going through frames and coming back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import floor

import bpy

from .live_state import state


@contextmanager
def frames_visited(scene: bpy.types.Scene) -> Iterator[None]:
    """Live posing rests while frames of a scene are visited; then its frame, sub-frame included, is put back."""
    stood = scene.frame_current_final
    state.paused = True
    try:
        yield
    finally:
        state.paused = False
        scene.frame_set(floor(stood), subframe=stood - floor(stood))
