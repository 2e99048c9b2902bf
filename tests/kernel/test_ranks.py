# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of several ranks: what comes first is held, whatever the others ask; bodies whose hips move, and balance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations
from math import cos, pi, sin
from random import Random

import pytest
from fabrik_addon.kernel import (
    ASKED,
    HINT,
    PIN,
    Aim,
    Balance,
    Bend,
    Figure,
    Goal,
    Joint,
    Point,
    Settings,
    Solution,
    Solver,
    Status,
)
from fabrik_addon.maths import ORIGIN, V3, distance, dot, length, lerp, minus, plus, rotated, scaled

from dev.limbs import X, Y, Z
from support.bodies import (
    BONE,
    ENDS,
    HUMAN,
    HUMAN_BONES,
    INDEX,
    WALKING_HUMAN,
    branching,
    figure_of,
    pinned_feet,
    points_for,
)
from support.chains import IS_COMPILED, LIMIT_SLACK, largest_turn, random_direction, total, turn_between

HELD = 1e-6  # share of the size by which a pin may be left
HAND = INDEX["hand.L"]
MANY = 6 if IS_COMPILED else 1
HOW = Settings() if IS_COMPILED else Settings(max_passes=16, restarts=0)  # of goals that can't be met


def assert_held(figure: Figure, goals: list[Goal], solution: Solution) -> None:
    """All pins are where they were, and no limit is exceeded."""
    for goal, missed in zip(goals, solution.residuals, strict=True):
        assert goal.rank != PIN or missed <= HELD * figure.size
    for limit, rotation in zip(figure.joint_limits, solution.rotations, strict=True):
        assert limit.violation(rotation) <= LIMIT_SLACK


class TestPins:
    @pytest.mark.parametrize("away", [0.1, 0.5, 2.0, 20.0])
    def test_a_pin_holds_however_far_the_drag_goes(self, away: float) -> None:
        random = Random(3)
        here = HUMAN.placed(HUMAN.starts)
        for _ in range(MANY):
            target = plus(here.ends[HAND], scaled(random_direction(random), away))
            goals = [*pinned_feet(HUMAN), Point(HAND, target)]
            solution = Solver(HUMAN).solve(goals, HOW)
            assert_held(HUMAN, goals, solution)
            assert solution.statuses[:4] == (Status.REACHED,) * 4

    def test_what_no_lengths_let_be_met_is_not_looked_for_elsewhere(self) -> None:
        """Hand and feet farther from each other than the body is long: other starts are no use."""
        for figure in (HUMAN, WALKING_HUMAN):
            goals = [*pinned_feet(figure), Point(HAND, (0.5, -3.0, 1.0))]
            alone = Solver(figure).solve(goals, HOW._replace(restarts=0))
            solution = Solver(figure).solve(goals, HOW)
            assert solution.passes == alone.passes
            assert solution.rotations == alone.rotations
            assert_held(figure, goals, solution)

    def test_pins_that_can_not_all_be_held_are_met_as_well_as_can_be(self) -> None:
        """Two pins on one place ask for its middle, and a drag takes nothing from that."""
        figure = branching()
        here = figure.placed(figure.starts).ends[4]
        pins: list[Goal] = [Point(4, plus(here, scaled(X, side)), rank=PIN) for side in (-0.02, 0.02)]
        for drag in ([], [Point(7, (3.0, 0.0, 0.0))], [Point(4, (0.0, 0.0, 3.0))]):
            solution = Solver(figure).solve([*pins, *drag], HOW)
            assert distance(figure.placed(solution.rotations).ends[4], here) <= 1e-5

    def test_a_rank_is_not_weighed_against_another(self) -> None:
        """A light pin holds as a heavy one does."""
        figure = branching()
        here = figure.placed(figure.starts).ends
        for weight in (1e-2, 1.0, 1e2):
            goals: list[Goal] = [Point(4, here[4], weight, rank=PIN), Point(7, (2.0, 2.0, 2.0), 10.0)]
            solution = Solver(figure).solve(goals, HOW)
            assert solution.residuals[0] <= HELD * figure.size


class TestHints:
    def test_a_hint_takes_nothing_from_what_is_asked(self) -> None:
        """The knee turns to its pole, and the foot reaches as far as without one."""
        here = HUMAN.placed(HUMAN.starts)
        shin, thigh = INDEX["shin.L"], INDEX["thigh.L"]
        foot = plus(here.ends[shin], (0.05, -0.15, 0.2))
        asked: list[Goal] = [Point(shin, foot)]
        alone = Solver(HUMAN).solve(asked)
        seen = []
        for side in (-0.6, 0.6):
            pole = Bend(shin, plus(here.heads[thigh], (side, -1.0, -0.4)), root=thigh)
            solution = Solver(HUMAN).solve([*asked, pole])
            assert solution.status is Status.REACHED
            assert solution.residuals[0] <= max(alone.residual, HELD * HUMAN.size)
            seen.append(solution.joints[shin][0])
        assert seen[0] < seen[1] - 0.05

    def test_a_hint_that_can_not_be_met_is_told_and_does_not_count(self) -> None:
        here = HUMAN.placed(HUMAN.starts)
        goals = [Point(HAND, here.ends[HAND]), Aim(HAND, Y, plus(here.heads[HAND], scaled(X, -2.0)), rank=HINT)]
        solution = Solver(HUMAN).solve(goals, HOW)
        assert solution.status is Status.REACHED
        assert solution.statuses == (Status.REACHED, Status.BLOCKED)
        assert solution.residual <= 1e-4 * HUMAN.size

    def test_hints_alone_are_what_is_asked(self) -> None:
        here = HUMAN.placed(HUMAN.starts)
        target = plus(here.ends[HAND], (0.0, -0.2, 0.0))
        a, b = (Solver(HUMAN).solve([Point(HAND, target, rank=rank)]) for rank in (ASKED, HINT))
        assert a.rotations == b.rotations
        assert a.status is b.status is Status.REACHED


