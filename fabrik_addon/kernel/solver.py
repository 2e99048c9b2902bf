# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry point of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mathutils import Quaternion, Vector

from ..errors import ChainError, InvalidValueError
from ..finite import are_finite
from . import reach
from .descent import Descent, blocking
from .free import solve_free
from .least_squares import descend
from .limited import solve_limited
from .limits import FREE
from .model import Chain, Goal, Settings, Solution, Status
from .orientation import place
from .pole import turned_to_pole
from .trace import SILENT, Recorder

REFINE_STEPS = 8
MOST_GIVES, GIVE_STEPS = 3, 40


def solve(chain: Chain, goal: Goal, settings: Settings | None = None, recorder: Recorder = SILENT) -> Solution:
    """Pose a chain so that its tip comes to the target, inside its limits, bent towards its pole.

    The answer depends on the arguments alone: it starts from the chain's start pose each time.

    Args:
        chain: 1 or more joints, root at the origin of the solve space.
        goal: Target and pole in the same space.
        settings: Tolerance and greatest number of passes.
        recorder: Is shown every pass, in units of the chain's length.

    Returns:
        The solution; where the target can't be reached, the nearest pose that was found.

    Raises:
        ChainError: The chain has no joints or no length.
        InvalidValueError: A number is NaN or infinite.
    """
    settings = settings or Settings()
    _check(chain, goal, settings)
    size = chain.length
    unit = chain.unit
    aim = Goal(goal.target / size, goal.pole / size if goal.pole is not None else None, goal.pole_angle)
    recorder.record("start", place(unit, unit.start)[0] if recorder is not SILENT else ())
    solve_positions = solve_free if unit.is_free else solve_limited
    now, passes = solve_positions(unit, aim, settings, recorder)
    pole_error = 0.0
    if aim.pole is None:  # it may have gone for a target within its reach, and without its stiffness
        error = (aim.target - now.joints[-1]).length
        now = Descent(unit, aim.target, now.rotations, now.joints, now.frames, error)
    else:
        rotations, pole_error = turned_to_pole(unit, aim, now.rotations)
        now = Descent.at(unit, rotations, aim.target)
    recorder.record("end", now.joints)
    status = _status(unit, aim, settings, now.error)
    held = blocking(now) if status is Status.BLOCKED else ()
    give = tuple(_give(now, i, settings) for i in held[: MOST_GIVES if settings.explain else 0])
    joints = [joint * size for joint in now.joints]
    return Solution(status, now.rotations, joints, now.error * size, max(passes, 1), held, give, pole_error)


def refine(chain: Chain, target: Vector, rotations: Sequence[Quaternion], tolerance: float) -> list[Quaternion]:
    """Turn the joints a little, inside their limits, to bring the tip from near the target onto it.

    Args:
        chain: n joints.
        target: Point in solve space, relative to the root.
        rotations: n allowed rotations.
        tolerance: Share of the chain's length at which to stop.
    """
    size = chain.length
    unit = chain.unit
    start = Descent.at(unit, list(rotations), target / size)
    return descend(start, tolerance, REFINE_STEPS)[0].rotations


def _give(now: Descent, index: int, settings: Settings) -> float | None:
    """The angle by which one joint's limit would have to give for the tip to come to the target, from where it is."""
    joints = list(now.chain.joints)
    joints[index] = replace(joints[index], limit=FREE)
    freed, _ = descend(replace(now, chain=replace(now.chain, joints=tuple(joints))), settings.tolerance, GIVE_STEPS)
    if freed.error > settings.tolerance:
        return None
    return now.chain.joints[index].limit.violation(freed.rotations[index])


def _check(chain: Chain, goal: Goal, settings: Settings) -> None:
    if not chain.joints:
        raise ChainError("the chain has no bones")
    if not are_finite(chain.lengths):
        raise InvalidValueError("a bone's length is not a finite number")
    if chain.length <= 0.0:
        raise ChainError("the chain has no length")
    numbers = {
        "target": [*goal.target],
        "pole": [*goal.pole] if goal.pole is not None else [],
        "pole angle": [goal.pole_angle],
        "tolerance": [settings.tolerance],
    }
    for name, values in numbers.items():
        if not are_finite(values):
            raise InvalidValueError(f"the {name} is not a finite number")


def _status(chain: Chain, goal: Goal, settings: Settings, error: float) -> Status:
    if error <= settings.tolerance:
        return Status.REACHED
    inner, outer = reach.bounds(chain.lengths)
    distance = goal.target.length
    if distance > outer:
        return Status.TOO_FAR
    if distance < inner:
        return Status.TOO_NEAR
    return Status.BLOCKED
