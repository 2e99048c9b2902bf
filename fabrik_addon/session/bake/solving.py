# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of chains solved by the solver that button and live use, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...kernel import STATUSES, Rows
from ...maths import Doubles, Ints
from ...rig.judge import worst_status
from ...rig.prepared import Prepared
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
    rows = _rows_solved(prepared, numbers)
    if prepared.influence < 1.0:
        prepared.solver.blend_rows(rows, prepared.influence)
    count, size = len(numbers), prepared.length
    residual = (_doubles(rows.residual) / size)[:, None]
    softened = _doubles(rows.softened).reshape(count, -1)[:, :1] / size
    plain, turn = np.zeros((count, 0, 3)), np.zeros((count, 1))
    rotations, status = _doubles(rows.rotations).reshape(count, -1, 4), _ints(rows.status)[:, None]
    return Answers(rotations, plain, status, residual, turn, softened, prepared.solver.worst_violation(rows))


def _body_solved(track: Track, numbers: Doubles) -> Answers:
    """The answers of chains that are solved together, or ask for more than a place, to goals in chain space."""
    prepared, count = track.prepared, len(numbers)
    found = Answers.room(count, prepared)
    if prepared.influence < 1.0 or prepared.weighed is not None:
        # the influence counts for the lengths of a chain that stretches, too; and what supports a body is in no row
        for k, row in enumerate(numbers.tolist()):
            put_posed(track, found, k, posed_rigidly(prepared, row))
        return found
    rows = _rows_solved(prepared, numbers)
    found.rotations[:] = _doubles(rows.rotations).reshape(count, -1, 4)
    found.violation = prepared.solver.worst_violation(rows)
    if prepared.plain_channels:
        shifts, factors = _doubles(rows.shifts).reshape(count, 3), _doubles(rows.factors).reshape(count, -1)
        found.plain[:] = prepared.many_plain_values(shifts, factors)
    status, residual, turn, softened = _of_goals(rows, count)
    found.status[:] = worst_status(prepared.asked, status, residual)
    for j, one in enumerate(prepared.asked):
        first = one.goal_at
        found.softened[:, j] = softened[:, first] / track.lengths[j]
        if one.weight > 0.0 and one.kind == "REACH":
            found.residual[:, j] = residual[:, first] / track.lengths[j]
        if one.weight > 0.0 and (one.turns or one.kind == "AIM"):
            found.turn[:, j] = turn[:, first + one.turns]
    return found


def _rows_solved(prepared: Prepared, numbers: Doubles) -> Rows:
    """Rows of the kernel's, solved."""
    rows = prepared.rows_of(len(numbers))
    _doubles(rows.numbers)[:] = numbers.ravel()
    prepared.solver.solve_many(rows, prepared.settings)
    return rows


def _of_goals(rows: Rows, count: int) -> tuple[Ints, Doubles, Doubles, Doubles]:
    """How each goal ended, what it misses, by what angle, and what soft reach left: (F, G) each."""
    numbers = (rows.goal_residual, rows.goal_turn, rows.softened)
    residual, turn, softened = (_doubles(buffer).reshape(count, -1) for buffer in numbers)
    return _ints(rows.goal_status).reshape(count, -1), residual, turn, softened


def put_posed(track: Track, answers: Answers, k: int, item: Posed) -> None:
    """Put what was found for chains in one frame among the answers."""
    answers.rotations[k] = item.rotations
    if item.prepared.plain_channels:
        answers.plain[k] = item.prepared.plain_values(item.shift, item.factors)
    for j, (one, own) in enumerate(zip(item.prepared.asked, item.ended, strict=True)):
        answers.status[k, j] = STATUSES.index(own.status)
        answers.residual[k, j] = own.missed / track.lengths[j]
        answers.turn[k, j] = own.turn_residual
        answers.softened[k, j] = item.solution.softened[one.goal_at] / track.lengths[j]
    answers.violation = max(answers.violation, item.prepared.solver.violation(item.rotations))


def _doubles(buffer: Any) -> Doubles:
    """A buffer of the kernel's as an array, which shares its memory."""
    found: Doubles = np.frombuffer(buffer)
    return found


def _ints(buffer: Any) -> Ints:
    """The same of whole numbers."""
    found: Ints = np.frombuffer(buffer, dtype=np.intc)
    return found
