# SPDX-License-Identifier: GPL-3.0-or-later
"""Two legs: walk and run. Duty factors after Alexander (1989)."""

from __future__ import annotations

from collections.abc import Sequence

from ..legs import RIGHT, Leg
from ..settings import Settings
from .base import Gait, Rhythm

WALK_DUTY, RUN_DUTY = 0.6, 0.35


def _sides(legs: Sequence[Leg]) -> tuple[float, ...]:
    return tuple(0.5 if leg.side == RIGHT else 0.0 for leg in legs)


def _walk(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return Rhythm(WALK_DUTY, _sides(legs))


def _run(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return Rhythm(RUN_DUTY, _sides(legs))


BIPED = (
    Gait("BIPED_WALK", 0, "Walk on Two Legs", "One foot is always on the ground, at times both", _walk, 1, 2),
    Gait("BIPED_RUN", 1, "Run on Two Legs", "Both feet are in the air between steps", _run, 1, 2),
)
