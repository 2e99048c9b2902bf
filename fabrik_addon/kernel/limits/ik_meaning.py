# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's own IK can heed of a limit: locks and ranges of the bone's X, Y and Z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...texts import Text

BESIDE = 1e-3  # of a unit axis to one of the bone's, in each of the other coordinates
ALL_AXES = frozenset((0, 1, 2))

IkRange = tuple[float, float]


class IkMeaning(NamedTuple):
    """A limit as locks and ranges.

    Attributes:
        free: Axes that are not locked; 0 is X.
        ranges: Least and greatest angle in radians about those axes that are limited.
        lost: What locks and ranges can't tell of the limit, in words.
    """

    free: frozenset[int]
    ranges: dict[int, IkRange]
    lost: tuple[str, ...] = ()


def about_axis(axis: Sequence[float], low: float, high: float) -> tuple[int, IkRange] | None:
    """The axis of the bone along a unit axis, and a range about it; None where it is along none."""
    sizes = [abs(value) for value in axis]
    index = sizes.index(max(sizes))
    if any(size > BESIDE for i, size in enumerate(sizes) if i != index):
        return None
    return index, ((low, high) if axis[index] > 0.0 else (-high, -low))


def beside_an_axis() -> IkMeaning:
    """A turn about an axis that is none of the bone's."""
    return IkMeaning(ALL_AXES, {}, (Text("a limit about an axis that is none of the bone's"),))
