# SPDX-License-Identifier: GPL-3.0-or-later
"""How limbs bend: to which side a pose does, how far that is off a pole, and hinges for the side of the rest pose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import atan2, degrees, pi, radians
from typing import Any

import bpy
from mathutils import Vector

from ..kernel import Bend, BendSide, Point, Solver
from ..maths import (
    ORIGIN,
    V3,
    angle_between,
    any_perpendicular,
    cross,
    distance,
    dot,
    length,
    minus,
    perpendicular,
    plus,
    rotated,
    scaled,
    turn_about,
    unit,
)
from ..recognise.limbs import Limbs, begins_limb, is_second_half, own_axis
from ..recognise.limbs import bend_of as rest_bend_of
from ..recognise.part import ramp
from ..rig.bones import pose_bones
from ..rig.figure.chain_goal import ChainGoal
from ..rig.figure.figure import RigFigure
from ..rig.figure.uneven import ends_at, measured_at, mounted_path
from ..rig.goals import GoalPoints
from ..rig.schema import limit_of
from ..texts import Text
from .figure_pose import SAME, FigurePose

LEAST_DISTANCE = 0.2  # of a pole from the limb, as a share of its length: nearer it tells no direction
NO_SIDE = 1e-3  # share of the length: a pole nearer to the line from root to tip tells no side
ON_LINE = 1e-6  # share of the way from root to effector: a joint nearer to the line between them tells no side
NEAR = 1.0  # degrees by which two bends may differ and count as the same
APART = 0.01  # share of the limb's length by which joints may differ and count as the same
SAME_SIDE = 0.5  # cosine of the angle to the toes, seen along a leg, within which it is a knee that bends
STRAIGHT_KNEE, TELLS_SIDE = radians(5.0), radians(60.0)  # bend at which the toes, or the knee, tell the side alone
STRAIGHT = 1e-4  # share of the length within which a limb shows no bend


def joints_of(owner: bpy.types.Object, names: Sequence[str], depsgraph: bpy.types.Depsgraph) -> list[V3]:
    """The joints of bones as evaluated, relative to the first, in armature space."""
    bones = pose_bones(owner.evaluated_get(depsgraph))
    poses = [bones[name] for name in names]
    points = [*(pose.head for pose in poses), poses[-1].tail]
    return [minus(point, points[0]) for point in points]


def solved_joints(figure: RigFigure, points: Sequence[GoalPoints]) -> list[list[V3]]:
    """The joints of each chain as they are solved together, relative to its first, in armature space."""
    solution = figure.solver.solve(figure.goals_at(figure.numbers(points)), figure.settings, explain=False)
    placed = figure.solver.figure.placed(solution.rotations, solution.shift)
    found = []
    for one in figure.goals:
        joints = [*(placed.heads[i] for i in one.joints), placed.ends[one.joints[-1]]]
        found.append([rotated(figure.space.turn, minus(joint, joints[0])) for joint in joints])
    return found


def differences(joints: Sequence[V3], stood: Sequence[V3], length: float) -> list[str]:
    """What there is to say of a limb's joints and where they stood before, relative to the first."""
    apart = max(distance(a, b) for a, b in zip(joints, stood, strict=True)) / length
    turned = degrees(abs(bend_between(joints, stood) or 0.0))
    if turned > NEAR:
        return [Text("it bends {turned:.0f}° away from where it bent", turned=turned)]
    if apart > APART:
        return [Text("its joints stand up to {apart:.0%} of the length away from where they stood", apart=apart)]
    return []


def bend_between(joints: Sequence[V3], others: Sequence[V3]) -> float | None:
    """The turn about root to tip that brings a limb's inner joints nearest to another's; None if it is straight."""
    along = unit(joints[-1])
    sine = cosine = 0.0
    for a, b in zip(joints[1:-1], others[1:-1], strict=True):
        first, second = perpendicular(a, along), perpendicular(b, along)
        sine += dot(along, cross(first, second))
        cosine += dot(first, second)
    return atan2(sine, cosine) if abs(sine) + abs(cosine) > STRAIGHT**2 * dot(joints[-1], joints[-1]) else None


