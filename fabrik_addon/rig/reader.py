# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature to what the kernel solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError, FabrikError
from ..kernel.limits import Limit
from ..kernel.model import Chain, Goal, Settings
from .chain_bones import pose_bones, resolve_bones
from .checks import Movers, check_bones, check_goal, movers_of
from .joint_limits import read_limit, read_stiffness
from .kinematics import BonePath
from .properties import FabrikChain
from .start_pose import read_start
from .targets import resolve_point


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one solve of one chain needs; valid until anything in the scene changes.

    The solve runs in armature space relative to the root: for every matrix of the armature object, sheared and
    mirrored ones included, the bones keep their lengths there, and there are no large coordinates.

    Attributes:
        chain: The chain as stored.
        bones: n original pose bones, root to tip.
        path: Their evaluated kinematics.
        starts: n rotations of the start pose.
        limits: n limits.
        stiffness: n numbers from 0 to 1.
        goal: Target and pole in armature space relative to the root.
        settings: How to solve.
        world: World matrix of the armature object.
        origin: Head of the first bone in armature space.
    """

    chain: FabrikChain
    bones: list[bpy.types.PoseBone]
    path: BonePath
    starts: list[Quaternion]
    limits: list[Limit]
    stiffness: list[float]
    goal: Goal
    settings: Settings
    world: Matrix
    origin: Vector

    def measured(self, rotations: Sequence[Quaternion]) -> Chain:
        """The kernel's chain, measured at a pose."""
        return self.path.measure(rotations, self.starts, self.limits, self.stiffness)

    def world_distance(self, vector: Vector) -> float:
        """Length in scene units of a vector of armature space."""
        return float((self.world.to_3x3() @ vector).length)


def read_path(owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], depsgraph: bpy.types.Depsgraph) -> BonePath:
    """The kinematics of bones, root to tip, as evaluated."""
    evaluated = pose_bones(owner.evaluated_get(depsgraph))
    return BonePath.of([evaluated[bone.name] for bone in bones])


def read(
    owner: bpy.types.Object,
    chain: FabrikChain,
    depsgraph: bpy.types.Depsgraph,
    point: Vector | None = None,
    movers: Movers | None = None,
) -> Reading:
    """Read one chain and its goal.

    Args:
        owner: An armature object that can be posed (`checks.check_rig`).
        chain: One of its chains.
        depsgraph: Evaluated for the frame in question.
        point: Where the tip is to go, in world space, in place of the chain's target.
        movers: What else moves the armature's bones, where many chains are read at once.

    Raises:
        FabrikError: The chain can't be solved; the error names the chain and, where one is at fault, the bone.
    """
    try:
        return _read(owner, chain, depsgraph, point, movers or movers_of(owner))
    except FabrikError as error:
        error.chain = error.chain or chain.name
        raise


def _read(
    owner: bpy.types.Object,
    chain: FabrikChain,
    depsgraph: bpy.types.Depsgraph,
    point: Vector | None,
    movers: Movers,
) -> Reading:
    bones = resolve_bones(owner, chain)
    path = read_path(owner, bones, depsgraph)
    check_bones(owner, bones, movers)
    if point is None:
        check_goal(owner, chain, bones)
    starts = read_start(owner, chain, bones, frame_of(depsgraph))
    limits = [read_limit(bone, start) for bone, start in zip(bones, starts, strict=True)]
    starts = [limit.clamp(start) for limit, start in zip(limits, starts, strict=True)]
    world = owner.evaluated_get(depsgraph).matrix_world.copy()
    origin = path.origin
    if path.parent is not None and not path.parent.to_3x3().determinant():
        raise ChainError(f"the parent of its first bone '{bones[0].name}' has no scale", chain=chain.name)
    target = point
    if target is None:
        assert chain.target is not None
        target = resolve_point("target", chain.target, chain.target_bone, depsgraph)
    pole = resolve_point("pole", chain.pole, chain.pole_bone, depsgraph) if chain.pole else None
    goal = Goal(
        to_root(world, origin, target), to_root(world, origin, pole) if pole is not None else None, chain.pole_angle
    )
    settings = Settings(chain.tolerance, chain.max_passes, chain.use_plain)
    stiffness = [read_stiffness(bone) for bone in bones]
    return Reading(chain, bones, path, starts, limits, stiffness, goal, settings, world, origin)


def frame_of(depsgraph: bpy.types.Depsgraph) -> float:
    """The frame, sub-frame included, of a depsgraph."""
    assert depsgraph.scene is not None
    return float(depsgraph.scene.frame_current_final)


def to_root(world: Matrix, origin: Vector, point: Vector) -> Vector:
    """A world point in armature space relative to the root.

    The large parts of the numbers are subtracted before the matrix is applied, which keeps the digits of a rig that
    stands far from the origin.
    """
    return world.to_3x3().inverted() @ (point - world.translation) - origin
