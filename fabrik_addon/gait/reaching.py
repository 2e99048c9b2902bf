# SPDX-License-Identifier: GPL-3.0-or-later
"""What the limits of joints leave of a leg's reach: the planner asks, and whoever knows the joints answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import atan2, cos, pi, sin
from typing import Protocol

from ..maths import Q4, V3, conjugated, minus, plus, turned
from .legs import Leg

CROUCH = 0.82  # of a leg's reach: how low over the ankle the hip of a leg that is straight at rest comes as it walks
NEAR_ENOUGH = 2e-3  # of a leg's reach: a point that the ankle misses by no more is reached
SWAYING = 0.04  # of a leg's reach: how far a body that sways in full is before or behind where it is expected
LEAST_ROOM = 0.05  # of a leg's reach: what a leg has in any case, so that one with hardly any room takes small steps
DIRECTIONS = 16  # round a home, in which the room within the limits is measured
HALVINGS = 6  # of the way on which the room ends, to find where it does

Shortage = Callable[[V3], float]  # how far a leg's ankle stays away from a point of the body's frame, scene units


class Reaching(Protocol):
    """How far legs reach within the limits of their joints."""

    @property
    def digest(self) -> str:
        """A text that changes with the limits, and only with them."""
        ...

    def shortage(self, leg: int, ankle: V3) -> float:
        """How far a leg's ankle stays away from a point.

        Args:
            leg: Index.
            ankle: The point, in the frame of the leg's segment of the body at rest.

        Returns:
            Scene units; 0 where the ankle gets there.
        """
        ...

    def turn_missed(self, leg: int, ankle: V3, rotation: Q4) -> float:
        """How far a leg's joints miss the rotation of its foot, the ankle at a point.

        Args:
            leg: Index.
            ankle: The point, in the frame of the leg's segment of the body at rest.
            rotation: Of the foot in that frame, from how it is at rest.

        Returns:
            Radians; 0 where the foot gets there, and for legs without a foot.
        """
        ...


def held_off(shortage: Shortage, leg: Leg, body: tuple[V3, Q4], ankle: V3) -> float:
    """How far the limits of a leg's joints hold its ankle off a point, beyond what counts as reached.

    Args:
        shortage: Of the leg.
        leg: The leg.
        body: Place and rotation of its segment of the body, world space.
        ankle: The point, world space.

    Returns:
        Scene units; 0 where the ankle gets there.
    """
    missed = shortage(turned(conjugated(body[1]), minus(ankle, body[0])))
    return max(missed - NEAR_ENOUGH * leg.reach, 0.0)


def rooms_of(legs: Sequence[Leg], reaching: Reaching | None, sway: float) -> dict[int, Room]:
    """By leg the room that the limits of its joints leave.

    Args:
        legs: The walker's.
        reaching: What the limits leave; None for none.
        sway: How far the body sways, 0 to 1.
    """
    if reaching is None:
        return {}
    return {
        index: Room(leg, partial(reaching.shortage, index), CROUCH * leg.reach, SWAYING * sway * leg.reach)
        for index, leg in enumerate(legs)
    }


@dataclass
class Room:
    """How far a leg's ankle can be from its place at rest along lines of the ground, within the limits of its joints.

    Attributes:
        leg: The leg.
        shortage: Of the leg.
        lowest: How far below the hip the ankle is at most, scene units: hips of straight legs come down as they walk.
        spare: What is left free at both ends, scene units.
    """

    leg: Leg
    shortage: Shortage
    lowest: float
    spare: float = 0.0
    _known: dict[int, float] = field(default_factory=dict)

    def along(self, x: float, y: float) -> float:
        """To either side along a level direction of the body's frame, scene units; never nothing at all."""
        place = round(atan2(y, x) / pi * (DIRECTIONS // 2)) % (DIRECTIONS // 2)
        if place not in self._known:
            angle = place * pi / (DIRECTIONS // 2)
            ways = self._way(cos(angle), sin(angle)), self._way(-cos(angle), -sin(angle))
            self._known[place] = max(min(ways) - self.spare, LEAST_ROOM * self.leg.reach)
        return self._known[place]

    def _way(self, x: float, y: float) -> float:
        """How far the ankle gets from its place at rest in a level direction, scene units."""
        home = self.leg.rest_ankle
        home = (home[0], home[1], max(home[2], self.leg.hip[2] - self.lowest))

        def is_reached(way: float) -> bool:
            return self.shortage(plus(home, (way * x, way * y, 0.0))) <= NEAR_ENOUGH * self.leg.reach

        if not is_reached(0.0):
            return 0.0
        low, high = 0.0, self.leg.reach
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if is_reached(middle) else (low, middle)
        return low
