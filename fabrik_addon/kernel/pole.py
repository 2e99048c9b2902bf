# SPDX-License-Identifier: GPL-3.0-or-later
"""Turning a chain about the line to its tip so that it bends towards its pole."""

from __future__ import annotations

from dataclasses import replace

from mathutils import Quaternion, Vector

from .bend import carried_bend
from .limits import Free
from .model import Chain, Goal
from .orientation import place
from .rotations import angle_about, perpendicular, turn_about

NEAR_AXIS = 1e-3  # distance of the pole from the line to the tip, as a share of the length, below which it fades
ALLOWED = 2e-6  # radians that a turned joint may stand outside its limit by rounding
BISECTIONS = 20


def turned_to_pole(chain: Chain, goal: Goal, rotations: list[Quaternion]) -> tuple[list[Quaternion], float]:
    """Turn a solved chain of length 1 towards its pole, the tip staying where it is.

    The first joint that can turn every way carries all that follows about the line from it to the tip, as far as its
    limit lets it; the joints behind it keep their rotations.

    Args:
        chain: n joints.
        goal: With a pole.
        rotations: n solved rotations.

    Returns:
        n rotations, and the angle by which the bend is still off, in [0, pi].
    """
    joints, frames = place(chain, rotations)
    first = _turning_joint(chain, rotations)
    if first is None or (joints[-1] - joints[first]).length < NEAR_AXIS:
        first_bent = min(chain.first_moving, len(chain.joints) - 1)
        turn, _ = _wanted_turn(chain, goal, (joints, frames), first_bent)
        return rotations, abs(turn)
    turn, along = _wanted_turn(chain, goal, (joints, frames), first)
    share = _allowed_share(chain, (rotations, frames), first, (along, turn))
    turning = turn_about(along, turn * share)
    turned = list(rotations)
    for i in range(first, len(rotations)):
        joint, rest = chain.joints[i], frames[i] @ rotations[i].conjugated()
        if i > first and joint.inherits:
            continue
        turned[i] = rest.conjugated() @ turning @ frames[i]
        turned[i].normalize()
    return turned, abs(turn) * (1.0 - share)


def _turning_joint(chain: Chain, rotations: list[Quaternion]) -> int | None:
    """The first joint that can turn every way, with at least one bone behind it and none there that is left behind."""
    for i in range(len(chain.joints) - 1):
        rest = chain.joints[i + 1 :]
        left_behind = any(not joint.inherits and not isinstance(joint.limit, Free) for joint in rest)
        if len(chain.joints[i].limit.axes(rotations[i])) == 3 and not left_behind:
            return i
    return None


def _wanted_turn(
    chain: Chain, goal: Goal, pose: tuple[list[Vector], list[Quaternion]], first: int
) -> tuple[float, Vector]:
    """Angle about the line from joint `first` to the tip that brings the bend to the pole, and that line."""
    joints, frames = pose
    span = joints[-1] - joints[first]
    along = span.normalized()
    if not along.length:
        return 0.0, along
    bend = carried_bend(chain, joints, frames, first)
    assert goal.pole is not None
    local = replace(goal, pole=goal.pole - joints[first])
    side = pole_side(local, along, chain.length, bend)
    return angle_about(along, bend, side) or 0.0, along


def _allowed_share(
    chain: Chain, pose: tuple[list[Quaternion], list[Quaternion]], first: int, turn: tuple[Vector, float]
) -> float:
    """How much of a turn the limit of joint `first` lets through, from 0 to 1."""
    rotations, frames = pose
    limit = chain.joints[first].limit
    rest = frames[first] @ rotations[first].conjugated()

    def holds(share: float) -> bool:
        turned = rest.conjugated() @ turn_about(turn[0], turn[1] * share) @ frames[first]
        return limit.violation(turned.normalized()) <= ALLOWED

    if isinstance(limit, Free) or holds(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def pole_side(goal: Goal, along: Vector, length: float, kept: Vector) -> Vector:
    """The direction, at right angles to `along`, in which the chain is to bend.

    Near the axis the pole tells no direction: there its say fades and the bend is `kept`.

    Args:
        goal: With a pole, relative to where `along` starts.
        along: Unit vector from there to the tip.
        length: Length of the chain, in the units of the goal.
        kept: Unit vector, the bend without a pole.
    """
    assert goal.pole is not None
    side = perpendicular(goal.pole, along)
    distance = side.length
    near = NEAR_AXIS * length
    if distance < near:
        side = side + kept * (near - distance)
    side = turn_about(along, goal.pole_angle) @ side
    return perpendicular(side.normalized(), along).normalized()
