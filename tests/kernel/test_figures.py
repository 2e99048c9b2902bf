# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures with several goals: what is met, what is weighed, and what stays as it is."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import pi
from random import Random

import pytest
from fabrik_addon.kernel import (
    PIN,
    Aim,
    Bend,
    Cone,
    Facing,
    Figure,
    Goal,
    Joint,
    Point,
    Settings,
    Solution,
    Solver,
    Status,
    Step,
)
from fabrik_addon.maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    distance,
    lerp,
    minus,
    multiplied,
    perpendicular,
    plus,
    rotated,
    scaled,
    turn_about,
    turn_angle,
    unit,
)

from dev.limbs import X, hinge
from support.bodies import (
    BONE,
    ENDS,
    HUMAN,
    HUMAN_BONES,
    INDEX,
    PARENTS,
    WALKING_HUMAN,
    branching,
    figure_of,
    points_for,
    posed,
)
from support.chains import (
    IS_COMPILED,
    LIMIT_SLACK,
    LIMITED,
    angle_between,
    goals_for,
    joints_through,
    largest_turn,
    random_direction,
    random_rotations,
    random_turn,
    random_vector,
    some,
    turn_between,
)

CLOSE = 1e-9  # shares of the size, and radians: what the order of sums may change


def assert_inside(figure: Figure, solution: Solution) -> None:
    """No limit is exceeded, and what is told is what the rotations make."""
    for limit, rotation in zip(figure.joint_limits, solution.rotations, strict=True):
        assert limit.violation(rotation) <= LIMIT_SLACK
    placed = figure.placed(solution.rotations, solution.shift)
    for seen, wanted in zip(solution.joints, [*placed.heads, placed.ends[-1]], strict=True):
        assert distance(seen, wanted) <= CLOSE * figure.size


class TestGoals:
    def test_two_hands_reach_what_some_pose_reaches(self) -> None:
        figure = branching({0: Cone.circular(0.4), 1: Cone.circular(0.4), 3: hinge(X, 0, 150)})
        solver, random = Solver(figure), Random(1)
        for _ in range(some(60)):
            aim = figure.placed(posed(random, figure))
            solution = solver.solve([Point(4, aim.ends[4]), Point(7, aim.ends[7])])
            assert solution.status is Status.REACHED
            assert solution.statuses == (Status.REACHED,) * 2
            assert solution.residual == max(solution.residuals) <= 1e-4 * figure.size
            assert_inside(figure, solution)

    def test_points_and_facings_together(self) -> None:
        figure, random = branching(), Random(2)
        solver = Solver(figure)
        for _ in range(some(60)):
            aim = figure.placed(posed(random, figure))
            goals = [Point(4, aim.ends[4]), Facing(4, aim.frames[4], weight=0.2), Point(7, aim.ends[7])]
            found = figure.placed(solver.solve(goals).rotations)
            assert distance(found.ends[4], aim.ends[4]) < 1e-4
            assert distance(found.ends[7], aim.ends[7]) < 1e-4
            assert turn_between(found.frames[4], aim.frames[4]) < 1e-3

    def test_an_axis_is_aimed_at_a_place(self) -> None:
        figure, random = branching(), Random(3)
        solver = Solver(figure)
        for _ in range(some(40)):
            axis, place = random_direction(random), scaled(random_direction(random), 3.0 * figure.size)
            goals = [Aim(4, axis, place), Point(7, figure.placed(posed(random, figure, 0.3)).ends[7])]
            found = figure.placed(solver.solve(goals).rotations)
            assert angle_between(rotated(found.frames[4], axis), minus(place, found.heads[4])) < 1e-3

    def test_a_place_in_a_frame_is_brought_to_its_target(self) -> None:
        figure, random = branching(), Random(4)
        solver = Solver(figure)
        for _ in range(some(40)):
            aim, offset = figure.placed(posed(random, figure)), scaled(random_vector(random), 0.1)
            target = plus(aim.heads[4], rotated(aim.frames[4], offset))
            found = figure.placed(solver.solve([Point(4, target, offset=offset)]).rotations)
            assert distance(plus(found.heads[4], rotated(found.frames[4], offset)), target) < 1e-4

    @pytest.mark.parametrize("side", [(0, 0, 1), (0, 0, -1), (0, 1, 0.5)])
    def test_the_inner_joints_of_a_run_bend_towards_its_pole(self, side: V3) -> None:
        figure = branching()
        here = figure.placed(figure.starts)
        target = lerp(here.heads[2], here.ends[4], 0.6)
        pole = plus(here.heads[2], scaled(side, 5.0))
        solution = Solver(figure).solve([Point(4, target), Point(7, here.ends[7]), Bend(4, pole, 0.0, 0.1, root=2)])
        found = figure.placed(solution.rotations)
        along = unit(minus(found.ends[4], found.heads[2]))
        bend = perpendicular(minus(lerp(found.heads[3], found.heads[4], 0.5), found.heads[2]), along)
        assert distance(found.ends[4], target) < 1e-3
        assert angle_between(bend, perpendicular(minus(pole, found.heads[2]), along)) < 0.35

    def test_two_chains_that_meet(self) -> None:
        """The joints of TheComet's test: 0-1-2-3-4 and 2-5-6, effectors at both ends."""
        joints = [Joint((0.0, 1.0, 0.0)) for _ in range(6)]
        figure = Figure(joints, (-1, 0, 1, 2, 1, 4))
        solution = Solver(figure).solve([Point(3, (1.5, 2.0, 0.5)), Point(5, (-1.5, 2.0, 0.5))])
        found = figure.placed(solution.rotations)
        assert solution.status is Status.REACHED
        assert distance(found.heads[2], found.heads[4]) == 0.0
        assert distance(found.ends[3], (1.5, 2.0, 0.5)) < 1e-3
        assert distance(found.ends[5], (-1.5, 2.0, 0.5)) < 1e-3

    def test_goals_on_joints_before_those_of_other_goals(self) -> None:
        figure, random = branching(), Random(5)
        solver = Solver(figure)
        for _ in range(some(40)):
            goals = points_for(figure, posed(random, figure), (1, 3, 4))
            assert solver.solve(goals).status is Status.REACHED


