# SPDX-License-Identifier: GPL-3.0-or-later
"""What can't be reached is met as near as it can be, and what can be reached is."""

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest
from fabrik_addon.kernel import Cone, Figure, Limit, Locked, Solver, Status
from fabrik_addon.maths import distance, length, lerp, scaled
from fabrik_addon.rig.limit_types import limit_settings

from support.chains import (
    IS_COMPILED,
    LIMITED,
    assert_sound,
    hinge,
    miss,
    points_at_random,
    random_direction,
    reach_of,
    reachable_target,
    solve,
    some,
)
from support.nearest_poses import FAMILIES, NEAREST

TRIED = len(NEAREST["leg"]) if IS_COMPILED else 3  # of the targets of a family


@pytest.mark.parametrize("name", NEAREST)
def test_the_nearest_pose_is_found(name: str) -> None:
    """Within 1 % of the least distance and 1e-4 of the length, and no nearer than that, which would break a limit.

    The status tells why it is not reached: the target is out of reach without limits, too, or limits hold it back.
    """
    chain = Figure.from_points(*FAMILIES[name])
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
    chain = Figure.from_points(*FAMILIES[name]) if name in FAMILIES else LIMITED[name]
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


@pytest.mark.parametrize("name", FAMILIES)
def test_what_the_limits_allow_is_reached(name: str) -> None:
    chain, random = Figure.from_points(*FAMILIES[name]), Random(1)
    solver, missed = Solver(chain), []
    for _ in range(some(60)):
        target = reachable_target(random, chain)
        solution = solve(solver, target)
        if solution.status is not Status.REACHED:
            missed.append((target, solution.residual))
    assert not missed


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
