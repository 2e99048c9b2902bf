# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits over motion made part of it: what they change is keyed, and all else stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ...errors import ChainError
from ...rig.animation.compat import fcurves_of
from ...rig.animation.curves import SAME_FRAME, KeyArrays, freeze, put_keys, read_keys, split_at
from ...rig.animation.keys import curves_of_bones, has_strips
from ...rig.figure.groups import figure_bones
from ...rig.goals import goals_of
from ...rig.schema import rig_of
from ...texts import Text
from ..frames import Steps, scene_of
from ..motion.edits import are_moved, check_goals_stay, edited_chains, edited_frames, is_led, span_of_motion
from ..solve import together
from .checks import BakeSettings, check_bake
from .report import BakeResult
from .run import bake_steps


def apply_steps(context: bpy.types.Context, owner: bpy.types.Object) -> Steps[BakeResult]:
    """Make edits part of the motion, in steps: the frames that they change get keys, and the controls rest.

    A frame more on either side is keyed as the motion has it, and where curves go by one of Blender's easings there,
    all frames of these are; where strips play, whose place new curves take, all frames of the motion are. Closed before
    its end it leaves all as it was.

    Args:
        context: Its scene's frame is moved and put back.
        owner: An armature object with chains that edit its motion.

    Raises:
        FabrikError: It can't be keyed; nothing was changed.
    """
    scene, chains = scene_of(context), [chain for chain in edited_chains(owner) if chain.enabled]
    check_goals_stay(owner)
    if not chains:
        raise ChainError("no enabled chain edits its motion: set its goal to Offset", rig=owner.name)
    if not rig_of(owner).edits:
        raise ChainError("its edits are switched off, so that there is nothing to apply", rig=owner.name)
    led = next((chain for chain in chains if any(map(is_led, goals_of(chain)))), None)
    if led is not None:
        reason = Text("strips or drivers move its control, which can't be put to rest then")
        raise ChainError(reason, rig=owner.name, chain=led.name)
    span = span_of_motion(owner, scene)
    edited = edited_frames(chains, span)
    if not edited:
        raise ChainError("all controls rest, so that there is nothing to apply", rig=owner.name)
    items = [(owner, chain) for chain in chains]
    check_bake(context, together(items), "ACTION")
    bones = [bone.name for one in together(items) for bone in figure_bones(one)]
    curves, ends = curves_of_bones(owner, bones), np.array((edited[0] - 1.0, edited[-1] + 1.0))
    goes_on = are_moved(chains, ends)  # an edit that goes on beyond all frames ends in none
    first, last = int(ends[0]) + int(goes_on[0]), int(ends[1]) - int(goes_on[1])
    if has_strips(owner):
        first, last = min(first, span[0]), max(last, span[1])
    settings = BakeSettings(tuple(float(frame) for frame in range(first, last + 1)), stays_enabled=True)
    about = [frame for frame, is_open in zip((first - 1, last + 1), goes_on, strict=True) if not is_open]
    with _keys_about(owner, curves, about, (first, last)):
        return (yield from bake_steps(context, items, settings))


@contextmanager
def _keys_about(
    owner: bpy.types.Object, curves: Sequence[bpy.types.FCurve], frames: Sequence[int], span: tuple[int, int]
) -> Iterator[None]:
    """Give the motion keys on itself at frames, so that it stays beyond them; taken away if the block fails.

    Handles of keys outside of the span that Blender would make anew stay where they are.
    """
    kept = {(curve.data_path, curve.array_index): read_keys(curve) for curve in curves}
    first, last = span
    for curve in curves:
        before = read_keys(curve)
        for frame in frames:
            split_at(curve, frame)
        freeze(curve, before, ~np.isin(before.frames, _beside(before, frames)))
    stood = {(curve.data_path, curve.array_index): read_keys(curve) for curve in curves}
    try:
        yield
    except BaseException:
        for curve in fcurves_of(owner):
            if (curve.data_path, curve.array_index) in kept:
                put_keys(curve, kept[curve.data_path, curve.array_index])
                curve.update()
        raise
    for curve in fcurves_of(owner):
        place = curve.data_path, curve.array_index
        if place in stood:
            own = stood[place].frames
            freeze(curve, stood[place], (own < first - SAME_FRAME) | (own > last + SAME_FRAME))


def _beside(keys: KeyArrays, frames: Sequence[int]) -> list[float]:
    """The frames of the keys next to others, before and after: their handles are those of a split."""
    own = keys.frames
    return [float(one) for frame in frames for one in (*own[own < frame][-1:], *own[own > frame][:1])]
