# SPDX-License-Identifier: GPL-3.0-or-later
"""What can't be reached is met as near as it can be, and what can be reached is."""

import json
from collections.abc import Callable
from itertools import pairwise
from math import radians
from pathlib import Path
from random import Random
from statistics import mean

import pytest
from fabrik_addon.kernel import FREE, Cone, Figure, Limit, Locked, Planar, Settings, Solver, Status, Twist
from fabrik_addon.maths import distance, length, lerp, scaled
from fabrik_addon.rig.limit_types import limit_settings

from dev.limbs import X, Z, hinge
from support.chains import (
    IS_COMPILED,
    LIMITED,
    assert_sound,
    largest_turn,
    leg,
    miss,
    points_at_random,
    random_direction,
    reach_of,
    reachable_target,
    solve,
    some,
    tail,
    turn_between,
)

FAMILIES: dict[str, Figure] = {name: LIMITED[name] for name in ("shoulder", "finger", "spider leg")} | {
    "hinge, ball, cone": Figure.from_points(
        [(0, 0, 0), (0, 1, 0), (0.1, 1.8, 0), (0, 2.5, 0.1)],
        [hinge(X, -30, 40), FREE, Cone.circular(radians(35))],
    ),
    "cone, hinge, hinge": Figure.from_points(
        [(0, 0, 0), (0, 0.1, 1), (0, 0, 2), (0, 0.1, 2.6)],
        [Cone.circular(radians(50)), hinge(X, 0, 120), hinge(X, -30, 60)],
    ),
    "two cones": Figure.from_points(
        [(0, 0, 0), (0.1, 1, 0), (0, 1.9, 0.1)], [Cone.circular(radians(40)), Cone.circular(radians(60))]
    ),
    "crossed hinges": Figure.from_points([(0, 0, 0), (0, 1, 0), (0, 2, 0.1)], [hinge(Z, -60, 60), hinge(X, -30, 100)]),
    "leg": leg(most=110),
    "leg with ankle": leg(((0, -0.12, -1.07), hinge(X, -45, 30)), most=120),
    "planar": Figure.from_points(
        [(0, i, 0) for i in range(5)],
        [
            Planar(X, radians(-40), radians(60)),
            Planar(X, radians(-40), radians(60), Twist(radians(-30), radians(30))),
            Planar(Z, radians(-50), radians(20)),
            Planar(X, radians(-40), radians(60)),
        ],
    ),
    "tail of hinges": tail(lambda i: hinge(X if i % 2 else Z, -30, 30), 5),
    "ring and hinge": Figure.from_points(
        [(0, 0, 0), (0, 1, 0.1), (0.1, 1.9, 0), (0, 2.5, 0)],
        [
            Cone.circular(radians(50), radians(25)),
            hinge(Z, -20, 90),
            Cone.circular(radians(30), radians(10), Twist(-0.4, 0.9)),
        ],
    ),
    "twisting hip and knee": Figure.from_points(
        [(0, 0, 0), (0, 0.05, -0.5), (0, 0, -1), (0, -0.2, -1.05)],
        [
            Cone(0.0, radians(60), radians(60), radians(30), radians(45), Twist(-0.5, 0.5)),
            hinge(X, 0, 130),
            Cone.circular(radians(25), twist=Twist(0.0, 0.0)),
        ],
    ),
    "locked between": Figure.from_points(
        [(0, 0, 0), (0, 1, 0), (0.3, 1.8, 0), (0, 2.6, 0), (0, 3.2, 0.1)],
        [Cone.circular(radians(45)), Locked(), hinge(Z, -70, 20), Cone.circular(radians(30))],
    ),
    "slit and hinge": Figure.from_points(
        [(0, 0, 0), (0, 1, 0.1), (0.1, 1.9, 0), (0, 2.5, 0)],
        [
            Cone(0.0, radians(60), radians(60), 0.0, 0.0),
            hinge(Z, -20, 90),
            Cone(0.0, 0.0, 0.0, radians(50), radians(30)),
        ],
    ),
}
# For each family targets beyond its limits: x, y, z, and how near to it the tip can come. These distances were found by
# scipy's bounded least squares and L-BFGS-B over the parameters of the limits (the angle of a hinge; angle, side and
# twist of a cone), from 120 random starts for each target; two runs agreed within 1e-5.
NEAREST: dict[str, list[list[float]]] = json.loads(Path(__file__).with_name("nearest_poses.json").read_text())
TRIED = len(NEAREST["leg"]) if IS_COMPILED else 3  # of the targets of a family


@pytest.mark.parametrize("name", NEAREST)
def test_the_nearest_pose_is_found(name: str) -> None:
    """Within 1 % of the least distance and 1e-4 of the length, and no nearer than that, which would break a limit.

    The status tells why it is not reached: the target is out of reach without limits, too, or limits hold it back.
    """
    chain = FAMILIES[name]
    inner, outer = reach_of(chain.lengths)
    solver, off = Solver(chain), []
    for x, y, z, nearest in NEAREST[name][:TRIED]:
        solution, away = solve(solver, (x, y, z)), length((x, y, z))
        assert_sound(chain, solution)
        status = Status.TOO_FAR if away > outer else Status.TOO_NEAR if away < inner else Status.BLOCKED
        assert solution.status is status
        assert bool(solution.blocking) == (status is Status.BLOCKED)
        assert solution.residual >= nearest - 2e-5 * chain.size
        if solution.residual > 1.01 * nearest + 1e-4 * chain.size:
            off.append((x, y, z, nearest, solution.residual))
    assert not off


