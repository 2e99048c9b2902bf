# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest circle round points of a plane (Welzl 1991, with the points in their own order)."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

Point = tuple[float, float]
Circle = tuple[float, float, float]  # centre and radius
SLACK = 1e-9  # share of the radius


def smallest_circle(points: Sequence[Point]) -> Circle:
    """Centre x, centre y and radius of the smallest circle that holds all points.

    Args:
        points: At least one.
    """
    circle = (points[0][0], points[0][1], 0.0)
    for i, point in enumerate(points):
        if not _holds(circle, point):
            circle = _through_one(points[:i], point)
    return circle


def _through_one(points: Sequence[Point], on: Point) -> Circle:
    circle = (on[0], on[1], 0.0)
    for i, point in enumerate(points):
        if not _holds(circle, point):
            circle = _through_two(points[:i], on, point)
    return circle


def _through_two(points: Sequence[Point], on: Point, also: Point) -> Circle:
    circle = (0.5 * (on[0] + also[0]), 0.5 * (on[1] + also[1]), 0.5 * hypot(on[0] - also[0], on[1] - also[1]))
    for point in points:
        if not _holds(circle, point):
            circle = _through_three(on, also, point)
    return circle


def _through_three(a: Point, b: Point, c: Point) -> Circle:
    bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    under = 2.0 * (bx * cy - by * cx)
    if under == 0.0:  # in a line, which only rounding brings here
        far = max((a, b, c), key=lambda point: hypot(point[0] - a[0], point[1] - a[1]))
        return (0.5 * (a[0] + far[0]), 0.5 * (a[1] + far[1]), 0.5 * hypot(a[0] - far[0], a[1] - far[1]))
    bb, cc = bx * bx + by * by, cx * cx + cy * cy
    x, y = (cy * bb - by * cc) / under, (bx * cc - cx * bb) / under
    return (a[0] + x, a[1] + y, hypot(x, y))


def _holds(circle: Circle, point: Point) -> bool:
    return hypot(point[0] - circle[0], point[1] - circle[1]) <= circle[2] * (1.0 + SLACK)
