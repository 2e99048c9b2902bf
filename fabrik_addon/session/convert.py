# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own IK constraints made into chains: the same bones, goals, limits and bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy

from ..errors import FabrikError, RigError
from ..maths import Q4, V3
from ..rig.animation import Animated
from ..rig.chain_bones import bones_to, names_if_any, pose_bones
from ..rig.checks import edit_refusal
from ..rig.keys import KeyedChannels
from ..rig.preparing import frame_of
from ..rig.schema import FabrikChain, limit_of, rig_of
from ..rig.seen import seen_rotations, write_rotations
from ..rig.start_pose import capture, is_animated
from ..texts import Text
from .bends import bend_between, differences, joints_of, pole_error, solved_joints
from .defaults import Defaults
from .figure_pose import FigurePose
from .ik_goals import take_goal
from .keep_pose import keep, unposed
from .make import add_chain

AXES = "xyz"
STRAIGHT = Text("the limb stands straight, so its pole angle could not be told: check it")


@dataclass(slots=True)
class Converted:
    """What came of one constraint.

    Attributes:
        bone: The bone that has it.
        constraint: Its name.
        chain: Name of the chain that was made, or "".
        lost: What could not be carried over.
    """

    bone: str
    constraint: str
    chain: str = ""
    lost: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Made:
    """A constraint being converted, with the pose that it gave its bones.

    Attributes:
        result: What is told of it.
        constraint: The constraint.
        names: Of its bones, root to tip.
        stood: Their joints as Blender evaluated them before, relative to the first, in armature space.
        seen: By the names of the bones, their rotations in that pose; see `rig.seen.seen_rotations`.
    """

    result: Converted
    constraint: Any
    names: list[str]
    stood: list[V3]
    seen: dict[str, Q4]


def ik_constraints(bones: Sequence[bpy.types.PoseBone]) -> list[tuple[bpy.types.PoseBone, Any]]:
    """The IK constraints of bones that are in force."""
    pairs = ((bone, constraint) for bone in bones for constraint in bone.constraints)
    return [(bone, found) for bone, found in pairs if found.type == "IK" and not found.mute]


def convert_ik(context: bpy.types.Context, owner: bpy.types.Object, bones: Sequence[str]) -> list[Converted]:
    """Make a chain of each IK constraint of bones, and mute the constraint; with the target's rotation and the weights.

    The pose that Blender's IK makes now stays: it is written into the bones and becomes the start pose, and the chain's
    pole angle is set so that it bends towards its pole as it stands. A keyed limb starts from its keys, and one
    that the constraint moved in part from where the bones stood without it.

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
    found, animated = ik_constraints([pose_bones(owner)[name] for name in bones]), Animated(owner)
    results, made = [], []
    moved = {(bone.name, one.name): names_of_animated(animated, bone, one) for bone, one in found}
    refusals = {(bone.name, one.name): _refusal(bone, one, moved[bone.name, one.name]) for bone, one in found}
    going = {key for key, refusal in refusals.items() if not refusal}
    for bone, constraint in found:
        result = Converted(bone.name, constraint.name)
        results.append(result)
        reason = refusals[bone.name, constraint.name]
        if reason:
            result.lost.append(reason)
            continue
        tip = bone if constraint.use_tail else bone.parent
        assert tip is not None
        path = bones_to(owner, tip.name, 0)[-constraint.chain_count :]  # 0, from the start, is all of them
        names, depsgraph = [one.name for one in path], context.evaluated_depsgraph_get()
        result.lost += _losses(constraint, path, moved[bone.name, constraint.name], going)
        stood, seen = joints_of(owner, names, depsgraph), seen_rotations(owner, names, depsgraph)
        made.append(_Made(result, constraint, names, stood, seen))
    with unposed():
        for one in made:
            one.result.chain = _make(owner, one).name
            one.constraint.mute = True
        for one in made:
            write_rotations(owner, one.seen)
    with unposed():
        for one in made:
            _capture(context, owner, one)
        for one in made:
            _keep(context, owner, one)
    return results


def _refusal(bone: bpy.types.PoseBone, constraint: Any, animated: set[str]) -> str:
    """Why a constraint can't be a chain, or ""."""
    if constraint.target is None:
        return Text("it has no target")
    if constraint.ik_type != "COPY_POSE" or not constraint.use_location:
        return Text("it keeps a distance or turns alone, which a chain does not")
    if any(goal is not None and goal.type != "ARMATURE" and name for goal, name in _goals(constraint)):
        return Text("its target or pole is a vertex group")
    if "mute" in animated:
        return Text("it is switched on and off by keys or a driver")
    if not constraint.use_tail and bone.parent is None:
        return Text("it brings the head of a bone without a parent")
    return ""


def _goals(constraint: Any) -> tuple[tuple[bpy.types.Object | None, str], ...]:
    return (constraint.target, constraint.subtarget), (constraint.pole_target, constraint.pole_subtarget)


