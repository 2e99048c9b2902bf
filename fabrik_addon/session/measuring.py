# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose lengths depend on their pose, since a scale that differs between axes lies on the way."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BoneError
from ..kernel import Goal, Solution, Solver, Status
from ..rig.kinematics import BonePath
from ..rig.prepared import Prepared, measured_at
from ..rig.rotations import V3, distance

EXACT = 2e-5  # share of the length within which Blender's joints must stand where the kernel put them
ULPS = 16 * 2.0**-23  # of the largest coordinate, below which single precision can't tell
MEASURES = 3  # times that the chain is measured and solved anew
REFINEMENTS = 24  # times that it is then measured and refined
SAME_SCALE = 5  # digits
FROM_NEAR = 0.5  # of the tolerance within which a refined tip is on its target
A_STEP = 0.1  # of the tolerance to which each step brings the tip of the chain as it was measured


def measured_solution(
    prepared: Prepared, path: BonePath, goals: Sequence[Goal], target: V3, explain: bool
) -> tuple[Solution, float]:
    """Solve a chain that is measured anew at each pose to which that leads.

    Args:
        prepared: The chain.
        path: Its bones, as they are measured.
        goals: In chain space.
        target: Where the tip is to go, in chain space.
        explain: Whether to find out by how much blocking limits would have to give.

    Returns:
        The solution; its joints are those of the chain as it was measured last. And the length that it then had.

    Raises:
        BoneError: The tip could not be brought to the target.
    """
    solver = prepared.solver
    for _ in range(MEASURES):
        solution = solver.solve(goals, prepared.settings, explain=explain)
        joints, size = path.place(solution.rotations), solver.figure.size
        is_there = solution.status is not Status.REACHED or _is_reached(prepared, joints[-1], target, size)
        if is_there and _apart(joints, solution.joints) <= EXACT * size:
            return solution, size
        solver = Solver(measured_at(prepared, path, solution.rotations))
    return _refined(prepared, path, solution, target)


def _is_reached(prepared: Prepared, tip: V3, target: V3, length: float) -> bool:
    """Whether the tip, as Blender will evaluate it, is within the tolerance; rounding is not held against it."""
    coordinates = (*prepared.space.origin, *prepared.space.to_armature(tip))
    allowed = prepared.settings.tolerance * length + ULPS * max(abs(value) for value in coordinates)
    return distance(target, tip) <= allowed


def _apart(joints: Sequence[V3], others: Sequence[V3]) -> float:
    return max(distance(a, b) for a, b in zip(joints, others, strict=True))


def _refined(prepared: Prepared, path: BonePath, solution: Solution, target: V3) -> tuple[Solution, float]:
    """Bring the tip onto the target.

    Each step measures the chain where it stands and turns the joints a little; the rest is what measuring gets wrong
    over that little.
    """
    rotations, tolerance = solution.rotations, prepared.settings.tolerance
    for _ in range(REFINEMENTS):
        solver, joints = Solver(measured_at(prepared, path, rotations)), path.place(rotations)
        size = solver.figure.size
        if distance(target, joints[-1]) <= FROM_NEAR * tolerance * size:
            reached = solution._replace(status=Status.REACHED, rotations=rotations, joints=joints, blocking=(), give=())
            return reached, size
        rotations = solver.refined(rotations, target, A_STEP * tolerance)
    if solution.status is Status.REACHED:
        raise BoneError(
            "a scale that differs between axes makes the length of the bones below it depend on their direction, and "
            "the tip could not be brought to the target",
            bone=_scaled_bone(path),
        )
    return solution._replace(rotations=rotations, joints=path.place(rotations)), size


def _scaled_bone(path: BonePath) -> str:
    """The first bone whose own scale differs between its axes; else the root, which got it from its parent."""
    scaled = (link for link in path.links if len({round(value, SAME_SCALE) for value in link.scale}) > 1)
    return next(scaled, path.links[0]).bone.name
