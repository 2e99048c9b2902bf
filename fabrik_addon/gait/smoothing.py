# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters over evenly spaced samples whose future is known: without lag, or never below what is needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..maths import V3


def smoothed(values: Sequence[float], half_life: float, spacing: float) -> list[float]:
    """Critically damped, forwards and then backwards, so that nothing lags.

    Args:
        values: Samples.
        half_life: Time after which half of a step is taken on by one pass, seconds.
        spacing: Time between samples, seconds.
    """
    keep = 0.5 ** (2.0 * spacing / half_life) if half_life > 0.0 else 0.0
    result = list(values)
    for _ in range(2):
        state = second = result[0]
        for index, value in enumerate(result):
            state = value + (state - value) * keep
            second = state + (second - state) * keep
            result[index] = second
        result.reverse()
    return result


def smoothed_points(points: Sequence[V3], half_life: float, spacing: float) -> list[V3]:
    """Vectors, each component smoothed."""
    columns = [smoothed([point[axis] for point in points], half_life, spacing) for axis in range(3)]
    return list(zip(columns[0], columns[1], columns[2], strict=True))


def covered(needs: Sequence[float], half_width: int) -> list[float]:
    """A smooth curve that is nowhere below the needs.

    It is the greatest need within two half widths of each sample, averaged twice over one half width to either side:
    all that is averaged at a sample is at least the need there, and a need fades out within four half widths.

    Args:
        needs: Samples.
        half_width: In samples, 1 at least.
    """
    width = max(1, half_width)
    high = _greatest(needs, 2 * width)
    return _averaged(_averaged(high, width), width)


def _greatest(values: Sequence[float], width: int) -> list[float]:
    """The greatest value within `width` samples on either side."""
    count = len(values)
    result: list[float] = []
    candidates: deque[int] = deque()
    for index in range(count + width):
        if index < count:
            while candidates and values[candidates[-1]] <= values[index]:
                candidates.pop()
            candidates.append(index)
        middle = index - width
        if middle >= 0:
            while candidates[0] < middle - width:
                candidates.popleft()
            result.append(values[candidates[0]])
    return result


def _averaged(values: Sequence[float], width: int) -> list[float]:
    """The mean of `width` samples on either side; the ends are continued."""
    count = len(values)
    sums = [0.0]
    for index in range(-width, count + width):
        sums.append(sums[-1] + values[min(max(index, 0), count - 1)])
    span = 2 * width + 1
    return [(sums[index + span] - sums[index]) / span for index in range(count)]
