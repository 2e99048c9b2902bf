# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain as it stands, beside what a solve would make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan2, pi

import bpy
from mathutils import Vector

from ..kernel import Solver
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.checks import check_rig
from ..rig.goals import GoalPoints
from ..rig.keys import KeyedChannels
from ..rig.prepared import Prepared, frame_of, measured_at, mounted_path, read
from ..rig.properties import FabrikChain
from ..rig.rotations import (
    Q4,
    V3,
    conjugated,
    cross,
    dot,
    length,
    minus,
    multiplied,
    perpendicular,
    plus,
    rotated,
    turn_about,
    turn_angle,
)
from ..rig.start_pose import is_animated
from .order import Item
from .posing import posed

SAME = 2e-4  # radians that a solve may turn a joint by rounding
NO_SIDE = 1e-3  # share of the length: a pole nearer to the line from root to tip tells no side


@dataclass(frozen=True, slots=True)
class Standing:
    """A chain as it stands, to be compared with what a solve makes of it.

    Attributes:
        owner: The armature object.
        chain: Its chain.
        depsgraph: Evaluated.
        prepared: The chain with its stored start pose.
        points: Where its goals are.
        rotations: The n rotations of the pose at hand.
    """

    owner: bpy.types.Object
    chain: FabrikChain
    depsgraph: bpy.types.Depsgraph
    prepared: Prepared
    points: GoalPoints
    rotations: list[Q4]

    @classmethod
    def of(cls, item: Item, depsgraph: bpy.types.Depsgraph, point: Sequence[float] | None = None) -> Standing:
        """Read a chain.

        Args:
            item: The armature object and the chain.
            depsgraph: Evaluated.
            point: In the world, in place of the target.

        Raises:
            FabrikError: It can't be posed.
        """
        owner, chain = item
        check_rig(owner, depsgraph)
        prepared, points = read(owner, chain, depsgraph, point=point)
        bones = pose_bones(owner)
        rotations = [read_rotation(bones[name]) for name in prepared.bones]
        return cls(owner, chain, depsgraph, prepared, points, rotations)

    @property
    def bones(self) -> list[bpy.types.PoseBone]:
        """The bones of the chain."""
        found = pose_bones(self.owner)
        return [found[name] for name in self.prepared.bones]

    @property
    def as_started(self) -> Prepared:
        """The chain with the pose at hand as its start pose."""
        return self.prepared.started(self.rotations)

    def turned_by(self, prepared: Prepared) -> float:
        """How far a solve turns the joint that it turns most, in radians."""
        found = posed(prepared, self.points, self.owner, self.depsgraph).rotations
        pairs = zip(self.rotations, found, strict=True)
        return max(turn_angle(multiplied(conjugated(a), b)) for a, b in pairs)

    def leaves(self, pole: Vector) -> bool:
        """Whether a solve from the stored start pose leaves the pose at hand, with the pole at a point of the world."""
        there = replace(self, points=GoalPoints(self.points.target, pole))
        return there.turned_by(self.prepared) <= SAME

    def solver_with(self, starts: Sequence[Q4]) -> Solver:
        """The solver of the chain with n rotations as its start pose, measured at the pose at hand."""
        prepared = self.prepared.started(starts)
        if prepared.is_rigid:
            return prepared.solver
        path = mounted_path(prepared, self.owner, self.depsgraph)
        return Solver(measured_at(prepared, path, self.rotations))

    @property
    def is_at_target(self) -> bool:
        """Whether the tip stands on the target, within the tolerance."""
        tip = self.solver_with(self.rotations).figure.placed(self.rotations).joints[-1]
        off = length(minus(tip, self.prepared.space.to_chain(self.points.target)))
        return off <= self.prepared.settings.tolerance * self.prepared.length

    @property
    def is_animated(self) -> bool:
        """Whether keys or strips play the bones."""
        return is_animated(self.owner, self.bones, KeyedChannels(self.owner, frame_of(self.depsgraph)))


def tip_of(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, *, root: bool = False
) -> Vector:
    """Where the tip of a chain stands, in world space; or its root."""
    bones = resolve_bones(owner, chain)
    evaluated = owner.evaluated_get(depsgraph)
    poses = pose_bones(evaluated)
    return evaluated.matrix_world @ (poses[bones[0].name].head if root else poses[bones[-1].name].tail)


def pole_error(standing: Standing) -> float | None:
    """The angle by which the pole would have to be turned about the limb for the pose at hand to bend towards it.

    Right-handed about the line from root to tip, in (-pi, pi]; None where there is no pole, where the pose or the pole
    tells no side, or where no joint can turn the limb.
    """
    found = _bend_and_pole(standing)
    if found is None:
        return None
    along, side, away = found
    angle = atan2(dot(along, cross(away, side)), dot(away, side)) - standing.chain.pole_angle
    return pi - (pi - angle) % (2.0 * pi)


def turned_pole(standing: Standing, angle: float) -> Vector:
    """Where the pole stands in the world after it was turned about the limb by an angle; see `pole_error`."""
    space = standing.prepared.space
    bend = standing.solver_with(standing.rotations).bend(standing.rotations)
    assert bend is not None
    assert standing.points.pole is not None
    turn = turn_about(bend.along, angle)
    away = rotated(turn, minus(space.to_chain(standing.points.pole), bend.origin))
    return Vector(space.to_world(plus(bend.origin, away)))


def _bend_and_pole(standing: Standing) -> tuple[V3, V3, V3] | None:
    """The line from the turning joint to the tip, the side of the bend, and the way from the line to the pole."""
    if standing.points.pole is None:
        return None
    bend, prepared = standing.solver_with(standing.rotations).bend(standing.rotations), standing.prepared
    if bend is None or not bend.turns:
        return None
    away = perpendicular(minus(prepared.space.to_chain(standing.points.pole), bend.origin), bend.along)
    return (bend.along, bend.side, away) if length(away) > NO_SIDE * prepared.length else None


def held_to_pole(standing: Standing) -> Prepared:
    """The chain with the pose at hand as its start, bent away from its pole as the pose is, so that it stays so."""
    off = pole_error(standing)
    prepared = standing.as_started
    if off is None:
        return prepared
    return replace(prepared, pole_angle=prepared.pole_angle + off)
