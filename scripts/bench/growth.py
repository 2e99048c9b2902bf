# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve costs with bones and chains, and a bake with frames and chains."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping, Sequence

from .baking import Case, baked
from .one_solve import InNumbers, InRows
from .problems import free_tasks
from .tables import Row, Table, at_most
from .timing import Scale

SHARE = 0.8  # of reach
LINEAR = 1.3  # times the least of the smaller cases that a unit may cost in the largest, and the growth is linear
CHAINS, TARGETS = 8, 2
BONES = (4, 10, 50, 100, 250, 500)
COUNTS = (64, 512, 2048, 8192)
BAKES = ((8, 250), (64, 250), (64, 1000), (64, 4000), (500, 250))  # chains and frames
GOALS = {"8192": LINEAR}


def measured(scale: Scale) -> list[Table]:
    """The tables of the group."""
    return [bones(scale), chains(scale), bakes(scale)]


def _judged(rows: list[Row], column: str, goals: Mapping[str, float]) -> list[Row]:
    """Judge the last row's cost of a unit, over the least of the rows before it."""
    costs = [row[column] for row in rows]
    numbers = [cost for cost in costs if isinstance(cost, float)]
    growth = numbers[-1] / min(numbers[:-1])
    name = str(next(iter(rows[-1].values())))
    told: list[Row] = [{**row, f"{column}, growth": None} for row in rows[:-1]]
    return [*told, {**rows[-1], f"{column}, growth": at_most(growth, name, LINEAR, goals)}]


def bones(scale: Scale) -> Table:
    """One solve, by the number of bones."""
    rows: list[Row] = []
    for count in BONES:
        work = InNumbers(free_tasks(CHAINS, TARGETS, count, SHARE))
        seconds = scale.interleaved(work.run).seconds(0) / work.solves
        rows.append({"bones": str(count), "µs a solve": seconds * 1e6, "µs a bone": seconds * 1e6 / count})
    note = f"Free chains, targets at {SHARE} of reach. *Growth*: over the least of the shorter chains."
    return Table("2a. Growth with the number of bones", note, _judged(rows, "µs a bone", {}))


def chains(scale: Scale) -> Table:
    """Solves by the number of chains, each another one with a solver of its own; and by rows of one chain."""
    rows: list[Row] = []
    for count in COUNTS[: scale.of(len(COUNTS), 2)]:
        tracemalloc.start()
        own = InNumbers(free_tasks(count, 1, 4, SHARE))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        together = InRows(free_tasks(1, count, 4, SHARE))
        timing = scale.interleaved(own.run, together.run)
        row: Row = {
            "chains": str(count),
            "µs a chain": timing.seconds(0) * 1e6 / count,
            "kB a chain": peak / 1e3 / count,
        }
        rows.append(row | {"µs a row": timing.seconds(1) * 1e6 / count})
    note = (
        f"Free chains of 4 bones, targets at {SHARE} of reach: as many chains, each with a solver of its own, and as "
        "many rows of goals for one. *kB a chain*: memory of a chain with its solver and its numbers."
    )
    judged = _judged(_judged(rows, "µs a chain", GOALS), "µs a row", {})
    return Table("2b. Growth with the number of chains", note, judged)


def bakes(scale: Scale) -> Table:
    """Bakes by the number of frames and chains."""
    cases: Sequence[Case] = [Case(count, 4, frames) for count, frames in BAKES[: scale.of(len(BAKES), 2)]]
    rows: list[Row] = []
    for case in cases:
        found = min((baked(case) for _ in range(2)), key=lambda each: each.seconds)
        row: Row = {"chains x bones x frames": str(case), "s": found.seconds, "keys": found.keys}
        rows.append(row | {"µs a key": found.seconds / found.keys * 1e6})
    note = "Without verification; the quicker of two runs."
    return Table("2c. Growth of a bake with frames and chains", note, _judged(rows, "µs a key", {}))