class TestWeights:
    def test_the_order_of_the_goals_does_not_matter(self) -> None:
        figure, random = branching({1: Cone.circular(0.5), 6: hinge(X, 0, 140)}), Random(6)
        solver = Solver(figure)
        for _ in range(some(20)):
            aim = figure.placed(posed(random, figure))
            goals: list[Goal] = [Point(4, aim.ends[4]), Point(7, aim.ends[7], 0.5), Facing(1, aim.frames[1], 0.1)]
            poses = [solver.solve(list(order)).rotations for order in permutations(goals)]
            for pose in poses[1:]:
                assert max(turn_between(a, b) for a, b in zip(pose, poses[0], strict=True)) <= CLOSE

    @pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
    def test_rival_goals_are_met_at_their_weighted_mean(self, weight: float) -> None:
        figure = branching()
        here = figure.placed(figure.starts).ends[4]
        first, second = plus(here, (0.1, -0.2, 0.1)), plus(here, (0.1, -0.2, -0.1))
        solution = Solver(figure).solve([Point(4, first), Point(4, second, weight=weight)])
        mean = scaled(plus(first, scaled(second, weight**2)), 1.0 / (1.0 + weight**2))
        assert distance(figure.placed(solution.rotations).ends[4], mean) < 2e-3
        assert solution.status is Status.BLOCKED

    def test_a_goal_out_of_reach_leaves_the_other_where_it_is_wanted_most(self) -> None:
        figure = branching()
        here = figure.placed(figure.starts)
        solution = Solver(figure).solve([Point(4, here.ends[4], weight=20.0), Point(7, (9.0, 0.0, 0.0), weight=0.1)])
        found = figure.placed(solution.rotations)
        assert distance(found.ends[4], here.ends[4]) < 5e-3
        assert found.ends[7][0] > here.ends[7][0]
        assert solution.statuses[1] is Status.TOO_FAR
        assert solution.residuals[1] == pytest.approx(distance(found.ends[7], (9.0, 0.0, 0.0)))

    def test_a_goal_without_weight_asks_nothing(self) -> None:
        figure, random = branching(), Random(7)
        solver = Solver(figure)
        for _ in range(some(10)):
            goals = points_for(figure, posed(random, figure), (4, 7))
            with_another = [*goals, Point(3, random_vector(random), weight=0.0)]
            a, b = solver.solve(goals), solver.solve(with_another)
            assert largest_turn(a, b) <= CLOSE

    def test_what_can_not_be_met_names_who_holds_it(self) -> None:
        figure = branching({i: hinge(X, -5, 5) for i in range(8)})
        solution = Solver(figure).solve([Point(4, (-0.2, 0.1, 0.7)), Point(7, (0.2, 0.1, 0.7))])
        assert solution.status is Status.BLOCKED
        assert solution.blocking
        assert len(solution.give) == min(len(solution.blocking), 3)
        assert_inside(figure, solution)


