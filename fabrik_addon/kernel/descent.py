# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain and its tip's target, as least squares see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from mathutils import Quaternion, Vector

from .least_squares import Standing
from .model import Chain, Joint
from .orientation import place


@dataclass(slots=True)
class Descent(Standing):
    """Where a descent of a chain of length 1 stands.

    Attributes:
        chain: n joints.
        target: Point in solve space, relative to the root, at most a few lengths away.
        rotations: n allowed rotations.
        joints: The n + 1 joints that they give.
        frames: The n frames that they give.
        error: Distance of the tip from the target.
    """

    chain: Chain
    target: Vector
    rotations: list[Quaternion]
    joints: list[Vector]
    frames: list[Quaternion]
    error: float

    @classmethod
    def at(cls, chain: Chain, rotations: list[Quaternion], target: Vector) -> Self:
        """Stand at the given allowed rotations."""
        joints, frames = place(chain, rotations)
        return cls(chain, target, rotations, joints, frames, (target - joints[-1]).length)

    @property
    def joints_posed(self) -> Sequence[Joint]:
        return self.chain.joints

    def missing(self) -> list[Vector]:
        return [self.target - self.joints[-1]]

    def moves(self, joint: int, axes: Sequence[Vector]) -> list[list[Vector]]:
        rest, lever = self.lever(joint)
        return [[(rest @ axis).cross(lever)] for axis in axes]

    def moved(self, rotations: list[Quaternion]) -> Self:
        return self.at(self.chain, rotations, self.target)

    def lever(self, joint: int) -> tuple[Quaternion, Vector]:
        """A joint's rest frame in solve space, and the vector from it to the last point that it carries."""
        carried = self.joints[self.chain.carried_to[joint]]
        return self.frames[joint] @ self.rotations[joint].conjugated(), carried - self.joints[joint]


def blocking(now: Descent) -> tuple[int, ...]:
    """The joints whose limits hold the tip back, the strongest first.

    A joint counts when its limit takes away a twentieth or more of the turn that would bring the tip nearer.
    """
    error = now.missing()[0]
    found = []
    for i, joint in enumerate(now.chain.joints):
        rest, lever = now.lever(i)
        turn = rest.conjugated() @ lever.cross(error)
        taken = (turn - joint.limit.allowed(now.rotations[i], turn)).length
        if taken > 0.05 * lever.length * error.length:
            found.append((-taken, i))
    return tuple(i for _, i in sorted(found))
