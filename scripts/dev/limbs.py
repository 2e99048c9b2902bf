# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs with limits, which are made by degrees, for the kernel's tests and the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

from fabrik_addon.kernel import FREE, Cone, Figure, Hinge, Limit, Twist
from fabrik_addon.maths import V3, X_AXIS, Y_AXIS, Z_AXIS, unit

X, Y, Z = X_AXIS, Y_AXIS, Z_AXIS


def hinge(axis: V3, low: float, high: float) -> Hinge:
    """A hinge by degrees."""
    return Hinge(unit(axis), radians(low), radians(high))


def cone(angle: float, least: float = 0.0) -> Cone:
    """A round cone by degrees."""
    return Cone.circular(radians(angle), radians(least))


def ellipse(x: tuple[float, float], z: tuple[float, float], twist: tuple[float, float]) -> Cone:
    """An uneven cone by degrees: how far about -X, +X, -Z and +Z."""
    range_of_twist = Twist(radians(twist[0]), radians(twist[1]))
    return Cone(0.0, radians(x[0]), radians(x[1]), radians(z[0]), radians(z[1]), range_of_twist)


LEG: list[V3] = [(0, 0, 0), (0, -0.04, -0.53), (0, 0.01, -1)]
TAIL: list[V3] = [(0, 0.02 * (i % 2), i) for i in range(11)]
LIMBS: dict[str, tuple[Sequence[V3], Sequence[Limit]]] = {  # points and limits
    "leg": (LEG, [FREE, hinge(X, 0, 150)]),
    "leg with ankle": ([*LEG, (0, -0.12, -1.07)], [FREE, hinge(X, 0, 150), hinge(X, -45, 60)]),
    "one-sided hinges": (
        [(0, 0, 0), (0, 0.1, -1), (0, 0, -2), (0, 0.1, -3), (0, 0, -3.5)],
        [FREE, hinge(X, 0, 150), hinge(X, -150, 0), hinge(X, 0, 120)],
    ),
    "spider leg": (
        [(0, 0, 0), (0.2, 0, 0), (0.9, 0, 0.6), (1.5, 0, 0.1), (1.9, 0, -0.5), (2.1, 0, -1), (2.2, 0, -1.3)],
        [
            hinge(Y, -60, 60),
            *(hinge(X, *ends) for ends in ((-60, 60), (-100, 10), (-90, 10), (-60, 20), (-40, 40))),
        ],
    ),
    "arm": (
        [(0, 0, 0), (0, 0, 0.4), (0, 0, 1), (0.1, 0, 1.5), (0.1, 0, 1.9), (0.1, 0, 2.1), (0.1, 0, 2.3)],
        [
            hinge(Y, -170, 170),
            hinge(X, -100, 100),
            hinge(X, -120, 60),
            hinge(Y, -180, 180),
            hinge(X, -100, 100),
            hinge(Y, -180, 180),
        ],
    ),
    "cone arm": ([(0, 0, 0), (0, 0, 1), (0, 0.1, 2), (0, 0, 2.5)], [cone(80), cone(60), cone(40)]),
    "stiff tail of cones": (TAIL, [cone(15)] * 10),
    "tail of cones": (TAIL, [cone(30)] * 10),
    "shoulder": (
        [(0, 0, 0), (1, 0.02, 0), (2, 0, 0), (2.3, 0, 0)],
        [ellipse((60, 110), (90, 40), (-60, 80)), hinge(Z, 0, 145), ellipse((70, 60), (20, 30), (-80, 80))],
    ),
    "finger": (
        [(0, 0, 0), (0, 1, 0), (0, 1.45, 0.02), (0, 1.7, 0.02), (0, 1.9, 0)],
        [ellipse((10, 90), (15, 15), (0, 0)), hinge(X, 0, 100), hinge(X, 0, 80), hinge(X, 0, 30)],
    ),
}


def limb(name: str) -> Figure:
    """One of the limbs."""
    return Figure.from_points(*LIMBS[name])
