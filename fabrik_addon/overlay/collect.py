# SPDX-License-Identifier: GPL-3.0-or-later
"""From chains of an armature to the pictures that are drawn of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import FabrikError
from ..kernel import FREE, Figure, Joint, Limit, Solver
from ..maths import Q4, V3, Y_AXIS, distance, length, rotated, v3
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.joint_limits import read_limit
from ..rig.joints import path_of
from ..rig.keys import KeyedChannels
from ..rig.kinematics import BoneTree
from ..rig.preparing import frame_of
from ..rig.schema import FabrikChain
from ..rig.start_pose import read_start
from ..rig.targets import resolve_point
from .collect_asked import asked_picture
from .collect_starts import starts_together
from .shapes import Picture, PlacedOutline

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
    found, wanted = [], list(chains)
    starts = starts_together(owner, [chain.name for chain in wanted], depsgraph)
    for chain in wanted:
        try:
            picture = _picture(owner, chain, depsgraph, with_limited_reach)
        except FabrikError:
            continue
        found.append(replace(picture, before=starts.get(chain.name, picture.before)))
    return found


def _picture(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, with_limited_reach: bool
) -> Picture:
    bones = resolve_bones(owner, chain)
    path = path_of(owner, [bone.name for bone in bones], depsgraph)
    evaluated = owner.evaluated_get(depsgraph)
    world = evaluated.matrix_world.copy()
    poses = [pose_bones(evaluated)[bone.name] for bone in bones]
    joints = (*(v3(world @ pose.head) for pose in poses), v3(world @ poses[-1].tail))
    starts = read_start(owner, chain, bones, KeyedChannels(owner, frame_of(depsgraph)))
    limits = [_limit(bone, start) for bone, start in zip(bones, starts, strict=True)]
    starts = [limit.clamped(start) for limit, start in zip(limits, starts, strict=True)]
    size = sum(distance(a, b) for a, b in pairwise(joints)) / _solver(path, starts, limits).figure.size
    count = 0 if chain.kind == "AIM" else len(bones) - (chain.effector == "HEAD")
    solver = _solver(path, starts, limits, count) if count else None
    asked = asked_picture(chain, poses[-1], joints, depsgraph)
    chain_axes = world @ Matrix.Translation(poses[0].head) @ Quaternion(path.base).to_matrix().to_4x4()
    return Picture(
        joints,
        tuple(v3(chain_axes @ Vector(joint)) for joint in path.place(starts)),
        asked.target,
        _pole(chain, depsgraph),
        tuple(_placed(chain, bones, path, world @ Matrix.Translation(poses[0].head), limits)),
        tuple(radius * size for radius in solver.reach) if solver is not None else (),
        tuple(radius * size for radius in _limited_reach(solver)) if solver is not None and with_limited_reach else (),
        asked.is_reached,
        asked.effector,
        asked.turn,
        asked.soft,
        asked.aim,
    )


def _solver(path: BoneTree, starts: Sequence[Q4], limits: Sequence[Limit], count: int | None = None) -> Solver:
    """The kernel's solver for a chain as it stands in its start pose, or for its first so many bones."""
    bones = list(zip(path.segments(starts), starts, limits, strict=True))[:count]
    return Solver(Figure([Joint(one.vector, one.rest, start, limit, one.inherits) for one, start, limit in bones]))


def _limit(bone: bpy.types.PoseBone, start: Q4) -> Limit:
    """The limit of a bone; none where its numbers make no sense, which the panel says."""
    try:
        return read_limit(bone, start)
    except FabrikError:
        return FREE


def _pole(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> V3 | None:
    """Where the pole of a chain stands in the world; None where it has none, or none that can be read."""
    try:
        return v3(resolve_point("pole", chain.pole, chain.pole_bone, depsgraph)) if chain.pole is not None else None
    except FabrikError:
        return None


def _placed(
    chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], path: BoneTree, root: Matrix, limits: Sequence[Limit]
) -> Iterable[PlacedOutline]:
    """The outlines of the limits, each in the frame in which it is given, at the bone's length.

    Args:
        chain: The chain.
        bones: Its n bones.
        path: The same.
        root: From the axes of the armature, at the head of the first bone, to the world.
        limits: n limits.
    """
    rotations = [read_rotation(bone) for bone in bones]
    blocking = {bone.name for bone in chain.blocking_bones}
    for bone, frame, rotation, limit in zip(bones, path.frames(rotations), rotations, limits, strict=True):
        outline = limit.outline()
        if outline.swing or outline.twist:
            matrix = root @ frame @ Matrix.Scale(bone.bone.length, 4)
            yield PlacedOutline(outline, matrix, rotated(rotation, Y_AXIS), bone.name in blocking)


def placed_limit(owner: bpy.types.Object, bone: bpy.types.PoseBone, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """From the rest frame of a bone, in which its limit is given, at the bone's length, to the world."""
    frame = path_of(owner, [bone.name], depsgraph).frames([read_rotation(bone)])[0]
    evaluated = owner.evaluated_get(depsgraph)
    head = Matrix.Translation(pose_bones(evaluated)[bone.name].head)
    return evaluated.matrix_world @ head @ frame @ Matrix.Scale(bone.bone.length, 4)


def _limited_reach(solver: Solver) -> tuple[float, ...]:
    """Least and greatest distance of the tip from the root within the limits; where drawn by chance, a little less."""
    figure = solver.figure
    if all(limit.is_free for limit in figure.joint_limits):
        return ()
    limb = solver.limb_reach
    if limb is not None and limb[2] == 0:
        return limb[:2]
    random = Random(1)
    drawn = ([_drawn(limit, random) for limit in figure.joint_limits] for _ in range(SAMPLES))
    reaches = [length(figure.placed(pose).joints[-1]) for pose in drawn]
    return min(reaches), max(reaches)


def _drawn(limit: Limit, random: Random) -> Q4:
    """An allowed rotation."""
    return limit.drawn(random.random(), random.random(), random.random())
