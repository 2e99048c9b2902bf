# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are planned anew by themselves while nothing else goes on, a little at a time."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import bpy

from ...errors import FabrikError
from ...rig.schema import rig_of, walker_of
from ...rig.unkeyed import pose_kept
from ..live.known import state as live_state
from .planning import Planning, age_of, stamp_of

log = logging.getLogger(__name__)
LOOK, SLICE = 1.0, 0.05  # seconds between two looks for something old, and between two slices of work
BUDGET = 0.03  # seconds of a slice


@dataclass(slots=True)
class Idle:
    """State of planning in idle time.

    Attributes:
        work: The walk that is being planned.
        seen: The stamp (`planning.stamp_of`) of the walk that was found old at the last look: it has to be the same at
            the next, so that nothing is planned while an animator goes on changing it.
        failed: By the full names of armature objects the stamp for which no plan could be made: it is not tried again
            before the stamp is another one.
    """

    work: Planning | None = None
    seen: str = ""
    failed: dict[str, str] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop what was begun: after an undo, or in another file, what it was for may be gone."""
        self.work, self.seen = None, ""


state = Idle()


def tick() -> float:
    """Do a slice of work, or look for some.

    Returns:
        How many seconds to wait until the next call.
    """
    if _is_busy():
        state.forget()
        return LOOK
    try:
        return _went_on(state.work) if state.work is not None else _looked()
    except ReferenceError:  # what was planned for is not there any more
        state.forget()
    return LOOK


def _is_busy() -> bool:
    """Whether the user, playback, a render or another tool is at work."""
    manager = bpy.context.window_manager
    running: Any = bpy.app.is_job_running  # which 4.2's stubs say returns nothing
    if live_state.paused or live_state.held or manager is None or running("RENDER"):
        return True
    return any(window.screen.is_animation_playing or len(window.modal_operators) for window in manager.windows)


def _looked() -> float:
    """Look for a walk that is old, and begin to plan it where it was so at the last look, too."""
    scene = bpy.context.scene
    assert scene is not None
    for owner in scene.objects:
        if owner.type != "ARMATURE" or owner.mode == "EDIT" or not owner.is_editable:
            continue
        age = age_of(owner, scene) if walker_of(owner).plans_when_idle else None
        if age is None or not age.old:
            continue
        frames, stamp, _ = age
        if stamp == state.failed.get(owner.name_full):
            continue
        if stamp != state.seen:
            state.seen = stamp
            return LOOK
        try:
            state.work = Planning(bpy.context, owner, frames)
        except FabrikError as error:
            return _gave_up(owner, stamp, error)
        return SLICE
    return LOOK


def _went_on(work: Planning) -> float:
    """Plan for the time of a slice; from the start again at a later look where something was changed meanwhile."""
    owner = work.owner
    if stamp_of(owner, work.scene, work.frames) != work.stamp or bpy.context.scene != work.scene:
        state.forget()
        return LOOK
    was_on, was_live = walker_of(owner).on, rig_of(owner).live
    try:
        with pose_kept(work.scene):
            is_done = work.advance(BUDGET)
    except FabrikError as error:
        return _gave_up(owner, work.stamp, error)
    if not is_done:
        return SLICE
    walker_of(owner).on = was_on
    rig_of(owner).live = was_live
    owner.update_tag()
    state.forget()
    return LOOK


def _gave_up(owner: bpy.types.Object, stamp: str, error: FabrikError) -> float:
    """Say why a walk can't be planned, once for what it would be planned from."""
    log.warning("%s: its walk is old, and can't be planned: %s", owner.name, error.reason)
    state.failed[owner.name_full] = stamp
    state.forget()
    return LOOK
