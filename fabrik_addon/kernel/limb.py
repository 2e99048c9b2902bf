# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs: a ball joint, free or limited, and behind it joints with limits. Only the distance of the tip has to be met.

All joints are moved together along one parameter between the start pose and the shortest or the longest pose, which do
not depend on the target; then the first joint turns the limb onto the target. So a target that moves smoothly gives a
pose that does, and knees bend the way they bend in the start pose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise, product
from math import prod
from typing import TypeVar

from mathutils import Quaternion, Vector

from . import reach
from .bend import is_straight, preferred_bend
from .crossing import crossing
from .descent import Descent
from .least_squares import stepped
from .limits import Free, Limit, Locked
from .model import Chain
from .orientation import place
from .passes import limited_forward
from .rotations import turn_angle

T = TypeVar("T")
EXTREME_STEPS, EXTREME_TURN, LITTLE_LEFT = 60, 0.25, 1e-4
EXTREME_DAMPING = 1e-2  # lower, and rounding would turn the pose out of its plane
MOST_COMBINATIONS, SWEEPS, FAR = 250, 2, 3.0  # of ends of ranges tried; radians that bring every joint to an end
SAMPLES = 12
SHOWS_BEND = 0.75  # share of the start pose's reach
PER_RADIAN = 1e-5  # how much shorter an end has to be for each radian that it is farther away
NO_BETTER = 1e-5  # share of the length
BENT_TO = 0.97  # share of its length to which a straight chain is bent before it is bent further


def matched(chain: Chain, target: Vector) -> list[Quaternion] | None:
    """Rotations of a limb whose tip stands as far from its first ball joint as the target does, or nearly so.

    Joints before that one keep their start rotations.

    Args:
        chain: Of length 1, n joints.
        target: Point relative to the root.

    Returns:
        n allowed rotations, the limb not yet turned onto the target; None for a chain without such a joint.
    """
    first = chain.first_ball
    if first is None:
        return None
    joints, _ = place(chain, clamped_start(chain))
    distance = (target - joints[first]).length
    poses = limb_path(chain)
    reaches = [_reach(chain, pose) for pose in poses]
    if distance >= reaches[0]:
        return poses[0]
    if distance <= reaches[-1]:
        return poses[-1]
    part = next(i for i in range(len(poses) - 1) if reaches[i] > distance >= reaches[i + 1])
    limits = [joint.limit for joint in chain.joints]

    def excess(share: float) -> float:
        pose = _between(limits, poses[part], poses[part + 1], share)
        return _reach(chain, pose) - float(distance)

    share = crossing(excess, (0.0, 1.0), (reaches[part] - distance, reaches[part + 1] - distance))
    return _between(limits, poses[part], poses[part + 1], share)


@lru_cache(maxsize=256)
def reference_pose(chain: Chain) -> list[Quaternion]:
    """A pose that shows to which side the chain bends: of a limb, one on its way from the start to the shortest pose.

    The start pose itself may be as good as straight, and its joints' offsets then tell of the foot, not of the knee.
    """
    start = clamped_start(chain)
    if chain.is_free or chain.first_ball is None:
        return start
    joints, _ = place(chain, start)
    first = joints[chain.first_ball]
    return matched(chain, first + (joints[-1] - first) * SHOWS_BEND) or start


def clamped_start(chain: Chain) -> list[Quaternion]:
    """The start pose inside the limits."""
    return [joint.limit.clamp(joint.start) for joint in chain.joints]


def _reach(chain: Chain, rotations: Sequence[Quaternion]) -> float:
    """The distance of the tip from the first ball joint, summed up from the tip; all joints behind inherit rotation."""
    arm = chain.joints[-1].segment
    for i in range(len(rotations) - 1, chain.first_ball or 0, -1):
        arm = chain.joints[i - 1].segment + chain.joints[i].rest @ (rotations[i] @ arm)
    return float(arm.length)


def _between(
    limits: Sequence[Limit], start: Sequence[Quaternion], end: Sequence[Quaternion], share: float
) -> list[Quaternion]:
    return [limit.blend(a, b, share) for limit, a, b in zip(limits, start, end, strict=True)]


