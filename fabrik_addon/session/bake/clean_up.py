# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys left out where the curves between the others stay near enough.

The two ends are kept; then, as long as some frame between two keys is off by more than the bound, the worst such frame
becomes a key (after Ramer 1972, "An iterative procedure for the polygonal approximation of plane curves", with the
angle between rotations as the distance). All channels of a bone are keyed at the same frames.
"""

from __future__ import annotations

import numpy as np

from ...kernel.arrays import REAL, Array, conjugated, multiply, turn_angle
from ...kernel.limits import Limit
from ...rig.channels import to_rotations
from ...rig.curves import Keys

LEAST = 3  # frames
LEFT = 1e-4  # radians by which a limit may be left: what single precision makes of it
TOO_FAR = 10.0  # radians, more than any bound


def cleaned(keys: Keys, mode: str, bound: float, limit: Limit | None) -> tuple[Keys, Array]:
    """The fewer keys of a bone that keep its rotation, and its limit.

    Args:
        keys: A key for each of F frames, all channels of a rotation mode; Bezier curves take the slopes of these.
        mode: The rotation mode.
        bound: Greatest angle in radians by which the bone may be off at one of the frames.
        limit: The bone's limit, where it is the same in all frames.

    Returns:
        The keys, and the rotations (4, F) that they give at all frames.
    """
    solved = to_rotations(mode, keys.values)
    if len(keys.frames) < LEAST:
        return keys, solved
    slopes = np.gradient(keys.values, keys.frames, axis=0, edge_order=2) if keys.interpolation == "BEZIER" else None
    wanted, limits = conjugated(solved), limit.stacked([limit]) if limit is not None else None
    at = np.array([0, len(keys.frames) - 1])
    while True:
        found = to_rotations(mode, _between(keys, at, slopes))
        off = turn_angle(multiply(wanted, found))
        if limits is not None:
            off += np.where(limits.violation(found.astype(REAL)) > LEFT, TOO_FAR, 0.0)
        off[at] = 0.0
        worst = np.maximum.reduceat(off, at[:-1])
        over = np.flatnonzero(worst > bound)
        if not over.size:
            break
        more = [int(at[i] + off[at[i] : at[i + 1]].argmax()) for i in over]
        at = np.sort(np.concatenate((at, more)))
    slopes = None if slopes is None else slopes[at]
    return Keys(keys.frames[at], keys.values[at], keys.interpolation, keys.span, slopes), found


def _between(keys: Keys, at: Array, slopes: Array | None) -> Array:
    """The values at all frames with the keys at some of them: straight lines, or cubics with the given slopes."""
    i = np.minimum(np.searchsorted(at, np.arange(len(keys.frames)), side="right") - 1, len(at) - 2)
    first, last = at[i], at[i + 1]
    span = (keys.frames[last] - keys.frames[first])[:, None]
    u = (keys.frames - keys.frames[first])[:, None] / span
    a, b = keys.values[first], keys.values[last]
    if slopes is None:
        return a + (b - a) * u
    out, into = slopes[first] * span, slopes[last] * span
    rest = 1.0 - u
    found: Array = (1.0 + 2.0 * u) * rest**2 * a + u * rest**2 * out + u**2 * (3.0 - 2.0 * u) * b - u**2 * rest * into
    return found
