# SPDX-License-Identifier: GPL-3.0-or-later
"""Which limits hold a figure back, and by how much they would have to give."""

from __future__ import annotations

from math import sqrt

from .. import cython
from ..figure import Figure
from ..forms import Q4, V3
from ..goals.base import Goal
from ..limits.base import Limit
from ..limits.free import FREE
from ..vectors import (
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    conjugated,
    dot,
    length,
    minus,
    multiplied,
    plus,
    q4,
    rotated,
    rotation_vector,
    scaled,
    unit,
)
from .descent import Descent
from .jacobian import Jacobian

MOST_GIVES, GIVE_STEPS = 3, 40
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
    goal: Goal
    jacobian: Jacobian = descent.equations()
    turn: V3 = ORIGIN
    for t in range(jacobian.first_touch[i], jacobian.first_touch[i + 1], 2):
        goal = descent.goals[jacobian.touches[t]]
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
    goal: Goal
    jacobian: Jacobian = descent.equations()
    most: cython.double = 0.0
    for t in range(jacobian.first_touch[i], jacobian.first_touch[i + 1], 2):
        goal = descent.goals[jacobian.touches[t]]
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
