# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks over all kinds of ground: feet stand still, neither in nor above it, within reach, and ride on what moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import sin

import pytest
from fabrik_addon.gait.feet import Refusal
from fabrik_addon.gait.ground import Hit
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at, from_text, to_text
from fabrik_addon.maths import (
    ORIGIN,
    Q4,
    V3,
    Z_AXIS,
    conjugated,
    distance,
    dot,
    minus,
    plus,
    scaled,
    turn_about,
    turned,
)

from dev.walk_measures import Judged, farthest_foothold, judge, shown
from dev.walkers import (
    CREATURES,
    GROUNDS,
    HUMAN,
    ROOM,
    SPIDER,
    Heights,
    Room,
    ahead,
    ground_of,
    height_of,
    over,
    path_of,
    slope,
    stairs,
    up_the_wall,
    well_over,
)
from support.gaits import planned

PEOPLES_FEET = 22.0  # degrees in a frame: by how much the mean of people turns who walk briskly (v* = .57)
SUPPORTED = 0.95  # of all frames, for the gaits that always stand on three feet or more


@cache
def walked(name: str, kind: str) -> tuple[WalkPlan, Judged]:
    terrain = ground_of(name, kind)
    plan = planned(over(name, kind), CREATURES[name], terrain)
    return plan, judge(plan, terrain)


CASES = [(name, kind) for name in CREATURES for kind in GROUNDS]


def assert_sound(name: str, judged: Judged) -> None:
    """Standing feet do not slip, none is in the ground or hangs over it, legs reach, neighbours are not up together.

    But for a human's the centre is over the standing feet.
    """
    assert judged.slip <= 1e-4
    assert judged.inside <= 0.01
    assert judged.hover <= 0.005
    assert judged.hanging == 0
    assert judged.stretched == 0
    assert judged.together == 0
    assert judged.supported >= SUPPORTED or name == "human"


def assert_calm(name: str, judged: Judged) -> None:
    """Legs and feet do not whirl: at 24 frames a second, seen from the hip, in degrees."""
    assert judged.turned <= 15.0
    assert judged.foot_turned <= (PEOPLES_FEET if name == "human" else 15.0)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_walk_is_sound_and_ends_under_the_body(name: str, kind: str) -> None:
    """After the path's end the last feet come home."""
    plan, judged = walked(name, kind)
    assert_sound(name, judged)
    assert_calm(name, judged)
    assert judged.drift <= 1e-3
    assert judged.stances > 0
    assert all(foot.is_planted for foot in feet_at(plan, plan.last))


@pytest.mark.parametrize(
    ("name", "kind"), [("spider", "flat"), ("spider", "stairs"), ("hexapod", "gap"), ("wolf", "gap")]
)
def test_of_places_that_are_as_good_the_frame_rate_chooses_none(name: str, kind: str) -> None:
    """Round a place that is refused others are alike but for rounding, in which paths of other rates differ."""
    plan, _ = walked(name, kind)
    assert any(step.refused for steps in plan.steps for step in steps)
    for fps in (30.0, 60.0):
        other = planned(over(name, kind, fps), CREATURES[name], ground_of(name, kind))
        assert farthest_foothold(shown(plan), shown(other)) <= 1e-3


def test_a_slope_lifts_the_body_and_tilts_it_by_its_share() -> None:
    for name in ("spider", "human"):
        plan, _ = walked(name, "slope")
        legs = CREATURES[name]
        place, rotation = body_pose_at(plan, plan.last)
        ground = ground_of(name, "slope").ray((0.0, place[1], 100.0), (0.0, 0.0, -1.0), 200.0, 0.0)
        assert ground is not None
        assert place[2] - ground.place[2] == pytest.approx(height_of(legs), abs=0.12 * legs[0].reach)
        upright = dot(turned(rotation, Z_AXIS), ground.normal)
        assert upright > 0.999 if name == "spider" else upright == pytest.approx(ground.normal[2], abs=1e-6)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kind in CASES if kind in ("slope", "stairs", "gap")])
def test_all_legs_get_onto_the_ground(name: str, kind: str) -> None:
    """Of small and slow creatures the first legs alone get there within the time of the other tests, if any do."""
    legs, start = CREATURES[name], CREATURES[name][0].reach
    terrain = ground_of(name, kind, start)
    plan = planned(well_over(name, kind), legs, terrain)
    assert all(foot.sole[1] < -start for foot in feet_at(plan, plan.last))
    assert_sound(name, judge(plan, terrain))


