# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose nearest to a target, of a chain whose lengths depend on its pose: a scale on the way differs between axes.

The kernel's bones are rigid, and these are not: what it finds for a chain that was measured at one pose is off in
another. So the tip is followed as Blender itself places it: damped least squares on the turns of the joints, by
differences, inside the limits; from the pose that the kernel found, and where that does not do from others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from ..kernel import Limit
from ..maths import Q4, V3, Doubles, conjugated, distance, dot, length, minus, multiplied, rotated, scaled, unit
from ..rig.kinematics import BoneTree

PROBE = 0.01  # radians by which a joint is turned to see how the tip follows
LEAST_MOVED = 0.1  # share of that turn which its limit has to leave for the joint to be turned at all
LARGEST_TURN = 0.6  # radians of a joint in one step
STEPS = 40  # from one start
STALLED = 1e-3  # share of the distance that a step has to take off for the next to be worth while
PATIENCE = 4  # steps that may take off less
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-2, 1e-6, 1e3  # as shares of the tip's mean leverage
EASED, RAISED = 0.25, 6.0  # factors of the damping after a step that led nearer, and after one that did not
RESTARTED_DAMPING = 1e-4  # the least from which it is raised after a step that led nowhere
SCREENED = 8  # poses that are drawn for each from which is started
SEED = 2011  # of the poses that are drawn: the same in every solve
SAME_END = 1e-3  # share of the length: two starts that end as near as that to each other found the nearest pose
ALMOST = 0.01  # share of the length within which some more steps may lead there
TAKEN = 0.05  # share of the turn that would help which a limit has to take away to count


class Nearest(NamedTuple):
    """Where a chain was brought.

    Attributes:
        rotations: n rotations, inside the limits.
        error: From the tip to the target, in armature space.
        steps: How many it took.
    """

    rotations: list[Q4]
    error: V3
    steps: int

    @property
    def distance(self) -> float:
        return length(self.error)


