# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of chains solved by the solver that button and live use, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...kernel import STATUSES
from ...rig.array_types import Doubles, Ints
from ..posing import Posed, is_plain, posed_rigidly
from .track import Answers, Track

PORTION = 4096  # frames of a chain that are solved without a word on how far it is
BODY_PORTION = 64  # the same of a body


def solve_track(track: Track, answers: Answers) -> Iterator[float]:
    """Solve the frames of chains; those that were solved one by one are put among them.

    Args:
        track: The chains.
        answers: Where the answers to all F frames are put.

    Yields:
        The share of the frames that is solved, from time to time.
    """
    together = np.ones(len(track.frames), dtype=bool)
    for k, own in track.apart.items():
        answers.put(slice(k, k + 1), own)
        together[k] = False
    places = np.flatnonzero(together)
    is_chain = is_plain(track.prepared)
    portion, solved = (PORTION, _chain_solved) if is_chain else (BODY_PORTION, _body_solved)
    for first in range(0, len(places), portion):
        if first:
            yield first / len(places)
        some = places[first : first + portion]
        is_run = some[-1] - some[0] == len(some) - 1  # without a gap, which is quicker to put
        answers.put(slice(some[0], some[-1] + 1) if is_run else some, solved(track, track.numbers[some]))


def _chain_solved(track: Track, numbers: Doubles) -> Answers:
    """The answers of a chain to goals in chain space, a row for each frame."""
    prepared = track.prepared
    rows = prepared.rows_of(len(numbers))
    _doubles(rows.numbers)[:] = numbers.ravel()
    prepared.solver.solve_many(rows, prepared.settings)
    if prepared.influence < 1.0:
        prepared.solver.blend_rows(rows, prepared.influence)
    statuses: Any = rows.status
    status: Ints = np.frombuffer(statuses, dtype=np.intc)
    rotations = _doubles(rows.rotations).reshape(len(numbers), -1, 4)
    residual = (_doubles(rows.residual) / prepared.length)[:, None]
    plain, turn = np.zeros((len(numbers), 0, 3)), np.zeros((len(numbers), 1))
    return Answers(rotations, plain, status[:, None], residual, turn, prepared.solver.worst_violation(rows))


def _body_solved(track: Track, numbers: Doubles) -> Answers:
    """The answers of chains that are solved together, or ask for more than a place, to goals in chain space."""
    found = Answers.room(len(numbers), track.prepared)
    for k, row in enumerate(numbers.tolist()):
        put_posed(track, found, k, posed_rigidly(track.prepared, row))
    return found


def put_posed(track: Track, answers: Answers, k: int, item: Posed) -> None:
    """Put what was found for chains in one frame among the answers."""
    answers.rotations[k] = item.rotations
    if item.prepared.plain_channels:
        answers.plain[k] = item.prepared.plain_values(item.shift, item.factors)
    for j, own in enumerate(item.ended):
        answers.status[k, j] = STATUSES.index(own.status)
        answers.residual[k, j] = own.missed / track.lengths[j]
        answers.turn[k, j] = own.turn_residual
    answers.violation = max(answers.violation, item.prepared.solver.violation(item.rotations))


def _doubles(buffer: Any) -> Doubles:
    """A buffer of the kernel's as an array, which shares its memory."""
    found: Doubles = np.frombuffer(buffer)
    return found
