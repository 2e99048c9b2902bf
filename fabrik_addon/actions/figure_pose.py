# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are solved together as they stand, to be compared with what a solve makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

import bpy
import numpy as np
from mathutils import Vector

from ..kernel import SOLVE_SPACE
from ..maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    Y_AXIS,
    Doubles,
    axes_of,
    conjugated,
    conjugates,
    distance,
    length,
    minus,
    multiplied,
    plus,
    products,
    q4,
    rotated,
    turn_about,
    turn_angle,
    turn_angles,
    unit,
    v3,
)
from ..rig.animation.channels import read_values, to_values
from ..rig.animation.keys import KeyedChannels
from ..rig.bones import pose_bones, resolve_bones
from ..rig.checks import check_rig
from ..rig.figure.chain_goal import ChainGoal
from ..rig.figure.figure import RigFigure
from ..rig.figure.groups import ChainSet, set_of
from ..rig.figure.kinematics import world_turn
from ..rig.figure.reader import frame_of, read_figure, read_goals
from ..rig.figure.solve import posed
from ..rig.figure.start_pose import is_animated
from ..rig.figure.uneven import ends_at
from ..rig.goal_kinds import GOAL_KINDS
from ..rig.goals import GoalPoints, into_frame, is_offset, offset_axes, out_of_frame, read_held
from ..rig.layers import OtherLayers, others_of
from ..rig.schema.chain import FabrikChain
from ..rig.spaces import carrier_of
from ..rig.targets import kind_of, resolve_point
from .solve import Item

SAME = 2e-4  # radians that a solve may turn a joint by rounding
CLOSER = 0.5  # share of what a solve turns that a new start pose has to leave, to be worth it
FARTHEST = 5.0  # widths of the soft zone beyond its beginning: nearer to full stretch no goal brings a limb
UNMOVED = 1e-5  # of a figure's size: an offset so short is none, so that the motion stays as it is
LEAST_RUN = 2  # joints of a limb that has no knee between them
UNTURNED = 3e-5  # radians, the same of a rotation
LEAST_LEFT = 1e-9  # widths that count as left to full stretch, so that there is a logarithm
Places = Mapping[str, Sequence[float]]  # points of the world by the names of chains


