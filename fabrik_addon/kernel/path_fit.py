# SPDX-License-Identifier: GPL-3.0-or-later
"""A path over many frames that is short and smooth, and keeps within spheres: where a body goes so that its legs reach.

By the alternating direction method of multipliers (Boyd et al. 2011, over-relaxed): in turns all points at once by a
banded Cholesky factor, and each point to its spheres. The number of turns is fixed, so that there is one answer.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import sqrt
from operator import index
from typing import SupportsFloat, SupportsIndex

from ..errors import LARGEST, InvalidValueError, are_finite
from . import cython
from .forms import V3, Doubles
from .vectors import doubles, length, minus, plus, put3, scaled, v3

TURNS = cython.declare(cython.int, 120)  # after which points move by less than 1e-4 of a leg
PENALTY = cython.declare(cython.double, 30.0)  # how much it counts that a point is off its sphere, beside its length
RELAXED = cython.declare(cython.double, 1.6)
MOST_POINTS = 1 << 24


@cython.cclass
class PathFit:
    """Of F points x that make sum |x|^2 + s |x[k-1] - 2 x[k] + x[k+1]|^2 least, with each in its spheres.

    Args:
        count: F.
        smoothness: s, how much a change of the way from point to point counts beside the lengths.
        centres: (spheres, F, 3), coordinates of the centres, one after the other.
        radii: (spheres, F).

    Raises:
        InvalidValueError: There is no point, or they are not as many as the points, or no numbers.
    """

    count: cython.int
    smoothness: cython.double
    spheres: cython.int
    centres: Doubles
    radii: Doubles
    points: Doubles  # (F, 3)
    inverse: Doubles  # Cholesky's factor: one over its diagonal, and the two diagonals below it
    near: Doubles
    far: Doubles
    inside: Doubles  # where points are within their spheres ...
    gap: Doubles  # ... and by how much they were off them, added up; (spheres, F, 3)

    def __init__(
        self, count: SupportsIndex, smoothness: SupportsFloat, centres: Sequence[float], radii: Sequence[float]
    ) -> None:
        self.count, self.smoothness = index(count), float(smoothness)
        if not 0 < self.count <= MOST_POINTS:
            raise InvalidValueError("a path has one point at least")
        if not 0.0 <= self.smoothness <= LARGEST:
            raise InvalidValueError("the smoothness of a path is not a number from 0 on")
        self.spheres = int(len(radii) / self.count)
        if len(centres) != 3 * len(radii) or len(radii) != self.spheres * self.count:
            raise InvalidValueError("each point of a path needs its sphere")
        if not (are_finite(centres) and are_finite(radii) and min(radii, default=0.0) >= 0.0):
            raise InvalidValueError("a sphere of a path is nowhere")
        self.centres, self.radii = array("d", centres), array("d", radii)
        self.points = doubles(3 * self.count)
        self.inverse, self.near, self.far = doubles(self.count), doubles(self.count), doubles(self.count)
        self.inside, self.gap = doubles(len(centres)), doubles(len(centres))
        self.factorize()

    def solved(self) -> list[float]:
        """The points, (3 F,)."""
        self.run()
        return list(self.points)

    @cython.cfunc
    @cython.exceptval(check=False)
    def factorize(self) -> cython.void:
        """Find Cholesky's factor of what all points count at once."""
        count: cython.int = self.count
        smooth: cython.double = self.smoothness
        for k in range(count):
            self.inverse[k] = 1.0 + PENALTY * self.spheres
        for k in range(count - 2):  # each change of the way, of three points
            self.inverse[k] += smooth
            self.inverse[k + 1] += 4.0 * smooth
            self.inverse[k + 2] += smooth
            self.near[k + 1] -= 2.0 * smooth
            self.near[k + 2] -= 2.0 * smooth
            self.far[k + 2] += smooth
        for k in range(count):
            below: cython.double = 0.0
            if k > 1:
                self.far[k] *= self.inverse[k - 2]
                below = self.far[k]
            if k > 0:
                self.near[k] = (self.near[k] - (below * self.near[k - 1] if k > 1 else 0.0)) * self.inverse[k - 1]
            self.inverse[k] = 1.0 / sqrt(self.inverse[k] - self.near[k] * self.near[k] - below * below)

    @cython.cfunc
    @cython.exceptval(check=False)
    def run(self) -> cython.void:
        at: cython.int
        for turn in range(TURNS):
            for k in range(self.count):
                wanted: V3 = (0.0, 0.0, 0.0)
                for j in range(self.spheres):
                    at = j * self.count + k
                    wanted = plus(wanted, minus(v3(self.inside, at), v3(self.gap, at)))
                put3(self.points, k, scaled(wanted, PENALTY))
            self.place()
            for j in range(self.spheres):
                for k in range(self.count):
                    at = j * self.count + k
                    point: V3 = plus(scaled(v3(self.points, k), RELAXED), scaled(v3(self.inside, at), 1.0 - RELAXED))
                    off: V3 = minus(plus(point, v3(self.gap, at)), v3(self.centres, at))
                    away: cython.double = length(off)
                    if away > self.radii[at]:
                        off = scaled(off, self.radii[at] / away)
                    put3(self.inside, at, plus(v3(self.centres, at), off))
                    put3(self.gap, at, plus(v3(self.gap, at), minus(point, v3(self.inside, at))))

    @cython.cfunc
    @cython.exceptval(check=False)
    def place(self) -> cython.void:
        """Find the points in place of the right-hand side: down along the factor, and up again."""
        at: V3
        points: Doubles = self.points
        for k in range(self.count):
            at = v3(points, k)
            if k > 0:
                at = minus(at, scaled(v3(points, k - 1), self.near[k]))
            if k > 1:
                at = minus(at, scaled(v3(points, k - 2), self.far[k]))
            put3(points, k, scaled(at, self.inverse[k]))
        for k in range(self.count - 1, -1, -1):
            at = v3(points, k)
            if k + 1 < self.count:
                at = minus(at, scaled(v3(points, k + 1), self.near[k + 1]))
            if k + 2 < self.count:
                at = minus(at, scaled(v3(points, k + 2), self.far[k + 2]))
            put3(points, k, scaled(at, self.inverse[k]))
