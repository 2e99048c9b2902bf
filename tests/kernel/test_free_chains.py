# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains without limits: laws, known answers, and the ways in which plain FABRIK fails."""

from itertools import pairwise
from math import acos, cos, pi, sin
from random import Random

import pytest
from fabrik_addon.kernel import Chain, Goal, Settings, Status, reach, solve
from fabrik_addon.kernel.bend import bend_direction
from mathutils import Matrix, Quaternion, Vector

from chains import assert_sound, random_chain, random_vector


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 50, 200, 500])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.999, 0.9995])
def test_reachable_targets_are_reached(count: int, share: float) -> None:
    random = Random(count)
    for _ in range(20 if count < 100 else 3):
        chain = random_chain(random, count)
        inner, outer = reach.bounds(chain.lengths)
        target = random_vector(random).normalized() * (inner + (outer - inner) * share)
        solution = solve(chain, Goal(target))
        assert_sound(chain, solution)
        assert solution.status is Status.REACHED
        assert solution.residual <= 1e-5 * chain.length


def test_passes_stay_few() -> None:
    random = Random(1)
    passes = []
    for _ in range(300):
        chain = random_chain(random, random.choice((3, 4, 10, 50)))
        target = random_vector(random).normalized() * chain.length * random.uniform(0.25, 0.9995)
        passes.append(solve(chain, Goal(target)).passes)
    assert sorted(passes)[int(0.95 * len(passes))] <= 9


@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_too_far_is_straight_towards_the_target(count: int) -> None:
    random = Random(count)
    chain = random_chain(random, count)
    target = random_vector(random).normalized() * chain.length * 1.4
    solution = solve(chain, Goal(target))
    assert_sound(chain, solution)
    assert solution.status is Status.TOO_FAR
    for a, b in pairwise(solution.joints):
        assert (b - a).normalized().dot(target.normalized()) > 1 - 1e-6
    assert solution.residual == pytest.approx(0.4 * chain.length, rel=1e-4)


@pytest.mark.parametrize("lengths", [(2, 1), (1, 5, 2), (9, 1, 2, 3)])
def test_too_near_folds_to_the_inner_radius(lengths: tuple[float, ...]) -> None:
    points = [(0.1 * (i % 2), sum(lengths[:i]), 0) for i in range(len(lengths) + 1)]
    chain = Chain.from_points(points)
    inner, _ = reach.bounds(chain.lengths)
    solution = solve(chain, Goal(Vector((0.5 * inner, 0, 0))))
    assert_sound(chain, solution)
    assert solution.status is Status.TOO_NEAR
    assert (solution.joints[-1] - Vector((inner, 0, 0))).length < 1e-5 * chain.length


def test_two_bones_follow_the_law_of_cosines() -> None:
    random = Random(2)
    for _ in range(200):
        chain = random_chain(random, 2)
        first, second = chain.lengths
        distance = random.uniform(abs(first - second), first + second)
        solution = solve(chain, Goal(random_vector(random).normalized() * distance))
        at_root = acos(max(-1, min(1, (first**2 + distance**2 - second**2) / (2 * first * distance))))
        seen = solution.joints[1].angle(solution.joints[2])
        assert seen == pytest.approx(at_root, abs=2e-3)
        assert solution.passes == 1


def test_one_bone_points_at_the_target() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 2, 0)])
    solution = solve(chain, Goal(Vector((3, 0, 0))))
    assert (solution.joints[1] - Vector((2, 0, 0))).length < 1e-6


