# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking the time of contenders in turn, so that what slows the machine for a while slows all of them; their files."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import bpy

from dev.quiet import quiet

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


def timed(work: Callable[[], object]) -> float:
    """How many seconds something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


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

    def interleaved(self, *contenders: Callable[[], object], rounds: int = 1001, seconds: float = 4.0) -> Timing:
        """Let contenders run in turn, round by round; each has run once before, so that nothing is made in the first.

        Args:
            contenders: What is timed.
            rounds: Greatest number of rounds.
            seconds: After which no more rounds are begun, once there were enough for a median.
        """
        for contender in contenders:
            contender()
        most, begun = 0.05 * seconds if self.is_quick else seconds, time.perf_counter()
        found: list[tuple[float, ...]] = []
        while len(found) < rounds:
            found.append(tuple(timed(contender) for contender in contenders))
            if len(found) >= min(LEAST_ROUNDS, rounds) and time.perf_counter() - begun > most:
                break
        return Timing(found)

    def save(self, name: str) -> None:
        """Save what is open as a file of the folder."""
        with quiet():
            bpy.ops.wm.save_as_mainfile(filepath=str(self.folder / f"{name}.blend"), compress=False)

    def opened(self, name: str) -> Any:
        """The armature object of a file of the folder, which is opened."""
        with quiet():
            bpy.ops.wm.open_mainfile(filepath=str(self.folder / f"{name}.blend"), load_ui=False)
        return next(found for found in bpy.data.objects if found.type == "ARMATURE")


def play(frames: range) -> None:
    """Go through frames of the open file."""
    for frame in frames:
        bpy.context.scene.frame_set(frame)
