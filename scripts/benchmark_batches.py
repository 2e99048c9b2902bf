# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of many solves at once: cost beside compiled scalar code, memory, growth with the chains."""

from __future__ import annotations

import time
import tracemalloc
from math import degrees
from random import Random
from typing import Any

import numpy as np
from mathutils import Vector

from benchmark_chains import limited_chains
from benchmark_rivals import fabrik_many
from benchmark_tools import TOLERANCE, Row, interleaved, random_chain, random_vector, reachable, table

MOST = 100000
LEGS = 64  # legs of different size, each with its share of the goals


def free_case(kernel: Any, count: int, bones: int, share: float) -> tuple[list[Any], Any]:
    """Chains of length 1 and targets (count, 3) at a share of their reach."""
    random = Random(bones)
    chains = [random_chain(kernel, random, bones).unit for _ in range(count)]
    return chains, np.array([random_vector(random).normalized() * share for _ in chains])


def legs_case(kernel: Any, name: str, count: int) -> tuple[list[Any], Any]:
    """Legs of different sizes with the limits of one of the chains, and targets that forward kinematics made."""
    random, leg = Random(3), limited_chains(kernel)[name]
    joints, _ = kernel.place(leg, leg.start)
    limits = [joint.limit for joint in leg.joints]
    legs = []
    for _ in range(LEGS):
        points = [Vector(joint) * random.uniform(0.95, 1.05) for joint in joints]
        legs.append(kernel.Chain.from_points(points, limits).unit)
    chains = [legs[i % LEGS] for i in range(count)]
    return chains, np.array([reachable(kernel, chain, random) for chain in chains])


def batches(kernel: Any, count: int, rounds: int) -> Row:
    """Table 4: many chains at once."""
    cases: list[tuple[str, list[Any], Any]] = []
    for bones in (4, 10):
        for share in (0.7, 0.9, 0.998):
            cases.append((f"{bones} bones, {share} of reach", *free_case(kernel, count, bones, share)))
    for name in ("leg with knee", "leg with knee and ankle"):
        cases.append((name, *legs_case(kernel, name, count)))
    rows: list[Row] = []
    for label, chains, targets in cases:
        distinct = list(dict.fromkeys(chains))
        place = {chain: i for i, chain in enumerate(distinct)}
        goals = kernel.Goals(np.array([place[chain] for chain in chains]), targets.T.copy())
        started = time.perf_counter()
        batch = kernel.ChainBatch(distinct)
        solution = kernel.solve_batch(batch, goals)
        first = time.perf_counter() - started
        points = np.array([kernel.place(chain, chain.start)[0] for chain in chains], dtype=np.float64)
        lengths = np.array([chain.lengths for chain in chains])
        theirs_at = points.copy()
        fabrik_many(theirs_at, lengths, targets, TOLERANCE, MOST)

        def ours(batch: Any = batch, goals: Any = goals) -> None:
            kernel.solve_batch(batch, goals)

        def compiled(points: Any = points, lengths: Any = lengths, targets: Any = targets) -> None:
            fabrik_many(points.copy(), lengths, targets, TOLERANCE, MOST)

        mine, theirs = interleaved(rounds, ours, compiled)
        rows.append(
            {
                "chains": label,
                "us a chain": mine / count * 1e6,
                "numba us": theirs / count * 1e6,
                "ratio": mine / theirs,
                "missed": int((solution.status != 0).sum()),
                "worst tip error": float(solution.residual.max()),
                "numba's": float(np.linalg.norm(theirs_at[:, -1] - targets, axis=1).max()),
                "violation deg": degrees(worst_violation(kernel, chains, solution)),
                "first, us a chain": first / count * 1e6,
            }
        )
    title = f"4. {count} solves at once, beside plain FABRIK (no limits, no rotations) compiled by numba"
    return table(title, rows)


def worst_violation(kernel: Any, chains: list[Any], solution: Any) -> float:
    """The worst violation of any limit, in radians, as one solve alone judges it."""
    worst = 0.0
    for part in solution.parts:
        for column, goal in enumerate(part.goals):
            for joint, rotation in zip(chains[goal].joints, part.rotations[..., column], strict=True):
                worst = max(worst, joint.limit.violation(kernel.Quaternion(rotation)))
    return worst


def growth_of_batches(kernel: Any, rounds: int) -> Row:
    """Table 5b: cost and memory against the number of chains."""
    rows: list[Row] = []
    for count in (64, 256, 1024, 2048, 4096, 8192):
        row: Row = {"chains": count}
        for bones in (4, 10):
            chains, targets = free_case(kernel, count, bones, 0.8)
            batch = kernel.ChainBatch(chains)
            goals = kernel.Goals(np.arange(count), targets.T.copy())
            kernel.solve_batch(batch, goals)

            def ours(batch: Any = batch, goals: Any = goals) -> None:
                kernel.solve_batch(batch, goals)

            (seconds,) = interleaved(rounds, ours)
            tracemalloc.start()
            kernel.solve_batch(batch, goals)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            row[f"{bones} bones, us a chain"] = seconds / count * 1e6
            row[f"{bones} bones, peak MB"] = peak / 1e6
        rows.append(row)
    return table("5b. Growth with the number of chains, targets at 0.8 of reach, and the memory of a solve", rows)
