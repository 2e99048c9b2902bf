# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs and ankles that bend no farther: footholds, strides and stances stay within reach, and heels come up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import atan2, degrees, hypot, pi, radians

import pytest
from fabrik_addon.gait.feet import Refusal
from fabrik_addon.gait.ground import Terrain
from fabrik_addon.gait.hand_walk import HandWalk
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at, from_text, to_text
from fabrik_addon.gait.settings import settings_for
from fabrik_addon.maths import IDENTITY, Q4, V3, angle_between, conjugated, minus, multiplied, turned, unit_or

from dev.walk_measures import judge
from dev.walkers import FROUDE, HEXAPOD, HUMAN, SPIDER, WOLF, ahead, flat, height_of, noise, slope, stairs, turning
from support.gaits import planned

WALKERS = {"human": HUMAN, "wolf": WOLF, "hexapod": HEXAPOD, "spider": SPIDER}
ROUNDING = 0.3  # degrees: what counts as reached, as seen from the hip


@dataclass(frozen=True)
class Sectors:
    """Legs that swing to the front and to the back by so many degrees alone, as seen from above or from the side.

    Attributes:
        legs: The walker's.
        back: Degrees.
        front: Degrees.
    """

    legs: tuple[Leg, ...]
    back: float
    front: float

    @property
    def digest(self) -> str:
        return f"{self.back} {self.front}"

    def angle(self, leg: int, ankle: V3) -> float:
        """How far a leg is swung to the front for an ankle, degrees."""
        limb = self.legs[leg]
        way, home = minus(ankle, limb.hip), minus(limb.rest_ankle, limb.hip)

        def swing(v: V3) -> float:
            return atan2(-v[1], self._across(limb, v))

        turn = swing(way) - swing(home)
        return degrees((turn + pi) % (2.0 * pi) - pi)

    def _across(self, limb: Leg, way: V3) -> float:
        """The part of a way from the hip that a swing leaves: outwards for legs that are spread, else downwards."""
        is_spread = abs(limb.home[0] - limb.hip[0]) > 0.3 * limb.reach
        return way[0] * limb.side if is_spread else -way[2]

    def turn_missed(self, leg: int, ankle: V3, rotation: Q4) -> float:
        return 0.0

    def shortage(self, leg: int, ankle: V3) -> float:
        limb = self.legs[leg]
        way = minus(ankle, limb.hip)
        over = max(self.angle(leg, ankle) - self.front, -self.back - self.angle(leg, ankle), 0.0)
        return hypot(way[1], self._across(limb, way)) * radians(over)


def angles(plan: WalkPlan, limits: Sectors) -> list[float]:
    """How far legs that stand flat are swung, in degrees, in all frames."""
    found = []
    for frame in range(plan.first, int(plan.last) + 1):
        place, rotation = body_pose_at(plan, frame)
        for leg, foot in enumerate(feet_at(plan, frame)):
            if foot.is_planted and foot.pitch == 0.0:
                found.append(limits.angle(leg, turned(conjugated(rotation), minus(foot.ankle, place))))
    return found


@pytest.mark.parametrize("name", WALKERS)
def test_legs_that_swing_little_take_small_steps(name: str) -> None:
    legs = WALKERS[name]
    limits = Sectors(legs, 9.0, 9.0)
    path = ahead(legs, 5.0, froude=0.3 * FROUDE[name])
    plan = planned(path, legs, flat(), limits)
    swung = angles(plan, limits)
    assert max(swung) <= 9.0 + ROUNDING
    assert min(swung) >= -9.0 - ROUNDING
    free = planned(path, legs, flat())
    assert sum(map(len, plan.steps)) > sum(map(len, free.steps))


@pytest.mark.parametrize(("name", "front"), [("human", 3.0), ("wolf", 8.0), ("hexapod", 3.0), ("spider", 3.0)])
def test_legs_that_hardly_swing_forwards_land_near_their_homes(name: str, front: float) -> None:
    """The wolf's body sways, for which its legs need some degrees themselves."""
    legs = WALKERS[name]
    limits = Sectors(legs, 20.0, front)
    plan = planned(ahead(legs, 5.0, froude=0.2 * FROUDE[name]), legs, flat(), limits)
    swung = angles(plan, limits)
    assert max(swung) <= front + ROUNDING
    assert min(swung) >= -20.0 - ROUNDING
    if name == "spider":
        assert Refusal.LIMITS in {reason for steps in plan.steps for step in steps for _, reason in step.refused}


@pytest.mark.parametrize("kind", ["noise", "stairs"])
def test_on_rough_ground_too(kind: str) -> None:
    legs = SPIDER
    limits = Sectors(legs, 15.0, 15.0)
    terrain = noise(0.2, 2.0) if kind == "noise" else stairs(0.15, 0.8)
    plan = planned(ahead(legs, 6.0, froude=0.03), legs, terrain, limits)
    swung = angles(plan, limits)
    outside = sum(abs(angle) > 15.0 + ROUNDING for angle in swung)
    assert outside <= 0.01 * len(swung)


def test_turning_on_the_spot() -> None:
    limits = Sectors(SPIDER, 12.0, 12.0)
    plan = planned(turning(SPIDER, 4.0, 0.5), SPIDER, flat(), limits)
    assert max(map(abs, angles(plan, limits))) <= 12.0 + ROUNDING


def test_a_body_moved_by_hand_steps_before_the_limits_are_met() -> None:
    limits = Sectors(SPIDER, 14.0, 14.0)
    walk = HandWalk(SPIDER, settings_for(SPIDER), flat(), ((0.0, 0.0, height_of(SPIDER)), IDENTITY), limits)
    outside = 0
    for index in range(1, 300):
        place = (0.0, -0.004 * index, height_of(SPIDER))
        feet = walk.move(index / 60.0, (place, IDENTITY))
        outside += sum(
            abs(limits.angle(leg, minus(foot.ankle, place))) > 14.0 + ROUNDING
            for leg, foot in enumerate(feet)
            if foot.is_planted
        )
    assert outside == 0
    assert all(steps for _, steps in walk.feet)


def test_other_limits_are_another_plan() -> None:
    path = ahead(SPIDER, 1.0)
    one, other = (planned(path, SPIDER, flat(), Sectors(SPIDER, wide, wide)) for wide in (10.0, 20.0))
    free = planned(path, SPIDER, flat())
    assert len({one.digest, other.digest, free.digest}) == 3


# Ankles that bend no farther: heels come up on slopes, the ball stays where it stands, and nothing else changes.


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
