# SPDX-License-Identifier: GPL-3.0-or-later
"""How to solve: all that decides an answer besides the figure and its goals."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_TOLERANCE = 1e-4
DEFAULT_MAX_PASSES = 256
DEFAULT_RESTARTS = 8
MOST_PASSES = 1 << 30
MOST_RESTARTS = 128


class Settings(NamedTuple):
    """How to solve.

    Attributes:
        tolerance: Distance from a goal that counts as reached, as a share of the figure's size.
        max_passes: Greatest number of passes; each is one sweep over all joints.
        plain: FABRIK's passes alone, as in the paper: no reach match, no least squares, no restarts.
        restarts: How many other starts are tried where limits hold the figure back.
    """

    tolerance: float = DEFAULT_TOLERANCE
    max_passes: int = DEFAULT_MAX_PASSES
    plain: bool = False
    restarts: int = DEFAULT_RESTARTS