class TestOneAnswer:
    def test_the_order_of_goals_does_not_matter(self) -> None:
        figure = branching()
        here = figure.placed(figure.starts)
        goals: list[Goal] = [
            Point(4, here.ends[4], rank=PIN),
            Point(7, plus(here.ends[7], (0.1, 0.2, 0.1))),
            Aim(1, Y, (0.3, 1.0, 0.2), rank=HINT),
        ]
        first = Solver(figure).solve(goals, HOW)
        for order in permutations(goals):
            assert largest_turn(first, Solver(figure).solve(order, HOW)) <= 1e-9


class TestMoving:
    """A body whose hips can be moved."""

    @pytest.mark.parametrize("way", [(0.0, 0.0, -0.1), (0.05, 0.0, -0.05), (0.0, -0.08, -0.04)])
    def test_hips_are_dragged_while_the_feet_stay(self, way: V3) -> None:
        goals = [*pinned_feet(WALKING_HUMAN), Point(0, way, offset=ORIGIN)]
        solution = Solver(WALKING_HUMAN).solve(goals)
        assert solution.status is Status.REACHED
        assert_held(WALKING_HUMAN, goals, solution)
        assert distance(solution.shift, way) <= 1e-4 * WALKING_HUMAN.size
        assert solution.joints[0] == solution.shift

    def test_nothing_is_out_of_reach_of_a_body_that_walks(self) -> None:
        goals: list[Goal] = [Point(HAND, (5.0, 2.0, 1.0))]
        solution = Solver(WALKING_HUMAN).solve(goals)
        assert solution.status is Status.REACHED
        assert length(solution.shift) > 3.0
        held = [*pinned_feet(WALKING_HUMAN), *goals]
        assert Solver(WALKING_HUMAN).solve(held, HOW).statuses[-1] is Status.BLOCKED

    def test_a_body_at_its_goals_stays(self) -> None:
        goals = [*pinned_feet(WALKING_HUMAN), *points_for(WALKING_HUMAN, WALKING_HUMAN.starts, ENDS)]
        solution = Solver(WALKING_HUMAN).solve(goals)
        assert length(solution.shift) <= 1e-9
        assert max(turn_between(a, b) for a, b in zip(solution.rotations, WALKING_HUMAN.starts, strict=True)) <= 1e-9

    def test_a_chain_that_moves_is_no_chain(self) -> None:
        joints = [Joint((0.0, BONE, 0.0))] * 3
        assert Figure(joints).is_chain
        assert not Figure(joints, moves=True).is_chain
        solution = Solver(Figure(joints, moves=True)).solve([Point(2, (0.0, 2.0, 0.0))])
        assert solution.status is Status.REACHED

    def test_a_stiff_body_gives_way_less(self) -> None:
        here = WALKING_HUMAN.placed(WALKING_HUMAN.starts)
        target = plus(here.ends[HAND], (0.1, -0.3, -0.1))
        shifts = []
        for stiffness in (0.0, 0.5, 1.0):
            figure = figure_of(HUMAN_BONES, moves=True, stiffness={0: stiffness})
            solution = Solver(figure).solve([*pinned_feet(figure), Point(HAND, target)])
            assert solution.status is Status.REACHED
            shifts.append(length(solution.shift))
        assert shifts[0] > shifts[1] > shifts[2]

    def test_a_drag_takes_bounded_steps(self) -> None:
        """The hips go down and forward in 120 frames while the feet stay flat: no joint turns more than 5 degrees."""
        stride, frames = (1 if IS_COMPILED else 40), 120
        pins, solver, seen = pinned_feet(WALKING_HUMAN), Solver(WALKING_HUMAN), []
        for i in range(0, frames, stride):
            goals = [*pins, Point(0, lerp(ORIGIN, (0.0, -0.06, -0.12), i / frames), offset=ORIGIN)]
            seen.append(solver.solve(goals))
            assert_held(WALKING_HUMAN, goals, seen[-1])
        assert all(solution.status is Status.REACHED for solution in seen)
        assert max(largest_turn(a, b) for a, b in pairwise(seen)) < 5.0 * stride * pi / 180.0
        knees = [
            minus(seen[-1].joints[INDEX[f"shin{side}"]], seen[0].joints[INDEX[f"shin{side}"]]) for side in (".L", ".R")
        ]
        assert all(dot(knee, Y) < -0.02 for knee in knees)  # forwards


# The centre of mass comes above its support, and gives way to what is asked.


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

    def test_joints_that_carry_next_to_nothing_stay(self) -> None:
        solution = Solver(WALKING_HUMAN).solve([*pinned_feet(WALKING_HUMAN), Balance(MASSES, [(0.1, -0.1, 0.0)], Z)])
        for name, i in INDEX.items():
            if "finger" in name:
                assert solution.rotations[i] == (1.0, 0.0, 0.0, 0.0)
        assert IS_COMPILED or solution.status is Status.REACHED
