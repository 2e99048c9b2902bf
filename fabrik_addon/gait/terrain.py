# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk asks of the ground, and the plain that answers where there is no terrain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..maths import IDENTITY, ORIGIN, Q4, V3, Z_AXIS, along

STATIC = -1  # the surface that does not move
BODY = -2  # the body's first segment, on which a foot hangs where there is no ground; the others follow downwards


def is_body(surface: int) -> bool:
    """Whether a surface is a segment of the body."""
    return surface <= BODY


@dataclass(frozen=True)
class Hit:
    """A point of the ground.

    Attributes:
        place: In world space.
        normal: Outwards, of unit length.
        surface: STATIC, or the number of a surface that moves.
    """

    place: V3
    normal: V3
    surface: int = STATIC


class Terrain(Protocol):
    """The ground. Times are seconds from the path's first frame; only surfaces that move look at them."""

    @property
    def digest(self) -> str:
        """A text that changes with the ground, and only with it."""
        ...

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        """The first hit of a ray along a unit direction, or None."""
        ...

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        """The nearest point of the ground, or None where none is within reach."""
        ...

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        """Place and rotation of a surface that moves."""
        ...


@dataclass(frozen=True)
class Plain:
    """The ground where there is no terrain: level, without end.

    Attributes:
        height: Z, in world space.
    """

    height: float = 0.0

    @property
    def digest(self) -> str:
        return f"plain {self.height!r}"

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        above = origin[2] - self.height
        if above * direction[2] >= 0.0 and above != 0.0:
            return None
        distance = -above / direction[2] if direction[2] != 0.0 else 0.0
        if distance > reach:
            return None
        place = along(origin, direction, distance)
        return Hit((place[0], place[1], self.height), Z_AXIS)

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        if abs(place[2] - self.height) > reach:
            return None
        return Hit((place[0], place[1], self.height), Z_AXIS)

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        return ORIGIN, IDENTITY