class TestKnownFailuresOfPlainFabrik:
    def test_collinear_with_the_target_on_the_line(self) -> None:
        chain = Chain.from_points([(0, 0, z) for z in (0, 40, 80, 120)])
        solution = solve(chain, Goal(Vector((0, 0, 100))))
        assert solution.status is Status.REACHED
        assert solution.passes <= 10

    @pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999, 0.9999])
    def test_edge_of_reach(self, share: float) -> None:
        chain = Chain.from_points([(100 * i, 0, 0) for i in range(10)])
        solution = solve(chain, Goal(Vector((0, share * 900, 0)), None), Settings(tolerance=1e-3 / 900))
        assert solution.residual <= 1e-3
        assert solution.passes <= 10

    def test_no_zigzag_on_a_long_chain(self) -> None:
        for bend in (0.0, 0.01, 0.05):
            points = [(0, 0, 0)]
            for i in range(60):
                points.append((points[-1][0] + cos(bend * i), points[-1][1] + sin(bend * i), 0))
            chain = Chain.from_points(points)
            for share in (0.3, 0.6, 0.9, 0.99):
                solution = solve(chain, Goal(Vector((0, share * chain.length, 0))))
                spans = [(b - a).normalized() for a, b in pairwise(solution.joints)]
                normals = [a.cross(b) for a, b in pairwise(spans)]
                main = sum(normals, Vector()).normalized()
                assert min(normal.dot(main) for normal in normals) > -1e-3

    def test_target_behind_a_straight_chain(self) -> None:
        chain = Chain.from_points([(0, i, 0) for i in range(5)])
        solution = solve(chain, Goal(Vector((0, -3, 0))))
        assert solution.status is Status.REACHED
        assert_sound(chain, solution)

    @pytest.mark.parametrize("share", [0.0, 1e-4, 1e-2])
    @pytest.mark.parametrize("curl", [0.0, 0.4])
    def test_target_on_the_root_and_near_it(self, share: float, curl: float) -> None:
        random = Random(3)
        for _ in range(60):
            chain = random_chain(random, random.randint(3, 7), curl)
            if reach.bounds(chain.lengths)[0] == 0.0:
                target = random_vector(random).normalized() * chain.length * share
                assert solve(chain, Goal(target)).status is Status.REACHED


class TestLaws:
    def test_equal_input_gives_equal_bits(self) -> None:
        random = Random(4)
        for _ in range(20):
            chain = random_chain(random, 5)
            goal = Goal(random_vector(random) * 2, random_vector(random) * 3)
            assert solve(chain, goal).rotations == solve(chain, goal).rotations

    @pytest.mark.parametrize("with_pole", [False, True])
    def test_rigid_motion_and_scale_move_the_answer_along(self, with_pole: bool) -> None:
        random = Random(5)
        for _ in range(40):
            count = random.randint(2, 8)
            chain = random_chain(random, count)
            points = [Vector(), *_points(chain)]
            target = random_vector(random).normalized() * chain.length * random.uniform(0.3, 0.95)
            pole = random_vector(random) * chain.length if with_pole else None
            turn = Quaternion(random_vector(random).normalized(), random.uniform(0, pi))
            scale = 10 ** random.uniform(-3, 3)
            moved = Chain.from_points([turn @ point * scale for point in points])
            here = solve(chain, Goal(target, pole)).joints
            there = solve(moved, Goal(turn @ target * scale, turn @ pole * scale if pole else None)).joints
            for a, b in zip(here, there, strict=True):
                assert (turn @ a * scale - b).length <= 1e-4 * moved.length

    def test_mirror_mirrors_the_answer(self) -> None:
        random = Random(6)
        mirror = Matrix.Diagonal((-1, 1, 1))
        for _ in range(40):
            chain = random_chain(random, random.randint(2, 8))
            points = [Vector(), *_points(chain)]
            target = random_vector(random).normalized() * chain.length * random.uniform(0.3, 0.95)
            mirrored = Chain.from_points([mirror @ point for point in points])
            here, there = solve(chain, Goal(target)).joints, solve(mirrored, Goal(mirror @ target)).joints
            for a, b in zip(here, there, strict=True):
                assert (mirror @ a - b).length <= 1e-4 * chain.length

    def test_target_round_a_closed_loop_leaves_no_twist(self) -> None:
        chain = Chain.from_points([(0, 0, 0), (0.1, 0, 1), (0, 0, 2), (0.1, 0, 3)])
        first = None
        for i in range(101):
            angle = 2 * pi * (i % 100) / 100
            solution = solve(chain, Goal(Vector((1.5 * cos(angle), 1.5 * sin(angle), 1.2))))
            first = first or solution.rotations
        assert solution.rotations == first


def _points(chain: Chain) -> list[Vector]:
    from fabrik_addon.kernel.orientation import place

    return place(chain, chain.start)[0][1:]


def test_bend_direction_is_the_side_of_the_inner_joints() -> None:
    joints = [Vector(p) for p in ((0, 0, 0), (0.3, 1, 0), (0, 2, 0))]
    assert (bend_direction(joints, 2.1) - Vector((1, 0, 0))).length < 1e-6
    assert bend_direction([Vector((0, i, 0)) for i in range(4)], 3.0) is None
