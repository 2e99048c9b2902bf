# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's IK constraints made into chains, and back: the same bones, goals, bend and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any

import bpy
import numpy as np

from ..errors import ChainError, FabrikError, RigError
from ..maths import IDENTITY, Q4, V3, distance, normalized, turn_angle, unit, v3
from ..messages import ROLES
from ..rig.animation.animation import Animated
from ..rig.animation.keys import KeyedChannels
from ..rig.bones import SWING, bones_to, names_if_any, pose_bones
from ..rig.checks import check_rig, edit_refusal
from ..rig.figure.chain_goal import ChainGoal
from ..rig.figure.figure import RigFigure
from ..rig.figure.groups import set_of
from ..rig.figure.joint_limits import write_ik_settings
from ..rig.figure.pose_writer import Pose, seen_rotations, updated, write_pose, write_rotations
from ..rig.figure.reader import frame_of, read
from ..rig.figure.start_pose import capture, is_animated
from ..rig.goal_kinds import AIM, GOAL_KINDS
from ..rig.goals import goal_of, is_offset
from ..rig.schema import FabrikChain, limit_of, rig_of
from ..rig.spaces import swings_below
from ..rig.targets import kind_of
from ..texts import Text, joined, worded
from .bends import bend_between, differences, joints_of, pole_error, solved_joints
from .chains import Defaults, add_chain
from .figure_pose import FigurePose
from .keep_pose import keep, unposed
from .solve import Item

# What the goal of a chain asks beside a place, as settings of Blender's IK constraint, and back.

LEAST_WEIGHT = 0.01  # that Blender's IK takes
STRETCHED = 2.0  # times its length that a chain may have in place of one that has no bound
STRETCH_OF_BONE = 0.1  # Blender's measure of how readily a bone stretches
SAME_TURN = 1e-3  # radians by which an offset may turn and count as none
EVEN = 1e-6  # by which a share may differ from one


