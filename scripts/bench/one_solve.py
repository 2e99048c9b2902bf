# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 1: one solve, called from Python, beside plain FABRIK compiled by numba and beside Blender's own IK."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from fabrik_addon.kernel import Rows, Settings, Solver

from . import before
from .blender_ik import BlenderIk
from .native_fabrik import MOST, Doubles, fabrik_scalar, start_points
from .problems import TOLERANCE, Task, doubles, free_tasks, integers, limb_tasks
from .tables import Group, Judged, Row, Table
from .timing import Scale, interleaved

CHAINS, TARGETS = 16, 4
AT_MOST = {0.7: {4: 1.3, 10: 1.3, 50: 1.8}, 0.9: {4: 0.8, 10: 0.8, 50: 0.8}, 0.998: {4: 0.1, 10: 0.1, 50: 0.1}}
WITH_POLE, LIMB, LIMB_BESIDE_BLENDER = 1.3, 1.0, 0.1
SETTINGS = Settings(TOLERANCE)


class InNumbers:
    """Numbers in and numbers out: a row of one for each chain, filled and solved for each of its targets."""

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [(Solver(task.chain), Rows(task.chain, task.goals(0), 1), self._numbers(task)) for task in tasks]
        self.solves = sum(len(task.targets) for task in tasks)

    @staticmethod
    def _numbers(task: Task) -> list[array[float]]:
        return [array("d", task.numbers(i)) for i in range(len(task.targets))]

    def run(self) -> None:
        for solver, rows, numbers in self.work:
            row = doubles(rows.numbers)
            for given in numbers:
                row[:] = given
                solver.solve_many(rows, SETTINGS)

    def counts(self) -> tuple[float, int, float]:
        """Passes a solve, solves that did not reach, and the worst tip error as a share of the length."""
        passes, missed, worst = 0, 0, 0.0
        for solver, rows, numbers in self.work:
            for given in numbers:
                doubles(rows.numbers)[:] = given
                solver.solve_many(rows, SETTINGS)
                passes += integers(rows.passes)[0]
                missed += integers(rows.status)[0] != 0
                worst = max(worst, doubles(rows.residual)[0] / solver.figure.size)
        return passes / self.solves, missed, worst


class InObjects:
    """Goals and solutions as objects."""

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [(Solver(task.chain), task) for task in tasks]

    def run(self) -> None:
        for solver, task in self.work:
            for i in range(len(task.targets)):
                solver.solve(task.goals(i), SETTINGS)


@dataclass(frozen=True, slots=True)
class NativeTask:
    """What plain FABRIK needs to know of a task."""

    start: Doubles
    lengths: Doubles
    targets: list[Doubles]
    tolerance: float


class Native:
    """Plain FABRIK from the start pose, compiled."""

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [
            NativeTask(
                start_points(task),
                np.array(task.chain.lengths),
                [np.array(target) for target in task.targets],
                TOLERANCE * task.chain.size,
            )
            for task in tasks
        ]

    def run(self) -> int:
        """Solve all; returns the iterations."""
        count = 0
        for task in self.work:
            for target in task.targets:
                count += fabrik_scalar(task.start.copy(), task.lengths, target, task.tolerance, MOST)
        return count


def measured(scale: Scale) -> Group:
    """The tables of the group."""
    return Group("1", "One solve", [free(scale), limited(scale)])


def free(scale: Scale) -> Table:
    """Free chains beside numba."""
    rows: list[Row] = []
    for bones in (4, 10, 50):
        for share in (0.7, 0.9, 0.998):
            tasks = free_tasks(CHAINS, TARGETS, bones, share)
            name = f"{bones} bones at {share}"
            rows.append(_row(scale, name, tasks, AT_MOST[share][bones]))
        tasks = free_tasks(CHAINS, TARGETS, bones, 0.9, with_pole=True)
        rows.append(_row(scale, f"{bones} bones at 0.9, with pole", tasks, WITH_POLE))
    note = (
        "Free chains, targets at a share of their reach. *Numbers*: a target is written into a row of numbers, solved, "
        "and rotations, status and residual stand as numbers. *Objects*: the same through `Solver.solve`, goals and "
        "solution as objects. *numba*: plain FABRIK compiled, positions alone, no pole. Medians of interleaved rounds "
        "of 64 solves; *ratio* is numbers over numba, *before* the same of version 0.1.0."
    )
    return Table("1a. One solve of a free chain beside compiled plain FABRIK", note, rows)


def _row(scale: Scale, name: str, tasks: list[Task], at_most: float) -> Row:
    ours, objects, native = InNumbers(tasks), InObjects(tasks), Native(tasks)
    timing = interleaved(scale.effort, ours.run, objects.run, native.run)
    passes, missed, worst = ours.counts()
    each = 1e6 / ours.solves
    return {
        "chain": name,
        "numbers µs": timing.seconds(0) * each,
        "objects µs": timing.seconds(1) * each,
        "numba µs": timing.seconds(2) * each,
        "ratio": Judged(timing.ratio(0, 2), at_most=at_most),
        "objects, ratio": timing.ratio(1, 2),
        "before": before.ONE_SOLVE.get(name),
        "passes": passes,
        "numba's": native.run() / ours.solves,
        "missed": Judged(missed, at_most=0),
        "worst tip error": Judged(worst, at_most=TOLERANCE),
    }


def limited(scale: Scale) -> Table:
    """Limited legs beside numba and Blender's own IK."""
    rows: list[Row] = []
    for limb, with_pole in (
        ("leg with knee", False),
        ("leg with knee and ankle", False),
        ("leg with knee and ankle", True),
    ):
        rows.append(_limb_row(scale, limb, with_pole))
    note = (
        "Targets that forward kinematics made. Plain FABRIK knows neither limits nor pole. Blender's time is an "
        "update of a scene that holds nothing but the leg, its target and its pole."
    )
    return Table("1b. One solve of a limited leg beside compiled plain FABRIK and Blender's IK", note, rows)


def _limb_row(scale: Scale, limb: str, with_pole: bool) -> Row:
    tasks = limb_tasks(limb, 1, CHAINS * TARGETS, with_pole)
    ours, objects, native = InNumbers(tasks), InObjects(tasks), Native(tasks)
    rival = BlenderIk(tasks[0].chain, with_pole)

    def blender() -> None:
        for i, target in enumerate(tasks[0].targets):
            rival.follow(target, tasks[0].poles[i] if with_pole else None)

    timing = interleaved(scale.effort, ours.run, objects.run, native.run, blender)
    passes, missed, worst = ours.counts()
    each = 1e6 / ours.solves
    return {
        "leg": limb + (" and pole" if with_pole else ""),
        "numbers µs": timing.seconds(0) * each,
        "objects µs": timing.seconds(1) * each,
        "numba µs": timing.seconds(2) * each,
        "over numba": Judged(timing.ratio(0, 2), at_most=LIMB),
        "Blender µs": timing.seconds(3) * each,
        "over Blender": Judged(timing.ratio(0, 3), at_most=LIMB_BESIDE_BLENDER),
        "before": None if with_pole else before.LEGS_BESIDE_BLENDER[limb],
        "passes": passes,
        "missed": Judged(missed, at_most=0),
        "worst tip error": Judged(worst, at_most=TOLERANCE),
    }
