# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking the time of contenders in turn, so that what slows the machine for a while slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

LEAST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of contenders.

    Attributes:
        rounds: For each round the seconds of each contender.
    """

    rounds: list[tuple[float, ...]]

    def seconds(self, contender: int) -> float:
        """The median of a contender's rounds."""
        return median(times[contender] for times in self.rounds)

    def ratio(self, contender: int, other: int) -> float:
        """The median of how many times as long as another a contender took in the same round."""
        return median(times[contender] / times[other] for times in self.rounds)


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure.

    Attributes:
        rounds: Greatest number of rounds.
        seconds: After which no more rounds are begun, once there were enough for a median.
    """

    rounds: int
    seconds: float


def interleaved(effort: Effort, *contenders: Callable[[], object]) -> Timing:
    """Let contenders run in turn, round by round; each has run once before, so that nothing is made in the first."""
    for contender in contenders:
        contender()
    rounds: list[tuple[float, ...]] = []
    begun = time.perf_counter()
    while len(rounds) < effort.rounds:
        times = []
        for contender in contenders:
            started = time.perf_counter()
            contender()
            times.append(time.perf_counter() - started)
        rounds.append(tuple(times))
        if len(rounds) >= min(LEAST_ROUNDS, effort.rounds) and time.perf_counter() - begun > effort.seconds:
            break
    return Timing(rounds)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: all, or just enough to see that it works.

    Attributes:
        is_quick: Whether it is the least.
        folder: For files that are opened and thrown away.
    """

    is_quick: bool
    folder: Path

    def of(self, full: int, quick: int) -> int:
        """One of two counts."""
        return quick if self.is_quick else full

    @property
    def effort(self) -> Effort:
        """For times of milliseconds and less."""
        return Effort(1001, 0.2 if self.is_quick else 4.0)