def bend_of(pose: FigurePose, chain: str) -> BendSide | None:
    """How a chain bends in the pose at hand, in chain space; None where it does to no side."""
    figure, asked = pose.figure, pose.goal_of(chain)
    if figure.is_chain and not asked.at_head:
        return _solver_at(pose).bend(pose.rotations)
    heads, ends = pose.places
    first, last = asked.joints[0], asked.joints[-1]
    line = minus(heads[last] if asked.at_head else ends[last], heads[first])
    side = _side_of(asked, heads, line)
    if side is None:
        return None
    return BendSide(first, heads[first], unit(line), unit(side), not figure.limits[first].is_fixed)


def _side_of(asked: ChainGoal, heads: Sequence[V3], line: V3) -> V3 | None:
    """The way from the line from root to effector to the inner joint that stands farthest off it; None where none does.

    All is in chain space: heads of the figure's bones, and the line.
    """
    root, along = heads[asked.joints[0]], unit(line)
    inner = asked.joints[1:-1] if asked.at_head else asked.joints[1:]
    side = max((perpendicular(minus(heads[i], root), along) for i in inner), key=length, default=ORIGIN)
    if asked.has_pole and not Bend(0, ORIGIN, fades=asked.pole_fades).tells_side(length(side), length(line)):
        return None
    return side if length(side) > ON_LINE * length(line) else None


def _solver_at(pose: FigurePose) -> Solver:
    """The solver of a chain with the pose at hand as its start pose, measured there."""
    figure = pose.as_started
    if figure.is_rigid:
        return figure.solver
    return measured_at(figure, mounted_path(figure, pose.owner, pose.depsgraph), pose.rotations)


def pole_error(pose: FigurePose, chain: str) -> float | None:
    """The angle by which a pole would have to be turned about its limb for the pose at hand to bend towards it.

    Right-handed about the line from root to tip, in (-pi, pi]; None where there is no pole, where the pose or the pole
    tells no side, or where no joint can turn the limb.
    """
    found = turned_pole(pose, chain)
    return None if found is None else found[0]


def turned_pole(pose: FigurePose, chain: str) -> tuple[float, Vector] | None:
    """The angle of `pole_error`, and where the pole stands in the world after it was turned by it."""
    if pose.goal_of(chain).is_offset:  # whose pole tells no side, but how far it is turned from that of its motion
        return None
    pole, space = pose.pole(chain), pose.figure.space
    bend = bend_of(pose, chain) if pole is not None else None
    if bend is None or pole is None or not bend.turns:
        return None
    off = minus(pole, bend.origin)
    away = perpendicular(off, bend.along)
    if length(away) <= NO_SIDE * pose.figure.length:
        return None
    angle = atan2(dot(bend.along, cross(away, bend.side)), dot(away, bend.side)) - pose.pole_turn(chain)
    angle = pi - (pi - angle) % (2.0 * pi)
    return angle, Vector(space.to_world(plus(bend.origin, rotated(turn_about(bend.along, angle), off))))


def pole_beside(pose: FigurePose, chain: str, tip: Sequence[float]) -> Vector | None:
    """A point on the side to which a limb bends, as far from it as its pole is now; None for a straight limb.

    The bend is that which a solve sees: from the stored start pose where it leads here, or the limb is animated and so
    keeps that; else from the pose at hand, which becomes the start pose.
    """
    figure, asked = pose.figure, pose.goal_of(chain)
    if figure.is_chain and not asked.at_head:
        point = _point_for_stored(pose)
        is_kept = point is not None and pose.with_places({}, {chain: point}).turned_by(figure) <= SAME
        if is_kept or pose.is_animated:
            return point
    bend, pole = bend_of(pose, chain), pose.pole(chain)
    if bend is None or pole is None:
        return None
    space = figure.space
    away = perpendicular(minus(pole, bend.origin), bend.along)
    side = rotated(turn_about(bend.along, -pose.pole_turn(chain)), bend.side)
    middle = scaled(plus(bend.origin, space.to_chain(tip)), 0.5)
    off = max(length(away), LEAST_DISTANCE * figure.length)
    return Vector(space.to_world(plus(middle, scaled(side, off))))


