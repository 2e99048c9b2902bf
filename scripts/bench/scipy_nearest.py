# SPDX-License-Identifier: GPL-3.0-or-later
"""How near the tip of a limited chain can come to a target, found by scipy's least squares from many starts.

The unknowns are one angle for a joint of one axis and a rotation vector for others; each limit's own `clamped` makes
an allowed rotation of them, and what it takes away counts as an error besides, so that no unknown drifts where it
changes nothing.
"""

from __future__ import annotations

from math import cos, hypot, sin
from random import Random

import numpy as np
from fabrik_addon.kernel import Figure, Limit
from mathutils import Quaternion, Vector
from scipy.optimize import least_squares

from .native_fabrik import Doubles
from .problems import Q4, V3, drawn

LEAST_TURN = 1e-12  # radians
OUTSIDE = 0.05  # of the length, that a radian outside a limit counts
STEPS = 200  # from each start, at most


class Unknowns:
    """Numbers that stand for a pose inside the limits."""

    def __init__(self, chain: Figure) -> None:
        self.chain = chain
        self.limits = chain.joint_limits
        self.sizes = [_size(limit) for limit in self.limits]

    def pose(self, x: Doubles) -> tuple[list[Q4], list[float]]:
        """Allowed rotations, and by how much each joint was outside its limit."""
        rotations, outside, at = [], [], 0
        for limit, size in zip(self.limits, self.sizes, strict=True):
            wanted = _rotation(limit, x[at : at + size])
            rotations.append(limit.clamped(wanted))
            outside.append(0.0 if limit.is_free or not size else limit.violation(wanted))
            at += size
        return rotations, outside

    def start(self, random: Random) -> Doubles:
        """A pose drawn inside the limits."""
        found: list[float] = []
        for limit, size in zip(self.limits, self.sizes, strict=True):
            turn = Vector(Quaternion(drawn(random, limit)).to_exponential_map())
            found += {0: [], 1: [float(turn.dot(Vector(limit.axis)))], 3: list(turn)}[size]
        return np.array(found)


def _size(limit: Limit) -> int:
    return 0 if limit.is_fixed else 3 if limit.is_ball else 1


def _rotation(limit: Limit, x: Doubles) -> Q4:
    turn = [value * x[0] for value in limit.axis] if len(x) == 1 else [float(value) for value in x]
    angle = hypot(*turn)
    if angle < LEAST_TURN:
        return (1.0, 0.0, 0.0, 0.0)
    factor = sin(0.5 * angle) / angle
    return (cos(0.5 * angle), turn[0] * factor, turn[1] * factor, turn[2] * factor)


def nearest(chain: Figure, target: V3, random: Random, starts: int) -> float:
    """The least distance from tip to target that is found, in units of the chain."""
    unknowns, place = Unknowns(chain), np.array(target)

    def tip_off(rotations: list[Q4]) -> Doubles:
        off: Doubles = np.array(chain.placed(rotations).joints[-1]) - place
        return off

    def errors(x: Doubles) -> Doubles:
        rotations, outside = unknowns.pose(x)
        found: Doubles = np.concatenate((tip_off(rotations), np.array(outside) * OUTSIDE * chain.size))
        return found

    best = float("inf")
    for _ in range(starts):
        start = unknowns.start(random)
        found = least_squares(errors, start, diff_step=1e-6, xtol=1e-10, ftol=1e-12, gtol=1e-12, max_nfev=STEPS)
        best = min(best, float(np.linalg.norm(tip_off(unknowns.pose(found.x)[0]))))
        if best <= 1e-9 * chain.size:
            break
    return best
