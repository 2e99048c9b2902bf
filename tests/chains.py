# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains for the kernel's tests, and what every solution of one must hold to."""

from __future__ import annotations

from itertools import pairwise
from math import radians
from random import Random

from fabrik_addon.kernel import Chain, Solution
from fabrik_addon.kernel.limits import FREE, Cone, Hinge, Limit, Twist
from fabrik_addon.kernel.orientation import place
from fabrik_addon.kernel.rotations import from_rotation_vector
from mathutils import Quaternion, Vector

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def hinge(axis, low: float, high: float) -> Hinge:
    """A hinge by degrees."""
    return Hinge(Vector(axis).normalized(), radians(low), radians(high))


def random_vector(random: Random) -> Vector:
    """A vector of no preferred direction."""
    return Vector([random.gauss(0.0, 1.0) for _ in range(3)])


def random_chain(random: Random, count: int, curl: float = 0.4) -> Chain:
    """A free chain of bones of uneven length that curls at random."""
    points, direction = [Vector()], random_vector(random).normalized()
    for _ in range(count):
        direction = (direction + random_vector(random) * curl).normalized()
        points.append(points[-1] + direction * random.uniform(0.5, 1.5))
    return Chain.from_points(points)


def random_rotations(random: Random, chain: Chain) -> list[Quaternion]:
    """Rotations inside the limits, those of free joints of any size up to a right angle and a bit."""
    return [
        from_rotation_vector(random_vector(random).normalized() * random.uniform(0.0, 1.8))
        if joint.limit is FREE
        else joint.limit.sample(random)
        for joint in chain.joints
    ]


def reachable_target(random: Random, chain: Chain) -> Vector:
    """Where the tip stands for some rotations inside the limits."""
    return place(chain, random_rotations(random, chain))[0][-1]


def spider_leg() -> Chain:
    """Six hinges, the first about an axis of its own."""
    points = [(0, 0, 0), (0.2, 0, 0), (0.9, 0, 0.6), (1.5, 0, 0.1), (1.9, 0, -0.5), (2.1, 0, -1), (2.2, 0, -1.3)]
    limits = [hinge(Y, -60, 60), hinge(X, -60, 60), hinge(X, -100, 10), hinge(X, -90, 10), hinge(X, -60, 20)]
    return Chain.from_points(points, [*limits, hinge(X, -40, 40)])


def arm() -> Chain:
    """Six axes, crossed as those of a robot's arm."""
    points = [(0, 0, 0), (0, 0, 0.4), (0, 0, 1), (0.1, 0, 1.5), (0.1, 0, 1.9), (0.1, 0, 2.1), (0.1, 0, 2.3)]
    limits: list[Limit] = [hinge(Y, -170, 170), hinge(X, -100, 100), hinge(X, -120, 60), hinge(Y, -180, 180)]
    return Chain.from_points(points, [*limits, hinge(X, -100, 100), hinge(Y, -180, 180)])


def leg(*rest: tuple[tuple[float, float, float], Limit]) -> Chain:
    """A free hip and a knee that bends one way, and more joints where wanted."""
    points = [(0, 0, 0), (0, -0.04, -0.53), (0, 0.01, -1), *(point for point, _ in rest)]
    return Chain.from_points(points, [FREE, hinge(X, 0, 150), *(limit for _, limit in rest)])


LIMITED = {
    "leg": leg(),
    "leg with ankle": leg(((0, -0.12, -1.07), hinge(X, -45, 60))),
    "one-sided hinges": Chain.from_points(
        [(0, 0, 0), (0, 0.1, -1), (0, 0, -2), (0, 0.1, -3), (0, 0, -3.5)],
        [FREE, hinge(X, 0, 150), hinge(X, -150, 0), hinge(X, 0, 120)],
    ),
    "spider leg": spider_leg(),
    "arm": arm(),
    "tail": Chain.from_points([(0, i, 0) for i in range(11)], [hinge(X if i % 2 else Z, -30, 30) for i in range(10)]),
    "stiff tail": Chain.from_points(
        [(0, i, 0) for i in range(11)], [hinge(X if i % 2 else Z, -15, 15) for i in range(10)]
    ),
    "cone arm": Chain.from_points(
        [(0, 0, 0), (0, 0, 1), (0, 0.1, 2), (0, 0, 2.5)],
        [Cone.circular(radians(80)), Cone.circular(radians(60)), Cone.circular(radians(40))],
    ),
    "tail of cones": Chain.from_points([(0, 0.02 * (i % 2), i) for i in range(11)], [Cone.circular(radians(30))] * 10),
    "stiff tail of cones": Chain.from_points(
        [(0, 0.02 * (i % 2), i) for i in range(11)], [Cone.circular(radians(15))] * 10
    ),
    "shoulder": Chain.from_points(
        [(0, 0, 0), (1, 0.02, 0), (2, 0, 0), (2.3, 0, 0)],
        [
            Cone(0.0, radians(60), radians(110), radians(90), radians(40), Twist(radians(-60), radians(80))),
            hinge(Z, 0, 145),
            Cone(0.0, radians(70), radians(60), radians(20), radians(30), Twist(radians(-80), radians(80))),
        ],
    ),
    "finger": Chain.from_points(
        [(0, 0, 0), (0, 1, 0), (0, 1.45, 0.02), (0, 1.7, 0.02), (0, 1.9, 0)],
        [
            Cone(0.0, radians(10), radians(90), radians(15), radians(15), Twist(0.0, 0.0)),
            hinge(X, 0, 100),
            hinge(X, 0, 80),
            hinge(X, 0, 30),
        ],
    ),
    "planar": Chain.from_points([(0, i, 0) for i in range(9)], [hinge(X, -40, 60)] * 8),
}


def assert_sound(chain: Chain, solution: Solution) -> None:
    """Lengths kept, root fixed, limits held, joints and rotations telling the same."""
    for (a, b), length in zip(pairwise(solution.joints), chain.lengths, strict=True):
        assert abs((b - a).length - length) <= 2e-6 * chain.length
    assert solution.joints[0].length == 0.0
    for joint, rotation in zip(chain.joints, solution.rotations, strict=True):
        assert joint.limit.violation(rotation) <= 1e-5
    for seen, told in zip(place(chain, solution.rotations)[0], solution.joints, strict=True):
        assert (seen - told).length <= 2e-6 * chain.length
