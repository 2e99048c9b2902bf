# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain FABRIK (positions alone, no limits, no rotations) compiled by numba: what native speed is taken to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .problems import Task

F = TypeVar("F", bound=Callable[..., object])
Doubles: TypeAlias = NDArray[np.float64]

MOST = 100000  # iterations


def compiled(function: F) -> F:
    """The function compiled for its arguments when it is first called."""
    made: F = njit(cache=False)(function)
    return made


@compiled
def _pull(points: Doubles, fixed: int, moved: int, length: float) -> None:
    """Bring one joint to its bone's length from another, along the line between them."""
    size = 0.0
    for k in range(3):
        size += (points[moved, k] - points[fixed, k]) ** 2
    scale = length / max(np.sqrt(size), 1e-12)
    for k in range(3):
        points[moved, k] = points[fixed, k] + (points[moved, k] - points[fixed, k]) * scale


@compiled
def fabrik_scalar(points: Doubles, lengths: Doubles, target: Doubles, tolerance: float, most: int) -> int:
    """Plain FABRIK in place. Returns the iterations used.

    Args:
        points: (n + 1, 3), the root at the origin.
        lengths: (n,).
        target: (3,).
        tolerance: Distance at which to stop.
        most: Greatest number of iterations.
    """
    n = lengths.shape[0]
    for count in range(most):
        if np.sqrt(((points[n] - target) ** 2).sum()) <= tolerance:
            return count
        points[n] = target
        for i in range(n - 1, -1, -1):
            _pull(points, i + 1, i, lengths[i])
        points[0] = 0.0
        for i in range(n):
            _pull(points, i, i + 1, lengths[i])
    return most


@compiled
def fabrik_many(points: Doubles, lengths: Doubles, targets: Doubles, tolerances: Doubles, most: int) -> int:
    """Plain FABRIK of many chains in one compiled loop; arrays as of `fabrik_scalar`, the chain as their first axis."""
    total = 0
    for i in range(points.shape[0]):
        total += fabrik_scalar(points[i], lengths[i], targets[i], tolerances[i], most)
    return total


def start_points(task: Task) -> Doubles:
    """The joints of the start pose, (n + 1, 3)."""
    return np.array(task.chain.placed(task.chain.starts).joints, dtype=np.float64)