class UnevenChain:
    """A chain with a target, measured at each pose.

    Args:
        path: Its bones, mounted.
        limits: n limits.
        target: In chain space.
        size: Its length, at some pose.
    """

    def __init__(self, path: BoneTree, limits: Sequence[Limit], target: V3, size: float) -> None:
        self.path, self.limits, self.size = path, limits, size
        self._target = rotated(path.base, target)  # in armature space, in which tips are compared
        self._free = [i for i, limit in enumerate(limits) if not limit.is_fixed]

    def nearest(self, starts: Sequence[list[Q4]], restarts: int, enough: float) -> Nearest:
        """Bring the tip as near to the target as it comes.

        Args:
            starts: Poses to start from, the best first.
            restarts: How many others are drawn, where these do not lead there.
            enough: Distance at which to stop.
        """
        best: Nearest | None = None
        steps = 0
        for number, start in enumerate(self._all(starts, restarts)):
            found = self._descended(start, enough)
            steps += found.steps
            ends_alike = best is not None and distance(found.error, best.error) <= SAME_END * self.size
            if best is None or found.distance < best.distance:
                best = found
            if best.distance <= enough or (ends_alike and number >= len(starts)):
                break
        assert best is not None, "there is a start at least"
        if enough < best.distance <= ALMOST * self.size:
            best = self._descended(best.rotations, enough)
            steps += best.steps
        return best._replace(steps=steps)

    def held_back(self, nearest: Nearest) -> list[int]:
        """The joints whose limits keep the tip from coming nearer, the strongest first."""
        pulls = self._jacobian(nearest.rotations, are_limited=False).T @ np.array(nearest.error)
        found = []
        for i, (limit, rotation) in enumerate(zip(self.limits, nearest.rotations, strict=True)):
            pull: list[float] = pulls[3 * i : 3 * i + 3].tolist()
            step = scaled(unit(pull), PROBE)
            turned = multiplied(limit.turned(rotation, step), conjugated(rotation))
            share = 1.0 - dot(scaled(turned[1:], 2.0 if turned[0] >= 0.0 else -2.0), step) / PROBE**2
            if length(pull) * share > TAKEN * self.size * nearest.distance:
                found.append((-length(pull) * share, i))
        return [i for _, i in sorted(found)]

    def _all(self, starts: Sequence[list[Q4]], restarts: int) -> Iterator[list[Q4]]:
        yield from starts
        if restarts:
            random = Random(SEED)
            drawn = [
                [limit.drawn(random.random(), random.random(), random.random()) for limit in self.limits]
                for _ in range(SCREENED * restarts)
            ]
            yield from sorted(drawn, key=lambda pose: length(self._error(pose)))[:restarts]

    def _error(self, rotations: Sequence[Q4]) -> V3:
        return minus(self._target, self.path.tip_of(self.path.poses(rotations)[-1]))

    def _descended(self, start: list[Q4], enough: float) -> Nearest:
        """The nearest pose to which steps from one start lead."""
        now, error, damping, slow = start, self._error(start), FIRST_DAMPING, 0
        for step in range(STEPS):
            away = length(error)
            if away <= enough:
                return Nearest(now, error, step)
            found = self._step(now, error, damping)
            if found is None:
                return Nearest(now, error, step + 1)
            now, error, damping = found
            slow = slow + 1 if length(error) > (1.0 - STALLED) * away else 0
            if slow >= PATIENCE:
                break
        return Nearest(now, error, step + 1)

    def _step(self, now: list[Q4], error: V3, damping: float) -> tuple[list[Q4], V3, float] | None:
        """A pose that is nearer, its error, and the damping for the next step; None where there is none."""
        jacobian, wanted = self._jacobian(now, are_limited=True), np.array(error)
        square: Doubles = jacobian @ jacobian.T
        leverage = float(np.trace(square)) / 3.0
        if not leverage:
            return None
        while damping <= MOST_DAMPING:
            turns = jacobian.T @ np.linalg.solve(square + damping * leverage * np.eye(3), wanted)
            most = np.abs(turns).max()
            tried = self._turned(now, turns * min(1.0, LARGEST_TURN / most) if most else turns)
            left = self._error(tried)
            if length(left) < length(error):
                return tried, left, max(damping * EASED, LEAST_DAMPING)
            damping = max(damping, RESTARTED_DAMPING) * RAISED
        return None

    def _turned(self, rotations: Sequence[Q4], turns: Doubles) -> list[Q4]:
        found = list(rotations)
        numbers: list[float] = turns.tolist()
        for i in self._free:
            found[i] = self.limits[i].turned(rotations[i], numbers[3 * i : 3 * i + 3])
        return found

    def _jacobian(self, rotations: list[Q4], are_limited: bool) -> Doubles:
        """How the tip follows small turns of each joint, (3, 3 n); inside the limits or as if there were none."""
        found: Doubles = np.zeros((3, 3 * len(rotations)))
        poses = self.path.poses(rotations)
        for i in self._free if are_limited else range(len(rotations)):
            for axis in range(3):
                tips, moved = [], 0.0
                for sign in (1.0, -1.0):
                    turn = [0.0, 0.0, 0.0]
                    turn[axis] = sign * PROBE
                    other = self.limits[i].turned(rotations[i], turn) if are_limited else _turn(rotations[i], turn)
                    moved += _along(other, rotations[i], axis) * sign
                    turned = self.path.poses([*rotations[:i], other, *rotations[i + 1 :]], poses[:i])
                    tips.append(self.path.tip_of(turned[-1]))
                if moved > LEAST_MOVED * PROBE:
                    found[:, 3 * i + axis] = np.array(minus(*tips)) / moved
        return found


def _turn(rotation: Q4, turn: Sequence[float]) -> Q4:
    """A rotation turned on by a small vector."""
    half = scaled(turn, 0.5)
    size = (1.0 - dot(half, half)) ** 0.5
    return multiplied((size, *half), rotation)


def _along(end: Q4, start: Q4, axis: int) -> float:
    """The small turn about an axis that leads from one rotation to another."""
    turned = multiplied(end, conjugated(start))
    return 2.0 * (turned[1 + axis] if turned[0] >= 0.0 else -turned[1 + axis])
