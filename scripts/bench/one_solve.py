# SPDX-License-Identifier: GPL-3.0-or-later
"""One solve, called from Python, and many rows in one call, beside compiled plain FABRIK and Blender's own IK."""

from __future__ import annotations

from array import array
from math import degrees

import numpy as np
from fabrik_addon.kernel import Rows, Settings, Solver

from .problems import TOLERANCE, Task, doubles, free_tasks, integers, limb_tasks
from .rivals import MOST, BlenderIk, Doubles, fabrik_many, fabrik_scalar, start_points
from .tables import Judged, Row, Table, at_most
from .timing import Scale

CHAINS, TARGETS = 16, 4
COUNT = 2048  # rows of the batches
SHARES = (0.7, 0.9, 0.998)  # of reach
# What a solve may take over compiled plain FABRIK by share of reach, and with a pole; limits it does not know
AIMS = {0.7: 2.0, 0.9: 1.3, 0.998: 0.1, None: 1.5}
GOALS = {"4 bones at 0.7": 1.3, "4 bones at 0.9": 0.8, "10 bones at 0.7": 1.3}
LIMB_GOALS = {"leg with knee and ankle": 1.0, "leg with knee and ankle and pole": 1.0}
MANY_AIMS = {0.7: 2.0, 0.9: 1.3, 0.998: 0.1, None: 2.0}
MANY_GOALS = {"4 bones at 0.7": 2.0, "leg with knee": 0.5, "leg with knee and ankle and pole": 1.1}
LIMB, LIMB_BESIDE_BLENDER = 1.0, 0.1
LEGS = (("leg with knee", False), ("leg with knee and ankle", False), ("leg with knee and ankle", True))
SETTINGS = Settings(TOLERANCE)


class InNumbers:
    """Numbers in and numbers out: a row of one for each chain, filled and solved for each of its targets.

    Attributes:
        solves: How many there are.
    """

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [(Solver(task.chain), Rows(task.chain, task.goals(0), 1), _numbers(task)) for task in tasks]
        self.solves = sum(len(task.targets) for task in tasks)

    def run(self) -> None:
        """Solve all."""
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


def _numbers(task: Task) -> list[array[float]]:
    return [array("d", task.numbers(i)) for i in range(len(task.targets))]


class InObjects:
    """Goals and solutions as objects."""

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [(Solver(task.chain), task) for task in tasks]

    def run(self) -> None:
        """Solve all."""
        for solver, task in self.work:
            for i in range(len(task.targets)):
                solver.solve(task.goals(i), SETTINGS)


class InRows:
    """For each chain one call for all of its targets."""

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [(Solver(task.chain), Rows(task.chain, task.goals(0), len(task.targets))) for task in tasks]
        for (_, rows), task in zip(self.work, tasks, strict=True):
            doubles(rows.numbers)[:] = array("d", [number for each in _numbers(task) for number in each])

    def run(self) -> None:
        """Solve all."""
        for solver, rows in self.work:
            solver.solve_many(rows, SETTINGS)


class Native:
    """Plain FABRIK from the start pose, compiled: positions alone."""

    def __init__(self, tasks: list[Task]) -> None:
        pairs = [(task, target) for task in tasks for target in task.targets]
        starts = {id(task): start_points(task) for task in tasks}
        self.start: Doubles = np.array([starts[id(task)] for task, _ in pairs])
        self.lengths: Doubles = np.array([task.chain.lengths for task, _ in pairs])
        self.targets: Doubles = np.array([target for _, target in pairs])
        self.tolerances: Doubles = np.array([TOLERANCE * task.chain.size for task, _ in pairs])

    def run(self) -> int:
        """Solve one after the other, a call each; returns the iterations."""
        each = zip(self.start.copy(), self.lengths, self.targets, self.tolerances, strict=True)
        return sum(fabrik_scalar(points, lengths, target, float(near), MOST) for points, lengths, target, near in each)

    def run_many(self) -> int:
        """Solve all in one compiled loop; returns the iterations."""
        return fabrik_many(self.start.copy(), self.lengths, self.targets, self.tolerances, MOST)


def measured(scale: Scale) -> list[Table]:
    """The tables of the group."""
    return [free(scale), limited(scale), many(scale)]


def _cases(chains: int, targets: int) -> list[tuple[str, list[Task], float | None]]:
    """Free chains by name, and the share of reach at which their targets lie; none where there is a pole, too."""
    found: list[tuple[str, list[Task], float | None]] = []
    for bones in (4, 10, 50):
        shares = SHARES if bones < 50 or targets == TARGETS else SHARES[:2]
        tasks = [(share, free_tasks(chains, targets, bones, share)) for share in shares]
        found += [(f"{bones} bones at {share}", each, share) for share, each in tasks]
        found.append((f"{bones} bones at 0.9, with pole", free_tasks(chains, targets, bones, 0.9, True), None))
    return found


