# SPDX-License-Identifier: GPL-3.0-or-later
"""Stiffness in a body, whose goals leave it many ways: stiff joints leave the turning to the others."""

from __future__ import annotations

import pytest
from fabrik_addon.kernel import PIN, Point, Solver, Status

from support.bodies import ENDS, HUMAN_BONES, INDEX, figure_of
from support.chains import IDENTITY, turn_angle

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


@pytest.mark.parametrize(("stiffness", "share"), [(0.75, 0.7), (1.0, 0.1)])
def test_a_stiff_trunk_hardly_turns(stiffness: float, share: float) -> None:
    assert trunk_turned(stiffness) < share * trunk_turned(0.0)
