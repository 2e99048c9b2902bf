# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found for a row: where it stands, how each goal ended, and which limits hold it back."""

from __future__ import annotations

from math import sqrt

from . import cython
from .chain import Chain
from .descent import Descent
from .figure import Figure, Pose
from .forms import Q4, V3
from .goals.base import Goal
from .goals.point import Point
from .least_squares import Jacobian
from .limits.base import Limit
from .limits.fixed import FREE
from .ranks import Body, missing_of
from .rows import BLOCKED, MOST_GIVES, NEVER, REACHED, TOO_FAR, TOO_NEAR, UNKNOWN, Rows
from .vectors import (
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    apart,
    conjugated,
    dot,
    length,
    minus,
    multiplied,
    plus,
    put3,
    q4,
    rotated,
    rotation_vector,
    scaled,
    unit,
    v3,
)

GIVE_STEPS = 40
SMALL_STEP = cython.declare(cython.double, 0.01)  # radians
TAKEN = 0.05  # share of the turn that would help which a limit has to take away to count


@cython.cfunc
def blocking_joints(descent: Descent) -> list[int]:
    """The joints whose limits hold the goals back, the strongest first.

    A joint counts when its limit takes away a twentieth or more of the turn that would bring the goals nearer.
    """
    figure: Figure = descent.figure
    found = []
    for i in range(figure.count):
        pull: V3 = pull_on(descent, i)
        limit: Limit = figure.limits[i]
        taken: cython.double = length(pull) * share_taken(limit, q4(descent.pose.rotations, i), pull)
        if taken > TAKEN * leverage(descent, i) * descent.error:
            found.append((-taken, i))
    return [i for _, i in sorted(found)]


@cython.cfunc
@cython.exceptval(check=False)
def share_taken(limit: Limit, rotation: Q4, pull: V3) -> cython.double:
    """The share of a small turn along a pull that a limit takes away, also one whose end is a little farther on."""
    step: V3 = scaled(unit(pull), SMALL_STEP)
    turned: Q4 = multiplied(limit.turn(rotation, step), conjugated(rotation))
    return length(minus(step, rotation_vector(turned))) / SMALL_STEP


@cython.cfunc
def pull_on(descent: Descent, i: cython.int) -> V3:
    """The turn of a joint, in its rest frame, that brings the goals nearer the quickest: J^T e."""
    t: cython.int
    jacobian: Jacobian = descent.equations()
    turn: V3 = ORIGIN
    for t in range(jacobian.first_touch[i], jacobian.first_touch[i + 1], 2):
        goal: Goal = descent.goals[jacobian.touches[t]]
        goal.prepare(descent.pose)
        missing: V3 = goal.missing(descent.pose)
        k: cython.int = jacobian.touches[t + 1]
        for axis in (X_AXIS, Y_AXIS, Z_AXIS):
            change: V3 = goal.move(descent.pose, k, rotated(q4(descent.pose.rests, i), axis))
            turn = plus(turn, scaled(axis, dot(change, missing)))
    return turn


@cython.cfunc
def leverage(descent: Descent, i: cython.int) -> cython.double:
    """The greatest change of a goal by a small turn of a joint, for each radian."""
    t: cython.int
    jacobian: Jacobian = descent.equations()
    most: cython.double = 0.0
    for t in range(jacobian.first_touch[i], jacobian.first_touch[i + 1], 2):
        goal: Goal = descent.goals[jacobian.touches[t]]
        total: cython.double = 0.0
        for axis in (X_AXIS, Y_AXIS, Z_AXIS):
            change: V3 = goal.move(descent.pose, jacobian.touches[t + 1], axis)
            total += dot(change, change)
        most = total if total > most else most
    return sqrt(0.5 * most)


@cython.cfunc
def gives(descent: Descent, joints: list[int], tolerance: cython.double) -> list[float | None]:
    """For the first few blocking joints the angle by which their limits would have to give.

    None for one where the goals are not met even so, all other limits held.
    """
    figure: Figure = descent.figure
    found: list[float | None] = []
    for i in joints[:MOST_GIVES]:
        limit: Limit = figure.limits[i]
        freed: Descent = Descent(figure, descent.goals)
        figure.limits[i] = FREE
        freed.take(descent.pose)
        freed.descend(tolerance, GIVE_STEPS)
        figure.limits[i] = limit
        found.append(limit.exceed(q4(freed.pose.rotations, i)) if freed.error <= tolerance else None)
    return found


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
    pose: Pose = body.descent.pose
    rows.status[k] = body.status(tolerance)
    rows.residual[k] = body.misses() * size
    rows.pole_error[k] = 0.0
    for g in range(len(rows.asked)):
        goal: Goal = rows.asked[g]
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
