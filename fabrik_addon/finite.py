# SPDX-License-Identifier: GPL-3.0-or-later
"""Which numbers a solve can use."""

from __future__ import annotations

from collections.abc import Iterable

LARGEST = 1e18  # its square is near the end of single precision; Blender turns infinity into 3.4e38


def are_finite(values: Iterable[float]) -> bool:
    """True where no value is NaN, infinite, or too large to be squared in single precision."""
    for value in values:  # noqa: SIM110 - a generator takes twice as long
        if not abs(value) <= LARGEST:
            return False
    return True
