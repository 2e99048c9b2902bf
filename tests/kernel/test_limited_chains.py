# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains with limits."""

from collections.abc import Sequence
from itertools import pairwise
from math import degrees, radians
from random import Random

import pytest
from fabrik_addon.kernel import FREE, Cone, Figure, Goal, Limit, Locked, Solver, Status
from fabrik_addon.maths import IDENTITY, ORIGIN, V3, distance, lerp, multiplied, plus, scaled, turn_angle

from support.chains import (
    IS_COMPILED,
    LIMITED,
    X,
    Y,
    Z,
    assert_sound,
    goals_for,
    hinge,
    joints_through,
    largest_turn,
    leg,
    random_chain,
    random_direction,
    random_turn,
    random_vector,
    reachable_target,
    solve,
    some,
    tail,
)


def chain_of(points: Sequence[V3], *limits: Limit) -> Solver:
    """A solver for a chain with a limit for each bone."""
    return Solver(Figure.from_points(points, limits))


@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize("with_pole", [False, True])
def test_limits_hold_wherever_the_target_is(name: str, with_pole: bool) -> None:
    random, chain = Random(8), LIMITED[name]
    solver = Solver(chain)
    for _ in range(some(60)):
        pole = scaled(random_vector(random), chain.size) if with_pole else None
        solution = solve(solver, scaled(random_vector(random), chain.size), pole)
        assert_sound(chain, solution)
        assert solution.status is not Status.BLOCKED or solution.blocking
        assert len(solution.give) == min(len(solution.blocking), 3)
        assert all(give is None or give >= 0.0 for give in solution.give)


def test_planar_chain_that_locks_plain_fabrik() -> None:
    limits = hinge(Z, -90, 90), hinge(Z, -135, 0)
    solver = chain_of([(0, 0, 0), (0, 6, 0), (0, 14, 0)], *limits)
    solution = solve(solver, (-2, 10, 0))
    angles = [degrees(limit.angle_of(turn)) for limit, turn in zip(limits, solution.rotations, strict=True)]
    assert angles == pytest.approx([62.918, -87.612], abs=0.02)


def test_a_survey_of_planar_chains() -> None:
    """Feasible chains of 2 to 8 bones: FABRIK from the rest pose reaches 57 %, and with limited CCD after it 97 %."""
    random, missed = Random(23), []
    for case in range(some(1000)):
        count = random.randint(2, 8)
        points = [ORIGIN]
        for _ in range(count):
            points.append(plus(points[-1], (random.gauss(0.0, 0.5), random.uniform(0.3, 1.0), 0.0)))
        middles = [random.uniform(-60.0, 60.0) for _ in range(count)]
        limits = [hinge(Z, middle - (width := random.uniform(10.0, 80.0)), middle + width) for middle in middles]
        chain = Figure.from_points(points, limits)
        solution = solve(Solver(chain), reachable_target(random, chain))
        if solution.residual > 1e-3 * chain.size:
            missed.append((case, solution.residual / chain.size))
    assert not missed


def test_planar_chain_stays_in_its_plane() -> None:
    solver, random = Solver(tail(lambda _: hinge(Z, -90, 90), 6)), Random(9)
    for _ in range(some(40)):
        solution = solve(solver, (random.uniform(-3, 3), random.uniform(0, 5), 0))
        assert max(abs(z) for _, _, z in solution.joints) < 1e-9


def test_target_off_the_plane_is_blocked_and_met_as_near_as_can_be() -> None:
    solution = solve(Solver(tail(lambda _: hinge(Z, -90, 90), 4)), (1.0, 2.5, 0.6))
    assert solution.status is Status.BLOCKED
    assert solution.blocking
    assert solution.residual == pytest.approx(0.6, abs=2e-3)


def test_knee_at_its_end_is_named_as_blocking() -> None:
    solution = solve(Solver(leg()), (0, 0.1, -0.05))
    assert solution.status is Status.BLOCKED
    assert solution.blocking == (1,)
    assert len(solution.give) == 1


def test_how_far_a_knee_would_have_to_give() -> None:
    """Two bones of 1 at a distance of 1 bend by 120 degrees; the knee is let bend by 90."""
    solution = solve(chain_of([(0, 0, 0), (0, 0, -1), (0, 0, -2)], FREE, hinge(X, 0, 90)), (0, 0, -1))
    assert (solution.status, solution.blocking) == (Status.BLOCKED, (1,))
    give = solution.give[0]
    assert give is not None
    assert degrees(give) == pytest.approx(30, abs=0.1)


