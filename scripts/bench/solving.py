# SPDX-License-Identifier: GPL-3.0-or-later
"""One solve and many at once beside others, how their cost grows, and limbs with limits: who reaches."""

from __future__ import annotations

import tracemalloc
from array import array
from math import degrees
from random import Random

import numpy as np
from fabrik_addon.kernel import Point, Rows, Settings, Solver, Status
from fabrik_addon.maths import Doubles

from dev.limbs import LIMBS, limb

from .live import Bake, baked
from .problems import (
    MOST,
    TOLERANCE,
    BlenderIk,
    Task,
    fabrik_many,
    fabrik_scalar,
    free_tasks,
    limb_tasks,
    reachable,
    start_points,
)
from .tables import Judged, Row, Scale, Table, at_most, worst_of

CHAINS, TARGETS = 16, 4
COUNT = 2048  # rows of the batches
SHARES = (0.7, 0.9, 0.998)  # of reach
# What a solve may take over compiled plain FABRIK by share of reach, and with a pole; limits it does not know
AIMS = {0.7: 2.0, 0.9: 1.3, 0.998: 0.1, None: 1.5}
GOALS = {"4 bones at 0.7": 1.3, "4 bones at 0.9": 0.8, "10 bones at 0.7": 1.3, "50 bones at 0.7": 2.0}
GOALS |= {"4 bones at 0.998": 0.1, "4 bones at 0.9, with pole": 1.5}
LIMB_GOALS = {"leg with ankle": 1.0, "leg with ankle and pole": 1.0}
MANY_AIMS = {0.7: 2.0, 0.9: 1.3, 0.998: 0.1, None: 2.0}
MANY_GOALS = {"4 bones at 0.7": 2.0, "leg": 0.5, "leg with ankle and pole": 1.1}
MANY_GOALS |= {"4 bones at 0.9": 1.3, "4 bones at 0.9, with pole": 2.0, "10 bones at 0.7": 2.0, "50 bones at 0.7": 2.0}
LIMB, LIMB_BESIDE_BLENDER = 1.0, 0.1
LEGS = {  # by row the limb, and whether it has a pole
    "leg": ("leg", False),
    "leg with ankle": ("leg with ankle", False),
    "leg with ankle and pole": ("leg with ankle", True),
}
SETTINGS = Settings(TOLERANCE)


class InNumbers:
    """Numbers in and numbers out: rows for each chain, filled and solved for one of its targets after the other.

    Args:
        tasks: The chains.
        at_once: Whether all targets of a chain are solved by one call.

    Attributes:
        work: For each chain its solver, its rows, and what they are filled with.
        solves: How many there are.
    """

    def __init__(self, tasks: list[Task], *, at_once: bool = False) -> None:
        self.work: list[tuple[Solver, Rows, list[array[float]]]] = []
        for task in tasks:
            given = [array("d", task.numbers(i)) for i in range(len(task.targets))]
            if at_once:
                given = [array("d", [number for each in given for number in each])]
            rows = Rows(task.chain, task.goals(0), len(task.targets) if at_once else 1)
            self.work.append((Solver(task.chain), rows, given))
        self.solves = sum(len(task.targets) for task in tasks)

    def run(self) -> None:
        """Solve all."""
        for solver, rows, numbers in self.work:
            row = rows.numbers
            for given in numbers:
                row[:] = given
                solver.solve_many(rows, SETTINGS)

    def counts(self) -> tuple[float, int, float]:
        """Passes a solve, solves that did not reach, and the worst tip error as a share of the length."""
        passes, missed, worst = 0, 0, 0.0
        for solver, rows, numbers in self.work:
            for given in numbers:
                rows.numbers[:] = given
                solver.solve_many(rows, SETTINGS)
                passes += sum(rows.passes)
                missed += sum(status != 0 for status in rows.status)
                worst = max(worst, max(rows.residual) / solver.figure.size)
        return passes / self.solves, missed, worst


class InObjects:
    """Goals and solutions as objects."""

    def __init__(self, tasks: list[Task]) -> None:
        self.work = [(Solver(task.chain), task) for task in tasks]

    def run(self) -> None:
        """Solve all."""
        for solver, task in self.work:
            for i in range(len(task.targets)):
                solver.solve(task.goals(i), SETTINGS)


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
    rows = [_limb_row(scale, name, *leg) for name, leg in LEGS.items()]
    return Table("1b. One solve of a limited leg beside compiled plain FABRIK and Blender's IK", note, rows)


def _limb_row(scale: Scale, name: str, leg: str, with_pole: bool) -> Row:
    tasks = limb_tasks(leg, 1, CHAINS * TARGETS, with_pole)
    ours, native, rival = InNumbers(tasks), Native(tasks), BlenderIk(tasks[0].chain, with_pole)

    def blender() -> None:
        for i, target in enumerate(tasks[0].targets):
            rival.follow(target, tasks[0].poles[i] if with_pole else None)

    timing = scale.interleaved(ours.run, native.run, blender)
    passes, missed, worst = ours.counts()
    each = 1e6 / ours.solves
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
    cases += [(name, limb_tasks(leg, CHAINS, count, pole), MANY_AIMS[None]) for name, (leg, pole) in LEGS.items()]
    rows = [_many_row(scale, *case) for case in cases]
    note = (
        f"{count * CHAINS} rows of goals, {count} for each of {CHAINS} chains, solved by one call of `solve_many` a "
        "chain, beside one compiled loop of plain FABRIK (positions alone, no limits, no pole)."
    )
    return Table("1c. Many at once beside compiled plain FABRIK", note, rows)


