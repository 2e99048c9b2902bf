# SPDX-License-Identifier: GPL-3.0-or-later
"""The goals of a chain brought to where its tip was let go, so that the next solve leaves it there."""

from __future__ import annotations

from typing import NamedTuple

import bpy
from mathutils import Vector

from ..errors import FabrikError
from ..rig.chain_bones import resolve_bones
from ..rig.goals import GoalRef, goal_of, goals_of
from ..rig.keys import insert_goal_keys
from ..rig.placing import carries, location_at, location_curves, put, stays
from ..rig.properties import FabrikChain, rig_of
from ..rig.targets import resolve_point
from .anchoring import keep_pose, take_keyed_pose
from .order import Item
from .standing import Standing, pole_error, turned_pole

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
    target = goal_of(item[1], "target")
    if target is None:
        return []
    depsgraph = context.evaluated_depsgraph_get()
    standing = Standing.of(item, depsgraph, tip)
    there = resolve_point("target", target.found, target.bone, depsgraph)
    if (Vector(there) - tip).length <= IN_PLACE * standing.prepared.space.world_length(
        (standing.prepared.length, 0, 0)
    ):
        return []
    return _placed(context, item, target, tip)


def _place_pole(context: bpy.types.Context, item: Item, tip: Vector) -> list[str]:
    """Turn the pole about the limb to where the pose bends, if it is not there."""
    pole = goal_of(item[1], "pole")
    if pole is None:
        return []
    standing = Standing.of(item, _evaluated(context), tip)
    off = pole_error(standing)
    if off is None or abs(off) <= POLE_MET:
        return []
    return _placed(context, item, pole, turned_pole(standing, off))


def _placed(context: bpy.types.Context, item: Item, goal: GoalRef, point: Vector) -> list[str]:
    """Put a goal to a point of the world; what there is to say of it."""
    owner, chain = item
    reason = _staying(owner, chain, goal)
    if reason:
        return [f"its {goal.role} {goal.name} {reason}, and stays"]
    put(goal, location_at(goal, point, context.evaluated_depsgraph_get()))
    return key_goal(context, goal)


def key_goal(context: bpy.types.Context, goal: GoalRef) -> list[str]:
    """Key a goal that was moved, where automatic keying is on; else that its keys will take it back, if it has some."""
    assert context.scene is not None
    insert_goal_keys(context, goal)
    if location_curves(goal) and not context.scene.tool_settings.use_keyframe_insert_auto:
        return [f"its {goal.role} {goal.name} is keyed: key it, or the next frame change takes it back"]
    return []


def _staying(owner: bpy.types.Object, chain: FabrikChain, goal: GoalRef) -> str:
    """Why a goal is not to be moved, to follow its name; or ""."""
    reason = stays(goal)
    if reason:
        return reason
    if carries(goal, owner, resolve_bones(owner, chain)[0].name):
        return "carries the chain"
    for other in bpy.data.objects:
        if other.type != "ARMATURE":
            continue
        for found in rig_of(other).chains:
            if (other, found.name) != (owner, chain.name) and any(ref.key == goal.key for ref in goals_of(found)):
                return f"is also a goal of the chain '{found.name}'"
    return ""
