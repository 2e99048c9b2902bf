# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 7, growth: what a solve costs with bones and chains, and a bake with frames and chains."""

from __future__ import annotations

import tracemalloc
from array import array
from collections.abc import Sequence
from random import Random

from fabrik_addon.kernel import Rows, Solver

from .baking import Case, ours
from .one_solve import SETTINGS, InNumbers
from .problems import doubles, free_tasks, random_direction, v3
from .tables import Judged, Row, Table
from .timing import Scale, interleaved

SHARE = 0.8  # of reach
LINEAR = 1.3  # times the least of the smaller cases that a unit may cost in the largest, and the growth is linear
CHAINS, TARGETS = 8, 2
BONES = (4, 10, 50, 100, 250, 500)
COUNTS = (64, 256, 1024, 2048, 4096, 8192)
FRAMES = (250, 1000, 4000, 10000)
BAKED_CHAINS = (8, 64, 250, 1000)


def tables(scale: Scale) -> list[Table]:
    """All of them."""
    return [bones(scale), chains(scale), baked_frames(scale), baked_chains(scale)]


def _judged(rows: list[Row], column: str) -> list[Row]:
    """Judge the last row's cost of a unit by the least of the rows before it."""
    costs = [row[column] for row in rows]
    numbers = [cost for cost in costs if isinstance(cost, float)]
    return [*rows[:-1], rows[-1] | {column: Judged(numbers[-1], at_most=LINEAR * min(numbers[:-1]))}]


def bones(scale: Scale) -> Table:
    """One solve, by the number of bones."""
    rows: list[Row] = []
    for count in BONES:
        work = InNumbers(free_tasks(CHAINS, TARGETS, count, SHARE))
        seconds = interleaved(scale.effort, work.run).seconds(0) / work.solves
        passes, _, _ = work.counts()
        rows.append({"bones": count, "µs a solve": seconds * 1e6, "passes": passes, "µs a bone": seconds * 1e6 / count})
    note = f"Free chains, targets at {SHARE} of reach. *To be*: at most {LINEAR} times the least of the shorter chains."
    return Table("7b. Growth with the number of bones", note, _judged(rows, "µs a bone"))


def chains(scale: Scale) -> Table:
    """Solves by the number of chains, each another one with a solver of its own; and by rows of one chain."""
    random, rows = Random(9), []
    for count in COUNTS[: scale.of(len(COUNTS), 2)]:
        tracemalloc.start()
        own = InNumbers(free_tasks(count, 1, 4, SHARE))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        task = free_tasks(1, 1, 4, SHARE)[0]
        solver, many = Solver(task.chain), Rows(task.chain, task.goals(0), count)
        places = [v3(random_direction(random) * task.chain.size * SHARE) for _ in range(count)]
        doubles(many.numbers)[:] = array("d", [number for place in places for number in place])

        def together(solver: Solver = solver, many: Rows = many) -> None:
            solver.solve_many(many, SETTINGS)

        timing = interleaved(scale.effort, own.run, together)
        row: Row = {"chains": count, "chains, µs each": timing.seconds(0) * 1e6 / count, "kB each": peak / 1e3 / count}
        rows.append(row | {"rows of one chain, µs each": timing.seconds(1) * 1e6 / count})
    note = (
        f"Free chains of 4 bones, targets at {SHARE} of reach: as many chains, each with a solver of its own, and as "
        "many rows of goals for one. *kB each*: memory of a chain with its solver and its numbers."
    )
    judged = _judged(_judged(rows, "chains, µs each"), "rows of one chain, µs each")
    return Table("7c. Growth with the number of chains", note, judged)


def baked_frames(scale: Scale) -> Table:
    """A bake, by the number of frames."""
    cases = [Case(64, 4, frames) for frames in FRAMES] if not scale.is_quick else [Case(8, 4, 250), Case(8, 4, 1000)]
    table = _baked("7d. Growth of a bake with frames", cases)
    return Table(table.title, table.note, _judged(table.rows, "µs a key"))


def baked_chains(scale: Scale) -> Table:
    """A bake, by the number of chains."""
    cases = [Case(chains, 4, 250) for chains in BAKED_CHAINS[: scale.of(len(BAKED_CHAINS), 2)]]
    return _baked("7e. Growth of a bake with chains", cases)


def _baked(title: str, cases: Sequence[Case]) -> Table:
    rows: list[Row] = []
    for case in cases:
        found = min((ours(case) for _ in range(2)), key=lambda baked: baked.seconds)
        row: Row = {"chains x bones x frames": str(case), "s": found.seconds, "keys": found.keys}
        rows.append(row | {"µs a key": found.seconds / found.keys * 1e6, "peak MB": ours(case, is_traced=True).peak})
    return Table(title, "Without verification; the quicker of two runs.", rows)