def test_refused_footholds_say_why() -> None:
    told = {reason for steps in walked("human", "gap")[0].steps for step in steps for _, reason in step.refused}
    assert Refusal.NO_GROUND in told
    assert Refusal.EDGE in told
    plan, _ = walked("human", "stairs")
    assert Refusal.EDGE in {reason for steps in plan.steps for step in steps for _, reason in step.refused}


def test_ground_that_is_too_steep_is_refused() -> None:
    legs = CREATURES["human"]
    plan = planned(ahead(legs, 4.0), legs, slope(25.0), slope_max=0.3)
    assert Refusal.SLOPE in {reason for steps in plan.steps for step in steps for _, reason in step.refused}


def test_a_spider_walks_up_a_wall_and_along_the_ceiling() -> None:
    room = Room(*ROOM)
    plan = planned(up_the_wall(room, SPIDER), SPIDER, room, gravity="SURFACE")
    judged = judge(plan, room)
    assert_sound("spider", judged)
    assert_calm("spider", judged)
    _, rotation = body_pose_at(plan, plan.last)
    assert dot(turned(rotation, Z_AXIS), Z_AXIS) < -0.99
    assert all(foot.sole[2] == pytest.approx(4.0) for foot in feet_at(plan, plan.last))


def test_a_person_leans_on_stairs_without_stretching() -> None:
    """The body comes down where a leg would not reach, smoothly."""
    plan, _ = walked("human", "stairs")
    heights = [body_pose_at(plan, plan.first + frame)[0][2] for frame in range(int(plan.last - plan.first))]
    bends = [abs(a - 2.0 * b + c) for a, b, c in zip(heights, heights[1:], heights[2:], strict=False)]
    assert max(bends) < 0.03 * CREATURES["human"][0].reach


@pytest.mark.parametrize("speed", [0.4, 0.7])
@pytest.mark.parametrize(("rise", "tread"), [(0.15, 0.32), (0.17, 0.29), (0.19, 0.26)])
def test_people_walk_up_and_down_stairs_as_houses_have_them(rise: float, tread: float, speed: float) -> None:
    """Each foot on a step of its own or two beyond it, flat, and no higher in between than the edges ask for."""
    legs, ground = CREATURES["human"], stairs(rise, tread)
    path = path_of(lambda time: (0.0, -speed * time, height_of(legs)), 7.0 / speed, 24.0)
    plan = planned(path, legs, ground)
    judged, reach = judge(plan, ground), legs[0].reach
    assert judged.slip <= 1e-6
    assert judged.inside <= 1e-6
    assert judged.hover <= 1e-6
    assert judged.stretched == 0
    assert judged.turned <= 22.0
    steps = [step for own in plan.steps for step in own]
    assert max(step.apex for step in steps) <= 0.21 * reach
    assert max(abs(step.end.place[2] - step.start.place[2]) for step in steps) <= 3.001 * rise
    assert len({round(step.end.place[2] / rise) for step in steps}) >= 8
    assert all(dot(turned(step.end.rotation, Z_AXIS), Z_AXIS) > 0.9999 for step in steps)
    feet = [foot for frame in range(plan.first, int(plan.last)) for foot in feet_at(plan, frame)]
    heights = [foot.sole[2] - (ground.height(foot.sole[0], foot.sole[1]) or 0.0) for foot in feet]
    assert max(heights) <= 0.6 * reach


# Ground that moves, ground that is missing, and ground that is thin.


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


def on_platform(legs: tuple[Leg, ...], speed: float) -> WalkPlan:
    path = path_of(lambda time: (0.0, -speed * time, height_of(legs)), 6.0)
    return planned(path, legs, Platform())


@pytest.mark.parametrize("legs", [HUMAN, SPIDER], ids=["human", "spider"])
@pytest.mark.parametrize("speed", [0.0, 0.6])
def test_a_foot_rides_on_what_it_stands_on(legs: tuple[Leg, ...], speed: float) -> None:
    """At whole frames and between them; feet that are carried away from under the body step back."""
    plan = on_platform(legs, speed)
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
    plan = on_platform(SPIDER, 0.3)
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
