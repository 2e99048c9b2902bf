# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground that moves, ground that is missing, and ground that is thin."""

from dataclasses import dataclass, replace
from math import sin

import pytest
from fabrik_addon.gait.ground import Hit
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at, from_text, to_text
from fabrik_addon.maths import ORIGIN, Q4, V3, Z_AXIS, conjugated, distance, minus, plus, scaled, turn_about, turned

from dev.walkers import HUMAN, SPIDER, Heights, ahead, height_of, path_of
from support.gaits import planned


@dataclass(frozen=True)
class Platform:
    """A level plate without end that slides and turns about Z."""

    speed: V3 = (0.2, 0.0, 0.0)
    rate: float = 0.2
    digest: str = "platform"

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        distance = -(origin[2] - self.height(time)) / direction[2] if direction[2] else -1.0
        if not 0.0 <= distance <= reach:
            return None
        return Hit(plus(origin, scaled(direction, distance)), Z_AXIS, 3)

    def height(self, time: float) -> float:
        return 0.1 * sin(time)

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        return Hit((place[0], place[1], self.height(time)), Z_AXIS, 3)

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        assert number == 3
        x, y, _ = scaled(self.speed, time)
        return (x, y, self.height(time)), turn_about(Z_AXIS, self.rate * time)


def walked(legs: tuple[Leg, ...], speed: float) -> WalkPlan:
    path = path_of(lambda time: (0.0, -speed * time, height_of(legs)), 6.0)
    return planned(path, legs, Platform())


@pytest.mark.parametrize("legs", [HUMAN, SPIDER], ids=["human", "spider"])
@pytest.mark.parametrize("speed", [0.0, 0.6])
def test_a_foot_rides_on_what_it_stands_on(legs: tuple[Leg, ...], speed: float) -> None:
    """At whole frames and between them; feet that are carried away from under the body step back."""
    plan = walked(legs, speed)
    assert any(plan.steps)
    for leg in range(len(legs)):
        held: V3 | None = None
        for frame in range(2, 290):
            foot = feet_at(plan, 1 + frame / 2)[leg]
            if not foot.is_planted or foot.pitch:
                held = None
                continue
            origin, rotation = Platform().surface(3, plan.time_of(1 + frame / 2))
            place = turned(conjugated(rotation), minus(foot.sole, origin))
            if held is not None:
                assert distance(place, held) < 2e-4 * legs[leg].reach
            held = place


def test_a_plan_on_moving_ground_is_read_without_it() -> None:
    plan = walked(SPIDER, 0.3)
    again = from_text(to_text(plan))
    assert all(feet_at(again, frame) == feet_at(plan, frame) for frame in range(1, 150))


def test_where_there_is_no_ground_feet_hang_at_home_and_it_is_told() -> None:
    cliff = Heights(lambda x, y: 0.0 if -y < 1.0 else None, "cliff")
    plan = planned(ahead(SPIDER, 8.0), SPIDER, cliff)
    assert any("finds no ground" in str(told) for told in plan.told)
    feet = feet_at(plan, plan.last)
    place, rotation = body_pose_at(plan, plan.last)
    assert all(foot.is_hanging and not foot.is_planted for foot in feet)
    for leg, foot in zip(SPIDER, feet, strict=True):
        assert foot.sole == pytest.approx(plus(place, turned(rotation, leg.home)), abs=1e-9)


def test_ground_that_comes_again_is_stepped_on() -> None:
    chasm = Heights(lambda x, y: None if 1.0 < -y < 4.0 else 0.0, "chasm")
    plan = planned(ahead(SPIDER, 12.0), SPIDER, chasm)
    assert any(foot.is_hanging for frame in range(1, 289, 8) for foot in feet_at(plan, frame))
    assert all(foot.is_planted and foot.sole[2] == 0.0 for foot in feet_at(plan, plan.last))


def test_over_nothing_at_all_the_body_stays_on_its_path() -> None:
    void = Heights(lambda x, y: None, "void")
    plan = planned(ahead(HUMAN, 3.0), HUMAN, void)
    assert all(foot.is_hanging for foot in feet_at(plan, 30))
    assert all(offset == ORIGIN for offset, _ in plan.carried)


def test_a_plane_that_is_met_from_behind_is_ground_all_the_same() -> None:
    class Below(Heights):
        def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
            hit = Heights.ray(self, origin, direction, reach, time)
            return replace(hit, normal=scaled(hit.normal, -1.0)) if hit is not None else None

    path = ahead(HUMAN, 3.0)
    over = planned(path, HUMAN, Heights(lambda x, y: 0.1 * x - 0.05 * y))
    under = planned(path, HUMAN, Below(lambda x, y: 0.1 * x - 0.05 * y))
    assert all(feet_at(over, frame) == feet_at(under, frame) for frame in range(1, 73))


@pytest.mark.parametrize("height", [-30.0, 30.0])
def test_ground_far_below_a_level_path_is_found(height: float) -> None:
    """A path that is drawn on the floor of the world, on a hill or in a valley."""
    plan = planned(ahead(SPIDER, 3.0), SPIDER, Heights(lambda x, y: height, f"hill {height}"))
    assert all(foot.is_planted and foot.sole[2] == height for foot in feet_at(plan, plan.last))
    assert body_pose_at(plan, plan.last)[0][2] == pytest.approx(height + height_of(SPIDER))


def test_a_path_whose_height_is_kept_leaves_the_ground() -> None:
    """With nothing carried a leap stays a leap."""

    def place(time: float) -> V3:
        return (0.0, -time, 0.94 + (1.5 * sin(3.14159 * (time - 1.0)) if 1.0 < time < 2.0 else 0.0))

    plan = planned(path_of(place, 3.0), HUMAN, Heights(lambda x, y: 0.0), body_carry=0.0)
    assert body_pose_at(plan, 37)[0][2] > 2.0
