# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion seen through a Gaussian; and without noise: by parabolas fitted about each frame (Savitzky & Golay 1964).

These are not fitted over the edges of contacts. Rotations are fitted by their logarithms, seen from that of the frame
itself, so that no order of axes counts.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil

import numpy as np

from ..maths import Doubles, Mask, conjugates, products, turns_by, vectors_of

BLUR = 0.03  # seconds, deviation of a Gaussian
LEAST_BLUR = 0.6  # frames, the same where frames are far apart
FEWEST = 4  # frames about one, of which a parabola is more than these frames themselves
DEGREE = 2


def blurred(values: Doubles, rate: float, seconds: float = BLUR) -> Doubles:
    """Values (F, k) through a Gaussian in time; beyond both ends they go on as their mirror images about these.

    Args:
        values: Of F frames that follow each other.
        rate: Frames a second.
        seconds: Deviation of the Gaussian.
    """
    width = max(seconds * rate, LEAST_BLUR)
    half = min(ceil(3.0 * width), len(values) - 1)
    if half < 1:
        return values
    weights = np.exp(-0.5 * (np.arange(-half, half + 1) / width) ** 2)
    weights /= weights.sum()
    before = 2.0 * values[0] - values[half:0:-1]
    after = 2.0 * values[-1] - values[-2 : -half - 2 : -1]
    padded = np.concatenate((before, values, after))
    found: Doubles = sum(weights[k] * padded[k : k + len(values)] for k in range(2 * half + 1))
    return found


def smoothed(values: Doubles, half: int, begins: Mask) -> Doubles:
    """Values (F, k) without noise.

    Args:
        values: Of F frames that follow each other.
        half: How many frames on either side count.
        begins: (F,), frames before which something ends that is not to be mixed with what follows.
    """
    found: Doubles = np.zeros_like(values)
    for off, weights in _weights(len(values), half, begins):
        found += weights[:, None] * _shifted(values, off)
    return found


def smoothed_turns(turns: Doubles, half: int, begins: Mask) -> Doubles:
    """Rotations (F, 4) without noise; see `smoothed`."""
    back, by = conjugates(turns), np.zeros((len(turns), 3))
    for off, weights in _weights(len(turns), half, begins):
        by += weights[:, None] * vectors_of(products(back, _shifted(turns, off)))
    return products(turns, turns_by(by))


def _shifted(values: Doubles, off: int) -> Doubles:
    """In each frame what is so many frames later; at the ends the last one, which has no weight there."""
    return values[np.clip(np.arange(len(values)) + off, 0, len(values) - 1)]


def _weights(count: int, half: int, begins: Mask) -> list[tuple[int, Doubles]]:
    """For each offset in frames how much (F,) what is there counts in each frame."""
    starts = np.flatnonzero(np.concatenate(([True], begins[1:])))
    ends = np.concatenate((starts[1:], [count]))
    found: Doubles = np.zeros((2 * half + 1, count))
    for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
        for k in range(first, last):
            before, after = min(half, k - first), min(half, last - 1 - k)
            found[half - before : half + after + 1, k] = _parabola(before, after)
    return [(k - half, found[k]) for k in range(2 * half + 1)]


@lru_cache(maxsize=256)
def _parabola(before: int, after: int) -> Doubles:
    """How much so many frames before and after one count for the value there of the parabola that fits them best."""
    if before + after + 1 < FEWEST:
        return np.array([float(k == before) for k in range(before + after + 1)])
    powers = np.vander(np.arange(-before, after + 1, dtype=np.float64), DEGREE + 1, increasing=True)
    found: Doubles = np.linalg.pinv(powers)[0]
    return found
