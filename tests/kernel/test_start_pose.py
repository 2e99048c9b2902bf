# SPDX-License-Identifier: GPL-3.0-or-later
"""A start pose that meets its goals is the answer, and goals that move by a hair from there give a pose near it."""

from __future__ import annotations

from math import degrees
from random import Random

import pytest
from fabrik_addon.kernel import Bend, Figure, Goal, Joint, Point, Settings, Solver

from support.chains import (
    LIMITED,
    Q4,
    V3,
    conjugated,
    lerp,
    minus,
    multiplied,
    plus,
    random_chain,
    random_direction,
    random_rotations,
    random_turn,
    rotated,
    scaled,
    some,
    turn_between,
)

FREE_COUNTS = {f"free {count}": count for count in (2, 3, 4, 6, 10)}
IDENTITY: Q4 = (1.0, 0.0, 0.0, 0.0)
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
    rest = figure.placed([IDENTITY] * figure.count)
    joints, before = [], IDENTITY
    for i, frame in enumerate(rest.frames):
        segment = rotated(conjugated(frame), minus(rest.ends[i], rest.heads[i]))
        joints.append(Joint(segment, multiplied(conjugated(before), frame), starts[i], limits[i]))
        before = frame
    return Figure(joints)


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
