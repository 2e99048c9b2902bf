# SPDX-License-Identifier: GPL-3.0-or-later
"""The legs of a walker as plain data, and what the limits of their joints leave of their reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import cos, pi, sin
from typing import Protocol

import numpy as np

from ..errors import InvalidValueError, are_finite
from ..maths import FRONT, ORIGIN, Q4, V3, Z_AXIS, Doubles, cross, distance, dot, minus, perpendicular, plus, unit_or
from ..messages import Message
from .cycle import Cycle, Sole

LEFT, RIGHT = 1, -1
STRETCH, STRAIGHTEST = 0.97, 0.99  # of a leg's reach: what legs stretch to that are bent, and straight, at rest
SOLE_DIGITS = 3  # feet whose shape differs in later ones alone walk alike
SHORTEST_LEG = 1e-6  # scene units
JUST_REACHED = 1.001  # times a leg's reach: its home may be so far from the hip, which leaves room for rounding
UPRIGHT = 0.93  # of a leg's reach: a leg that is longer at rest counts as straight
CLIMB = 0.6  # of a leg's reach: how far above the expected height ground is looked for at least
IN_THE_MIDDLE = 0.05  # of the widest stance: a leg so near the body's middle is of neither side


@dataclass(frozen=True)
class Leg:
    """A leg, in the frame of the body at rest: +Z up, origin at the body's place.

    Attributes:
        name: Of the chain.
        home: Where its foot stands at rest: a point of the sole, on the ground.
        hip: Where its first joint is.
        reach: Greatest distance between hip and ankle, scene units.
        shortest: Least distance between them.
        ankle: From the point of the sole to what the chain brings to its goal, in the foot's frame.
        heel: From the point of the sole to the hindmost point that touches the ground.
        ball: From it to the foremost that stays on the ground when the heel is lifted.
        side: LEFT, RIGHT, or 0.
        row: Counted from the front.
        offset: Share of the cycle by which the leg is ahead, for the gait that is made by hand.
        group: Legs with the same group number step together when the body is moved by hand.
        cycle: How it goes in a clip of the creature, for the gait that is read from one.
    """

    name: str
    home: V3
    hip: V3
    reach: float
    shortest: float = 0.0
    ankle: V3 = ORIGIN
    heel: V3 = ORIGIN
    ball: V3 = ORIGIN
    side: int = 0
    row: int = 0
    offset: float = 0.0
    group: int = 0
    cycle: Cycle | None = None

    @cached_property
    def height(self) -> float:
        """How high the hip stands above the ankle at rest."""
        return self.hip[2] - self.home[2] - self.ankle[2]

    @cached_property
    def climb(self) -> float:
        """How far above its expected height the ground for the leg is looked for."""
        return max(self.height, CLIMB * self.reach)

    @cached_property
    def foot_length(self) -> float:
        return distance(self.heel, self.ball)

    @cached_property
    def walking_reach(self) -> float:
        """Greatest distance between hip and ankle as it walks; greater for a leg that is straight at rest."""
        at_rest = distance(self.hip, self.rest_ankle) / self.reach
        return min(max(at_rest, STRETCH), STRAIGHTEST) * self.reach

    @cached_property
    def is_straight(self) -> bool:
        """Whether it is nearly stretched at rest, as legs of people are."""
        return distance(self.hip, self.rest_ankle) > UPRIGHT * self.reach

    @cached_property
    def standing_reach(self) -> float:
        """Greatest distance between hip and ankle as it stands: no less than at rest."""
        return max(self.walking_reach, distance(self.hip, self.rest_ankle))

    @cached_property
    def rest_ankle(self) -> V3:
        """Where the ankle is at rest, in the body's frame."""
        return plus(self.home, self.ankle)

    @cached_property
    def rest_way(self) -> V3:
        """From the hip to the ankle at rest."""
        return minus(self.rest_ankle, self.hip)

    @cached_property
    def forward(self) -> V3:
        """Where the foot points at rest; a foot without length points along -Y, as figures do in Blender."""
        return unit_or(perpendicular(minus(self.ball, self.heel), Z_AXIS), FRONT)

    @cached_property
    def foot(self) -> Sole:
        """The shape of its foot."""
        behind, before = (-dot(minus(point, self.ankle), self.forward) for point in (self.heel, self.ball))
        return Sole(*(round(value / self.reach, SOLE_DIGITS) for value in (self.ankle[2], behind, -before)))

    @cached_property
    def sideways(self) -> V3:
        """The axis of the foot's frame about which a positive turn lifts the toes."""
        return cross(self.forward, Z_AXIS)


def reach_of(legs: Sequence[Leg]) -> float:
    """The reach of legs on average, by which the speed of a cycle is told."""
    return sum(leg.reach for leg in legs) / len(legs)


