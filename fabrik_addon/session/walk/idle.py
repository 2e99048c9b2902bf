# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are planned anew by themselves while nothing else goes on, a little at a time."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import bpy

from ...errors import FabrikError
from ...rig.properties import rig_of
from ...rig.walker_properties import walker_of
from ..live.known import state as live_state
from .planning import Planning, planned_frames, stamp_of, what_is_old

log = logging.getLogger(__name__)
LOOK, SLICE = 1.0, 0.05  # seconds between two looks for something old, and between two slices of work
BUDGET = 0.03  # seconds of a slice
GONE = (ReferenceError, KeyError, AttributeError)  # what was planned for is not there any more


@dataclass(slots=True)
class Idle:
    """What is known between two looks.

    Attributes:
        work: The walk that is being planned.
        seen: The inputs of the walker that was found old at the last look: they have to be the same at the next.
        failed: Those for which a plan could not be made, which is tried again once they have changed.
    """

    work: Planning | None = None
    seen: str = ""
    failed: str = ""

    def forget(self) -> None:
        """All may be gone: undo, a file."""
        self.work, self.seen = None, ""


state = Idle()


def tick() -> float:
    """Do a slice of work, or look for some; how many seconds to wait until the next call."""
    if _is_busy():
        state.forget()
        return LOOK
    try:
        return _went_on() if state.work is not None else _looked()
    except GONE:
        state.forget()
    except FabrikError as error:
        log.warning("%s: its walk is old, and can't be planned: %s", error.rig, error.reason)
        state.failed, state.work = (state.work.stamp if state.work is not None else state.seen), None
    return LOOK


def _is_busy() -> bool:
    """Whether the user, playback, a render or another tool is at work."""
    manager = bpy.context.window_manager
    running: Any = bpy.app.is_job_running  # which 4.2's stubs say returns nothing
    if live_state.paused or live_state.held or manager is None or running("RENDER"):
        return True
    return any(window.screen.is_animation_playing or len(window.modal_operators) for window in manager.windows)


def _looked() -> float:
    scene = bpy.context.scene
    assert scene is not None
    for owner in scene.objects:
        if owner.type != "ARMATURE" or owner.mode == "EDIT" or not owner.is_editable:
            continue
        frames = planned_frames(owner)
        if frames is None or not walker_of(owner).plans_when_idle or not what_is_old(owner, scene):
            continue
        stamp = stamp_of(owner, scene, frames)
        if stamp == state.failed:
            continue
        if stamp == state.seen:
            state.work = Planning(bpy.context, owner, frames)
            return SLICE
        state.seen = stamp
        return LOOK
    return LOOK


def _went_on() -> float:
    work = state.work
    assert work is not None
    if stamp_of(work.owner, work.scene, work.frames) != work.stamp or bpy.context.scene != work.scene:
        state.forget()
        return LOOK
    was_on, was_live = walker_of(work.owner).on, rig_of(work.owner).live
    if not work.advance(BUDGET):
        return SLICE
    walker_of(work.owner).on = was_on
    rig_of(work.owner).live = was_live
    work.owner.update_tag()
    state.forget()
    return LOOK
