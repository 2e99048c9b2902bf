# SPDX-License-Identifier: GPL-3.0-or-later
"""Ankles that bend no farther: heels come up on slopes, the ball stays where it stands, and nothing else changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import degrees, radians

import pytest
from fabrik_addon.gait.ground import Terrain
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at, from_text, to_text
from fabrik_addon.maths import Q4, V3, angle_between, conjugated, minus, multiplied, turned, unit_or

from dev.walk_measures import judge
from dev.walkers import FROUDE, HUMAN, ahead, flat, noise, slope
from support.gaits import planned

FORWARD: V3 = (0.0, -1.0, 0.0)


@dataclass(frozen=True)
class Ankles:
    """Feet that come no nearer to the line from hip to ankle than to an angle.

    Attributes:
        legs: The walker's.
        most: Degrees by which a foot may be up from square to the leg.
    """

    legs: tuple[Leg, ...]
    most: float

    @property
    def digest(self) -> str:
        return f"{self.most}"

    def shortage(self, leg: int, ankle: V3) -> float:
        return 0.0

    def turn_missed(self, leg: int, ankle: V3, rotation: Q4) -> float:
        return radians(max(self.bent(leg, ankle, rotation) - self.most, 0.0))

    def bent(self, leg: int, ankle: V3, rotation: Q4) -> float:
        """How far a foot is up from square to the leg, degrees."""
        way = unit_or(minus(self.legs[leg].hip, ankle), FORWARD)
        return 90.0 - degrees(angle_between(turned(rotation, FORWARD), way))


@cache
def climbed(most: float, rise: float) -> tuple[WalkPlan, Ankles]:
    ankles = Ankles(HUMAN, most)
    path = ahead(HUMAN, 6.0, froude=0.5 * FROUDE["human"])
    return planned(path, HUMAN, slope(rise), ankles), ankles


def bends(plan: WalkPlan, ankles: Ankles, *, standing: bool) -> list[float]:
    found = []
    for frame in range(plan.first, int(plan.last) + 1):
        place, rotation = body_pose_at(plan, frame)
        back = conjugated(rotation)
        for leg, foot in enumerate(feet_at(plan, frame)):
            if foot.is_planted == standing:
                ankle = turned(back, minus(foot.ankle, place))
                found.append(ankles.bent(leg, ankle, multiplied(back, foot.rotation)))
    return found


@pytest.mark.parametrize(("rise", "most"), [(15.0, 10.0), (25.0, 20.0)])
def test_ankles_stay_within_their_limits(rise: float, most: float) -> None:
    free, _ = climbed(90.0, rise)
    plan, ankles = climbed(most, rise)
    assert max(bends(free, ankles, standing=True)) > most + 5.0  # so that it is a test
    assert max(bends(plan, ankles, standing=True)) <= most + 2.0
    assert max(bends(plan, ankles, standing=False)) <= most + 10.0  # in the air it is only seen to now and then


def test_the_ball_stays_and_no_sole_is_in_the_ground() -> None:
    plan, _ = climbed(20.0, 25.0)
    judged = judge(plan, slope(25.0))
    assert judged.slip <= 1e-4
    assert judged.drift <= 1e-3
    assert judged.inside <= 0.01
    assert judged.hover <= 0.005
    assert judged.reached == 1.0
    assert any(step.end.pitch > 0.1 for steps in plan.steps for step in steps)


@pytest.mark.parametrize("ground", [flat(), noise(0.05, 3.0)], ids=["flat", "noise"])
def test_ankles_that_bend_far_enough_change_nothing(ground: Terrain) -> None:
    path = ahead(HUMAN, 4.0, froude=FROUDE["human"])
    free, limited = (planned(path, HUMAN, ground, reaching) for reaching in (None, Ankles(HUMAN, 80.0)))
    assert (limited.steps, limited.carried) == (free.steps, free.carried)


def test_they_are_stored() -> None:
    plan, _ = climbed(20.0, 25.0)
    assert from_text(to_text(plan)) == plan
