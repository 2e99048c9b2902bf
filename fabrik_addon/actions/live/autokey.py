# SPDX-License-Identifier: GPL-3.0-or-later
"""Automatic keying of what live posing moved, as Blender keys what the user moved: when the mouse is let go.

Blender keeps a state for undo before live posing hears that the mouse was let go, so without these keys. While a tool
is at work the chains that wait for keys are therefore marked in the file, and a state that undo or redo brings back
with a mark gets its keys. Where no tool was at work, what was keyed is remembered beside the file.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...rig.animation.keys import KeyedChannels, insert_auto_keys, insert_plain_keys
from ...rig.bones import pose_bones
from ...rig.figure.reader import frame_of
from ...rig.schema import mark_unkeyed, unkeyed_chains
from ...rig.walk_goals import path_bone
from .state import Key, LiveFigure, LiveItem, Numbers, Pair, state
from .user_edits import tool_of


def key_posed(
    context: bpy.types.Context, posed: Iterable[LiveItem], depsgraph: bpy.types.Depsgraph, is_undone: bool
) -> None:
    """Key chains that were posed, where automatic keying is on; those posed by a tool when it was confirmed.

    Args:
        context: Only its own scene is keyed.
        posed: Chains that were written now.
        depsgraph: Evaluated for the frame.
        is_undone: Whether undo or redo brought back what was evaluated.
    """
    scene = context.scene
    is_own = scene is not None and depsgraph.scene is not None and scene.name_full == depsgraph.scene.name_full
    if not is_own:  # another window shows another scene
        return
    if state.held or scene is None or not scene.tool_settings.use_keyframe_insert_auto:
        _unmark(state.unkeyed)
        state.unkeyed.clear()
        return
    known = {(rig.owner, names): found for rig in state.rigs for names, found in rig.figures.items()}
    pairs = [(rig.owner, names) for rig, names in posed if (rig.owner, names) in known]
    if state.answered:
        pairs += [pair for pair in known if _is_by_hand(pair) and pair not in pairs]
    frame = frame_of(depsgraph)
    if is_undone:
        wanted = {pair for pair in known if _is_marked(pair)}
        wanted |= {pair for pair in pairs if _is_by_hand(pair) or _step(pair, known[pair], frame) in state.key_steps}
    elif tool_of(context):
        for pair in pairs:
            state.unkeyed.setdefault(pair, known[pair].before)
        _mark(pairs)
        return
    else:
        wanted = {pair for pair in pairs if pair not in state.unkeyed or _is_by_hand(pair)}
        state.key_steps.extend(_step(pair, known[pair], frame) for pair in wanted)
        wanted |= {pair for pair, numbers in state.unkeyed.items() if pair in known and known[pair].numbers != numbers}
    _unmark([*state.unkeyed, *wanted])
    state.unkeyed.clear()  # those of a cancelled tool are not keyed
    for owner, names in sorted(wanted, key=_key_of):
        _key(context, owner, known[owner, names], frame)


def _key_of(pair: Pair) -> Key:
    """Chains by what outlasts undo."""
    return pair[0].name_full, *pair[1]


def _step(pair: Pair, known: LiveFigure, frame: float) -> tuple[Key, float, Numbers]:
    """What identifies one automatic keying: chains, frame, goals."""
    return _key_of(pair), frame, known.numbers


def _is_by_hand(pair: Pair) -> bool:
    """Whether what was done by hand to chains is the pose that they have now."""
    key = _key_of(pair)
    hand = state.hands.get(key)
    return key in state.answered and hand is not None and not hand.reason


def _is_marked(pair: Pair) -> bool:
    return not set(pair[1]).isdisjoint(unkeyed_chains(pair[0]))


def _mark(pairs: Iterable[Pair]) -> None:
    """Mark chains in the file, beside those that are."""
    for owner, names in _by_owner(pairs):
        mark_unkeyed(owner, [*dict.fromkeys([*unkeyed_chains(owner), *names])])


def _unmark(pairs: Iterable[Pair]) -> None:
    """Take marks away."""
    for owner, names in _by_owner(pairs):
        mark_unkeyed(owner, [other for other in unkeyed_chains(owner) if other not in names])


def _by_owner(pairs: Iterable[Pair]) -> Iterable[tuple[bpy.types.Object, list[str]]]:
    found: dict[bpy.types.Object, list[str]] = {}
    for owner, names in pairs:
        found.setdefault(owner, []).extend(names)
    return found.items()


def _key(context: bpy.types.Context, owner: bpy.types.Object, known: LiveFigure, frame: float) -> None:
    """Key the bones of chains that are written: their rotations, the place of a body bone, what stretches.

    The keys of a walk's body are its path, to which the pose that is written adds how the ground carries it.
    """
    bones, prepared, keyed, path = pose_bones(owner), known.prepared, KeyedChannels(owner, frame), path_bone(owner)
    written = [channels.bone for channels in prepared.channels if channels is not None and channels.bone != path]
    count = insert_auto_keys(context, [bones[name] for name in written], keyed)
    plain = [(bones[name], channel) for name, channel in prepared.plain_channels if name != path]
    count += insert_plain_keys(context, plain, keyed)
    if count:
        state.order = None  # from now on frames move its bones
