# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures solved for goals in the world; nothing is written. All that pose chains come this way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import bpy
import numpy as np

from ...kernel import STATUSES, Rows, Solution, Solver, Status
from ...maths import V3, Doubles, distance, lengths, v3
from ..bones import pose_bones
from ..goals import GoalPoints
from .figure import RigFigure
from .goal_table import REACHED, Result
from .joint_limits import way_up
from .kinematics import BoneTree
from .pose_writer import Pose
from .uneven import EXACT, ends_at, measured_at, measured_solution, mounted_path, uneven_bone

BODY_MEASURES = 12  # times that chains that are solved together are measured and solved anew
BLOCKED = STATUSES.index(Status.BLOCKED)
Held = tuple[tuple[int, float | None], ...]  # joints, and by how many radians their limits would have to give


@dataclass(frozen=True, slots=True)
class Posed:
    """Chains that are solved together and not yet written.

    Attributes:
        figure: The chains.
        numbers: What they ask for, as a row of the kernel's has it.
        result: How each ended, in chain space, before the influence is taken off.
        scales: For each chain what a length of chain space along its miss is in scene units.
        rotations: (n, 4), what is to be written, influence included.
        shift: Vector of chain space by which the root stands elsewhere than it starts.
        factors: Of each goal by how much the bones on the way to it are made longer, influence included.
        heads: (n, 3), where these put the heads of the bones in chain space, as Blender will evaluate them.
        ends: (n, 3), the ends of the bones: in a chain the next one's head.
        passes: Sweeps of the kernel's that were used.
        held: The joints whose limits hold the chains back, the strongest first.
        length: Of the figure, in armature space.
        uneven: The bone whose scale makes the lengths depend on the pose; "" where none does.
    """

    figure: RigFigure
    numbers: tuple[float, ...]
    result: Result
    scales: Doubles
    rotations: Doubles
    shift: V3
    factors: Sequence[float]
    heads: Doubles
    ends: Doubles
    passes: int
    held: Held
    length: float
    uneven: str = ""

    @property
    def pose(self) -> Pose:
        """What is to be written."""
        return Pose(self.figure, self.rotations, self.shift, self.factors, self.rests)

    @property
    def rests(self) -> bool:
        """Whether nothing is asked of the chains: they stand as they start."""
        return self.numbers == self.figure.asked.at_rest

    @property
    def statuses(self) -> list[Status]:
        """How each chain ended."""
        return [STATUSES[code] for code in self.result.status[0].tolist()]

    @property
    def residuals(self) -> list[float]:
        """What each chain misses, in scene units."""
        found: list[float] = (self.result.missed[0] * self.scales).tolist()
        return found

    def target(self, k: int) -> V3:
        """Where the effector of a chain was to go, in chain space."""
        return v3(self.figure.asked[k].of_row(self.numbers)[:3])

    def held_back(self, k: int) -> Held:
        """The joints whose limits hold one of the chains back, the strongest first; none where it is not BLOCKED."""
        if self.result.status[0, k] != BLOCKED:
            return ()
        way = set(way_up(self.figure.bodies.parents, self.figure.asked[k].joints[-1]))
        return tuple([(i, give) for i, give in self.held if i in way])


def posed(
    figure: RigFigure,
    points: Sequence[GoalPoints],
    owner: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    explain: bool = False,
) -> Posed:
    """Solve chains that are solved together, for goals in the world.

    If that is to be explained, it is found out by how much blocking limits would have to give.

    Raises:
        InvalidValueError: A number is not finite.
    """
    numbers = figure.numbers(points)
    if figure.is_rigid or numbers == figure.asked.at_rest:
        return posed_rigidly(figure, numbers, explain)
    path = mounted_path(figure, owner, depsgraph)
    measure = measured_solution if is_plain(figure) and figure.asked[0].soft <= 0.0 else _measured
    solution, size = measure(figure, path, numbers, explain)
    rotations = solution.rotations
    heads, ends = ends_at(figure, rotations, solution.shift, owner, depsgraph)
    result, scales = _measured_result(figure, numbers, solution, np.array(heads), np.array(ends))
    if figure.influence < 1.0:
        rotations = figure.solver.blended(rotations, figure.influence)
        heads, ends = ends_at(figure, rotations, solution.shift, owner, depsgraph)
    gives = [*solution.give, *[None] * (len(solution.blocking) - len(solution.give))]
    return Posed(
        figure,
        numbers,
        result,
        scales,
        np.array(rotations),
        solution.shift,
        solution.factors,
        np.array(heads),
        np.array(ends),
        solution.passes,
        tuple(zip(solution.blocking, gives, strict=True)),
        size,
        uneven_bone(pose_bones(owner.evaluated_get(depsgraph))[figure.bones[0]], path),
    )


