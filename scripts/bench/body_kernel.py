# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 8, cost: a whole solve of a body beside one least-squares solve of the same Jacobian by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from fabrik_addon.kernel import Facing, Figure, Goal, Joint, Point, Rows, Settings, Solver, Status
from mathutils import Quaternion
from numpy.typing import NDArray

from .problems import Q4, TOLERANCE, integers, random_direction
from .tables import Judged, Row, Table
from .timing import Scale, interleaved

LIMBS = 5
TURN = 0.25  # radians by which each joint is turned to make goals
SOLVES = 16
A_RADIAN = 0.15  # sizes of the figure that a radian counts


class Case(NamedTuple):
    """A trunk with five limbs at its end, what is asked of them, and what a solve may take.

    Attributes:
        trunk: Joints of the trunk.
        limb: Joints of each limb.
        turned: Of how many limbs the rotation of the end is asked for, besides its place.
        halfway: Of how many limbs the place of the middle is asked for, too.
        at_most: What a whole solve may take, in least-squares solves.
    """

    trunk: int
    limb: int
    turned: int
    halfway: int
    at_most: float

    @property
    def ends(self) -> list[int]:
        """The last joint of each limb."""
        return [self.trunk + self.limb * (k + 1) - 1 for k in range(LIMBS)]

    def figure(self) -> Figure:
        """Joints of length 1, all free."""
        joints, parents, random = [], [], Random(60)
        for i in range(self.trunk + LIMBS * self.limb):
            first = i == 0 or (i >= self.trunk and (i - self.trunk) % self.limb == 0)
            turn = Quaternion(random_direction(random), 1.0 if first and i else 0.1)
            joints.append(Joint((0.0, 1.0, 0.0), _q4(turn)))
            parents.append(i - 1 if not first or i == 0 else self.trunk - 1)
        return Figure(joints, parents)

    def goals(self, figure: Figure, rotations: Sequence[Q4]) -> list[Goal]:
        """Where a pose has the ends, and the middles."""
        placed = figure.placed(rotations)
        goals: list[Goal] = [Point(end, placed.ends[end]) for end in self.ends]
        goals += [Facing(end, placed.frames[end]) for end in self.ends[: self.turned]]
        middles = [end - self.limb // 2 for end in self.ends[: self.halfway]]
        return [*goals, *(Point(middle, placed.ends[middle]) for middle in middles)]

    def jacobian(self, figure: Figure) -> NDArray[np.float64]:
        """How the goals change by small turns of all joints: (3 x goals, 3 x joints)."""
        placed = figure.placed(figure.starts)
        middles = [end - self.limb // 2 for end in self.ends[: self.halfway]]
        points = [*self.ends, *middles]
        found = np.zeros((3 * (len(points) + self.turned), 3 * figure.count))
        for row, effector in enumerate([*points, *self.ends[: self.turned]]):
            start = self.trunk + (effector - self.trunk) // self.limb * self.limb
            for joint in [*range(self.trunk), *range(start, effector + 1)]:
                axes = np.array(Quaternion(placed.frames[joint]).to_matrix())
                lever = np.array(placed.ends[effector]) - np.array(placed.heads[joint])
                turned = np.cross(axes.T, lever).T if row < len(points) else axes * A_RADIAN * figure.size
                found[3 * row : 3 * row + 3, 3 * joint : 3 * joint + 3] = turned
        return found


CASES = {"25 joints, 5 places": Case(5, 4, 0, 0, 4.0), "60 joints, 12 goals": Case(10, 10, 5, 2, 2.0)}


def _q4(rotation: Quaternion) -> Q4:
    w, x, y, z = rotation
    return (w, x, y, z)


def cost(scale: Scale) -> Table:
    """Both cases."""
    note = (
        f"A trunk with five free limbs at its end; goals are where a pose has them, each of whose joints is turned by "
        f"up to {TURN:g} rad. *lstsq*: one `numpy.linalg.lstsq` of the Jacobian, in the threads that numpy takes; "
        "*solve*: all of a solve, from the start pose to the answer."
    )
    return Table("8e. What a solve of a body costs", note, [_row(scale, name, case) for name, case in CASES.items()])


def _row(scale: Scale, name: str, case: Case) -> Row:
    figure = case.figure()
    solver, random, settings = Solver(figure), Random(5), Settings(TOLERANCE)
    matrix = case.jacobian(figure)
    missing = np.ones(len(matrix))
    asked: list[Rows] = []
    for _ in range(SOLVES):
        pose = [_q4(Quaternion(random_direction(random), random.uniform(0.0, TURN))) for _ in range(figure.count)]
        goals = case.goals(figure, pose)
        rows = Rows(figure, goals, 1)
        rows.fill(goals)
        asked.append(rows)

    def solve() -> int:
        for rows in asked:
            solver.solve_many(rows, settings)
        return sum(integers(rows.passes)[0] for rows in asked)

    def by_numpy() -> None:
        for _ in asked:
            np.linalg.lstsq(matrix, missing, rcond=None)

    timing = interleaved(scale.effort, solve, by_numpy)
    reached = list(Status).index(Status.REACHED)
    return {
        "figure": name,
        "Jacobian": f"{matrix.shape[0]} x {matrix.shape[1]}",
        "lstsq µs": timing.seconds(1) / SOLVES * 1e6,
        "solve µs": timing.seconds(0) / SOLVES * 1e6,
        "ratio": Judged(timing.ratio(0, 1), at_most=case.at_most),
        "passes a solve": solve() / SOLVES,
        "missed": sum(integers(rows.status)[0] != reached for rows in asked),
        "of": SOLVES,
    }
