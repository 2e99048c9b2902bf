# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry point for many chains or frames at once."""

from __future__ import annotations

import numpy as np

from ..arrays import REAL, Array, length
from ..model import Settings, Status
from .descent import Standing
from .free import solve_free
from .group import Group
from .joints import Joints
from .limited import solve_limited
from .model import STATUSES, BatchSolution, ChainBatch, Goals, Part
from .pole import turned_to_poles

CHUNK = 8192  # goals solved together; what is worked on then stays in a processor's cache


def solve_batch(chains: ChainBatch, goals: Goals, settings: Settings | None = None) -> BatchSolution:
    """Solve many goals, each for one of the prepared chains; the answers are those of `solve` but for rounding.

    Args:
        chains: The chains; hold on to it where only the goals move.
        goals: B goals.
        settings: For all of them.

    Returns:
        The B answers; which joints block is told by `solve` alone.

    Raises:
        InvalidValueError: A number is NaN or infinite, or shapes don't match.
    """
    settings = settings or Settings()
    goals.check(chains.count)
    solution = BatchSolution.empty(len(goals.chains))
    groups = chains.group_of[goals.chains]
    for number, group in enumerate(chains.groups):
        mine = np.flatnonzero(groups == number)
        if not mine.size:
            continue
        count = len(group.chains[0].joints)
        part = Part(mine, np.empty((count, 4, mine.size), REAL), np.empty((count + 1, 3, mine.size), REAL))
        for first in range(0, mine.size, CHUNK):
            columns = slice(first, first + CHUNK)
            which = chains.place_of[goals.chains[mine[columns]]]
            _solve_chunk(group, which, goals, settings, (solution, part, columns))
        solution.parts.append(part)
    return solution


def _solve_chunk(
    group: Group, which: Array, goals: Goals, settings: Settings, into: tuple[BatchSolution, Part, slice]
) -> None:
    solution, part, columns = into
    at = part.goals[columns]
    if (which == which[0]).all():
        group = group.alone(int(which[0]))
        which = np.zeros_like(which)
    size = group.sizes[which]
    target = (goals.targets[:, at] / size).astype(REAL)
    solve_positions = solve_free if group.example.is_free else solve_limited
    now, passes = solve_positions(group, which, target, settings)
    joints = group.joints.take(which)
    if goals.poles is not None:
        angle = np.zeros(at.size) if goals.pole_angles is None else goals.pole_angles[at]
        poles = (goals.poles[:, at] / size).astype(REAL), angle.astype(REAL)
        rotations, solution.pole_error[at] = turned_to_poles(group, which, now, poles)
        now = Standing.at(joints, rotations, target)
    part.rotations[..., columns] = now.rotations
    part.joints[..., columns] = now.points * size
    solution.residual[at] = now.error * size
    solution.passes[at] = np.maximum(passes, 1)
    solution.status[at] = _statuses(joints, target, now.error, settings)


def _statuses(joints: Joints, target: Array, error: Array, settings: Settings) -> Array:
    distance = length(target)
    inner, outer = joints.reach
    status = np.full(error.shape, STATUSES.index(Status.BLOCKED), dtype=np.int8)
    status[np.broadcast_to(distance < inner, error.shape)] = STATUSES.index(Status.TOO_NEAR)
    status[np.broadcast_to(distance > outer, error.shape)] = STATUSES.index(Status.TOO_FAR)
    status[error <= settings.tolerance] = STATUSES.index(Status.REACHED)
    return status
