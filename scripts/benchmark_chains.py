# SPDX-License-Identifier: GPL-3.0-or-later
"""The limited chains of the benchmark."""

from __future__ import annotations

from math import radians
from typing import Any

from mathutils import Vector

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def limited_chains(kernel: Any) -> dict[str, Any]:
    """Chains by name; angles in degrees."""
    free = kernel.FREE

    def hinge(axis: tuple[int, int, int], low: float, high: float) -> Any:
        return kernel.Hinge(Vector(axis), radians(low), radians(high))

    def cone(angle: float) -> Any:
        return kernel.Cone.circular(radians(angle))

    def ellipse(x: tuple[float, float], z: tuple[float, float], twist: tuple[float, float]) -> Any:
        ends = (radians(value) for value in (*x, *z))
        return kernel.Cone(0.0, *ends, kernel.Twist(radians(twist[0]), radians(twist[1])))

    thigh, tail = [(0, 0, 0), (0, -0.04, -0.53), (0, 0.01, -1)], [(0, 0.02 * (i % 2), i) for i in range(11)]
    made = {
        "leg with knee": (thigh, [free, hinge(X, 0, 150)]),
        "leg with knee and ankle": ([*thigh, (0, -0.12, -1.07)], [free, hinge(X, 0, 150), hinge(X, -45, 60)]),
        "three one-sided hinges": (
            [(0, 0, 0), (0, 0.1, -1), (0, 0, -2), (0, 0.1, -3), (0, 0, -3.5)],
            [free, hinge(X, 0, 150), hinge(X, -150, 0), hinge(X, 0, 120)],
        ),
        "spider leg of six joints": (
            [(0, 0, 0), (0.2, 0, 0), (0.9, 0, 0.6), (1.5, 0, 0.1), (1.9, 0, -0.5), (2.1, 0, -1), (2.2, 0, -1.3)],
            [
                hinge(Y, -60, 60),
                hinge(X, -60, 60),
                hinge(X, -100, 10),
                hinge(X, -90, 10),
                hinge(X, -60, 20),
                hinge(X, -40, 40),
            ],
        ),
        "six-axis arm": (
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
        "tail of 10, 15 degrees": (tail, [cone(15)] * 10),
        "tail of 10, 30 degrees": (tail, [cone(30)] * 10),
        "shoulder, ellipse and twist": (
            [(0, 0, 0), (1, 0.02, 0), (2, 0, 0), (2.3, 0, 0)],
            [ellipse((60, 110), (90, 40), (-60, 80)), hinge(Z, 0, 145), ellipse((70, 60), (20, 30), (-80, 80))],
        ),
        "finger of four bones": (
            [(0, 0, 0), (0, 1, 0), (0, 1.45, 0.02), (0, 1.7, 0.02), (0, 1.9, 0)],
            [ellipse((10, 90), (15, 15), (0, 0)), hinge(X, 0, 100), hinge(X, 0, 80), hinge(X, 0, 30)],
        ),
    }
    return {name: kernel.Chain.from_points(points, limits) for name, (points, limits) in made.items()}
