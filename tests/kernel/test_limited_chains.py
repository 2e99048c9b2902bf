# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains with limits."""

from dataclasses import replace
from math import degrees, radians
from random import Random

import pytest
from fabrik_addon.kernel import Chain, Goal, Status, solve
from fabrik_addon.kernel.limits import FREE, Cone, Locked
from fabrik_addon.kernel.rotations import from_rotation_vector
from mathutils import Vector

from chains import LIMITED, Y, Z, assert_sound, hinge, leg, random_vector, reachable_target


@pytest.mark.parametrize("name", LIMITED)
def test_targets_made_by_forward_kinematics_are_reached(name: str) -> None:
    random, chain = Random(7), LIMITED[name]
    missed = 0
    for _ in range(200):
        solution = solve(chain, Goal(reachable_target(random, chain)))
        assert_sound(chain, solution)
        missed += solution.status is not Status.REACHED
    assert missed == 0


@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize("with_pole", [False, True])
def test_limits_hold_wherever_the_target_is(name: str, with_pole: bool) -> None:
    random, chain = Random(8), LIMITED[name]
    for _ in range(60):
        target = random_vector(random) * chain.length
        pole = random_vector(random) * chain.length if with_pole else None
        solution = solve(chain, Goal(target, pole))
        assert_sound(chain, solution)
        if solution.status is Status.BLOCKED:
            assert solution.blocking


def test_planar_chain_that_locks_plain_fabrik() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 6, 0), (0, 14, 0)], [hinge(Z, -90, 90), hinge(Z, -135, 0)])
    solution = solve(chain, Goal(Vector((-2, 10, 0))))
    angles = [degrees(joint.limit.angle(r)) for joint, r in zip(chain.joints, solution.rotations, strict=True)]
    assert angles == pytest.approx([62.918, -87.612], abs=0.02)


def test_planar_chain_stays_in_its_plane() -> None:
    chain = Chain.from_points([(0, i, 0) for i in range(7)], [hinge(Z, -90, 90)] * 6)
    random = Random(9)
    for _ in range(40):
        solution = solve(chain, Goal(Vector((random.uniform(-3, 3), random.uniform(0, 5), 0))))
        assert max(abs(joint.z) for joint in solution.joints) < 1e-5


def test_target_off_the_plane_is_blocked_and_met_as_near_as_can_be() -> None:
    chain = Chain.from_points([(0, i, 0) for i in range(5)], [hinge(Z, -90, 90)] * 4)
    solution = solve(chain, Goal(Vector((1.0, 2.5, 0.6))))
    assert solution.status is Status.BLOCKED
    assert solution.blocking
    assert solution.residual == pytest.approx(0.6, abs=2e-3)


def test_knee_at_its_end_is_named_as_blocking() -> None:
    solution = solve(leg(), Goal(Vector((0, 0.1, -0.05))))
    assert solution.status is Status.BLOCKED
    assert solution.blocking == (1,)
    assert len(solution.give) == 1


def test_how_far_a_knee_would_have_to_give() -> None:
    """Two bones of 1 at a distance of 1 bend by 120 degrees; the knee is let bend by 90."""
    chain = Chain.from_points([(0, 0, 0), (0, 0, -1), (0, 0, -2)], [FREE, hinge((1, 0, 0), 0, 90)])
    solution = solve(chain, Goal(Vector((0, 0, -1))))
    assert (solution.status, solution.blocking) == (Status.BLOCKED, (1,))
    assert degrees(solution.give[0]) == pytest.approx(30, abs=0.1)


def test_two_limits_that_neither_alone_could_give() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 1, 0), (0, 2, 0)], [hinge(Z, -10, 10), hinge(Z, -10, 10)])
    solution = solve(chain, Goal(Vector((0.2, -1.9, 0))))
    assert solution.status is Status.BLOCKED
    assert None in solution.give or max(solution.give) > 1.5