def _point_for_stored(pose: FigurePose) -> Vector | None:
    """The point for a solve of a chain by itself that begins at the stored start pose."""
    figure, asked, points = pose.figure, pose.figure.goals[0], pose.points[0]
    space, last = figure.space, len(figure.bones) - 1
    heads, ends = ends_at(figure, pose.rotations, ORIGIN, pose.owner, pose.depsgraph)
    stood = [*heads, ends[-1]]
    along, middle = unit(stood[-1]), scaled(stood[-1], 0.5)
    pole = pose.pole(asked.chain)
    assert pole is not None, "it has one"
    side = any_perpendicular(along, pole)
    off = max(length(perpendicular(pole, along)), LEAST_DISTANCE * figure.length)
    goals = [
        Point(last, space.to_chain(points.target)),
        Bend(last, plus(middle, scaled(side, off)), asked.pole_angle, fades=asked.pole_fades),
    ]
    solution = figure.solver.solve(goals, figure.settings, explain=False)
    angle = bend_between(solution.joints, stood)
    if angle is None:
        return None
    turned = rotated(turn_about(along, angle), side)
    return Vector(space.to_world(plus(middle, scaled(turned, off))))


def pole_in_bend(pose: FigurePose, chain: str, planned: Sequence[float]) -> Sequence[float]:
    """Where a planned pole leaves the pose of a chain that is solved with others; in the world.

    A chain that is solved by itself and one of a body are turned by their poles about different joints, so where a pole
    leaves the pose alone shows only once the chain is one of them.

    Args:
        pose: The chains; this one may lack goals.
        chain: Name of the chain.
        planned: Where the pole would be by the bones of the chain alone, in the world.
    """
    bend = None if pose.figure.is_chain else bend_of(pose, chain)
    if bend is None:
        return planned
    space = pose.figure.space
    off = minus(space.to_chain(planned), bend.origin)
    away = length(perpendicular(off, bend.along))
    side = rotated(turn_about(bend.along, -pose.pole_turn(chain)), bend.side)
    return space.to_world(plus(bend.origin, plus(scaled(bend.along, dot(off, bend.along)), scaled(side, away))))


def pole_over(
    pose: FigurePose, chain: str, planned: Sequence[float], toes: Sequence[float], up: Vector
) -> tuple[Sequence[float], float, float]:
    """Where the pole of a leg stands in front of its knee, over the toes, so that the pose stays as it is.

    A knee that is nearly straight tells badly to which side it bends: its pole is turned about the line from root to
    effector into the upright plane of the foot, the less the more the knee is bent, and so is a knee that bends more
    than it does in the pose. What bends elsewhere keeps its pole.

    Args:
        pose: The chains; this one may lack a pole.
        chain: Name of the chain.
        planned: Where a pole would be that leaves the pose as it is, in the world.
        toes: Where these are, in the world.
        up: The body's up in the world.

    Returns:
        Its place in the world; the pole angle; and how far the knee stands off in the pose, as a share of the leg's
        length, where all of that angle counts.
    """
    run, asked, space = pose.run(chain), pose.goal_of(chain), pose.figure.space
    root, tip = run[0], run[-1]
    along, off = unit(minus(tip, root)), minus(space.to_chain(planned), root)
    side, away = unit(perpendicular(off, along)), length(perpendicular(off, along))
    upright = unit(minus(space.to_chain(Vector(planned) + up), space.to_chain(planned)))
    forward = unit(perpendicular(minus(space.to_chain(toes), tip), upright))
    over = plus(minus(tip, root), scaled(forward, away))
    ahead = unit(perpendicular(plus(over, scaled(upright, dot(minus(off, over), upright))), along))
    if dot(side, ahead) < SAME_SIDE:
        return planned, asked.pole_angle, asked.pole_fades
    knee = max(run[1:-1], key=lambda joint: length(perpendicular(minus(joint, root), along)))
    angle = angle_between(unit(minus(knee, root)), unit(minus(tip, knee)))
    share = ramp(angle, TELLS_SIDE, STRAIGHT_KNEE)
    wanted = plus(scaled(ahead, share), scaled(side, 1.0 - share))
    turn = atan2(dot(along, cross(side, wanted)), dot(side, wanted))
    place = space.to_world(plus(root, rotated(turn_about(along, turn), off)))
    reach = sum(distance(a, b) for a, b in pairwise(run))
    return place, asked.pole_angle - turn, length(perpendicular(minus(knee, root), along)) / reach


