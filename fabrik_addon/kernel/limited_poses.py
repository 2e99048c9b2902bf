# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a figure and its limits: what can be told of them, and done to them, without any goal."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ChainError, InvalidValueError
from . import cython
from .figure import Figure, checked_rotation
from .forms import Q4
from .ladder.limb import clamp_start
from .limits.base import Limit
from .pose import Pose
from .rows import Rows
from .vectors import larger, put4, q4


@cython.cclass
class LimitedPoses:
    """Poses of a figure, inside its limits and outside.

    Args:
        figure: n joints.

    Attributes:
        figure: As it was given.
        unit: The same at size 1, in which it is solved.
        size: Of the figure, in the units in which it was given.
    """

    figure = cython.declare(Figure, visibility="readonly")
    unit: Figure
    size: cython.double

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.unit = figure.at_unit_size()
        self.size = figure.size

    def clamped(self, rotations: Sequence[Q4]) -> list[Q4]:
        """The allowed rotations nearest to n given ones."""
        self._check_count(rotations)
        return [limit.clamped(rotation) for limit, rotation in zip(self.unit.limits, rotations, strict=True)]

    @property
    def starts(self) -> list[Q4]:
        """The start pose inside the limits: n rotations."""
        return self.clamped(self.unit.starts)

    def blended(self, rotations: Sequence[Q4], influence: float) -> list[Q4]:
        """Each joint `influence` of the way from the start pose to n rotations, inside its limit."""
        self._check_count(rotations)
        if influence >= 1.0:
            return list(rotations)
        joints = zip(self.unit.limits, self.starts, rotations, strict=True)
        return [limit.blended(start, end, influence) for limit, start, end in joints]

    def blend_rows(self, rows: Rows, influence: float) -> None:
        """`blended` for all rows, in place; tips and residuals stay those of the solve."""
        i: cython.int
        k: cython.Py_ssize_t
        limit: Limit
        share: cython.double = influence
        self._check_rows(rows)
        if influence >= 1.0:
            return
        starts = clamp_start(self.unit)
        for k in range(rows.count):
            for i in range(self.unit.count):
                limit = self.unit.limits[i]
                at: cython.Py_ssize_t = k * self.unit.count + i
                put4(rows.rotations_out, at, limit.blend(q4(starts, i), q4(rows.rotations_out, at), share))

    def violation(self, rotations: Sequence[Q4]) -> float:
        """How far the joint that is worst stands outside its limit, in radians."""
        self._check_count(rotations)
        return max(limit.violation(rotation) for limit, rotation in zip(self.unit.limits, rotations, strict=True))

    def worst_violation(self, rows: Rows) -> float:
        """`violation`, the worst of all rows."""
        i: cython.int
        k: cython.Py_ssize_t
        limit: Limit
        worst: cython.double = 0.0
        self._check_rows(rows)
        for k in range(rows.count):
            for i in range(self.unit.count):
                limit = self.unit.limits[i]
                worst = larger(worst, limit.exceed(q4(rows.rotations_out, k * self.unit.count + i)))
        return worst

    def _check_rows(self, rows: Rows) -> None:
        """Refuse rows that were made for another number of joints, by a ChainError."""
        if rows.joints != self.unit.count:
            raise ChainError("the rows were made for another figure")

    def _check_count(self, rotations: Sequence[Q4]) -> None:
        """Refuse rotations that are not as many as the joints.

        Raises:
            InvalidValueError: They are not.
        """
        if len(rotations) != self.unit.count:
            raise InvalidValueError(f"{len(rotations)} rotations were given for {self.unit.count} joints")

    def _posed(self, rotations: Sequence[Q4]) -> Pose:
        """A placed pose of the figure at size 1."""
        self._check_count(rotations)
        pose: Pose = Pose(self.unit.count)
        for i in range(self.unit.count):
            put4(pose.rotations, i, checked_rotation("rotation", rotations[i]))
        self.unit.place(pose)
        return pose
