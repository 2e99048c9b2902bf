# SPDX-License-Identifier: GPL-3.0-or-later
"""Automatic keying of what live posing moved, as Blender keys what the user moved: when the mouse is let go.

Blender keeps a state for undo before live posing hears that the mouse was let go, so without these keys. While a tool
is at work the chains that wait for keys are therefore marked in the file, and a state that undo or redo brings back
with a mark gets its keys. Where no tool was at work the chains do not stand yet as their goals want, and are keyed when
they are brought there, as they were.

An armature without an action gets one for marked chains alone: the mark tells it from what it was in the steps of undo
before and after, so that Blender reads it anew (`makes_an_action`). Of other chains it is told that they have no keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import bpy

from ...rig.animation.keys import KeyedChannels, insert_auto_keys, insert_plain_keys, makes_an_action
from ...rig.bones import pose_bones
from ...rig.figure.reader import frame_of
from ...rig.figure.start_pose import start_from_keys
from ...rig.schema import mark_unkeyed, rig_of, unkeyed_chains
from ...rig.walk_goals import path_bone
from ...texts import Text, joined
from .state import Key, LiveFigure, LiveItem, LiveRig, Pair, state
from .user_edits import has_finished, note_left, tool_of


def key_posed(
    context: bpy.types.Context,
    posed: Iterable[LiveItem],
    settled: Collection[LiveItem],
    depsgraph: bpy.types.Depsgraph,
) -> None:
    """Key chains that were posed, where automatic keying is on; those posed by a tool when it was confirmed.

    Args:
        context: Only its own scene is keyed.
        posed: Chains that were written now.
        settled: Those that start from what was posed by hand.
        depsgraph: Evaluated for the frame.
    """
    scene = context.scene
    is_own = scene is not None and depsgraph.scene is not None and scene.name_full == depsgraph.scene.name_full
    if not is_own:  # another window shows another scene
        return
    if state.held or scene is None or not scene.tool_settings.use_keyframe_insert_auto:
        if state.tool:
            _unmark([(rig.owner, names) for rig in state.rigs for names in rig.figures])
            state.tool = 0
        return
    known = {(rig.owner, names): (rig, found) for rig in state.rigs for names, found in rig.figures.items()}
    pairs = [pair for rig, names in posed if (pair := (rig.owner, names)) in known]
    by_hand = {pair for rig, names in settled if (pair := (rig.owner, names)) in known}
    if tool := tool_of(context):
        state.tool = tool if pairs else state.tool
        _mark(pairs)
        return
    marked = [(owner, names) for owner, names in known if not {*names}.isdisjoint(unkeyed_chains(owner))]
    waited = set(marked if not state.tool or has_finished(context, state.tool) else ())
    wanted = {*by_hand, *waited, *(pair for pair in pairs if pair not in marked)}
    _unmark(marked)
    state.tool = 0
    may_begin = {owner for owner, _ in waited}
    for pair in sorted(wanted, key=_key_of):
        rig, found = known[pair]
        if rig.owner not in may_begin and makes_an_action(context, rig.owner):
            _tell(pair)
        elif _key(context, rig.owner, found, frame_of(depsgraph)) and pair in by_hand:
            _start_from_keys(rig, found)


def _key_of(pair: Pair) -> Key:
    """Chains by what outlasts undo."""
    return pair[0].name_full, *pair[1]


def _tell(pair: Pair) -> None:
    """Say of chains that they were not keyed, since no bone of their armature is."""
    key, chains = _key_of(pair), ", ".join(pair[1])
    text = Text("{chains}: no bone is keyed: key the pose for it to stand elsewhere in other frames", chains=chains)
    state.notes[key] = joined("; ", [state.notes[key], text]) if key in state.notes else text


def _start_from_keys(rig: LiveRig, known: LiveFigure) -> None:
    """Let chains that were posed by hand start from their keys, which are the same pose now."""
    state.notes.pop((rig.owner.name_full, *known.names), None)
    chains = rig_of(rig.owner).chains
    start_from_keys(rig.owner, [chains[name] for name in known.names])
    note_left(rig)


def _mark(pairs: Iterable[Pair]) -> None:
    """Mark chains in the file, beside those that are."""
    for owner, names in pairs:
        mark_unkeyed(owner, [*dict.fromkeys([*unkeyed_chains(owner), *names])])


def _unmark(pairs: Iterable[Pair]) -> None:
    """Take marks away."""
    for owner, names in pairs:
        mark_unkeyed(owner, [other for other in unkeyed_chains(owner) if other not in names])


def _key(context: bpy.types.Context, owner: bpy.types.Object, known: LiveFigure, frame: float) -> int:
    """Key the bones of chains that are written: their rotations, the place of a body bone, what stretches; how many.

    The keys of a walk's body are its path, to which the pose that is written adds how the ground carries it.
    """
    bones, figure, keyed, path = pose_bones(owner), known.figure, KeyedChannels(owner, frame), path_bone(owner)
    written = [channels.bone for channels in figure.channels if channels is not None and channels.bone != path]
    count = insert_auto_keys(context, [bones[name] for name in written], keyed)
    plain = [(bones[name], channel) for name, channel in figure.plain_channels if name != path]
    count += insert_plain_keys(context, plain, keyed)
    if count:
        state.order = None  # from now on frames move its bones
    return count
