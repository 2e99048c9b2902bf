# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose lengths depend on their pose, since a scale that differs between axes lies on the way."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2

import bpy

from ..kernel import Solution, Solver, Status
from ..maths import ULPS, V3, cross, distance, dot, length, minus, perpendicular, rotated, turn_about, v3
from ..rig.kinematics import BoneTree
from ..rig.measured import measured_at
from ..rig.prepared import Prepared
from .uneven import UnevenChain

EXACT = 2e-5  # share of the length within which Blender's joints must stand where the kernel put them
MEASURES = 3  # times that the chain is measured and solved anew
POLE_TRIES = 3  # times that a chain that was brought to its target is turned to its pole
SAME_SCALE = 5  # digits
AS_NEAR = 1.01  # times the distance, that a turn to the pole may cost where the target is missed anyway
FROM_NEAR = 0.5  # of the tolerance at which to stop
FINEST = 1e-6  # share of the length, about what single precision can tell


def measured_solution(
    prepared: Prepared, path: BoneTree, numbers: Sequence[float], explain: bool
) -> tuple[Solution, float]:
    """Solve a chain that is measured anew at each pose to which that leads.

    Where that does not lead to the target, the chain is brought as near to it as it comes by Blender's own measure.

    Args:
        prepared: The chain.
        path: Its bones, as they are measured.
        numbers: Where target and pole are, in chain space (`Prepared.numbers`).
        explain: Whether to find out by how much blocking limits would have to give.

    Returns:
        The solution; its joints are those of the chain as it was measured last. And the length that it then had.
    """
    solver, goals, target = prepared.solver, prepared.goals_at(numbers), v3(numbers[:3])
    for _ in range(MEASURES):
        solution = solver.solve(goals, prepared.settings, explain=explain)
        joints, size = path.place(solution.rotations), solver.figure.size
        is_there = solution.status is Status.REACHED and _is_reached(prepared, joints[-1], target, size)
        if is_there and _apart(joints, solution.joints) <= EXACT * size:
            return solution, size
        solver = Solver(measured_at(prepared, path, solution.rotations))
    return _brought(prepared, path, numbers, solution)


def uneven_bone(root: bpy.types.PoseBone, path: BoneTree) -> str:
    """The bone whose scale makes the lengths of a chain depend on its pose.

    Args:
        root: The evaluated first bone.
        path: The chain's bones.

    Returns:
        The first bone of the chain with a scale that differs between its axes; else the nearest such one above it;
        else the one above it, which got its scale from elsewhere.
    """
    scales = [(link.bone.name, link.scale) for link in path.links]
    scales += [(bone.name, bone.scale) for bone in root.parent_recursive]
    uneven = (name for name, scale in scales if len({round(value, SAME_SCALE) for value in scale}) > 1)
    return next(uneven, root.parent.name if root.parent else root.name)


def _is_reached(prepared: Prepared, tip: V3, target: V3, size: float) -> bool:
    """Whether the tip, as Blender will evaluate it, is within the tolerance; rounding is not held against it."""
    coordinates = (*prepared.space.origin, *prepared.space.to_armature(tip))
    allowed = prepared.settings.tolerance * size + ULPS * max(abs(value) for value in coordinates)
    return distance(target, tip) <= allowed


def _apart(joints: Sequence[V3], others: Sequence[V3]) -> float:
    return max(distance(a, b) for a, b in zip(joints, others, strict=True))


def _brought(
    prepared: Prepared, path: BoneTree, numbers: Sequence[float], solution: Solution
) -> tuple[Solution, float]:
    """The pose that is nearest to the target, turned to its pole as far as that can be."""
    goals, target, one = prepared.goals_at(numbers), v3(numbers[:3]), prepared.asked[0]
    settings, size = prepared.settings, _measured(prepared, path, solution).figure.size
    enough = max(FROM_NEAR * settings.tolerance, FINEST) * size
    chain = UnevenChain(path, prepared.limits, target, size)
    restarts = 0 if settings.plain or length(target) > path.most_reach else settings.restarts
    nearest = chain.nearest([solution.rotations, prepared.starts], restarts, enough)
    found = solution._replace(rotations=nearest.rotations, passes=solution.passes + nearest.steps, blocking=(), give=())
    for _ in range(POLE_TRIES if one.has_pole else 0):
        turned = Solver(measured_at(prepared.started(found.rotations), path, found.rotations)).solve(goals, settings)
        kept = chain.nearest([turned.rotations], 0, enough)
        if kept.distance > max(enough, AS_NEAR * nearest.distance):
            break
        found, nearest = found._replace(rotations=kept.rotations, passes=found.passes + kept.steps), kept
    joints, solver = path.place(found.rotations), _measured(prepared, path, found)
    found = found._replace(
        joints=joints,
        residual=nearest.distance,
        pole_error=_pole_error(solver, found, numbers[3:], one.pole_angle) if one.has_pole else 0.0,
    )
    if _is_reached(prepared, joints[-1], target, solver.figure.size):
        return found._replace(status=Status.REACHED), solver.figure.size
    held = chain.held_back(nearest)
    if held:
        return found._replace(status=Status.BLOCKED, blocking=tuple(held)), solver.figure.size
    is_near = length(joints[-1]) > length(target)
    return found._replace(status=Status.TOO_NEAR if is_near else Status.TOO_FAR), solver.figure.size


def _measured(prepared: Prepared, path: BoneTree, solution: Solution) -> Solver:
    return Solver(measured_at(prepared, path, solution.rotations))


def _pole_error(solver: Solver, solution: Solution, pole: Sequence[float], angle: float) -> float:
    """The angle between the bend of a pose and where its pole wants it."""
    side = solver.bend(solution.rotations)
    if side is None:
        return 0.0
    wanted = rotated(turn_about(side.along, angle), perpendicular(minus(pole, side.origin), side.along))
    if length(wanted) <= EXACT * solver.figure.size:
        return 0.0
    return abs(atan2(dot(side.along, cross(wanted, side.side)), dot(wanted, side.side)))
