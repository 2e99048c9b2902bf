# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits over motion: chains whose controls tell how far from their motion they are, switched, and made part of it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil, floor
from typing import Any

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ...errors import ChainError
from ...maths import Mask
from ...rig.animation.channels import channel_of, neutral_values, plain_path, read_values, rotation_path
from ...rig.animation.compat import fcurves_of, remove_curves
from ...rig.animation.curves import put_keys, read_keys, split_at, values_at
from ...rig.bones import pose_bones
from ...rig.checks import check_offset
from ...rig.figure.groups import figure_bones
from ...rig.goals import GoalRef, goals_of, is_offset, swing_frame_of
from ...rig.placing import holder_of, location_curves, turn_curves
from ...rig.schema import FabrikChain, rig_of
from ...rig.schema.chain import OFFSET
from ..bake.checks import BakeSettings
from ..bake.report import BakeResult
from ..bake.run import bake_steps
from ..keep_pose import LetGo, let_go, unposed
from ..moved_goals import Loosed, goal_to_leave
from ..solve import Item, together


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
    if goal == OFFSET:
        if chain.aims:
            raise ChainError("it aims: only a chain that reaches has a place in its motion", rig=owner.name)
        check_offset(owner, chain, swing_frame_of(owner, chain))
    with unposed() as depsgraph:
        place = goal_to_leave(owner, chain, depsgraph)
    chain.goal = goal
    return let_go(context, owner, [Loosed(chain, place)], is_keyed=False)


def edited_frames(owner: bpy.types.Object, chains: Iterable[FabrikChain], span: tuple[int, int]) -> tuple[float, ...]:
    """The frames from the first in which a control of chains does not rest to the last.

    Args:
        owner: The armature object.
        chains: Chains of it that are edited.
        span: First and last frame of what is played.

    Returns:
        None of them where all controls rest.
    """
    curves = [curve for goal in _controls(chains) for curve in _curves(goal)]
    keys = [point.co[0] for curve in curves for point in curve.keyframe_points]
    first, last = floor(min([span[0], *keys])), ceil(max([span[1], *keys]))
    frames = np.arange(first, last + 1, dtype=np.float64)
    moved: Mask = np.zeros(len(frames), dtype=bool)
    for goal in _controls(chains):
        moved |= _is_moved(goal, frames)
    places = np.flatnonzero(moved)
    if not len(places):
        return ()
    return tuple(frames[places[0] : places[-1] + 1].tolist())


def _controls(chains: Iterable[FabrikChain]) -> list[GoalRef]:
    return [goal for chain in chains for goal in goals_of(chain)]


def _curves(goal: GoalRef) -> list[bpy.types.FCurve]:
    """The curves of a control's place and rotation."""
    return [*location_curves(goal), *turn_curves(goal)]


def _is_moved(goal: GoalRef, frames: Any) -> Mask:
    """In which of F frames a control is not at rest, (F,); one that is turned by half a turn about nothing is."""
    holder, curves = holder_of(goal), _curves(goal)
    played = dict(zip([(one.data_path, one.array_index) for one in curves], values_at(curves, frames), strict=True))
    found: Mask = np.zeros(len(frames), dtype=bool)
    turn = channel_of(holder.rotation_mode)[0]
    for name, values, rest in (
        ("location", [*holder.location], [0.0] * 3),
        (turn, read_values(holder), neutral_values(holder.rotation_mode)),
    ):
        path = holder.path_from_id(name)
        for i, (value, still) in enumerate(zip(values, rest, strict=True)):
            own = played.get((path, i))
            found |= (own != still) if own is not None else np.full(len(frames), value != still)
    return found


def apply_steps(context: bpy.types.Context, owner: bpy.types.Object) -> Generator[float, None, BakeResult]:
    """Make edits part of the motion, in steps: the frames that they change get keys, and the controls rest.

    Closed before its end it leaves all as it was.

    Args:
        context: Its scene's frame is moved and put back.
        owner: An armature object with chains that edit its motion.

    Yields:
        How much of it is done, from 0 to 1.

    Raises:
        FabrikError: It can't be keyed; nothing was changed.
    """
    scene, chains = context.scene, [chain for chain in edited_chains(owner) if chain.enabled]
    assert scene is not None
    if not chains:
        raise ChainError("no enabled chain edits its motion: set its goal to Offset", rig=owner.name)
    if not rig_of(owner).edits:
        raise ChainError("its edits are switched off, so that there is nothing to apply", rig=owner.name)
    frames = edited_frames(owner, chains, (scene.frame_start, scene.frame_end))
    if not frames:
        raise ChainError("all controls rest, so that there is nothing to apply", rig=owner.name)
    names = [chain.name for chain in chains]
    settings = BakeSettings(frames, stays_enabled=True)
    items = [(owner, chain) for chain in chains]
    with _keys_about(owner, items, (frames[0] - 1.0, frames[-1] + 1.0)):
        result = yield from bake_steps(context, items, settings)
    put_to_rest(owner, [rig_of(owner).chains[name] for name in names])
    return result


@contextmanager
def _keys_about(owner: bpy.types.Object, items: Sequence[Item], frames: tuple[float, float]) -> Iterator[None]:
    """Give the motion keys on itself at two frames, so that it stays beyond them; taken away if the block fails."""
    bones = [pose_bones(owner)[bone.name] for one in together(items) for bone in figure_bones(one)]
    paths = {path for bone in bones for path in (rotation_path(bone), plain_path(bone, "location"))}
    curves = [curve for curve in fcurves_of(owner) if curve.data_path in paths and len(curve.keyframe_points)]
    kept = {(curve.data_path, curve.array_index): read_keys(curve) for curve in curves}
    for curve in curves:
        for frame in frames:
            split_at(curve, frame)
    try:
        yield
    except BaseException:
        for curve in fcurves_of(owner):
            if (curve.data_path, curve.array_index) in kept:
                put_keys(curve, kept[curve.data_path, curve.array_index])
                curve.update()
        raise


def put_to_rest(owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> None:
    """Take away the keys of the controls of chains, and let them rest."""
    goals = _controls(chains)
    remove_curves(owner, [curve for goal in goals for curve in _curves(goal)])
    for goal in goals:
        bone = pose_bones(owner)[goal.bone]
        bone.location = Vector()
        mode: Any = bone.rotation_mode
        setattr(bone, channel_of(mode)[0], neutral_values(mode) if mode != "QUATERNION" else Quaternion())
