# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is worth, by the bones and meshes that Blender evaluates frame by frame; the plan tells who stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import acos, degrees
from typing import NamedTuple

import bpy
from fabrik_addon.gait.feet import FootPose
from fabrik_addon.gait.ground import Hit
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import feet_at
from fabrik_addon.maths import IDENTITY, ORIGIN, Q4, V3
from fabrik_addon.rig.schema.chain import FabrikChain
from fabrik_addon.rig.walk_goals import plan_of, rest_turn
from mathutils import Matrix, Quaternion, Vector
from mathutils.bvhtree import BVHTree

from blender import rig_of
from dev.walk_measures import Judged, Moment, Shown, inside, judge_shown, standing_points, swings_of
from rigs import end_of


class Limb(NamedTuple):
    """A leg: its plan, its chain, its bones, and the rotation of its tip bone at rest."""

    leg: Leg
    chain: FabrikChain
    bones: list[str]
    rest: Quaternion


class Meshes:
    """All meshes of the scene but those on the armature, as a terrain."""

    digest = "meshes"

    def __init__(self, owner: bpy.types.Object) -> None:
        points: list[Vector] = []
        faces: list[list[int]] = []
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for thing in bpy.context.scene.objects:
            if thing.type != "MESH" or thing.parent == owner:
                continue
            mesh, first, place = thing.evaluated_get(depsgraph).data, len(points), Matrix(thing.matrix_world)
            assert isinstance(mesh, bpy.types.Mesh)
            points += [place @ vertex.co for vertex in mesh.vertices]
            polygons: Iterable[Sequence[int]] = [getattr(polygon, "vertices") for polygon in mesh.polygons]
            faces += [[first + i for i in polygon] for polygon in polygons]
        self.tree = BVHTree.FromPolygons(points, faces)

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        return _hit(self.tree.ray_cast(origin, direction, reach))

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        return _hit(self.tree.find_nearest(place, reach))

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        return ORIGIN, IDENTITY


def _hit(found: Sequence[object]) -> Hit | None:
    place, normal = found[:2]
    return Hit(_v3(place), _v3(normal)) if isinstance(place, Vector) and isinstance(normal, Vector) else None


def _v3(point: Vector) -> V3:
    return (point.x, point.y, point.z)


def judge(owner: bpy.types.Object) -> Judged:
    """Go through all frames of the scene.

    Returns:
        The figures of the soles as they are evaluated. `stretched` counts the standing feet whose chain does not say
        that it reaches, `turned` is of any bone of a leg, and `unsupported` by all points that stand.
    """
    scene, planned = bpy.context.scene, plan_of(owner)
    limbs = [_limb(owner, leg) for leg in planned.legs]
    moments, turns, judged = list[Moment](), dict[str, Quaternion](), Judged()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        feet = [_foot(poses, *pair) for pair in zip(limbs, feet_at(planned, frame), strict=True)]
        heads = [poses.matrix_world @ poses.pose.bones[limb.bones[0]].head for limb in limbs]
        moments.append(Moment(frame, planned.time_of(frame), feet, [_v3(head) for head in heads], IDENTITY))
        standing = [(limb, foot) for limb, foot in zip(limbs, feet, strict=True) if foot.is_planted]
        judged.stretched += sum(limb.chain.status != "REACHED" for limb, _ in standing)
        soles = [point for limb, foot in standing for point in standing_points(limb.leg, foot).values()]
        centre = sum(heads, Vector()) / len(heads)
        judged.unsupported += not inside([(x - centre.x, y - centre.y) for x, y, _ in soles])
        _judge_turns(judged, poses, limbs, turns, frame)
    seen = judge_shown(Shown(planned.legs, moments, swings_of(planned), ()), Meshes(owner))
    seen.stretched, seen.unsupported, seen.turned = judged.stretched, judged.unsupported, judged.turned
    seen.where |= judged.where
    return seen


def _limb(owner: bpy.types.Object, leg: Leg) -> Limb:
    chain = rig_of(owner).chains[leg.name]
    tip = owner.pose.bones[chain.tip_bone]
    bones = [tip, *tip.parent_recursive][: chain.bone_count][::-1]
    return Limb(leg, chain, [bone.name for bone in bones], Quaternion(rest_turn(owner, tip.name)))


def _foot(poses: bpy.types.Object, limb: Limb, planned: FootPose) -> FootPose:
    """A foot as its bone carries it; the plan tells whether it stands, and on what."""
    leg = limb.leg
    turn = (poses.matrix_world @ poses.pose.bones[limb.chain.tip_bone].matrix).to_quaternion() @ limb.rest.conjugated()
    end = end_of(limb.chain)
    sole = end - turn @ Vector(leg.ankle if leg.foot_length > 0.0 else leg.heel)
    w, x, y, z = turn
    return replace(planned, sole=_v3(sole), ankle=_v3(end), rotation=(w, x, y, z))


def _judge_turns(
    judged: Judged, poses: bpy.types.Object, limbs: list[Limb], turns: dict[str, Quaternion], frame: int
) -> None:
    for limb in limbs:
        for name in limb.bones:
            turn = (poses.matrix_world @ poses.pose.bones[name].matrix).to_quaternion()
            if name in turns:
                cosine = abs(turn.dot(turns[name]))
                judged.worst("turned", degrees(2.0 * acos(min(cosine, 1.0))), f"{name} in frame {frame}")
            turns[name] = turn