def held_to_pole(pose: FigurePose, chain: str) -> RigFigure:
    """The chains with the pose at hand as their start, and the pole angle of one by which it bends as it stands."""
    off, figure = pole_error(pose, chain), pose.as_started
    if off is None:
        return figure
    asked, k = list(figure.goals), pose.index(chain)
    counts = asked[k]._replace(pole_angle=1.0).pole_turn(pose.run(chain))
    asked[k] = asked[k]._replace(pole_angle=(pose.pole_turn(chain) + off) / counts)
    return figure.with_goals(asked)


def hinges_from_bend(
    owner: bpy.types.Object, limbs: Limbs, names: Sequence[str], most: float, *, are_inner: bool
) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Make bones hinges that bend to the side to which they are bent at rest.

    A straight knee or elbow bends as anatomy has it, where the bones tell which one it is and where the body faces.
    Where neither tells an axis the bone is refused by name, and its limit stays.

    Args:
        owner: An armature object.
        limbs: Of its skeleton.
        names: Names of its bones.
        most: Greatest bend in radians, from straight.
        are_inner: Whether they are known to bend, as all bones of a chain but the first; else the first bones of limbs
            are refused.

    Returns:
        Names of the bones that are hinges now; of those that are the second half of a bone, and hold still now; and by
        the reason of those whose axis could not be told, which keep the limit that they had.
    """
    number = {name: i for i, name in enumerate(limbs.skeleton.names)}
    hinges, locked, refused = list[str](), list[str](), dict[str, list[str]]()
    plans: list[tuple[str, dict[str, Any]]] = []
    for name in names:
        bone = number[name]
        if is_second_half(limbs, bone):
            plans.append((name, {"limit": "LOCKED"}))
            locked.append(name)
            continue
        is_first = begins_limb(limbs, bone) and not are_inner
        found = None if is_first else rest_bend_of(limbs, bone)
        if found is None:
            refused.setdefault(_reason(limbs, is_first), []).append(name)
            continue
        ends = (0.0, max(most, found.angle))
        plans.append((name, hinge_settings(own_axis(limbs, bone, found.axis), ends, found.angle)))
        hinges.append(name)
    give_limits(owner, plans)
    return hinges, locked, refused


def hinge_settings(axis: V3, ends: tuple[float, float], rest: float) -> dict[str, Any]:
    """The settings of a hinge, about the positive side of the axis along which it lies.

    Args:
        axis: Unit axis in the bone's rest frame; a positive turn bends the joint further.
        ends: Least and greatest bend in radians, from straight.
        rest: The bend at rest.
    """
    low, high = max(ends[0] - rest, -2.0 * pi), ends[1] - rest
    if max(axis, key=abs) < 0.0:
        axis, low, high = (-axis[0], -axis[1], -axis[2]), -high, -low
    return {"limit": "HINGE", "axis": tuple(value + 0.0 for value in axis), "angle_min": low, "angle_max": high}


def give_limits(owner: bpy.types.Object, plans: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Write settings of limits onto bones, by name."""
    assert owner.pose is not None, "the object is no armature"
    for name, settings in plans:
        view = limit_of(owner.pose.bones[name])
        for setting, value in settings.items():
            setattr(view, setting, value)


def _reason(limbs: Limbs, is_first: bool) -> str:
    if is_first:
        return Text("no bend where a limb begins: give it a cone, or the range of a human hip or shoulder")
    if limbs.axes.forward is None:
        return Text("straight at rest, and nothing tells where the body faces: bend it a little in Edit Mode")
    return Text("straight at rest, and neither name nor place tell a knee or elbow: bend it a little in Edit Mode")