class TestPosture:
    @pytest.mark.parametrize("figure", [branching(), HUMAN], ids=["two arms", "human"])
    def test_a_figure_that_stands_at_its_goals_stays(self, figure: Figure) -> None:
        ends = (4, 7) if figure.count == 8 else ENDS
        solution = Solver(figure).solve(points_for(figure, figure.starts, ends))
        assert solution.status is Status.REACHED
        assert max(turn_angle(rotation) for rotation in solution.rotations) <= CLOSE

    def test_joints_that_move_no_goal_stay(self) -> None:
        hand = INDEX["hand.L"]
        there = plus(HUMAN.placed(HUMAN.starts).ends[hand], (-0.15, -0.2, -0.1))
        solution = Solver(HUMAN).solve([Point(hand, there)])
        moving, joint = set(), hand
        while joint >= 0:
            moving.add(joint)
            joint = PARENTS[joint]
        assert solution.status is Status.REACHED
        for i, rotation in enumerate(solution.rotations):
            assert (rotation == IDENTITY) == (i not in moving)

    @pytest.mark.parametrize("count", [3, 4, 6])
    def test_a_spine_bends_evenly(self, count: int) -> None:
        """Law: joints of one stiffness share a turn in equal parts."""
        joints = [Joint((0.0, BONE, 0.0)) for _ in range(count + 1)]
        figure = Figure(joints, (*range(-1, count - 1), count - 2))
        angle = 0.9
        solution = Solver(figure).solve([Facing(count - 1, turn_about(X, angle))])
        for rotation in solution.rotations[:count]:
            assert turn_angle(rotation) == pytest.approx(angle / count, abs=1e-4)
            assert rotation[1] > 0.0
        assert solution.rotations[count] == IDENTITY

    def test_a_stiff_joint_takes_less_of_a_turn(self) -> None:
        joints = [Joint((0.0, BONE, 0.0), stiffness=0.9 if i == 1 else 0.0) for i in range(5)]
        figure = Figure(joints, (-1, 0, 1, 2, 2))
        turns = [turn_angle(turn) for turn in Solver(figure).solve([Facing(3, turn_about(X, 0.9))]).rotations]
        assert turns[1] < 0.5 * turns[0]
        assert turns[0] == pytest.approx(turns[2], abs=1e-3)

    def test_of_many_poses_one_near_the_start_pose_is_taken(self) -> None:
        """Law: no pose drawn at random that meets the goals is nearer to the start pose, summed over the joints."""
        figure, random = branching(), Random(8)
        solver = Solver(figure)

        def turned(pose: list[Q4]) -> float:
            return sum(turn_angle(rotation) ** 2 for rotation in pose)

        for _ in range(some(40)):
            pose = posed(random, figure)
            solution = solver.solve(points_for(figure, pose, (4, 7)))
            assert turned(solution.rotations) <= 1.05 * turned(pose)


