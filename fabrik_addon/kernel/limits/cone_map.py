# SPDX-License-Identifier: GPL-3.0-or-later
"""The equal-area map of the sphere in which cones are discs and ellipses.

A unit direction is seen as the point sin(angle / 2) * axis, where axis and angle are those of the turn from Y to the
direction, with coordinates along X and Z; -Y is the whole circle of radius 1. Beside a direction stand two unit
tangents of the sphere: outwards from Y, which is the map's own outwards, and sidewards, where X turns to Z on the map.
There a step of the map is 1 / c times as long outwards and c times as long sidewards, c the cosine of half the angle.
"""

from __future__ import annotations

from math import sqrt

from .. import cython
from ..forms import V3
from ..vectors import ORIGIN, plus, scaled, smaller, unit

ON_THE_AXIS = cython.declare(cython.double, 1e-150)  # of a direction's part beside Y: its square is no number any more


@cython.cfunc
@cython.exceptval(check=False)
def to_map(direction: V3) -> V3:
    """The X and Z of a unit direction on the map, and their distance from the centre."""
    x: cython.double = direction[0]
    z: cython.double = direction[2]
    y: cython.double = direction[1]
    aside: cython.double = sqrt(x * x + z * z)
    if aside < ON_THE_AXIS:
        return ORIGIN if y >= 0.0 else (1.0, 0.0, 1.0)
    factor: cython.double = 1.0 / sqrt(2.0 * (1.0 + y)) if y >= 0.0 else sqrt(0.5 * (1.0 - y)) / aside
    return (z * factor, -x * factor, aside * factor)


@cython.cfunc
@cython.exceptval(check=False)
def from_map(x: cython.double, z: cython.double) -> V3:
    """The unit direction of a point of the map; -Y for one outside."""
    square: cython.double = smaller(x * x + z * z, 1.0)
    up: cython.double = 2.0 * sqrt(1.0 - square)
    return unit((-z * up, 1.0 - 2.0 * square, x * up))


@cython.cfunc
@cython.exceptval(check=False)
def beside_y(direction: V3) -> V3:
    """The unit vector at right angles to Y on whose side a direction lies; that of the map's X where it has none."""
    aside: cython.double = sqrt(direction[0] * direction[0] + direction[2] * direction[2])
    if aside < ON_THE_AXIS:
        return (0.0, 0.0, 1.0)
    return (direction[0] / aside, 0.0, direction[2] / aside)


@cython.cfunc
@cython.exceptval(check=False)
def turn_into_wall(direction: V3, x: cython.double, z: cython.double) -> V3:
    """Unit axis of the turn that leads at right angles into a wall, an edge of the map with the outward normal (x, z).

    The edge's tangent on the map, (-z, x), goes over into one on the sphere; the wall's normal there is at right angles
    to that one. With the lengths of steps outwards and sidewards the normal (n, m) becomes (n c, m / c).
    """
    side: V3 = beside_y(direction)
    y: cython.double = direction[1]
    aside: cython.double = direction[0] * side[0] + direction[2] * side[2]
    square: cython.double = 0.5 * (1.0 + y) if y >= 0.0 else 0.5 * aside * aside / (1.0 - y)
    outwards: V3 = (y * side[0], -aside, y * side[2])
    sidewards: V3 = (-side[2], 0.0, side[0])
    n: cython.double = (x * side[2] - z * side[0]) * square
    m: cython.double = x * side[0] + z * side[2]
    # direction x outwards is -sidewards, direction x sidewards is outwards
    return unit(plus(scaled(outwards, m), scaled(sidewards, -n)))
