# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains made into Blender's own IK constraints: the same bones, goals, bend, and limits as far as these can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any

import bpy
import numpy as np

from ..errors import ChainError, FabrikError
from ..maths import V3, distance
from ..rig.animation.keys import KeyedChannels
from ..rig.bones import pose_bones
from ..rig.checks import check_rig
from ..rig.control_bones import follow_target
from ..rig.figure.chain_goal import ChainGoal
from ..rig.figure.figure import RigFigure
from ..rig.figure.groups import set_of
from ..rig.figure.joint_limits import write_ik_settings
from ..rig.figure.pose_writer import Pose, updated, write_pose
from ..rig.figure.reader import frame_of, read
from ..rig.goals import swing_frame_of
from ..rig.schema import FabrikChain, limit_of
from ..texts import Text, joined, worded
from .bends import bend_between, differences, joints_of, solved_joints
from .convert import Converted, give_goal, give_refusal, goal_refusal, make_track, track_axis
from .solve import Item

CORRECTIONS = 5  # of the pole angle, each by what was left after the one before
AT_TAIL = 1e-3  # share of a bone's length


@dataclass(slots=True)
class _Made:
    """A chain being converted."""

    item: Item
    result: Converted  # what is told of it
    figure: RigFigure  # the chains with which it is solved
    place: int  # its own among these
    stood: list[V3] = field(default_factory=list)  # where our solve puts the joints of its bones
    constraint: Any = None  # what is made of it

    @property
    def asked(self) -> ChainGoal:
        """What the chain asks for."""
        return self.figure.asked[self.place]

    @property
    def bones(self) -> tuple[str, ...]:
        """The bones that the constraint moves."""
        return self.asked.bones[:-1] if self.asked.at_head else self.asked.bones


def convert_to_ik(context: bpy.types.Context, items: Sequence[Item]) -> list[Converted]:
    """Make an IK constraint of each chain, or take the muted one from which it was made, and disable the chain.

    The bones are put into the chain's start pose, from which Blender's IK then starts.

    Returns:
        What came of each; a chain that can't be solved stays as it is.
    """
    results, made = [], list[_Made]()
    depsgraph = context.evaluated_depsgraph_get()
    for owner, chain in items:
        result = Converted("", "", chain.name)
        results.append(result)
        try:
            check_rig(owner, depsgraph)
            refusal = goal_refusal(chain) or ("" if track_axis(chain) else give_refusal(chain))
            if refusal:
                raise ChainError(refusal, chain=chain.name)
            chain_set = set_of(owner, chain)
            place = chain_set.names.index(chain.name)
            figure, points = read(chain_set, depsgraph)
            one = _Made((owner, chain), result, figure, place)
            one.stood = solved_joints(figure, points)[place][: len(one.bones) + 1]
            made.append(one)
        except FabrikError as error:
            result.lost.append(worded(error.local))
    for one in made:
        one.constraint = _constrained(one, KeyedChannels(one.item[0], frame_of(depsgraph)))
    updated(context)
    for one in made:
        _match_bend(context, one)
    return results


def _constrained(one: _Made, keyed: KeyedChannels) -> Any:
    """Make the constraint of a chain, and put its bones into the start pose."""
    (owner, chain), result, figure = one.item, one.result, one.figure
    asked, names = one.asked, one.bones
    bones = [pose_bones(owner)[name] for name in names]
    result.lost += _losses(one, bones, keyed)
    for bone, joint in zip(bones, (figure.joints[i] for i in asked.joints), strict=False):
        if not limit_of(bone).type.is_of_blender:
            result.lost += [
                joined(": ", (bone.name, lost)) for lost in write_ik_settings(bone, joint.limit, joint.stiffness)
            ]
    write_pose(owner, Pose(figure, np.array(figure.starts)))
    chain.enabled = False
    if asked.aims:
        track = make_track(owner, chain)
        track.influence, track.mute = chain.influence, False
        result.bone, result.constraint = names[-1], track.name
        return track
    constraint: Any = _muted_constraint(owner, chain, names) or _new_constraint(owner, asked)
    constraint.target, constraint.subtarget = chain.target, chain.target_bone
    constraint.pole_target, constraint.pole_subtarget = chain.pole, chain.pole_bone
    swing = swing_frame_of(owner, chain).get("pole")
    if swing and chain.target is not None:  # else the pole would wait for the limb that waits for it
        follow_target(owner, swing, chain.target, chain.target_bone)
    result.lost += give_goal(chain, constraint, bones, asked.at_head)
    constraint.chain_count = len(names)  # without the bone of the constraint where it is not moved
    constraint.influence, constraint.mute = chain.influence, False
    result.bone, result.constraint = names[-1] if constraint.use_tail else asked.bones[-1], constraint.name
    return constraint


