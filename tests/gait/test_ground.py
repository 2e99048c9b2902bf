# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks over all kinds of ground: feet stand still, neither in the ground nor above it, within reach, supported."""

from functools import cache

import pytest
from fabrik_addon.gait.feet import Cause, Refused
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at
from fabrik_addon.maths import Z_AXIS, dot, turned

from dev.walk_measures import Judged, farthest_foothold, judge, shown
from dev.walkers import (
    CREATURES,
    GROUNDS,
    ROOM,
    SPIDER,
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
    assert {step.cause for steps in plan.steps for step in steps} <= {Cause.CYCLE, Cause.DRIFT, Cause.REACH}
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
    assert Refused.NO_GROUND in told
    assert Refused.EDGE in told
    plan, _ = walked("human", "stairs")
    assert Refused.EDGE in {reason for steps in plan.steps for step in steps for _, reason in step.refused}


def test_ground_that_is_too_steep_is_refused() -> None:
    legs = CREATURES["human"]
    plan = planned(ahead(legs, 4.0), legs, slope(25.0), slope_max=0.3)
    assert Refused.SLOPE in {reason for steps in plan.steps for step in steps for _, reason in step.refused}


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
