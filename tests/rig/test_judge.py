# SPDX-License-Identifier: GPL-3.0-or-later
"""How a pose stands beside its goals: the numbers are what they are called, and of many frames those of each alone."""

from __future__ import annotations

from math import acos, pi
from random import Random

import numpy as np
import pytest
from fabrik_addon.maths import Q4, Z_AXIS, Doubles, multiplied, normalized, rotated, turn_about, unit
from fabrik_addon.rig.figure.chain_goals import Asked, lined_up
from fabrik_addon.rig.figure.judge import Columns, Judged, judge, worst_status

FRAMES, JOINTS = 7, 4
EXACT = 1e-12


def chains() -> tuple[Asked, ...]:
    """Chains of a figure of four joints that ask for all that can be asked for."""
    return lined_up(
        [
            Asked("place", (), (0, 1, 2, 3)),
            Asked("head", (), (0, 1, 2, 3), at_head=True, has_pole=True, pole_angle=0.4),
            Asked("turn", (), (0, 1), turns=True, has_pole=True),
            Asked("aim", (), (2,), aims=True, axis=(0.0, 0.6, 0.8)),
            Asked("nothing", (), (3,), turns=True, weight=0.0),
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


def judged() -> Judged:
    return judge(Columns.of(chains()), *drawn())


def angle(a: Doubles, b: Doubles) -> float:
    return acos(min(1.0, float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))))


@pytest.mark.parametrize("k", range(FRAMES))
def test_many_frames_are_judged_as_each_alone(k: int) -> None:
    alone = judge(Columns.of(chains()), *(one[k : k + 1] for one in drawn()))
    for many, one in zip(judged(), alone, strict=True):
        assert many[k].tobytes() == one[0].tobytes()


def test_a_place_is_missed_by_the_distance_from_the_effector() -> None:
    numbers, heads, ends, _ = drawn()
    found, asked = judged(), chains()
    for c, effectors in ((0, ends), (1, heads)):
        off = numbers[:, asked[c].row_at : asked[c].row_at + 3] - effectors[:, 3]
        assert found.off[:, c] == pytest.approx(off)
        assert found.residual[:, c] == pytest.approx(np.linalg.norm(off, axis=1))
    assert found.off[:, 2] == pytest.approx(numbers[:, asked[2].row_at : asked[2].row_at + 3] - ends[:, 1])


def test_chains_that_aim_or_ask_for_nothing_miss_no_place() -> None:
    found = judged()
    assert not found.residual[:, 3:].any()
    assert not found.turn[:, 4].any()


def test_a_rotation_is_missed_by_the_angle_between() -> None:
    asked = chains()[2]
    numbers, heads, ends, frames = drawn()
    for k, by in enumerate(np.linspace(0.0, pi, FRAMES).tolist()):
        wanted: Q4 = multiplied(frames[k, 1].tolist(), turn_about(unit((1.0, -2.0, 0.5)), by))
        numbers[k, asked.row_at + 3 : asked.row_at + 7] = wanted if k % 2 else [-one for one in wanted]
    found = judge(Columns.of(chains()), numbers, heads, ends, frames)
    assert found.turn[:, 2] == pytest.approx(np.linspace(0.0, pi, FRAMES), abs=1e-7)


def test_an_aim_is_missed_by_the_angle_of_its_axis() -> None:
    asked = chains()[3]
    numbers, heads, _, frames = drawn()
    for k in range(FRAMES):
        along = np.array(rotated(frames[k, 2].tolist(), asked.axis))
        wanted = numbers[k, asked.row_at : asked.row_at + 3] - heads[k, 2]
        assert judged().turn[k, 3] == pytest.approx(angle(along, wanted))


@pytest.mark.parametrize("off", [-2.0, -0.3, 0.0, 1.1])
@pytest.mark.parametrize("pole_angle", [0.0, 0.7])
def test_a_bend_is_off_its_pole_by_the_angle_about_the_limb(off: float, pole_angle: float) -> None:
    """A knee out along X, the pole turned away from there about the line from hip to foot."""
    asked = lined_up([Asked("leg", (), (0, 1), has_pole=True, pole_angle=pole_angle)])
    heads, ends = np.array([[[0, 0, 0], [0.3, 0, 1.0]]]), np.array([[[0.3, 0, 1.0], [0, 0, 2.0]]])
    pole = rotated(turn_about(Z_AXIS, off - pole_angle), (2.0, 0.0, 0.0))
    numbers = np.array([[0.0, 0.0, 2.0, *pole]])
    found = judge(Columns.of(asked), numbers, heads, ends, np.tile((1.0, 0.0, 0.0, 0.0), (1, 2, 1)))
    assert found.pole[0, 0] == pytest.approx(abs(off), abs=EXACT)
    assert found.residual[0, 0] == 0.0


def test_the_joint_that_stands_farthest_out_tells_the_bend() -> None:
    asked = lined_up([Asked("leg", (), (0, 1, 2), has_pole=True)])
    heads = np.array([[[0, 0, 0], [0.1, 0, 1.0], [0, 0.4, 2.0]]])
    numbers = np.array([[0.0, 0.0, 3.0, 0.0, 5.0, 1.0]])
    ends = np.array([[[0.1, 0, 1.0], [0, 0.4, 2.0], [0, 0, 3.0]]])
    found = judge(Columns.of(asked), numbers, heads, ends, np.tile((1.0, 0.0, 0.0, 0.0), (1, 3, 1)))
    assert found.pole[0, 0] == pytest.approx(0.0, abs=EXACT)


@pytest.mark.parametrize("bend", [0.0, 1e-8])
def test_a_straight_limb_tells_no_bend(bend: float) -> None:
    asked = lined_up([Asked("leg", (), (0, 1), has_pole=True)])
    heads, ends = np.array([[[0, 0, 0], [bend, 0, 1.0]]]), np.array([[[bend, 0, 1.0], [0, 0, 2.0]]])
    numbers = np.array([[0.0, 0.0, 2.0, 0.0, 5.0, 1.0]])
    found = judge(Columns.of(asked), numbers, heads, ends, np.tile((1.0, 0.0, 0.0, 0.0), (1, 2, 1)))
    assert found.pole[0, 0] == 0.0


def test_a_chain_ends_as_its_goal_that_is_missed_most() -> None:
    asked = chains()[:3]
    status = np.array([[0, 0, 3, 0, 0, 0], [3, 1, 0, 2, 1, 3], [0, 0, 0, 1, 2, 3]], dtype=np.int32)
    missed = np.array([[9.0, 1.0, 9.0, 2.0, 1.0, 9.0], [0.1, 0.2, 0.0, 0.5, 0.6, 9.0], [0, 0, 0, 0.5, 0.5, 9.0]])
    assert [one.wanted for one in asked] == [range(1), range(1, 2), range(3, 5)]  # poles are no goal that can be missed
    assert worst_status(asked, status, missed).tolist() == [[0, 0, 0], [3, 1, 1], [0, 0, 1]]


def test_a_goal_that_is_met_does_not_count_beside_one_that_is_not() -> None:
    asked = chains()[2:3]
    goals = np.zeros((1, 6), dtype=np.int32)
    goals[0, 4] = 3
    assert worst_status(asked, goals, np.array([[0, 0, 0, 1.0, 0.0, 0]])).tolist() == [[3]]