# Tails of ten joints have more hollows than restarts can look into.
LIMBS = {name: chain for name, chain in LIMITED.items() if "tail" not in name}


@pytest.mark.parametrize("name", sorted({*FAMILIES, *LIMBS}))
def test_the_distance_changes_no_faster_than_the_target_moves(name: str) -> None:
    """Law: so it is with the distance from any set of places, and a bad answer sticks out of a line of targets."""
    chain = (LIMITED | FAMILIES)[name]
    solver, random, steps = Solver(chain), Random(3), 24 if IS_COMPILED else 8
    slack, bad = 2e-4 * chain.size, []
    for _ in range(some(12)):
        a, b = (scaled(random_direction(random), chain.size * random.uniform(0.0, 1.2)) for _ in range(2))
        off = [miss(solver, lerp(a, b, i / steps)) for i in range(steps + 1)]
        step = distance(a, b) / steps
        bad += [
            (a, b, i, p, q) for i, (p, q) in enumerate(pairwise(off)) if abs(p - q) > step + slack + 0.01 * min(p, q)
        ]
    assert not bad


@pytest.mark.parametrize(
    "chain", [*LIMITED.values(), *FAMILIES.values()], ids=[*LIMITED, *(f"{name}, of a family" for name in FAMILIES)]
)
def test_targets_made_by_forward_kinematics_are_reached(chain: Figure) -> None:
    random, solver, missed = Random(7), Solver(chain), []
    for _ in range(some(200)):
        target = reachable_target(random, chain)
        solution = solve(solver, target)
        assert_sound(chain, solution)
        if solution.status is not Status.REACHED:
            missed.append((target, solution.residual / chain.size))
    assert not missed


def test_what_only_another_start_reaches_is_turned_for_no_more_than_that() -> None:
    """The bones behind turn a little about themselves there, and back again: they jumped by 128° an earlier version."""
    chain, steps = LIMITED["cone arm"], 60
    solver, solved, found = Solver(chain), [], []
    for i in range(steps + 1):
        target = lerp((0.121, -2.392, 0.364), (-0.763, -0.504, 1.893), i / steps)
        solved.append(solve(solver, target))
        found.append(solve(solver, target, settings=Settings(restarts=0)).status is Status.REACHED)
    assert all(solution.status is Status.REACHED for solution in solved)
    assert 10 < found.count(False) < 40
    assert max(largest_turn(*pair) for pair in pairwise(solved)) < radians(40)


def test_robots_arms_turn_less_from_where_they_start() -> None:
    """Of the targets that only other starts reach: 381° of all joints together in an earlier version, 188° now."""
    chain, turns = LIMITED["arm"], list[float]()
    solver, random = Solver(chain), Random(7)
    while len(turns) < some(100):
        target = reachable_target(random, chain)
        if solve(solver, target, settings=Settings(restarts=0)).status is not Status.REACHED:
            rotations = solve(solver, target).rotations
            turns.append(sum(turn_between(p, q) for p, q in zip(rotations, chain.starts, strict=True)))
    assert mean(turns) < radians(240)


def one_angle(random: Random) -> Limit:
    """A cone whose bone stands at one angle to its rest direction."""
    angle = random.uniform(0.1, 1.5)
    return Cone.circular(angle, angle)


def slit(random: Random) -> Limit:
    """A cone that is flat."""
    low, high = random.uniform(0.2, 1.5), random.uniform(0.2, 1.5)
    return Cone(0.0, low, high, 0.0, 0.0) if random.random() < 0.5 else Cone(0.0, 0.0, 0.0, low, high)


def some_hinge(random: Random) -> Limit:
    low = random.uniform(-90.0, 30.0)
    return hinge(random_direction(random), low, low + random.uniform(20.0, 120.0))


def locked(random: Random) -> Limit:
    return Locked()


@pytest.mark.parametrize(
    "kinds",
    [
        (one_angle, one_angle),
        (one_angle, one_angle, one_angle),
        (slit, slit, slit),
        (slit, some_hinge, slit),
        (one_angle, locked, some_hinge),
        (some_hinge, locked, some_hinge, locked, some_hinge),
        (locked, slit, locked, one_angle),
        (one_angle, slit, some_hinge),
    ],
    ids=lambda kinds: " ".join(kind.__name__ for kind in kinds),
)
def test_narrow_limits_do_not_hold_back_what_they_allow(kinds: tuple[Callable[[Random], Limit], ...]) -> None:
    """Cones of one angle, slits, and locked bones between: called BLOCKED by an earlier version."""
    random, missed = Random(2), []
    for _ in range(some(30)):
        points = points_at_random(random, len(kinds))
        limits = [kind(random) for kind in kinds]
        chain = Figure.from_points(points, limits)
        target = reachable_target(random, chain)
        solution = solve(Solver(chain), target)
        assert_sound(chain, solution)
        if solution.status is not Status.REACHED:
            missed.append((points, [limit_settings(limit) for limit in limits], target, solution.residual / chain.size))
    assert not missed
