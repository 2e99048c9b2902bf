# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint's frame is to come to a rotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex

from .. import cython
from ..figure import Pose, checked_rotation
from ..forms import Q4, V3, Doubles
from ..vectors import ORIGIN, conjugated, length, multiplied, normalized, q4, rotation_vector, scaled
from .base import A_RADIAN, ASKED, TIP, Goal


@cython.cclass
class Facing(Goal):
    """The frame of a joint is to come to a rotation of the solve space.

    Args:
        effector: Index of the joint.
        rotation: Unit quaternion in solve space.
        weight: How much the goal counts beside others; a radian counts as .15 of the figure's size.
        rank: Before which other goals it is met.
    """

    rotation: Q4

    def __init__(
        self,
        effector: SupportsIndex,
        rotation: Sequence[float],
        weight: SupportsFloat = 1.0,
        rank: SupportsIndex = ASKED,
    ) -> None:
        self._ask(effector, weight, rank, "goal's rotation", 4)
        self.rotation = normalized(checked_rotation("goal's rotation", rotation))

    def numbers(self) -> tuple[float, ...]:
        return self.rotation

    def copied(self) -> Goal:
        return Facing(self.effector, self.rotation, self.weight, self.rank)

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        self.rotation = normalized((row[at], row[at + 1], row[at + 2], row[at + 3]))

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        turn: Q4 = multiplied(self.rotation, conjugated(q4(pose.frames, self.effector)))
        return scaled(rotation_vector(turn), self.weight * A_RADIAN)

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_missed(self, pose: Pose) -> cython.double:
        return length(self.missing(pose)) / (self.weight * A_RADIAN) if self.weight > 0.0 else 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        if self.carried[k] != TIP:
            return ORIGIN
        return scaled(axis, self.weight * A_RADIAN)