@dataclass(frozen=True, slots=True)
class FigurePose:
    """Chains that are solved together, as they stand, to be compared with what a solve makes of them.

    Attributes:
        chain_set: The chains.
        depsgraph: Evaluated.
        figure: The chains with their stored start pose.
        points: Where the goals of each are.
        rotations: The n rotations of the pose at hand.
        shift: The shift of the root at hand, in chain space.
    """

    chain_set: ChainSet
    depsgraph: bpy.types.Depsgraph
    figure: RigFigure
    points: tuple[GoalPoints, ...]
    rotations: list[Q4]
    shift: V3

    @classmethod
    def read(cls, chain_set: ChainSet, depsgraph: bpy.types.Depsgraph, given: Places | None = None) -> FigurePose:
        """Read chains that are solved together; effectors may be given places to go in place of the chains' targets.

        Raises:
            FabrikError: They can't be posed.
        """
        return cls.without_goals(chain_set, depsgraph, given or {}).with_goals(depsgraph, given or {})

    @classmethod
    def without_goals(cls, chain_set: ChainSet, depsgraph: bpy.types.Depsgraph, given: Places) -> FigurePose:
        """Read chains whose goals are read later, by `with_goals`; see `read`.

        Raises:
            FabrikError: They can't be posed.
        """
        owner = check_rig(chain_set.owner, depsgraph)
        figure = read_figure(chain_set, depsgraph, given=given)
        bones, root = pose_bones(owner), figure.root
        rotations = figure.standing(bones)
        shift = root.shift_for(bones[figure.bones[0]].location) if root is not None else ORIGIN
        return cls(chain_set, depsgraph, figure, (), rotations, shift)

    @classmethod
    def of(cls, item: Item, depsgraph: bpy.types.Depsgraph) -> FigurePose:
        """Read a chain and those that are solved with it.

        Raises:
            FabrikError: They can't be posed.
        """
        return cls.read(set_of(*item), depsgraph)

    def with_goals(self, depsgraph: bpy.types.Depsgraph, given: Places) -> FigurePose:
        """The same pose after goals were moved, or given elsewhere; see `read`.

        Raises:
            FabrikError: A goal can't be read.
        """
        points = read_goals(self.chain_set, self.figure, depsgraph, given)
        return replace(self, depsgraph=depsgraph, points=points)

    def with_places(self, targets: Places, poles: Places) -> FigurePose:
        """The same pose with targets and poles of some chains elsewhere in the world."""
        points = list(self.points)
        for chain, place in targets.items():
            k = self.index(chain)
            target = self.offset_to(k, place) if self.figure.goals[k].is_offset else self._framed(k, "target", place)
            points[k] = points[k]._replace(target=target)
        for chain, place in poles.items():
            k = self.index(chain)
            points[k] = points[k]._replace(pole=self._framed(k, "pole", place))
        return replace(self, points=tuple(points))

    def _framed(self, k: int, role: str, place: Sequence[float]) -> V3:
        """A point of the world in the space of the target or the pole of one of the chains."""
        return into_frame(self._posed, self.figure.frames(k).get(role, ""), place)

    def offset_to(self, k: int, place: Sequence[float]) -> V3:
        """The vector by which the k-th chain, an offset, is moved (`GoalPoints`) to come to a place in the world."""
        asked, space = self.figure.goals[k], self.figure.space
        if asked.frame != SOLVE_SPACE:
            return near_zero(minus(self._framed(k, "target", place), asked.start), self.figure.length)
        way = near_zero(minus(space.to_chain(place), asked.start), self.figure.length)
        return space.rig.to_world(minus(space.to_armature(way), space.origin))

    def turn_to(self, k: int, turn: Q4) -> Q4:
        """The rotation by which an offset chain is to be turned so that its last bone is turned as wanted in the world.

        Args:
            k: Which of the chains.
            turn: Of the world.
        """
        asked, space = self.figure.goals[k], self.figure.space
        if asked.turn_frame != SOLVE_SPACE:
            frame = world_turn(self._posed, pose_bones(self._posed)[self.figure.bones[asked.turn_frame]])
            return near_none(multiplied(multiplied(conjugated(frame), turn), conjugated(asked.start_turn)))
        by = near_none(multiplied(space.to_chain_turn(turn), conjugated(asked.start_turn)))
        to_world = space.to_world_turn(IDENTITY)
        return by if by == IDENTITY else multiplied(multiplied(to_world, by), conjugated(to_world))

    def control_at(self, chain: FabrikChain, place: Sequence[float]) -> tuple[Vector, list[float]]:
        """Location and rotation channels of the control of an offset chain that leave its tip turned as it stands.

        `place` is that of its effector in the world.
        """
        k, posed = self.index(chain.name), self._posed
        axes = offset_axes(self.figure.frames(k).get("target", ""), posed, chain.target_bone)
        held = read_held(posed, chain.tip_bone, chain.at_head)
        way, by, around = self.offset_to(k, place), self.turn_to(k, held.rotation), axes_of(axes)
        turned = by if by == IDENTITY else multiplied(multiplied(conjugated(around), by), around)
        others = self._others(chain.target, chain.target_bone)
        location, own = others.own(axes.to_3x3().inverted_safe() @ Vector(way), turned)
        assert chain.target is not None, "it has one"
        holder = kind_of(chain.target, chain.target_bone).holder(chain.target, chain.target_bone)
        return location, to_values(holder.rotation_mode, own, read_values(holder))

    def _others(self, found: bpy.types.Object | None, name: str) -> OtherLayers:
        """What a control is moved by in the layers of edits that are not at hand."""
        assert found is not None, "it has one"
        posed = found.evaluated_get(self.depsgraph)
        return others_of(posed, kind_of(posed, name).holder(posed, name))

    def offsets_for(self, places: Places) -> dict[str, Vector]:
        """The location channels of controls of offset chains in frames, so that a solve leads to places in the world.

        The bone in whose frame a control stands, a chest, may be elsewhere after that solve than in the pose at hand.
        """
        figure, found = self.figure, dict[str, Vector]()
        if not any(figure.goals[self.index(name)].frame != SOLVE_SPACE for name in places):
            return found
        rows = figure.solved(figure.numbers(self.points))
        heads, ends = np.array(rows.heads).reshape(-1, 3), np.array(rows.ends).reshape(-1, 3)
        frames = np.array(rows.frames).reshape(-1, 4)
        for name, place in places.items():
            k = self.index(name)
            asked, chain = figure.goals[k], self.chain_set.chains[k]
            if asked.frame != SOLVE_SPACE:
                stands = heads[asked.joints[-1]] if asked.at_head else ends[asked.joints[-1]]
                off = rotated(conjugated(q4(frames[asked.frame])), minus(figure.space.to_chain(place), v3(stands)))
                axes = offset_axes(figure.frames(k)["target"], self._posed, chain.target_bone).to_3x3()
                way = Vector(near_zero(plus(v3(self.points[k].target), off), figure.length))
                found[name] = self._others(chain.target, chain.target_bone).own(axes.inverted_safe() @ way, IDENTITY)[0]
        return found

    def pole_control_at(self, chain: FabrikChain) -> Vector:
        """The location channels of the pole of an offset chain that leave its bend: turned about the limb alone."""
        k, figure = self.index(chain.name), self.figure
        asked = figure.goals[k]
        frames = figure.solver.figure.placed(self.rotations).frames
        turn = frames[asked.pole_frame] if asked.pole_frame != SOLVE_SPACE else IDENTITY
        run = self.run(chain.name)
        angle, wanted = asked.pole_off(run, turn) if len(run) > LEAST_RUN else 0.0, Vector()
        if abs(angle) > UNTURNED:
            carrier = carrier_of(asked.swing, "pole", self._posed, chain.pole_bone)
            wanted = carrier.inverted_safe() @ Vector(rotated(turn_about(Y_AXIS, angle), asked.pole_at_rest))
        return self._others(chain.pole, chain.pole_bone).own(wanted, IDENTITY)[0]

    @property
    def _posed(self) -> bpy.types.Object:
        """The armature object as it was evaluated."""
        return self.owner.evaluated_get(self.depsgraph)

    def goals_off(self, other: FigurePose) -> float:
        """How far targets are from where they are in another pose of the chains, as a share of the figure's size."""
        pairs = zip(self.points, other.points, strict=True)
        off = max(distance(a.target, b.target) for a, b in pairs)
        return off / self.figure.space.world_length((self.figure.length, 0.0, 0.0))

    @property
    def owner(self) -> bpy.types.Object:
        """The armature object."""
        return self.chain_set.owner

    def index(self, chain: str) -> int:
        """The place of a chain among those that are solved with it."""
        return next(i for i, one in enumerate(self.figure.goals) if one.chain == chain)

    def goal_of(self, chain: str) -> ChainGoal:
        """What a chain asks for."""
        return self.figure.goals[self.index(chain)]

    def pole(self, chain: str) -> V3 | None:
        """Where the pole of a chain is in chain space, if it has one."""
        k = self.index(chain)
        pole = self.points[k].pole
        return pole if pole is None else self._in_chain_space(k, "pole", pole)

    def _in_chain_space(self, k: int, role: str, point: Sequence[float]) -> V3:
        """Where the target or the pole of one of the chains is in chain space, in the pose at hand."""
        return self.figure.space.to_chain(out_of_frame(self._posed, self.figure.frames(k).get(role, ""), point))

    @property
    def as_started(self) -> RigFigure:
        """The chains with the pose at hand as their start pose."""
        return self.figure.started(self.rotations, self.shift)

    def turned_by(self, figure: RigFigure) -> float:
        """How far a solve turns the joint that it turns most, in radians; a body's shift counts as shift over size."""
        rotations, shift = _solved(figure, self.points, self.owner, self.depsgraph)
        turned = float(turn_angles(products(conjugates(np.array(self.rotations)), rotations)).max())
        there, here = figure.space.to_armature(shift), self.figure.space.to_armature(self.shift)
        return max(turned, distance(there, here) / figure.length)

    @property
    def places(self) -> tuple[list[V3], list[V3]]:
        """The n heads and the n ends of the pose at hand, in chain space; see `uneven.ends_at`."""
        return ends_at(self.figure, self.rotations, self.shift, self.owner, self.depsgraph)

    def run(self, chain: str) -> list[V3]:
        """Where the joints of a chain that bend stand in the pose at hand, root to effector, in chain space."""
        (heads, ends), asked = self.places, self.goal_of(chain)
        joints = asked.joints[: asked.bent or len(asked.joints)]
        return [*(heads[i] for i in joints), ends[joints[-1]]]

    def pole_turn(self, chain: str) -> float:
        """Turn of the bend of a chain away from its pole in the pose at hand, radians."""
        return self.goal_of(chain).pole_turn(self.run(chain))

    def is_at_target(self, chain: str) -> bool:
        """Whether the effector of a chain stands on its target, within the tolerance."""
        (heads, ends), k = self.places, self.index(chain)
        asked = self.figure.goals[k]
        target, last = self.points[k].target, asked.joints[-1]
        if asked.is_offset:
            target = asked.numbers(self.figure.space, self.points[k])[:3]
        is_placed = asked.is_offset and "target" not in self.figure.frames(k)  # in chain space already
        wanted = target if is_placed else self._in_chain_space(k, "target", target)
        off = distance(heads[last] if asked.at_head else ends[last], wanted)
        return off <= self.figure.settings.tolerance * self.figure.length

    @property
    def is_animated(self) -> bool:
        """Whether keys or strips play the bones."""
        bones = pose_bones(self.owner)
        return is_animated(self.owner, [bones[name] for name in self.figure.bones], self.keyed)

    @property
    def keyed(self) -> KeyedChannels:
        """The curves of the armature."""
        return KeyedChannels(self.owner, frame_of(self.depsgraph))

    def start_to_keep(self, chain: str) -> list[Q4]:
        """The start pose that a chain will have after `keep`: n rotations, root to tip."""
        before, found = self.turned_by(self.figure), self.rotations
        if self.is_animated or before <= SAME or self.turned_by(self.as_started) > CLOSER * before:
            found = self.figure.starts
        return [found[i] for i in self.goal_of(chain).joints]