def test_what_would_have_to_give_is_found_where_it_is_asked_for() -> None:
    random, chain = Random(13), LIMITED["leg with ankle"]
    solver = Solver(chain)
    for _ in range(some(40)):
        target = scaled(random_direction(random), chain.size * random.uniform(0.05, 0.3))
        goals = goals_for(chain, target)
        told, silent = solver.solve(goals), solver.solve(goals, explain=False)
        assert silent == told._replace(give=())


def test_two_limits_that_neither_alone_could_give() -> None:
    solution = solve(chain_of([(0, 0, 0), (0, 1, 0), (0, 2, 0)], hinge(Z, -10, 10), hinge(Z, -10, 10)), (0.2, -1.9, 0))
    assert solution.status is Status.BLOCKED
    assert None in solution.give or max(give for give in solution.give if give is not None) > 1.5


@pytest.mark.parametrize(("low", "high"), [(0, 150), (-150, 0)])
def test_straight_limb_with_a_one_sided_knee_bends_the_right_way(low: float, high: float) -> None:
    knee = hinge(X, low, high)
    solution = solve(chain_of([(0, 0, 0), (0, 0, -1), (0, 0, -2)], FREE, knee), (0, 0, -1.5))
    assert solution.status is Status.REACHED
    assert radians(low) - 1e-9 <= knee.angle_of(solution.rotations[1]) <= radians(high) + 1e-9


@pytest.mark.parametrize("share", [0.99, 0.999, 0.9999])
def test_edge_of_reach_of_a_limited_leg(share: float) -> None:
    points = [(0, 0, 0), (0, 0, -1), (0, 0, -2), (0, 0, -2.3)]
    solver, random = chain_of(points, FREE, hinge(X, 0, 150), hinge(X, -45, 60)), Random(10)
    for _ in range(some(20)):
        target = scaled(random_direction(random), solver.figure.size * share)
        assert solve(solver, target).status is Status.REACHED


def test_locked_joints_keep_their_rotation() -> None:
    solver = chain_of([(0, 0, 0), (0, 0, 1), (0.2, 0, 2), (0, 0, 3)], FREE, Locked(), FREE)
    solution = solve(solver, (1, 0.5, 1.5))
    assert solution.status is Status.REACHED
    assert solution.rotations[1] == IDENTITY


def test_all_joints_locked_is_blocked_by_them() -> None:
    solution = solve(chain_of([(0, 0, 0), (0, 0, 1), (0, 0, 2)], Locked(), Locked()), (1, 0, 1))
    assert solution.status is Status.BLOCKED
    assert set(solution.blocking) == {0, 1}
    assert distance(solution.joints[-1], (0, 0, 2)) < 1e-12


FREELY = {"free chain": random_chain(Random(4), 5), "another": random_chain(Random(14), 6)}


@pytest.mark.parametrize("name", [*LIMITED, *FREELY])
@pytest.mark.parametrize("has_pole", [False, True])
def test_equal_input_gives_equal_bits_whatever_was_solved_before(name: str, has_pole: bool) -> None:
    random, chain = Random(11), (LIMITED | FREELY)[name]
    solver, asked = Solver(chain), list[list[Goal]]()
    for _ in range(2):
        pole = scaled(random_vector(random), chain.size) if has_pole else None
        asked.append(goals_for(chain, scaled(random_vector(random), 0.6 * chain.size), pole))
    first = [solver.solve(goals, explain=IS_COMPILED) for goals in asked]
    assert [solver.solve(goals, explain=IS_COMPILED) for goals in reversed(asked)] == first[::-1]
    assert Solver(chain).solve(asked[1], explain=IS_COMPILED) == first[1]


def test_orthogonal_hinges_in_a_row_turn_about_nothing_else() -> None:
    chain = Figure.from_points([(0, i, 0) for i in range(4)], [hinge(Z, -90, 90), hinge(X, -90, 90), FREE])
    solver, random = Solver(chain), Random(12)
    for _ in range(some(50)):
        solution = solve(solver, reachable_target(random, chain))
        for index, off in ((0, (1, 2)), (1, (2, 3))):
            assert all(abs(solution.rotations[index][i]) < 1e-9 for i in off)


def test_axis_along_the_bone_only_twists() -> None:
    solution = solve(chain_of([(0, 0, 0), (0, 1, 0), (0.5, 2, 0)], hinge(Y, -90, 90), FREE), (0.5, 1.2, 0.8))
    assert distance(solution.joints[1], (0, 1, 0)) < 1e-9