def posed_rigidly(figure: RigFigure, numbers: tuple[float, ...], explain: bool = False) -> Posed:
    """Solve chains of which the figure is the same in every pose; nothing of Blender's is looked at.

    Raises:
        InvalidValueError: A number is not finite.
    """
    return read_posed(figure, numbers, figure.solved(numbers, explain))


def read_posed(figure: RigFigure, numbers: tuple[float, ...], rows: Rows) -> Posed:
    """What came of chains that were solved, of which the figure is the same in every pose; their influence counts."""
    heads, ends = np.array(rows.heads).reshape(-1, 3), np.array(rows.ends).reshape(-1, 3)
    result = figure.asked.result_of(rows)
    frames = np.array(rows.frames).reshape(1, -1, 4)
    scales = figure.space.scales_along(figure.asked.off(np.array([numbers]), heads[None], ends[None], frames)[0])
    if figure.influence < 1.0:
        figure.solver.blend_rows(rows, figure.influence)
        heads, ends = np.array(rows.heads).reshape(-1, 3), np.array(rows.ends).reshape(-1, 3)
    gives = [give if isfinite(give) and give >= 0.0 else None for give in rows.gives]
    held = [i for i in rows.blocking if i >= 0]
    gives += [None] * len(held)
    return Posed(
        figure,
        numbers,
        result,
        scales,
        np.array(rows.rotations).reshape(-1, 4),
        v3(rows.shifts),
        rows.factors.tolist(),
        heads,
        ends,
        rows.passes[0],
        tuple(zip(held, gives, strict=False)),
        figure.length,
    )


def is_plain(figure: RigFigure) -> bool:
    """Whether it is a chain that keeps its length, and whose tip is to come to a target, perhaps with a pole."""
    one = figure.asked[0]
    return figure.is_chain and figure.root is None and one.is_plain and not one.at_head and not figure.grown[0]


def _measured(figure: RigFigure, path: BoneTree, numbers: Sequence[float], explain: bool) -> tuple[Solution, float]:
    """Solve chains that are measured anew at each pose to which that leads, as long as they are others there."""
    solver, goals = figure.solver, figure.goals_at(numbers)
    for _ in range(BODY_MEASURES):
        solution = solver.solve(goals, figure.settings, explain=explain)
        heads, _ends = path.placed(solution.rotations)
        solved = solver.figure.placed(solution.rotations).heads
        if max(distance(a, b) for a, b in zip(heads, solved, strict=True)) <= EXACT * solver.figure.size:
            break
        solver = Solver(measured_at(figure, path, solution.rotations))
    return solution, solver.figure.size


def _measured_result(
    figure: RigFigure, numbers: Sequence[float], solution: Solution, heads: Doubles, ends: Doubles
) -> tuple[Result, Doubles]:
    """How chains ended whose lengths depend on the pose: by Blender's own measure; and `Posed.scales`.

    Heads and ends (n, 3) are where Blender will have the bones, before the influence is taken off.
    """
    off = figure.asked.off(np.array([numbers]), heads[None], ends[None], np.array([solution.frames]))
    states = np.array([[STATUSES.index(one) for one in solution.statuses]], dtype=np.int32)
    numbers_of = (solution.residuals, solution.turns, solution.softened)
    found = figure.asked.result(states, *(np.array([own]) for own in numbers_of))
    missed = np.where(found.softened > 0.0, found.missed, lengths(off))
    status = found.status
    if is_plain(figure):
        status = np.array([[STATUSES.index(solution.status)]], dtype=np.int32)
        found = found._replace(pole=np.array([[solution.pole_error]]))
    else:
        is_off = missed > figure.settings.tolerance * figure.length
        status = np.where((status == REACHED) & is_off, BLOCKED, status)
    return found._replace(status=status, missed=missed), figure.space.scales_along(off[0])
