# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint that does not turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import cython
from ..forms import Q4, V3
from ..vectors import IDENTITY, ORIGIN, Y_AXIS, rotated
from .base import Limit, LimitType, mirrored_rotation
from .ik_meaning import IkMeaning
from .outline import Outline
from .ranges import limit_rotation


@cython.cclass
class Locked(Limit):
    """The joint stays at one rotation.

    Attributes:
        rotation: Where the joint stands, in the rest frame of the bone.
    """

    stays: Q4

    def __init__(self, rotation: Sequence[float] = IDENTITY) -> None:
        self.dofs = 0
        self.axis = ORIGIN
        self.stays = limit_rotation("locked joint", rotation)

    @property
    def rotation(self) -> Q4:
        """Where the joint stands."""
        return self.stays

    def parts(self) -> tuple[Any, ...]:
        return (self.stays,)

    @cython.cfunc
    @cython.exceptval(check=False)
    def clamp(self, rotation: Q4) -> Q4:
        return self.stays

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, rotation: Q4, segment: V3, direction: V3) -> Q4:
        return self.stays

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        return ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn(self, rotation: Q4, turn: V3) -> Q4:
        return self.stays

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        return self.stays

    @cython.cfunc
    @cython.exceptval(check=False)
    def blend(self, start: Q4, end: Q4, factor: cython.double) -> Q4:
        return self.stays

    def outline(self) -> Outline:
        return Outline(((ORIGIN, rotated(self.stays, Y_AXIS)),))

    def ik_meaning(self) -> IkMeaning:
        return IkMeaning(frozenset(), {})

    def settings(self) -> dict[str, Any]:
        return {"limit": "LOCKED"}

    def mirrored(self, turn: Q4) -> Limit | None:
        return Locked(mirrored_rotation(turn, self.stays))

    def narrowed(self, hinge: Limit) -> Limit | None:
        return Locked(hinge.clamped(self.rotation))


def make_locked(settings: Any, start: Q4) -> Locked:
    """A joint that keeps the rotation of the start pose."""
    return Locked(start)


LOCKED_TYPE = LimitType(
    "LOCKED", 4, "Locked", "The bone keeps the rotation of the start pose", make_locked, stiffens=False
)
