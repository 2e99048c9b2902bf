# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft reach and stretch: near full stretch a goal gives way, and a run of joints may be longer where it is missed."""

from itertools import pairwise
from math import degrees, exp

import pytest
from fabrik_addon.kernel import FREE, Bend, Figure, Goal, Limit, Point, Settings, Solution, Solver, Status
from fabrik_addon.maths import ORIGIN, V3, distance, length, lerp, minus, plus, scaled

from dev.limbs import X, hinge
from support.bodies import HUMAN, INDEX, WALKING_HUMAN, branching
from support.chains import IS_COMPILED, joints_through, largest_turn

POINTS: list[V3] = [(0.0, 0.0, 0.0), (0.0, 0.05, -1.0), (0.0, 0.0, -2.0)]  # hip, knee and ankle
LENGTH = 2.0 * length(POINTS[1])
KNEE: list[list[Limit] | None] = [None, [FREE, hinge(X, 20, 150)]]  # the knee never comes to straight
FRAMES = 120
CLOSE = 1e-9
HAND, UPPER_ARM = INDEX["hand.L"], INDEX["upper_arm.L"]


def softened(distance: float, soft: float, reach: float = LENGTH) -> float:
    """The distance to which a goal at a distance comes down."""
    width = soft * reach
    if distance <= reach - width:
        return distance
    return reach - width * exp(-(distance - reach + width) / width)


def leg(limits: list[Limit] | None = None) -> Figure:
    return Figure(joints_through(POINTS, limits))


def drawn_out(soft: float, figure: Figure) -> list[Solution]:
    """A leg that is drawn from nine tenths of its length to beyond it."""
    solver = Solver(figure)
    return [
        solver.solve([Point(1, (0.0, 0.0, -LENGTH * (0.9 + 0.18 * i / FRAMES)), soft=soft)]) for i in range(FRAMES + 1)
    ]


def worst(seen: list[Solution]) -> float:
    """The most degrees that a joint turns between two frames."""
    return degrees(max(largest_turn(a, b) for a, b in pairwise(seen)))


class TestSoftReach:
    def test_a_knee_does_not_snap_near_full_stretch(self) -> None:
        hard, soft = drawn_out(0.0, leg()), drawn_out(0.01, leg())
        assert worst(hard) > 4.0
        assert worst(soft) <= 1.5

    def test_hips_drawn_up_do_not_snap_the_knees(self) -> None:
        """Of a body on pinned feet, whose hips go past straight legs."""
        figure = WALKING_HUMAN
        here = figure.placed(figure.starts)
        frames = FRAMES if IS_COMPILED else 12
        found = []
        for soft in (0.0, 0.01):
            solver, seen = Solver(figure), []
            for i in range(frames):
                goals = [Point(0, lerp((0.0, 0.0, -0.12), (0.0, 0.0, 0.04), i / (frames - 1)), offset=ORIGIN, rank=0)]
                for side in (".L", ".R"):
                    foot, thigh = INDEX[f"foot{side}"], INDEX[f"thigh{side}"]
                    goals.append(Point(foot, here.heads[foot], offset=ORIGIN, soft=soft, root=thigh))
                seen.append(solver.solve(goals, Settings(restarts=0)))
            found.append(worst(seen) * frames / FRAMES)
        assert found[1] <= 1.5
        assert found[0] > 2.0 * found[1] or not IS_COMPILED

    @pytest.mark.parametrize("soft", [0.01, 0.03, 0.2])
    @pytest.mark.parametrize("share", [0.5, 0.97, 1.0, 1.05, 3.0])
    def test_the_distance_is_that_of_the_formula(self, soft: float, share: float) -> None:
        target = scaled((0.6, 0.0, -0.8), share * LENGTH)
        solution = Solver(leg()).solve([Point(1, target, soft=soft)])
        wanted = softened(share * LENGTH, soft)
        assert length(solution.joints[-1]) == pytest.approx(wanted, abs=2e-4 * LENGTH)
        assert solution.softened[0] == pytest.approx(share * LENGTH - wanted, abs=CLOSE)
        assert solution.status is Status.REACHED
        assert solution.residual <= 1e-4 * LENGTH

    def test_goals_far_from_full_stretch_are_as_before(self) -> None:
        target = (0.5, 0.3, -1.2)
        hard, soft = (Solver(leg()).solve([Point(1, target, soft=share)]) for share in (0.0, 0.03))
        assert hard.rotations == soft.rotations
        assert soft.softened == (0.0,)

    def test_in_a_body_it_is_counted_from_where_the_root_stands(self) -> None:
        here = HUMAN.placed(HUMAN.starts)
        reach = sum(HUMAN.lengths[i] for i in range(UPPER_ARM, HAND)) + HUMAN.lengths[HAND]
        target = plus(here.heads[UPPER_ARM], (0.9, -0.5, 0.1))
        solution = Solver(HUMAN).solve([Point(HAND, target, soft=0.05, root=UPPER_ARM)])
        root = solution.joints[UPPER_ARM]
        place = HUMAN.placed(solution.rotations).ends[HAND]
        assert distance(place, root) == pytest.approx(softened(distance(target, root), 0.05, reach), abs=2e-4)
        assert solution.softened[0] == pytest.approx(distance(target, root) - distance(place, root), abs=2e-4)


