# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of chains solved by the solver that button and live use, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...kernel import STATUSES
from ...rig.array_types import Doubles, Ints
from ..posing import Ended, Stood, endings, is_plain
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
    locations, turn = np.zeros((len(numbers), 3)), np.zeros((len(numbers), 1))
    return Answers(rotations, locations, status[:, None], residual, turn, prepared.solver.worst_violation(rows))


def _body_solved(track: Track, numbers: Doubles) -> Answers:
    """The answers of chains that are solved together, or ask for more than a place, to goals in chain space."""
    prepared, solver = track.prepared, track.prepared.solver
    found = Answers.room(len(numbers), len(prepared.bones), len(prepared.asked))
    for k, row in enumerate(numbers.tolist()):
        solution = solver.solve(prepared.goals_at(row), prepared.settings, explain=False)
        there = Stood(*solver.figure.placed(solution.rotations, solution.shift))
        rotations = solver.blended(solution.rotations, prepared.influence)
        found.rotations[k] = rotations
        if prepared.root is not None:
            found.locations[k] = prepared.root.location_for(solution.shift)
        put_ended(track, found, k, endings(prepared, row, solution, there))
        found.violation = max(found.violation, solver.violation(rotations))
    return found


def put_ended(track: Track, answers: Answers, k: int, ended: Sequence[Ended]) -> None:
    """Put how each chain ended in one frame among the answers."""
    for j, own in enumerate(ended):
        answers.status[k, j] = STATUSES.index(own.status)
        answers.residual[k, j] = own.missed / track.lengths[j]
        answers.turn[k, j] = own.turn_residual


def _doubles(buffer: Any) -> Doubles:
    """A buffer of the kernel's as an array, which shares its memory."""
    found: Doubles = np.frombuffer(buffer)
    return found
