# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found for a row: where it stands, how each goal ended, and what holds it back."""

from __future__ import annotations

from . import cython
from .forms import V3
from .goals.base import Goal
from .goals.point import Point
from .ladder.blocked import MOST_GIVES, gives
from .ladder.bodies import Body, missing_of
from .ladder.chain import Chain
from .ladder.descent import Descent
from .pose import Pose
from .rows import NEVER, UNKNOWN, Rows
from .solution import BLOCKED, REACHED, TOO_FAR, TOO_NEAR
from .vectors import ORIGIN, apart, length, plus, put3, scaled, v3

POLE_MET = cython.declare(cython.double, 1e-3)  # radians


@cython.cfunc
@cython.exceptval(check=False)
def put_pose(rows: Rows, k: cython.Py_ssize_t, pose: Pose, size: cython.double, root: V3) -> cython.void:
    """Leave a placed pose in a row.

    Args:
        rows: Of as many joints.
        k: The row.
        pose: Of size 1.
        size: By how much it is to be larger.
        root: Vector by which all of it is to stand elsewhere.
    """
    i: cython.int
    count: cython.int = rows.joints
    first: cython.Py_ssize_t = k * count
    for i in range(4 * count):
        rows.rotations[4 * first + i] = pose.rotations[i]
        rows.frames[4 * first + i] = pose.frames[i]
    for i in range(count):
        put3(rows.heads, first + i, plus(root, scaled(v3(pose.heads, i), size)))
        put3(rows.ends, first + i, plus(root, scaled(v3(pose.ends, i), size)))
    put3(rows.shifts, k, plus(root, scaled(v3(pose.shift, 0), size)))


@cython.cfunc
def put_goals(
    rows: Rows, k: cython.Py_ssize_t, body: Body, size: cython.double, tolerance: cython.double
) -> cython.void:
    """Leave in a row how each goal of a body ended.

    Args:
        rows: The row was solved.
        k: The row.
        body: That solved it.
        size: Of the figure.
        tolerance: What a goal may miss.
    """
    g: cython.int
    goal: Goal
    pose: Pose = body.descent.pose
    rows.status[k] = body.status(tolerance)
    rows.residual[k] = body.misses() * size
    rows.pole_error[k] = 0.0
    for g in range(len(rows.asked)):
        goal = rows.asked[g]
        at: cython.Py_ssize_t = k * len(rows.asked) + g
        rows.goal_status[at] = body.status_of(goal, tolerance)
        rows.goal_residual[at] = missing_of(goal, pose) * size
        rows.goal_turn[at] = goal.turn_missed(pose)
        rows.softened[at] = goal.softening(pose) * size
        rows.factors[at] = body.factors[g]


@cython.cfunc
def put_chain(rows: Rows, k: cython.Py_ssize_t, chain: Chain, descent: Descent, size: cython.double) -> cython.double:
    """Stretch a solved chain that misses its target, as far as that may, and leave in a row how its goals ended.

    Args:
        rows: The row's pole error is there.
        k: The row.
        chain: Of size 1.
        descent: Stands where the row was solved.
        size: Of the figure.

    Returns:
        By how much it is longer.
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
    status: cython.int = BLOCKED
    distance: cython.double = length(place)
    if missed <= chain.tolerance:
        status = REACHED
    elif distance > point.stretch:
        status = TOO_FAR
    elif distance < chain.inner:
        status = TOO_NEAR
    rows.status[k] = status
    rows.residual[k] = missed * size
    put_chain_goals(rows, k, factor, apart(place, point.target) * size)
    return factor


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
        met: cython.bint = rows.pole_error[k] <= POLE_MET
        rows.goal_status[at] = rows.status[k] if is_point else REACHED if met else BLOCKED
        rows.goal_residual[at] = rows.residual[k] if is_point else 0.0
        rows.goal_turn[at] = 0.0 if is_point else rows.pole_error[k]
        rows.softened[at] = softened if is_point else 0.0
        rows.factors[at] = factor if is_point else 1.0


@cython.cfunc
def put_blocking(
    rows: Rows, k: cython.Py_ssize_t, descent: Descent, held: list[int], tolerance: cython.double
) -> cython.void:
    """Leave in a row which limits hold it back, and by how much they would have to give.

    Args:
        rows: The row's status is there.
        k: The row.
        descent: Stands where the row was solved.
        held: The joints whose limits hold the figure back.
        tolerance: Within which a limit has to give for the goals to be met; below zero where that is not asked for.
    """
    i: cython.int
    found = held if rows.status[k] == BLOCKED else []
    told: list[float | None] = gives(descent, found, tolerance) if tolerance >= 0.0 else []
    for i in range(rows.joints):
        rows.blocking[k * rows.joints + i] = found[i] if i < len(found) else -1
    for i in range(MOST_GIVES):
        at: cython.Py_ssize_t = MOST_GIVES * k + i
        if i >= len(told):
            rows.gives[at] = UNKNOWN
        elif told[i] is None:
            rows.gives[at] = NEVER
        else:
            rows.gives[at] = told[i]
