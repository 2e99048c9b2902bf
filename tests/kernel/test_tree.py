# SPDX-License-Identifier: GPL-3.0-or-later
"""Least squares on a tree of joints with several weighted goals."""

from itertools import permutations
from random import Random

import pytest
from fabrik_addon.errors import ChainError
from fabrik_addon.kernel.descent import Descent
from fabrik_addon.kernel.least_squares import descend
from fabrik_addon.kernel.limits import FREE, Cone, Limit
from fabrik_addon.kernel.model import Joint
from fabrik_addon.kernel.rotations import from_rotation_vector, rotation_vector, turn_angle
from fabrik_addon.kernel.tree import Aim, Facing, Point, Tree, TreeDescent
from mathutils import Quaternion, Vector

from chains import LIMITED, X, hinge, random_vector, reachable_target

BONE = Vector((0.0, 0.25, 0.0))
STEPS = 120


def body(limits: dict[int, Limit] | None = None) -> Tree:
    """A spine of two, and two arms of three that hang on its end, the second at a shoulder beside it."""
    limits = limits or {}
    left, right = Quaternion((0, 0, 1), 1.2), Quaternion((0, 0, 1), -1.2)
    rests = [Quaternion(), Quaternion(), left, Quaternion(), Quaternion(), right, Quaternion(), Quaternion()]
    joints = tuple(Joint(BONE, rest, limit=limits.get(i, FREE)) for i, rest in enumerate(rests))
    heads: list[Vector | None] = [None] * 8
    heads[5] = Vector((0.05, 0.2, 0.0))
    return Tree(joints, (-1, 0, 1, 2, 3, 1, 5, 6), tuple(heads))


def rest_of(tree: Tree) -> list[Quaternion]:
    return [Quaternion() for _ in tree.joints]


def posed(tree: Tree, random: Random, most: float = 0.6) -> list[Quaternion]:
    turns = (random_vector(random).normalized() * random.uniform(0.0, most) for _ in tree.joints)
    return [joint.limit.clamp(from_rotation_vector(turn)) for joint, turn in zip(tree.joints, turns, strict=True)]


def test_two_hands_reach_what_some_pose_reaches() -> None:
    random, tree = Random(1), body({0: Cone.circular(0.4), 1: Cone.circular(0.4), 3: hinge(X, 0, 150)})
    for _ in range(20):
        aim = tree.place(posed(tree, random))
        aims = [Point(4, aim.ends[4]), Point(7, aim.ends[7])]
        found, _ = descend(TreeDescent.at(tree, rest_of(tree), aims), 1e-6, STEPS)
        assert found.error < 1e-4
        for joint, rotation in zip(tree.joints, found.rotations, strict=True):
            assert joint.limit.violation(rotation) <= 1e-5


def test_points_and_facings_together() -> None:
    random, tree = Random(2), body()
    for _ in range(20):
        aim = tree.place(posed(tree, random))
        aims = [Point(4, aim.ends[4]), Facing(4, aim.frames[4], weight=0.2), Point(7, aim.ends[7])]
        found, _ = descend(TreeDescent.at(tree, rest_of(tree), aims), 1e-6, STEPS)
        assert (found.placed.ends[4] - aim.ends[4]).length < 1e-4
        assert turn_angle(found.placed.frames[4].conjugated() @ aim.frames[4]) < 1e-3


def test_the_order_of_the_aims_does_not_matter() -> None:
    random, tree = Random(3), body()
    aim = tree.place(posed(tree, random))
    aims = [Point(4, aim.ends[4]), Point(7, aim.ends[7], weight=0.5), Facing(1, aim.frames[1], weight=0.1)]
    ends = []
    for order in permutations(aims):
        found, _ = descend(TreeDescent.at(tree, rest_of(tree), list(order)), 1e-6, STEPS)
        ends.append(found.placed.ends[7])
    assert max((end - ends[0]).length for end in ends) < 1e-4


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
def test_rival_aims_are_met_at_their_weighted_mean(weight: float) -> None:
    tree = body()
    here = tree.place(rest_of(tree)).ends[4]
    first, second = here + Vector((0.1, -0.2, 0.1)), here + Vector((0.1, -0.2, -0.1))
    aims = [Point(4, first), Point(4, second, weight=weight)]
    found, _ = descend(TreeDescent.at(tree, rest_of(tree), aims), 1e-6, 400)
    mean = (first + second * weight**2) / (1.0 + weight**2)
    assert (found.placed.ends[4] - mean).length < 2e-3


def test_a_goal_out_of_reach_leaves_the_other_where_it_is_wanted_most() -> None:
    tree = body()
    here = tree.place(rest_of(tree))
    aims = [Point(4, here.ends[4], weight=20.0), Point(7, Vector((9, 0, 0)), weight=0.1)]
    found, _ = descend(TreeDescent.at(tree, rest_of(tree), aims), 1e-6, 400)
    assert (found.placed.ends[4] - here.ends[4]).length < 5e-3
    assert found.placed.ends[7].x > here.ends[7].x


def test_each_move_is_the_change_of_its_goal() -> None:
    """Law: the columns that a standing tells are the derivatives of what is missing."""
    random, tree = Random(4), body()
    tree = Tree((*tree.joints[:3], Joint(BONE, inherits=False), *tree.joints[4:]), tree.parents, tree.heads)
    rotations = posed(tree, random)
    aim = tree.place(posed(tree, random, 0.05))
    aims: list[Aim] = [Point(4, aim.ends[4], weight=2.0), Point(7, aim.ends[7])]
    aims += [Facing(7, tree.place(rotations).frames[7], weight=0.3), Facing(4, tree.place(rotations).frames[4])]
    now, step = TreeDescent.at(tree, rotations, aims), 1e-3
    for i in range(len(tree.joints)):
        for axis in (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))):
            ways = []
            for sign in (1.0, -1.0):
                turned = list(rotations)
                turned[i] = from_rotation_vector(axis * step * sign) @ rotations[i]
                ways.append(now.moved(turned).missing())
            for move, ahead, back in zip(now.moves(i, [axis])[0], *ways, strict=True):
                assert (move + (ahead - back) / (2.0 * step)).length < 2e-3


@pytest.mark.parametrize("name", ["spider leg", "cone arm", "leg with ankle"])
def test_a_tree_without_branches_is_a_chain(name: str) -> None:
    random, chain = Random(5), LIMITED[name].unit
    for _ in range(10):
        target = reachable_target(random, chain)
        start = [joint.limit.clamp(joint.start) for joint in chain.joints]
        alone, _ = descend(Descent.at(chain, start, target), 1e-6, 60)
        tree = Tree.of_chain(chain)
        found, _ = descend(TreeDescent.at(tree, start, [Point(len(start) - 1, target)]), 1e-6, 60)
        assert found.error == pytest.approx(alone.error, abs=1e-5)


def test_a_joint_before_its_parent_is_refused() -> None:
    with pytest.raises(ChainError, match="joint 0 of the tree hangs on joint 1"):
        Tree((Joint(BONE), Joint(BONE)), (1, 0), (None, None))
    with pytest.raises(ChainError, match="not as many"):
        Tree((Joint(BONE),), (-1, 0), (None,))


def test_rotation_vectors_come_back() -> None:
    random = Random(6)
    for _ in range(50):
        vector = random_vector(random).normalized() * random.uniform(0.0, 3.0)
        assert (rotation_vector(from_rotation_vector(vector)) - vector).length < 1e-5
