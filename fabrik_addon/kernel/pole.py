# SPDX-License-Identifier: GPL-3.0-or-later
"""Turning a chain about the line to its tip so that it bends towards its pole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi

from mathutils import Quaternion, Vector

from .bend import carried_bend
from .limb import reference_pose
from .limits import Free
from .model import Chain, Goal
from .orientation import place
from .rotations import angle_about, perpendicular, turn_about

NEAR_AXIS = 1e-3  # distance of the pole from the line to the tip, as a share of the length, below which it fades
ALLOWED = 2e-6  # radians that a turned joint may stand outside its limit by rounding
BISECTIONS = 16
TURN_STEPS = 36


@dataclass(frozen=True, slots=True)
class Bend:
    """How a solved chain bends.

    Attributes:
        joint: Index of the joint at which it is turned to its pole.
        origin: Where that joint is.
        along: Unit vector from there to the tip.
        side: Unit vector at right angles to it, the side of the bend.
        turns: Whether the joint can turn every way, so that the pole can be met.
    """

    joint: int
    origin: Vector
    along: Vector
    side: Vector
    turns: bool


def bend_of(chain: Chain, rotations: Sequence[Quaternion]) -> Bend | None:
    """How a solved chain of length 1 bends; None for one whose tip is where it would be turned, or of a single bone."""
    if len(chain.joints) < 2:
        return None
    found = turning_joint(chain)
    joint = min(chain.first_moving, len(chain.joints) - 2) if found is None else found
    joints, frames = place(chain, rotations)
    span = joints[-1] - joints[joint]
    if span.length < NEAR_AXIS:
        return None
    side = carried_bend(chain, reference_pose(chain), (joints, frames), joint)
    return Bend(joint, joints[joint], span.normalized(), side, found is not None)


def turned_to_pole(chain: Chain, goal: Goal, rotations: list[Quaternion]) -> tuple[list[Quaternion], float]:
    """Turn a solved chain of length 1 towards its pole, the tip staying where it is.

    The first free joint, or where there is none the first that can turn every way, carries all that follows about the
    line from it to the tip, as near to the pole as its limit lets it; the joints behind it keep their rotations.

    Args:
        chain: n joints.
        goal: With a pole.
        rotations: n solved rotations.

    Returns:
        n rotations, and the angle by which the bend is still off, in [0, pi].
    """
    bend = bend_of(chain, rotations)
    if bend is None or goal.pole is None:
        return rotations, 0.0
    side = pole_side(replace(goal, pole=goal.pole - bend.origin), bend.along, chain.length, bend.side)
    wanted = angle_about(bend.along, bend.side, side) or 0.0
    if not bend.turns:
        return rotations, abs(wanted)
    _, frames = place(chain, rotations)
    turn = _allowed_turn(chain, (rotations, frames), bend, wanted)
    turning = turn_about(bend.along, turn)
    turned = list(rotations)
    for i in range(bend.joint, len(rotations)):
        joint, rest = chain.joints[i], frames[i] @ rotations[i].conjugated()
        if i > bend.joint and joint.inherits:
            continue
        turned[i] = rest.conjugated() @ turning @ frames[i]
        turned[i].normalize()
    return turned, abs(wanted - turn)


def turning_joint(chain: Chain) -> int | None:
    """The first free joint with a bone behind it, else the first that can turn every way.

    Joints behind it that do not inherit rotation have to be free, to be turned along.
    """
    found = []
    for i in range(len(chain.joints) - 1):
        left_behind = any(not j.inherits and not isinstance(j.limit, Free) for j in chain.joints[i + 1 :])
        if len(chain.joints[i].limit.axes(chain.joints[i].start)) == 3 and not left_behind:
            found.append(i)
    free = [i for i in found if isinstance(chain.joints[i].limit, Free)]
    return next(iter([*free, *found]), None)


def _allowed_turn(
    chain: Chain, pose: tuple[Sequence[Quaternion], Sequence[Quaternion]], bend: Bend, wanted: float
) -> float:
    """The turn that the limit of the turning joint lets through and that is nearest to the wanted one, either way."""
    rotations, frames = pose
    limit = chain.joints[bend.joint].limit
    rest = frames[bend.joint] @ rotations[bend.joint].conjugated()

    def holds(turn: float) -> bool:
        turned = rest.conjugated() @ turn_about(bend.along, turn) @ frames[bend.joint]
        return limit.violation(turned.normalized()) <= ALLOWED

    if isinstance(limit, Free) or holds(wanted):
        return wanted
    for k in range(1, TURN_STEPS + 1):
        for sign in (-1.0, 1.0) if wanted > 0.0 else (1.0, -1.0):
            held, out = wanted + sign * pi * k / TURN_STEPS, wanted + sign * pi * (k - 1) / TURN_STEPS
            if not holds(held):
                continue
            for _ in range(BISECTIONS):
                middle = 0.5 * (held + out)
                held, out = (middle, out) if holds(middle) else (held, middle)
            return held
    return 0.0


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