def near_zero(way: V3, size: float) -> V3:
    """A vector; none where it is so short that it is rounding, beside the size of a figure."""
    return way if length(way) > UNMOVED * size else ORIGIN


def near_none(turn: Q4) -> Q4:
    """A rotation; none where it is so little that it is rounding."""
    return turn if turn_angle(turn) > UNTURNED else IDENTITY


def _solved(
    figure: RigFigure, points: Sequence[GoalPoints], owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> tuple[Doubles, V3]:
    """The n rotations to which chains are solved, and the shift of their root in chain space."""
    if not figure.is_rigid or figure.influence < 1.0:
        found = posed(figure, points, owner, depsgraph)
        return found.rotations, found.shift
    rows = figure.solved(figure.numbers(points))
    return np.array(rows.rotations).reshape(-1, 4), v3(rows.shifts)


def tip_of(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, *, root: bool = False
) -> Vector:
    """Where the effector of a chain stands, in world space; or its root."""
    bones = resolve_bones(owner, chain)
    evaluated = owner.evaluated_get(depsgraph)
    poses = pose_bones(evaluated)
    tip = poses[bones[-1].name]
    place = poses[bones[0].name].head if root else tip.head if chain.at_head else tip.tail
    return evaluated.matrix_world @ place


def goal_point(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Where the target of a chain would leave its pose: at the effector, or for one that aims as far ahead as it is."""
    if not chain.aims:
        return tip_of(owner, chain, depsgraph)
    evaluated = owner.evaluated_get(depsgraph)
    tip = pose_bones(evaluated)[resolve_bones(owner, chain)[-1].name]
    head, away = evaluated.matrix_world @ tip.head, tip.length
    if chain.target is not None:
        target = resolve_point("target", chain.target, chain.target_bone, depsgraph)
        away = (target - head).length or away
    return head + away * Vector(unit(rotated(world_turn(evaluated, tip), v3(chain.aim_axis))))


def hard_place(owner: bpy.types.Object, chain: FabrikChain, place: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The point of the world that a goal is to have, so that the effector comes to a place there.

    That is the place itself, unless the chain gives way softly and is nearly straight. The kernel brings a goal at a
    distance d of the first joint, beyond d_a = L - s, down to L - s exp(-(d - d_a) / s), where L is the length of the
    chain and s its soft share of that; this is the way back. A chain that may stretch, or tells an offset, comes to its
    goal itself.

    Raises:
        FabrikError: The chain has no such bones.
    """
    if chain.soft <= 0.0 or chain.stretch > 1.0 or is_offset(chain) or "soft" not in GOAL_KINDS[chain.kind].settings:
        return place
    evaluated = owner.evaluated_get(depsgraph)
    bones = [pose_bones(evaluated)[bone.name] for bone in resolve_bones(owner, chain)]
    joints = [evaluated.matrix_world @ bone.head for bone in bones]
    joints += [] if chain.at_head else [evaluated.matrix_world @ bones[-1].tail]
    reach = sum((b - a).length for a, b in pairwise(joints))
    away, width = (place - joints[0]).length, chain.soft * reach
    if width <= 0.0 or away <= reach - width:
        return place
    over = min(-log(max(reach - away, LEAST_LEFT * width) / width), FARTHEST)
    return joints[0] + (place - joints[0]) * ((reach - width + over * width) / away)
