# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains without limits: laws, known answers, and the ways in which plain FABRIK fails."""

from collections.abc import Callable
from itertools import pairwise
from math import cos, pi, sin
from random import Random

import pytest
from fabrik_addon.kernel import Figure, Settings, Solver, Status
from fabrik_addon.maths import ORIGIN, V3, cross, distance, dot, minus, plus, rotated, scaled, unit

from support.chains import (
    X,
    angle_between,
    assert_sound,
    joints_through,
    largest_turn,
    law_of_cosines,
    points_at_random,
    random_chain,
    random_direction,
    random_turn,
    random_vector,
    reach_of,
    solve,
    some,
    total,
)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 50, 200, 500])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.999, 0.9995])
def test_reachable_targets_are_reached(count: int, share: float) -> None:
    random = Random(count)
    for _ in range(some(20) if count < 100 else 1):
        chain = random_chain(random, count)
        inner, outer = reach_of(chain.lengths)
        target = scaled(random_direction(random), inner + (outer - inner) * share)
        solution = solve(Solver(chain), target)
        assert_sound(chain, solution)
        assert solution.status is Status.REACHED
        assert solution.residual <= 1e-5 * chain.size


def test_passes_stay_few() -> None:
    random = Random(1)
    passes = []
    for _ in range(some(300)):
        chain = random_chain(random, random.choice((3, 4, 10, 50)))
        target = scaled(random_direction(random), chain.size * random.uniform(0.25, 0.9995))
        passes.append(solve(Solver(chain), target).passes)
    assert sorted(passes)[int(0.95 * len(passes))] <= 9


@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_too_far_is_straight_towards_the_target(count: int) -> None:
    random = Random(count)
    chain = random_chain(random, count)
    target = scaled(random_direction(random), chain.size * 1.4)
    solution = solve(Solver(chain), target)
    assert_sound(chain, solution)
    assert solution.status is Status.TOO_FAR
    for a, b in pairwise(solution.joints):
        assert dot(unit(minus(b, a)), unit(target)) > 1 - 1e-9
    assert solution.residual == pytest.approx(0.4 * chain.size, rel=1e-6)
    assert (solution.statuses, solution.residuals) == ((solution.status,), (solution.residual,))


@pytest.mark.parametrize("lengths", [(2, 1), (1, 5, 2), (9, 1, 2, 3)])
def test_too_near_folds_to_the_inner_radius(lengths: tuple[float, ...]) -> None:
    points = [(0.1 * (i % 2), sum(lengths[:i]), 0) for i in range(len(lengths) + 1)]
    chain = Figure.from_points(points)
    inner, _ = reach_of(chain.lengths)
    solution = solve(Solver(chain), (0.5 * inner, 0, 0))
    assert_sound(chain, solution)
    assert solution.status is Status.TOO_NEAR
    assert distance(solution.joints[-1], (inner, 0, 0)) < 1e-6 * chain.size


def test_two_bones_follow_the_law_of_cosines() -> None:
    random = Random(2)
    for _ in range(some(200)):
        chain = random_chain(random, 2)
        first, second = chain.lengths
        distance = random.uniform(abs(first - second), first + second)
        solution = solve(Solver(chain), scaled(random_direction(random), distance))
        wanted = law_of_cosines(first, second, distance)
        assert angle_between(solution.joints[1], solution.joints[2]) == pytest.approx(wanted, abs=1e-5)
        assert solution.passes == 1


class TestKnownFailuresOfPlainFabrik:
    def test_collinear_with_the_target_on_the_line(self) -> None:
        chain = Figure.from_points([(0, 0, z) for z in (0, 40, 80, 120)])
        solution = solve(Solver(chain), (0, 0, 100))
        assert solution.status is Status.REACHED
        assert solution.passes <= 10

    @pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999, 0.9999])
    def test_edge_of_reach(self, share: float) -> None:
        solver = Solver(Figure.from_points([(100 * i, 0, 0) for i in range(10)]))
        solution = solve(solver, (0, share * 900, 0), settings=Settings(tolerance=1e-3 / 900))
        assert solution.residual <= 1e-3
        assert solution.passes <= 10

    def test_no_zigzag_on_a_long_chain(self) -> None:
        for bend in (0.0, 0.01, 0.05):
            points = [ORIGIN]
            for i in range(60):
                points.append(plus(points[-1], (cos(bend * i), sin(bend * i), 0)))
            solver = Solver(Figure.from_points(points))
            for share in (0.3, 0.6, 0.9, 0.99):
                solution = solve(solver, (0, share * solver.figure.size, 0))
                spans = [unit(minus(b, a)) for a, b in pairwise(solution.joints)]
                normals = [cross(a, b) for a, b in pairwise(spans)]
                main = unit(total(*normals))
                assert min(dot(normal, main) for normal in normals) > -1e-3

    def test_target_behind_a_straight_chain(self) -> None:
        chain = Figure.from_points([(0, i, 0) for i in range(5)])
        solution = solve(Solver(chain), (0, -3, 0))
        assert solution.status is Status.REACHED
        assert_sound(chain, solution)

    @pytest.mark.parametrize("share", [0.0, 1e-4, 1e-2])
    @pytest.mark.parametrize("curl", [0.0, 0.4])
    def test_target_on_the_root_and_near_it(self, share: float, curl: float) -> None:
        random = Random(3)
        for _ in range(some(60)):
            chain = random_chain(random, random.randint(3, 7), curl)
            if reach_of(chain.lengths)[0] == 0.0:
                target = scaled(random_direction(random), chain.size * share)
                assert solve(Solver(chain), target).status is Status.REACHED


