# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits over motion: chains whose controls tell how far from their motion they are, switched, and made part of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...errors import ChainError
from ...maths import Doubles, Mask
from ...rig.animation.channels import channel_of
from ...rig.animation.compat import fcurves_of, remove_curves, strips_of
from ...rig.animation.curves import values_at
from ...rig.animation.keys import animated_paths
from ...rig.bones import pose_bones
from ...rig.checks import check_offset
from ...rig.goals import GoalRef, goals_of, is_offset, swing_frame_of
from ...rig.layers import RESTS, Channels, kept_path, stack
from ...rig.schema import FabrikChain, RigView, rig_of
from ...rig.schema.chain import OFFSET
from ..frames import frames_keyed
from ..keep_pose import LetGo, let_go, unposed
from ..moved_goals import Loosed, goal_to_leave
from ..solve import Item


def edited_chains(owner: bpy.types.Object) -> list[FabrikChain]:
    """The chains of an armature whose controls edit its motion."""
    return [chain for chain in rig_of(owner).chains if is_offset(chain)]


def set_goal(context: bpy.types.Context, item: Item, goal: str) -> LetGo:
    """Choose what the target of a chain tells; it comes to where that leaves the pose, and nothing moves.

    Args:
        context: Its view layer has the armature.
        item: The armature object and the chain.
        goal: "PLACE" or "OFFSET".

    Returns:
        What there is to tell.

    Raises:
        FabrikError: Its controls can't tell that; nothing was changed.
    """
    owner, chain = item
    if chain.goal == goal:
        return LetGo([], [])
    if not rig_of(owner).edits:
        raise ChainError("edits of its armature are switched off: switch them on first", rig=owner.name)
    if goal == OFFSET:
        if chain.aims:
            raise ChainError("it aims: only a chain that reaches has a place in its motion", rig=owner.name)
        check_offset(owner, chain, swing_frame_of(owner, chain))
    with unposed() as depsgraph:
        place = goal_to_leave(owner, chain, depsgraph)
    chain.goal = goal
    return let_go(context, owner, [Loosed(chain, place)], is_keyed=False)


def edited_frames(chains: Iterable[FabrikChain], span: tuple[int, int]) -> tuple[float, ...]:
    """The frames from the first in which a control of chains does not rest to the last.

    Args:
        chains: Chains that are edited.
        span: First and last frame of what is played.

    Returns:
        None of them where all controls rest.
    """
    keys = frames_keyed(curve for goal in _controls(chains) for curve in _curves(goal))
    frames = np.arange(floor(min([span[0], *keys])), ceil(max([span[1], *keys])) + 1, dtype=np.float64)
    places = np.flatnonzero(are_moved(chains, frames))
    return tuple(frames[places[0] : places[-1] + 1].tolist()) if len(places) else ()


def are_moved(chains: Iterable[FabrikChain], frames: Doubles, *, turned: bool = False) -> Mask:
    """In which of F frames a control of chains does not rest, or with `turned` is turned, (F,)."""
    moved: Mask = np.zeros(len(frames), dtype=bool)
    for goal in _controls(chains):
        moved |= _is_moved(goal, frames, turned=turned)
    return moved


def _controls(chains: Iterable[FabrikChain]) -> list[GoalRef]:
    return [goal for chain in chains for goal in goals_of(chain)]


_Edit: TypeAlias = tuple[Channels, dict[str, str]]  # a layer's channels, and the data paths of location and rotation


def _counting(owner: bpy.types.Object) -> set[str]:
    """The keys of layers whose edits count at the frame at hand, or by keys and drivers of the layer at others."""
    path, animated = RigView.fields["layers"].path, animated_paths(owner)
    found = {""}
    for k, layer in enumerate(rig_of(owner).layers):
        if (layer.enabled and layer.influence) or any(one.startswith(f"{path}[{k}].") for one in animated):
            found.add(layer.key)
    return found