class TestOneAnswer:
    @pytest.mark.parametrize("name", ["leg with ankle", "spider leg", "shoulder"])
    def test_a_chain_is_a_figure_without_branches(self, name: str) -> None:
        """Law: parents that are written out give the same bits as none."""
        chain, random = LIMITED[name], Random(10)
        points = chain.placed(chain.starts).joints
        joints = joints_through(points, chain.joint_limits)
        written, plain = Figure(joints, range(-1, chain.count - 1)), Figure(joints)
        assert written.is_chain
        for _ in range(some(10)):
            goals = goals_for(chain, random_vector(random), random_vector(random))
            assert Solver(written).solve(goals) == Solver(plain).solve(goals)

    def test_a_head_that_stands_at_the_end_of_the_parent_is_no_gap(self) -> None:
        """Law: to say where a joint stands, where it would stand anyway, changes nothing but rounding."""
        figure, random = branching(), Random(11)
        joints = [Joint((0.0, BONE, 0.0)) for _ in range(5)]
        said = Figure(joints, (-1, 0, 1, 1, 3), [None, (0.0, BONE, 0.0), None, (0.0, BONE, 0.0), None])
        unsaid = Figure(joints, (-1, 0, 1, 1, 3))
        for _ in range(some(10)):
            goals = points_for(unsaid, posed(random, unsaid), (2, 4))
            assert largest_turn(Solver(said).solve(goals), Solver(unsaid).solve(goals)) <= CLOSE
        assert not figure.is_chain

    def test_a_trace_changes_nothing(self) -> None:
        figure, trace = branching(), list[Step]()
        goals = points_for(figure, posed(Random(12), figure), (4, 7))
        assert Solver(figure).solve(goals, trace=trace) == Solver(figure).solve(goals)
        assert trace
        for step in trace:
            assert len(step.joints) == figure.count + 1

    @pytest.mark.parametrize("moves", [False, True])
    def test_scale_and_turn_move_the_answer_along(self, moves: bool) -> None:
        random = Random(13)
        rests = [random_turn(random, 1.0) for _ in range(6)]
        parents, head = (-1, 0, 1, 2, 1, 4), (0.1, 0.2, 0.0)
        for _ in range(some(20)):
            turn, scale = random_turn(random, pi), 10.0 ** random.uniform(-3, 3)
            figure, moved = (
                Figure(
                    [Joint((0.0, BONE * size, 0.0), rest) for rest in rests],
                    parents,
                    [None, None, None, None, scaled(head, size), None],
                    base,
                    moves,
                )
                for size, base in ((1.0, IDENTITY), (scale, turn))
            )
            placed = figure.placed(posed(random, figure), scaled(random_direction(random), 0.5) if moves else ORIGIN)
            a = Solver(figure).solve([Point(end, placed.ends[end]) for end in (3, 5)])
            b = Solver(moved).solve([Point(end, scaled(rotated(turn, placed.ends[end]), scale)) for end in (3, 5)])
            assert largest_turn(a, b) <= 1e-6
            assert distance(b.shift, scaled(rotated(turn, a.shift), scale)) <= 1e-6 * scale


class TestHuman:
    """52 joints with the ranges of a human's."""

    @pytest.mark.parametrize("figure", [HUMAN, WALKING_HUMAN], ids=["fixed", "moving"])
    def test_poses_by_forward_kinematics_are_found(self, figure: Figure) -> None:
        """Head, hands and feet of poses drawn from all that the limits allow, of a body that moves somewhere else."""
        solver, random, missed = Solver(figure), Random(15), []
        for case in range(200 if IS_COMPILED else 2):
            shift = scaled(random_direction(random), random.uniform(0.0, 1.5)) if figure.moves else ORIGIN
            placed = figure.placed(random_rotations(random, figure), shift)
            solution = solver.solve([Point(end, placed.ends[end]) for end in ENDS])
            assert_inside(figure, solution)
            if solution.residual > 1e-4 * figure.size:
                missed.append((case, solution.residual / figure.size))
        assert not missed

    def test_a_drag_takes_bounded_steps(self) -> None:
        """A hand goes forward and across in 120 frames while the feet stay: no joint turns more than 5 degrees."""
        here = HUMAN.placed(HUMAN.starts)
        hand = INDEX["hand.R"]
        feet = points_for(HUMAN, HUMAN.starts, (INDEX["foot.L"], INDEX["foot.R"]))
        solver, frames = Solver(HUMAN), 120
        seen = []
        stride = 1 if IS_COMPILED else 8
        for i in range(0, frames, stride):
            target = lerp(here.ends[hand], (0.1, -0.5, 0.2), i / frames)
            seen.append(solver.solve([*feet, Point(hand, target)]))
        assert all(solution.status is Status.REACHED for solution in seen)
        assert max(largest_turn(a, b) for a, b in pairwise(seen)) < 5.0 * stride * pi / 180.0


