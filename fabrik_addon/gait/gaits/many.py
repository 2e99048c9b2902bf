# SPDX-License-Identifier: GPL-3.0-or-later
"""Six legs and more: alternating groups, and waves that run from the hindmost leg to the front (Wilson 1966)."""

from __future__ import annotations

from collections.abc import Sequence

from ..legs import RIGHT, Leg
from ..settings import Settings
from .base import Gait, Rhythm

ALTERNATING_DUTY = 0.5
RIPPLE_DUTY = 2.0 / 3.0
METACHRONAL_DUTY = 0.75


def _alternating(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return Rhythm(ALTERNATING_DUTY, tuple(0.5 * ((leg.row + (leg.side == RIGHT)) % 2) for leg in legs))


def _waves(legs: Sequence[Leg], duty: float) -> Rhythm:
    """Each leg swings when the one behind it has landed; the sides are half a cycle apart."""
    step = 1.0 - duty
    return Rhythm(duty, tuple((0.5 if leg.side == RIGHT else 0.0) + leg.row * step for leg in legs))


def _ripple(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return _waves(legs, RIPPLE_DUTY)


def _metachronal(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return _waves(legs, METACHRONAL_DUTY)


def _wave(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    """One leg at a time: all of a side, then all of the other."""
    count = max(2, len(legs))
    rows = 1 + max(leg.row for leg in legs)
    return Rhythm(1.0 - 1.0 / count, tuple((leg.row + (rows if leg.side == RIGHT else 0)) / count for leg in legs))


MANY = (
    Gait("TRIPOD", 6, "Tripod", "Every second foot together, so that three of six stand", _alternating, 5),
    Gait("TETRAPOD", 7, "Tetrapod", "Every second foot together, so that four of eight stand", _alternating, 6),
    Gait("RIPPLE", 8, "Ripple", "A third of the feet in the air, in waves from the back", _ripple, 5),
    Gait("WAVE", 9, "Wave", "One foot at a time, from the back to the front", _wave, 3, 12),
    Gait("METACHRONAL", 10, "Metachronal", "A quarter of the feet in the air, in waves from the back", _metachronal, 6),
)
