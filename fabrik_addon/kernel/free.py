# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains without limits: known answers, FABRIK passes, reach match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mathutils import Quaternion, Vector

from . import reach
from .bend import bend_direction, bends_one_way, is_straight, preferred_bend
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


def swing_start(chain: Chain, goal: Goal) -> Swung:
    """Turn the start pose towards the target and find its bend."""
    joints, frames = place(chain, chain.start)
    tip = joints[-1]
    along = next(v.normalized() for v in (goal.target, tip, frames[0] @ chain.joints[0].segment, X_AXIS) if v.length)
    swing = Quaternion()
    if all(joint.inherits for joint in chain.joints) and tip.length > 1e-6:
        swing = from_to(tip, along, frames[0] @ X_AXIS)
    joints = [swing @ joint for joint in joints]
    straight = is_straight(joints, chain.length)
    bend = None if straight else bend_direction(joints, chain.length)
    if bend is not None:
        bend = any_perpendicular(along, bend)  # where nothing swung, the start pose has another chord
    else:
        bend = preferred_bend(chain, [swing @ frame for frame in frames], along)
    return Swung(joints, swing, along, bend, straight)


def solve_free(chain: Chain, goal: Goal, settings: Settings, recorder: Recorder) -> tuple[list[Quaternion], int]:
    """Reach for the target with a chain of length 1 that has no limits; the pole is left to the caller.

    Returns:
        n rotations, and the passes used.
    """
    start = swing_start(chain, goal)
    recorder.record("start", start.joints)
    joints, passes = _known_answer(chain, goal, start), 1
    if joints is None and settings.plain:
        joints = [joint.copy() for joint in start.joints]
        passes = fabrik(joints, chain.lengths, goal.target, settings, settings.max_passes, recorder)
    elif joints is None:
        joints, passes = _iterate(chain, goal, settings, start, recorder)
    recorder.record("solved", joints)
    rotations = orient(chain, joints, start.swing)
    if settings.plain:
        return rotations, passes
    inner, outer = reach.bounds(chain.lengths)
    within_reach = goal.target.length < outer and (goal.target.length > inner or inner == 0.0)
    now = Descent.at(chain, rotations, goal.target)
    if within_reach and now.error > settings.tolerance:
        now, used = descend(now, SETTLED, settings.max_passes - passes)
        passes += used
    return now.rotations, passes


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
