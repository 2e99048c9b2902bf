# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys left out where the curves between the others stay near enough.

The two ends are kept; then, as long as some frame between two keys is off by more than the bound, the worst such frame
becomes a key (after Ramer 1972, "An iterative procedure for the polygonal approximation of plane curves", with the
angle between rotations as the distance). All channels of a bone are keyed at the same frames.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kernel import Limit
from ...rig.array_types import Doubles, Mask, Places
from ...rig.channel_runs import to_rotations
from ...rig.curves import CONSTANT, Keys, staying
from ...rig.quaternion_arrays import conjugated, multiplied, turn_angle

LEAST = 3  # frames
LEFT = 1e-4  # radians by which a limit may be left: what single precision makes of it
TOO_FAR = 10.0  # radians, more than any bound


def cleaned(keys: Keys, mode: str, bound: float, limit: Limit | None) -> tuple[Keys, float]:
    """The fewer keys of a bone that keep its rotation, and its limit.

    Args:
        keys: A key for each of F frames, all channels of a rotation mode; Bezier curves take the slopes of these.
        mode: The rotation mode.
        bound: Greatest angle in radians by which the bone may be off at one of the frames.
        limit: The bone's limit, where it is the same in all frames.

    Returns:
        The keys, and the worst violation of the limit at any frame, radians; 0 without a limit.
    """
    solved = to_rotations(mode, keys.values)
    violation = _Violation(limit, len(solved))
    if len(keys.frames) < LEAST:
        return keys, float(violation.of(solved).max())
    slopes = np.gradient(keys.values, keys.frames, axis=0, edge_order=2) if keys.interpolation == "BEZIER" else None
    wanted = conjugated(solved)
    at = np.array([0, len(keys.frames) - 1])
    while True:
        found = to_rotations(mode, _between(keys, at, slopes))
        left = violation.of(found)
        off = turn_angle(multiplied(wanted, found)) + np.where(left > LEFT, TOO_FAR, 0.0)
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
    return replace(keys, frames=keys.frames[at], values=values, stays=stays, slopes=slopes), float(left.max())


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
