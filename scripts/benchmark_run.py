# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's Python for `benchmark.py`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from math import cos, degrees, pi, sin
from pathlib import Path
from random import Random
from statistics import median
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from scipy.optimize import least_squares

import addon_session
from benchmark_chains import limited_chains
from benchmark_rivals import BlenderIk, fabrik_scalar, plain_limited, with_ccd
from environment import say

TOLERANCE = 1e-4
RIVAL_PASSES = 64
SOLVES = 16
NEARER = 0.01
Row = dict[str, Any]


def load_kernel() -> Any:
    """The add-on's kernel, as the tables use it."""
    kernel = import_module(f"{addon_session.MODULE}.kernel")
    parts: dict[str, Any] = {name: getattr(kernel, name) for name in kernel.__all__}
    for module in ("orientation", "passes", "rotations", "limits", "free", "reach"):
        parts.update(vars(import_module(f"{addon_session.MODULE}.kernel.{module}")))
    return SimpleNamespace(**parts)


def table(title: str, rows: Sequence[Row]) -> Row:
    """Print rows as a table and hand them on for the JSON."""
    print(f"\n{title}\n")
    names = list(rows[0])
    texts = [[_text(row[name]) for name in names] for row in rows]
    widths = [max(len(name), *(len(text[i]) for text in texts)) for i, name in enumerate(names)]
    for line in [names, *texts]:
        print(
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ),
            flush=True,
        )
    return {"title": title, "rows": list(rows)}


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def random_vector(random: Random) -> Vector:
    return Vector([random.gauss(0.0, 1.0) for _ in range(3)])


def random_chain(kernel: Any, random: Random, count: int) -> Any:
    """A chain of uneven bones that curls at random."""
    points, direction = [Vector()], random_vector(random).normalized()
    for _ in range(count):
        direction = (direction + random_vector(random) * 0.4).normalized()
        points.append(points[-1] + direction * random.uniform(0.5, 1.5))
    return kernel.Chain.from_points(points)


def scalar_arrays(kernel: Any, chain: Any) -> tuple[Any, Any]:
    joints, _ = kernel.place(chain, chain.start)
    return np.array(joints, dtype=np.float64), np.array(chain.lengths)


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


def percentile(values: Sequence[float], share: int) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share / 100))]


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


def reachable(kernel: Any, chain: Any, random: Random) -> Vector:
    """Where the tip stands for some rotations inside the limits."""
    rotations = [
        kernel.from_rotation_vector(random_vector(random).normalized() * random.uniform(0.0, 1.8))
        if joint.limit is kernel.FREE
        else joint.limit.sample(random)
        for joint in chain.joints
    ]
    return kernel.place(chain, rotations)[0][-1]


def interleaved(rounds: int, *contenders: Callable[[], None]) -> list[float]:
    """Median seconds of each contender, taken in turn."""
    times: list[list[float]] = [[] for _ in contenders]
    for _ in range(rounds):
        for contender, kept in zip(contenders, times, strict=True):
            started = time.perf_counter()
            contender()
            kept.append(time.perf_counter() - started)
    return [median(kept) for kept in times]


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
    return table("5. Growth with the number of bones, target at 0.8 of reach", rows)


def smooth_paths(chain: Any, tip: Vector) -> dict[str, Callable[[float], tuple[Vector, Vector]]]:
    """Paths of target and pole for a parameter from 0 to 1, in units of the chain's length."""
    pole = Vector((0.1, -3.0, -0.4))
    across = tip.orthogonal().normalized()
    return {
        "pole round the limb": lambda s: (tip * 0.8, tip * 0.5 + Vector((cos(2 * pi * s), sin(2 * pi * s), 0.0)) * 2),
        "through full stretch": lambda s: (tip * (0.85 + 0.3 * s), pole),
        "towards the root": lambda s: (tip * (0.95 - 0.75 * s), pole),
        "across the front": lambda s: (tip * 0.7 + across * (0.8 * s - 0.4), pole),
        "past the pole's line": lambda s: (tip * 0.7, tip * 0.35 + Vector((0.02 * s - 0.01, -1e-4, 0.0))),
    }


def smoothness(kernel: Any, steps: int) -> Row:
    """Table 6: the largest turn of a joint from frame to frame along smooth paths."""
    rows: list[Row] = []
    chains = limited_chains(kernel)
    free = kernel.Chain.from_points([(0, 0, 0), (0, -0.06, -0.5), (0, 0, -1)])
    for name, chain in {
        "free limb": free,
        **{n: chains[n] for n in ("leg with knee", "leg with knee and ankle")},
    }.items():
        tip = kernel.place(chain, chain.start)[0][-1]
        for label, path in smooth_paths(chain, tip).items():
            frames = [path(i / steps) for i in range(steps + 1)]
            solved = [kernel.solve(chain, kernel.Goal(target, pole)).rotations for target, pole in frames]
            rows.append(
                {
                    "limb": name,
                    "path": label,
                    "largest turn deg": degrees(_largest(kernel, solved)),
                    "Blender IK deg": degrees(_blender_largest(kernel, chain, frames)),
                }
            )
    return table(f"6. Smoothness: largest turn of a joint between frames, {steps} frames a path, with pole", rows)


def _largest(kernel: Any, solved: Sequence[Any]) -> float:
    pairs = ((a, b) for x, y in pairwise(solved) for a, b in zip(x, y, strict=True))
    return float(max(kernel.turn_angle(a.conjugated() @ b) for a, b in pairs))


def _blender_largest(kernel: Any, chain: Any, frames: Sequence[tuple[Vector, Vector]]) -> float:
    joints, axes = kernel.place(chain, chain.start)
    ik = BlenderIk(chain, joints, axes, True)
    pole = ik.bones[-1].constraints[0].pole_target
    solved = []
    for target, place in frames:
        ik.target.location, pole.location = target, place
        ik.layer.update()
        solved.append(
            [
                ik.owner.convert_space(
                    pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL"
                ).to_quaternion()
                for bone in ik.bones
            ]
        )
    return _largest(kernel, solved)


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


def main(out: Path, user: Path, quick: bool) -> None:
    addon_session.enable(user / "repository")
    kernel = load_kernel()
    print(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}, {'quick' if quick else 'full'}")
    runs: tuple[tuple[str, Callable[[], Row]], ...] = (
        ("convergence", lambda: convergence(kernel, 30 if quick else 200)),
        ("success under limits", lambda: success(kernel, 100 if quick else 2000, 25 if quick else 200)),
        ("cost", lambda: cost(kernel, 15 if quick else 101)),
        ("cost of limited legs", lambda: limited_cost(kernel, 15 if quick else 101)),
        ("growth", lambda: growth(kernel, 7 if quick else 51)),
        ("smoothness", lambda: smoothness(kernel, 120)),
        ("blocked, checked", lambda: blocked(kernel, 20 if quick else 200, 4 if quick else 12)),
    )
    tables = []
    for i, (title, run) in enumerate(runs):
        say(f"[{i + 1}/{len(runs)}] {title}")
        tables.append(run())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"blender": bpy.app.version_string, "tables": tables}, indent=1), encoding="utf-8")
    print(f"\nwritten to {out}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "quick" in sys.argv[3:])
    sys.stdout.flush()
    os._exit(0)
