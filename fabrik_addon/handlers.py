# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that hangs functions on Blender's handlers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, ParamSpec

import bpy

from .actions import chain_edit, live, moved_goals
from .overlay import settings, view
from .rig.animation.keys import StripValues
from .rig.animation.staleness import forget_shapes
from .rig.figure.reader import FigureCache
from .rig.renames import follow_renames, follow_renames_after
from .rig.schema import rig_of
from .rig.versions import bring_all_up_to_date, newer_refusal
from .rig.walk_goals import let_all_go

P = ParamSpec("P")
log = logging.getLogger(__name__)

_failed: set[str] = set()  # what failed beside live posing, by what it means, since the file was opened
_paused: list[bool] = []  # whether live posing waited as Blender began to load a file
_unheard = threading.Event()  # whether something was evaluated by another thread, of which nothing was read


def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Follow what was changed; what another thread evaluates, later.

    A render in the window runs in a thread of its own, and what is evaluated there calls this function from it, while
    the window draws the same bones. The poses that are rendered are those of the frame handlers.
    """
    if threading.get_ident() != threading.main_thread().ident:
        _unheard.set()
        return
    if _unheard.is_set():
        _unheard.clear()
        FigureCache.clear()
        forget_shapes()
        live.state.look_again()
    view.touch()
    if depsgraph is not None:
        FigureCache.after(depsgraph)
        if StripValues.noted and depsgraph.id_type_updated("ACTION"):
            StripValues.evaluated(scene.frame_current_final, scene.objects)
        forget_shapes(depsgraph)
        _beside(NO_RENAMES, lambda: follow_renames_after(depsgraph))
        _guarded(live.tick, bpy.context, scene, depsgraph, is_frame=False)
    _beside(NO_CHOICE, lambda: chain_edit.follow(bpy.context.view_layer))


def _before_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    if not live.state.paused:
        _guarded(live.ahead, scene)


def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    view.touch()
    FigureCache.clear()
    if StripValues.noted:
        StripValues.evaluated(scene.frame_current_final, scene.objects)
    if depsgraph is not None and live.state.may_hold:
        _guarded(live.end_holds, depsgraph)
    if depsgraph is not None and not live.state.paused:
        _guarded(live.tick, bpy.context, scene, depsgraph, is_frame=True)


def _before_load(*_: Any) -> None:
    FigureCache.clear()
    StripValues.forget()
    live.state.forget()
    _paused[:] = [live.state.paused]
    live.state.paused = True


def _after_failed_load(*_: Any) -> None:
    live.state.paused = any(_paused)  # the file that was open stays so, and what is under way in it goes on


def _after_load(*_: Any) -> None:
    FigureCache.clear()
    live.state.forget_all()
    moved_goals.brought.clear()
    let_all_go()
    forget_shapes()
    _failed.clear()
    layer = bpy.context.view_layer  # what is tagged before a file ever was evaluated is not heard of
    if layer is not None and any(owner.type == "ARMATURE" and rig_of(owner).live for owner in bpy.data.objects):
        layer.update()
    live.state.paused = False
    _look_around()
    settings.state.recording = None
    settings.state.trails.clear()
    chain_edit.ActiveBone.place = None  # the active bone of a file leaves the list of chains as it was saved
    view.touch()


def _bring_up_to_date(*_: Any) -> None:
    bring_all_up_to_date(bpy.data.objects)
    _follow_all_renames()


def _follow_all_renames() -> None:
    _beside(NO_RENAMES, lambda: follow_renames(bpy.data.objects))


def _before_undo(*_: Any) -> None:
    FigureCache.clear()
    live.state.forget()


def _after_undo(scene: bpy.types.Scene, *_: Any) -> None:
    FigureCache.clear()
    live.state.forget()
    forget_shapes()
    _follow_all_renames()
    _guarded(moved_goals.put_goals_back)
    settings.state.recording = None
    chain_edit.ActiveBone.place = chain_edit.ANOTHER
    view.touch()


HANDLERS: dict[str, Callable[..., None]] = {
    "depsgraph_update_post": _on_update,
    "frame_change_pre": _before_frame,
    "frame_change_post": _on_frame,
    "load_pre": _before_load,
    "load_post": _after_load,
    "load_post_fail": _after_failed_load,
    "save_pre": _bring_up_to_date,  # what a script made has no number yet
    "blend_import_post": _bring_up_to_date,  # from 4.3 on; before, what is appended waits for one of the others
    "undo_pre": _before_undo,
    "redo_pre": _before_undo,
    "undo_post": _after_undo,
    "redo_post": _after_undo,
}


NO_RENAMES = "bones that are renamed are not followed any more in this file"  # chains tell of bones they don't find
NO_CHOICE = "the list of chains does not follow the active bone any more in this file"


def _beside(meaning: str, work: Callable[[], None]) -> None:
    """Run what is done beside live posing; if it fails in a way not foreseen, that is told once, with what it means.

    From then on it is left out.
    """
    if meaning in _failed:
        return
    try:
        work()
    except Exception:
        _failed.add(meaning)
        log.exception("%s", meaning)


def _guarded(work: Callable[P, None], *arguments: P.args, **options: P.kwargs) -> None:
    """Run a handler; one that fails in a way not foreseen is not called again each frame."""
    try:
        work(*arguments, **options)
    except Exception as error:
        log.exception("live posing failed and is switched off")
        for owner in bpy.data.objects:
            if owner.type == "ARMATURE" and owner.is_editable and rig_of(owner).live and not newer_refusal(owner):
                live.switch_rig_off(owner, error)
        live.state.forget()


def register() -> None:
    """Hang the functions on Blender's handlers, with nothing known of any file."""
    live.state.forget_all()
    live.state.paused = live.state.held = False
    for name, function in HANDLERS.items():
        if hasattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).append(bpy.app.handlers.persistent(function))
    if hasattr(bpy.data, "objects"):
        _look_around()
    elif not bpy.app.background:  # Blender holds its data back while it switches an extension on
        bpy.app.timers.register(_look_around, first_interval=0.0)


def _look_around() -> None:
    """Heed what is in the file that is open already."""
    _bring_up_to_date()
    for owner in bpy.data.objects:
        if owner.type == "ARMATURE":
            live.begin_anew(owner)
        if owner.type == "ARMATURE" and rig_of(owner).live:
            owner.update_tag()  # it may have to be posed anew: a file that is opened shows what its keys say


def unregister() -> None:
    """Take them off again."""
    if bpy.app.timers.is_registered(_look_around):
        bpy.app.timers.unregister(_look_around)
    for name, function in HANDLERS.items():
        hooked: list[Any] = getattr(bpy.app.handlers, name, [])
        if function in hooked:
            hooked.remove(function)
    live.state.forget()