@lru_cache(maxsize=256)
def limb_path(chain: Chain) -> list[list[Quaternion]]:
    """The longest pose, the start pose and the shortest; without the start where the reach would not fall on the way.

    That is so for a leg whose knee has to pass through straight before it bends.
    """
    start = clamped_start(chain)
    straightened, _ = limited_forward(chain, start, _straight(chain, start))
    far = [_extreme(chain, pose, 2.0) for pose in (start, straightened, _best_ends(chain, start, -1.0))]
    longest = _first_best(far, lambda pose: -_reach(chain, pose))
    poses = [longest, start, _extreme(chain, _best_ends(chain, start, 1.0), 0.0)]
    limits = [joint.limit for joint in chain.joints]
    shares = [k / SAMPLES for k in range(SAMPLES + 1)]
    reaches = [_reach(chain, _between(limits, start, poses[2], share)) for share in shares]
    falls = all(after <= before + 1e-6 for before, after in pairwise(reaches))
    return poses if falls else [poses[0], poses[2]]


def _straight(chain: Chain, start: list[Quaternion]) -> list[Vector]:
    """The joints of the start pose, laid out straight from the first free one towards the tip."""
    joints, _ = place(chain, start)
    first = chain.first_ball or 0
    along = (joints[-1] - joints[first]).normalized()
    laid = reach.stretched(chain.lengths[first:], along)
    return [*joints[:first], *(joints[first] + point for point in laid)]


def _best_ends(chain: Chain, start: list[Quaternion], sign: float) -> list[Quaternion]:
    """The limited joints at whichever ends of their ranges bring the tip nearest to the first ball joint.

    With `sign` -1 instead of 1, farthest from it.
    """

    def rank(pose: Iterable[Quaternion]) -> float:
        ends = tuple(pose)
        away = sum(turn_angle(a.conjugated() @ b) for a, b in zip(start, ends, strict=True))
        return sign * _reach(chain, ends) + PER_RADIAN * away

    choices = []
    for i, (joint, rotation) in enumerate(zip(chain.joints, start, strict=True)):
        found = [rotation]
        if i > (chain.first_ball or 0) and not isinstance(joint.limit, Free):
            for axis in joint.limit.axes(rotation):
                found += [joint.limit.turned(rotation, axis * sign * FAR) for sign in (1.0, -1.0)]
        choices.append(found)
    if prod(len(found) for found in choices) <= MOST_COMBINATIONS:
        return list(_first_best(product(*choices), rank))
    best = list(start)
    for _ in range(SWEEPS):
        for i in range(len(best) - 1, -1, -1):
            best[i] = _first_best(choices[i], partial(_rank_with, rank, list(best), i))
    return best


def _rank_with(
    rank: Callable[[Iterable[Quaternion]], float], pose: list[Quaternion], index: int, choice: Quaternion
) -> float:
    """The rank of a pose with one joint put elsewhere."""
    return rank([*pose[:index], choice, *pose[index + 1 :]])


def _first_best(candidates: Iterable[T], rank: Callable[[T], float]) -> T:
    """The first candidate that none is better than by more than rounding: mirrored ends must not take turns."""
    found = [(rank(candidate), candidate) for candidate in candidates]
    least = min(value for value, _ in found)
    return next(candidate for value, candidate in found if value <= least + NO_BETTER)


def _extreme(chain: Chain, start: list[Quaternion], distance: float) -> list[Quaternion]:
    """Steps of least squares from a pose towards a distance alone, the first ball joint and those before it held."""
    first = chain.first_ball or 0
    start = bent(chain, start, BENT_TO) if distance == 0.0 else start
    joints = tuple(
        replace(joint, limit=Locked(start[i])) if i <= first else joint for i, joint in enumerate(chain.joints)
    )
    best = Descent.at(replace(chain, joints=joints), start, Vector())
    for _ in range(EXTREME_STEPS):
        span = best.joints[-1] - best.joints[first]
        if span.length < 1e-4:
            break
        aim = best.joints[first] + span.normalized() * distance
        best = replace(best, target=aim, error=(aim - best.joints[-1]).length)
        trial = best.moved(stepped(best, EXTREME_DAMPING, EXTREME_TURN))
        if trial.error > best.error - LITTLE_LEFT:
            break
        best = trial
    return best.rotations


def bent(chain: Chain, rotations: list[Quaternion], distance: float) -> list[Quaternion]:
    """Bend a straight chain by equal turns, as far as its limits let it, to about a distance; others come back."""
    joints, frames = place(chain, rotations)
    if len(chain.joints) < 2 or not is_straight(joints, chain.length) or not joints[-1].length:
        return rotations
    along = joints[-1].normalized()
    pairs = zip(chain.joints, rotations, strict=True)
    standing = replace(chain, joints=tuple(replace(joint, start=rotation) for joint, rotation in pairs))
    bend = preferred_bend(standing, frames, along)
    curve = reach.curled(chain.lengths, [along] * len(chain.joints), distance, along, bend)
    return limited_forward(chain, rotations, curve)[0]