def free(scale: Scale) -> Table:
    """Free chains beside numba."""
    rows: list[Row] = []
    for name, tasks, share in _cases(CHAINS, TARGETS):
        ours, objects, native = InNumbers(tasks), InObjects(tasks), Native(tasks)
        timing = scale.interleaved(ours.run, objects.run, native.run)
        passes, missed, worst = ours.counts()
        each = 1e6 / ours.solves
        rows.append(
            {
                "chain": name,
                "numbers µs": timing.seconds(0) * each,
                "objects µs": timing.seconds(1) * each,
                "numba µs": timing.seconds(2) * each,
                "over numba": at_most(timing.ratio(0, 2), name, AIMS[share], GOALS),
                "passes": passes,
                "numba's": native.run() / ours.solves,
                "missed": Judged(missed, at_most=0),
                "worst tip error": Judged(worst, at_most=TOLERANCE),
            }
        )
    note = (
        "Free chains, targets at a share of their reach. *Numbers*: a target is written into a row of numbers, solved, "
        "and rotations, status and residual stand as numbers. *Objects*: the same through `Solver.solve`, goals and "
        "solution as objects. *numba*: plain FABRIK compiled, positions alone, no pole. Medians of interleaved rounds "
        "of 64 solves; *over numba* is of the numbers."
    )
    return Table("1a. One solve of a free chain beside compiled plain FABRIK", note, rows)


def limited(scale: Scale) -> Table:
    """Limited legs beside numba and Blender's own IK."""
    note = (
        "Targets that forward kinematics made. Plain FABRIK knows neither limits nor pole. Blender's time is an "
        "update of a scene that holds nothing but the leg, its target and its pole."
    )
    rows = [_limb_row(scale, limb, with_pole) for limb, with_pole in LEGS]
    return Table("1b. One solve of a limited leg beside compiled plain FABRIK and Blender's IK", note, rows)


def _limb_row(scale: Scale, limb: str, with_pole: bool) -> Row:
    tasks = limb_tasks(limb, 1, CHAINS * TARGETS, with_pole)
    ours, native, rival = InNumbers(tasks), Native(tasks), BlenderIk(tasks[0].chain, with_pole)

    def blender() -> None:
        for i, target in enumerate(tasks[0].targets):
            rival.follow(target, tasks[0].poles[i] if with_pole else None)

    timing = scale.interleaved(ours.run, native.run, blender)
    passes, missed, worst = ours.counts()
    each = 1e6 / ours.solves
    name = limb + (" and pole" if with_pole else "")
    return {
        "leg": name,
        "numbers µs": timing.seconds(0) * each,
        "numba µs": timing.seconds(1) * each,
        "over numba": at_most(timing.ratio(0, 1), name, LIMB, LIMB_GOALS),
        "Blender µs": timing.seconds(2) * each,
        "over Blender": Judged(timing.ratio(0, 2), at_most=LIMB_BESIDE_BLENDER),
        "passes": passes,
        "missed": Judged(missed, at_most=0),
        "worst tip error": Judged(worst, at_most=TOLERANCE),
    }


def many(scale: Scale) -> Table:
    """Many rows of goals in one call."""
    count = scale.of(COUNT, 256) // CHAINS
    cases = [(name, tasks, MANY_AIMS[share]) for name, tasks, share in _cases(CHAINS, count)]
    for limb, with_pole in LEGS:
        name = limb + (" and pole" if with_pole else "")
        cases.append((name, limb_tasks(limb, CHAINS, count, with_pole), MANY_AIMS[None]))
    rows = [_many_row(scale, *case) for case in cases]
    note = (
        f"{count * CHAINS} rows of goals, {count} for each of {CHAINS} chains, solved by one call of `solve_many` a "
        "chain, beside one compiled loop of plain FABRIK (positions alone, no limits, no pole)."
    )
    return Table("1c. Many at once beside compiled plain FABRIK", note, rows)


def _many_row(scale: Scale, name: str, tasks: list[Task], aim: float) -> Row:
    ours, native = InRows(tasks), Native(tasks)
    timing = scale.interleaved(ours.run, native.run_many)
    count = sum(len(task.targets) for task in tasks)
    statuses = [status for _, rows in ours.work for status in integers(rows.status)]
    worst = max(residual / solver.figure.size for solver, rows in ours.work for residual in doubles(rows.residual))
    return {
        "chain": name,
        "µs a row": timing.seconds(0) / count * 1e6,
        "numba µs": timing.seconds(1) / count * 1e6,
        "over numba": at_most(timing.ratio(0, 1), name, aim, MANY_GOALS),
        "missed": Judged(sum(status != 0 for status in statuses), at_most=0),
        "worst tip error": Judged(worst, at_most=TOLERANCE),
        "violation °": degrees(max(solver.worst_violation(rows) for solver, rows in ours.work)),
    }
