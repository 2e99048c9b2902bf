# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole turns the bend about root to tip."""

from itertools import accumulate, pairwise
from math import cos, degrees, pi, sin
from random import Random

import pytest
from fabrik_addon.kernel import Chain, Goal, solve
from fabrik_addon.kernel.bend import bend_direction
from fabrik_addon.kernel.limits import FREE, Cone, Twist, Twisting
from fabrik_addon.kernel.orientation import place
from fabrik_addon.kernel.rotations import perpendicular, turn_angle
from mathutils import Quaternion, Vector

from chains import LIMITED, assert_sound, hinge, leg, random_chain, random_vector

STRAIGHT = Chain.from_points([(0, 0, 0), (0, 0, 1), (0, 0, 2)])


def pole_side(solution, goal: Goal) -> Vector:
    """Where the chain is to bend: the pole, seen along root to tip and turned by the pole angle."""
    along = solution.joints[-1].normalized()
    return Quaternion(along, goal.pole_angle) @ perpendicular(goal.pole, along)


def off_pole(solution, goal: Goal, length: float) -> float:
    """Angle between the bend and the pole, both seen along root to tip."""
    return bend_direction(solution.joints, length).angle(pole_side(solution, goal))


def random_goal(random: Random, chain: Chain) -> Goal:
    target = random_vector(random).normalized() * chain.length * random.uniform(0.5, 0.9)
    return Goal(target, random_vector(random) * chain.length, random.uniform(-pi, pi))


@pytest.mark.parametrize("count", [2, 3, 4, 10])
@pytest.mark.parametrize("bend", [0.0, 0.05, 0.3])
def test_chains_that_bend_one_way_face_the_pole(count: int, bend: float) -> None:
    random = Random(count)
    for _ in range(30):
        turns = [bend * (i - count / 2) for i in range(count)]
        points = list(accumulate((Vector((sin(turn), 0, cos(turn))) for turn in turns), initial=Vector()))
        chain = Chain.from_points(points)
        goal = random_goal(random, chain)
        solution = solve(chain, goal)
        assert_sound(chain, solution)
        assert solution.residual < 1e-4 * chain.length
        assert off_pole(solution, goal, chain.length) < 1e-3


@pytest.mark.parametrize("count", [3, 4, 8])
def test_planar_chains_of_any_shape_lie_in_the_plane_of_the_pole(count: int) -> None:
    random = Random(count)
    for _ in range(30):
        points = list(accumulate((Vector((random.gauss(0, 0.6), 0, 1)) for _ in range(count)), initial=Vector()))
        chain = Chain.from_points(points)
        goal = random_goal(random, chain)
        solution = solve(chain, goal)
        normal = solution.joints[-1].cross(pole_side(solution, goal)).normalized()
        assert solution.residual < 1e-4 * chain.length
        assert max(abs(joint.dot(normal)) for joint in solution.joints) < 1e-3 * chain.length


def test_inner_joints_keep_their_rotations() -> None:
    random = Random(1)
    for _ in range(20):
        chain = random_chain(random, 4)
        target = random_vector(random).normalized() * chain.length * 0.7
        without = solve(chain, Goal(target)).rotations
        turned = solve(chain, Goal(target, random_vector(random) * 5)).rotations
        assert turned[1:] == without[1:]


def test_pole_and_knee_hinge_hold_together() -> None:
    chain, random = leg(), Random(2)
    for _ in range(50):
        goal = Goal(random_vector(random).normalized() * random.uniform(0.5, 0.98), random_vector(random) * 3)
        solution = solve(chain, goal)
        assert_sound(chain, solution)
        assert solution.residual < 1e-4
        assert solution.pole_error == 0.0
        assert off_pole(solution, goal, chain.length) < 2e-3


