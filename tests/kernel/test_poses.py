# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solver does with poses besides solving: pull them like a rope, tell how they bend."""

from __future__ import annotations

from itertools import pairwise
from math import degrees, pi
from random import Random

import pytest
from fabrik_addon.kernel import Bend, Figure, Goal, Point, Settings, Solver, Status, Step
from fabrik_addon.maths import (
    IDENTITY,
    V3,
    distance,
    dot,
    length,
    lerp,
    minus,
    perpendicular,
    plus,
    rotated,
    scaled,
    turn_about,
    unit,
)

from dev.limbs import X
from support.chains import (
    LIMIT_SLACK,
    LIMITED,
    angle_between,
    goals_for,
    joints_through,
    leg,
    points_at_random,
    random_chain,
    random_direction,
    random_rotations,
    random_turn,
    random_vector,
    solve,
    some,
    turn_between,
    violation,
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
            assert distance(plus(chain.placed(pulled).joints[-1], shift), place) <= 1e-9 * chain.size
            assert violation(chain, pulled) <= LIMIT_SLACK

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
            moved = [distance(a, b) for a, b in zip(before, after, strict=True)]
            assert all(a <= b + 1e-9 * chain.size for a, b in pairwise(moved))

    def test_pulled_far_it_is_straight_behind(self) -> None:
        chain = chain_named("free")
        place = scaled(random_direction(Random(5)), 1000.0 * chain.size)
        pulled, shift = Solver(chain).pulled(chain.starts, place)
        joints = [plus(joint, shift) for joint in chain.placed(pulled).joints]
        assert angle_between(minus(joints[-1], joints[0]), place) < 1e-2
        assert distance(joints[0], joints[-1]) == pytest.approx(chain.size, rel=1e-4)


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
            assert distance(bend.along, unit(minus(solution.joints[-1], bend.origin))) < 1e-9
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
            assert max(distance(a, b) for a, b in zip(without.joints, turned.joints, strict=True)) < 1e-6

    def test_a_single_bone_has_none(self) -> None:
        chain = Figure.from_points([(0, 0, 0), (0, 1, 0)])
        assert Solver(chain).bend(chain.starts) is None


class TestViolation:
    def test_it_is_that_of_the_worst_joint(self) -> None:
        chain = leg()
        knee = chain.joint_limits[1]
        for angle, wanted in ((0.5, 0.0), (-0.2, 0.2), (150 * pi / 180 + 0.3, 0.3)):
            pose = [turn_about(X, 2.0), turn_about(X, angle)]
            assert violation(chain, pose) == pytest.approx(wanted, abs=1e-9)
            assert knee.violation(pose[1]) == pytest.approx(wanted, abs=1e-9)
            assert distance(rotated(knee.clamped(pose[1]), X), X) < 1e-12


# A start pose that meets its goals is the answer, and goals that move by a hair from there give a pose near it.


FREE_COUNTS = {f"free {count}": count for count in (2, 3, 4, 6, 10)}
HAIR = 1e-5  # of the chain's size
NEAR = 2.0  # degrees


def started(random: Random, figure: Figure) -> Figure:
    """A chain with a start pose half-way from rest to one that is drawn inside its limits."""
    limits = figure.joint_limits
    drawn = random_rotations(random, figure)
    if all(limit.is_free for limit in limits):
        starts = [random_turn(random, 0.8) for _ in limits]
    else:
        starts = [limit.blended(limit.clamped(IDENTITY), end, 0.5) for limit, end in zip(limits, drawn, strict=True)]
    joints = joints_through(figure.placed([IDENTITY] * figure.count).joints, limits)
    return Figure([joint._replace(start=start) for joint, start in zip(joints, starts, strict=True)])


def goals_at(solver: Solver, tip: V3, has_pole: bool) -> list[Goal]:
    """The goals that the start pose meets, but for the place of the tip; the pole is where it bends."""
    figure = solver.figure
    goals: list[Goal] = [Point(figure.count - 1, tip)]
    bend = solver.bend(figure.starts) if has_pole else None
    if bend is not None:
        middle = lerp(bend.origin, figure.placed(figure.starts).joints[-1], 0.5)
        goals.append(Bend(figure.count - 1, plus(middle, scaled(bend.side, 0.6 * figure.size)), 0.0))
    return goals


def cases(name: str, count: int) -> list[Figure]:
    random = Random(name)
    made = [random_chain(random, FREE_COUNTS[name], 0.3) if name in FREE_COUNTS else LIMITED[name]] * count
    return [started(random, figure) for figure in made]


@pytest.mark.parametrize("has_pole", [False, True])
@pytest.mark.parametrize("name", [*FREE_COUNTS, *LIMITED])
class TestStartPose:
    def test_that_meets_its_goals_is_the_answer(self, name: str, has_pole: bool) -> None:
        for figure in cases(name, some(30)):
            solver = Solver(figure)
            tip = figure.placed(figure.starts).joints[-1]
            solution = solver.solve(goals_at(solver, tip, has_pole))
            assert solution.status.value == "REACHED"
            turns = [turn_between(a, b) for a, b in zip(solution.rotations, figure.starts, strict=True)]
            assert max(turns) < 1e-9

    @pytest.mark.parametrize("plain", [False, True])
    def test_a_goal_a_hair_away_moves_no_joint_far(self, name: str, has_pole: bool, plain: bool) -> None:
        random = Random(7)
        for figure in cases(name, some(30)):
            solver = Solver(figure)
            tip = plus(figure.placed(figure.starts).joints[-1], scaled(random_direction(random), HAIR * figure.size))
            solution = solver.solve(goals_at(solver, tip, has_pole), Settings(plain=plain), explain=False)
            turns = [turn_between(a, b) for a, b in zip(solution.rotations, figure.starts, strict=True)]
            assert degrees(max(turns)) < NEAR


# A trace sees every pass and changes nothing.


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("plain", [False, True])
def test_tracing_changes_nothing_and_keeps_the_lengths(limited: bool, plain: bool) -> None:
    random, settings = Random(1), Settings(plain=plain)
    for _ in range(some(20)):
        chain = LIMITED["spider leg"] if limited else random_chain(random, 5, curl=2.0)
        target = scaled(random_direction(random), chain.size * 0.7)
        goals, trace = goals_for(chain, target, random_vector(random)), list[Step]()
        solution = Solver(chain).solve(goals, settings, trace)
        assert solution == Solver(chain).solve(goals, settings)
        assert trace[0].name == "start"
        assert trace[-1].name == "end"
        for step in trace:
            for (a, b), span in zip(pairwise(step.joints), chain.lengths, strict=True):
                assert distance(a, b) == pytest.approx(span / chain.size, rel=1e-6)
        for a, b in zip(trace[-1].joints, solution.joints, strict=True):
            assert distance(scaled(a, chain.size), b) <= 1e-12 * chain.size
        for a, b in zip(trace[0].joints, chain.placed(chain.starts).joints, strict=True):
            assert distance(scaled(a, chain.size), b) <= 1e-12 * chain.size


def test_passes_are_named() -> None:
    random, trace = Random(2), list[Step]()
    chains = [random_chain(random, 5, curl=2.0) for _ in range(20)]
    asked = [(chain, scaled(random_direction(random), chain.size * 0.8)) for chain in chains]
    for chain, target in (*asked, (LIMITED["spider leg"], (-1.5, 0.3, 0.8))):
        Solver(chain).solve(goals_for(chain, target), Settings(), trace)
    names = {step.name for step in trace}
    assert {"start", "swing", "backward", "forward", "descend", "restart", "end"} <= names


def test_a_trace_goes_on_from_solve_to_solve() -> None:
    chain, trace = LIMITED["leg"], list[Step]()
    solver = Solver(chain)
    for _ in range(2):
        solver.solve(goals_for(chain, (0.1, 0.2, -0.7)), Settings(), trace)
    assert [step.name for step in trace].count("end") == 2
