# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tables of the benchmark have in common."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np
from mathutils import Vector

import addon_session

TOLERANCE = 1e-4
Row = dict[str, Any]


def load_kernel() -> Any:
    """The add-on's kernel, as the tables use it."""
    kernel = import_module(f"{addon_session.MODULE}.kernel")
    parts: dict[str, Any] = {name: getattr(kernel, name) for name in kernel.__all__}
    modules = (
        "orientation",
        "passes",
        "rotations",
        "limits",
        "free",
        "reach",
        "pole",
        "tree",
        "least_squares",
        "batch",
    )
    for module in modules:
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


def percentile(values: Sequence[float], share: int) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share / 100))]


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