def test_limited_root_holds_and_tells_how_far_the_pole_is_off() -> None:
    chain, random = LIMITED["spider leg"], Random(3)
    for _ in range(30):
        solution = solve(chain, Goal(random_vector(random), random_vector(random) * 3))
        assert_sound(chain, solution)
        assert 0.0 <= solution.pole_error <= pi + 1e-6


def test_a_hinge_at_the_root_leaves_the_pole_to_the_next_joint() -> None:
    points = [(0, 0, 0), (0.3, 0, 0), (0.3, -0.05, -1), (0.3, 0, -2)]
    chain = Chain.from_points(points, [hinge((1, 0, 0), -20, 20), FREE, FREE])
    for pole, axis, sign in (((0.5, -5, -1), 1, -1), ((0.5, 5, -1), 1, 1), ((5, 0, -1), 0, 1)):
        solution = solve(chain, Goal(Vector((0.6, -0.3, -1.0)), Vector(pole)))
        assert_sound(chain, solution)
        assert solution.residual < 1e-4
        assert solution.pole_error == 0.0
        middle = solution.joints[1].lerp(solution.joints[3], 0.5)
        assert (solution.joints[2] - middle)[axis] * sign > 0.4


def test_limits_win_over_the_pole() -> None:
    shoulder = Cone.circular(pi, twist=Twist(-0.3, 0.3))
    chain = Chain.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)], [shoulder, hinge((1, 0, 0), 0, 150)])
    solution = solve(chain, Goal(Vector((0, 0, 1.5)), Vector((0, -5, 1))))
    assert_sound(chain, solution)
    assert solution.residual < 1e-4
    assert 0.5 < solution.pole_error < pi


SWEPT = {name: LIMITED[name] for name in ("leg", "leg with ankle", "one-sided hinges")}
SWEPT["zigzag"] = Chain.from_points([(0, 0, 2.3), (0, -0.3, 1.4), (0, 0.2, 0.6), (0, 0, 0)])
SWEPT["dog leg"] = Chain.from_points(
    [(0, 0, 2.3), (0, -0.3, 1.4), (0, 0.2, 0.6), (0, 0, 0)],
    [FREE, hinge((1, 0, 0), -90, 40), hinge((1, 0, 0), -40, 90)],
)
SWEPT["arm with a cone"] = Chain.from_points(
    [(0, 0, 0), (0, 0.1, 1), (0, 0, 2)], [Cone.circular(1.4), hinge((1, 0, 0), -150, 5)]
)
SWEPT["shoulder"] = LIMITED["shoulder"]


@pytest.mark.parametrize("name", SWEPT)
@pytest.mark.parametrize("with_pole", [False, True])
def test_a_target_that_moves_smoothly_gives_a_pose_that_does(name: str, with_pole: bool) -> None:
    """In front of the root, where no limb has to turn about: no joint turns more than 12 degrees a step."""
    chain, random = SWEPT[name], Random(5)
    towards = chain_tip(chain)
    for _ in range(5):
        a, b = (towards * random.uniform(0.45, 1.02) + random_vector(random) * 0.15 * chain.length for _ in range(2))
        before = None
        for i in range(101):
            pole = Vector((0.1, -4, -0.4)) if with_pole else None
            solution = solve(chain, Goal(a.lerp(b, i / 100), pole))
            if before is not None:
                assert largest_turn(chain, before, solution) < 0.2
            before = solution


def chain_tip(chain: Chain) -> Vector:
    """Where the tip stands in the start pose."""
    return place(chain, chain.start)[0][-1]


@pytest.mark.parametrize("share", [0.3, 0.9, 0.9999, 1.0, 1.2])
def test_pole_round_the_chain_turns_it_evenly(share: float) -> None:
    for chain in (STRAIGHT, Chain.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)]), leg()):
        target = Vector((chain.length * share, 0, 0))
        before = None
        for i in range(73):
            angle = 2 * pi * i / 72
            solution = solve(chain, Goal(target, Vector((0.5, 3 * cos(angle), 3 * sin(angle)))))
            if before is not None:
                assert largest_turn(chain, before, solution) < 2 * pi / 72 * 1.6
            before = solution


