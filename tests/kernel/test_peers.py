# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of other solvers' tests: ozz-animation, Caliko."""

from math import pi, sqrt
from random import Random
from statistics import median

import pytest
from fabrik_addon.kernel import Figure, Settings, Solver, Status
from fabrik_addon.maths import V3, distance, length, plus, rotated, scaled, turn_about

from support.chains import Y, random_direction, solve

ELBOW = Solver(Figure.from_points([(0, 0, 0), (0, 1, 0), (1, 1, 0)]))


class TestOzz:
    """The start bone of a limb with joints (0,0,0), (0,1,0), (1,1,0)."""

    @pytest.mark.parametrize(
        ("pole", "target", "axis", "angle"),
        [
            ((0, 0, 1), (1, 0, 1), (1, 0, 0), pi / 2),
            ((1, 0, 0), (1, -1, 0), (0, 0, 1), -pi / 2),
        ],
    )
    def test_start_bone(self, pole: V3, target: V3, axis: V3, angle: float) -> None:
        solution = solve(ELBOW, target, pole)
        assert distance(solution.joints[1], rotated(turn_about(axis, angle), Y)) < 1e-6

    @pytest.mark.parametrize("target", [(0, sqrt(2), 0), (0.001, sqrt(2), 0)])
    def test_pole_along_the_chain(self, target: V3) -> None:
        assert solve(ELBOW, target, (0, 1, 0)).status is Status.REACHED


@pytest.mark.parametrize("count", [100, 400])
def test_caliko_long_chains(count: int) -> None:
    solver = Solver(Figure.from_points([(10 * i, 0, 0) for i in range(count + 1)]))
    random = Random(count)
    for _ in range(5):
        target = scaled(random_direction(random), solver.figure.size * random.uniform(0.05, 0.5))
        assert solve(solver, target).status is Status.REACHED


class TestPlainFabrik:
    """Aristidou & Lasenby 2011: the passes alone."""

    def test_edge_of_reach_takes_the_many_passes_that_it_is_known_for(self) -> None:
        solver = Solver(Figure.from_points([(100 * i, 0.5 * (i % 2), 0) for i in range(10)]))
        target = (0, 0.99 * solver.figure.size, 0)
        plain = solve(solver, target, settings=Settings(1e-3 / 900, 5000, plain=True))
        assert plain.status is Status.REACHED
        assert plain.passes > 20 * solve(solver, target, settings=Settings(1e-3 / 900)).passes

    def test_table_1_in_kind(self) -> None:
        """10 joints, chain 900, gap 600, tolerance 1e-3: the paper has 15.461 iterations in the mean of 20 runs.

        Its targets are unpublished, and for random ones the mean says little: plain FABRIK's median is near 12.
        """
        solver, random = Solver(Figure.from_points([(100 * i, 0, 0) for i in range(10)])), Random(5)
        plain, ours = list[int](), list[int]()
        while len(plain) < 20:
            target = plus((900, 0, 0), scaled(random_direction(random), 600))
            if length(target) < 900:
                plain.append(solve(solver, target, settings=Settings(1e-3 / 900, 5000, plain=True)).passes)
                ours.append(solve(solver, target, settings=Settings(1e-3 / 900)).passes)
        assert 6 <= median(plain) <= 24
        assert max(ours) <= 9

    def test_the_greatest_number_of_passes_holds(self) -> None:
        solver = Solver(Figure.from_points([(100 * i, 0.5 * (i % 2), 0) for i in range(10)]))
        for most in (1, 2, 7):
            solution = solve(solver, (0, 0.99 * solver.figure.size, 0), settings=Settings(max_passes=most, plain=True))
            assert solution.passes <= most
