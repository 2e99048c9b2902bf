# SPDX-License-Identifier: GPL-3.0-or-later
"""An axis of a joint's frame is to point at a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex

from ...errors import InvalidValueError
from .. import cython
from ..figure import Pose
from ..forms import Q4, V3, Doubles
from ..limits.base import checked_point
from ..vectors import (
    ORIGIN,
    PI,
    X_AXIS,
    conjugated,
    cross,
    from_to,
    length,
    minus,
    multiplied,
    perpendicular,
    plus,
    q4,
    rotated,
    rotation_vector,
    scaled,
    unit,
    v3,
)
from .base import A_RADIAN, ASKED, SOLVE_SPACE, Goal

NO_DIRECTION = cython.declare(cython.double, 1e-3)  # of the place from the joint: nearer, it counts as behind it
NO_DISTANCE = cython.declare(cython.double, 1e-9)  # of the place from the joint that tells no direction


@cython.cclass
class Aim(Goal):
    """An axis of a joint's frame, from its head, is to point at a place, as eyes and barrels do.

    Args:
        effector: Index of the joint.
        axis: Direction in the joint's frame, any length but zero.
        target: The place.
        weight: How much the goal counts beside others; a radian counts as .15 of the figure's size.
        rank: Before which other goals it is met.
        frame: Index of the joint in whose frame the place is, or `SOLVE_SPACE`.
    """

    axis: V3
    target: V3

    def __init__(
        self,
        effector: SupportsIndex,
        axis: Sequence[float],
        target: Sequence[float],
        weight: SupportsFloat = 1.0,
        rank: SupportsIndex = ASKED,
        *,
        frame: SupportsIndex = SOLVE_SPACE,
    ) -> None:
        self._ask(effector, weight, rank, "target", 3, frame, turns=True)
        self.target = checked_point("target", target)
        self.axis = unit(checked_point("axis to aim", axis))
        if length(self.axis) == 0.0:
            raise InvalidValueError("the axis to aim is zero")

    def numbers(self) -> tuple[float, ...]:
        return self.target

    def copied(self) -> Goal:
        return Aim(self.effector, self.axis, self.target, self.weight, self.rank, frame=self.frame)

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        self.target = minus((row[at] * factor, row[at + 1] * factor, row[at + 2] * factor), origin)

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        frame: Q4 = q4(pose.frames, self.effector)
        if self.frame >= 0:
            frame = multiplied(conjugated(q4(pose.frames, self.frame)), frame)
        points: V3 = rotated(frame, self.axis)
        wanted: V3 = minus(self.target, self.within(pose, v3(pose.heads, self.effector)))
        half_turn: V3 = rotated(frame, X_AXIS)
        if length(wanted) < NO_DIRECTION and len(self.path) > 1:  # alone, a joint does not come there by itself
            return scaled(half_turn, PI * self.weight * A_RADIAN)
        return scaled(rotation_vector(from_to(points, wanted, half_turn)), self.weight * A_RADIAN)

    @cython.cfunc
    @cython.exceptval(check=False)
    def shift(self, pose: Pose, axis: V3) -> V3:
        return scaled(self.turned(pose, axis), self.weight * A_RADIAN)

    @cython.cfunc
    @cython.exceptval(check=False)
    def turned(self, pose: Pose, shift: V3) -> V3:
        """The turn by which the direction to the place changes when the joint's head moves by a small vector."""
        wanted: V3 = minus(self.target, self.within(pose, v3(pose.heads, self.effector)))
        distance: cython.double = length(wanted)
        if distance <= NO_DISTANCE:
            return ORIGIN
        wanted = scaled(wanted, 1.0 / distance)
        return scaled(cross(wanted, perpendicular(shift, wanted)), 1.0 / distance)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        head: V3 = v3(pose.heads, self.effector)
        wanted: V3 = minus(self.target, self.within(pose, head))
        if length(wanted) <= NO_DISTANCE:
            return ORIGIN
        turn: V3 = perpendicular(self.turning(pose, k, axis), unit(wanted))
        shift: V3 = self.seen(pose, k, axis, head, self.swept(pose, k, axis, head))
        return scaled(plus(turn, self.turned(pose, shift)), self.weight * A_RADIAN)
