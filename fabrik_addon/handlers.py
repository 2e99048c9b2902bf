# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that hangs functions on Blender's handlers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import bpy

from .overlay import view
from .rig.properties import rig_of
from .session import live, record

log = logging.getLogger(__name__)


def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    view.touch()
    if depsgraph is not None:
        _guarded(lambda: live.tick(bpy.context, scene, depsgraph, is_frame=False))


def _before_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    _guarded(lambda: live.ahead(scene))


def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    view.touch()
    if depsgraph is not None:
        _guarded(lambda: live.tick(bpy.context, scene, depsgraph, is_frame=True))


def _before_load(*_: Any) -> None:
    live.state.forget()
    live.state.paused = True


def _after_load(*_: Any) -> None:
    live.state.forget()
    live.state.paused = False
    record.state.current = None
    view.touch()


def _after_undo(*_: Any) -> None:
    live.state.forget()
    live.state.undone = True
    record.state.current = None
    view.touch()


HANDLERS: dict[str, Callable[..., None]] = {
    "depsgraph_update_post": _on_update,
    "frame_change_pre": _before_frame,
    "frame_change_post": _on_frame,
    "load_pre": _before_load,
    "load_post": _after_load,
    "load_post_fail": _after_load,
    "undo_post": _after_undo,
    "redo_post": _after_undo,
}


def _guarded(work: Callable[[], None]) -> None:
    """Run a handler; one that fails in a way not foreseen is not called again each frame."""
    try:
        work()
    except Exception:
        log.exception("live posing failed and is switched off")
        for owner in bpy.data.objects:
            if owner.type == "ARMATURE" and owner.is_editable and rig_of(owner).live:
                rig_of(owner).live = False
        live.state.forget()


def register() -> None:
    """Hang the functions on Blender's handlers, with nothing known of any file."""
    live.state.forget()
    live.state.paused = live.state.held = False
    for owner in getattr(bpy.data, "objects", ()):  # Blender holds its data back while it starts
        if owner.type == "ARMATURE" and rig_of(owner).live:
            owner.update_tag()  # it may have to be posed anew
    for name, function in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(bpy.app.handlers.persistent(function))


def unregister() -> None:
    """Take them off again."""
    for name, function in HANDLERS.items():
        hooked = getattr(bpy.app.handlers, name)
        if function in hooked:
            hooked.remove(function)
    live.state.forget()
