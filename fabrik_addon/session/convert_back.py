# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains made into Blender's own IK constraints: the same bones, goals, bend, and limits as far as these can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import bpy

from ..errors import FabrikError
from ..rig import pose_writer
from ..rig.chain_bones import pose_bones
from ..rig.checks import check_rig
from ..rig.goals import GoalPoints
from ..rig.ik_settings import write_ik_settings
from ..rig.keys import KeyedChannels
from ..rig.limit_properties import limit_of
from ..rig.prepared import Prepared, frame_of, read
from ..rig.properties import FabrikChain
from ..rig.rotations import V3
from .bend import bend_between, differences, joints_of, turned_joints
from .convert import Converted
from .order import Item

CORRECTIONS = 5


@dataclass(slots=True)
class _Made:
    """A constraint, and where its chain stood by our solve."""

    item: Item
    result: Converted
    constraint: Any
    prepared: Prepared
    stood: list[V3]


def convert_to_ik(context: bpy.types.Context, items: Sequence[Item]) -> list[Converted]:
    """Make an IK constraint of each chain, or take the muted one from which it was made, and disable the chain.

    The bones are put into the chain's start pose, from which Blender's IK then starts.

    Args:
        context: Its view layer is evaluated.
        items: Chains, each with its armature object.

    Returns:
        What came of each; a chain that can't be solved stays as it is.
    """
    results, made = [], []
    read_before: list[tuple[Item, Converted, tuple[Prepared, GoalPoints]]] = []
    depsgraph = context.evaluated_depsgraph_get()
    for owner, chain in items:
        result = Converted("", "", chain.name)
        results.append(result)
        try:
            check_rig(owner, depsgraph)
            read_before.append(((owner, chain), result, read(owner, chain, depsgraph)))
        except FabrikError as error:
            result.lost.append(error.local)
    for item, result, (prepared, points) in read_before:
        solution = prepared.solver.solve(prepared.asked(points), prepared.settings, explain=False)
        stood = turned_joints(prepared.space, solution.joints)
        keyed = KeyedChannels(item[0], frame_of(depsgraph))
        made.append(_Made(item, result, _constrained(item, result, prepared, keyed), prepared, stood))
    _update(context)
    for one in made:
        _match_bend(context, one)
    return results


def _constrained(item: Item, result: Converted, prepared: Prepared, keyed: KeyedChannels) -> Any:
    """Make the constraint of a chain, and put its bones into the start pose."""
    owner, chain = item
    names = prepared.bones
    bones = [pose_bones(owner)[name] for name in names]
    result.lost += _losses(prepared, bones, keyed)
    for bone, joint in zip(bones, prepared.joints, strict=True):
        if not limit_of(bone).type.is_of_blender:
            result.lost += [f"{bone.name}: {lost}" for lost in write_ik_settings(bone, joint.limit, joint.stiffness)]
    pose_writer.write(owner, prepared.writes(owner, prepared.starts))
    constraint: Any = _muted_constraint(owner, chain, names) or bones[-1].constraints.new("IK")
    constraint.target, constraint.subtarget = chain.target, chain.target_bone
    constraint.pole_target, constraint.pole_subtarget = chain.pole, chain.pole_bone
    constraint.chain_count = len(names) + (not constraint.use_tail)
    constraint.influence, constraint.mute = chain.influence, False
    chain.enabled = False
    result.bone, result.constraint = names[-1], constraint.name
    return constraint


def _losses(prepared: Prepared, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels) -> list[str]:
    lost = []
    if prepared.has_pole and not prepared.limits[0].is_free:
        lost.append(f"{bones[0].name}: its limit, which Blender's IK does not hold at the root with a pole")
    named = [bone.name for bone in bones if keyed.has(bone)]
    if named:
        lost.append(f"the start pose: {named[0]} is keyed, and Blender's IK starts from its keys")
    return lost


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
    if made.constraint.pole_target is not None:
        left = _left(context, made, 0.0)
        side = min((1.0, -1.0), key=lambda side: abs(_left(context, made, side * left)))
        best, angle = (abs(left), 0.0), 0.0
        for _ in range(CORRECTIONS):  # Blender's solve does not turn the limb by just what the angle changes
            angle += side * left
            left = _left(context, made, angle)
            best = min(best, (abs(left), angle))
        _left(context, made, best[1])
    made.result.lost += differences(_seen(context, made), made.stood, made.prepared.length)


def _left(context: bpy.types.Context, made: _Made, angle: float) -> float:
    """How far our bend is from Blender's with a pole angle."""
    made.constraint.pole_angle = (angle + pi) % (2.0 * pi) - pi
    return bend_between(_seen(context, made), made.stood) or 0.0


def _seen(context: bpy.types.Context, made: _Made) -> list[V3]:
    _update(context)
    return joints_of(made.item[0], made.prepared.bones, context.evaluated_depsgraph_get())


def _update(context: bpy.types.Context) -> None:
    assert context.view_layer is not None
    context.view_layer.update()