def names_of_animated(animated: Animated, bone: bpy.types.PoseBone, constraint: Any) -> set[str]:
    """Names of a constraint's own properties that are keyed or driven."""
    start = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
    return {name.removeprefix(start) for name in animated.of_bone(bone) if name.startswith(start)}


def _losses(
    constraint: Any, path: Sequence[bpy.types.PoseBone], animated: set[str], going: set[tuple[str, str]]
) -> list[str]:
    """What can't be carried over; the constraints that go as well are named by their bones and names."""
    lost: list[str] = [
        Text("its {name} is animated, and the chain keeps what it is now", name=name) for name in sorted(animated)
    ]
    if constraint.influence < 1.0:
        lost.append(Text("influence {influence:.0%} now turns each bone by its share", influence=constraint.influence))
    staying = ((bone, other) for bone in path for other in bone.constraints if not other.mute)
    others = [other.name for bone, other in staying if (bone.name, other.name) not in going]
    if others:
        lost.append(Text("the constraint '{other}' still moves a bone of it", other=others[0]))
    return lost


def _make(owner: bpy.types.Object, made: _Made) -> FabrikChain:
    names, constraint = made.names, made.constraint
    bones = [pose_bones(owner)[name] for name in names]
    chain = _disabled(owner, made) or add_chain(owner, bones, len(bones), Defaults())
    chain.enabled = True
    chain.target, chain.target_bone = constraint.target, constraint.subtarget
    chain.pole, chain.pole_bone = constraint.pole_target, constraint.pole_subtarget
    chain.influence = constraint.influence
    made.result.lost += take_goal(chain, constraint, bones)
    for bone in bones:
        limited = any(getattr(bone, f"{kind}_{axis}") for kind in ("lock_ik", "use_ik_limit") for axis in AXES)
        if limited and not limit_of(bone).type.holds:
            limit_of(bone).limit = "BONE_IK"
        stiffness = max(float(getattr(bone, f"ik_stiffness_{axis}")) for axis in AXES)
        if stiffness > 0.0:
            limit_of(bone).stiffness = stiffness
    return chain


def _disabled(owner: bpy.types.Object, made: _Made) -> FabrikChain | None:
    """The disabled chain of just these bones with the same target, from which the constraint may have been made.

    Or one that brings the head of the bone there that has the constraint.
    """
    constraint, names = made.constraint, made.names
    for chain in rig_of(owner).chains:
        if chain.enabled or (chain.target, chain.target_bone) != (constraint.target, constraint.subtarget):
            continue
        if names_if_any(owner, chain) == (names if chain.effector == "TAIL" else [*names, made.result.bone]):
            return chain
    return None


def _capture(context: bpy.types.Context, owner: bpy.types.Object, made: _Made) -> None:
    """Let the pose be the start pose of the chain, unless keys make it, or it is held in part."""
    chain, bones = rig_of(owner).chains[made.result.chain], [pose_bones(owner)[name] for name in made.names]
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    if chain.influence >= 1.0 and not is_animated(owner, bones, keyed):
        capture(chain, bones)


def _keep(context: bpy.types.Context, owner: bpy.types.Object, made: _Made) -> None:
    """Keep the pose that the constraint made, and tell what the next solve moves all the same."""
    result, depsgraph = made.result, context.evaluated_depsgraph_get()
    item = owner, rig_of(owner).chains[result.chain]
    try:
        pose = FigurePose.of(item, depsgraph)
        if item[1].influence < 1.0 or pose.is_animated:  # it starts where the constraint did, which tells the bend
            _match_bend(pose, item[1], made)
            return
        off = pole_error(pose, result.chain)
        if pose.asked(result.chain).has_pole and (off is None or bend_between(made.stood, made.stood) is None):
            result.lost.append(STRAIGHT)
        elif off is not None:
            item[1].pole_angle += off
    except FabrikError as error:
        result.lost.append(Text("it can't be solved yet: {reason}", reason=error.local))
        return
    result.lost += keep([item], depsgraph)[0].notes


def _match_bend(pose: FigurePose, chain: FabrikChain, made: _Made) -> None:
    """Set the pole angle by which our limb bends as Blender's stood, and tell how far it is from there."""
    prepared, k = pose.prepared, pose.index(chain.name)
    if prepared.asked[k].has_pole:
        asked = list(prepared.asked)
        asked[k] = asked[k]._replace(pole_angle=0.0)
        angle = bend_between(solved_joints(prepared.asking(asked), pose.points)[k], made.stood)
        if angle is None:
            made.result.lost.append(STRAIGHT)
            return
        chain.pole_angle = angle
        asked[k] = asked[k]._replace(pole_angle=chain.pole_angle)
        prepared = prepared.asking(asked)
    size = sum(prepared.solver.figure.lengths[i] for i in prepared.asked[k].joints)
    made.result.lost += differences(solved_joints(prepared, pose.points)[k], made.stood, size)
