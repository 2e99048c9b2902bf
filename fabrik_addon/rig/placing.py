# SPDX-License-Identifier: GPL-3.0-or-later
"""Putting targets and poles somewhere, objects and bones alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import bpy
from mathutils import Vector

from ..errors import TargetError
from ..maths import Q4, conjugated, multiplied, normalized
from ..messages import Message
from .animation.channels import channel_of, read_locks, read_rotation, read_values, stored, to_values
from .animation.compat import drivers_of, fcurves_of
from .dependencies import carriers_of
from .goals import GoalRef, edits_walk, offset_axes
from .layers import others_of
from .schema.chain import FabrikChain
from .spaces import is_tied
from .targets import kind_of, resolve_turn
from .walk_goals import walk_goal


def held_by(goal: GoalRef | None) -> Message | None:
    """Why a target or pole can't be put somewhere, to follow its name; None where it can."""
    if goal is None:
        return Message("IS_NOT_SET")
    reason = kind_of(goal.found, goal.bone).refusal(goal.found, goal.bone)
    if reason:
        return reason
    if not goal.found.is_editable:
        return Message("IS_LINKED")
    holder = holder_of(goal)
    if is_tied(holder):
        return Message("HAS_CONSTRAINTS")
    path = channel_path(goal)
    if any(driver.data_path == path for driver in drivers_of(goal.found)):
        return Message("IS_DRIVEN")
    locks: Any = holder.lock_location
    return Message("HAS_LOCKED_LOCATION") if any(locks) else None


def stays(goal: GoalRef | None) -> Message | None:
    """Why a target or pole is not to be moved by a button whose purpose is another, to follow its name; or None."""
    return held_by(goal) or (kind_of(goal.found, goal.bone).body_refusal(goal.found, goal.bone) if goal else None)


def carries(goal: GoalRef, owner: bpy.types.Object, root: str) -> bool:
    """Whether a goal moves a bone of an armature, so that a chain from there would run away from it."""
    return goal.key in carriers_of(owner, root)


def holder_of(goal: GoalRef) -> bpy.types.Object | bpy.types.PoseBone:
    """What has the location channels of a goal.

    Raises:
        TargetError: It has no such bone.
    """
    return kind_of(goal.found, goal.bone).holder(goal.found, goal.bone)


def channel_name(goal: GoalRef, *, turns: bool = False) -> str:
    """The property that has the location channels of a goal, or where that is asked for, its rotation channels."""
    return channel_of(holder_of(goal).rotation_mode)[0] if turns else "location"


def channel_path(goal: GoalRef, *, turns: bool = False) -> str:
    """The path of those channels from its object; see `channel_name`."""
    return holder_of(goal).path_from_id(channel_name(goal, turns=turns))


def channel_curves(goal: GoalRef, *, turns: bool = False) -> list[bpy.types.FCurve]:
    """The curves of those channels in the action of its object; see `channel_name`."""
    path = channel_path(goal, turns=turns)
    return [curve for curve in fcurves_of(goal.found) if curve.data_path == path]


def key_group(goal: GoalRef) -> str:
    """The group in which Blender itself puts the curves of a goal's location."""
    return kind_of(goal.found, goal.bone).key_group(goal.found, goal.bone)


def location_at(goal: GoalRef, point: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The location channels that put a goal that can be put somewhere (`held_by`) to a point of the world.

    Raises:
        TargetError: What it hangs on has no scale.
    """
    return kind_of(goal.found, goal.bone).location_at(goal.found.evaluated_get(depsgraph), goal.bone, point)


def asking_for(chain: FabrikChain, goal: GoalRef, point: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The location channels of a chain's target with which its tip is to be at a point of the world.

    The chain tells a place, or edits a walk; its target (`goals.control_of`) can be put somewhere.

    Raises:
        FabrikError: What it hangs on has no scale, or the walk can't be read.
    """
    walk = walk_goal(chain, depsgraph) if edits_walk(chain) else None
    if walk is None:
        return location_at(goal, point, depsgraph)
    posed = goal.found.evaluated_get(depsgraph)
    holder = kind_of(posed, goal.bone).holder(posed, goal.bone)
    way = offset_axes("", posed, goal.bone).to_3x3().inverted_safe() @ (point - Vector(walk[0]))
    return others_of(posed, holder).own(way, read_rotation(holder))[0]


def put(goal: GoalRef, location: Vector) -> None:
    """Write a goal's location channels, where they differ."""
    holder: Any = holder_of(goal)
    if holder.location != location:
        holder.location = location


def turn_held_by(goal: GoalRef) -> Message | None:
    """Why a target that can be put somewhere can't be turned, to follow its name; None where it can."""
    holder, path = holder_of(goal), channel_path(goal, turns=True)
    if any(driver.data_path == path for driver in drivers_of(goal.found)):
        return Message("HAS_DRIVEN_ROTATION")
    return Message("HAS_LOCKED_ROTATION") if any(read_locks(holder)) else None


def turn_at(goal: GoalRef, turn: Q4, depsgraph: bpy.types.Depsgraph) -> list[float]:
    """The rotation channels by which a goal that can be turned (`turn_held_by`) is turned in the world as wanted.

    Raises:
        FabrikError: It has no rotation.
    """
    holder, evaluated = holder_of(goal), goal.found.evaluated_get(depsgraph)
    own = read_rotation(kind_of(goal.found, goal.bone).holder(evaluated, goal.bone))
    rest = multiplied(own, conjugated(resolve_turn(goal.found, goal.bone, depsgraph)))
    return to_values(holder.rotation_mode, normalized(multiplied(rest, turn)), read_values(holder))


def put_turn(goal: GoalRef, values: Sequence[float]) -> None:
    """Write a goal's rotation channels, where they differ."""
    holder = holder_of(goal)
    if read_values(holder) != stored(values):
        setattr(holder, channel_name(goal, turns=True), values)


def restorer(goal: GoalRef) -> Callable[[], None]:
    """What puts a goal back to where it stands, if it is still there; by its names, since undo makes all anew."""
    stood = Vector(holder_of(goal).location)
    role, name, bone = goal.role, goal.found.name, goal.bone

    def restore() -> None:
        found = bpy.data.objects.get(name)
        if found is not None:
            with suppress(TargetError):  # the bone is gone
                put(GoalRef(role, found, bone), stood)

    return restore
