# SPDX-License-Identifier: GPL-3.0-or-later
"""One or two of the four numbers of a joint's quaternion are locked."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from typing import Any

from ...errors import InvalidValueError
from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import conjugated, multiplied
from .base import finite_numbers
from .surface import Surface

QUATERNION_LOCK = Message("QUATERNION_LOCK")
NO_NUMBERS = cython.declare(cython.double, 1e-100)  # length below which numbers tell no direction
FEWEST_FREE = 2  # numbers; a single one follows from the others
NUMBERS = 4


@cython.cclass
class QuaternionLock(Surface):
    """Numbers of the joint's unit quaternion (w, x, y, z) stay; the others share what is left of its length.

    Attributes:
        kept: The four numbers: those that are locked, and None for the two or three that are free.
    """

    is_kept: Q4  # 1 for numbers that are locked, else 0
    stay: Q4  # those numbers, else 0
    size: cython.double  # of the others together

    def __init__(self, kept: Sequence[float | None]) -> None:
        Surface.__init__(self)
        locked = [0.0 if number is None else 1.0 for number in kept]
        stay = finite_numbers(QUATERNION_LOCK, [0.0 if number is None else number for number in kept], NUMBERS)
        left = 1.0 - sum([number * number for number in stay])
        if sum(locked) == 0.0 or NUMBERS - sum(locked) < FEWEST_FREE or left <= 0.0:
            raise InvalidValueError(Message("QUATERNION_LOCK_LEAVES_NOTHING"))
        self.is_kept = (locked[0], locked[1], locked[2], locked[3])
        self.stay = (stay[0], stay[1], stay[2], stay[3])
        self.size = sqrt(left)

    @property
    def kept(self) -> tuple[float | None, ...]:
        """The numbers that are locked; None for the others."""
        return tuple([stay if locked else None for stay, locked in zip(self.stay, self.is_kept, strict=True)])

    def parts(self) -> tuple[Any, ...]:
        return (self.kept,)

    @cython.cfunc
    @cython.exceptval(check=False)
    def free_part(self, rotation: Q4) -> Q4:
        """The numbers that are free; 0 for the others."""
        return (
            rotation[0] * (1.0 - self.is_kept[0]),
            rotation[1] * (1.0 - self.is_kept[1]),
            rotation[2] * (1.0 - self.is_kept[2]),
            rotation[3] * (1.0 - self.is_kept[3]),
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def nearest(self, rotation: Q4) -> Q4:
        """Of a quaternion and its opposite that which is nearer, its free part as long as it has to be."""
        near: cython.double = _dot(self.stay, rotation)
        free: Q4 = self.free_part(rotation)
        size: cython.double = sqrt(_dot(free, free))
        if size <= NO_NUMBERS:
            free = self.free_part((1.0, 1.0, 1.0, 1.0))
            size = sqrt(_dot(free, free))
        factor: cython.double = (self.size if near >= 0.0 else -self.size) / size
        return (
            self.stay[0] + factor * free[0],
            self.stay[1] + factor * free[1],
            self.stay[2] + factor * free[2],
            self.stay[3] + factor * free[3],
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        """The turn's change of the free numbers that leaves them as long as they are, as a turn again."""
        free: Q4 = self.free_part(rotation)
        change: Q4 = self.free_part(multiplied((0.0, turn[0], turn[1], turn[2]), rotation))
        square: cython.double = _dot(free, free)
        share: cython.double = _dot(free, change) / square if square > 0.0 else 0.0
        left: Q4 = (
            change[0] - share * free[0],
            change[1] - share * free[1],
            change[2] - share * free[2],
            change[3] - share * free[3],
        )
        found: Q4 = multiplied(left, conjugated(rotation))
        return (found[1], found[2], found[3])

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        """Any three of four numbers hang on nothing but chance: the fourth is what the sum is beyond a whole number."""
        total: cython.double = u + v + w
        fourth: cython.double = total - floor(total)
        return self.nearest((2.0 * u - 1.0, 2.0 * v - 1.0, 2.0 * w - 1.0, 2.0 * fourth - 1.0))


@cython.cfunc
@cython.exceptval(check=False)
def _dot(a: Q4, b: Q4) -> cython.double:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
