# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains without limits: known answers, FABRIK passes, reach match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from mathutils import Quaternion, Vector

from . import reach
from .bend import bend_direction, bends_one_way, is_straight, preferred_axis
from .closed_form import two_bones
from .descent import Descent
from .least_squares import descend
from .model import Chain, Goal, Settings
from .orientation import orient, place
from .passes import backward, forward
from .rotations import X_AXIS, any_perpendicular, from_to
from .trace import Recorder

ROUNDS = 3  # of passes and reach match, before least squares
FABRIK_PASSES = 4  # before the reach match finishes what is left
SETTLED = 1e-6  # error at which the reach match stops, as a share of the length


@dataclass(frozen=True, slots=True)
class Swung:
    """The start pose turned as a whole so that its tip lies in the direction of the target.

    Attributes:
        joints: n + 1 joints.
        swing: The turn about the root.
        along: Unit vector from root to target.
        bend: Unit vector at right angles to it, the side to which the chain bends.
        straight: True where the joints themselves show no bend.
    """

    joints: list[Vector]
    swing: Quaternion
    along: Vector
    bend: Vector
    straight: bool


@dataclass(frozen=True, slots=True)
class Laid:
    """The start pose of a chain as it is laid out, before it is turned to a target.

    Attributes:
        joints: n + 1 joints.
        x_axis: The X axis of the first bone.
        straight: True where the joints show no bend.
        side: The side to which they bend, or None where they do not tell.
        axis: The axis about which the chain bends where they do not.
        swings: Whether the pose can be turned as a whole.
    """

    joints: tuple[Vector, ...]
    x_axis: Vector
    straight: bool
    side: Vector | None
    axis: Vector
    swings: bool


@lru_cache(maxsize=1024)
def laid_out(chain: Chain) -> Laid:
    """Lay out the start pose of a chain of length 1."""
    joints, frames = place(chain, chain.start)
    straight = is_straight(joints, chain.length)
    side = None if straight else bend_direction(joints, chain.length)
    swings = all(joint.inherits for joint in chain.joints) and joints[-1].length > 1e-6
    return Laid(tuple(joints), frames[0] @ X_AXIS, straight, side, preferred_axis(chain, frames), swings)


def swing_start(chain: Chain, goal: Goal) -> Swung:
    """Turn the start pose towards the target and find its bend."""
    start = laid_out(chain)
    tip = start.joints[-1]
    along = next(v.normalized() for v in (goal.target, tip, start.joints[1], X_AXIS) if v.length)
    swing = from_to(tip, along, start.x_axis) if start.swings else Quaternion()
    joints = [swing @ joint for joint in start.joints]
    side = swing @ start.side if start.side is not None else along.cross(swing @ start.axis)
    return Swung(joints, swing, along, any_perpendicular(along, side), start.straight)


def solve_free(chain: Chain, goal: Goal, settings: Settings, recorder: Recorder) -> tuple[Descent, int]:
    """Reach for the target with a chain of length 1 that has no limits; the pole is left to the caller.

    Returns:
        Where the chain then stands, and the passes used.
    """
    start = swing_start(chain, goal)
    recorder.record("swing", start.joints)
    joints, passes = _known_answer(chain, goal, start), 1
    if joints is None and settings.plain:
        joints = [joint.copy() for joint in start.joints]
        passes = fabrik(joints, chain.lengths, goal.target, settings, settings.max_passes, recorder)
    elif joints is None:
        joints, passes = _iterate(chain, goal, settings, start, recorder)
    recorder.record("solved", joints)
    now = Descent.at(chain, orient(chain, joints, start.swing), goal.target)
    if settings.plain:
        return now, passes
    inner, outer = reach.bounds(chain.lengths)
    within_reach = goal.target.length < outer and (goal.target.length > inner or inner == 0.0)
    if within_reach and now.error > settings.tolerance:
        now, used = descend(now, SETTLED, settings.max_passes - passes)
        passes += used
    return now, passes


def _known_answer(chain: Chain, goal: Goal, start: Swung) -> list[Vector] | None:
    """The answer where it needs no search: ends of the reach, one bone, two bones."""
    distance = goal.target.length
    inner, outer = reach.bounds(chain.lengths)
    if distance >= outer:
        return reach.stretched(chain.lengths, start.along)
    if distance <= inner and inner > 0.0:
        return reach.folded(chain.lengths, start.along)
    if len(chain.joints) == 2:
        return two_bones(chain.lengths, distance, start.along, start.bend)
    return None


def _iterate(
    chain: Chain, goal: Goal, settings: Settings, start: Swung, recorder: Recorder
) -> tuple[list[Vector], int]:
    """FABRIK passes, each few followed by a reach match, until the tip is there."""
    lengths, target = chain.lengths, goal.target
    joints = _one_way(chain, goal, start) or [joint.copy() for joint in start.joints]
    recorder.record("bend", joints)
    best, passes = joints, 0
    for _ in range(ROUNDS):
        if passes >= settings.max_passes or (best[-1] - target).length <= settings.tolerance:
            break
        passes += fabrik(joints, lengths, target, settings, min(FABRIK_PASSES, settings.max_passes - passes), recorder)
        joints, used = reach.match(lengths, joints, target, SETTLED)
        recorder.record("match", joints)
        passes += used
        better = (joints[-1] - target).length < (best[-1] - target).length
        best = joints if better else best
        joints = [joint.copy() for joint in joints]
    return best, passes


def fabrik(
    joints: list[Vector], lengths: Sequence[float], target: Vector, settings: Settings, most: int, recorder: Recorder
) -> int:
    """FABRIK's passes, backward and forward, in place, until the tip is within the tolerance; returns their number."""
    for count in range(most):
        if (joints[-1] - target).length <= settings.tolerance:
            return count
        backward(joints, lengths, target)
        recorder.record("backward", joints)
        forward(joints, lengths)
        recorder.record("forward", joints)
    return most


def _one_way(chain: Chain, goal: Goal, start: Swung) -> list[Vector] | None:
    """The answer for a chain that is straight, or bends one way everywhere: it curls up or stretches.

    FABRIK's passes would push such a chain together from its tip, and leave a long one bent to and fro near the root
    and a short one bent to the other side.
    """
    distance = goal.target.length
    if start.straight:
        directions = [start.along] * len(chain.joints)
        return reach.curled(chain.lengths, directions, distance, start.along, start.bend)
    if not bends_one_way(start.joints, start.along, start.bend):
        return None
    if start.joints[-1].length < distance:
        return reach.match(chain.lengths, start.joints, goal.target, SETTLED)[0]
    directions = [(b - a).normalized() for a, b in pairwise(start.joints)]
    return reach.curled(chain.lengths, directions, distance, start.along, start.bend)