def moved_alike(random: Random, points: list[V3], move: Callable[[V3], V3], with_pole: bool, scale: float) -> float:
    """How far the answer for moved points and goals is from the moved answer, as a share of the length."""
    here, there = Figure.from_points(points), Figure.from_points([move(point) for point in points])
    target = scaled(random_direction(random), here.size * random.uniform(0.3, 0.95))
    pole = scaled(random_vector(random), here.size) if with_pole else None
    answer = solve(Solver(here), target, pole)
    other = solve(Solver(there), move(target), move(pole) if pole else None)
    pairs = zip(answer.joints, other.joints, strict=True)
    return max(distance(move(a), b) for a, b in pairs) / (here.size * scale)


class TestLaws:
    @pytest.mark.parametrize("with_pole", [False, True])
    def test_rigid_motion_and_scale_move_the_answer_along(self, with_pole: bool) -> None:
        random = Random(5)
        for _ in range(some(40)):
            points = points_at_random(random, random.randint(2, 8))
            turn, scale = random_turn(random, pi), 10 ** random.uniform(-3, 3)

            def move(point: V3, turn: tuple[float, float, float, float] = turn, scale: float = scale) -> V3:
                return scaled(rotated(turn, point), scale)

            assert moved_alike(random, points, move, with_pole, scale) <= 1e-5

    def test_mirror_mirrors_the_answer(self) -> None:
        random = Random(6)
        for _ in range(some(40)):
            points = points_at_random(random, random.randint(2, 8))
            assert moved_alike(random, points, lambda point: (-point[0], point[1], point[2]), False, 1.0) <= 1e-5

    def test_target_round_a_closed_loop_leaves_no_twist(self) -> None:
        solver = Solver(Figure.from_points([(0, 0, 0), (0.1, 0, 1), (0, 0, 2), (0.1, 0, 3)]))
        first = solution = solve(solver, (1.5, 0.0, 1.2))
        for i in range(1, 101):
            angle = 2 * pi * (i % 100) / 100
            solution = solve(solver, (1.5 * cos(angle), 1.5 * sin(angle), 1.2))
        assert solution.rotations == first.rotations

    def test_a_target_that_moves_smoothly_gives_a_pose_that_does(self) -> None:
        random = Random(16)
        for _ in range(some(10)):
            chain = random_chain(random, random.choice((2, 3, 6, 20)), 0.2)
            solver = Solver(chain)
            towards = chain.placed(chain.starts).joints[-1]
            a, b = (
                plus(scaled(towards, random.uniform(0.6, 0.95)), scaled(random_vector(random), 0.1 * chain.size))
                for _ in range(2)
            )
            seen = [solve(solver, plus(a, scaled(minus(b, a), i / 100))) for i in range(101)]
            assert max(largest_turn(p, q) for p, q in pairwise(seen)) < 0.2


class TestFigure:
    def test_a_chain_through_points_stands_on_them(self) -> None:
        random = Random(17)
        points = points_at_random(random, 7)
        chain = Figure.from_points(points)
        for a, b in zip(chain.placed(chain.starts).joints, points, strict=True):
            assert distance(a, b) < 1e-12
        other = Figure(joints_through(points))
        assert (chain.is_chain, chain.count) == (True, 7)
        assert chain.size == pytest.approx(sum(chain.lengths))
        for a, b in zip(other.placed(other.starts).joints, points, strict=True):
            assert distance(a, b) < 1e-12

    def test_bones_in_a_line_have_the_same_roll(self) -> None:
        chain = Figure.from_points([(0, i, 0) for i in range(4)])
        assert chain.placed(chain.starts).frames == [(1.0, 0.0, 0.0, 0.0)] * 3


def test_the_side_of_a_bend_is_that_of_the_inner_joints() -> None:
    solver = Solver(Figure.from_points([(0, 0, 0), (0.3, 1, 0), (0, 2, 0)]))
    bend = solver.bend(solver.figure.starts)
    assert bend is not None
    assert distance(bend.side, X) < 1e-9
    assert distance(bend.along, (0, 1, 0)) < 1e-9
    assert bend.joint == 0


def test_reach_is_told() -> None:
    for lengths in ((1.0,), (2.0, 1.0), (1.0, 5.0, 2.0), (1.0, 1.0, 1.0)):
        chain = Figure.from_points([(0, sum(lengths[:i]), 0) for i in range(len(lengths) + 1)])
        assert Solver(chain).reach == pytest.approx(reach_of(lengths))