def _many_row(scale: Scale, name: str, tasks: list[Task], aim: float) -> Row:
    ours, native = InNumbers(tasks, at_once=True), Native(tasks)
    timing = scale.interleaved(ours.run, native.run_many)
    _, missed, worst = ours.counts()
    return {
        "chain": name,
        "µs a row": timing.seconds(0) / ours.solves * 1e6,
        "numba µs": timing.seconds(1) / ours.solves * 1e6,
        "over numba": at_most(timing.ratio(0, 1), name, aim, MANY_GOALS),
        "missed": Judged(missed, at_most=0),
        "worst tip error": Judged(worst, at_most=TOLERANCE),
        "violation °": degrees(max(solver.worst_violation(rows) for solver, rows, _ in ours.work)),
    }


# ---- growth with bones, chains and frames

SHARE = 0.8  # of reach
LINEAR = 1.3  # times the least of the smaller cases that a unit may cost in the largest, and the growth is linear
BONES = (4, 10, 50, 100, 250, 500)
COUNTS = (64, 512, 2048, 8192)
BAKES = ((8, 250), (64, 250), (64, 1000), (64, 4000), (500, 250))  # chains and frames


def _judged(rows: list[Row], column: str, *, is_goal: bool = False) -> list[Row]:
    """Judge the last row's cost of a unit, over the least of the rows before it."""
    costs = [row[column] for row in rows]
    numbers = [cost for cost in costs if isinstance(cost, float)]
    growth = numbers[-1] / min(numbers[:-1])
    told: list[Row] = [{**row, f"{column}, growth": None} for row in rows[:-1]]
    return [*told, {**rows[-1], f"{column}, growth": Judged(growth, at_most=LINEAR, is_goal=is_goal)}]


def bones(scale: Scale) -> Table:
    """One solve, by the number of bones."""
    rows: list[Row] = []
    for count in BONES:
        work = InNumbers(free_tasks(8, 2, count, SHARE))
        seconds = scale.interleaved(work.run).seconds(0) / work.solves
        rows.append({"bones": str(count), "µs a solve": seconds * 1e6, "µs a bone": seconds * 1e6 / count})
    note = f"Free chains, targets at {SHARE} of reach. *Growth*: over the least of the shorter chains."
    return Table("2a. Growth with the number of bones", note, _judged(rows, "µs a bone"))


def chains(scale: Scale) -> Table:
    """Solves by the number of chains, each another one with a solver of its own; and by rows of one chain."""
    rows: list[Row] = []
    for count in COUNTS[: scale.of(len(COUNTS), 2)]:
        tracemalloc.start()
        own = InNumbers(free_tasks(count, 1, 4, SHARE))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        together = InNumbers(free_tasks(1, count, 4, SHARE), at_once=True)
        timing = scale.interleaved(own.run, together.run)
        a_chain, a_row = (timing.seconds(i) * 1e6 / count for i in (0, 1))
        rows.append({"chains": str(count), "µs a chain": a_chain, "kB a chain": peak / 1e3 / count, "µs a row": a_row})
    note = (
        f"Free chains of 4 bones, targets at {SHARE} of reach: as many chains, each with a solver of its own, and as "
        "many rows of goals for one. *kB a chain*: memory of a chain with its solver and its numbers."
    )
    judged = _judged(_judged(rows, "µs a chain", is_goal=True), "µs a row")
    return Table("2b. Growth with the number of chains", note, judged)


def bakes(scale: Scale) -> Table:
    """Bakes by the number of frames and chains."""
    rows: list[Row] = []
    for count, frames in BAKES[: scale.of(len(BAKES), 2)]:
        case = Bake(count, 4, frames)
        found = min((baked(case) for _ in range(2)), key=lambda each: each.seconds)
        a_key = found.seconds / found.keys * 1e6
        rows.append({"chains x bones x frames": str(case), "s": found.seconds, "keys": found.keys, "µs a key": a_key})
    note = "Without verification; the quicker of two runs."
    return Table("2c. Growth of a bake with frames and chains", note, _judged(rows, "µs a key", is_goal=True))


# ---- limits

VIOLATION = 1e-5  # degrees


def reachable_targets(scale: Scale) -> Table:
    """Limited chains, and Blender's own IK with the same limits."""
    rows = [_reachable_row(scale, name) for name in LIMBS]
    note = (
        "*Missed* counts targets that are not reached within 1e-4 of the length; *violation* is the most that a joint "
        "stands outside its limit. *Blender*: of the first 200 targets those that its own IK reaches with the same "
        "limits, where it can say them; it exceeds them by as much as it says."
    )
    return Table("5a. Under limits: targets that forward kinematics made", note, rows)


def _reachable_row(scale: Scale, name: str) -> Row:
    samples, few = scale.of(2000, 40), scale.of(200, 10)
    chain, random = limb(name), Random(7)
    targets = [reachable(random, chain) for _ in range(samples)]
    solver, settings = Solver(chain), Settings(TOLERANCE)
    solutions = [solver.solve([Point(chain.count - 1, target)], settings) for target in targets]
    missed = sum(solution.status is not Status.REACHED for solution in solutions)
    turned = [zip(chain.joint_limits, solution.rotations, strict=True) for solution in solutions]
    violation = worst_of([max(limit.violation(turn) for limit, turn in own) for own in turned])
    rival = BlenderIk(chain, with_pole=False)
    theirs = [rival.solve(target) for target in targets[:few]] if rival.expressible else []
    reached = sum(error <= TOLERANCE for error, _ in theirs)
    return {
        "chain": name,
        "targets": samples,
        "missed": Judged(missed, at_most=0),
        "violation °": Judged(degrees(violation), at_most=VIOLATION),
        "passes": sum(solution.passes for solution in solutions) / samples,
        "Blender %": 100.0 * reached / few if theirs else None,
        "Blender, violation °": max((over for _, over in theirs), default=None),
    }