@pytest.mark.parametrize("case", [5, 7, 23])
def test_joints_at_their_limits_are_held_and_let_go_within_a_step(case: int) -> None:
    """Twelve goals that are met without another start: not so where held joints stay so, or are held too late."""
    random = Random(12)
    for _ in range(case + 1):
        placed = HUMAN.placed(random_rotations(random, HUMAN))
        picked = random.sample(range(3, HUMAN.count), 12)
    goals: list[Goal] = [Point(joint, placed.ends[joint]) for joint in picked]
    assert Solver(HUMAN).solve(goals, Settings(restarts=0)).status is Status.REACHED


# Goals that hang on joints of their own: what one of them misses takes nothing from the others.


PELVIS, LEFT, RIGHT = (INDEX[name] for name in ("pelvis", "foot.L", "foot.R"))
CASES = 12


def feet_of(figure: Figure, random: Random) -> list[Goal]:
    """The hips as in a pose, the right foot too; the left one turned farther than its ankle and hip let it."""
    placed = figure.placed(posed(random, figure, 0.4))
    too_far = multiplied(turn_about(X, 0.5 * pi), placed.frames[LEFT])
    return [
        Point(PELVIS, placed.heads[PELVIS], offset=ORIGIN, rank=PIN),
        Facing(PELVIS, placed.frames[PELVIS], rank=PIN),
        Point(LEFT, placed.heads[LEFT], offset=ORIGIN),
        Facing(LEFT, too_far),
        Point(RIGHT, placed.heads[RIGHT], offset=ORIGIN),
        Facing(RIGHT, placed.frames[RIGHT]),
    ]


@pytest.mark.parametrize("figure", [HUMAN, WALKING_HUMAN], ids=["fixed", "moving"])
def test_a_foot_that_is_blocked_leaves_the_other_where_it_is_to_be(figure: Figure) -> None:
    random = Random(3)
    solver = Solver(figure)
    for _ in range(CASES):
        solution = solver.solve(feet_of(figure, random))
        assert Status.BLOCKED in solution.statuses[2:4]
        assert solution.statuses[4:] == (Status.REACHED, Status.REACHED)


# Stiffness in a body, whose goals leave it many ways: stiff joints leave the turning to the others.


TRUNK = ("pelvis", "spine1", "spine2", "spine3")
HAND = INDEX["hand.L"]
WAY = (-0.3, -0.1, -0.3)  # that the arm could go alone


def trunk_turned(stiffness: float) -> float:
    """How far the trunk turns when a hand is pulled and the feet are pinned, summed over its joints."""
    figure = figure_of(HUMAN_BONES, True, {INDEX[name]: stiffness for name in TRUNK})
    placed = figure.placed([IDENTITY] * figure.count)
    x, y, z = (a + b for a, b in zip(placed.ends[HAND], WAY, strict=True))
    pins = [Point(end, placed.ends[end], rank=PIN) for end in ENDS[-2:]]
    found = Solver(figure).solve([*pins, Point(HAND, (x, y, z))])
    assert set(found.statuses) == {Status.REACHED}
    return sum(turn_angle(found.rotations[INDEX[name]]) for name in TRUNK)


def test_the_stiffer_the_trunk_the_less_it_turns() -> None:
    found = [trunk_turned(stiffness) for stiffness in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert found == sorted(found, reverse=True)
    assert found[3] < 0.7 * found[0]
    assert found[4] < 0.1 * found[0]
