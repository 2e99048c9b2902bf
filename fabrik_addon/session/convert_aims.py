# SPDX-License-Identifier: GPL-3.0-or-later
"""Damped Track constraints made into chains that aim, and back: both turn a bone by the least turn from where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ..errors import FabrikError, RigError
from ..maths import V3, distance, unit, v3
from ..rig.animation import Animated
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.checks import edit_refusal
from ..rig.keys import KeyedChannels
from ..rig.preparing import frame_of
from ..rig.schema import FabrikChain, rig_of
from ..rig.seen import seen_rotations, write_rotations
from ..rig.start_pose import capture, is_animated
from ..texts import Text
from .convert import Converted, names_of_animated
from .defaults import Defaults
from .keep_pose import keep, unposed
from .make import add_chain

AXES: dict[str, V3] = {
    "TRACK_X": (1.0, 0.0, 0.0),
    "TRACK_Y": (0.0, 1.0, 0.0),
    "TRACK_Z": (0.0, 0.0, 1.0),
    "TRACK_NEGATIVE_X": (-1.0, 0.0, 0.0),
    "TRACK_NEGATIVE_Y": (0.0, -1.0, 0.0),
    "TRACK_NEGATIVE_Z": (0.0, 0.0, -1.0),
}
ALONG = 1e-6  # by which a unit vector may differ from an axis


def tracks(bones: Sequence[bpy.types.PoseBone]) -> list[tuple[bpy.types.PoseBone, Any]]:
    """The Damped Track constraints of bones that are in force."""
    pairs = ((bone, constraint) for bone in bones for constraint in bone.constraints)
    return [(bone, found) for bone, found in pairs if found.type == "DAMPED_TRACK" and not found.mute]


def track_axis(chain: FabrikChain) -> str:
    """How Damped Track names the axis that a chain of one bone aims; "" where it can't do what the chain does."""
    axis = unit(v3(chain.aim_axis))
    if chain.kind != "AIM" or chain.bone_count != 1:
        return ""
    return next((name for name, one in AXES.items() if distance(axis, one) <= ALONG), "")


def convert_tracks(context: bpy.types.Context, owner: bpy.types.Object, bones: Sequence[str]) -> list[Converted]:
    """Make a chain that aims of each Damped Track constraint of bones, and mute the constraint.

    The pose that the constraint makes now stays: it is written into the bone and becomes the start pose; a keyed bone
    starts from its keys.

    Args:
        context: Its view layer is evaluated.
        owner: The armature object.
        bones: Names of the bones whose constraints are converted.

    Returns:
        What came of each; a constraint that can't be carried over stays as it is.

    Raises:
        RigError: The armature can't be edited.
    """
    refusal = edit_refusal(owner)
    if refusal:
        raise RigError(refusal, rig=owner.name)
    results, made = [], []
    animated, depsgraph = Animated(owner), context.evaluated_depsgraph_get()
    for bone, constraint in tracks([pose_bones(owner)[name] for name in bones]):
        result = Converted(bone.name, constraint.name)
        results.append(result)
        moving = names_of_animated(animated, bone, constraint)
        reason = _refusal(constraint, moving)
        if reason:
            result.lost.append(reason)
            continue
        result.lost += [
            Text("its {name} is animated, and the chain keeps what it is now", name=name) for name in sorted(moving)
        ]
        made.append((result, constraint, seen_rotations(owner, [bone.name], depsgraph)))
    with unposed():
        for result, constraint, seen in made:
            result.chain = _make(owner, result, constraint).name
            constraint.mute = True
            write_rotations(owner, seen)
    with unposed():
        for result, _, _ in made:
            _keep(context, owner, result)
    return results


def _refusal(constraint: Any, animated: set[str]) -> str:
    """Why a constraint can't be a chain, or ""."""
    target, bone = constraint.target, constraint.subtarget
    if target is None:
        return Text("it has no target")
    if bone and target.type != "ARMATURE":
        return Text("its target is a vertex group")
    if bone and constraint.head_tail > 0.0:
        return Text("it tracks a place along a bone, which is none of a chain's targets")
    if "mute" in animated:
        return Text("it is switched on and off by keys or a driver")
    return ""


def _make(owner: bpy.types.Object, result: Converted, constraint: Any) -> FabrikChain:
    bone = pose_bones(owner)[result.bone]
    chain = _disabled(owner, result.bone, constraint) or add_chain(owner, [bone], 1, Defaults())
    chain.kind, chain.aim_axis, chain.enabled = "AIM", AXES[constraint.track_axis], True
    chain.target, chain.target_bone = constraint.target, constraint.subtarget
    chain.influence = constraint.influence
    others = [other.name for other in bone.constraints if other != constraint and not other.mute]
    if others:
        result.lost.append(Text("the constraint '{other}' still moves it", other=others[0]))
    return chain


def _disabled(owner: bpy.types.Object, bone: str, constraint: Any) -> FabrikChain | None:
    """The disabled chain of just this bone that aims at the same target, from which it may have been made."""
    target = constraint.target, constraint.subtarget
    for chain in rig_of(owner).chains:
        is_same = chain.tip_bone == bone and (chain.target, chain.target_bone) == target
        if is_same and not chain.enabled and track_axis(chain):
            return chain
    return None


def _keep(context: bpy.types.Context, owner: bpy.types.Object, result: Converted) -> None:
    """Keep the pose that the constraint made, and tell what the next solve moves all the same."""
    chain, depsgraph = rig_of(owner).chains[result.chain], context.evaluated_depsgraph_get()
    bones = resolve_bones(owner, chain)
    try:
        if chain.influence >= 1.0 and not is_animated(owner, bones, KeyedChannels(owner, frame_of(depsgraph))):
            capture(chain, bones)
    except FabrikError as error:
        result.lost.append(Text("it can't be solved yet: {reason}", reason=error.local))
        return
    result.lost += keep([(owner, chain)], depsgraph)[0].notes


def make_track(owner: bpy.types.Object, chain: FabrikChain) -> Any:
    """The Damped Track constraint of a chain that aims (`track_axis`): the muted one with its target, or a new one."""
    constraints = pose_bones(owner)[chain.tip_bone].constraints
    found: Any = None
    for other in constraints:
        constraint: Any = other
        if other.type == "DAMPED_TRACK" and other.mute and constraint.target == chain.target:
            found = constraint if constraint.subtarget == chain.target_bone else found
    found = found or constraints.new("DAMPED_TRACK")
    found.target, found.subtarget, found.track_axis = chain.target, chain.target_bone, track_axis(chain)
    found.head_tail = 0.0
    return found
