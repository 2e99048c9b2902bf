# SPDX-License-Identifier: GPL-3.0-or-later
"""A prepared chain solved for goals in the world; nothing is written. All that pose a chain come this way."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..kernel import Solution
from ..rig.chain_bones import pose_bones
from ..rig.goals import GoalPoints
from ..rig.prepared import Prepared, mounted_path
from ..rig.rotations import Q4, V3, minus, v3
from .measuring import measured_solution, uneven_bone


@dataclass(frozen=True, slots=True)
class Posed:
    """A chain that is solved and not yet written.

    Attributes:
        prepared: The chain.
        target: Where the tip was to go, in chain space.
        solution: What the kernel found, in chain space.
        rotations: n rotations to write, influence included.
        joints: n + 1 points in chain space where these put the joints, as Blender will evaluate them.
        residual: Distance from tip to target before the influence is taken off, in scene units.
        length: Of the chain, in armature space.
        uneven: The bone whose scale makes the chain's lengths depend on its pose; "" where none does.
    """

    prepared: Prepared
    target: V3
    solution: Solution
    rotations: list[Q4]
    joints: list[V3]
    residual: float
    length: float
    uneven: str = ""


def posed(
    prepared: Prepared,
    points: GoalPoints,
    owner: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    explain: bool = False,
) -> Posed:
    """Solve a chain.

    Args:
        prepared: The chain.
        points: Its goals, in world space.
        owner: Its armature object.
        depsgraph: With which the chain was prepared.
        explain: Whether to find out by how much blocking limits would have to give.

    Raises:
        InvalidValueError: A number is not finite.
    """
    solver, numbers = prepared.solver, prepared.numbers(points)
    target, length, uneven = v3(numbers[:3]), prepared.length, ""
    if prepared.is_rigid:
        solution = solver.solve(prepared.goals_at(numbers), prepared.settings, explain=explain)
        rotations = solver.blended(solution.rotations, prepared.influence)
        joints = solver.figure.placed(rotations).joints if prepared.influence < 1.0 else solution.joints
        tip = solution.joints[-1]
    else:
        path = mounted_path(prepared, owner, depsgraph)
        solution, length = measured_solution(prepared, path, numbers, explain)
        tip = path.place(solution.rotations)[-1]
        rotations = solver.blended(solution.rotations, prepared.influence)
        joints = path.place(rotations)
        uneven = uneven_bone(pose_bones(owner.evaluated_get(depsgraph))[prepared.bones[0]], path)
    residual = prepared.space.world_length(minus(target, tip))
    return Posed(prepared, target, solution, rotations, joints, residual, length, uneven)
