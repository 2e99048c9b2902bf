# SPDX-License-Identifier: GPL-3.0-or-later
"""Four legs: the walk in lateral sequence, trot, pace and gallop (Hildebrand 1965)."""

from __future__ import annotations

from collections.abc import Sequence

from ..legs import RIGHT, Leg
from ..settings import Settings
from .base import Gait, Rhythm

WALK_DUTY, TROT_DUTY, PACE_DUTY, GALLOP_DUTY = 0.75, 0.5, 0.5, 0.3
LEAD = 0.1  # share of the cycle between the two hind feet, and the two front feet, of a gallop


def _walk(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    """Hind left, front left, hind right, front right."""
    return Rhythm(WALK_DUTY, tuple((0.0 if leg.side == RIGHT else 0.5) + 0.25 * (leg.row % 2) for leg in legs))


def _trot(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return Rhythm(TROT_DUTY, tuple(0.5 * ((leg.row + (leg.side == RIGHT)) % 2) for leg in legs))


def _pace(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return Rhythm(PACE_DUTY, tuple(0.5 if leg.side == RIGHT else 0.0 for leg in legs))


def _gallop(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    """Hind legs, then front legs, the left one first."""
    return Rhythm(GALLOP_DUTY, tuple(0.5 * (leg.row % 2) + (0.0 if leg.side == RIGHT else LEAD) for leg in legs))


QUADRUPED = (
    Gait("WALK", 2, "Walk", "One foot at a time: hind, then front, of one side and then the other", _walk, 3),
    Gait("TROT", 3, "Trot", "Diagonal feet together", _trot, 4, 4),
    Gait("PACE", 4, "Pace", "The feet of a side together, as camels do", _pace, 4, 4),
    Gait("GALLOP", 5, "Gallop", "Hind feet, then front feet, with a time in the air", _gallop, 4, 4),
)
