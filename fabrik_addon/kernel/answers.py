# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found for a row, as objects."""

from __future__ import annotations

from typing import NamedTuple

from . import cython
from .figure import Pose
from .goals.base import Goal
from .ladder.blocked import blocking_joints, gives
from .ladder.bodies import Body, missing_of
from .ladder.descent import Descent
from .rows import Rows
from .solution import BLOCKED, STATUSES, Solution, Status
from .vectors import q4, scaled, v3

POLE_MET = 1e-3  # radians


class Found(NamedTuple):
    """How each goal ended, what it misses in units of the solve space, and the joints that hold the figure back."""

    statuses: list[Status]
    residuals: list[float]
    held: list[int]


@cython.cfunc
def chain_solution(
    rows: Rows, descent: Descent, held: list[int], size: cython.double, explain: cython.double
) -> Solution:
    """The answer for a chain with a target, and perhaps a pole, in the only row.

    Args:
        rows: Solved.
        descent: Stands where the row was solved.
        held: The joints whose limits held the tip back, before the chain was turned to its pole.
        size: Of the figure.
        explain: See `solution_of`.
    """
    status = STATUSES[rows.status[0]]
    statuses = [status]
    residuals = [rows.residual[0]]
    if rows.bend is not None:
        statuses.append(Status.REACHED if rows.pole_error[0] <= POLE_MET else Status.BLOCKED)
        residuals.append(0.0)
    return solution_of(rows, descent, Found(statuses, residuals, held), size, explain)


@cython.cfunc
def body_solution(rows: Rows, size: cython.double, tolerance: cython.double, explain: cython.bint) -> Solution:
    """The answer for a figure with other goals, in the only row."""
    body: Body = rows.body
    goal: Goal
    statuses = []
    residuals = []
    for goal in rows.asked:
        statuses.append(STATUSES[body.status_of(goal, tolerance)])
        residuals.append(missing_of(goal, body.descent.pose) * size)
    found = Found(statuses, residuals, blocking_joints(body.descent))
    return solution_of(rows, body.descent, found, size, tolerance if explain else -1.0)


@cython.cfunc
def solution_of(rows: Rows, descent: Descent, found: Found, size: cython.double, explain: cython.double) -> Solution:
    """The answer in the only row.

    Args:
        rows: Solved.
        descent: Stands where the row was solved.
        found: Of the goals.
        size: Of the figure.
        explain: The tolerance within which a limit has to give for the goals to be met; below zero where that is not
            asked for.
    """
    pose: Pose = descent.pose
    count = rows.joints
    held = found.held if rows.status[0] == BLOCKED else []
    return Solution(
        STATUSES[rows.status[0]],
        [q4(pose.rotations, i) for i in range(count)],
        [scaled(v3(pose.heads, i), size) for i in range(count + 1)],
        rows.residual[0],
        rows.passes[0],
        tuple(held),
        tuple(gives(descent, held, explain)) if explain >= 0.0 else (),
        rows.pole_error[0],
        tuple(found.statuses),
        tuple(found.residuals),
        scaled(v3(pose.shift, 0), size),
    )
