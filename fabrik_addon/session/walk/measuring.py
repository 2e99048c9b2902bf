# SPDX-License-Identifier: GPL-3.0-or-later
"""The legs of a walker, measured in the rest pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import bpy
from mathutils import Matrix

from ...errors import BoneError, ChainError, RigError
from ...gait import Leg, arranged
from ...kernel import Point
from ...maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    cross,
    dot,
    length,
    minus,
    normalized,
    rotated,
    scaled,
    unit,
    v3,
)
from ...recognise.limbs import Limbs
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.control_bones import control_names
from ...rig.figures import ChainSet, alone, body_moves
from ...rig.preparing import FactsByRig, frame_of, prepare
from ...rig.schema import FabrikChain
from ...rig.skeleton import read_skeleton
from ...texts import Text

FRONT: V3 = (0.0, -1.0, 0.0)  # where a creature looks in the axes of its body
EVEN = 0.01  # by what share the scales of an armature along its axes may differ
ALIGNED = 0.9  # cosine: what the bones tell of where up is agrees with the world
ON_PLANE = 0.15  # of the leg's reach: a sole that is so little above the armature's floor stands on it
FAR, NEAR = 4.0, 1e-3  # of the leg's reach: how far a tip is pulled away, and brought near, to measure the leg
NOTHING = 1e-9  # of the bones' lengths: a leg whose end is so near its root has no direction
BEHIND = 0.3  # of the way from ankle to ball: how far the heel is behind the ankle where no bone tells


class Frame(NamedTuple):
    """The axes of a body at rest: it looks along -Y and stands along Z, its origin at the head of the body bone.

    Attributes:
        upright: From the axes of the armature.
        origin: Of the body, in armature space.
        size: Scene units of a unit of armature space.
    """

    upright: Q4
    origin: V3
    size: float

    def place(self, point: Sequence[float]) -> V3:
        """A point of armature space in the body's axes, in scene units."""
        return scaled(rotated(self.upright, minus(point, self.origin)), self.size)


def upright_of(owner: bpy.types.Object) -> Q4:
    """From the armature's axes to those of a creature that looks along -Y and stands along Z.

    It stands along the axis of the armature that is nearest to the world's Z. Where it looks is found from its bones;
    where these do not tell, it is -Y, or Z where the armature's Y is up.
    """
    skeleton = read_skeleton(owner, without=control_names(owner))
    up = _nearest_axis(skeleton.up)
    axes = Limbs(skeleton).axes
    forward = axes.forward if axes.forward is not None and dot(axes.up, up) > ALIGNED else None
    if forward is None:
        forward = FRONT if up[1] == 0.0 else (0.0, 0.0, up[1])
    forward = unit(minus(forward, scaled(up, dot(forward, up))))
    w, x, y, z = Matrix((cross(up, forward), scaled(forward, -1.0), up)).to_quaternion()
    return normalized((w, x, y, z))


def _nearest_axis(direction: V3) -> V3:
    """The axis to which a direction is nearest."""
    most = max(range(3), key=lambda i: abs(direction[i]))
    x, y, z = (float(i == most) if direction[most] > 0.0 else -float(i == most) for i in range(3))
    return x, y, z


def frame_for(owner: bpy.types.Object, body: str, upright: Sequence[float]) -> Frame:
    """The axes of a body.

    Args:
        owner: The armature object.
        body: Name of the body bone.
        upright: See `Frame`.

    Raises:
        RigError: The armature is mirrored, or scaled unevenly.
    """
    if owner.matrix_world.is_negative:
        raise RigError("its scale mirrors it, so that left and right are swapped: apply the scale", rig=owner.name)
    scale = v3(owner.matrix_world.to_scale())
    if max(scale) - min(scale) > EVEN * max(abs(value) for value in scale):
        raise RigError("its scale differs between its axes, so that it has no size to walk by", rig=owner.name)
    origin = v3(pose_bones(owner)[body].bone.head_local)
    return Frame(normalized(upright), origin, abs(sum(scale)) / 3.0)


def check_body(owner: bpy.types.Object, bone: str) -> None:
    """Refuse a body bone that can't be moved.

    Raises:
        BoneError: It is one.
    """
    if not body_moves(ChainSet(owner, (), bone)):
        reason = Text("as the body bone it must move, but it is connected to its parent, or its location is locked")
        raise BoneError(reason, rig=owner.name, bone=bone)


