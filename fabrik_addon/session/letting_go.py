# SPDX-License-Identifier: GPL-3.0-or-later
"""The goals of a chain brought to where its tip was let go, so that the next solve leaves it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
from mathutils import Vector

from ..errors import FabrikError
from ..rig.compat import fcurves_of
from ..rig.goals import goals_of
from ..rig.keys import insert_object_keys
from ..rig.placing import held_by, location_at
from ..rig.properties import FabrikChain, rig_of
from ..rig.targets import resolve_point
from .anchoring import Standing, keep_pose, pole_error, take_keyed_pose, turned_pole
from .order import Item

IN_PLACE = 1e-6  # share of the length within which a target is where the tip is
POLE_MET = 1e-4  # radians


class LetGo(NamedTuple):
    """What there is to tell of a limb that was let go, as sentences: what was done, and what to look out for."""

    done: list[str]
    warnings: list[str]


def let_go(context: bpy.types.Context, item: Item, tip: Vector, is_keyed: bool) -> LetGo:
    """Bring target, start pose and pole of a chain to the pose in which it was let go.

    Args:
        context: Its view layer is evaluated.
        item: The armature object and the chain.
        tip: Where the tip was let go, in world space.
        is_keyed: Whether the bones were keyed as they stand.
    """
    _, chain = item
    warnings: list[str] = []
    try:
        warnings += _place_target(context, item, tip)
        keep = take_keyed_pose if is_keyed else keep_pose
        kept = keep(item, _evaluated(context), tip)
        warnings += _place_pole(context, item, tip)
        last = keep(item, _evaluated(context), None if chain.target is not None else tip)
    except FabrikError as error:
        return LetGo([], [*warnings, f"the next solve will be refused: {error.local}"])
    start = kept.start or last.start
    words = {"CAPTURED": "start pose captured", "ANIMATED": "start pose set to Animated, since the limb is keyed"}
    return LetGo([words[start]] if start else [], [*warnings, *([last.moves] if last.moves else [])])


def _evaluated(context: bpy.types.Context) -> bpy.types.Depsgraph:
    assert context.view_layer is not None
    context.view_layer.update()
    return context.evaluated_depsgraph_get()


def _place_target(context: bpy.types.Context, item: Item, tip: Vector) -> list[str]:
    """Bring the target to the tip; why it stays where it is, where it can't be moved."""
    owner, chain = item
    target = chain.target
    if target is None:
        return []
    depsgraph = context.evaluated_depsgraph_get()
    standing = Standing.of(item, depsgraph, tip)
    there = resolve_point("target", target, chain.target_bone, depsgraph)
    if (Vector(there) - tip).length <= IN_PLACE * standing.prepared.space.world_length(
        (standing.prepared.length, 0, 0)
    ):
        return []
    reason = _staying(owner, chain, target, chain.target_bone)
    if reason:
        return [f"its target '{target.name}' {reason}, and stays"]
    return _place(context, target, location_at(target, tip, depsgraph), "target")


def _place_pole(context: bpy.types.Context, item: Item, tip: Vector) -> list[str]:
    """Turn the pole about the limb to where the pose bends, if it is not there."""
    owner, chain = item
    pole = chain.pole
    if pole is None:
        return []
    standing = Standing.of(item, _evaluated(context), tip)
    off = pole_error(standing)
    if off is None or abs(off) <= POLE_MET:
        return []
    reason = _staying(owner, chain, pole, chain.pole_bone)
    if reason:
        return [f"its pole '{pole.name}' {reason}, and stays"]
    return _place(context, pole, location_at(pole, turned_pole(standing, off), standing.depsgraph), "pole")


def _place(context: bpy.types.Context, goal: bpy.types.Object, location: Sequence[float], role: str) -> list[str]:
    assert context.scene is not None
    goal.location = Vector(location)
    insert_object_keys(context, goal)
    is_keyed = any(curve.data_path == "location" for curve in fcurves_of(goal))
    if is_keyed and not context.scene.tool_settings.use_keyframe_insert_auto:
        return [f"its {role} '{goal.name}' is keyed: key it, or the next frame change takes it back"]
    return []


def _staying(owner: bpy.types.Object, chain: FabrikChain, goal: bpy.types.Object, bone: str) -> str:
    """Why a goal is not to be moved, to follow its name; or ""."""
    reason = held_by(goal, bone)
    if reason:
        return reason
    for other in bpy.data.objects:
        if other.type != "ARMATURE":
            continue
        for found in rig_of(other).chains:
            if (other, found.name) != (owner, chain.name) and any(ref.found == goal for ref in goals_of(found)):
                return f"is also a goal of the chain '{found.name}'"
    return ""
