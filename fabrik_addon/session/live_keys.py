# SPDX-License-Identifier: GPL-3.0-or-later
"""Automatic keying of what live posing moved, as Blender keys what the user moved: when the mouse is let go."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..rig.chain_bones import pose_bones
from ..rig.keys import KeyedChannels, insert_auto_keys
from ..rig.reader import frame_of
from .live_state import Pair, object_of, state


def key_posed(context: bpy.types.Context, posed: Iterable[Pair], depsgraph: bpy.types.Depsgraph) -> None:
    """Key chains that were posed, where automatic keying is on; those posed in a drag when it ended.

    Args:
        context: Only its own scene is keyed.
        posed: Chains that were written now.
        depsgraph: Evaluated for the frame.
    """
    scene = context.scene
    is_own = scene is not None and depsgraph.scene is not None and scene.name_full == depsgraph.scene.name_full
    if state.held or scene is None or not is_own or not scene.tool_settings.use_keyframe_insert_auto:
        state.unkeyed.clear()
        return
    if _is_dragging(context):
        for pair in posed:
            state.unkeyed.setdefault(pair, state.ready[pair].before)
        return
    dragged = {pair for pair, goal in state.unkeyed.items() if pair in state.ready and state.ready[pair].goal != goal}
    pairs = {pair for pair in posed if pair not in state.unkeyed} | dragged  # not those of a drag that was cancelled
    state.unkeyed.clear()
    for pair in sorted(pairs):
        owner, ready = object_of(pair[0]), state.ready.get(pair)
        if owner is None or ready is None:
            continue
        bones = [pose_bones(owner)[channels.bone] for channels in ready.channels if channels is not None]
        if insert_auto_keys(context, bones, KeyedChannels(owner, frame_of(depsgraph))):
            ready.is_fresh = False  # from now on frames move its bones


def _is_dragging(context: bpy.types.Context) -> bool:
    """Whether a modal transform is going on."""
    manager = context.window_manager
    windows = manager.windows if manager else ()
    return any(
        operator.bl_idname.startswith("TRANSFORM_OT") for window in windows for operator in window.modal_operators
    )