def take_goal(chain: FabrikChain, constraint: Any, bones: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Let a chain, which has its target, ask for what an IK constraint asks; what can't be carried over as it is."""
    lost: list[str] = []
    chain.weight = constraint.weight
    chain.kind, chain.pin = "REACH", False
    if constraint.use_rotation:
        chain.rotation_offset = IDENTITY  # Blender's IK turns the tip as the target stands
        chain.orientation_weight = constraint.orient_weight
    chain.orientation = "TARGET" if constraint.use_rotation else "FREE"
    chain.stretch = 1.0
    if constraint.use_stretch and any(bone.ik_stretch > 0.0 for bone in bones):
        chain.stretch = STRETCHED
        lost.append(
            Text("its stretch has an end at {factor:g} times the length, and is of all bones alike", factor=STRETCHED)
        )
    return lost


def give_goal(chain: FabrikChain, constraint: Any, bones: Sequence[bpy.types.PoseBone], at_head: bool) -> list[str]:
    """Let a constraint ask for what a chain asks, as far as it can; see `take_goal`.

    The tip bone is not among the bones that it moves where its head is what comes to the target (`at_head`).
    """
    lost: list[str] = []
    turns = chain.orientation == "TARGET" and not at_head
    constraint.weight = max(chain.weight, LEAST_WEIGHT)
    constraint.use_location, constraint.use_rotation = True, turns
    if at_head and chain.orientation != "FREE":
        lost.append(Text("the rotation of its tip"))
    elif turns:
        constraint.orient_weight = max(chain.orientation_weight, LEAST_WEIGHT)
        if turn_angle(normalized(chain.rotation_offset)) > SAME_TURN:
            lost.append(Text("the offset of its rotation: its tip turns as the target stands"))
    elif chain.orientation == "KEEP":
        lost.append(Text("the rotation that it keeps"))
    if chain.stretch > 1.0 + EVEN:
        constraint.use_stretch = True
        for bone in bones:
            bone.ik_stretch = bone.ik_stretch or STRETCH_OF_BONE
        lost.append(Text("the end of its stretch at {factor:g} times the length", factor=chain.stretch))
    else:
        constraint.use_stretch = constraint.use_stretch and not any(bone.ik_stretch > 0.0 for bone in bones)
    if chain.pin:
        lost.append(Text("that it is pinned: Blender's IK knows no order of goals"))
    if chain.weight <= 0.0:
        lost.append(Text("that it asks for nothing with a weight of 0"))
    return [*lost, *(["soft"] if chain.soft > 0.0 else [])]


def give_refusal(chain: FabrikChain) -> str:
    """Why a chain can't be a constraint of Blender's, or have its goals; "" where it can, as far as it has a goal."""
    for role in ("target", "pole"):
        goal = goal_of(chain, role)
        reason = kind_of(goal.found, goal.bone).constraint_refusal(goal.found, goal.bone) if goal else ""
        if goal and reason:
            return Text("the {role} {name} {reason}", role=ROLES[role], name=goal.name, reason=reason)
    if track_axis(chain):
        return ""
    if chain.target is None and chain.pin:
        return Text("it is pinned without a target, which Blender's IK needs")
    if chain.at_head and chain.bone_count == 1:
        return Text("it moves the body alone, which Blender's IK does not")
    if is_offset(chain):
        return Text("its target tells how far from its motion it is to be, which no constraint of Blender's knows")
    refusal = GOAL_KINDS[chain.kind].ik_refusal
    return worded(refusal) if refusal is not None else ""


AXES = "xyz"
STRAIGHT = Text("the limb stands straight, so its pole angle could not be told: check it")


@dataclass(slots=True)
class ConversionResult:
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
class _IkConversion:
    """A constraint being converted, with the pose that it gave its bones."""

    result: ConversionResult  # what is told of it
    constraint: Any
    names: list[str]  # of its bones, root to tip
    stood: list[V3]  # their joints as Blender evaluated them before, relative to the first, in armature space
    seen: dict[str, Q4]  # by the names of the bones, their rotations in that pose; see `pose_writer.seen_rotations`


def convert(
    context: bpy.types.Context, owner: bpy.types.Object, bones: Sequence[str], *, aims: bool
) -> list[ConversionResult]:
    """Make a chain of each IK constraint of bones, and mute the constraint; with the target's rotation and the weights.

    The pose that Blender's IK makes now stays: it is written into the bones and becomes the start pose, and the chain's
    pole angle is set so that it bends towards its pole as it stands. A keyed limb starts from its keys, and one that
    the constraint moved in part from where the bones stood without it.

    Damped Track constraints become chains that aim, where that is asked for.

    Returns:
        What came of each that is in force; a constraint that can't be carried over stays as it is.

    Raises:
        RigError: The armature can't be edited.
    """
    results = list[ConversionResult]()
    for kind in ("IK", "DAMPED_TRACK") if aims else ("IK",):
        pairs = ((bone, one) for bone in map(pose_bones(owner).__getitem__, bones) for one in bone.constraints)
        found = [(bone, one) for bone, one in pairs if one.type == kind and not one.mute]
        if found:
            if refusal := edit_refusal(owner):
                raise RigError(refusal, rig=owner.name)
            results += _converted(context, owner, found)
    return results


def _converted(
    context: bpy.types.Context, owner: bpy.types.Object, found: Sequence[tuple[bpy.types.PoseBone, Any]]
) -> list[ConversionResult]:
    """Make a chain of each constraint of some that are in force."""
    animated, depsgraph, results, made = Animated(owner), context.evaluated_depsgraph_get(), [], []
    moved = {(bone.name, one.name): names_of_animated(animated, bone, one) for bone, one in found}
    refusals = {(bone.name, one.name): _refusal(bone, one, moved[bone.name, one.name]) for bone, one in found}
    going = {key for key, refusal in refusals.items() if not refusal}
    for bone, constraint in found:
        result = ConversionResult(bone.name, constraint.name)
        results.append(result)
        reason = refusals[bone.name, constraint.name]
        if reason:
            result.lost.append(reason)
            continue
        names = _bones_moved_by(owner, bone, constraint)
        result.lost += _losses(owner, constraint, names, moved[bone.name, constraint.name], going)
        stood, seen = joints_of(owner, names, depsgraph), seen_rotations(owner, names, depsgraph)
        made.append(_IkConversion(result, constraint, names, stood, seen))
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


def _bones_moved_by(owner: bpy.types.Object, bone: bpy.types.PoseBone, constraint: Any) -> list[str]:
    """Names of the bones that a constraint moves, root to tip."""
    if constraint.type == "DAMPED_TRACK":
        return [bone.name]
    tip = bone if constraint.use_tail else bone.parent
    assert tip is not None
    return [one.name for one in bones_to(owner, tip.name, 0)[-constraint.chain_count :]]  # from 0 on: all of them


def _refusal(bone: bpy.types.PoseBone, constraint: Any, animated: set[str]) -> str:
    """Why a constraint can't be a chain, or ""."""
    if constraint.target is None:
        return Text("it has no target")
    own = _track_refusal(constraint) if constraint.type == "DAMPED_TRACK" else _ik_refusal(bone, constraint)
    return own or (Text("it is switched on and off by keys or a driver") if "mute" in animated else "")


def _ik_refusal(bone: bpy.types.PoseBone, constraint: Any) -> str:
    """Why an IK constraint with a target can't be a chain by itself, or ""."""
    if constraint.ik_type != "COPY_POSE" or not constraint.use_location:
        return Text("it keeps a distance or turns alone, which a chain does not")
    goals = (constraint.target, constraint.subtarget), (constraint.pole_target, constraint.pole_subtarget)
    if any(goal is not None and goal.type != "ARMATURE" and name for goal, name in goals):
        return Text("its target or pole is a vertex group")
    if not constraint.use_tail and bone.parent is None:
        return Text("it brings the head of a bone without a parent")
    return ""


def names_of_animated(animated: Animated, bone: bpy.types.PoseBone, constraint: Any) -> set[str]:
    """Names of a constraint's own properties that are keyed or driven."""
    start = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
    return {name.removeprefix(start) for name in animated.of_bone(bone) if name.startswith(start)}


def _losses(
    owner: bpy.types.Object, constraint: Any, names: list[str], animated: set[str], going: set[tuple[str, str]]
) -> list[str]:
    """What can't be carried over; the constraints that go as well are named by their bones and names."""
    lost: list[str] = [
        Text("its {name} is animated, and the chain keeps what it is now", name=name) for name in sorted(animated)
    ]
    path = [pose_bones(owner)[name] for name in names]
    if constraint.type == "DAMPED_TRACK":
        others = [other.name for other in path[0].constraints if other != constraint and not other.mute]
        return lost + [Text("the constraint '{other}' still moves it", other=other) for other in others[:1]]
    if constraint.influence < 1.0:
        lost.append(Text("influence {influence:.0%} now turns each bone by its share", influence=constraint.influence))
    staying = ((bone, other) for bone in path for other in bone.constraints if not other.mute)
    others = [other.name for bone, other in staying if (bone.name, other.name) not in going]
    if others:
        lost.append(Text("the constraint '{other}' still moves a bone of it", other=others[0]))
    return lost


def _make(owner: bpy.types.Object, made: _IkConversion) -> FabrikChain:
    names, constraint = made.names, made.constraint
    bones = [pose_bones(owner)[name] for name in names]
    chain = _disabled(owner, made) or add_chain(owner, bones, len(bones), Defaults())
    chain.enabled = True
    chain.target, chain.target_bone = constraint.target, constraint.subtarget
    if constraint.type == "DAMPED_TRACK":
        chain.kind, chain.aim_axis, chain.influence = AIM.kind, TRACK_AXES[constraint.track_axis], constraint.influence
        return chain
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


def _disabled(owner: bpy.types.Object, made: _IkConversion) -> FabrikChain | None:
    """The disabled chain of just these bones with the same target, from which the constraint may have been made.

    Or one that brings the head of the bone there that has the constraint.
    """
    constraint, names = made.constraint, made.names
    for chain in rig_of(owner).chains:
        if chain.enabled or (chain.target, chain.target_bone) != (constraint.target, constraint.subtarget):
            continue
        if bool(track_axis(chain)) != (constraint.type == "DAMPED_TRACK"):
            continue
        if names_if_any(owner, chain) == ([*names, made.result.bone] if chain.at_head else names):
            return chain
    return None


def _capture(context: bpy.types.Context, owner: bpy.types.Object, made: _IkConversion) -> None:
    """Let the pose be the start pose of the chain, unless keys make it, or it is held in part."""
    chain, bones = rig_of(owner).chains[made.result.chain], [pose_bones(owner)[name] for name in made.names]
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    if chain.influence >= 1.0 and not is_animated(owner, bones, keyed):
        capture(chain, bones)


def _keep(context: bpy.types.Context, owner: bpy.types.Object, made: _IkConversion) -> None:
    """Keep the pose that the constraint made, and tell what the next solve moves all the same."""
    result, depsgraph = made.result, context.evaluated_depsgraph_get()
    item = owner, rig_of(owner).chains[result.chain]
    try:
        pose = FigurePose.of(item, depsgraph)
        if not item[1].aims and (
            item[1].influence < 1.0 or pose.is_animated
        ):  # it starts where the constraint did, which tells the bend
            _match_bend(pose, item[1], made)
            return
        off = pole_error(pose, result.chain)
        if pose.goal_of(result.chain).has_pole and (off is None or bend_between(made.stood, made.stood) is None):
            result.lost.append(STRAIGHT)
        elif off is not None:
            item[1].pole_angle += off
    except FabrikError as error:
        result.lost.append(Text("it can't be solved yet: {reason}", reason=error.local))
        return
    result.lost += keep([item], depsgraph)[0].notes


def _match_bend(pose: FigurePose, chain: FabrikChain, made: _IkConversion) -> None:
    """Set the pole angle by which our limb bends as Blender's stood, and tell how far it is from there."""
    figure, k = pose.figure, pose.index(chain.name)
    count = len(made.stood)  # a bone behind the last, such as a foot, is the chain's alone
    if figure.goals[k].has_pole:
        asked = list(figure.goals)
        asked[k] = asked[k]._replace(pole_angle=0.0)
        angle = bend_between(solved_joints(figure.with_goals(asked), pose.points)[k][:count], made.stood)
        if angle is None:
            made.result.lost.append(STRAIGHT)
            return
        chain.pole_angle = angle
        asked[k] = asked[k]._replace(pole_angle=chain.pole_angle)
        figure = figure.with_goals(asked)
    size = sum(figure.solver.figure.lengths[i] for i in figure.goals[k].joints)
    made.result.lost += differences(solved_joints(figure, pose.points)[k][:count], made.stood, size)


# Damped Track constraints made into chains that aim, and back: both turn a bone by the least turn from where it is.

TRACK_AXES: dict[str, V3] = {
    "TRACK_X": (1.0, 0.0, 0.0),
    "TRACK_Y": (0.0, 1.0, 0.0),
    "TRACK_Z": (0.0, 0.0, 1.0),
    "TRACK_NEGATIVE_X": (-1.0, 0.0, 0.0),
    "TRACK_NEGATIVE_Y": (0.0, -1.0, 0.0),
    "TRACK_NEGATIVE_Z": (0.0, 0.0, -1.0),
}
ALONG = 1e-6  # by which a unit vector may differ from an axis


def track_axis(chain: FabrikChain) -> str:
    """How Damped Track names the axis that a chain of one bone aims; "" where it can't do what the chain does."""
    axis = unit(v3(chain.aim_axis))
    if not chain.aims or chain.bone_count != 1:
        return ""
    return next((name for name, one in TRACK_AXES.items() if distance(axis, one) <= ALONG), "")


def _track_refusal(constraint: Any) -> str:
    """Why a Damped Track constraint with a target can't be a chain by itself, or ""."""
    if constraint.subtarget and constraint.target.type != "ARMATURE":
        return Text("its target is a vertex group")
    if constraint.subtarget and constraint.head_tail > 0.0:
        return Text("it tracks a place along a bone, which is none of a chain's targets")
    return ""


def _muted(bone: bpy.types.PoseBone, kind: str, chain: FabrikChain) -> list[Any]:
    """The muted constraints of a bone, of a kind and with the target of a chain."""
    muted: list[Any] = [one for one in bone.constraints if one.type == kind and one.mute]
    return [one for one in muted if (one.target, one.subtarget) == (chain.target, chain.target_bone)]


# Chains made into such constraints.

CORRECTIONS = 5  # of the pole angle, each by what was left after the one before
AT_TAIL = 1e-3  # share of a bone's length


@dataclass(slots=True)
class _ChainConversion:
    """A chain being converted."""

    item: Item
    result: ConversionResult  # what is told of it
    figure: RigFigure  # the chains with which it is solved
    place: int  # its own among these
    stood: list[V3] = field(default_factory=list)  # where our solve puts the joints of its bones
    constraint: Any = None  # what is made of it

    @property
    def goal(self) -> ChainGoal:
        """What the chain asks for."""
        return self.figure.goals[self.place]

    @property
    def bones(self) -> tuple[str, ...]:
        """The bones that the constraint moves."""
        return self.goal.bones[:-1] if self.goal.at_head else self.goal.bones


def convert_to_ik(context: bpy.types.Context, items: Sequence[Item]) -> list[ConversionResult]:
    """Make an IK constraint of each chain, or take the muted one from which it was made, and disable the chain.

    The bones are put into the chain's start pose, from which Blender's IK then starts.

    Returns:
        What came of each; a chain that can't be solved stays as it is.
    """
    results, made = [], list[_ChainConversion]()
    depsgraph = context.evaluated_depsgraph_get()
    for owner, chain in items:
        result = ConversionResult("", "", chain.name)
        results.append(result)
        try:
            check_rig(owner, depsgraph)
            if refusal := give_refusal(chain):
                raise ChainError(refusal, chain=chain.name)
            chain_set = set_of(owner, chain)
            place = chain_set.names.index(chain.name)
            figure, points = read(chain_set, depsgraph)
            one = _ChainConversion((owner, chain), result, figure, place)
            one.stood = solved_joints(figure, points)[place][: len(one.bones) + 1]
            made.append(one)
        except FabrikError as error:
            result.lost.append(worded(error.local))
    for one in made:
        one.constraint = _constrained(one, KeyedChannels(one.item[0], frame_of(depsgraph)))
    updated(context)
    for one in made:
        _match_back(context, one)
    return results


def _constrained(one: _ChainConversion, keyed: KeyedChannels) -> Any:
    """Make the constraint of a chain, and put its bones into the start pose."""
    (owner, chain), result, figure = one.item, one.result, one.figure
    asked, names = one.goal, one.bones
    bones = [pose_bones(owner)[name] for name in names]
    result.lost += _losses_back(one, bones, keyed)
    for bone, joint in zip(bones, (figure.joints[i] for i in asked.joints), strict=False):
        if not limit_of(bone).type.is_of_blender:
            result.lost += [
                joined(": ", (bone.name, lost)) for lost in write_ik_settings(bone, joint.limit, joint.stiffness)
            ]
    write_pose(owner, Pose(figure, np.array(figure.starts)))
    chain.enabled = False
    if asked.kind.aims:
        bone = bones[-1]
        track: Any = next(reversed(_muted(bone, "DAMPED_TRACK", chain)), None) or bone.constraints.new("DAMPED_TRACK")
        track.target, track.subtarget, track.track_axis = chain.target, chain.target_bone, track_axis(chain)
        track.head_tail, track.influence, track.mute = 0.0, chain.influence, False
        result.bone, result.constraint = names[-1], track.name
        return track
    constraint: Any = _muted_constraint(owner, chain, names)
    if constraint is None:
        constraint = pose_bones(owner)[asked.bones[-1]].constraints.new("IK")
        constraint.use_tail = not asked.at_head
    constraint.target, constraint.subtarget = chain.target, chain.target_bone
    constraint.pole_target, constraint.pole_subtarget = chain.pole, chain.pole_bone
    swinging = swings_below(owner, chain.pole, chain.pole_bone) if chain.pole and chain.target else ()
    for swing in swinging:  # else the pole would wait for the limb that waits for it
        own: Any = swing.constraints
        for made in [made for made in own if made.name.startswith(SWING) and made.subtarget in asked.bones]:
            if made.type == "COPY_LOCATION":  # it stands at the root all the same, for what carries the limb carries it
                own.remove(made)
            else:
                made.target, made.subtarget, made.head_tail = chain.target, chain.target_bone, 0.0
    result.lost += give_goal(chain, constraint, bones, asked.at_head)
    constraint.chain_count = len(names)  # without the bone of the constraint where it is not moved
    constraint.influence, constraint.mute = chain.influence, False
    result.bone, result.constraint = names[-1] if constraint.use_tail else asked.bones[-1], constraint.name
    return constraint


def _losses_back(one: _ChainConversion, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> list[str]:
    lost: list[str] = []
    asked = one.goal
    tip = pose_bones(one.item[0])[asked.bones[-1]].bone
    is_apart = tip.parent and distance(tip.head_local, tip.parent.tail_local) > AT_TAIL * tip.parent.length
    if asked.at_head and is_apart:
        lost.append(
            Text("the way from the end of '{bone}' to the head of '{tip}'", bone=bones[-1].name, tip=asked.bones[-1])
        )
    if one.figure.root is not None:
        lost.append(Text("that the body bone '{bone}' comes along", bone=one.figure.bones[0]))
    others = {name for place, other in enumerate(one.figure.goals) if place != one.place for name in other.bones}
    if asked.has_pole and not others.isdisjoint(asked.bones):
        lost.append(Text("its pole, which Blender's IK drops where constraints share bones"))
    elif asked.has_pole and not one.figure.limits[asked.joints[0]].is_free:
        lost.append(
            Text("{bone}: its limit, which Blender's IK does not hold at the root with a pole", bone=bones[0].name)
        )
    named = [bone.name for bone in bones if keyed.has(bone)]
    if named:
        lost.append(Text("the start pose: {bone} is keyed, and Blender's IK starts from its keys", bone=named[0]))
    return lost


def _muted_constraint(owner: bpy.types.Object, chain: FabrikChain, names: Sequence[str]) -> Any:
    """The muted IK constraint with the same target that ends where the chain does, or None."""
    tip = pose_bones(owner)[names[-1]]
    ends = ((tip, True), *((child, False) for child in tip.children))
    return next((one for bone, at in ends for one in _muted(bone, "IK", chain) if one.use_tail == at), None)


def _match_back(context: bpy.types.Context, made: _ChainConversion) -> None:
    """Set the pole angle by which Blender's limb bends as ours stood, and tell how far it is from there."""
    if made.constraint.type == "IK" and made.constraint.pole_target is not None:
        left = _left(context, made, 0.0)
        side = min((1.0, -1.0), key=lambda side: abs(_left(context, made, side * left)))
        best, angle = (abs(left), 0.0), 0.0
        for _ in range(CORRECTIONS):  # Blender's solve does not turn the limb by just what the angle changes
            angle += side * left
            left = _left(context, made, angle)
            best = min(best, (abs(left), angle))
        _left(context, made, best[1])
    lengths = made.figure.solver.figure.lengths
    size = sum(lengths[i] for i in made.goal.joints[: len(made.bones)])
    made.result.lost += differences(_seen(context, made), made.stood, size)


def _left(context: bpy.types.Context, made: _ChainConversion, angle: float) -> float:
    """How far our bend is from Blender's with a pole angle."""
    made.constraint.pole_angle = (angle + pi) % (2.0 * pi) - pi
    return bend_between(_seen(context, made), made.stood) or 0.0


def _seen(context: bpy.types.Context, made: _ChainConversion) -> list[V3]:
    return joints_of(made.item[0], made.bones, updated(context))
