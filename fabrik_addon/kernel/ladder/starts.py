# SPDX-License-Identifier: GPL-3.0-or-later
"""Other poses from which to start: drawn inside the limits, the same ones each time."""

from __future__ import annotations

from random import Random

from .. import cython
from ..figure import Figure
from ..forms import Doubles
from ..limits.base import Limit
from ..pose import Pose
from ..vectors import apart, doubles, larger, put4, v3

SCREENED = 128  # poses that are drawn
SEED = 2011


@cython.cfunc
def drawn_poses(figure: Figure) -> list[Doubles]:
    """Poses drawn inside the limits of a figure: a buffer of n rotations each."""
    random = Random(SEED)
    drawn = []
    for _ in range(SCREENED):
        rotations: Doubles = doubles(4 * figure.count)
        for i in range(figure.count):
            limit: Limit = figure.limits[i]
            put4(rotations, i, limit.draw(random.random(), random.random(), random.random()))
        drawn.append(rotations)
    return drawn


@cython.cfunc
@cython.exceptval(check=False)
def farthest(pose: Pose, other: Pose, count: cython.int) -> cython.double:
    """The largest distance between the same joint of two placed poses of n joints, the tip included."""
    i: cython.int
    most: cython.double = 0.0
    for i in range(count + 1):
        most = larger(most, apart(v3(pose.heads, i), v3(other.heads, i)))
    return most
