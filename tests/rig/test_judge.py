# SPDX-License-Identifier: GPL-3.0-or-later
"""How a pose stands beside its goals: the numbers are what they are called, and of many frames those of each alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, pi
from random import Random
from typing import NamedTuple, cast

import numpy as np
import pytest
from fabrik_addon.kernel import Rows
from fabrik_addon.maths import Q4, Doubles, multiplied, normalized, rotated, turn_about, unit
from fabrik_addon.rig.figure.chain_goal import ChainGoal
from fabrik_addon.rig.figure.goal_table import GoalTable
from fabrik_addon.rig.goal_kinds import GOAL_KINDS

FRAMES, JOINTS = 7, 4


def chains() -> GoalTable:
    """Chains of a figure of four joints that ask for all that can be asked for."""
    return GoalTable(
        [
            ChainGoal("place", (), (0, 1, 2, 3)),
            ChainGoal("head", (), (0, 1, 2, 3), at_head=True, has_pole=True, bent=3, pole_angle=0.4),
            ChainGoal("turn", (), (0, 1), turns=True, has_pole=True, bent=2),
            ChainGoal("aim", (), (2,), GOAL_KINDS["AIM"], axis=(0.0, 0.6, 0.8)),
            ChainGoal("nothing", (), (3,), turns=True, weight=0.0),
        ]
    )


def turns(random: Random, count: int) -> Doubles:
    return np.array([normalized([random.uniform(-1.0, 1.0) for _ in range(4)]) for _ in range(count)])


def drawn() -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Numbers of rows, and heads, ends and frames of as many poses."""
    random = Random(5)
    width = sum(one.width for one in chains())
    many = np.array([[random.uniform(-2.0, 2.0) for _ in range(width + 6 * JOINTS)] for _ in range(FRAMES)])
    numbers, heads, ends = many[:, :width], many[:, width : width + 3 * JOINTS], many[:, width + 3 * JOINTS :]
    at = chains()[2].row_at + 3
    numbers[:, at : at + 4] = turns(random, FRAMES)
    frames = turns(random, FRAMES * JOINTS).reshape(FRAMES, JOINTS, 4)
    return numbers, heads.reshape(FRAMES, JOINTS, 3), ends.reshape(FRAMES, JOINTS, 3), frames


def judged() -> tuple[Doubles, Doubles]:
    return chains().judge(*drawn())


def angle(a: Doubles, b: Doubles) -> float:
    return acos(min(1.0, float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))))


@pytest.mark.parametrize("k", range(FRAMES))
def test_many_frames_are_judged_as_each_alone(k: int) -> None:
    alone = chains().judge(*(one[k : k + 1] for one in drawn()))
    for many, one in zip(judged(), alone, strict=True):
        assert many[k].tobytes() == one[0].tobytes()


def test_a_place_is_missed_by_the_distance_from_the_effector() -> None:
    numbers, heads, ends, frames = drawn()
    (missed, _), asked = judged(), chains()
    away = asked.off(numbers, heads, ends, frames)
    for c, effectors in ((0, ends), (1, heads)):
        off = numbers[:, asked[c].row_at : asked[c].row_at + 3] - effectors[:, 3]
        assert away[:, c] == pytest.approx(off)
        assert missed[:, c] == pytest.approx(np.linalg.norm(off, axis=1))
    assert away[:, 2] == pytest.approx(numbers[:, asked[2].row_at : asked[2].row_at + 3] - ends[:, 1])


def test_chains_that_aim_or_ask_for_nothing_miss_no_place() -> None:
    missed, turn = judged()
    assert not missed[:, 3:].any()
    assert not turn[:, 4].any()


def test_a_rotation_is_missed_by_the_angle_between() -> None:
    asked = chains()[2]
    numbers, heads, ends, frames = drawn()
    for k, by in enumerate(np.linspace(0.0, pi, FRAMES).tolist()):
        wanted: Q4 = multiplied(frames[k, 1].tolist(), turn_about(unit((1.0, -2.0, 0.5)), by))
        numbers[k, asked.row_at + 3 : asked.row_at + 7] = wanted if k % 2 else [-one for one in wanted]
    _, turn = chains().judge(numbers, heads, ends, frames)
    assert turn[:, 2] == pytest.approx(np.linspace(0.0, pi, FRAMES), abs=1e-7)


def test_an_aim_is_missed_by_the_angle_of_its_axis() -> None:
    asked = chains()[3]
    numbers, heads, _, frames = drawn()
    for k in range(FRAMES):
        along = np.array(rotated(frames[k, 2].tolist(), asked.axis))
        wanted = numbers[k, asked.row_at : asked.row_at + 3] - heads[k, 2]
        assert judged()[1][k, 3] == pytest.approx(angle(along, wanted))


def ended(asked: GoalTable, states: Sequence[Sequence[int]], missed: Sequence[Sequence[float]]) -> list[list[int]]:
    """How chains ended, as indices into the kernel's statuses, by what it tells of their goals in some frames."""
    nothing = np.zeros((len(states), len(states[0])))
    found: list[list[int]] = asked.result(
        np.array(states, np.int32), np.array(missed), nothing, nothing
    ).status.tolist()
    return found


def test_a_chain_ends_as_its_goal_that_is_missed_most() -> None:
    """A pole is no goal that can be missed."""
    states = [[0, 0, 3, 0, 0, 0], [3, 1, 0, 2, 1, 3], [0, 0, 0, 1, 2, 3]]
    missed = [[9.0, 1.0, 9.0, 2.0, 1.0, 9.0], [0.1, 0.2, 0.0, 0.5, 0.6, 9.0], [0, 0, 0, 0.5, 0.5, 9.0]]
    assert ended(GoalTable(chains()[:3]), states, missed) == [[0, 0, 0], [3, 1, 1], [0, 0, 1]]


def test_a_goal_that_is_met_does_not_count_beside_one_that_is_not() -> None:
    assert ended(GoalTable(chains()[2:3]), [[0, 3, 0]], [[1.0, 0.0, 0.0]]) == [[3]]


class Row(NamedTuple):
    """What the kernel tells of the goals of one row."""

    goal_status: list[int]
    goal_residual: list[float]
    goal_turn: list[float]
    softened: list[float]


def test_plain_numbers_of_a_row_are_those_of_many() -> None:
    random, asked = Random(8), chains()
    count = sum(one.goal_count for one in asked)
    for _ in range(200):
        numbers = [[random.choice((0.0, 0.5, random.random())) for _ in range(count)] for _ in range(3)]
        row = Row([random.choice((0, 0, 1, 3)) for _ in range(count)], *numbers)
        many = asked.result(np.array([row.goal_status], np.int32), *(np.array([one]) for one in numbers))
        assert asked.ended(cast("Rows", row)) == [*zip(*(part[0].tolist() for part in many), strict=True)]
