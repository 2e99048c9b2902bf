# SPDX-License-Identifier: GPL-3.0-or-later
"""Automatic keying of what live posing moved, as Blender keys what the user moved: when the mouse is let go."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...rig.chain_bones import pose_bones
from ...rig.keys import KeyedChannels, insert_auto_keys
from ...rig.prepared import frame_of
from .known import Item, LiveChain, state


def key_posed(context: bpy.types.Context, posed: Iterable[Item], depsgraph: bpy.types.Depsgraph) -> None:
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
    known = {(rig.owner, name): found for rig in state.rigs for name, found in rig.chains.items()}
    pairs = [(rig.owner, name) for rig, name in posed if (rig.owner, name) in known]
    if _is_dragging(context):
        for pair in pairs:
            state.unkeyed.setdefault(pair, known[pair].before)
        return
    dragged = [pair for pair, numbers in state.unkeyed.items() if pair in known and known[pair].numbers != numbers]
    wanted = {pair for pair in pairs if pair not in state.unkeyed} | {*dragged}  # not those of a cancelled drag
    state.unkeyed.clear()
    for owner, name in sorted(wanted, key=lambda pair: (pair[0].name_full, pair[1])):
        _key(context, owner, known[owner, name], depsgraph)


def _key(context: bpy.types.Context, owner: bpy.types.Object, known: LiveChain, depsgraph: bpy.types.Depsgraph) -> None:
    """Key the bones of a chain that are written."""
    bones = pose_bones(owner)
    written = [bones[channels.bone] for channels in known.prepared.channels if channels is not None]
    if insert_auto_keys(context, written, KeyedChannels(owner, frame_of(depsgraph))):
        state.order = None  # from now on frames move its bones


def _is_dragging(context: bpy.types.Context) -> bool:
    """Whether a modal transform is going on."""
    manager = context.window_manager
    windows = manager.windows if manager else ()
    return any(
        operator.bl_idname.startswith("TRANSFORM_OT") for window in windows for operator in window.modal_operators
    )
