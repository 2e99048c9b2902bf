# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of one solve: convergence, success under limits, cost, growth with the bones, BLOCKED checked."""

from __future__ import annotations

from math import degrees
from random import Random
from statistics import median
from typing import Any

import numpy as np
from mathutils import Vector
from scipy.optimize import least_squares

from benchmark_chains import limited_chains
from benchmark_rivals import BlenderIk, fabrik_scalar, plain_limited, with_ccd
from benchmark_tools import (
    TOLERANCE,
    Row,
    interleaved,
    percentile,
    random_chain,
    random_vector,
    reachable,
    scalar_arrays,
    table,
)

RIVAL_PASSES = 64
SOLVES = 16
NEARER = 0.01


def convergence(kernel: Any, samples: int) -> Row:
    """Table 1: passes of unlimited chains, and plain FABRIK's on the same targets."""
    rows: list[Row] = []
    for low, high in ((0.25, 0.9), (0.97, 0.99), (0.998, 0.9995)):
        for count in (2, 4, 10, 50, 100):
            random, ours, plain, apart, errors = Random(count), [], [], [], []
            for _ in range(samples):
                chain = random_chain(kernel, random, count)
                nearest = kernel.bounds(chain.lengths)[0] / chain.length
                share = random.uniform(max(low, nearest + 0.01), max(high, nearest + 0.02))
                target = random_vector(random).normalized() * chain.length * share
                solution = kernel.solve(chain, kernel.Goal(target))
                start = kernel.swing_start(chain.unit, kernel.Goal(target / chain.length))
                points, lengths = np.array(start.joints, dtype=np.float64), np.array(chain.unit.lengths)
                aim = np.array(target / chain.length)
                plain.append(fabrik_scalar(points, lengths, aim, TOLERANCE, 20000))
                fabrik_scalar(points, lengths, aim, 1e-7, 20000)
                ours.append(solution.passes)
                errors.append(solution.residual / chain.length)
                seen = np.array([joint / chain.length for joint in kernel.place(chain, solution.rotations)[0]])
                apart.append(float(np.sqrt(((seen - points) ** 2).sum(axis=1)).max()))
            rows.append(
                {
                    "reach": f"{low}-{high}",
                    "bones": count,
                    "passes p50": median(ours),
                    "p95": percentile(ours, 95),
                    "max": max(ours),
                    "plain p50": median(plain),
                    "plain p95": percentile(plain, 95),
                    "worst tip error": max(errors),
                    "apart from FABRIK p50": median(apart),
                    "apart p95": percentile(apart, 95),
                }
            )
    return table(
        "1. Unlimited chains: passes, and the distance of the pose from converged FABRIK (shares of length)", rows
    )


# Aristidou & Lasenby 2011, Table 1: mean iterations of 20 runs with 10 joints; their targets are not published.
PRINTED = {"reachable": {"FABRIK": 15.461, "CCD": 26.308}, "unreachable": {"FABRIK": 67.564, "CCD": 390.135}}


def paper(kernel: Any, samples: int) -> Row:
    """Table 1b: the paper's Table 1 in kind: 10 joints, 900 mm, target 600 mm from the tip, tolerance 1e-3 mm."""
    random = Random(2011)
    start = [Vector((100.0 * i, 0.0, 0.0)) for i in range(10)]
    chain, tip = kernel.Chain.from_points(start), start[-1]
    settings = kernel.Settings(1e-3 / 900.0)
    found: dict[str, list[tuple[int, int, float]]] = {"reachable": [], "unreachable": []}
    while min(len(runs) for runs in found.values()) < samples:
        target = tip + random_vector(random).normalized() * 600.0
        name = "reachable" if target.length < chain.length else "unreachable"
        if len(found[name]) == samples:
            continue
        solution = kernel.solve(chain, kernel.Goal(target), settings)
        points, lengths = np.array(start, dtype=np.float64), np.array(chain.lengths)
        points[1:-1, 1] += 0.9  # a line never leaves itself: bent by a thousandth
        plain = fabrik_scalar(points, lengths, np.array(target), 1e-3, 5000)
        found[name].append((solution.passes, plain, solution.residual))
    rows: list[Row] = []
    for name, runs in found.items():
        ours, plain_runs, errors = zip(*runs, strict=True)
        row: Row = {"target": name, "ours, mean": sum(ours) / samples, "median": median(ours), "max": max(ours)}
        row["plain FABRIK here, median"] = median(plain_runs) if name == "reachable" else "-"
        row.update({f"{method}, printed": value for method, value in PRINTED[name].items()})
        row["worst tip error mm"] = max(errors) if name == "reachable" else "-"
        rows.append(row)
    return table("1b. The paper's Table 1 in kind: iterations, 10 joints", rows)