def test_pole_swept_across_the_axis_takes_bounded_steps() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)])
    before = None
    for i in range(401):
        offset = 4e-3 * (i - 200) / 200 * chain.length
        solution = solve(chain, Goal(Vector((0, 0, 1.6)), Vector((offset, 1e-3, 1.0))))
        if before is not None:
            assert largest_turn(chain, before, solution) < 0.2
        before = solution


def test_target_through_full_stretch_does_not_flip() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)])
    before = None
    for i in range(201):
        target = Vector((0, 0, chain.length * (0.95 + 0.1 * i / 200)))
        solution = solve(chain, Goal(target, Vector((0, 3, 1))))
        if before is not None:
            assert largest_turn(chain, before, solution) < 0.12
        before = solution


def largest_turn(chain: Chain, a, b) -> float:
    """Largest turn of a joint between two solutions."""
    return max(turn_angle(p.conjugated() @ q) for p, q in zip(a.rotations, b.rotations, strict=True))


def test_a_chain_of_one_bone_ignores_the_pole() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 1, 0)])
    goal = Goal(Vector((1, 0, 0)))
    assert solve(chain, Goal(goal.target, Vector((0, 0, 5)))).rotations == solve(chain, goal).rotations


def test_segments_do_not_change_with_the_pole() -> None:
    chain = random_chain(Random(4), 5)
    solution = solve(chain, Goal(Vector((1, 1, 1)), Vector((0, 0, 9))))
    for (a, b), length in zip(pairwise(solution.joints), chain.lengths, strict=True):
        assert (b - a).length == pytest.approx(length, rel=1e-5)


def test_the_knee_of_a_leg_with_a_foot_faces_the_pole() -> None:
    """The rest pose is nearly straight, and the foot's offset is larger than the knee's."""
    points = [(0, 0, 0), (0, -0.05, -1), (0, 0.01, -2), (0, -0.3, -2.1)]
    chain = Chain.from_points(points, [FREE, hinge((1, 0, 0), 0, 150), hinge((1, 0, 0), -45, 60)])
    random = Random(6)
    for _ in range(40):
        target = Vector((random.uniform(-0.3, 0.3), random.uniform(-0.6, 0.3), random.uniform(-2.0, -1.2)))
        for y in (-4.0, 4.0):
            solution = solve(chain, Goal(target, Vector((0, y, -1))))
            assert_sound(chain, solution)
            if solution.residual < 1e-4:
                knee, along = solution.joints[1], solution.joints[3].normalized()
                assert perpendicular(knee, along).y * y > 0.0


def test_a_limited_clavicle_leaves_the_pole_to_the_free_shoulder() -> None:
    points = [(0, 0, 0), (0.3, 0, 0.05), (1, 0.04, 0), (1.7, 0, 0)]
    chain = Chain.from_points(points, [Cone.circular(0.35), FREE, hinge((0, 0, 1), 0, 150)])
    random = Random(7)
    for _ in range(30):
        target = Vector((random.uniform(0.7, 1.4), random.uniform(-0.4, 0.4), random.uniform(-0.4, 0.4)))
        solution = solve(chain, Goal(target, random_vector(random) * 3))
        assert_sound(chain, solution)
        assert solution.residual < 1e-4
        assert solution.pole_error < 1e-3


def test_a_limited_root_comes_as_near_to_the_pole_as_it_may() -> None:
    chain = Chain.from_points(
        [(0, 0, 0), (0, 0.05, -0.5), (0, 0, -1)], [Twisting(Twist(-0.5, 0.5)), hinge((1, 0, 0), 0, 150)]
    )
    solution = solve(chain, Goal(Vector((0.34, 0.551, 0.08)), Vector((0.678, 0.039, -2.754))))
    assert_sound(chain, solution)
    assert degrees(solution.pole_error) < 100
