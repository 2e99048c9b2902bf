# SPDX-License-Identifier: GPL-3.0-or-later
"""The columns that a goal tells are the derivatives of what it misses."""

import sys
from array import array
from random import Random
from typing import Any

import pytest
from fabrik_addon.kernel import Aim, Balance, Bend, Facing, Figure, Goal, Joint, Point
from fabrik_addon.maths import (
    ORIGIN,
    Q4,
    V3,
    conjugated,
    distance,
    minus,
    multiplied,
    plus,
    rotated,
    scaled,
    turn_about,
)

from support.bodies import BONE, HUMAN, INDEX, WALKING_HUMAN, branching, posed
from support.chains import IS_COMPILED, X, Y, Z

STEP = 1e-5
SUPPORTS: tuple[list[V3], ...] = (
    [(3.0, 1.0, 0.0), (3.0, -9.0, 0.0), (4.0, -9.0, 2.0), (4.0, 1.0, 0.0), (3.5, 0.0, 0.0)],  # an edge is nearest
    [(3.0, 3.0, 0.0), (4.0, 3.0, 0.0), (3.0, 4.0, 0.0)],  # a corner is
    [(9.0, 9.0, 0.0), (-9.0, 9.0, 0.0), (-9.0, -9.0, 0.0), (9.0, -9.0, 0.0)],  # stands above it
    [(2.0, 1.0, 0.5)],
)

pytestmark = pytest.mark.skipif(IS_COMPILED, reason="what goals tell the solver can't be seen in a compiled kernel")


def loose(which: int) -> Figure:
    """The figure with two arms, one joint of which does not inherit rotation."""
    joints = [Joint((0.0, BONE, 0.0), inherits=i != which) for i in range(8)]
    heads: list[V3 | None] = [None] * 8
    heads[5] = (0.05, 0.2, 0.0)
    return Figure(joints, (-1, 0, 1, 2, 3, 1, 5, 6), heads)


def loaded(goal: Goal) -> Goal:
    """A goal that took its own numbers, as they are."""
    numbers = goal.numbers()
    getattr(goal, "load")(array("d", numbers), 0, 1.0, ORIGIN)
    return goal


def pose_of(figure: Figure, rotations: list[Q4], shift: V3 = ORIGIN) -> Any:
    """A pose as the solver sees it."""
    pose = sys.modules[Figure.__module__].Pose(figure.count)
    pose.shift[0], pose.shift[1], pose.shift[2] = shift
    for i, rotation in enumerate(rotations):
        pose.rotations[4 * i], pose.rotations[4 * i + 1] = rotation[:2]
        pose.rotations[4 * i + 2], pose.rotations[4 * i + 3] = rotation[2:]
    getattr(figure, "place")(pose)
    return pose


@pytest.mark.parametrize("figure", [branching(), loose(3), loose(1)], ids=["inherits", "loose arm", "loose spine"])
def test_each_move_is_the_change_of_its_goal(figure: Figure) -> None:
    """Where a turn carries the effector, where a joint that does not inherit stops it, and beside the way."""
    random = Random(4)
    rotations = posed(random, figure)
    now, aim = figure.placed(rotations), figure.placed(posed(random, figure, 0.05))
    goals: list[Goal] = [
        Point(4, aim.ends[4], weight=2.0),
        Point(4, aim.ends[4], 0.7, (0.1, -0.2, 0.05)),
        Point(7, aim.ends[7]),
        Facing(7, now.frames[7], weight=0.3),
        Facing(4, now.frames[4]),
        Aim(4, Y, plus(now.heads[4], scaled(rotated(now.frames[4], Y), 0.6)), 1.5),  # exact where it is met
        Point(4, plus(now.heads[3], (0.2, 0.7, -0.1)), 1.3, soft=0.4, root=3),  # beyond where it begins to give way
        Point(4, plus(now.heads[2], (0.2, 0.7, -0.1)), offset=(0.1, -0.2, 0.05), soft=0.4, root=2),
        Point(4, (0.1, 2.0, 0.5), soft=0.1),
        *(Balance([1, 2, 0, 4, 1, 3, 0, 0.001], support, Z, weight=0.8) for support in SUPPORTS),
        Balance([1.0] * 8, SUPPORTS[0], (0.2, 1.0, -0.3), [(0.1, 0.0, 0.2)] * 8),
    ]
    here = pose_of(figure, rotations)
    for bound in (goal.bound(figure) for goal in goals):
        seen: Any = loaded(bound)
        seen.prepare(here)
        for k in range(seen.steps):
            for axis in (X, Y, Z):
                ways = []
                for sign in (STEP, -STEP):
                    i = seen.path[k]
                    rest: Q4 = tuple(here.rests[4 * i : 4 * i + 4])
                    turned = list(rotations)
                    turned[i] = multiplied(_in_frame(rest, axis, sign), rotations[i])
                    ways.append(seen.missing(pose_of(figure, turned)))
                change = scaled(minus(ways[1], ways[0]), 0.5 / STEP)
                assert distance(seen.move(here, k, axis), change) < 1e-6


def test_each_shift_is_the_change_of_its_goal() -> None:
    random = Random(6)
    rotations = posed(random, HUMAN)
    now = HUMAN.placed(rotations)
    hand, shin = INDEX["hand.L"], INDEX["shin.R"]
    goals: list[Goal] = [
        Point(hand, plus(now.ends[hand], (0.1, -0.2, 0.3)), weight=2.0),
        Point(hand, plus(now.ends[hand], (0.3, 0.2, -0.1)), 0.7, (0.1, -0.2, 0.05)),
        Facing(hand, now.frames[hand]),
        Aim(hand, Y, plus(now.heads[hand], scaled(rotated(now.frames[hand], Y), 0.6)), 1.5),
        Bend(shin, (0.2, -2.0, -0.4), 0.3, 0.6, root=INDEX["thigh.R"]),
        Point(hand, plus(now.ends[hand], (0.1, -2.0, 0.3)), soft=0.2, root=INDEX["upper_arm.L"]),
        *(Balance([1.0] * HUMAN.count, support, Z, weight=0.8) for support in SUPPORTS),
    ]
    here = pose_of(WALKING_HUMAN, rotations)
    for bound in (goal.bound(WALKING_HUMAN) for goal in goals):
        seen: Any = loaded(bound)
        seen.prepare(here)
        for axis in (X, Y, Z):
            ways = [seen.missing(pose_of(WALKING_HUMAN, rotations, scaled(axis, way))) for way in (STEP, -STEP)]
            change = scaled(minus(ways[1], ways[0]), 0.5 / STEP)
            assert distance(seen.shift(here, axis), change) < 1e-6


def _in_frame(rest: Q4, axis: V3, angle: float) -> Q4:
    """The turn about an axis of the solve space, as seen in a rest frame."""
    return multiplied(multiplied(conjugated(rest), turn_about(axis, angle)), rest)