def _edits(goal: GoalRef) -> list[_Edit]:
    """What moves the control of an offset, in each layer that counts."""
    bone, found, counts = goal.holder, list[_Edit](), _counting(goal.found)
    for key, channels, _ in stack(goal.found, bone):
        if key in counts:
            names = ("location", channel_of(channels.rotation_mode)[0])
            paths = {name: bone.path_from_id(name) for name in names}
            if channels != bone and isinstance(bone, bpy.types.PoseBone):
                paths = {name: kept_path(bone, key, name) for name in names}
            found.append((channels, paths))
    return found


def _curves(goal: GoalRef) -> list[bpy.types.FCurve]:
    """The curves of a control's place and rotation, in all layers that count."""
    paths = {path for _, own in _edits(goal) for path in own.values()}
    return [curve for curve in fcurves_of(goal.found) if curve.data_path in paths]


def is_led(goal: GoalRef) -> bool:
    """Whether strips or drivers move a control, so that it can't be put to rest."""
    start, own = goal.channel_path().removesuffix("location"), {curve.data_path for curve in fcurves_of(goal.found)}
    return any(path.startswith(start) and path not in own for path in animated_paths(goal.found))


def _is_moved(goal: GoalRef, frames: Any, *, turned: bool) -> Mask:
    """In which of F frames a control is not at rest, (F,); one that is turned by half a turn about nothing is."""
    curves, found = _curves(goal), np.zeros(len(frames), dtype=bool)
    played = dict(zip([(one.data_path, one.array_index) for one in curves], values_at(curves, frames), strict=True))
    if is_led(goal):
        return ~found
    for channels, paths in _edits(goal):
        for name, path in list(paths.items())[turned:]:
            for i, (value, still) in enumerate(zip(getattr(channels, name), RESTS[name], strict=True)):
                own = played.get((path, i))
                found |= (own != still) if own is not None else np.full(len(frames), value != still)
    return found


def span_of_motion(owner: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame of what moves the bones of an armature, keys and strips; of the scene where nothing does."""
    controls = {goal.bone for chain in rig_of(owner).chains for goal in goals_of(chain) if goal.found == owner}
    bones = [bone.path_from_id() for bone in pose_bones(owner) if bone.name not in controls]
    starts = tuple(f"{bone}.{name}" for bone in bones for name in ("location", "rotation", "scale"))
    frames = frames_keyed(curve for curve in fcurves_of(owner) if curve.data_path.startswith(starts))
    data = owner.animation_data
    for strip in strips_of(data) if data is not None and data.use_nla else ():
        frames |= {strip.frame_start, strip.frame_end}
    return (floor(min(frames)), ceil(max(frames))) if frames else (scene.frame_start, scene.frame_end)


def edits_of(owner: bpy.types.Object, names: Iterable[str], scene: bpy.types.Scene) -> dict[str, tuple[float, ...]]:
    """The frames in which chains, by their names, edit their motion; without those that don't (`edited_frames`)."""
    edits = [name for name in names if is_offset(rig_of(owner).chains[name])]
    if not edits or not rig_of(owner).edits:
        return {}
    span = span_of_motion(owner, scene)
    found = {name: edited_frames([rig_of(owner).chains[name]], span) for name in edits}
    return {name: frames for name, frames in found.items() if frames}


def rest_within(owner: bpy.types.Object, edits: Mapping[str, tuple[float, ...]], frames: Sequence[float]) -> list[str]:
    """Let controls rest that edited the motion in some frames only, since these are part of it now.

    Args:
        owner: The armature object.
        edits: As they were before (`edits_of`).
        frames: Rising, those that are part of it.

    Returns:
        The names of the chains that edit other frames as well, and were left alone.
    """
    left, done = list[str](), list[FabrikChain]()
    for name, edited in edits.items():
        chain = rig_of(owner).chains[name]
        if edited[0] < frames[0] or edited[-1] > frames[-1] or any(map(is_led, goals_of(chain))):
            left.append(name)
        else:
            done.append(chain)
    put_to_rest(owner, done)
    return left


def put_to_rest(owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> None:
    """Take away the keys of the controls of chains, and let them rest, in all layers that count."""
    goals = _controls(chains)
    remove_curves(owner, [curve for goal in goals for curve in _curves(goal)])
    for channels, paths in (edit for goal in goals for edit in _edits(goal)):
        for name in paths:
            setattr(channels, name, RESTS[name])
