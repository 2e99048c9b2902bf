# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain as it stands, beside what a solve would make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan2, pi
from typing import NamedTuple

import bpy
from mathutils import Vector

from ..kernel import Solver
from ..maths import (
    ORIGIN,
    Q4,
    V3,
    conjugated,
    cross,
    distance,
    dot,
    length,
    minus,
    multiplied,
    perpendicular,
    plus,
    rotated,
    turn_about,
    turn_angle,
    unit,
    v3,
)
from ..rig.asked import Asked
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.checks import check_rig
from ..rig.figures import ChainSet, set_of
from ..rig.goals import GoalPoints
from ..rig.keys import KeyedChannels
from ..rig.kinematics import world_turn
from ..rig.measured import ends_at, measured_at, mounted_path
from ..rig.prepared import Prepared
from ..rig.preparing import frame_of, read
from ..rig.schema import FabrikChain
from ..rig.start_pose import is_animated
from ..rig.targets import resolve_point
from .bend_error import bend_side
from .order import Item
from .posing import posed

SAME = 2e-4  # radians that a solve may turn a joint by rounding
NO_SIDE = 1e-3  # share of the length: a pole nearer to the line from root to tip tells no side


@dataclass(frozen=True, slots=True)
class Standing:
    """A chain and those that are solved with it, as they stand, to be compared with what a solve makes of them.

    Attributes:
        chain_set: The chains.
        chain: The one that is asked about.
        depsgraph: Evaluated.
        prepared: The chains with their stored start pose.
        points: Where the goals of each are.
        rotations: The n rotations of the pose at hand.
        shift: The shift of the root at hand, in chain space.
    """

    chain_set: ChainSet
    chain: FabrikChain
    depsgraph: bpy.types.Depsgraph
    prepared: Prepared
    points: tuple[GoalPoints, ...]
    rotations: list[Q4]
    shift: V3

    @classmethod
    def of(cls, item: Item, depsgraph: bpy.types.Depsgraph, point: Sequence[float] | None = None) -> Standing:
        """Read a chain and those that are solved with it.

        Args:
            item: The armature object and the chain.
            depsgraph: Evaluated.
            point: In the world, in place of the chain's target.

        Raises:
            FabrikError: They can't be posed.
        """
        owner, chain = item
        return cls.of_set(set_of(owner, chain, is_given=point is not None), chain, depsgraph, point)

    @classmethod
    def of_set(
        cls,
        chain_set: ChainSet,
        chain: FabrikChain,
        depsgraph: bpy.types.Depsgraph,
        point: Sequence[float] | None = None,
    ) -> Standing:
        """Read chains that are solved together, one of which is asked about; see `of`.

        Raises:
            FabrikError: They can't be posed.
        """
        check_rig(chain_set.owner, depsgraph)
        prepared, points = read(chain_set, depsgraph, points={} if point is None else {chain.name: point})
        bones = pose_bones(chain_set.owner)
        rotations = [read_rotation(bones[name]) for name in prepared.bones]
        root = prepared.root
        shift = root.shift_for(bones[prepared.bones[0]].location) if root is not None else ORIGIN
        return cls(chain_set, chain, depsgraph, prepared, points, rotations, shift)

    @property
    def owner(self) -> bpy.types.Object:
        """The armature object."""
        return self.chain_set.owner

    @property
    def index(self) -> int:
        """The place of the chain among those that are solved with it."""
        return self.chain_set.names.index(self.chain.name)

    @property
    def asked(self) -> Asked:
        """What the chain asks for."""
        return self.prepared.asked[self.index]

    @property
    def own(self) -> GoalPoints:
        """Where the goals of the chain are."""
        return self.points[self.index]

    @property
    def bones(self) -> list[bpy.types.PoseBone]:
        """The bones of all the chains."""
        found = pose_bones(self.owner)
        return [found[name] for name in self.prepared.bones]

    @property
    def as_started(self) -> Prepared:
        """The chains with the pose at hand as their start pose."""
        return self.prepared.started(self.rotations, self.shift)

    def turned_by(self, prepared: Prepared) -> float:
        """How far a solve turns the joint that it turns most, in radians; a body's shift counts as shift over size."""
        found = posed(prepared, self.points, self.owner, self.depsgraph)
        pairs = zip(self.rotations, found.rotations, strict=True)
        turned = max(turn_angle(multiplied(conjugated(a), b)) for a, b in pairs)
        there, here = prepared.space.to_armature(found.shift), self.prepared.space.to_armature(self.shift)
        return max(turned, distance(there, here) / prepared.length)

    def leaves(self, pole: Vector) -> bool:
        """Whether a solve from the stored start pose leaves the pose at hand, with the pole at a point of the world."""
        points = list(self.points)
        points[self.index] = self.own._replace(pole=pole)
        return replace(self, points=tuple(points)).turned_by(self.prepared) <= SAME

    @property
    def places(self) -> tuple[list[V3], list[V3]]:
        """The n heads and the n ends of the pose at hand, in chain space; see `prepared.ends_at`."""
        return ends_at(self.prepared, self.rotations, self.shift, self.owner, self.depsgraph)

    @property
    def is_at_target(self) -> bool:
        """Whether the effector of the chain stands on its target, within the tolerance."""
        heads, ends = self.places
        last = self.asked.joints[-1]
        effector = heads[last] if self.asked.at_head else ends[last]
        off = distance(effector, self.prepared.space.to_chain(self.own.target))
        return off <= self.prepared.settings.tolerance * self.prepared.length

    @property
    def is_animated(self) -> bool:
        """Whether keys or strips play the bones."""
        return is_animated(self.owner, self.bones, KeyedChannels(self.owner, frame_of(self.depsgraph)))


