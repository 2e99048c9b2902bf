# SPDX-License-Identifier: GPL-3.0-or-later
"""The root of a figure is to stay where the figure starts."""

from __future__ import annotations

from typing import SupportsFloat, SupportsIndex, cast

from ...errors import ChainError
from .. import cython
from ..figure import Figure, Pose
from ..forms import Q4, V3
from ..vectors import IDENTITY, ORIGIN, conjugated, minus, multiplied, q4, rotation_vector, scaled, v3
from .base import A_RADIAN, PLACED, TIP, Goal


@cython.cclass
class Stay(Goal):
    """Joint 0, the hips of a body, is to stay at the place where the figure starts, or turned as it starts there.

    It has no numbers in a row: the start pose says where, which rows may change.

    Args:
        turns: Whether its rotation is held, else its place.
        weight: How much the goal counts beside others; a radian counts as .15 of the figure's size.
        rank: Before which other goals it is met.
    """

    place: V3  # of the joint at the start, in the units in which the figure is solved
    turn: Q4  # of the joint there, in its rest frame and inside its limit

    def __init__(self, turns: bool = False, weight: SupportsFloat = 1.0, rank: SupportsIndex = PLACED) -> None:
        self._ask(0, weight, rank, "start", 0, turns=turns)
        self.place, self.turn = ORIGIN, IDENTITY

    def numbers(self) -> tuple[float, ...]:
        return ()

    def copied(self) -> Goal:
        return Stay(self.turns, self.weight, self.rank)

    def bound(self, figure: Figure) -> Goal:
        if not figure.moves:
            raise ChainError("a figure whose root can't be moved needs no goal to stay")
        return cast(Stay, Goal.bound(self, figure))

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin(self, figure: Figure, start: Pose) -> cython.void:
        self.place, self.turn = v3(start.heads, 0), q4(start.rotations, 0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        if not self.turns:
            return scaled(minus(self.place, v3(pose.heads, 0)), self.weight)
        wanted: Q4 = multiplied(q4(pose.rests, 0), self.turn)
        turn: Q4 = multiplied(wanted, conjugated(q4(pose.frames, 0)))
        return scaled(rotation_vector(turn), self.weight * A_RADIAN)

    @cython.cfunc
    @cython.exceptval(check=False)
    def shift(self, pose: Pose, axis: V3) -> V3:
        return ORIGIN if self.turns else scaled(axis, self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        return scaled(axis, self.weight * A_RADIAN) if self.turns and self.carried[k] == TIP else ORIGIN
