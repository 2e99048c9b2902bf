# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 2: many rows of goals in one call, beside plain FABRIK compiled by numba."""

from __future__ import annotations

from array import array
from math import degrees

import numpy as np
from fabrik_addon.kernel import Rows, Solver

from . import before
from .native_fabrik import MOST, Doubles, fabrik_many, start_points
from .one_solve import SETTINGS
from .problems import TOLERANCE, Task, doubles, free_tasks, integers, limb_tasks
from .tables import Group, Judged, Row, Table
from .timing import Scale, interleaved

COUNT, CHAINS = 2048, 16
AT_MOST = {0.7: 2.0, 0.9: 0.9, 0.998: None}
KNEE, ANKLE_AND_POLE = 0.5, 1.1


class InRows:
    """For each chain one call for all of its targets."""

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [(Solver(task.chain), filled(task)) for task in tasks]

    def run(self) -> None:
        for solver, rows in self.work:
            solver.solve_many(rows, SETTINGS)


def filled(task: Task) -> Rows:
    """Rows with all targets of a task."""
    count = len(task.targets)
    rows = Rows(task.chain, task.goals(0), count)
    doubles(rows.numbers)[:] = array("d", [number for i in range(count) for number in task.numbers(i)])
    return rows


class NativeMany:
    """Plain FABRIK for all targets of all chains in one compiled loop."""

    def __init__(self, tasks: list[Task]) -> None:
        pairs = [(task, target) for task in tasks for target in task.targets]
        starts = {id(task): start_points(task) for task in tasks}
        self.start: Doubles = np.array([starts[id(task)] for task, _ in pairs])
        self.lengths: Doubles = np.array([task.chain.lengths for task, _ in pairs])
        self.targets: Doubles = np.array([target for _, target in pairs])
        self.tolerances: Doubles = np.array([TOLERANCE * task.chain.size for task, _ in pairs])

    def run(self) -> int:
        """Solve all; returns the iterations."""
        return fabrik_many(self.start.copy(), self.lengths, self.targets, self.tolerances, MOST)


def measured(scale: Scale) -> Group:
    """The tables of the group."""
    count = scale.of(COUNT, 256) // CHAINS
    rows: list[Row] = []
    for bones in (4, 10, 50):
        for share in (0.7, 0.9, 0.998):
            if bones < 50 or share < 0.998:
                tasks = free_tasks(CHAINS, count, bones, share)
                rows.append(_row(scale, f"{bones} bones at {share}", tasks, AT_MOST[share]))
        tasks = free_tasks(CHAINS, count, bones, 0.9, with_pole=True)
        rows.append(_row(scale, f"{bones} bones at 0.9, with pole", tasks, None))
    rows.append(_row(scale, "leg with knee", limb_tasks("leg with knee", CHAINS, count), KNEE))
    leg = "leg with knee and ankle"
    rows.append(_row(scale, leg, limb_tasks(leg, CHAINS, count), None))
    rows.append(_row(scale, f"{leg} and pole", limb_tasks(leg, CHAINS, count, with_pole=True), ANKLE_AND_POLE))
    note = (
        f"{count * CHAINS} rows of goals, {count} for each of {CHAINS} chains, solved by one call of `solve_many` a "
        "chain, beside one compiled loop of plain FABRIK (positions alone, no limits, no pole). *before*: the numpy "
        "batches of version 0.1.0, another chain in each row."
    )
    return Group("2", "Many at once", [Table("2. Batches beside compiled plain FABRIK", note, rows)])


def _row(scale: Scale, name: str, tasks: list[Task], at_most: float | None) -> Row:
    ours, native = InRows(tasks), NativeMany(tasks)
    timing = interleaved(scale.effort, ours.run, native.run)
    count = sum(len(task.targets) for task in tasks)
    statuses = [status for _, rows in ours.work for status in integers(rows.status)]
    worst = max(residual / solver.figure.size for solver, rows in ours.work for residual in doubles(rows.residual))
    return {
        "chain": name,
        "µs a row": timing.seconds(0) / count * 1e6,
        "numba µs": timing.seconds(1) / count * 1e6,
        "ratio": Judged(timing.ratio(0, 1), at_most=at_most),
        "before": before.BATCHES.get(name),
        "passes": sum(passes for _, rows in ours.work for passes in integers(rows.passes)) / count,
        "numba's": native.run() / count,
        "missed": Judged(sum(status != 0 for status in statuses), at_most=0),
        "worst tip error": Judged(worst, at_most=TOLERANCE),
        "violation °": degrees(max(solver.worst_violation(rows) for solver, rows in ours.work)),
    }
