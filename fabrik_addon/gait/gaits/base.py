# SPDX-License-Identifier: GPL-3.0-or-later
"""What a gait is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..legs import Leg
from ..settings import ROUNDING, Settings


@dataclass(frozen=True)
class Rhythm:
    """When each leg stands and swings, as shares of a cycle.

    Leg i swings while the fraction of phase + offset i is the duty or more.

    Attributes:
        duty: Share of the cycle that a foot stands.
        offsets: By leg.
    """

    duty: float
    offsets: tuple[float, ...]

    def is_together(self, one: int, other: int) -> bool:
        """Whether the rhythm itself has both legs in the air at some time."""
        ahead = (self.offsets[one] - self.offsets[other]) % 1.0
        return min(ahead, 1.0 - ahead) < 1.0 - self.duty - ROUNDING


@dataclass(frozen=True)
class Gait:
    """A way to walk.

    Attributes:
        name: By which scripts and jobs choose it.
        number: Under which files store it: never changed, and never given to another gait.
        label: As it is shown.
        description: For the tooltip.
        rhythm: Of given legs.
        least: Least number of legs that it is meant for.
        most: Greatest number.
    """

    name: str
    number: int
    label: str
    description: str
    rhythm: Callable[[Sequence[Leg], Settings], Rhythm]
    least: int = 1
    most: int = 1000