def check_legs(legs: Sequence[Leg]) -> None:
    """Refuse legs that can't walk.

    Raises:
        InvalidValueError: There are none, a number is not finite, a length is zero, or a hip is below its foot.
    """
    if not legs:
        raise InvalidValueError(Message("NO_LEGS"))
    if len({leg.name for leg in legs}) < len(legs):
        raise InvalidValueError(Message("LEG_NAME_TWICE"))
    for leg in legs:
        points = (*leg.home, *leg.hip, *leg.ankle, *leg.heel, *leg.ball)
        if not are_finite((*points, leg.reach, leg.shortest, leg.offset)):
            raise InvalidValueError(Message("LEG_NOT_FINITE"), chain=leg.name)
        if leg.reach < SHORTEST_LEG:
            raise InvalidValueError(Message("LEG_WITHOUT_LENGTH"), chain=leg.name)
        if leg.height <= 0.0:
            raise InvalidValueError(Message("LEG_UPSIDE_DOWN"), chain=leg.name)
        if distance(leg.hip, leg.rest_ankle) > leg.reach * JUST_REACHED:
            raise InvalidValueError(Message("LEG_TOO_SHORT"), chain=leg.name)


def arranged(legs: Sequence[Leg]) -> tuple[Leg, ...]:
    """The legs with side, row and group found from where they stand; their order is kept."""
    middle = sum(leg.home[0] for leg in legs) / len(legs)
    asides = [leg.home[0] - middle for leg in legs]
    near = IN_THE_MIDDLE * max(map(abs, asides))
    sides = [0 if abs(aside) <= near else LEFT if aside > 0.0 else RIGHT for aside in asides]
    arrangement = [replace(leg, side=side) for leg, side in zip(legs, sides, strict=True)]
    rows = {  # how many legs of its side stand in front of each
        leg.name: sum(one.side == leg.side and one.home[1] < leg.home[1] for one in arrangement) for leg in arrangement
    }
    return tuple(
        replace(leg, row=rows[leg.name], group=(rows[leg.name] + (leg.side == RIGHT)) % 2) for leg in arrangement
    )


def neighbours(legs: Sequence[Leg]) -> tuple[tuple[int, ...], ...]:
    """For each leg the indices of those before, behind and across from it."""

    def are_beside(a: Leg, b: Leg) -> bool:
        return abs(a.row - b.row) == 1 if a.side == b.side else a.row == b.row

    return tuple(
        tuple(j for j, other in enumerate(legs) if j != i and are_beside(leg, other)) for i, leg in enumerate(legs)
    )


def spacing(legs: Sequence[Leg], index: int) -> float:
    """The distance between a leg's home and the nearest other one; the leg's reach where it is alone."""
    distances = [distance(legs[index].home, leg.home) for j, leg in enumerate(legs) if j != index]
    return min([*distances, legs[index].reach])


CROUCH = 0.82  # of a leg's reach: how low over the ankle the hip of a leg that is straight at rest comes as it walks
NEAR_ENOUGH = 2e-3  # of a leg's reach: a point that the ankle misses by no more is reached
SWAYING = 0.04  # of a leg's reach: how far a body that sways in full is before or behind where it is expected
LEAST_ROOM = 0.05  # of a leg's reach: what a leg has in any case, so that one with hardly any room takes small steps
DIRECTIONS = 16  # round a home, in which the room within the limits is measured
HALVINGS = 6  # of the way on which the room ends, to find where it does

# How far a leg's ankle can be from its place at rest, to either side along level directions (x, y) of the body's frame
# (F,), within the limits of its joints: scene units, never nothing at all
Room = Callable[[Doubles, Doubles], Doubles]


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
            ankle: The point, in the frame of the body at rest.

        Returns:
            Scene units; 0 where the ankle gets there.
        """
        ...

    def turn_missed(self, leg: int, ankle: V3, rotation: Q4) -> float:
        """How far a leg's joints miss its foot: the rotation, and the place of the ankle as seen from the knee.

        Args:
            leg: Index.
            ankle: The point, in the frame of the body at rest.
            rotation: Of the foot in that frame, from how it is at rest.

        Returns:
            Radians; 0 where the foot gets there, and for legs without a foot.
        """
        ...


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
        index: _room_of(leg, partial(reaching.shortage, index), SWAYING * sway * leg.reach)
        for index, leg in enumerate(legs)
    }


def _room_of(leg: Leg, shortage: Callable[[V3], float], spare: float) -> Room:
    """The room of a leg: both ways of a direction have it, and a spare length is left at both ends.

    Hips of straight legs come down as they walk, so the ankle is looked at no farther below the hip than it then is.
    """
    x, y, z = leg.rest_ankle
    home = (x, y, max(z, leg.hip[2] - CROUCH * leg.reach))

    def is_reached(x: float, y: float, way: float) -> bool:
        return shortage(plus(home, (way * x, way * y, 0.0))) <= NEAR_ENOUGH * leg.reach

    def way_along(x: float, y: float) -> float:
        """How far the ankle gets from its place at rest in a level direction, scene units."""
        if not is_reached(x, y, 0.0):
            return 0.0
        low, high = 0.0, leg.reach
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if is_reached(x, y, middle) else (low, middle)
        return low

    @cache
    def in_direction(number: int) -> float:
        angle = number * pi / (DIRECTIONS // 2)
        ways = way_along(cos(angle), sin(angle)), way_along(-cos(angle), -sin(angle))
        return max(min(ways) - spare, LEAST_ROOM * leg.reach)

    def along(x: Doubles, y: Doubles) -> Doubles:
        numbers = np.rint(np.arctan2(y, x) / pi * (DIRECTIONS // 2)).astype(np.intp) % (DIRECTIONS // 2)
        return np.array([in_direction(number) for number in numbers.tolist()])

    return along


def ahead_of(room: Room) -> float:
    """How much room there is ahead."""
    return float(room(np.zeros(1), np.ones(1))[0])
