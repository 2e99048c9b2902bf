# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found for a row: how each goal ended, and all of it as objects."""

from __future__ import annotations

from . import cython
from .forms import V3
from .goals.base import Goal
from .goals.point import Point
from .ladder.blocked import gives
from .ladder.bodies import Body, missing_of
from .ladder.chain import Chain
from .ladder.descent import Descent
from .pose import Pose
from .rows import Rows
from .solution import BLOCKED, REACHED, STATUSES, TOO_FAR, TOO_NEAR, Solution
from .vectors import ORIGIN, apart, length, put3, q4, scaled, v3

POLE_MET = cython.declare(cython.double, 1e-3)  # radians


@cython.cfunc
def put_goals(rows: Rows, k: cython.Py_ssize_t, size: cython.double, tolerance: cython.double) -> cython.void:
    """Leave in a row how each goal of a body ended.

    Args:
        rows: Its body was solved.
        k: The row.
        size: Of the figure.
        tolerance: What a goal may miss.
    """
    g: cython.int
    goal: Goal
    body: Body = rows.body
    pose: Pose = body.descent.pose
    for g in range(len(rows.asked)):
        goal = rows.asked[g]
        at: cython.Py_ssize_t = k * len(rows.asked) + g
        rows.goal_status_out[at] = body.status_of(goal, tolerance)
        rows.goal_residual_out[at] = missing_of(goal, pose) * size
        rows.goal_turn_out[at] = goal.turn_missed(pose)
        rows.softened_out[at] = goal.softening(pose) * size
        rows.factors_out[at] = body.factors[g]


@cython.cfunc
def put_chain(rows: Rows, k: cython.Py_ssize_t, chain: Chain, descent: Descent, size: cython.double) -> cython.void:
    """Stretch a solved chain that misses its target, as far as that may, and leave in a row how its goals ended.

    Args:
        rows: The row's pose and pole error are there.
        k: The row.
        chain: Of size 1.
        descent: Stands where the row was solved.
        size: Of the figure.
    """
    point: Point = rows.point
    missed: cython.double = descent.error
    place: V3 = chain.target
    factor: cython.double = point.factor_at(descent.pose, chain.tolerance)
    if factor > 1.0:
        tip: V3 = scaled(v3(descent.pose.heads, chain.count), factor)
        point.let_stretch(True)
        place = point.softened_place(ORIGIN)
        point.let_stretch(False)
        missed = apart(tip, place)
        put3(rows.tips_out, k, scaled(tip, size))
    status: cython.int = BLOCKED
    distance: cython.double = length(place)
    if missed <= chain.tolerance:
        status = REACHED
    elif distance > point.stretch:
        status = TOO_FAR
    elif distance < chain.inner:
        status = TOO_NEAR
    rows.status_out[k] = status
    rows.residual_out[k] = missed * size
    put_chain_goals(rows, k, factor, apart(place, point.target) * size)


@cython.cfunc
def put_chain_goals(rows: Rows, k: cython.Py_ssize_t, factor: cython.double, softened: cython.double) -> cython.void:
    """Leave in a row how the target of a chain, and perhaps its pole, ended.

    Args:
        rows: The row's own status, residual and pole error are there.
        k: The row.
        factor: By how much the chain was stretched.
        softened: How far the place asked for stands from the target, in units of the solve space.
    """
    g: cython.int
    for g in range(len(rows.asked)):
        at: cython.Py_ssize_t = k * len(rows.asked) + g
        is_point: cython.bint = rows.asked[g] is rows.point
        met: cython.bint = rows.pole_error_out[k] <= POLE_MET
        rows.goal_status_out[at] = rows.status_out[k] if is_point else REACHED if met else BLOCKED
        rows.goal_residual_out[at] = rows.residual_out[k] if is_point else 0.0
        rows.goal_turn_out[at] = 0.0 if is_point else rows.pole_error_out[k]
        rows.softened_out[at] = softened if is_point else 0.0
        rows.factors_out[at] = factor if is_point else 1.0


@cython.cfunc
def solution_of(rows: Rows, descent: Descent, held: list[int], size: cython.double, explain: cython.double) -> Solution:
    """The answer in the only row.

    Args:
        rows: Solved.
        descent: Stands where the row was solved.
        held: The joints whose limits hold the figure back.
        size: Of the figure.
        explain: The tolerance within which a limit has to give for the goals to be met; below zero where that is not
            asked for.
    """
    pose: Pose = descent.pose
    count = rows.joints
    held = held if rows.status[0] == BLOCKED else []
    longer: cython.double = size if rows.point is None else size * rows.factors[0]
    return Solution(
        STATUSES[rows.status[0]],
        [q4(pose.rotations, i) for i in range(count)],
        [scaled(v3(pose.heads, i), longer) for i in range(count + 1)],
        rows.residual[0],
        rows.passes[0],
        tuple(held),
        tuple(gives(descent, held, explain)) if explain >= 0.0 else (),
        rows.pole_error[0],
        tuple(STATUSES[status] for status in rows.goal_status),
        tuple(rows.goal_residual),
        tuple(rows.goal_turn),
        tuple(rows.softened),
        tuple(rows.factors),
        scaled(v3(pose.shift, 0), size),
    )
