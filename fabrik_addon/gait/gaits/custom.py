# SPDX-License-Identifier: GPL-3.0-or-later
"""The gait that is made by hand: each leg's own offset, and one duty factor."""

from __future__ import annotations

from collections.abc import Sequence

from ..legs import Leg
from ..settings import Settings
from .base import Gait, Rhythm


def _custom(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return Rhythm(settings.duty, tuple(leg.offset for leg in legs))


CUSTOM = (Gait("CUSTOM", 11, "Custom", "Offsets by leg and the duty factor as they are set", _custom),)
