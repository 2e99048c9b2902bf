# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint without limits."""

from __future__ import annotations

from typing import Any

from .. import cython
from ..forms import Q4, V3
from ..vectors import ORIGIN, X_AXIS, from_rotation_vector, from_to, multiplied, normalized, rotated
from .base import Limit, LimitType
from .ik_meaning import ALL_AXES, IkMeaning
from .swing_twist import twist_of
from .twisting import Twisting

FREE_RANGE = cython.declare(cython.double, 0.6)  # a restart should look like the start pose, not like a knot


@cython.cclass
class Free(Limit):
    """Every rotation is allowed."""

    def __init__(self) -> None:
        self.dofs = 3
        self.axis = ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, rotation: Q4, segment: V3, direction: V3) -> Q4:
        turn: Q4 = from_to(rotated(rotation, segment), direction, rotated(rotation, X_AXIS))
        return normalized(multiplied(turn, rotation))

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn(self, rotation: Q4, turn: V3) -> Q4:
        return normalized(multiplied(from_rotation_vector(turn), rotation))

    @cython.cfunc
    @cython.exceptval(check=False)
    def exceed(self, rotation: Q4) -> cython.double:
        return 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        return from_rotation_vector(
            (FREE_RANGE * (2.0 * u - 1.0), FREE_RANGE * (2.0 * v - 1.0), FREE_RANGE * (2.0 * w - 1.0))
        )

    @property
    def is_free(self) -> bool:
        return True

    def ik_meaning(self) -> IkMeaning:
        return IkMeaning(ALL_AXES, {})

    def settings(self) -> dict[str, Any]:
        return {"limit": "FREE", "use_twist": False}

    def mirrored(self, turn: Q4) -> Limit | None:
        return self

    def narrowed(self, hinge: Limit) -> Limit | None:
        return hinge


FREE = Free()


def make_free(settings: Any, start: Q4) -> Limit:
    """A free joint, or one whose twist alone is limited."""
    twist = twist_of(settings)
    return Twisting(twist) if twist else FREE


FREE_TYPE = LimitType("FREE", 0, "Free", "The bone points in any direction", make_free, twists=True, holds=False)
