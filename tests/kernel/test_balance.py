# SPDX-License-Identifier: GPL-3.0-or-later
"""The centre of mass comes above its support, and gives way to what is asked."""

from collections.abc import Sequence
from math import cos, sin

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.kernel import Balance, Figure, Goal, Point, Solution, Solver, Status
from fabrik_addon.maths import ORIGIN, V3, distance, plus, rotated, scaled

from support.bodies import INDEX, WALKING_HUMAN, branching, pinned_feet
from support.chains import IS_COMPILED, Y, Z, rotations_of, rows_of, total

HAND = INDEX["hand.L"]
MASSES = [
    length * (0.1 if "finger" in name else 1.0) for length, name in zip(WALKING_HUMAN.lengths, INDEX, strict=True)
]
HERE = WALKING_HUMAN.placed(WALKING_HUMAN.starts)
SUPPORT: list[V3] = [(x, y, -0.96) for x in (-0.15, 0.15) for y in (-0.18, 0.05)]


def centre(figure: Figure, solution: Solution, masses: Sequence[float]) -> V3:
    """The centre of mass of a pose, the middle of each segment weighed."""
    placed = figure.placed(solution.rotations, solution.shift)
    weighed = [
        scaled(plus(head, end), 0.5 * mass) for head, end, mass in zip(placed.heads, placed.ends, masses, strict=True)
    ]
    return scaled(total(*weighed), 1.0 / sum(masses))


class TestBalance:
    def test_a_body_that_reaches_out_leans_back(self) -> None:
        target = plus(HERE.ends[HAND], (-0.3, -0.9, -0.2))
        goals: list[Goal] = [*pinned_feet(WALKING_HUMAN), Point(HAND, target)]
        alone = Solver(WALKING_HUMAN).solve(goals)
        balanced = Solver(WALKING_HUMAN).solve([*goals, Balance(MASSES, SUPPORT)])
        assert centre(WALKING_HUMAN, alone, MASSES)[1] < -0.181
        x, y, _ = centre(WALKING_HUMAN, balanced, MASSES)
        assert -0.1801 <= y <= 0.05
        assert abs(x) <= 0.1501
        assert balanced.status is Status.REACHED
        assert max(balanced.residuals[:4]) <= 1e-5
        assert balanced.residuals[5] <= 1e-4

    def test_what_is_asked_comes_first(self) -> None:
        """A hand so far ahead that no pose can reach it and stand."""
        goals: list[Goal] = [*pinned_feet(WALKING_HUMAN), Point(HAND, (0.1, -1.2, -0.2))]
        alone = Solver(WALKING_HUMAN).solve(goals)
        balanced = Solver(WALKING_HUMAN).solve([*goals, Balance(MASSES, SUPPORT)])
        assert balanced.residuals[4] <= alone.residuals[4] + 1e-5
        assert balanced.status is alone.status

    def test_a_body_that_stands_stays(self) -> None:
        solution = Solver(WALKING_HUMAN).solve([*pinned_feet(WALKING_HUMAN), Balance(MASSES, SUPPORT)])
        assert solution.residuals[-1] == 0.0
        assert solution.shift == pytest.approx(ORIGIN, abs=1e-9)

    @pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 2, 0, 1, 3), (3, 1, 4, 2, 0)])
    def test_the_order_of_the_points_and_more_points_do_not_matter(self, order: tuple[int, ...]) -> None:
        figure = branching()
        points: list[V3] = [(0.3, 0.0, 0.1), (0.5, 0.0, 0.1), (0.5, 0.0, 0.3), (0.3, 0.0, 0.3), (0.4, 0.0, 0.2)]
        masses = [1.0] * figure.count
        solution = Solver(figure).solve([Balance(masses, [points[i] for i in order], Y)])
        x, _, z = centre(figure, solution, masses)
        assert distance((x, 0.0, z), points[0]) <= 1e-4
        assert solution.status is Status.REACHED

    def test_a_line_and_a_single_point_are_supports(self) -> None:
        figure = branching()
        masses = [1.0] * figure.count
        for support in ([(0.2, 0.0, 0.3)], [(0.2, 0.0, 0.3), (0.2, 0.0, 0.9)], [(0.2, 0.0, 0.3)] * 3):
            solution = Solver(figure).solve([Balance(masses, support, Y)])
            x, _, z = centre(figure, solution, masses)
            assert distance((x, 0.0, z), (0.2, 0.0, 0.3)) <= 1e-4

    def test_masses_are_weighed_where_they_are(self) -> None:
        figure = branching()
        masses = [1.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 2.0]
        places: list[V3] = [(0.1 * cos(i), 0.2, 0.1 * sin(i)) for i in range(8)]
        solution = Solver(figure).solve([Balance(masses, [(0.1, 0.0, 0.2)], Y, places)])
        spots = figure.placed(solution.rotations)
        weighed = [scaled(plus(spots.heads[i], rotated(spots.frames[i], places[i])), masses[i]) for i in range(8)]
        x, _, z = scaled(total(*weighed), 1.0 / sum(masses))
        assert distance((x, 0.0, z), (0.1, 0.0, 0.2)) <= 1e-4

    def test_the_support_moves_with_the_rows(self) -> None:
        figure = branching()
        masses = [1.0] * figure.count
        asked = [[Balance(masses, [(x, 0.0, 0.1), (x + 0.1, 0.0, 0.1), (x, 0.0, 0.2)], Y)] for x in (0.1, 0.2, 0.3)]
        rows = rows_of(figure, asked)
        Solver(figure).solve_many(rows)
        for k, goals in enumerate(asked):
            assert rotations_of(rows, k) == Solver(figure).solve(goals).rotations

    def test_joints_that_carry_next_to_nothing_stay(self) -> None:
        solution = Solver(WALKING_HUMAN).solve([*pinned_feet(WALKING_HUMAN), Balance(MASSES, [(0.1, -0.1, 0.0)], Z)])
        for name, i in INDEX.items():
            if "finger" in name:
                assert solution.rotations[i] == (1.0, 0.0, 0.0, 0.0)
        assert IS_COMPILED or solution.status is Status.REACHED

    def test_bad_input_is_refused(self) -> None:
        for masses, support, up in (
            ([], [ORIGIN], Z),
            ([0.0], [ORIGIN], Z),
            ([-1.0, 2.0], [ORIGIN], Z),
            ([float("nan")], [ORIGIN], Z),
            ([1.0], [], Z),
            ([1.0], [ORIGIN], ORIGIN),
        ):
            with pytest.raises(InvalidValueError):
                Balance(masses, support, up)
        with pytest.raises(InvalidValueError, match="masses"):
            Solver(branching()).solve([Balance([1.0] * 3, [ORIGIN])])
