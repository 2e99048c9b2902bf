# SPDX-License-Identifier: GPL-3.0-or-later
"""The legs of a walker as plain data, and who stands beside whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import InvalidValueError
from ..finite import are_finite
from ..maths import ORIGIN, V3, distance, dot, plus
from ..texts import Text

LEFT, RIGHT = 1, -1
STRETCH, STRAIGHTEST = 0.97, 0.99  # of a leg's reach: what legs stretch to that are bent, and straight, at rest
SHORTEST_LEG = 1e-6  # scene units
JUST_REACHED = 1.001  # times a leg's reach: its home may be so far from the hip, which leaves room for rounding
IN_THE_MIDDLE = 0.05  # of the widest stance: a leg so near the body's middle is of neither side


@dataclass(frozen=True)
class Leg:
    """A leg, in the frame of its segment of the body at rest: +Z up, origin at the segment's place.

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
        segment: Of the body, from which its home and hip are measured.
        group: Legs with the same group number step together when the body is moved by hand.
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
    segment: int = 0

    @property
    def height(self) -> float:
        """How high the hip stands above the ankle at rest."""
        return self.hip[2] - self.home[2] - self.ankle[2]

    @property
    def foot_length(self) -> float:
        return distance(self.heel, self.ball)

    @property
    def walking_reach(self) -> float:
        """Greatest distance between hip and ankle as it walks; greater for a leg that is straight at rest."""
        at_rest = distance(self.hip, self.rest_ankle) / self.reach
        return min(max(at_rest, STRETCH), STRAIGHTEST) * self.reach

    @property
    def standing_reach(self) -> float:
        """Greatest distance between hip and ankle as it stands: no less than at rest."""
        return max(self.walking_reach, distance(self.hip, self.rest_ankle))

    @property
    def rest_ankle(self) -> V3:
        """Where the ankle is at rest, in the body's frame."""
        return plus(self.home, self.ankle)


def check_legs(legs: Sequence[Leg]) -> None:
    """Refuse legs that can't walk.

    Raises:
        InvalidValueError: There are none, a number is not finite, a length is zero, or a hip is below its foot.
    """
    if not legs:
        raise InvalidValueError("a walker needs at least one leg")
    if len({leg.name for leg in legs}) < len(legs):
        raise InvalidValueError("two legs have the same name")
    for leg in legs:
        points = (*leg.home, *leg.hip, *leg.ankle, *leg.heel, *leg.ball)
        if not are_finite((*points, leg.reach, leg.shortest, leg.offset)):
            raise InvalidValueError("a place or length of the leg is not a number", chain=leg.name)
        if leg.reach < SHORTEST_LEG:
            raise InvalidValueError("the leg has no length", chain=leg.name)
        if leg.height <= 0.0:
            raise InvalidValueError("the leg's first joint is below its foot", chain=leg.name)
        if distance(leg.hip, leg.rest_ankle) > leg.reach * JUST_REACHED:
            raise InvalidValueError("the leg does not reach its own home", chain=leg.name)


def arranged(legs: Sequence[Leg], forward: V3) -> tuple[Leg, ...]:
    """The legs with side, row and group found from where they stand.

    Args:
        legs: In any order; the order is kept.
        forward: Where the body looks, in its frame.
    """
    left = (-forward[1], forward[0], 0.0)
    places = {leg.name: (dot(leg.home, forward), dot(leg.home, left)) for leg in legs}
    middle = sum(place[1] for place in places.values()) / len(places)
    width = max(abs(place[1] - middle) for place in places.values())
    arrangement = []
    for leg in legs:
        aside = places[leg.name][1] - middle
        side = 0 if abs(aside) <= IN_THE_MIDDLE * width else LEFT if aside > 0.0 else RIGHT
        arrangement.append(replace(leg, side=side))
    rows = {leg.name: _row(leg, arrangement, places) for leg in arrangement}
    return tuple(
        replace(leg, row=rows[leg.name], group=(rows[leg.name] + (leg.side == RIGHT)) % 2) for leg in arrangement
    )


def _row(leg: Leg, legs: Sequence[Leg], places: dict[str, tuple[float, float]]) -> int:
    """How many legs of its side stand in front of a leg."""
    return sum(1 for other in legs if other.side == leg.side and places[other.name][0] > places[leg.name][0])


def by_segment(legs: Sequence[Leg], count: int) -> list[list[int]]:
    """By segment the indices of its legs.

    Raises:
        InvalidValueError: A leg belongs to no segment, or a segment has no legs.
    """
    found: list[list[int]] = [[] for _ in range(count)]
    for index, leg in enumerate(legs):
        if not 0 <= leg.segment < count:
            raise InvalidValueError(Text("the body has no segment {segment}", segment=leg.segment), chain=leg.name)
        found[leg.segment].append(index)
    if not all(found):
        raise InvalidValueError("a segment of the body has no legs")
    return found


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


def middle_of(legs: Sequence[Leg]) -> V3:
    """The centre of homes, in the frame of the segment that they belong to."""
    total = ORIGIN
    for leg in legs:
        total = plus(total, leg.home)
    share = 1.0 / len(legs)
    return (total[0] * share, total[1] * share, total[2] * share)
