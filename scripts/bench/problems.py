# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains, and what their tips are to come to: the same for every contender."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import radians
from random import Random
from typing import TypeAlias, cast

from fabrik_addon.kernel import FREE, Bend, Cone, Figure, Goal, Hinge, Limit, Point, Twist
from mathutils import Quaternion, Vector

V3: TypeAlias = tuple[float, float, float]
Q4: TypeAlias = tuple[float, float, float, float]
Limbs: TypeAlias = dict[str, tuple[Sequence[V3], Sequence[Limit]]]

TOLERANCE = 1e-4  # of the chain's length, for all contenders
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
FRONT: V3 = (0.1, -3.0, -0.4)  # a pole before a leg of length 1
MOST_DRAWN = 1.8  # radians by which a free joint is turned to make a target


@dataclass(frozen=True, slots=True)
class Task:
    """A chain and its goals.

    Attributes:
        chain: n joints.
        targets: Places for the tip.
        poles: For each target a pole, or empty.
    """

    chain: Figure
    targets: list[V3]
    poles: list[V3]

    def goals(self, i: int) -> list[Goal]:
        """The goals of target i."""
        last = self.chain.count - 1
        point = Point(last, self.targets[i])
        return [point, Bend(last, self.poles[i])] if self.poles else [point]

    def numbers(self, i: int) -> tuple[float, ...]:
        """The same as the row of numbers that the solver takes."""
        return (*self.targets[i], *(self.poles[i] if self.poles else ()))


def doubles(buffer: object) -> array[float]:
    """A buffer of rows, as what it is."""
    return cast("array[float]", buffer)


def integers(buffer: object) -> array[int]:
    """A buffer of rows, as what it is."""
    return cast("array[int]", buffer)


def v3(point: Sequence[float]) -> V3:
    """A point as the kernel has it."""
    x, y, z = point
    return (x, y, z)


def q4(rotation: Quaternion) -> Q4:
    """A rotation as the kernel has it."""
    w, x, y, z = rotation
    return (w, x, y, z)


def random_vector(random: Random) -> Vector:
    """A vector of no preferred direction."""
    return Vector([random.gauss(0.0, 1.0) for _ in range(3)])


def random_direction(random: Random) -> Vector:
    """A vector of no preferred direction, of length 1."""
    return random_vector(random).normalized()


def random_chain(random: Random, count: int) -> Figure:
    """A free chain of bones of uneven length that curls at random."""
    points, direction = [Vector()], random_direction(random)
    for _ in range(count):
        direction = (direction + random_vector(random) * 0.4).normalized()
        points.append(points[-1] + direction * random.uniform(0.5, 1.5))
    return Figure.from_points([v3(point) for point in points])


def free_tasks(chains: int, targets: int, bones: int, share: float, with_pole: bool = False) -> list[Task]:
    """Free chains with targets at a share of their reach.

    Args:
        chains: Number of chains.
        targets: Of each chain.
        bones: Of each chain.
        share: Of the chain's length, at which its targets lie.
        with_pole: Whether a pole tells to which side it bends.
    """
    random = Random(bones)
    tasks = []
    for _ in range(chains):
        chain = random_chain(random, bones)
        places = [v3(random_direction(random) * chain.size * share) for _ in range(targets)]
        poles = [v3(random_direction(random) * chain.size * 2.0) for _ in range(targets)] if with_pole else []
        tasks.append(Task(chain, places, poles))
    return tasks


def limb_tasks(name: str, chains: int, targets: int, with_pole: bool = False) -> list[Task]:
    """Limbs of different sizes with the limits of one of `LIMBS`, and targets that forward kinematics made."""
    random, (points, limits) = Random(3), limbs()[name]
    tasks = []
    for _ in range(chains):
        moved = [v3(Vector(point) * random.uniform(0.95, 1.05)) for point in points]
        chain = Figure.from_points(moved, limits)
        places = [reachable(random, chain) for _ in range(targets)]
        poles = [v3(Vector(FRONT) * chain.size)] * targets if with_pole else []
        tasks.append(Task(chain, places, poles))
    return tasks


def drawn(random: Random, limit: Limit) -> Q4:
    """A rotation inside a limit."""
    if limit.is_free:
        return q4(Quaternion(random_direction(random), random.uniform(0.0, MOST_DRAWN)))
    return limit.drawn(random.random(), random.random(), random.random())


def reachable(random: Random, chain: Figure) -> V3:
    """Where the tip stands for some rotations inside the limits."""
    return chain.placed([drawn(random, limit) for limit in chain.joint_limits]).joints[-1]


def hinge(axis: V3, low: float, high: float) -> Hinge:
    """A hinge by degrees."""
    return Hinge(axis, radians(low), radians(high))


def cone(angle: float, least: float = 0.0) -> Cone:
    """A round cone by degrees."""
    return Cone.circular(radians(angle), radians(least))


def ellipse(x: tuple[float, float], z: tuple[float, float], twist: tuple[float, float]) -> Cone:
    """An uneven cone by degrees: how far about -X, +X, -Z and +Z."""
    range_of_twist = Twist(radians(twist[0]), radians(twist[1]))
    return Cone(0.0, radians(x[0]), radians(x[1]), radians(z[0]), radians(z[1]), range_of_twist)


def limbs() -> Limbs:
    """Points and limits of the limited chains, by name."""
    thigh: list[V3] = [(0, 0, 0), (0, -0.04, -0.53), (0, 0.01, -1)]
    tail: list[V3] = [(0, 0.02 * (i % 2), i) for i in range(11)]
    return {
        "leg with knee": (thigh, [FREE, hinge(X, 0, 150)]),
        "leg with knee and ankle": ([*thigh, (0, -0.12, -1.07)], [FREE, hinge(X, 0, 150), hinge(X, -45, 60)]),
        "three one-sided hinges": (
            [(0, 0, 0), (0, 0.1, -1), (0, 0, -2), (0, 0.1, -3), (0, 0, -3.5)],
            [FREE, hinge(X, 0, 150), hinge(X, -150, 0), hinge(X, 0, 120)],
        ),
        "spider leg of six joints": (
            [(0, 0, 0), (0.2, 0, 0), (0.9, 0, 0.6), (1.5, 0, 0.1), (1.9, 0, -0.5), (2.1, 0, -1), (2.2, 0, -1.3)],
            [
                hinge(Y, -60, 60),
                *(hinge(X, *ends) for ends in ((-60, 60), (-100, 10), (-90, 10), (-60, 20), (-40, 40))),
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


def limb(name: str) -> Figure:
    """One of the limited chains."""
    return Figure.from_points(*limbs()[name])
