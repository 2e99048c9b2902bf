# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepared chains solved for goals in the world; nothing is written. All that pose chains come this way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2
from typing import NamedTuple

import bpy

from ..kernel import Solution, Solver, Status
from ..maths import ORIGIN, Q4, V3, conjugated, cross, distance, dot, length, minus, multiplied, rotated, turn_angle
from ..rig.asked import Asked
from ..rig.chain_bones import pose_bones
from ..rig.goals import GoalPoints
from ..rig.kinematics import BoneTree
from ..rig.measured import ends_at, measured_at, mounted_path
from ..rig.prepared import Prepared
from .bend_error import bend_error
from .measuring import EXACT, measured_solution, uneven_bone

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
    def shift(self) -> V3:
        """Vector of chain space by which the root stands elsewhere than it starts."""
        return self.solution.shift


class Stood(NamedTuple):
    """Where a pose puts the bones, before the influence is taken off; in chain space.

    Attributes:
        heads: n points.
        ends: n points.
        frames: n rotations.
    """

    heads: Sequence[V3]
    ends: Sequence[V3]
    frames: Sequence[Q4]

    def effector(self, one: Asked) -> V3:
        """The effector of a chain."""
        return self.heads[one.joints[-1]] if one.at_head else self.ends[one.joints[-1]]

    def turn_off(self, one: Asked, numbers: Sequence[float]) -> float:
        """By how much the last bone of a chain is off the rotation, or the aim, that its numbers of a row ask for."""
        last = one.joints[-1]
        if one.weight <= 0.0:
            return 0.0
        if one.kind == "AIM":
            along, wanted = rotated(self.frames[last], one.axis), minus(numbers[:3], self.heads[last])
            return atan2(length(cross(along, wanted)), dot(along, wanted))
        if not one.turns:
            return 0.0
        return turn_angle(multiplied(conjugated(self.frames[last]), numbers[3:7]))


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
    frames = prepared.solver.figure.placed(solution.rotations, solution.shift).frames
    there = Stood(*ends_at(prepared, solution.rotations, solution.shift, owner, depsgraph), frames)
    rotations, heads, ends = solution.rotations, there.heads, there.ends
    if prepared.influence < 1.0:
        rotations = prepared.solver.blended(rotations, prepared.influence)
        heads, ends = ends_at(prepared, rotations, solution.shift, owner, depsgraph)
    ended, targets = endings(prepared, numbers, solution, there), prepared.targets_at(numbers)
    factors, heads, ends = solution.factors, list(heads), list(ends)
    return Posed(prepared, targets, solution, rotations, factors, heads, ends, ended, size, uneven)


def posed_rigidly(prepared: Prepared, numbers: Sequence[float], explain: bool = False) -> Posed:
    """Solve chains of which the figure is the same in every pose; nothing of Blender's is looked at.

    Args:
        prepared: The chains.
        numbers: Of their goals (`Prepared.numbers`).
        explain: Whether to find out by how much blocking limits would have to give.

    Raises:
        InvalidValueError: A number is not finite.
    """
    solver, share = prepared.solver, prepared.influence
    solution = solver.solve(prepared.goals_at(numbers), prepared.settings, explain=explain)
    placed = prepared.stretched(solution.factors).placed(solution.rotations, solution.shift)
    there = Stood(placed.heads, placed.ends, placed.frames)
    rotations, factors = solution.rotations, solution.factors
    if share < 1.0:
        rotations = solver.blended(rotations, share)
        factors = tuple(1.0 + share * (factor - 1.0) for factor in factors)
        placed = prepared.stretched(factors).placed(rotations, solution.shift)
    ended, targets = endings(prepared, numbers, solution, there), prepared.targets_at(numbers)
    heads, ends = list(placed.heads), list(placed.ends)
    return Posed(prepared, targets, solution, rotations, factors, heads, ends, ended, prepared.length)


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


def endings(prepared: Prepared, numbers: Sequence[float], solution: Solution, there: Stood) -> tuple[Ended, ...]:
    """How each of the chains of a figure ended.

    Args:
        prepared: The chains.
        numbers: Of their goals, in chain space.
        solution: What the kernel found.
        there: Where it puts the bones.
    """
    return tuple(_ending(prepared, one, one.of_row(numbers), solution, there) for one in prepared.asked)


def _ending(prepared: Prepared, one: Asked, numbers: Sequence[float], solution: Solution, there: Stood) -> Ended:
    """How one of the chains ended."""
    first = one.goal_at
    off = minus(numbers[:3], there.effector(one)) if one.kind == "REACH" and one.weight > 0.0 else ORIGIN
    residual, missed, softened = prepared.space.world_length(off), length(off), 0.0
    if solution.softened[first] > 0.0:  # it counts against where soft reach put the goal
        scale = residual / missed if missed > 0.0 else 1.0
        missed = solution.residuals[first]
        residual, softened = missed * scale, solution.softened[first] * scale
    if is_plain(prepared):
        blocking, give = solution.blocking, solution.give
        return Ended(solution.status, residual, missed, softened, 0.0, solution.pole_error, blocking, give)
    worst = max(one.wanted, key=lambda k: (solution.statuses[k] is not Status.REACHED, solution.residuals[k]))
    way = _way(prepared, one.joints[-1])
    held = [(i, give) for i, give in _gives(solution) if i in way]
    status = solution.statuses[worst]
    if not prepared.is_rigid and missed > prepared.settings.tolerance * prepared.length:  # by Blender's own measure
        status = Status.BLOCKED if status is Status.REACHED else status
    return Ended(
        status,
        residual,
        missed,
        softened,
        there.turn_off(one, numbers),
        bend_error(one, numbers[-3:], there.heads, there.ends) if one.has_pole else 0.0,
        tuple(i for i, _ in held) if status is Status.BLOCKED else (),
        tuple(give for _, give in held) if status is Status.BLOCKED else (),
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
