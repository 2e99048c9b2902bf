# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 6, passes: of free chains, beside plain FABRIK on the same targets and the figures of the paper."""

from __future__ import annotations

from random import Random
from statistics import median

import numpy as np
from fabrik_addon.kernel import Figure, Point, Settings, Solver
from mathutils import Vector

from . import before
from .native_fabrik import Doubles, fabrik_scalar
from .problems import TOLERANCE, random_chain, random_direction, v3
from .tables import Judged, Row, Table, percentile
from .timing import Scale

RANGES = ((0.25, 0.9), (0.97, 0.99), (0.998, 0.9995))
PLAIN_MOST, CONVERGED = 20000, 1e-7
# Aristidou & Lasenby 2011, Table 1: mean iterations of 20 runs with 10 joints; their targets are not published.
PRINTED = {"reachable": {"FABRIK": 15.461, "CCD": 26.308}, "unreachable": {"FABRIK": 67.564, "CCD": 390.135}}
BONE, AWAY, MILLIMETRES = 100.0, 600.0, 1e-3


def passes_of_free_chains(scale: Scale) -> Table:
    """Passes of free chains, and plain FABRIK's on the same targets."""
    rows = [_row(low, high, bones, scale.of(200, 20)) for low, high in RANGES for bones in (2, 4, 10, 50, 100)]
    note = (
        "Random chains and targets. *Plain*: iterations of plain FABRIK from the start pose swung towards the target. "
        "*Apart*: the greatest distance of a joint from where converged FABRIK has it, a share of the length."
    )
    return Table("6a. Free chains: passes", note, rows)


def _row(low: float, high: float, bones: int, samples: int) -> Row:
    random = Random(bones)
    ours: list[int] = []
    plain: list[int] = []
    apart: list[float] = []
    errors: list[float] = []
    for _ in range(samples):
        chain = random_chain(random, bones)
        solver, length = Solver(chain), chain.size
        nearest = max(2.0 * max(chain.lengths) - length, 0.0) / length
        share = random.uniform(max(low, nearest + 0.01), max(high, nearest + 0.02))
        target = random_direction(random) * length * share
        solution = solver.solve([Point(bones - 1, v3(target))], Settings(TOLERANCE))
        points, lengths = _swung(chain, target), np.array(chain.lengths)
        aim = np.array(v3(target))
        plain.append(fabrik_scalar(points, lengths, aim, TOLERANCE * length, PLAIN_MOST))
        fabrik_scalar(points, lengths, aim, CONVERGED * length, PLAIN_MOST)
        ours.append(solution.passes)
        errors.append(solution.residual / length)
        apart.append(float(np.linalg.norm(np.array(solution.joints) - points, axis=1).max() / length))
    label = f"{low}-{high}"
    return {
        "reach and bones": f"{label}, {bones} bones",
        "passes p50": median(ours),
        "p95": percentile(ours, 95),
        "most": Judged(max(ours), at_most=before.MOST_PASSES[label][bones]),
        "plain p50": median(plain),
        "plain p95": percentile(plain, 95),
        "worst tip error": Judged(max(errors), at_most=TOLERANCE),
        "apart p50": median(apart),
        "apart p95": percentile(apart, 95),
    }


def _swung(chain: Figure, target: Vector) -> Doubles:
    """The joints of the start pose, turned so that the tip lies towards a target: (n + 1, 3)."""
    joints = [Vector(joint) for joint in chain.placed(chain.starts).joints]
    swing = joints[-1].rotation_difference(target)
    return np.array([v3(swing @ joint) for joint in joints])


def papers_table(scale: Scale) -> Table:
    """The paper's Table 1 in kind: 10 joints, 900 mm, target 600 mm from the tip, tolerance 1e-3 mm."""
    samples, random = scale.of(200, 20), Random(2011)
    start = [(BONE * i, 0.0, 0.0) for i in range(10)]
    chain = Figure.from_points(start)
    solver, settings = Solver(chain), Settings(MILLIMETRES / chain.size)
    found: dict[str, list[tuple[int, int, float]]] = {"reachable": [], "unreachable": []}
    while min(len(runs) for runs in found.values()) < samples:
        target = Vector(start[-1]) + random_direction(random) * AWAY
        runs = found["reachable" if target.length < chain.size else "unreachable"]
        if len(runs) == samples:
            continue
        solution = solver.solve([Point(chain.count - 1, v3(target))], settings)
        points = np.array(start, dtype=np.float64)
        points[1:-1, 1] += BONE * 0.009  # a line never leaves itself: bent by a thousandth of the length
        plain = fabrik_scalar(points, np.array(chain.lengths), np.array(v3(target)), MILLIMETRES, 5000)
        runs.append((solution.passes, plain, solution.residual))
    rows = [_papers_row(name, runs) for name, runs in found.items()]
    note = "*Printed*: mean iterations in Aristidou & Lasenby 2011, whose targets are not published."
    return Table("6b. The paper's Table 1 in kind: iterations, 10 joints", note, rows)


def _papers_row(name: str, runs: list[tuple[int, int, float]]) -> Row:
    ours, plain, errors = ([run[i] for run in runs] for i in range(3))
    is_reachable = name == "reachable"
    return {
        "target": name,
        "ours, mean": sum(ours) / len(ours),
        "median": median(ours),
        "most": Judged(max(ours), at_most=1),
        "plain FABRIK here, median": median(plain) if is_reachable else None,
        **{f"{method}, printed": value for method, value in PRINTED[name].items()},
        "worst tip error mm": Judged(max(errors), at_most=MILLIMETRES) if is_reachable else None,
    }
