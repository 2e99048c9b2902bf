# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys left out where the curves between the others stay near enough.

The two ends are kept; then, as long as some frame between two keys is off by more than the bound, the worst such frame
becomes a key (after Ramer 1972, "An iterative procedure for the polygonal approximation of plane curves", with the
angle between rotations as the distance). All channels of a bone's rotation, or of its location, are keyed at the same
frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from ...kernel import Limit
from ...maths import Doubles, Mask, Places, conjugates, lengths, products, turn_angles
from ...rig.channel_runs import to_rotations
from ...rig.curves import CONSTANT, Keys, staying

LEAST = 3  # frames; fewer have no key between first and last to leave out
LEFT = 1e-4  # radians beyond a limit that rounding to single precision may cause
TOO_FAR = 10.0  # radians, more than any bound


class Measure(ABC):
    """How far the values of F frames are off those that were solved.

    Attributes:
        violation: The worst violation of a limit at any frame by the values that were asked for last, radians.
    """

    violation: float = 0.0

    @abstractmethod
    def of(self, values: Doubles) -> Doubles:
        """(F,), in radians, for values (F, k) of the k channels."""


class Turned(Measure):
    """The angle by which a bone is off, and whether it leaves its limit.

    Args:
        mode: The rotation mode.
        values: (F, k), those that were solved.
        limit: The bone's limit, where it is the same in all frames.
    """

    def __init__(self, mode: str, values: Doubles, limit: Limit | None) -> None:
        self._mode = mode
        self._wanted = conjugates(to_rotations(mode, values))
        self._violation = _Violation(limit, len(values))

    def of(self, values: Doubles) -> Doubles:
        found = to_rotations(self._mode, values)
        left = self._violation.of(found)
        self.violation = float(left.max())
        off: Doubles = turn_angles(products(self._wanted, found)) + np.where(left > LEFT, TOO_FAR, 0.0)
        return off


class Moved(Measure):
    """The distance by which a bone is off, as a share of what it carries: so far a turn by as much would take an end.

    Args:
        values: (F, 3), location channels as they were solved.
        size: Of what it carries.
    """

    def __init__(self, values: Doubles, size: float) -> None:
        self._wanted, self._size = values, size

    def of(self, values: Doubles) -> Doubles:
        found: Doubles = lengths(values - self._wanted) / self._size
        return found


def cleaned(keys: Keys, measure: Measure, bound: float) -> Keys:
    """The fewer keys of channels that keep them near what was solved.

    Args:
        keys: A key for each of F frames, all channels of a property; Bezier curves take the slopes of these.
        measure: How far values are off.
        bound: By how much they may be at one of the frames, radians.
    """
    if len(keys.frames) < LEAST:
        measure.of(keys.values)
        return keys
    slopes = np.gradient(keys.values, keys.frames, axis=0, edge_order=2) if keys.interpolation == "BEZIER" else None
    at = np.array([0, len(keys.frames) - 1])
    while True:
        off = measure.of(_between(keys, at, slopes))
        off[at] = 0.0
        over = np.flatnonzero(np.maximum.reduceat(off, at[:-1]) > bound)
        if not over.size:
            break
        more = [int(at[i] + off[at[i] : at[i + 1]].argmax()) for i in over]
        at = np.sort(np.concatenate((at, more)))
    values = keys.values[at]
    stays = staying(values)
    if slopes is not None:
        slopes = slopes[at]
        stays &= np.abs(slopes).max(axis=0) <= CONSTANT
    return replace(keys, frames=keys.frames[at], values=values, stays=stays, slopes=slopes)


class _Violation:
    """How far rotations of F frames are outside a limit; found anew where they are others than the last time."""

    def __init__(self, limit: Limit | None, count: int) -> None:
        self._limit = None if limit is None or limit.is_free else limit
        self._last: Doubles = np.full((count, 4), np.nan)
        self._left: Doubles = np.zeros(count)

    def of(self, rotations: Doubles) -> Doubles:
        """Radians, (F,), for unit quaternions (F, 4)."""
        if self._limit is not None:
            changed: Mask = (rotations != self._last).any(axis=1)
            self._left[changed] = [self._limit.violation(rotation) for rotation in rotations[changed].tolist()]
            self._last = rotations
        return self._left


def _between(keys: Keys, at: Places, slopes: Doubles | None) -> Doubles:
    """The values at all frames with the keys at some of them: straight lines, or cubics with the given slopes."""
    i = np.minimum(np.searchsorted(at, np.arange(len(keys.frames)), side="right") - 1, len(at) - 2)
    first, last = at[i], at[i + 1]
    span = (keys.frames[last] - keys.frames[first])[:, None]
    u = (keys.frames - keys.frames[first])[:, None] / span
    a, b = keys.values[first], keys.values[last]
    if slopes is None:
        found: Doubles = a + (b - a) * u
        return found
    leaving, coming = slopes[first] * span, slopes[last] * span
    rest = 1.0 - u
    found = (1.0 + 2.0 * u) * rest**2 * a + u * rest**2 * leaving
    found += u**2 * (3.0 - 2.0 * u) * b - u**2 * rest * coming
    return found