def tip_of(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, *, root: bool = False
) -> Vector:
    """Where the effector of a chain stands, in world space; or its root."""
    bones = resolve_bones(owner, chain)
    evaluated = owner.evaluated_get(depsgraph)
    poses = pose_bones(evaluated)
    tip = poses[bones[-1].name]
    place = poses[bones[0].name].head if root else tip.head if chain.effector == "HEAD" else tip.tail
    return evaluated.matrix_world @ place


def goal_point(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Where the target of a chain would leave its pose: at the effector, or for one that aims as far ahead as it is."""
    if chain.kind != "AIM":
        return tip_of(owner, chain, depsgraph)
    evaluated = owner.evaluated_get(depsgraph)
    tip = pose_bones(evaluated)[resolve_bones(owner, chain)[-1].name]
    head, away = evaluated.matrix_world @ tip.head, tip.length
    if chain.target is not None:
        target = resolve_point("target", chain.target, chain.target_bone, depsgraph)
        away = (target - head).length or away
    return head + away * Vector(unit(rotated(world_turn(evaluated, tip), v3(chain.aim_axis))))


def pole_error(standing: Standing) -> float | None:
    """The angle by which the pole would have to be turned about the limb for the pose at hand to bend towards it.

    Right-handed about the line from root to tip, in (-pi, pi]; None where there is no pole, where the pose or the pole
    tells no side, or where no joint can turn the limb.
    """
    bend, pole = bend_of(standing), standing.own.pole
    if bend is None or pole is None or not bend.turns:
        return None
    away = perpendicular(minus(standing.prepared.space.to_chain(pole), bend.origin), bend.along)
    if length(away) <= NO_SIDE * standing.prepared.length:
        return None
    angle = atan2(dot(bend.along, cross(away, bend.side)), dot(away, bend.side)) - standing.chain.pole_angle
    return pi - (pi - angle) % (2.0 * pi)


def turned_pole(standing: Standing, angle: float) -> Vector:
    """Where the pole stands in the world after it was turned about the limb by an angle; see `pole_error`."""
    space, bend = standing.prepared.space, bend_of(standing)
    assert bend is not None
    assert standing.own.pole is not None
    turn = turn_about(bend.along, angle)
    away = rotated(turn, minus(space.to_chain(standing.own.pole), bend.origin))
    return Vector(space.to_world(plus(bend.origin, away)))


class SeenBend(NamedTuple):
    """How the pose at hand bends, in chain space.

    Attributes:
        origin: About which it would be turned.
        along: Unit vector, the line about which it would be turned.
        side: Unit vector to which it bends.
        turns: Whether a joint can turn it.
    """

    origin: V3
    along: V3
    side: V3
    turns: bool


def bend_of(standing: Standing) -> SeenBend | None:
    """How the chain bends in the pose at hand; None where it does to no side."""
    prepared = standing.prepared
    if prepared.is_chain and not standing.asked.at_head:
        found = _solver_at(standing).bend(standing.rotations)
        return None if found is None else SeenBend(found.origin, found.along, found.side, found.turns)
    heads, ends = standing.places
    side = bend_side(standing.asked, heads, ends)
    if side is None:
        return None
    first, last = standing.asked.joints[0], standing.asked.joints[-1]
    along = unit(minus(heads[last] if standing.asked.at_head else ends[last], heads[first]))
    return SeenBend(heads[first], along, unit(side), not prepared.limits[first].is_fixed)


def _solver_at(standing: Standing) -> Solver:
    """The solver of a chain with the pose at hand as its start pose, measured there."""
    prepared = standing.as_started
    if prepared.is_rigid:
        return prepared.solver
    path = mounted_path(prepared, standing.owner, standing.depsgraph)
    return Solver(measured_at(prepared, path, standing.rotations))


def held_to_pole(standing: Standing) -> Prepared:
    """The chains with the pose at hand as their start, and the pole angle of the one by which it bends as it stands."""
    off = pole_error(standing)
    prepared = standing.as_started
    if off is None:
        return prepared
    asked = list(prepared.asked)
    own = asked[standing.index]
    asked[standing.index] = own._replace(pole_angle=own.pole_angle + off)
    return prepared.asking(asked)
