# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains with limits: FABRIK with the limits carried along, then least squares, then restarts."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from random import Random

from mathutils import Quaternion, Vector

from . import reach
from .closed_form import hinged_limb, is_hinged_limb
from .descent import Descent
from .least_squares import descend
from .limb import bent, clamped_start, matched
from .model import Chain, Goal, Settings
from .orientation import place
from .passes import backward, limited_forward
from .trace import Recorder

FABRIK_PASSES = 4  # before least squares takes over: later passes gain little under limits
RESTARTS, SCREENED = 8, 128
APART = 0.2  # shares of the length
STRAIGHTEST = 0.98  # share of its length to which a straight chain is bent for a target farther out
SEED = 2011
SETTLED = 1e-6  # error to which a reached pose is finished, as a share of the length


def solve_limited(chain: Chain, goal: Goal, settings: Settings, recorder: Recorder) -> tuple[Descent, int]:
    """Reach for the target with a chain of length 1 whose limits hold throughout; the pole is left to the caller.

    Returns:
        Where the chain then stands, its rotations allowed, and the passes used.
    """
    target = _within_reach(chain, goal.target)
    if settings.plain:
        start = swung(chain, clamped_start(chain), target)
        best, passes = _fabrik(Descent.at(chain, start, target), target, settings, settings.max_passes, recorder)
        return best, passes
    if is_hinged_limb(chain):
        hinge = hinged_limb(chain, target.length)
        if hinge is not None:
            return Descent.at(chain, swung(chain, [chain.joints[0].start, hinge], target), target), 1
    rotations = matched(chain, target)
    first = chain.first_moving if rotations is None else chain.first_ball
    if rotations is None:
        rotations = bent(chain, clamped_start(chain), min(target.length, STRAIGHTEST))
    best, passes = Descent.at(chain, swung(chain, rotations, target, first), target), 1
    recorder.record("swing", best.joints)
    best, used = _fabrik(best, target, settings, FABRIK_PASSES, recorder)
    passes += used
    budget = settings.max_passes - passes
    best, used = descend(best, SETTLED, budget // 4 if _is_stiff(chain) else budget)
    recorder.record("descend", best.joints)
    passes += used
    if _is_stiff(chain) and best.error > settings.tolerance:
        best = replace(best, chain=_relaxed(chain))  # stiffness says who turns first, not how far the limb reaches
        best, used = descend(best, SETTLED, settings.max_passes - passes)
        recorder.record("descend", best.joints)
        passes += used
    best, used = _restarts(best, target, settings, settings.max_passes - passes, recorder)
    return best, passes + used


def _is_stiff(chain: Chain) -> bool:
    return any(joint.stiffness for joint in chain.joints)


def _relaxed(chain: Chain) -> Chain:
    """The same chain without stiffness."""
    return replace(chain, joints=tuple(replace(joint, stiffness=0.0) for joint in chain.joints))


def _within_reach(chain: Chain, target: Vector) -> Vector:
    """The target, or the point nearest to it that the chain could reach if it had no limits."""
    inner, outer = reach.bounds(chain.lengths)
    distance = target.length
    if inner <= distance <= outer or not distance:
        return target
    return target * (min(max(distance, inner), outer) / distance)


def swung(chain: Chain, rotations: list[Quaternion], target: Vector, first: int | None = None) -> list[Quaternion]:
    """The rotations with a joint, the first that moves by default, turned to bring the tip towards the target."""
    first = chain.first_moving if first is None else first
    if first == len(chain.joints):
        return rotations
    joints, frames = place(chain, rotations)
    rest = frames[first] @ rotations[first].conjugated()
    lever = joints[chain.carried_to[first]] - joints[first]
    wanted = lever + target - joints[-1]
    if lever.length < 1e-6 or wanted.length < 1e-6:
        return rotations
    turned = list(rotations)
    segment = frames[first].conjugated() @ lever
    turned[first] = chain.joints[first].limit.aim(rotations[first], segment, rest.conjugated() @ wanted)
    return turned


def _fabrik(start: Descent, target: Vector, settings: Settings, most: int, recorder: Recorder) -> tuple[Descent, int]:
    """The passes of FABRIK with limits; the best iterate is kept."""
    chain, best = start.chain, start
    rotations, joints = start.rotations, [joint.copy() for joint in start.joints]
    passes = 0
    while passes < min(most, settings.max_passes) and best.error > settings.tolerance:
        passes += 1
        backward(joints, chain.lengths, target)
        recorder.record("backward", joints)
        rotations, _ = limited_forward(chain, rotations, joints)
        rotations = swung(chain, rotations, target)
        now = Descent.at(chain, rotations, target)
        joints = [joint.copy() for joint in now.joints]
        recorder.record("forward", joints)
        if now.error >= best.error and not settings.plain:
            break
        best = now if now.error < best.error else best
    return best, passes


def _restarts(
    best: Descent, target: Vector, settings: Settings, budget: int, recorder: Recorder
) -> tuple[Descent, int]:
    """Least squares from the 8 nearest of many poses drawn inside the limits, each with an eighth of the budget."""
    if best.error <= settings.tolerance or best.chain.first_moving == len(best.chain.joints):
        return best, 0
    chain, used = best.chain, 0
    poses = [Descent.at(chain, swung(chain, rotations, target), target) for rotations in drawn_poses(chain)]
    for pose in _unlike(sorted(poses, key=lambda pose: pose.error)):
        if best.error <= settings.tolerance:
            break
        trial, steps = descend(pose, SETTLED, budget // RESTARTS)
        recorder.record("restart", trial.joints)
        used += steps
        best = trial if trial.error < best.error * 0.999 else best
    return best, used


@lru_cache(maxsize=64)
def drawn_poses(chain: Chain) -> list[list[Quaternion]]:
    """Poses drawn inside the limits of a chain, the same ones each time."""
    random = Random(SEED)
    return [[joint.limit.sample(random) for joint in chain.joints] for _ in range(SCREENED)]


def _unlike(poses: list[Descent]) -> list[Descent]:
    """The first 8 poses that stand apart from each other: neighbours end in the same place."""
    chosen: list[Descent] = []
    for pose in poses:
        if all(_distance(pose, other) > APART for other in chosen):
            chosen.append(pose)
        if len(chosen) == RESTARTS:
            break
    return chosen


def _distance(pose: Descent, other: Descent) -> float:
    """The largest distance between the same joint of two poses."""
    return float(max((a - b).length for a, b in zip(pose.joints, other.joints, strict=True)))
