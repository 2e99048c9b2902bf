# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is worth, by the bones and meshes that Blender evaluates frame by frame; the plan tells who stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import acos, atan2, degrees, pi

import bpy
from fabrik_addon.gait import FootPose, Leg, feet_at
from fabrik_addon.rig.schema.chain import FabrikChain
from fabrik_addon.rig.walk_goals import plan_of, rest_turn
from mathutils import Matrix, Quaternion, Vector
from mathutils.bvhtree import BVHTree

from blender import rig_of

ROLLED = 1e-6  # radians of pitch from which on a foot stands on heel or ball alone
DOWN = Vector((0.0, 0.0, -1.0))


@dataclass
class Judged:
    """Figures of a walk; lengths are shares of the leg's reach.

    Attributes:
        legs: How many.
        frames: How many were looked at.
        steps: How many are planned.
        stances: Standing feet, by frame.
        reached: Of these, those whose chain says so.
        slip: Farthest that a standing point of a sole moves in a frame.
        drift: And in a stance.
        sunk: Deepest point of a sole in the ground, of swinging feet, too.
        hover: Highest standing point of a sole above it.
        turn: Most degrees that a bone of a leg turns in a frame.
        supported: Frames at which the middle of the hips is above the standing soles.
        where: By figure the leg or bone, and the frame, at which it is worst.
    """

    legs: int
    frames: int = 0
    steps: int = 0
    stances: int = 0
    reached: int = 0
    slip: float = 0.0
    drift: float = 0.0
    sunk: float = 0.0
    hover: float = 0.0
    turn: float = 0.0
    supported: int = 0
    where: dict[str, str] = field(default_factory=dict)

    def worst(self, name: str, value: float, where: str) -> None:
        """Note a figure where it is worse than before."""
        if value > getattr(self, name):
            setattr(self, name, value)
            self.where[name] = where


@dataclass
class _Limb:
    """A leg: its plan, its chain, its bones, and the rotation of its tip bone at rest."""

    leg: Leg
    chain: FabrikChain
    bones: list[str]
    rest: Quaternion
    anchors: dict[str, Vector] = field(default_factory=dict)
    last: dict[str, Vector] = field(default_factory=dict)


def judge(owner: bpy.types.Object) -> Judged:
    """Go through all frames of the scene."""
    scene = bpy.context.scene
    planned = plan_of(owner).plan
    limbs = [_limb(owner, leg) for leg in planned.legs]
    judged = Judged(len(limbs), steps=sum(len(steps) for steps in planned.steps))
    ground, turns = _ground(owner), dict[str, Quaternion]()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        soles: list[Vector] = []
        for limb, foot in zip(limbs, feet_at(planned, frame), strict=True):
            points = _contacts(poses, limb)
            soles += _judge_foot(judged, limb, (foot, points), ground, f"{limb.leg.name} in frame {frame}")
        hips = [poses.matrix_world @ poses.pose.bones[limb.bones[0]].head for limb in limbs]
        judged.supported += _is_inside(sum(hips, Vector()) / len(hips), soles)
        _judge_turns(judged, poses, limbs, turns, frame)
        judged.frames += 1
    return judged


def _limb(owner: bpy.types.Object, leg: Leg) -> _Limb:
    chain = rig_of(owner).chains[leg.name]
    tip = owner.pose.bones[chain.tip_bone]
    bones = [tip, *tip.parent_recursive][: chain.bone_count][::-1]
    return _Limb(leg, chain, [bone.name for bone in bones], Quaternion(rest_turn(owner, tip.name)))


def _contacts(poses: bpy.types.Object, limb: _Limb) -> dict[str, Vector]:
    """The points of a sole that touch the ground, in the world, carried by the bone of the foot."""
    bone = poses.pose.bones[limb.chain.tip_bone]
    matrix = poses.matrix_world @ bone.matrix
    end = poses.matrix_world @ (bone.head if limb.chain.effector == "HEAD" else bone.tail)
    if limb.leg.foot_length <= 0.0:
        return {"tip": end}
    turn = matrix.to_quaternion() @ limb.rest.conjugated()
    points = {"heel": limb.leg.heel, "ball": limb.leg.ball}
    return {name: end + turn @ (Vector(point) - Vector(limb.leg.ankle)) for name, point in points.items()}


def _judge_foot(
    judged: Judged, limb: _Limb, seen: tuple[FootPose, dict[str, Vector]], ground: BVHTree, at: str
) -> list[Vector]:
    """A foot at a frame: its slip, and how it stands on the ground; the points on which it stands."""
    foot, points = seen
    size = limb.leg.reach
    for point in points.values():
        hit = ground.ray_cast(point - limb.leg.reach * DOWN, DOWN)[0]
        if hit is not None:
            judged.worst("sunk", (hit.z - point.z) / size, at)
    standing = {name: point for name, point in points.items() if foot.is_planted and _bears(name, foot.pitch)}
    for name, point in standing.items():
        judged.worst("slip", (point - limb.last.get(name, point)).length / size, at)
        judged.worst("drift", (point - limb.anchors.get(name, point)).length / size, at)
        near = ground.find_nearest(point)[0]
        judged.worst("hover", (point - near).length / size if near is not None else 1.0, at)
    limb.anchors = {name: limb.anchors.get(name, point) for name, point in standing.items()}
    limb.last = standing
    judged.stances += foot.is_planted
    judged.reached += foot.is_planted and limb.chain.status == "REACHED"
    return list(standing.values())


def _bears(point: str, pitch: float) -> bool:
    """Whether a point of a standing foot is on the ground: heel up it stands on the ball, toes up on the heel."""
    return {"heel": pitch <= ROLLED, "ball": pitch >= -ROLLED}.get(point, True)


def _judge_turns(
    judged: Judged, poses: bpy.types.Object, limbs: list[_Limb], turns: dict[str, Quaternion], frame: int
) -> None:
    for limb in limbs:
        for name in limb.bones:
            turn = (poses.matrix_world @ poses.pose.bones[name].matrix).to_quaternion()
            if name in turns:
                cosine = abs(turn.dot(turns[name]))
                judged.worst("turn", degrees(2.0 * acos(min(cosine, 1.0))), f"{name} in frame {frame}")
            turns[name] = turn


def _ground(owner: bpy.types.Object) -> BVHTree:
    """All meshes of the scene but those on the armature, in the world."""
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
    return BVHTree.FromPolygons(points, faces)


def _is_inside(centre: Vector, points: list[Vector]) -> bool:
    """Whether a centre is above the convex hull of points: no half plane beside it holds none of them."""
    if len(points) < 3:
        return False
    angles = sorted(atan2(point.y - centre.y, point.x - centre.x) for point in points)
    gaps = [b - a for a, b in pairwise(angles)] + [angles[0] + 2.0 * pi - angles[-1]]
    return max(gaps) <= pi
