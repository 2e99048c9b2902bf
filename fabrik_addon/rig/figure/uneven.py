# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose lengths depend on their pose, since a scale that differs between axes lies on the way.

The kernel's bones are rigid, and these are not: what it finds for a chain that was measured at one pose is off in
another. So the chain is measured anew at each pose to which that leads; and where that does not do, the tip is followed
as Blender itself places it: damped least squares on the turns of the joints, by differences, inside the limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2
from random import Random
from typing import NamedTuple

import bpy
import numpy as np

from ...kernel import Limit, Solution, Solver, Status
from ...maths import (
    ORIGIN,
    Q4,
    ULPS,
    V3,
    Doubles,
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
    scaled,
    turn_about,
    unit,
    v3,
)
from ..bones import pose_bones
from .figure import RigFigure
from .kinematics import BoneTree

# Where the joints of a figure stand as Blender will evaluate them, whether or not their figure is rigid.


def measured_at(figure: RigFigure, tree: BoneTree, rotations: Sequence[Q4]) -> Solver:
    """The solver of chains that are not rigid, measured at a pose."""
    return Solver(figure.bodies.measured(tree.joints(rotations)).figure())


def mounted_path(figure: RigFigure, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> BoneTree:
    """The bones as they are measured; good until the next evaluation."""
    poses = pose_bones(owner.evaluated_get(depsgraph))
    tree = BoneTree.of([poses[name] for name in figure.bones], figure.instead, is_chain=figure.is_chain)
    return tree.mounted(figure.parent_frame)


def ends_at(
    figure: RigFigure, rotations: Sequence[Q4], shift: V3, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> tuple[list[V3], list[V3]]:
    """The n heads and the n ends of a pose that is not stretched in chain space, as Blender will evaluate them.

    The root stands off where it starts by a vector of chain space. In a chain the end of a bone is the head of the next
    one, and of the last one its tail; else it is the bone's tail.
    """
    if figure.is_rigid:
        placed = figure.solver.figure.placed(rotations, shift)
        return placed.heads, placed.ends
    heads, tails = mounted_path(figure, owner, depsgraph).placed(rotations)
    ends = [*heads[1:], tails[-1]] if figure.is_chain else tails
    return [plus(head, shift) for head in heads], [plus(end, shift) for end in ends]


# The pose nearest to a target: from the pose that the kernel found, and where that does not do from others.

PROBE = 0.01  # radians by which a joint is turned to see how the tip follows
LEAST_MOVED = 0.1  # share of that turn which its limit has to leave for the joint to be turned at all
LARGEST_TURN = 0.6  # radians of a joint in one step
STEPS = 40  # from one start
STALLED = 1e-3  # share of the distance that a step has to take off for the next to be worth while
PATIENCE = 4  # steps that may take off less
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-2, 1e-6, 1e3  # as shares of the tip's mean leverage
EASED, RAISED = 0.25, 6.0  # factors of the damping after a step that led nearer, and after one that did not
RESTARTED_DAMPING = 1e-4  # the least from which it is raised after a step that led nowhere
SCREENED = 8  # poses that are drawn for each from which is started
SEED = 2011  # of the poses that are drawn: the same in every solve
SAME_END = 1e-3  # share of the length: two starts that end as near as that to each other found the nearest pose
ALMOST = 0.01  # share of the length within which some more steps may lead there
TAKEN = 0.05  # share of the turn that would help which a limit has to take away to count


class NearestPose(NamedTuple):
    """Where a chain was brought.

    Attributes:
        rotations: n rotations, inside the limits.
        error: From the tip to the target, in armature space.
        steps: How many it took.
    """

    rotations: list[Q4]
    error: V3
    steps: int

    @property
    def distance(self) -> float:
        return length(self.error)


class UnevenChain:
    """A chain with a target, measured at each pose.

    Args:
        path: Its bones, mounted.
        limits: n limits.
        target: In chain space.
        size: Its length, at some pose.
    """

    def __init__(self, path: BoneTree, limits: Sequence[Limit], target: V3, size: float) -> None:
        self.path, self.limits, self.size = path, limits, size
        self._target = rotated(path.base, target)  # in armature space, in which tips are compared
        self._free = [i for i, limit in enumerate(limits) if not limit.is_fixed]

    def nearest(self, starts: Sequence[list[Q4]], restarts: int, enough: float) -> NearestPose:
        """Bring the tip as near to the target as it comes.

        Args:
            starts: Poses to start from, the best first.
            restarts: How many others are drawn, where these do not lead there.
            enough: Distance at which to stop.
        """
        best: NearestPose | None = None
        steps = 0
        for number, start in enumerate(self._all(starts, restarts)):
            found = self._descended(start, enough)
            steps += found.steps
            ends_alike = best is not None and distance(found.error, best.error) <= SAME_END * self.size
            if best is None or found.distance < best.distance:
                best = found
            if best.distance <= enough or (ends_alike and number >= len(starts)):
                break
        assert best is not None, "there is a start at least"
        if enough < best.distance <= ALMOST * self.size:
            best = self._descended(best.rotations, enough)
            steps += best.steps
        return best._replace(steps=steps)

    def held_back(self, nearest: NearestPose) -> list[int]:
        """The joints whose limits keep the tip from coming nearer, the strongest first."""
        pulls = self._jacobian(nearest.rotations, are_limited=False).T @ np.array(nearest.error)
        found = []
        for i, (limit, rotation) in enumerate(zip(self.limits, nearest.rotations, strict=True)):
            pull: list[float] = pulls[3 * i : 3 * i + 3].tolist()
            step = scaled(unit(pull), PROBE)
            turned = multiplied(limit.turned(rotation, step), conjugated(rotation))
            share = 1.0 - dot(scaled(turned[1:], 2.0 if turned[0] >= 0.0 else -2.0), step) / PROBE**2
            if length(pull) * share > TAKEN * self.size * nearest.distance:
                found.append((-length(pull) * share, i))
        return [i for _, i in sorted(found)]

    def _all(self, starts: Sequence[list[Q4]], restarts: int) -> Iterator[list[Q4]]:
        yield from starts
        if restarts:
            random = Random(SEED)
            drawn = [
                [limit.drawn(random.random(), random.random(), random.random()) for limit in self.limits]
                for _ in range(SCREENED * restarts)
            ]
            yield from sorted(drawn, key=lambda pose: length(self._error(pose)))[:restarts]

    def _error(self, rotations: Sequence[Q4]) -> V3:
        return minus(self._target, self.path.tip_of(self.path.poses(rotations)[-1]))

    def _descended(self, start: list[Q4], enough: float) -> NearestPose:
        """The nearest pose to which steps from one start lead."""
        now, error, damping, slow = start, self._error(start), FIRST_DAMPING, 0
        for step in range(STEPS):
            away = length(error)
            if away <= enough:
                return NearestPose(now, error, step)
            found = self._step(now, error, damping)
            if found is None:
                return NearestPose(now, error, step + 1)
            now, error, damping = found
            slow = slow + 1 if length(error) > (1.0 - STALLED) * away else 0
            if slow >= PATIENCE:
                break
        return NearestPose(now, error, step + 1)

    def _step(self, now: list[Q4], error: V3, damping: float) -> tuple[list[Q4], V3, float] | None:
        """A pose that is nearer, its error, and the damping for the next step; None where there is none."""
        jacobian, wanted = self._jacobian(now, are_limited=True), np.array(error)
        square: Doubles = jacobian @ jacobian.T
        leverage = float(np.trace(square)) / 3.0
        if not leverage:
            return None
        while damping <= MOST_DAMPING:
            turns = jacobian.T @ np.linalg.solve(square + damping * leverage * np.eye(3), wanted)
            most = np.abs(turns).max()
            tried = self._turned(now, turns * min(1.0, LARGEST_TURN / most) if most else turns)
            left = self._error(tried)
            if length(left) < length(error):
                return tried, left, max(damping * EASED, LEAST_DAMPING)
            damping = max(damping, RESTARTED_DAMPING) * RAISED
        return None

    def _turned(self, rotations: Sequence[Q4], turns: Doubles) -> list[Q4]:
        found = list(rotations)
        numbers: list[float] = turns.tolist()
        for i in self._free:
            found[i] = self.limits[i].turned(rotations[i], numbers[3 * i : 3 * i + 3])
        return found

    def _jacobian(self, rotations: list[Q4], are_limited: bool) -> Doubles:
        """How the tip follows small turns of each joint, (3, 3 n); inside the limits or as if there were none."""
        found: Doubles = np.zeros((3, 3 * len(rotations)))
        poses = self.path.poses(rotations)
        for i in self._free if are_limited else range(len(rotations)):
            for axis in range(3):
                tips, moved = [], 0.0
                for sign in (1.0, -1.0):
                    turn = [0.0, 0.0, 0.0]
                    turn[axis] = sign * PROBE
                    other = self.limits[i].turned(rotations[i], turn) if are_limited else _turn(rotations[i], turn)
                    if _along(other, rotations[i], axis) * sign > LEAST_MOVED * PROBE:  # else it is held there
                        moved += PROBE
                    turned = self.path.poses([*rotations[:i], other, *rotations[i + 1 :]], poses[:i])
                    tips.append(self.path.tip_of(turned[-1]))
                if moved:
                    found[:, 3 * i + axis] = np.array(minus(*tips)) / moved
        return found


def _turn(rotation: Q4, turn: Sequence[float]) -> Q4:
    """A rotation turned on by a small vector."""
    half = scaled(turn, 0.5)
    size = (1.0 - dot(half, half)) ** 0.5
    return multiplied((size, *half), rotation)


def _along(end: Q4, start: Q4, axis: int) -> float:
    """The small turn about an axis that leads from one rotation to another."""
    turned = multiplied(end, conjugated(start))
    return 2.0 * (turned[1 + axis] if turned[0] >= 0.0 else -turned[1 + axis])


EXACT = 2e-5  # share of the length within which Blender's joints must stand where the kernel put them
MEASURES = 3  # times that the chain is measured and solved anew
POLE_TRIES = 3  # times that a chain that was brought to its target is turned to its pole
SAME_SCALE = 5  # digits
AS_NEAR = 1.01  # times the distance, that a turn to the pole may cost where the target is missed anyway
FROM_NEAR = 0.5  # of the tolerance at which to stop
FINEST = 1e-6  # share of the length, about what single precision can tell


def measured_solution(
    figure: RigFigure, path: BoneTree, numbers: Sequence[float], explain: bool
) -> tuple[Solution, float]:
    """Solve a chain that is measured anew at each pose to which that leads.

    Where that does not lead to the target, the chain is brought as near to it as it comes by Blender's own measure.
    Numbers are in chain space.

    Returns:
        The solution; its joints are those of the chain as it was measured last. And the length that it then had.
    """
    solver, goals, target = figure.solver, figure.goals_at(numbers), v3(numbers[:3])
    for _ in range(MEASURES):
        solution = solver.solve(goals, figure.settings, explain=explain)
        joints, size = path.place(solution.rotations), solver.figure.size
        is_there = solution.status is Status.REACHED and _is_reached(figure, joints[-1], target, size)
        if is_there and max(map(distance, joints, solution.joints)) <= EXACT * size:
            return solution, size
        solver = measured_at(figure, path, solution.rotations)
    return _brought(figure, path, numbers, solution)


def uneven_bone(root: bpy.types.PoseBone, path: BoneTree) -> str:
    """The bone whose scale makes the lengths of a chain depend on its pose.

    Returns:
        The first bone of the chain with a scale that differs between its axes; else the nearest such one above it;
        else the one above it, which got its scale from elsewhere.
    """
    scales = [(link.bone.name, link.scale) for link in path.links]
    scales += [(bone.name, bone.scale) for bone in root.parent_recursive]
    uneven = (name for name, scale in scales if len({round(value, SAME_SCALE) for value in scale}) > 1)
    return next(uneven, root.parent.name if root.parent else root.name)


def _is_reached(figure: RigFigure, tip: V3, target: V3, size: float) -> bool:
    """Whether the tip, as Blender will evaluate it, is within the tolerance; rounding is not held against it."""
    coordinates = (*figure.space.origin, *figure.space.to_armature(tip))
    allowed = figure.settings.tolerance * size + ULPS * max(abs(value) for value in coordinates)
    return distance(target, tip) <= allowed


def _brought(figure: RigFigure, path: BoneTree, numbers: Sequence[float], solution: Solution) -> tuple[Solution, float]:
    """The pose that is nearest to the target, turned to its pole as far as that can be."""
    goals, target, one = figure.goals_at(numbers), v3(numbers[:3]), figure.goals[0]
    settings, size = figure.settings, measured_at(figure, path, solution.rotations).figure.size
    enough = max(FROM_NEAR * settings.tolerance, FINEST) * size
    chain = UnevenChain(path, figure.limits, target, size)
    restarts = 0 if settings.plain or length(target) > path.most_reach else settings.restarts
    nearest = chain.nearest([solution.rotations, figure.starts], restarts, enough)
    found = solution._replace(rotations=nearest.rotations, passes=solution.passes + nearest.steps, blocking=(), give=())
    for _ in range(POLE_TRIES if one.has_pole else 0):
        turned = measured_at(figure.started(found.rotations), path, found.rotations).solve(goals, settings)
        kept = chain.nearest([turned.rotations], 0, enough)
        if kept.distance > max(enough, AS_NEAR * nearest.distance):
            break
        found, nearest = found._replace(rotations=kept.rotations, passes=found.passes + kept.steps), kept
    joints, solver = path.place(found.rotations), measured_at(figure, path, found.rotations)
    pole = one.pole_from(numbers[3:], joints) if one.has_pole else ORIGIN
    found = found._replace(
        joints=joints,
        residual=nearest.distance,
        pole_error=_pole_error(solver, found, pole, one.pole_turn(joints)) if one.has_pole else 0.0,
    )
    if _is_reached(figure, joints[-1], target, solver.figure.size):
        return found._replace(status=Status.REACHED), solver.figure.size
    held = chain.held_back(nearest)
    if held:
        return found._replace(status=Status.BLOCKED, blocking=tuple(held)), solver.figure.size
    is_near = length(joints[-1]) > length(target)
    return found._replace(status=Status.TOO_NEAR if is_near else Status.TOO_FAR), solver.figure.size


def _pole_error(solver: Solver, solution: Solution, pole: Sequence[float], angle: float) -> float:
    """The angle between the bend of a pose and where its pole wants it."""
    side = solver.bend(solution.rotations)
    if side is None:
        return 0.0
    wanted = rotated(turn_about(side.along, angle), perpendicular(minus(pole, side.origin), side.along))
    if length(wanted) <= EXACT * solver.figure.size:
        return 0.0
    return abs(atan2(dot(side.along, cross(wanted, side.side)), dot(wanted, side.side)))