def sole_of(chain_tip: bpy.types.PoseBone, effector: str, frame: Frame) -> list[V3]:
    """Points of a foot in the body's axes: those of the tip bone and of what hangs on it; of a bare tip that alone."""
    if effector == "TAIL" and not chain_tip.children:
        return [frame.place(chain_tip.bone.tail_local)]
    bones = [chain_tip, *chain_tip.children_recursive] if effector == "HEAD" else chain_tip.children_recursive
    ends = [frame.place(bone.bone.tail_local) for bone in bones]
    return [*ends, frame.place(chain_tip.bone.head_local if effector == "HEAD" else chain_tip.bone.tail_local)]


def measured(owner: bpy.types.Object, chains: Sequence[FabrikChain], frame: Frame) -> tuple[Leg, ...]:
    """The legs that chains are, with side, row and group.

    Args:
        owner: The armature object.
        chains: Of it.
        frame: The axes of its body.

    Raises:
        FabrikError: A chain can't be posed, or has no length.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    facts = FactsByRig(frame_of(depsgraph))
    return arranged([_leg(owner, chain, frame, (depsgraph, facts)) for chain in chains], FRONT)


Read = tuple[bpy.types.Depsgraph, FactsByRig]


def _leg(owner: bpy.types.Object, chain: FabrikChain, frame: Frame, seen: Read) -> Leg:
    bones = resolve_bones(owner, chain)
    tip, is_head = bones[-1], chain.effector == "HEAD"
    if is_head and len(bones) < 2:
        raise ChainError("a leg has at least one bone above its foot", rig=owner.name, chain=chain.name)
    hip = hip_of(owner, chain, frame)
    ankle = frame.place(tip.bone.head_local if is_head else tip.bone.tail_local)
    sole = sole_of(tip, chain.effector, frame)
    floor = _floor(frame, min(point[2] for point in sole), length(minus(hip, ankle)))
    home = (ankle[0], ankle[1], floor if len(sole) > 1 else ankle[2])
    leg = Leg(chain.name, home, hip, 1.0, 0.0, minus(ankle, home))
    longest, shortest = _reach(owner, chain, seen)
    leg = replace(leg, reach=frame.size * longest, shortest=frame.size * shortest)
    return leg if len(sole) == 1 else _with_foot(leg, tip, is_head, frame)


def hip_of(owner: bpy.types.Object, chain: FabrikChain, frame: Frame) -> V3:
    """Where the first joint of a leg is at rest, in the body's axes, scene units."""
    return frame.place(resolve_bones(owner, chain)[0].bone.head_local)


def _floor(frame: Frame, lowest: float, size: float) -> float:
    """The height of the sole: that of the armature's floor where the lowest bones are a little above it."""
    plane = frame.place((0.0, 0.0, 0.0))[2]
    return plane if 0.0 <= lowest - plane <= ON_PLANE * size else lowest


def _with_foot(leg: Leg, tip: bpy.types.PoseBone, is_head: bool, frame: Frame) -> Leg:
    """A leg with heel and ball, as far as its foot has a length along the ground."""
    foot = tip if is_head else tip.children[0]
    toe = next(iter(foot.children), None)
    end = frame.place(toe.bone.head_local if toe is not None else foot.bone.tail_local)
    ball = (end[0] - leg.home[0], end[1] - leg.home[1], 0.0)
    return replace(leg, ball=ball, heel=scaled(ball, -BEHIND))


def _reach(owner: bpy.types.Object, chain: FabrikChain, seen: Read) -> tuple[float, float]:
    """Greatest and least distance of the effector from the first joint within limits, in armature space.

    The effector is pulled away from the joint, and brought near it, along the leg as it is at rest.
    """
    depsgraph, facts = seen
    prepared = prepare(alone(owner, chain), depsgraph, facts)
    solver, last = prepared.solver, len(prepared.bones) - 1
    is_head = chain.effector == "HEAD"

    def tip_of(rotations: Sequence[Q4]) -> V3:
        placed = solver.figure.placed(rotations)
        return placed.heads[last] if is_head else placed.ends[last]

    lengths = solver.figure.lengths
    size = sum(lengths[i] for i in range(last if is_head else last + 1))
    rest = tip_of([IDENTITY] * (last + 1))
    if not length(rest) > NOTHING * size:
        raise ChainError("its end stands on its root, so that it has no length", rig=owner.name, chain=chain.name)
    found = []
    for share in (FAR, NEAR):
        goal = Point(last, scaled(unit(rest), share * size), 1.0, ORIGIN if is_head else None)
        found.append(length(tip_of(solver.solve([goal], prepared.settings).rotations)))
    return min(found[0], size), min(found[1], found[0])
