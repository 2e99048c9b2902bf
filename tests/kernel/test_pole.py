# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole turns the bend about root to tip."""

from itertools import pairwise
from math import cos, pi, sin
from random import Random

import pytest
from chains import LIMITED, assert_sound, leg, random_chain, random_vector
from mathutils import Quaternion, Vector

from fabrik_addon.kernel import Chain, Goal, solve
from fabrik_addon.kernel.bend import bend_direction
from fabrik_addon.kernel.rotations import perpendicular, turn_angle

STRAIGHT = Chain.from_points([(0, 0, 0), (0, 0, 1), (0, 0, 2)])


def off_pole(solution, goal: Goal, length: float) -> float:
    """Angle between the bend and the pole, both seen along root to tip."""
    along = solution.joints[-1].normalized()
    side = Quaternion(along, goal.pole_angle) @ perpendicular(goal.pole, along)
    return bend_direction(solution.joints, length).angle(side)


@pytest.mark.parametrize("count", [2, 3, 4, 10])
@pytest.mark.parametrize("straight", [False, True])
def test_bend_faces_the_pole(count: int, straight: bool) -> None:
    random = Random(count)
    for _ in range(30):
        points = [(0, 0, i) for i in range(count + 1)]
        chain = Chain.from_points(points) if straight else random_chain(random, count)
        target = random_vector(random).normalized() * chain.length * random.uniform(0.5, 0.9)
        goal = Goal(target, random_vector(random) * chain.length, random.uniform(-pi, pi))
        solution = solve(chain, goal)
        assert_sound(chain, solution)
        assert solution.residual < 1e-4 * chain.length
        if bend_direction(solution.joints, chain.length) is not None:
            assert off_pole(solution, goal, chain.length) < 1e-3


def test_inner_joints_keep_their_rotations() -> None:
    random = Random(1)
    for _ in range(20):
        chain = random_chain(random, 4)
        target = random_vector(random).normalized() * chain.length * 0.7
        without = solve(chain, Goal(target)).rotations
        turned = solve(chain, Goal(target, random_vector(random) * 5)).rotations
        assert turned[1:] == without[1:]


def test_pole_and_knee_hinge_hold_together() -> None:
    chain, random = leg(), Random(2)
    for _ in range(50):
        goal = Goal(random_vector(random).normalized() * random.uniform(0.5, 0.98), random_vector(random) * 3)
        solution = solve(chain, goal)
        assert_sound(chain, solution)
        assert solution.residual < 1e-4
        assert solution.pole_error == 0.0
        assert off_pole(solution, goal, chain.length) < 2e-3


def test_limited_root_holds_and_tells_how_far_the_pole_is_off() -> None:
    chain, random = LIMITED["spider leg"], Random(3)
    for _ in range(30):
        solution = solve(chain, Goal(random_vector(random), random_vector(random) * 3))
        assert_sound(chain, solution)
        assert 0.0 <= solution.pole_error <= pi + 1e-6


@pytest.mark.parametrize("share", [0.3, 0.9, 0.9999, 1.0, 1.2])
def test_pole_round_the_chain_turns_it_evenly(share: float) -> None:
    for chain in (STRAIGHT, Chain.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)]), leg()):
        target = Vector((chain.length * share, 0, 0))
        before = None
        for i in range(73):
            angle = 2 * pi * i / 72
            solution = solve(chain, Goal(target, Vector((0.5, 3 * cos(angle), 3 * sin(angle)))))
            if before is not None:
                assert largest_turn(chain, before, solution) < 2 * pi / 72 * 1.6
            before = solution


def test_pole_swept_across_the_axis_takes_bounded_steps() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)])
    before = None
    for i in range(401):
        offset = 4e-3 * (i - 200) / 200 * chain.length
        solution = solve(chain, Goal(Vector((0, 0, 1.6)), Vector((offset, 1e-3, 1.0))))
        if before is not None:
            assert largest_turn(chain, before, solution) < 0.2
        before = solution


def test_target_through_full_stretch_does_not_flip() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)])
    before = None
    for i in range(201):
        target = Vector((0, 0, chain.length * (0.95 + 0.1 * i / 200)))
        solution = solve(chain, Goal(target, Vector((0, 3, 1))))
        if before is not None:
            assert largest_turn(chain, before, solution) < 0.12
        before = solution


def largest_turn(chain: Chain, a, b) -> float:
    """Largest turn of a joint between two solutions."""
    return max(turn_angle(p.conjugated() @ q) for p, q in zip(a.rotations, b.rotations, strict=True))


def test_a_chain_of_one_bone_ignores_the_pole() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 1, 0)])
    goal = Goal(Vector((1, 0, 0)))
    assert solve(chain, Goal(goal.target, Vector((0, 0, 5)))).rotations == solve(chain, goal).rotations


def test_segments_do_not_change_with_the_pole() -> None:
    chain = random_chain(Random(4), 5)
    solution = solve(chain, Goal(Vector((1, 1, 1)), Vector((0, 0, 9))))
    for (a, b), length in zip(pairwise(solution.joints), chain.lengths, strict=True):
        assert (b - a).length == pytest.approx(length, rel=1e-5)