def test_straight_limb_with_a_one_sided_knee_bends_the_right_way() -> None:
    for low, high in ((0, 150), (-150, 0)):
        chain = Chain.from_points([(0, 0, 0), (0, 0, -1), (0, 0, -2)], [FREE, hinge((1, 0, 0), low, high)])
        solution = solve(chain, Goal(Vector((0, 0, -1.5))))
        assert solution.status is Status.REACHED
        assert radians(low) - 1e-6 <= chain.joints[1].limit.angle(solution.rotations[1]) <= radians(high) + 1e-6


@pytest.mark.parametrize("share", [0.99, 0.999, 0.9999])
def test_edge_of_reach_of_a_limited_leg(share: float) -> None:
    straight = Chain.from_points(
        [(0, 0, 0), (0, 0, -1), (0, 0, -2), (0, 0, -2.3)], [FREE, hinge((1, 0, 0), 0, 150), hinge((1, 0, 0), -45, 60)]
    )
    random = Random(10)
    for _ in range(20):
        solution = solve(straight, Goal(random_vector(random).normalized() * straight.length * share))
        assert solution.status is Status.REACHED


def test_locked_joints_keep_their_rotation() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 0, 1), (0.2, 0, 2), (0, 0, 3)], [FREE, Locked(), FREE])
    solution = solve(chain, Goal(Vector((1, 0.5, 1.5))))
    assert solution.status is Status.REACHED
    assert solution.rotations[1] == Locked().rotation


def test_all_joints_locked_is_blocked_by_them() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 0, 1), (0, 0, 2)], [Locked(), Locked()])
    solution = solve(chain, Goal(Vector((1, 0, 1))))
    assert solution.status is Status.BLOCKED
    assert set(solution.blocking) == {0, 1}
    assert (solution.joints[-1] - Vector((0, 0, 2))).length < 1e-6


def test_equal_input_gives_equal_bits() -> None:
    random = Random(11)
    for chain in LIMITED.values():
        goal = Goal(random_vector(random) * chain.length * 0.6)
        assert solve(chain, goal).rotations == solve(chain, goal).rotations


def test_orthogonal_hinges_in_a_row_turn_about_nothing_else() -> None:
    chain = Chain.from_points([(0, i, 0) for i in range(4)], [hinge(Z, -90, 90), hinge((1, 0, 0), -90, 90), FREE])
    random = Random(12)
    for _ in range(50):
        solution = solve(chain, Goal(reachable_target(random, chain)))
        for index, off in ((0, (1, 2)), (1, (2, 3))):
            assert all(abs(solution.rotations[index][i]) < 1e-6 for i in off)


def test_axis_along_the_bone_only_twists() -> None:
    chain = Chain.from_points([(0, 0, 0), (0, 1, 0), (0.5, 2, 0)], [hinge(Y, -90, 90), FREE])
    solution = solve(chain, Goal(Vector((0.5, 1.2, 0.8))))
    assert (solution.joints[1] - Vector((0, 1, 0))).length < 1e-6


@pytest.mark.parametrize("angle", [20, 45, 80])
def test_rounding_does_not_choose_the_pose(angle: float) -> None:
    """A limb whose limit is as wide to one side as to the other is measured a little differently in every frame."""
    random = Random(21)
    points = [(0, 0.1 * (i % 2), i) for i in range(4)]
    chain = Chain.from_points(points, [FREE, Cone.circular(radians(angle)), FREE])
    for _ in range(6):
        goal = Goal(random_vector(random).normalized() * chain.length * random.uniform(0.3, 0.95))
        wanted = solve(chain, goal).joints
        for _ in range(6):
            joints = tuple(
                replace(
                    joint,
                    segment=joint.segment * (1.0 + random.uniform(-2e-7, 2e-7)),
                    rest=from_rotation_vector(random_vector(random) * 1e-7) @ joint.rest,
                )
                for joint in chain.joints
            )
            found = solve(replace(chain, joints=joints), goal).joints
            apart = max((a - b).length for a, b in zip(found, wanted, strict=True))
            assert apart < 0.02 * chain.length
