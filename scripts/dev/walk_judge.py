# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are played in Blender, judged by its evaluated bones and ground, for demo, benchmark and tests."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import NamedTuple

import bpy
from fabrik_addon.gait.feet import FootPose
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import feet_at
from fabrik_addon.maths import IDENTITY, conjugated, multiplied, q4, turn_angle, v3
from fabrik_addon.rig.bones import pose_bones, resolve_bones
from fabrik_addon.rig.schema.chain import FabrikChain
from fabrik_addon.rig.terrain import MeshTerrain, grounds_of, read_piece
from fabrik_addon.rig.walk_goals import plan_of, rest_turn
from mathutils import Quaternion, Vector

from blender import rig_of
from dev.walk_measures import Judged, Moment, Shown, inside, judge_shown, standing_points, swings_of
from rigs import end_of


class Limb(NamedTuple):
    """A leg: its plan, its chain, its bones, and the rotation of its tip bone at rest."""

    leg: Leg
    chain: FabrikChain
    bones: list[str]
    rest: Quaternion


def judge(owner: bpy.types.Object) -> Judged:
    """Go through all frames of the scene.

    Returns:
        The figures of the soles as they are evaluated. `stretched` counts the standing feet whose chain does not say
        that it reaches, `turned` is of any bone of a leg, and `unsupported` by all points that stand.
    """
    scene, planned = bpy.context.scene, plan_of(owner)
    assert scene is not None
    assert planned is not None, "a walk was planned"
    limbs = [_limb(owner, leg) for leg in planned.legs]
    moments, turns, judged = list[Moment](), dict[str, Quaternion](), Judged()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        feet = [_foot(poses, *pair) for pair in zip(limbs, feet_at(planned, frame), strict=True)]
        heads = [poses.matrix_world @ pose_bones(poses)[limb.bones[0]].head for limb in limbs]
        moments.append(Moment(frame, planned.time_of(frame), feet, [v3(head) for head in heads], IDENTITY))
        standing = [(limb, foot) for limb, foot in zip(limbs, feet, strict=True) if foot.is_planted]
        judged.stretched += sum(limb.chain.status != "REACHED" for limb, _ in standing)
        soles = [point for limb, foot in standing for point in standing_points(limb.leg, foot).values()]
        centre = sum(heads, Vector()) / len(heads)
        judged.unsupported += not inside([(x - centre.x, y - centre.y) for x, y, _ in soles])
        _judge_turns(judged, poses, limbs, turns, frame)
    seen = judge_shown(Shown(planned.legs, moments, swings_of(planned), ()), _ground(owner))
    seen.stretched, seen.unsupported, seen.turned = judged.stretched, judged.unsupported, judged.turned
    seen.where |= judged.where
    return seen


def _ground(owner: bpy.types.Object) -> MeshTerrain:
    """All that is seen but the armature's own, as it stands now."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    pieces = [read_piece(thing, depsgraph, moves=False) for thing in grounds_of(owner, None, depsgraph)]
    return MeshTerrain([piece for piece in pieces if piece is not None], [])


def _limb(owner: bpy.types.Object, leg: Leg) -> Limb:
    chain = rig_of(owner).chains[leg.name]
    names = [bone.name for bone in resolve_bones(owner, chain)]
    return Limb(leg, chain, names, Quaternion(rest_turn(owner, chain.tip_bone)))


def _foot(poses: bpy.types.Object, limb: Limb, planned: FootPose) -> FootPose:
    """A foot as its bone carries it; the plan tells whether it stands, and on what."""
    leg = limb.leg
    turn = (poses.matrix_world @ pose_bones(poses)[limb.chain.tip_bone].matrix).to_quaternion() @ limb.rest.conjugated()
    end = end_of(limb.chain)
    sole = end - turn @ Vector(leg.ankle if leg.foot_length > 0.0 else leg.heel)
    return replace(planned, sole=v3(sole), ankle=v3(end), rotation=q4(turn))


def _judge_turns(
    judged: Judged, poses: bpy.types.Object, limbs: list[Limb], turns: dict[str, Quaternion], frame: int
) -> None:
    for limb in limbs:
        for name in limb.bones:
            turn = (poses.matrix_world @ pose_bones(poses)[name].matrix).to_quaternion()
            if name in turns:
                angle = degrees(turn_angle(multiplied(turn, conjugated(turns[name]))))
                judged.worst("turned", angle, f"{name} in frame {frame}")
            turns[name] = turn
