# SPDX-License-Identifier: GPL-3.0-or-later
"""From chains of an armature to the pictures that are drawn of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import FabrikError
from ..kernel import Chain
from ..kernel.limb import limb_path
from ..kernel.limits import FREE, Limit
from ..kernel.orientation import place
from ..kernel.reach import bounds
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.joint_limits import read_limit
from ..rig.kinematics import BonePath
from ..rig.properties import FabrikChain
from ..rig.reader import frame_of, read_path
from ..rig.start_pose import read_start
from ..rig.targets import resolve_point
from .shapes import Picture, Placed

NEARLY = 2.0  # times the tolerance that still counts as on target
SAMPLES = 400  # poses drawn to find how far a chain reaches within its limits


def pictures_of(
    owner: bpy.types.Object, chains: Iterable[FabrikChain], depsgraph: bpy.types.Depsgraph, with_limited_reach: bool
) -> list[Picture]:
    """The pictures of chains; one that can't be read is left out, for its status says why.

    Args:
        owner: The armature object.
        chains: Chains of it.
        depsgraph: Evaluated.
        with_limited_reach: Whether to find out how far the tips come within the limits, which takes a while.
    """
    found = []
    for chain in chains:
        try:
            found.append(_picture(owner, chain, depsgraph, with_limited_reach))
        except FabrikError:
            continue
    return found


def _picture(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, with_limited_reach: bool
) -> Picture:
    bones = resolve_bones(owner, chain)
    path = read_path(owner, bones, depsgraph)
    evaluated = owner.evaluated_get(depsgraph)
    world = evaluated.matrix_world.copy()
    poses = [pose_bones(evaluated)[bone.name] for bone in bones]
    joints = (*(world @ pose.head for pose in poses), world @ poses[-1].tail)
    starts = read_start(owner, chain, bones, frame_of(depsgraph))
    limits = [_limit(bone, start) for bone, start in zip(bones, starts, strict=True)]
    chain_now = path.measure(starts, starts, limits)
    size = sum((b - a).length for a, b in pairwise(joints)) / chain_now.length
    target = _point("target", chain.target, chain.target_bone, depsgraph)
    return Picture(
        joints,
        tuple(
            world @ (path.origin + joint)
            for joint in path.place([limit.clamp(start) for limit, start in zip(limits, starts, strict=True)])
        ),
        target,
        _point("pole", chain.pole, chain.pole_bone, depsgraph),
        tuple(_placed(chain, bones, path, world, limits)),
        tuple(radius * size for radius in bounds(chain_now.lengths)),
        tuple(radius * size for radius in _limited_reach(chain_now)) if with_limited_reach else (),
        target is None or (joints[-1] - target).length <= NEARLY * chain.tolerance * chain_now.length * size,
    )


def _limit(bone: bpy.types.PoseBone, start: Quaternion) -> Limit:
    """The limit of a bone; none where its numbers make no sense, which the panel says."""
    try:
        return read_limit(bone, start)
    except FabrikError:
        return FREE


def _point(role: str, goal: bpy.types.Object | None, bone: str, depsgraph: bpy.types.Depsgraph) -> Vector | None:
    try:
        return resolve_point(role, goal, bone, depsgraph) if goal is not None else None
    except FabrikError:
        return None


def _placed(
    chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], path: BonePath, world: Matrix, limits: Sequence[Limit]
) -> Iterable[Placed]:
    """The outlines of the limits, each in the frame in which it is given, at the bone's length."""
    rotations = [read_rotation(bone) for bone in bones]
    blocking = {bone.name for bone in chain.blocking_bones}
    away = Matrix.Translation(path.origin)
    for bone, frame, rotation, limit in zip(bones, path.frames(rotations), rotations, limits, strict=True):
        outline = limit.outline()
        if outline.swing or outline.twist:
            matrix = world @ away @ frame @ Matrix.Scale(bone.bone.length, 4)
            yield Placed(outline, matrix, rotation @ Vector((0.0, 1.0, 0.0)), bone.name in blocking)


def placed_limit(owner: bpy.types.Object, bone: bpy.types.PoseBone, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """From the rest frame of a bone, in which its limit is given, at the bone's length, to the world."""
    path = read_path(owner, [bone], depsgraph)
    frame = path.frames([read_rotation(bone)])[0]
    world = owner.evaluated_get(depsgraph).matrix_world
    return world @ Matrix.Translation(path.origin) @ frame @ Matrix.Scale(bone.bone.length, 4)


def _limited_reach(chain: Chain) -> tuple[float, ...]:
    """Least and greatest distance of the tip from the root within the limits; where drawn by chance, a little less."""
    if chain.is_free:
        return ()
    if chain.first_ball == 0:
        reaches = [place(chain, pose)[0][-1].length for pose in limb_path(chain)]
        return reaches[-1], reaches[0]
    random = Random(1)
    drawn = ([joint.limit.sample(random) for joint in chain.joints] for _ in range(SAMPLES))
    reaches = [place(chain, pose)[0][-1].length for pose in drawn]
    return min(reaches), max(reaches)
