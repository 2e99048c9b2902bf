# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a figure and its limits: what can be told of them, and done to them, without any goal."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ChainError, InvalidValueError
from . import cython
from .answers import put_pose
from .figure import Figure, checked_rotation
from .forms import Q4, V3, Doubles, Ints
from .goals.base import Goal
from .ladder.limb import clamp_start
from .limits.base import Limit
from .limits.locked import Locked
from .pose import Pose
from .rows import Rows
from .vectors import ORIGIN, doubles, integers, larger, normalized, ones, put3, put4, q4, scaled, v3


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
    stays: Ints  # which joints of the figure at size 1 are held at their start
    no_stays: Ints
    no_starts: Doubles

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.unit = figure.at_unit_size()
        self.stays, self.no_stays = integers(figure.count), integers(figure.count)
        self.no_starts = doubles(4 * figure.count)
        self.size = figure.size

    def clamped(self, rotations: Sequence[Q4]) -> list[Q4]:
        """The allowed rotations nearest to n given ones."""
        self._check_count(rotations)
        return [limit.clamped(rotation) for limit, rotation in zip(self.figure.limits, rotations, strict=True)]

    @property
    def starts(self) -> list[Q4]:
        """The start pose inside the limits: n rotations."""
        return self.clamped(self.figure.starts)

    def blended(self, rotations: Sequence[Q4], influence: float) -> list[Q4]:
        """Each joint `influence` of the way from the start pose to n rotations, inside its limit."""
        self._check_count(rotations)
        if influence >= 1.0:
            return list(rotations)
        joints = zip(self.figure.limits, self.starts, rotations, strict=True)
        return [limit.blended(start, end, influence) for limit, start, end in joints]

    def blend_rows(self, rows: Rows, influence: float) -> None:
        """`blended` for all solved rows, in place: rotations, factors, heads, ends and frames.

        How the rows ended stays that of the solve, as do the shifts.
        """
        i: cython.int
        g: cython.int
        k: cython.Py_ssize_t
        limit: Limit
        goal: Goal
        share: cython.double = influence
        self._check_rows(rows)
        if influence >= 1.0:
            return
        pose: Pose = Pose(self.unit.count)
        for k in range(rows.count):
            self.take_start(rows.starts, rows.stays, k * self.unit.count, v3(rows.roots, k))
            starts: Doubles = clamp_start(self.unit)
            for i in range(self.unit.count):
                limit = self.unit.limits[i]
                at: cython.Py_ssize_t = k * self.unit.count + i
                put4(pose.rotations, i, limit.blend(q4(starts, i), q4(rows.rotations, at), share))
            figure: Figure = self.unit
            lengths: Doubles = ones(figure.count)
            for g in range(len(rows.asked)):
                goal = rows.asked[g]
                at = k * len(rows.asked) + g
                if rows.factors[at] > 1.0:
                    rows.factors[at] = 1.0 + share * (rows.factors[at] - 1.0)
                    goal.lengthen(lengths, rows.factors[at])
                    figure = self.unit.with_lengths(lengths, 1.0)
            put3(pose.shift, 0, scaled(v3(rows.shifts, k), 1.0 / self.size))
            figure.place(pose)
            put_pose(rows, k, pose, self.size, ORIGIN)

    @cython.cfunc
    def take_start(self, starts: Doubles, stays: Ints, first: cython.Py_ssize_t, root: V3) -> cython.void:
        """Let the figure at size 1 start elsewhere, and some of its joints stay there.

        Args:
            starts: From `first` on n rotations; four zeros for the figure's own.
            stays: From `first` on n switches.
            first: Index of joint 0 in these.
            root: Vector by which joint 0 starts elsewhere, in units of the solve space.
        """
        i: cython.int
        unit: Figure = self.unit
        limit: Limit
        is_other: cython.bint = False
        for i in range(unit.count):
            start: Q4 = q4(starts, first + i)
            is_own: cython.bint = start[0] == 0.0 and start[1] == 0.0 and start[2] == 0.0 and start[3] == 0.0
            start = q4(self.figure.start, i) if is_own else normalized(start)
            is_other = put_other(unit.start, 4 * i, start[0]) or is_other
            is_other = put_other(unit.start, 4 * i + 1, start[1]) or is_other
            is_other = put_other(unit.start, 4 * i + 2, start[2]) or is_other
            is_other = put_other(unit.start, 4 * i + 3, start[3]) or is_other
            is_held: cython.bint = stays[first + i] != 0
            is_other = is_other or is_held != (self.stays[i] != 0)
            self.stays[i] = is_held
        root = scaled(root, 1.0 / self.size)
        is_other = put_other(unit.root, 0, root[0]) or is_other
        is_other = put_other(unit.root, 1, root[1]) or is_other
        is_other = put_other(unit.root, 2, root[2]) or is_other
        if is_other:
            unit.changes += 1
            for i in range(unit.count):
                limit = self.figure.limits[i]
                unit.limits[i] = Locked(limit.clamp(q4(unit.start, i))) if self.stays[i] else limit

    @cython.cfunc
    def take_own_start(self) -> cython.void:
        """Start as the figure does."""
        self.take_start(self.no_starts, self.no_stays, 0, ORIGIN)

    def violation(self, rotations: Sequence[Q4]) -> float:
        """How far the joint that is worst stands outside its limit, in radians."""
        self._check_count(rotations)
        return max(limit.violation(rotation) for limit, rotation in zip(self.figure.limits, rotations, strict=True))

    def worst_violation(self, rows: Rows) -> float:
        """`violation`, the worst of all rows."""
        i: cython.int
        k: cython.Py_ssize_t
        limit: Limit
        worst: cython.double = 0.0
        self._check_rows(rows)
        for k in range(rows.count):
            for i in range(self.unit.count):
                limit = self.figure.limits[i]
                worst = larger(worst, limit.exceed(q4(rows.rotations, k * self.unit.count + i)))
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


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def put_other(buffer: Doubles, at: cython.Py_ssize_t, value: cython.double) -> cython.bint:
    """Put a number into a buffer; whether another stood there."""
    is_other: cython.bint = buffer[at] != value
    buffer[at] = value
    return is_other
