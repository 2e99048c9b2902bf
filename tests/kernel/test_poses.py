# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solver does with poses besides solving: pull them like a rope, tell how they bend."""

from itertools import pairwise
from math import pi
from random import Random

import pytest
from fabrik_addon.kernel import Figure, Solver, Status

from support.chains import (
    LIMIT_SLACK,
    LIMITED,
    X,
    angle_between,
    apart,
    dot,
    leg,
    length,
    lerp,
    minus,
    perpendicular,
    plus,
    points_at_random,
    random_chain,
    random_direction,
    random_rotations,
    random_vector,
    rotated,
    scaled,
    solve,
    some,
    turn_about,
    turn_between,
    unit,
)

POSED = sorted({"free", *LIMITED})


def chain_named(name: str) -> Figure:
    return LIMITED[name] if name in LIMITED else random_chain(Random(1), 6)


class TestPulled:
    """A chain that is pulled by its tip like a rope."""

    @pytest.mark.parametrize("name", POSED)
    def test_the_tip_comes_to_the_place_and_limits_hold(self, name: str) -> None:
        chain, random = chain_named(name), Random(2)
        solver = Solver(chain)
        for _ in range(some(40)):
            pose, place = random_rotations(random, chain), scaled(random_vector(random), chain.size)
            pulled, shift = solver.pulled(pose, place)
            assert apart(plus(chain.placed(pulled).joints[-1], shift), place) <= 1e-9 * chain.size
            assert solver.violation(pulled) <= LIMIT_SLACK

    def test_pulled_to_where_it_is_it_stays(self) -> None:
        chain, random = chain_named("free"), Random(3)
        solver = Solver(chain)
        for _ in range(some(40)):
            pose = random_rotations(random, chain)
            pulled, shift = solver.pulled(pose, chain.placed(pose).joints[-1])
            assert max(turn_between(a, b) for a, b in zip(pose, pulled, strict=True)) < 1e-6
            assert length(shift) < 1e-9 * chain.size

    def test_each_joint_moves_less_than_the_one_that_pulls_it(self) -> None:
        chain, random = chain_named("free"), Random(4)
        solver = Solver(chain)
        for _ in range(some(40)):
            pose = random_rotations(random, chain)
            before = chain.placed(pose).joints
            pulled, shift = solver.pulled(pose, plus(before[-1], scaled(random_vector(random), 0.1)))
            after = [plus(joint, shift) for joint in chain.placed(pulled).joints]
            moved = [apart(a, b) for a, b in zip(before, after, strict=True)]
            assert all(a <= b + 1e-9 * chain.size for a, b in pairwise(moved))

    def test_pulled_far_it_is_straight_behind(self) -> None:
        chain = chain_named("free")
        place = scaled(random_direction(Random(5)), 1000.0 * chain.size)
        pulled, shift = Solver(chain).pulled(chain.starts, place)
        joints = [plus(joint, shift) for joint in chain.placed(pulled).joints]
        assert angle_between(minus(joints[-1], joints[0]), place) < 1e-2
        assert apart(joints[0], joints[-1]) == pytest.approx(chain.size, rel=1e-4)


class TestBend:
    def test_the_side_and_the_line_are_told_from_the_joint_that_is_turned(self) -> None:
        chain, random = leg(), Random(9)
        solver = Solver(chain)
        for _ in range(some(20)):
            solution = solve(solver, scaled(random_direction(random), 0.8), random_vector(random))
            bend = solver.bend(solution.rotations)
            assert solution.status is Status.REACHED
            assert bend is not None
            assert bend.joint == 0
            assert length(bend.side) == pytest.approx(1.0)
            assert length(bend.along) == pytest.approx(1.0)
            assert abs(dot(bend.side, bend.along)) < 1e-9
            assert apart(bend.along, unit(minus(solution.joints[-1], bend.origin))) < 1e-9
            assert dot(bend.side, perpendicular(solution.joints[1], bend.along)) > 0.0

    def test_a_pole_on_the_side_of_the_bend_changes_nothing(self) -> None:
        """Law: what `bend` tells is where a pole stands that leaves the pose as it is."""
        random = Random(10)
        for _ in range(some(20)):
            solver = Solver(Figure.from_points(points_at_random(random, 4, 0.3)))
            target = scaled(random_direction(random), 0.7 * solver.figure.size)
            without = solve(solver, target)
            bend = solver.bend(without.rotations)
            assert bend is not None
            pole = plus(lerp(bend.origin, without.joints[-1], 0.5), scaled(bend.side, solver.figure.size))
            turned = solve(solver, target, pole)
            assert max(apart(a, b) for a, b in zip(without.joints, turned.joints, strict=True)) < 1e-6

    def test_a_single_bone_has_none(self) -> None:
        chain = Figure.from_points([(0, 0, 0), (0, 1, 0)])
        assert Solver(chain).bend(chain.starts) is None


class TestViolation:
    def test_it_is_that_of_the_worst_joint(self) -> None:
        chain = leg()
        knee = chain.joint_limits[1]
        for angle, wanted in ((0.5, 0.0), (-0.2, 0.2), (150 * pi / 180 + 0.3, 0.3)):
            pose = [turn_about(X, 2.0), turn_about(X, angle)]
            assert Solver(chain).violation(pose) == pytest.approx(wanted, abs=1e-9)
            assert knee.violation(pose[1]) == pytest.approx(wanted, abs=1e-9)
            assert apart(rotated(knee.clamped(pose[1]), X), X) < 1e-12
