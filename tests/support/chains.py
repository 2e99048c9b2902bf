# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains for the kernel's tests, and what every solution of a chain must hold to."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import acos, atan2, radians, sqrt
from random import Random

from fabrik_addon.kernel import (
    FORM,
    FREE,
    Bend,
    Cone,
    Figure,
    Goal,
    Joint,
    Limit,
    Locked,
    Point,
    Rows,
    Settings,
    Solution,
    Solver,
)
from fabrik_addon.maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    conjugated,
    cross,
    distance,
    dot,
    length,
    minus,
    multiplied,
    perpendicular,
    plus,
    rotated,
    scaled,
    turn_about,
    turn_angle,
    unit,
)

from dev.limbs import LEG, LIMBS, X, Y, Z, cone, hinge, limb

IS_COMPILED = FORM["kind"] == "compiled"
LIMIT_SLACK = 1e-6  # radians
SLOWER = 100  # an interpreted solve takes 10 to 100 times as long as a compiled one


def some(count: int) -> int:
    """That many random cases where the kernel is compiled; interpreted a hundredth, so that the suite takes seconds.

    That the two forms answer alike is a law of its own, so what holds for one holds for the other.
    """
    return count if IS_COMPILED else max(1, count // SLOWER)


def total(*vectors: V3) -> V3:
    """The sum."""
    return (sum(a[0] for a in vectors), sum(a[1] for a in vectors), sum(a[2] for a in vectors))


def angle_between(a: V3, b: V3) -> float:
    return atan2(length(cross(a, b)), dot(a, b))


def turn_between(a: Q4, b: Q4) -> float:
    """The angle of the turn from one rotation to another."""
    return turn_angle(multiplied(conjugated(a), b))


def from_to(start: V3, end: V3) -> Q4:
    """The smallest rotation from one direction to another that is not its opposite."""
    a, b = unit(start), unit(end)
    x, y, z = cross(a, b)
    size = sqrt(2.0 + 2.0 * dot(a, b))
    return (0.5 * size, x / size, y / size, z / size)


def random_vector(random: Random) -> V3:
    """A vector of no preferred direction."""
    return (random.gauss(0.0, 1.0), random.gauss(0.0, 1.0), random.gauss(0.0, 1.0))


def random_direction(random: Random) -> V3:
    """A vector of no preferred direction, of length 1."""
    return unit(random_vector(random))


def random_turn(random: Random, most: float) -> Q4:
    """A rotation about any axis by an angle up to one."""
    return turn_about(random_direction(random), random.uniform(0.0, most))


def points_at_random(random: Random, count: int, curl: float = 0.4) -> list[V3]:
    """The joints of a chain of bones of uneven length that curls at random."""
    points, direction = [ORIGIN], random_direction(random)
    for _ in range(count):
        direction = unit(plus(direction, scaled(random_vector(random), curl)))
        points.append(plus(points[-1], scaled(direction, random.uniform(0.5, 1.5))))
    return points


def random_chain(random: Random, count: int, curl: float = 0.4) -> Figure:
    """A free chain of bones of uneven length that curls at random."""
    return Figure.from_points(points_at_random(random, count, curl))


def joints_through(points: Sequence[V3], limits: Sequence[Limit] | None = None) -> list[Joint]:
    """The joints of `Figure.from_points`, for tests that change some of them."""
    joints, parent = [], IDENTITY
    for i, (a, b) in enumerate(pairwise(points)):
        span = minus(b, a)
        rest = from_to(Y, rotated(conjugated(parent), span))
        joints.append(Joint((0.0, length(span), 0.0), rest, limit=limits[i] if limits else FREE))
        parent = multiplied(parent, rest)
    return joints


def drawn(random: Random, limit: Limit) -> Q4:
    """A rotation inside a limit; where there is none, of any size up to a right angle and a bit."""
    if limit.is_free:
        return random_turn(random, 1.8)
    return limit.drawn(random.random(), random.random(), random.random())


def random_rotations(random: Random, figure: Figure) -> list[Q4]:
    """A pose inside the limits."""
    return [drawn(random, limit) for limit in figure.joint_limits]


def reachable_target(random: Random, chain: Figure) -> V3:
    """Where the tip stands for some rotations inside the limits."""
    return chain.placed(random_rotations(random, chain)).joints[-1]


def goals_for(chain: Figure, target: V3, pole: V3 | None = None, angle: float = 0.0) -> list[Goal]:
    """The goals that the tip of a chain comes to a target, and that its bend faces a pole."""
    last = chain.count - 1
    point = Point(last, target)
    return [point] if pole is None else [point, Bend(last, pole, angle)]


def solve(
    solver: Solver, target: V3, pole: V3 | None = None, angle: float = 0.0, settings: Settings | None = None
) -> Solution:
    """Solve a chain for a target, and perhaps a pole."""
    return solver.solve(goals_for(solver.figure, target, pole, angle), settings or Settings())


def miss(solver: Solver, target: V3) -> float:
    """How far from a target the tip of a chain stays, without asking why."""
    return solver.solve(goals_for(solver.figure, target), explain=False).residual


def reach_of(lengths: Sequence[float]) -> tuple[float, float]:
    """Least and greatest distance of the tip from the root of a free chain."""
    total = sum(lengths)
    return max(0.0, 2.0 * max(lengths) - total), total


def law_of_cosines(first: float, second: float, distance: float) -> float:
    """The angle at the root between the first of two bones and the line to the tip."""
    return acos(max(-1.0, min(1.0, (first**2 + distance**2 - second**2) / (2.0 * first * distance))))


def bend_side(joints: Sequence[V3]) -> V3:
    """The side of the line from the root to the tip on which the joints between stand, in the mean."""
    along = unit(minus(joints[-1], joints[0]))
    return unit(total(*(perpendicular(minus(joint, joints[0]), along) for joint in joints[1:-1])))


def largest_turn(a: Solution, b: Solution) -> float:
    """Largest turn of a joint between two solutions."""
    return max(turn_between(p, q) for p, q in zip(a.rotations, b.rotations, strict=True))


def leg(*rest: tuple[V3, Limit], most: float = 150.0) -> Figure:
    """A free hip and a knee that bends one way by so many degrees, and more joints where wanted."""
    points = [*LEG, *(point for point, _ in rest)]
    return Figure.from_points(points, [FREE, hinge(X, 0, most), *(limit for _, limit in rest)])


def tail(limit: Callable[[int], Limit], count: int = 10) -> Figure:
    """Bones of 1 in a line along +Y, with a limit for each."""
    return Figure.from_points([(0, i, 0) for i in range(count + 1)], [limit(i) for i in range(count)])


SLIT = (0.0, radians(60), radians(60), 0.0, 0.0)  # a cone that is flat: the bone turns about one axis, and twists
LIMITED = {name: limb(name) for name in LIMBS} | {
    "tail": tail(lambda i: hinge(X if i % 2 else Z, -30, 30)),
    "stiff tail": tail(lambda i: hinge(X if i % 2 else Z, -15, 15)),
    "planar": tail(lambda _: hinge(X, -40, 60), 8),
    "cones of one angle": Figure.from_points(
        [(0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), (0, 0.1, 3)],
        [cone(a, a) for a in (40, 25, 50)],
    ),
    "slits": Figure.from_points(
        [(0, 0, 0), (0, 1, 0.1), (0.1, 1.9, 0), (0, 2.5, 0)], [Cone(*SLIT), Cone(0.0, 0.0, 0.0, 1.2, 0.8), Cone(*SLIT)]
    ),
    "locked between": Figure.from_points(
        [(0, 0, 0), (0, 1, 0), (0.3, 1.8, 0), (0, 2.6, 0), (0, 3.2, 0.1)],
        [cone(45), Locked(), hinge(Z, -70, 20), Locked()],
    ),
}


def rows_of(figure: Figure, asked: Sequence[Sequence[Goal]]) -> Rows:
    """Rows with the numbers of several lists of goals."""
    rows = Rows(figure, asked[0], len(asked))
    numbers = [number for goals in asked for goal in goals for number in goal.numbers()]
    rows.numbers[:] = array("d", numbers)
    return rows


def violation(figure: Figure, rotations: Sequence[Q4]) -> float:
    """How far the joint that is worst stands outside its limit, in radians."""
    return max(limit.violation(turn) for limit, turn in zip(figure.joint_limits, rotations, strict=True))


def blended(figure: Figure, rotations: Sequence[Q4], influence: float) -> list[Q4]:
    """Each joint a share of the way from the start pose, inside its limit, to rotations; these where that is 1."""
    ways = zip(figure.joint_limits, figure.starts, rotations, strict=True)
    if influence >= 1.0:
        return [*rotations]
    return [limit.blended(limit.clamped(start), turn, influence) for limit, start, turn in ways]


def rotations_of(rows: Rows, row: int) -> list[Q4]:
    """The answer of a row."""
    numbers = rows.rotations[row * 4 * rows.joints : (row + 1) * 4 * rows.joints]
    return [(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]) for i in range(0, len(numbers), 4)]


def assert_sound(chain: Figure, solution: Solution) -> None:
    """Lengths kept, root fixed, limits held, joints and rotations telling the same."""
    for (a, b), span in zip(pairwise(solution.joints), chain.lengths, strict=True):
        assert abs(distance(a, b) - span) <= 1e-9 * chain.size
    assert solution.joints[0] == ORIGIN
    for limit, rotation in zip(chain.joint_limits, solution.rotations, strict=True):
        assert limit.violation(rotation) <= LIMIT_SLACK
        assert abs(sum(part * part for part in rotation) - 1.0) <= 1e-9
    for seen, told in zip(chain.placed(solution.rotations).joints, solution.joints, strict=True):
        assert distance(seen, told) <= 1e-9 * chain.size