def success(kernel: Any, samples: int, rival_samples: int) -> Row:
    """Table 2: targets made by forward kinematics inside the limits."""
    rows: list[Row] = []
    for name, chain in limited_chains(kernel).items():
        random = Random(7)
        targets = [reachable(kernel, chain, random) for _ in range(samples)]
        missed, worst = 0, 0.0
        for target in targets:
            solution = kernel.solve(chain, kernel.Goal(target))
            missed += solution.status is not kernel.Status.REACHED
            pairs = zip(chain.joints, solution.rotations, strict=True)
            worst = max(worst, *(joint.limit.violation(rotation) for joint, rotation in pairs))
        few = targets[:rival_samples]
        row: Row = {
            "chain": name,
            "targets": samples,
            "missed": missed,
            "violation deg": degrees(worst),
        }
        for label, rival in (("FABRIK %", plain_limited), ("FABRIK+CCD %", with_ccd)):
            hits = sum(
                rival(kernel, chain, target, TOLERANCE, RIVAL_PASSES // 4) <= TOLERANCE * 1.001 for target in few
            )
            row[label] = 100 * hits / len(few)
        for label, pole in (("Blender IK", False), ("with pole", True)):
            joints, frames = kernel.place(chain, chain.start)
            ik = BlenderIk(chain, joints, frames, pole)
            found = [ik.solve(target) for target in few] if ik.expressible else []
            row[f"{label} %"] = 100 * sum(error <= TOLERANCE for error, _ in found) / len(few) if found else "-"
            row[f"{label} viol. deg"] = max(violation for _, violation in found) if found else "-"
        rows.append(row)
    return table("2. Under limits: targets that forward kinematics made, reached within 1e-4 of the length", rows)


def cost(kernel: Any, rounds: int) -> Row:
    """Table 3a: one solve beside scalar FABRIK compiled by numba."""
    rows: list[Row] = []
    for count in (4, 10, 50):
        for share in (0.7, 0.9, 0.998):
            random = Random(count)
            chains = [random_chain(kernel, random, count) for _ in range(SOLVES)]
            targets = [random_vector(random).normalized() * chain.length * share for chain in chains]
            arrays = [scalar_arrays(kernel, chain) for chain in chains]
            aims = [np.array(target) for target in targets]

            def ours(chains: Any = chains, targets: Any = targets) -> None:
                for chain, target in zip(chains, targets, strict=True):
                    kernel.solve(chain, kernel.Goal(target))

            def scalar(chains: Any = chains, arrays: Any = arrays, aims: Any = aims) -> None:
                for chain, (points, lengths), aim in zip(chains, arrays, aims, strict=True):
                    fabrik_scalar(points.copy(), lengths, aim, TOLERANCE * chain.length, 100000)

            mine, theirs = interleaved(rounds, ours, scalar)
            rows.append(
                {
                    "bones": count,
                    "share of reach": share,
                    "us a solve": mine / SOLVES * 1e6,
                    "numba us": theirs / SOLVES * 1e6,
                    "ratio": mine / theirs,
                }
            )
    return table("3a. Cost of one solve: interpreted Python beside plain FABRIK compiled by numba", rows)


def limited_cost(kernel: Any, rounds: int) -> Row:
    """Table 3b: limited legs beside Blender's own IK, whose time holds the evaluation of its scene."""
    rows: list[Row] = []
    for name in ("leg with knee", "leg with knee and ankle"):
        leg, random = limited_chains(kernel)[name], Random(3)
        targets = [reachable(kernel, leg, random) for _ in range(SOLVES)]
        joints, frames = kernel.place(leg, leg.start)
        ik = BlenderIk(leg, joints, frames, False)

        def limited(leg: Any = leg, targets: Any = targets) -> None:
            for target in targets:
                kernel.solve(leg, kernel.Goal(target))

        def blender(ik: Any = ik, targets: Any = targets) -> None:
            for target in targets:
                ik.target.location = target
                ik.layer.update()

        mine, theirs = interleaved(rounds, limited, blender)
        rows.append(
            {
                "limb": name,
                "us a solve": mine / SOLVES * 1e6,
                "Blender IK us": theirs / SOLVES * 1e6,
                "ratio": mine / theirs,
            }
        )
    return table("3b. Cost of one solve of a limited leg beside Blender's own IK with its evaluation", rows)


def growth(kernel: Any, rounds: int) -> Row:
    """Table 5: cost against the number of bones."""
    rows: list[Row] = []
    for count in (4, 10, 50, 100, 250, 500):
        random = Random(count)
        chain = random_chain(kernel, random, count)
        target = random_vector(random).normalized() * chain.length * 0.8

        def one(chain: Any = chain, target: Any = target) -> None:
            kernel.solve(chain, kernel.Goal(target))

        (seconds,) = interleaved(rounds, one)
        rows.append({"bones": count, "us a solve": seconds * 1e6, "us a bone": seconds * 1e6 / count})
    return table("5a. Growth with the number of bones, target at 0.8 of reach", rows)


def blocked(kernel: Any, samples: int, starts: int) -> Row:
    """Table 7: where a chain of hinges is said to be blocked, do bounded least squares from many starts come nearer?"""
    rows: list[Row] = []
    chains = limited_chains(kernel)
    for name in ("spider leg of six joints", "six-axis arm"):
        chain, random = chains[name], Random(11)
        gains = []
        for _ in range(samples):
            target = random_vector(random).normalized() * chain.length * random.uniform(0.2, 0.95)
            solution = kernel.solve(chain, kernel.Goal(target))
            if solution.status is kernel.Status.BLOCKED:
                best = nearest_by_scipy(kernel, chain, target, random, starts)
                gains.append(float((solution.residual - best) / chain.length))
        row: Row = {"chain": name, "targets": samples, "said blocked": len(gains)}
        row["scipy nearer, worst % of length"] = 100 * max([0.0, *gains])
        row["nearer by over 1 %"] = sum(gain > NEARER for gain in gains)
        rows.append(row)
    return table("7. BLOCKED, checked by scipy's bounded least squares from many starts", rows)


def nearest_by_scipy(kernel: Any, chain: Any, target: Vector, random: Random, starts: int) -> float:
    """The least distance from tip to target that bounded least squares on the hinges' angles finds."""
    limits = [joint.limit for joint in chain.joints]
    low, high = [limit.angle_min for limit in limits], [limit.angle_max for limit in limits]

    def off(angles: Any) -> Any:
        rotations = [limit.at(float(angle)) for limit, angle in zip(limits, angles, strict=True)]
        return np.array(kernel.place(chain, rotations)[0][-1] - target)

    first = [[random.uniform(a, b) for a, b in zip(low, high, strict=True)] for _ in range(starts)]
    return float(min(np.linalg.norm(least_squares(off, x, bounds=(low, high), diff_step=1e-3).fun) for x in first))
