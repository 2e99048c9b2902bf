# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint's frame is to come to a rotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex

from .. import cython
from ..figure import Pose, checked_rotation
from ..forms import Q4, V3, Doubles
from ..vectors import conjugated, multiplied, normalized, q4, rotation_vector, scaled
from .base import A_RADIAN, ASKED, SOLVE_SPACE, Goal


@cython.cclass
class Facing(Goal):
    """The frame of a joint is to come to a rotation of solve space, or of another joint's frame.

    Args:
        effector: Index of the joint.
        rotation: Unit quaternion.
        weight: How much the goal counts beside others; a radian counts as .15 of the figure's size.
        rank: Before which other goals it is met.
        frame: Index of the joint in whose frame the rotation is, or `SOLVE_SPACE`.
    """

    rotation: Q4

    def __init__(
        self,
        effector: SupportsIndex,
        rotation: Sequence[float],
        weight: SupportsFloat = 1.0,
        rank: SupportsIndex = ASKED,
        *,
        frame: SupportsIndex = SOLVE_SPACE,
    ) -> None:
        self._ask(effector, weight, rank, "goal's rotation", 4, frame, turns=True)
        self.rotation = normalized(checked_rotation("goal's rotation", rotation))

    def numbers(self) -> tuple[float, ...]:
        return self.rotation

    def copied(self) -> Goal:
        return Facing(self.effector, self.rotation, self.weight, self.rank, frame=self.frame)

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        self.rotation = normalized((row[at], row[at + 1], row[at + 2], row[at + 3]))

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        back: Q4 = conjugated(q4(pose.frames, self.effector))
        if self.frame >= 0:
            back = multiplied(back, q4(pose.frames, self.frame))
        turn: Q4 = multiplied(self.rotation, back)
        return scaled(rotation_vector(turn), self.weight * A_RADIAN)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        return scaled(self.turning(pose, k, axis), self.weight * A_RADIAN)
