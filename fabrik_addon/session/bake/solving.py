# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a chain solved by the solver that button and live use, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...rig.array_types import Doubles, Ints
from .track import Answers, Track

PORTION = 4096  # frames that are solved without a word on how far it is


def solve_track(track: Track, answers: Answers) -> Iterator[float]:
    """Solve the frames of a chain; those that were solved one by one are put among them.

    Args:
        track: The chain.
        answers: Where the answers to all F frames are put.

    Yields:
        The share of the frames that is solved, from time to time.
    """
    together = np.ones(len(track.frames), dtype=bool)
    for k, own in track.apart.items():
        answers.put(slice(k, k + 1), own)
        together[k] = False
    places = np.flatnonzero(together)
    for first in range(0, len(places), PORTION):
        if first:
            yield first / len(places)
        some = places[first : first + PORTION]
        is_run = some[-1] - some[0] == len(some) - 1  # without a gap, which is quicker to put
        answers.put(slice(some[0], some[-1] + 1) if is_run else some, _solved(track, track.numbers[some]))


def _solved(track: Track, numbers: Doubles) -> Answers:
    """The answers to goals in chain space, a row for each frame."""
    prepared = track.prepared
    rows = prepared.rows_of(len(numbers))
    _doubles(rows.numbers)[:] = numbers.ravel()
    prepared.solver.solve_many(rows, prepared.settings)
    if prepared.influence < 1.0:
        prepared.solver.blend_rows(rows, prepared.influence)
    statuses: Any = rows.status
    status: Ints = np.frombuffer(statuses, dtype=np.intc)
    rotations = _doubles(rows.rotations).reshape(len(numbers), -1, 4)
    residual = _doubles(rows.residual) / prepared.length
    return Answers(rotations, status, residual, prepared.solver.worst_violation(rows))


def _doubles(buffer: Any) -> Doubles:
    """A buffer of the kernel's as an array, which shares its memory."""
    found: Doubles = np.frombuffer(buffer)
    return found