class TestStretch:
    @pytest.mark.parametrize("soft", [0.0, 0.02])
    @pytest.mark.parametrize("limits", KNEE, ids=["free", "knee"])
    @pytest.mark.parametrize("share", [0.5, 0.9, 1.0, 1.1, 1.19])
    def test_a_chain_gets_as_long_as_its_target_is_far(
        self, share: float, limits: list[Limit] | None, soft: float
    ) -> None:
        target = scaled((0.0, 0.1, -0.99), share * LENGTH)
        solution = Solver(leg(limits)).solve([Point(1, target, soft=soft, stretch=1.25)])
        assert solution.status is Status.REACHED
        assert distance(solution.joints[-1], target) <= 1e-4 * LENGTH
        for a, b in pairwise(solution.joints):
            assert distance(a, b) == pytest.approx(solution.factors[0] * 0.5 * LENGTH)
        wanted = length(target) / softened(length(target), soft) if soft else max(1.0, length(target) / LENGTH)
        if limits is None:
            assert solution.factors[0] == pytest.approx(wanted, abs=1e-4)
        assert solution.factors[0] >= wanted - 1e-4

    @pytest.mark.parametrize("soft", [0.0, 0.02])
    def test_it_ends_at_the_most_that_is_allowed(self, soft: float) -> None:
        target = (0.0, 0.0, -2.0 * LENGTH)
        solution = Solver(leg()).solve([Point(1, target, soft=soft, stretch=1.2)])
        assert solution.factors == (1.2,)
        assert length(solution.joints[-1]) == pytest.approx(1.2 * LENGTH, abs=1e-4)
        missed = solution.residual + solution.softened[0]
        assert missed == pytest.approx(distance(solution.joints[-1], target), abs=1e-3)

    def test_a_target_that_moves_on_lengthens_a_chain_smoothly(self) -> None:
        solver, seen = Solver(leg()), []
        for i in range(FRAMES + 1):
            target = (0.0, 0.0, -LENGTH * (0.9 + 0.5 * i / FRAMES))
            seen.append(solver.solve([Point(1, target, soft=0.02, stretch=1.3)]))
        factors = [solution.factors[0] for solution in seen]
        assert all(0.0 <= b - a <= 0.006 for a, b in pairwise(factors))
        assert factors[0] == 1.0
        assert factors[-1] == 1.3

    def test_a_pole_still_turns_the_bend(self) -> None:
        target = (0.0, 0.0, -0.95 * LENGTH)
        goals: list[Goal] = [Point(1, target, soft=0.1, stretch=1.2), Bend(1, (5.0, 0.0, -1.0))]
        solution = Solver(leg()).solve(goals)
        assert solution.factors[0] > 1.0
        assert solution.joints[1][0] > 0.1
        assert solution.pole_error <= 1e-6

    def test_in_a_body_the_run_of_a_goal_that_is_missed_stretches(self) -> None:
        figure = branching()
        here = figure.placed(figure.starts)
        far = plus(here.heads[2], scaled(minus(here.ends[4], here.heads[2]), 1.3))
        stay: list[Goal] = [Point(1, here.ends[1], rank=0), Point(7, here.ends[7], rank=0)]
        hard = Solver(figure).solve([*stay, Point(4, far)])
        solution = Solver(figure).solve([*stay, Point(4, far, root=2, stretch=1.5)])
        assert hard.rotations == solution.rotations
        assert solution.factors[:2] == (1.0, 1.0)
        assert 1.0 < solution.factors[2] <= 1.3 + 1e-6
        assert solution.status is Status.REACHED
        assert solution.residuals[2] <= 1e-4
        stretched = solution.factors[2] * figure.lengths[3]
        assert distance(solution.joints[3], solution.joints[4]) == pytest.approx(stretched)
