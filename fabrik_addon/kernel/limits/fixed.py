# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that turn every way, and joints that do not turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import IDENTITY, ORIGIN, from_rotation_vector
from .base import Limit, limit_rotation

LOCKED_JOINT = Message("LOCKED_JOINT")
FREE_RANGE = cython.declare(cython.double, 0.6)  # a restart should look like the start pose, not like a knot


@cython.cclass
class Free(Limit):
    """Every rotation is allowed."""

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


FREE = Free()


@cython.cclass
class Locked(Limit):
    """The joint stays at one rotation.

    Attributes:
        rotation: Where the joint stands, in the rest frame of the bone.
    """

    rotation = cython.declare(Q4, visibility="readonly")

    def __init__(self, rotation: Sequence[float] = IDENTITY) -> None:
        Limit.__init__(self)
        self.dofs = 0
        self.rotation = limit_rotation(LOCKED_JOINT, rotation)

    def parts(self) -> tuple[Any, ...]:
        return (self.rotation,)

    @cython.cfunc
    @cython.exceptval(check=False)
    def clamp(self, rotation: Q4) -> Q4:
        stays: Q4 = self.rotation
        return stays

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        return ORIGIN
