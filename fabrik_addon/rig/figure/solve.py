# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepared chains solved for goals in the world; nothing is written. All that pose chains come this way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ...kernel import Rows, Solution, Solver, Status
from ...maths import ORIGIN, Q4, V3, distance, length, minus
from ..bones import pose_bones
from ..goals import GoalPoints
from .chain_goals import Asked
from .figure import Prepared
from .kinematics import BoneTree
from .pose_writer import Pose
from .uneven import EXACT, ends_at, measured_at, measured_solution, mounted_path, uneven_bone

BODY_MEASURES = 12  # times that chains that are solved together are measured and solved anew


class Ended(NamedTuple):
    """How one of the chains that were solved together ended.

    Attributes:
        status: Of the goal that misses most.
        residual: Distance from effector to target in scene units, before the influence is taken off.
        missed: The same in chain space.
        softened: How far from the target soft reach put the place that counts, in scene units.
        turn_residual: Angle in radians by which the last bone is off the rotation, or the aim, that it is to have.
        pole_error: Angle in radians between the bend and where the pole wants it; 0 without one.
        blocking: Indices of the joints whose limits hold it back, the strongest first.
        give: For some of these the radians by which the limit would have to give.
    """

    status: Status
    residual: float
    missed: float
    softened: float
    turn_residual: float
    pole_error: float
    blocking: tuple[int, ...]
    give: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Posed:
    """Chains that are solved together and not yet written.

    Attributes:
        prepared: The chains.
        targets: Where the effector of each was to go, in chain space.
        solution: What the kernel found, in chain space.
        rotations: n rotations to write, influence included.
        factors: Of each goal by how much the bones on the way to it are made longer, influence included.
        heads: n points in chain space where these put the heads of the bones, as Blender will evaluate them.
        ends: n points, the ends of the bones: in a chain the next one's head.
        ended: How each chain ended.
        length: Of the figure, in armature space.
        uneven: The bone whose scale makes the lengths depend on the pose; "" where none does.
    """

    prepared: Prepared
    targets: list[V3]
    solution: Solution
    rotations: list[Q4]
    factors: Sequence[float]
    heads: list[V3]
    ends: list[V3]
    ended: tuple[Ended, ...]
    length: float
    uneven: str = ""

    @property
    def pose(self) -> Pose:
        """What is to be written."""
        return Pose(self.prepared, np.array(self.rotations), self.shift, self.factors)

    @property
    def shift(self) -> V3:
        """Vector of chain space by which the root stands elsewhere than it starts."""
        return self.solution.shift


def posed(
    prepared: Prepared,
    points: Sequence[GoalPoints],
    owner: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    explain: bool = False,
) -> Posed:
    """Solve chains that are solved together.

    Args:
        prepared: The chains.
        points: The goals of each, in world space.
        owner: Their armature object.
        depsgraph: With which the chains were prepared.
        explain: Whether to find out by how much blocking limits would have to give.

    Raises:
        InvalidValueError: A number is not finite.
    """
    numbers = prepared.numbers(points)
    if prepared.is_rigid:
        return posed_rigidly(prepared, numbers, explain)
    path = mounted_path(prepared, owner, depsgraph)
    measure = measured_solution if is_plain(prepared) and prepared.asked[0].soft <= 0.0 else _measured
    solution, size = measure(prepared, path, numbers, explain)
    uneven = uneven_bone(pose_bones(owner.evaluated_get(depsgraph))[prepared.bones[0]], path)
    rotations = solution.rotations
    heads, ends = ends_at(prepared, rotations, solution.shift, owner, depsgraph)
    ended = endings(prepared, numbers, solution, heads, ends)
    if prepared.influence < 1.0:
        rotations = prepared.solver.blended(rotations, prepared.influence)
        heads, ends = ends_at(prepared, rotations, solution.shift, owner, depsgraph)
    targets = prepared.targets_at(numbers)
    return Posed(prepared, targets, solution, rotations, solution.factors, [*heads], [*ends], ended, size, uneven)


def posed_rigidly(prepared: Prepared, numbers: Sequence[float], explain: bool = False) -> Posed:
    """Solve chains of which the figure is the same in every pose; nothing of Blender's is looked at.

    Args:
        prepared: The chains.
        numbers: Of their goals (`Prepared.numbers`).
        explain: Whether to find out by how much blocking limits would have to give.

    Raises:
        InvalidValueError: A number is not finite.
    """
    return read_posed(prepared, numbers, prepared.solved(numbers, explain))