@pytest.mark.parametrize("angle", [20, 45, 80])
def test_rounding_does_not_choose_the_pose(angle: float) -> None:
    """A limb whose limit is as wide to one side as to the other may be measured a little differently each time."""
    random = Random(21)
    points = [(0, 0.1 * (i % 2), i) for i in range(4)]
    joints = joints_through(points, [FREE, Cone.circular(radians(angle)), FREE])
    solver = Solver(Figure(joints))
    for _ in range(some(6)):
        target = scaled(random_direction(random), solver.figure.size * random.uniform(0.3, 0.95))
        wanted = solve(solver, target).joints
        for _ in range(some(6)):
            measured = [
                joint._replace(
                    segment=scaled(joint.segment, 1.0 + random.uniform(-2e-7, 2e-7)),
                    rest=multiplied(random_turn(random, 2e-7), joint.rest),
                )
                for joint in joints
            ]
            found = solve(Solver(Figure(measured)), target).joints
            assert max(distance(a, b) for a, b in zip(found, wanted, strict=True)) < 0.02 * solver.figure.size


class TestLongestAndShortestPose:
    """What a limb can reach within its limits is told, and met at both ends."""

    def test_a_leg_with_a_knee(self) -> None:
        solver = Solver(leg())
        limb_reach = solver.limb_reach
        assert limb_reach is not None
        least, greatest, first = limb_reach
        upper, lower = solver.figure.lengths
        straightest = distance(solver.figure.placed(solver.figure.starts).joints[-1], ORIGIN)
        assert first == 0
        assert greatest == pytest.approx(straightest)
        assert abs(upper - lower) < least < upper
        for share, status in ((0.5 * least, Status.BLOCKED), (1.01 * least, Status.REACHED)):
            solution = solve(solver, (0, 0, -share))
            assert solution.status is status
            assert abs(distance(solution.joints[-1], solution.joints[0]) - max(share, least)) < 1e-3

    def test_a_limb_that_may_be_straight_is_so_at_its_longest(self) -> None:
        """Its joints before the ball joint, and that joint itself, stay as they start: they do not count."""
        limits = [hinge(Z, -20, 20), FREE, hinge(X, -150, 150), hinge(X, -90, 150)]
        solver = chain_of([(0, 0.1 * (i % 2), i) for i in range(5)], *limits)
        limb_reach = solver.limb_reach
        assert limb_reach is not None
        _, greatest, first = limb_reach
        assert first == 1
        assert greatest == pytest.approx(sum(solver.figure.lengths[1:]), rel=1e-12)
        head = solver.figure.placed(solver.figure.starts).joints[1]
        solution = solve(solver, plus(head, (0.0, 0.0, 1.1 * greatest)))
        assert distance(solution.joints[-1], solution.joints[1]) == pytest.approx(greatest, rel=1e-9)

    @pytest.mark.parametrize("name", ["spider leg", "tail", "arm"])
    def test_what_is_no_limb_has_none(self, name: str) -> None:
        assert Solver(LIMITED[name]).limb_reach is None


class TestSmooth:
    @pytest.mark.parametrize("name", ["leg", "leg with ankle", "cone arm", "planar", "shoulder"])
    def test_a_drag_out_of_reach_and_back_takes_bounded_steps(self, name: str) -> None:
        """The target goes from inside the reach through its edge, straight ahead, and back."""
        chain = LIMITED[name]
        solver = Solver(chain)
        tip = chain.placed(chain.starts).joints[-1]
        steps = range(61) if IS_COMPILED else range(27, 34)
        seen = [solve(solver, lerp(scaled(tip, 0.9), scaled(tip, 1.1), i / 60)) for i in steps]
        assert max(largest_turn(a, b) for a, b in pairwise(seen)) < 0.25


class TestStiffness:
    @pytest.mark.parametrize("stiff", [1, 2, 3])
    def test_a_stiff_joint_turns_less(self, stiff: int) -> None:
        joints = joints_through([(0, 0.05 * i * i, i) for i in range(5)], [hinge(X, -90, 90)] * 4)
        made = [joint._replace(stiffness=0.9 if i == stiff else 0.0) for i, joint in enumerate(joints)]
        target = (0.0, 0.3, 2.9)
        loose, held = (solve(Solver(Figure(some_joints)), target) for some_joints in (joints, made))
        assert loose.status is held.status is Status.REACHED
        assert turn_angle(held.rotations[stiff]) < 0.8 * turn_angle(loose.rotations[stiff])

    @pytest.mark.parametrize("stiffness", [0.5, 1.0])
    def test_stiffness_says_who_turns_first_and_not_how_far_the_limb_reaches(self, stiffness: float) -> None:
        random, chain = Random(22), LIMITED["planar"]
        points = chain.placed(chain.starts).joints
        joints = [joint._replace(stiffness=stiffness) for joint in joints_through(points, chain.joint_limits)]
        solver = Solver(Figure(joints))
        for _ in range(some(40)):
            assert solve(solver, reachable_target(random, chain)).status is Status.REACHED
