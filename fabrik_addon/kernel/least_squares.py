# SPDX-License-Identifier: GPL-3.0-or-later
"""Damped least squares on joint angles, with the limits that hold projected out; for any number of weighted goals.

The step is W J^T (J W J^T + damping I)^-1 e (Levenberg-Marquardt; Buss 2004, "Introduction to Inverse Kinematics"),
with three rows for each goal. Joints that a step would push against the end of their range are dropped and the step is
taken again with the others, so that these make up for them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self, TypeVar

import numpy as np
from mathutils import Quaternion, Vector

from .model import Joint

LARGEST_TURN = 0.7  # radians a joint turns in one step
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-9, 1e3
STALLED = 4  # steps in a row that gain next to nothing
ROBUST = 0.3  # share of the squared error that damps besides, so that rounding chooses no way (Sugihara 2011)
LITTLE = 1e-3
HELD = 1e-4  # share of a joint's turn that a limit may take before the joint counts as held
PROJECTIONS = 6  # times that a step is solved anew with what is held taken out
STIFFEST = 0.97  # share of a joint's readiness to turn that full stiffness takes

Numbers = tuple[float, float, float]
Columns = list[list[list[Vector]]]  # for each joint, for each of its axes, for each goal


class Standing(ABC):
    """Where a descent stands: allowed rotations of n joints, and what is missing to the goals.

    Attributes:
        rotations: n rotations, each in the rest frame of its joint.
        error: Root of the sum of the goals' squared errors, each times its weight, in lengths of the figure.
    """

    rotations: list[Quaternion]
    error: float

    @property
    @abstractmethod
    def joints_posed(self) -> Sequence[Joint]:
        """The n joints."""

    @abstractmethod
    def missing(self) -> list[Vector]:
        """For each goal the vector that is missing, times its weight."""

    @abstractmethod
    def moves(self, joint: int, axes: Sequence[Vector]) -> list[list[Vector]]:
        """For each axis (rest frame) the change of each goal by a small turn of a joint about it, times its weight."""

    @abstractmethod
    def moved(self, rotations: list[Quaternion]) -> Self:
        """Stand at other rotations."""


S = TypeVar("S", bound=Standing)


def descend(start: S, enough: float, budget: int) -> tuple[S, int]:
    """Bring the goals nearer until they are near enough, the budget is spent or nothing more is gained.

    Args:
        start: Allowed rotations; left as they are.
        enough: Error at which to stop, in lengths of the figure.
        budget: Greatest number of steps.

    Returns:
        The best standing, its limits held, and the steps used.
    """
    best, damping, stalled, used = start, FIRST_DAMPING, 0, 0
    while used < budget and best.error > enough and stalled < STALLED and damping <= MOST_DAMPING:
        used += 1
        trial = best.moved(stepped(best, damping + ROBUST * best.error * best.error))
        if trial.error < best.error:
            stalled = stalled + 1 if trial.error > best.error * (1.0 - LITTLE) else 0
            best = trial
            damping = max(damping * 0.2, LEAST_DAMPING)
        else:
            damping = max(damping, 1e-6) * 8.0
    return best, used


def stepped(now: Standing, damping: float, largest_turn: float = LARGEST_TURN) -> list[Quaternion]:
    """All rotations after one damped step from where a descent stands."""
    turns = _turns(now, damping)
    largest = max((turn.length for turn in turns), default=0.0)
    scale = min(1.0, largest_turn / largest) if largest > 0.0 else 0.0
    return [
        joint.limit.turned(rotation, turn * scale)
        for joint, rotation, turn in zip(now.joints_posed, now.rotations, turns, strict=True)
    ]


def _turns(now: Standing, damping: float) -> list[Vector]:
    """Rotation vector of each joint in its rest frame, none of them against a limit.

    What a limit takes from a joint's turn is a direction in which the joint is held: its axes lose that part, and the
    step is solved again, so that the other joints make up for it.
    """
    joints, missing = now.joints_posed, now.missing()
    axes = [joint.limit.axes(rotation) for joint, rotation in zip(joints, now.rotations, strict=True)]
    weights = [(1.0 - STIFFEST * joint.stiffness) ** 2 for joint in joints]
    for _ in range(PROJECTIONS):
        columns = [now.moves(i, own) for i, own in enumerate(axes)]
        pulls = _solve_damped(columns, weights, missing, damping)
        turns, free = [], True
        for i, joint in enumerate(joints):
            turn = Vector()
            for axis, column in zip(axes[i], columns[i], strict=True):
                turn += axis * (sum(move.dot(pull) for move, pull in zip(column, pulls, strict=True)) * weights[i])
            taken = turn - joint.limit.allowed(now.rotations[i], turn)
            if taken.length > HELD * turn.length:
                held = taken.normalized()
                axes[i] = tuple(axis - held * axis.dot(held) for axis in axes[i])
                free = False
            turns.append(turn)
        if free:
            break
    return turns


def _solve_damped(
    columns: Columns, weights: Sequence[float], missing: Sequence[Vector], damping: float
) -> list[Vector]:
    """(J W J^T + damping I)^-1 e in double precision, three numbers for each goal."""
    if len(missing) == 1:
        flat = [(move[0], weight) for own, weight in zip(columns, weights, strict=True) for move in own]
        return [_solve_three(flat, missing[0], damping)]
    rows = np.array([[x for v in move for x in v] for own in columns for move in own], dtype=float)
    shares = np.array([weight for own, weight in zip(columns, weights, strict=True) for _ in own])
    rows = rows.reshape(-1, 3 * len(missing))
    system = (rows.T * shares) @ rows + damping * np.eye(3 * len(missing))
    solved = np.linalg.solve(system, np.array([x for v in missing for x in v]))
    return [Vector(three) for three in solved.reshape(-1, 3)]


def _solve_three(moves: Sequence[tuple[Vector, float]], missing: Vector, damping: float) -> Vector:
    """The system of a single goal, by cofactors."""
    xx = yy = zz = damping
    xy = xz = yz = 0.0
    for (x, y, z), weight in moves:
        xx += weight * x * x
        yy += weight * y * y
        zz += weight * z * z
        xy += weight * x * y
        xz += weight * x * z
        yz += weight * y * z
    cofactors = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy)
    determinant = xx * cofactors[0] + xy * cofactors[1] + xz * cofactors[2]
    ex, ey, ez = missing
    rows: tuple[Numbers, Numbers, Numbers] = (
        cofactors,
        (cofactors[1], xx * zz - xz * xz, xy * xz - xx * yz),
        (cofactors[2], xy * xz - xx * yz, xx * yy - xy * xy),
    )
    return Vector([(a * ex + b * ey + c * ez) / determinant for a, b, c in rows])