def read_posed(prepared: Prepared, numbers: Sequence[float], rows: Rows) -> Posed:
    """What came of chains of which the figure is the same in every pose, and which were solved; their influence counts.

    Args:
        prepared: The chains.
        numbers: Of their goals.
        rows: From `Prepared.solved`.
    """
    solution = found = rows.solution()
    ended = endings(prepared, numbers, solution, solution.joints, solution.ends)
    if prepared.influence < 1.0:
        prepared.solver.blend_rows(rows, prepared.influence)
        found = rows.solution()
    targets, heads = prepared.targets_at(numbers), found.joints[:-1]
    return Posed(prepared, targets, solution, found.rotations, found.factors, heads, found.ends, ended, prepared.length)


def is_plain(prepared: Prepared) -> bool:
    """Whether it is a chain that keeps its length, and whose tip is to come to a target, perhaps with a pole."""
    one = prepared.asked[0]
    return prepared.is_chain and prepared.root is None and one.is_plain and not one.at_head and not prepared.grown[0]


def _measured(prepared: Prepared, path: BoneTree, numbers: Sequence[float], explain: bool) -> tuple[Solution, float]:
    """Solve chains that are measured anew at each pose to which that leads, as long as they are others there."""
    solver, goals = prepared.solver, prepared.goals_at(numbers)
    for _ in range(BODY_MEASURES):
        solution = solver.solve(goals, prepared.settings, explain=explain)
        heads, _ends = path.placed(solution.rotations)
        solved = solver.figure.placed(solution.rotations).heads
        if max(distance(a, b) for a, b in zip(heads, solved, strict=True)) <= EXACT * solver.figure.size:
            break
        solver = Solver(measured_at(prepared, path, solution.rotations))
    return solution, solver.figure.size


def endings(
    prepared: Prepared, numbers: Sequence[float], solution: Solution, heads: Sequence[V3], ends: Sequence[V3]
) -> tuple[Ended, ...]:
    """How each of the chains of a figure ended.

    Args:
        prepared: The chains.
        numbers: Of their goals, in chain space.
        solution: What the kernel found.
        heads: n points at least, where Blender will have the bones, before the influence is taken off.
        ends: n points, likewise.
    """
    found = []
    for one in prepared.asked:
        last = one.joints[-1]
        off = minus(one.of_row(numbers)[:3], heads[last] if one.at_head else ends[last])
        found.append(_ending(prepared, one, solution, off if not one.aims and one.weight > 0.0 else ORIGIN))
    return tuple(found)


def _ending(prepared: Prepared, one: Asked, solution: Solution, off: V3) -> Ended:
    """How one of the chains ended, whose effector is off its target by a vector."""
    first, last = one.goal_at, one.goal_at + one.goal_count - 1
    residual, missed, softened = prepared.space.world_length(off), length(off), 0.0
    if solution.softened[first] > 0.0:  # it counts against where soft reach put the goal
        scale = residual / missed if missed > 0.0 else 1.0
        missed = solution.residuals[first]
        residual, softened = missed * scale, solution.softened[first] * scale
    if is_plain(prepared):
        blocking, give = solution.blocking, solution.give
        return Ended(solution.status, residual, missed, softened, 0.0, solution.pole_error, blocking, give)
    worst = max(one.wanted, key=lambda k: (solution.statuses[k] is not Status.REACHED, solution.residuals[k]))
    status = solution.statuses[worst]
    if not prepared.is_rigid and missed > prepared.settings.tolerance * prepared.length:  # by Blender's own measure
        status = Status.BLOCKED if status is Status.REACHED else status
    held: list[tuple[int, float | None]] = []
    if status is Status.BLOCKED:
        way = _way(prepared, one.joints[-1])
        held = [(i, give) for i, give in _gives(solution) if i in way]
    return Ended(
        status,
        residual,
        missed,
        softened,
        solution.turns[first + one.turns] if one.weight > 0.0 and (one.turns or one.aims) else 0.0,
        solution.turns[last] if one.has_pole else 0.0,
        tuple([i for i, _ in held]),
        tuple([give for _, give in held]),
    )


def _gives(solution: Solution) -> list[tuple[int, float | None]]:
    """The blocking joints, each with the angle by which its limit would have to give, where that is known."""
    unknown = [None] * (len(solution.blocking) - len(solution.give))
    return list(zip(solution.blocking, [*solution.give, *unknown], strict=True))


def _way(prepared: Prepared, joint: int) -> set[int]:
    """The joints that move a joint, itself included."""
    found, parents = set[int](), prepared.bodies.parents
    while joint >= 0:
        found.add(joint)
        joint = parents[joint]
    return found
