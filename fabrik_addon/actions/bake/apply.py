# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits over motion made part of it: what they change is keyed, and all else stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil, floor
from typing import TypeAlias

import bpy
import numpy as np

from ...errors import ChainError
from ...rig.animation.compat import fcurves_of
from ...rig.animation.curves import SAME_FRAME, KeyArrays, freeze, put_keys, read_keys, split_at
from ...rig.animation.keys import chains_animated_in, curves_of_bones, has_strips, key_at
from ...rig.figure.groups import figure_bones
from ...rig.goals import goals_of
from ...rig.schema import rig_of
from ...texts import Text
from ..frames import Steps, scene_of
from ..motion.edits import are_moved, edited_chains, edited_frames, is_led, span_of_motion
from ..solve import together
from .checks import BakeSettings, check_bake
from .report import BakeResult
from .run import bake_steps

EASING = ("interpolation", "easing", "amplitude", "back", "period")  # of a key, for what follows it
SPLIT = {"CONSTANT", "LINEAR", "BEZIER"}  # interpolations between keys that go on as they do when one is put between


def apply_steps(context: bpy.types.Context, owner: bpy.types.Object) -> Steps[BakeResult]:
    """Make edits part of the motion, in steps: the frames that they change get keys, and the controls rest.

    A frame more on either side is keyed as the motion has it. Where curves can't be split, since they go by one of
    Blender's easings, all of these up to their next keys are; where strips play, whose place new curves take, all
    frames of the motion are. Closed before its end it leaves all as it was.

    Args:
        context: Its scene's frame is moved and put back.
        owner: An armature object with chains that edit its motion.

    Raises:
        FabrikError: It can't be keyed; nothing was changed.
    """
    scene, chains = scene_of(context), [chain for chain in edited_chains(owner) if chain.enabled]
    keyed = chains_animated_in(owner, "goal")
    if keyed:
        raise ChainError("its Goal is keyed, so that it edits at times: bake it", rig=owner.name, chain=min(keyed))
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
    first, last = _to_keys(curves, first, last)
    settings = BakeSettings(tuple(float(frame) for frame in range(first, last + 1)), stays_enabled=True)
    about = [frame for frame, is_open in zip((first - 1, last + 1), goes_on, strict=True) if not is_open]
    with _keys_about(owner, curves, about, (first, last)):
        return (yield from bake_steps(context, items, settings))


def _to_keys(curves: Sequence[bpy.types.FCurve], first: int, last: int) -> tuple[int, int]:
    """First and last frame of a range that ends in no stretch of a curve that can't be split.

    Nor does a frame beside it lie in one, unless it does for all: where one channel is split the others get keys, too.
    """
    every = [_stretches(curve) for curve in curves]
    while True:
        low = min([first, *_within(every, first, 0), *_mixed(every, first - 1, 0)])
        high = max([last, *_within(every, last, 1), *_mixed(every, last + 1, 1)])
        if (low, high) == (first, last):
            return first, last
        first, last = low, high


Stretch: TypeAlias = tuple[int, int]  # the frames of two keys that follow each other


def _stretches(curve: bpy.types.FCurve) -> list[Stretch]:
    """Where a curve goes by an easing."""
    points = curve.keyframe_points
    easings = [k for k in range(len(points) - 1) if points[k].interpolation not in SPLIT]
    return [(floor(points[k].co[0]), ceil(points[k + 1].co[0])) for k in easings]


def _within(every: Sequence[Sequence[Stretch]], frame: int, end: int) -> list[int]:
    """The starts (0) or ends (1) of the stretches of curves in which a frame lies; one of each curve at most."""
    return [own[end] for stretches in every for own in stretches if own[0] < frame < own[1]]


def _mixed(every: Sequence[Sequence[Stretch]], frame: int, end: int) -> list[int]:
    """`_within`, where the frame lies in such a stretch of some curves, and not of all."""
    found = _within(every, frame, end)
    return found if len(found) < len(every) else []


@contextmanager
def _keys_about(
    owner: bpy.types.Object, curves: Sequence[bpy.types.FCurve], frames: Sequence[int], span: tuple[int, int]
) -> Iterator[None]:
    """Give the motion keys on itself at frames, so that it stays beyond them; taken away if the block fails.

    A curve that went by an easing from the last frame of the span on does so after it, and handles of keys outside of
    it that Blender would make anew stay where they are.
    """
    kept = {(curve.data_path, curve.array_index): read_keys(curve) for curve in curves}
    first, last = span
    ends = {(curve.data_path, curve.array_index): key_at(curve, last) for curve in curves}
    eased = {place: point for place, point in ends.items() if point is not None and point.interpolation not in SPLIT}
    easings = {place: {name: getattr(point, name) for name in EASING} for place, point in eased.items()}
    for curve in curves:
        before = read_keys(curve)
        for frame in frames:
            if not _within([_stretches(curve)], frame, 0):
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
        for name, value in easings.get(place, {}).items():
            setattr(key_at(curve, last), name, value)


def _beside(keys: KeyArrays, frames: Sequence[int]) -> list[float]:
    """The frames of the keys next to others, before and after: their handles are those of a split."""
    own = keys.frames
    return [float(one) for frame in frames for one in (*own[own < frame][-1:], *own[own > frame][:1])]
