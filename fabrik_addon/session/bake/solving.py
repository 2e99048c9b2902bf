# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of many chains solved at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernel import Settings
from ...kernel.arrays import REAL, Array, column
from ...kernel.batch import ChainBatch, Goals, solve_batch
from ...rig.reader import Reading
from .sample import Answers, Track
from .sample import Goals as TrackGoals

PORTION = 1 << 17  # frames of chains that are solved and keyed before the next are: what is held grows no further


def portions(tracks: Sequence[Track]) -> list[list[Track]]:
    """Chains that are solved together: those with the same settings, and not too many frames in all."""
    found: list[list[Track]] = []
    held: dict[Settings | None, tuple[list[Track], int]] = {}
    for track in tracks:
        settings = track.reading.settings if track.goals is not None else None
        some, count = held.get(settings, ([], PORTION))
        if count + len(track.frames) > PORTION:
            some, count = [], 0
            found.append(some)
        some.append(track)
        held[settings] = some, count + len(track.frames)
    return found


def solve_portion(tracks: Sequence[Track]) -> list[Answers]:
    """Solve all frames of chains that have the same settings; what was solved frame by frame is handed on."""
    if tracks[0].goals is None:
        return [track.answers for track in tracks if track.answers is not None]
    goals = [track.goals for track in tracks if track.goals is not None]
    counts = [len(track.frames) for track in tracks]
    ends = np.cumsum(counts)
    solution = solve_batch(
        ChainBatch([goal.chain for goal in goals]), _joined(tracks, goals, counts), tracks[0].reading.settings
    )
    found = []
    for track, goal, count, end in zip(tracks, goals, counts, ends, strict=True):
        columns = slice(int(end) - count, int(end))
        part = next(part for part in solution.parts if columns.start in part.goals)
        first = int(np.searchsorted(part.goals, columns.start))
        rotations = _blended(track.reading, part.rotations[..., first : first + count])
        limits = zip(track.reading.limits, rotations, strict=True)
        violation = max(float(limit.stacked([limit]).violation(own).max()) for limit, own in limits)
        residual = solution.residual[columns] / goal.chain.length
        found.append(Answers(rotations, solution.status[columns], residual, violation))
    return found


def _joined(tracks: Sequence[Track], goals: Sequence[TrackGoals], counts: Sequence[int]) -> Goals:
    """The goals of all frames, chain after chain."""
    poles = [np.full((len(goal.targets), 3), np.nan) if goal.poles is None else goal.poles for goal in goals]
    return Goals(
        np.repeat(np.arange(len(goals)), counts),
        np.concatenate([goal.targets for goal in goals]).T,
        np.concatenate(poles).T,
        np.repeat([track.reading.goal.pole_angle for track in tracks], counts),
    )


def _blended(reading: Reading, rotations: Array) -> Array:
    """The rotations between start and solution by the chain's influence."""
    influence = reading.chain.influence
    if influence >= 1.0:
        return rotations
    share = np.array([influence], dtype=REAL)
    pairs = zip(reading.limits, reading.starts, rotations, strict=True)
    return np.stack([limit.stacked([limit]).way(column(start), own)(share) for limit, start, own in pairs])
