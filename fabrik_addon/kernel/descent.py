# SPDX-License-Identifier: GPL-3.0-or-later
"""Damped least squares on the joint angles, with the limits that hold projected out.

The step is J^T (J J^T + damping I)^-1 e with the 3 x 3 system of the tip (Levenberg-Marquardt; Buss 2004, "Introduction
to Inverse Kinematics"). Joints that a step would push against the end of their range are dropped and the step is taken
again with the others, so that the rest of the chain makes up for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mathutils import Quaternion, Vector

from .model import Chain
from .orientation import place

LARGEST_TURN = 0.7  # radians a joint turns in one step
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-9, 1e3
STALLED = 4  # steps in a row that gain next to nothing
ROBUST = (
    0.3  # share of the squared error that damps, besides: keeps single precision from choosing the way (Sugihara 2011)
)
LITTLE = 1e-3
HELD = 1e-4  # share of a joint's turn that a limit may take before the joint counts as held
PROJECTIONS = 6  # times that a step is solved anew with what is held taken out
STIFFEST = 0.97  # share of a joint's readiness to turn that full stiffness takes

Numbers = tuple[float, float, float]


@dataclass(slots=True)
class Descent:
    """Where a descent stands: n rotations, the n + 1 joints and n frames that they give, and the tip's error."""

    chain: Chain
    rotations: list[Quaternion]
    joints: list[Vector]
    frames: list[Quaternion]
    error: float

    @classmethod
    def at(cls, chain: Chain, rotations: list[Quaternion], target: Vector) -> Descent:
        """Stand at the given allowed rotations."""
        joints, frames = place(chain, rotations)
        return cls(chain, rotations, joints, frames, (target - joints[-1]).length)


def descend(start: Descent, target: Vector, enough: float, budget: int) -> tuple[Descent, int]:
    """Bring the tip nearer to the target until it is near enough, the budget is spent or nothing more is gained.

    Args:
        start: Allowed rotations; left as they are.
        target: Point in solve space, at most a few lengths away.
        enough: Error at which to stop, in units of a chain of length 1.
        budget: Greatest number of steps.

    Returns:
        The best standing, its limits held, and the steps used.
    """
    best, damping, stalled, used = start, FIRST_DAMPING, 0, 0
    while used < budget and best.error > enough and stalled < STALLED and damping <= MOST_DAMPING:
        used += 1
        trial = Descent.at(best.chain, stepped(best, target, damping + ROBUST * best.error * best.error), target)
        if trial.error < best.error:
            stalled = stalled + 1 if trial.error > best.error * (1.0 - LITTLE) else 0
            best = trial
            damping = max(damping * 0.2, LEAST_DAMPING)
        else:
            damping = max(damping, 1e-6) * 8.0
    return best, used


def stepped(now: Descent, target: Vector, damping: float, largest_turn: float = LARGEST_TURN) -> list[Quaternion]:
    """All rotations after one damped step from where a descent stands."""
    turns = _turns(now, target - now.joints[-1], damping)
    largest = max((turn.length for turn in turns), default=0.0)
    scale = min(1.0, largest_turn / largest) if largest > 0.0 else 0.0
    return [
        joint.limit.turned(rotation, turn * scale)
        for joint, rotation, turn in zip(now.chain.joints, now.rotations, turns, strict=True)
    ]


def _turns(now: Descent, error: Vector, damping: float) -> list[Vector]:
    """Rotation vector of each joint in its rest frame, none of them against a limit.

    What a limit takes from a joint's turn is a direction in which the joint is held: its axes lose that part, and the
    step is solved again, so that the other joints make up for it.
    """
    joints = now.chain.joints
    axes = [joint.limit.axes(rotation) for joint, rotation in zip(joints, now.rotations, strict=True)]
    levers = _levers(now)
    for _ in range(PROJECTIONS):
        columns = [
            [(rest @ axis).cross(lever) for axis in own] for (rest, lever), own in zip(levers, axes, strict=True)
        ]
        weights = [(1.0 - STIFFEST * joint.stiffness) ** 2 for joint in joints]
        pull = _solve_damped(columns, weights, error, damping)
        turns, free = [], True
        for i, joint in enumerate(joints):
            turn = Vector()
            for axis, column in zip(axes[i], columns[i], strict=True):
                turn += axis * (column.dot(pull) * weights[i])
            taken = turn - joint.limit.allowed(now.rotations[i], turn)
            if taken.length > HELD * turn.length:
                held = taken.normalized()
                axes[i] = tuple(axis - held * axis.dot(held) for axis in axes[i])
                free = False
            turns.append(turn)
        if free:
            break
    return turns


def _levers(now: Descent) -> list[tuple[Quaternion, Vector]]:
    """For each joint its rest frame in solve space, and the vector from it to the last point that it carries."""
    return [
        (frame @ rotation.conjugated(), now.joints[end] - now.joints[i])
        for i, (frame, rotation, end) in enumerate(zip(now.frames, now.rotations, now.chain.carried_to, strict=True))
    ]


def _solve_damped(
    columns: Sequence[Sequence[Vector]], weights: Sequence[float], error: Vector, damping: float
) -> Vector:
    """(J W J^T + damping I)^-1 error, in double precision."""
    xx = yy = zz = damping
    xy = xz = yz = 0.0
    for own, weight in zip(columns, weights, strict=True):
        for x, y, z in own:
            xx += weight * x * x
            yy += weight * y * y
            zz += weight * z * z
            xy += weight * x * y
            xz += weight * x * z
            yz += weight * y * z
    cofactors = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy)
    determinant = xx * cofactors[0] + xy * cofactors[1] + xz * cofactors[2]
    ex, ey, ez = error
    rows: tuple[Numbers, Numbers, Numbers] = (
        cofactors,
        (cofactors[1], xx * zz - xz * xz, xy * xz - xx * yz),
        (cofactors[2], xy * xz - xx * yz, xx * yy - xy * xy),
    )
    return Vector([(a * ex + b * ey + c * ez) / determinant for a, b, c in rows])


def blocking(now: Descent, target: Vector) -> tuple[int, ...]:
    """The joints whose limits hold the tip back, the strongest first.

    A joint counts when its limit takes away a twentieth or more of the turn that would bring the tip nearer.
    """
    error = target - now.joints[-1]
    found = []
    for i, (joint, (rest, lever)) in enumerate(zip(now.chain.joints, _levers(now), strict=True)):
        turn = rest.conjugated() @ lever.cross(error)
        taken = (turn - joint.limit.allowed(now.rotations[i], turn)).length
        if taken > 0.05 * lever.length * error.length:
            found.append((-taken, i))
    return tuple(i for _, i in sorted(found))
