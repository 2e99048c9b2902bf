# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the body's segments go, and the legs with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..maths import V3
from .legs import Leg, by_segment, middle_of
from .reaching import Reaching, Shortage
from .rolling import TurnMissed
from .settings import Settings
from .track import Track


@dataclass(frozen=True)
class Course:
    """The ways of a body with its legs.

    Attributes:
        tracks: By segment; a rigid body is one.
        legs: The walker's.
        members: By segment the indices of its legs.
        middles: By segment the centre of its legs' homes, in its frame.
        pivots: By segment the point between its hips.
        settings_at: The settings at a time.
        reaching: How far legs reach within the limits of their joints; None where their length alone bounds them.
    """

    tracks: Sequence[Track]
    legs: Sequence[Leg]
    members: Sequence[Sequence[int]]
    middles: Sequence[V3]
    pivots: Sequence[V3]
    settings_at: Callable[[float], Settings]
    reaching: Reaching | None

    @property
    def count(self) -> int:
        """How many samples each track has."""
        return self.tracks[0].count

    def of(self, leg: int) -> Track:
        """The track of a leg's segment."""
        return self.tracks[self.legs[leg].segment]

    def home(self, leg: int, time: float) -> V3:
        """A leg's home at a time, in world space."""
        return self.of(leg).home(self.legs[leg].home, time)

    def shortage(self, leg: int) -> Shortage | None:
        """How far a leg's ankle stays away from points, by the limits of its joints; None where no leg has limits."""
        return None if self.reaching is None else partial(self.reaching.shortage, leg)

    def turn_missed(self, leg: int) -> TurnMissed | None:
        """How far a leg's joints miss rotations of its foot; None where no leg has limits."""
        return None if self.reaching is None else partial(self.reaching.turn_missed, leg)

    def around(self, segment: int) -> list[int]:
        """The legs of a segment and of those beside it: they carry it."""
        near = range(max(segment - 1, 0), min(segment + 2, len(self.members)))
        return [leg for each in near for leg in self.members[each]]


def course_of(
    tracks: Sequence[Track],
    legs: Sequence[Leg],
    settings_at: Callable[[float], Settings],
    reaching: Reaching | None,
) -> Course:
    """Put legs to the segments that they belong to.

    Raises:
        InvalidValueError: See `by_segment`.
    """
    members = by_segment(legs, len(tracks))
    middles = [middle_of([legs[index] for index in each]) for each in members]
    pivots = []
    for (x, y, _), each in zip(middles, members, strict=True):
        pivots.append((x, y, sum(legs[index].hip[2] for index in each) / len(each)))
    return Course(tracks, legs, members, middles, pivots, settings_at, reaching)