def _new_constraint(owner: bpy.types.Object, asked: ChainGoal) -> Any:
    """An IK constraint that brings the tail of the last bone to its target, or for its head that of the one before."""
    constraint: Any = pose_bones(owner)[asked.bones[-1]].constraints.new("IK")
    constraint.use_tail = not asked.at_head
    return constraint


def _losses(one: _Made, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> list[str]:
    lost: list[str] = []
    asked = one.asked
    if asked.at_head and not _is_at_tail(one.item[0], asked.bones[-1]):
        lost.append(
            Text("the way from the end of '{bone}' to the head of '{tip}'", bone=bones[-1].name, tip=asked.bones[-1])
        )
    if one.figure.root is not None:
        lost.append(Text("that the body bone '{bone}' comes along", bone=one.figure.bones[0]))
    if asked.has_pole and _shares_bones(one):
        lost.append(Text("its pole, which Blender's IK drops where constraints share bones"))
    elif asked.has_pole and not one.figure.limits[asked.joints[0]].is_free:
        lost.append(
            Text("{bone}: its limit, which Blender's IK does not hold at the root with a pole", bone=bones[0].name)
        )
    named = [bone.name for bone in bones if keyed.has(bone)]
    if named:
        lost.append(Text("the start pose: {bone} is keyed, and Blender's IK starts from its keys", bone=named[0]))
    return lost


def _shares_bones(one: _Made) -> bool:
    """Whether a chain has a bone in common with another that it is solved with."""
    asked = one.asked
    others = (other for place, other in enumerate(one.figure.asked) if place != one.place)
    return any(name in other.bones for other in others for name in asked.bones)


def _is_at_tail(owner: bpy.types.Object, name: str) -> bool:
    """Whether the head of a bone is at the tail of its parent in the rest pose."""
    bone = pose_bones(owner)[name].bone
    assert bone.parent is not None, "the chain has more than one bone"
    return distance(bone.head_local, bone.parent.tail_local) <= AT_TAIL * bone.parent.length


def _muted_constraint(owner: bpy.types.Object, chain: FabrikChain, names: Sequence[str]) -> Any:
    """The muted IK constraint with the same target that ends where the chain does, or None."""
    tip = pose_bones(owner)[names[-1]]
    for bone, with_tail in ((tip, True), *((child, False) for child in tip.children)):
        for found in bone.constraints:
            constraint: Any = found
            if found.type != "IK" or not found.mute or constraint.use_tail != with_tail:
                continue
            if constraint.target == chain.target and constraint.subtarget == chain.target_bone:
                return constraint
    return None


def _match_bend(context: bpy.types.Context, made: _Made) -> None:
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
    size = sum(lengths[i] for i in made.asked.joints[: len(made.bones)])
    made.result.lost += differences(_seen(context, made), made.stood, size)


def _left(context: bpy.types.Context, made: _Made, angle: float) -> float:
    """How far our bend is from Blender's with a pole angle."""
    made.constraint.pole_angle = (angle + pi) % (2.0 * pi) - pi
    return bend_between(_seen(context, made), made.stood) or 0.0


def _seen(context: bpy.types.Context, made: _Made) -> list[V3]:
    return joints_of(made.item[0], made.bones, updated(context))
