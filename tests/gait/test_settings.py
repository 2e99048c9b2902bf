# SPDX-License-Identifier: GPL-3.0-or-later
"""What each setting does, and that it does nothing where it is neutral."""

from dataclasses import replace
from math import asin
from typing import Any

import pytest
from fabrik_addon.gait.feet import HEEL_STRIKE
from fabrik_addon.gait.ground import Plain, Terrain
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at, sample
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import RANGES, settings_for
from fabrik_addon.maths import IDENTITY, Z_AXIS, angle_between, distance, turned

from dev.walk_measures import judge
from dev.walkers import CREATURES, HUMAN, SPIDER, WOLF, ahead, flat, height_of, noise, plan_walk, slope
from support.gaits import planned

FRAMES = range(1, 97, 3)


def walked(legs: tuple[Leg, ...], terrain: Terrain | None = None, **changes: Any) -> WalkPlan:
    return planned(ahead(legs, 4.0, froude=0.05), legs, terrain or flat(), **changes)


@pytest.mark.parametrize("name", CREATURES)
def test_what_a_creature_gets_by_itself_is_in_range(name: str) -> None:
    settings = settings_for(CREATURES[name])
    for setting, (low, high) in RANGES.items():
        assert low <= float(getattr(settings, setting)) <= high


def test_feet_rise_to_the_step_height() -> None:
    for height in (0.0, 0.1, 0.3):
        plan = walked(SPIDER, step_height=height, clearance=0.0)
        apexes = [step.apex for steps in plan.steps for step in steps]
        assert apexes == pytest.approx([height * SPIDER[0].reach] * len(apexes))


def test_feet_keep_clear_of_the_ground_midway() -> None:
    plan = walked(SPIDER, step_height=0.0, clearance=0.08)
    for steps in plan.steps:
        for step in steps:
            middle = plan.first + 24.0 * 0.5 * (step.lift + step.land)
            assert feet_at(plan, middle)[step.leg].sole[2] >= 0.07 * SPIDER[0].reach


def test_strides_follow_their_scale() -> None:
    ways = []
    for scale in (0.5, 1.0):
        steps = walked(SPIDER, stride_scale=scale).steps[0]
        ways.append(max(distance(step.start.place, step.end.place) for step in steps))
    assert ways[0] == pytest.approx(0.5 * ways[1], rel=0.1)


@pytest.mark.parametrize("legs", [HUMAN, WOLF, SPIDER], ids=["human", "wolf", "spider"])
def test_the_body_is_held_at_its_height(legs: tuple[Leg, ...]) -> None:
    plan = walked(legs, body_height=0.7)
    lowered = height_of(legs) - body_pose_at(plan, plan.last)[0][2]
    assert lowered == pytest.approx(0.3 * legs[0].height, abs=1e-6)
    high = walked(legs, body_height=1.5)
    assert judge(high, flat()).stretched == 0


def test_a_body_that_is_not_carried_keeps_its_path() -> None:
    plan = walked(SPIDER, noise(0.1, 4.0), body_carry=0.0, body_tilt=0.0, body_sway=0.0)
    for frame in FRAMES:
        offset, tilt = sample(plan.carried, plan.time_of(frame))
        assert offset == pytest.approx((0.0, 0.0, offset[2]), abs=1e-12)
        assert offset[2] <= 1e-12
        assert tilt == IDENTITY


def test_the_body_takes_on_its_share_of_the_slope() -> None:
    angles = []
    for share in (0.0, 0.5, 1.0):
        plan = walked(SPIDER, slope(20.0), body_tilt=share)
        angles.append(angle_between(turned(body_pose_at(plan, plan.last)[1], Z_AXIS), Z_AXIS))
    assert angles[0] == 0.0
    assert angles[1] == pytest.approx(0.5 * angles[2], rel=0.1)
    assert angles[2] > 0.2


def test_the_body_sways_to_the_standing_feet() -> None:
    widths = []
    for share in (0.0, 0.5, 1.0):
        plan = walked(WOLF, body_sway=share)
        widths.append(max(abs(offset[0]) for offset, _ in plan.carried))
    assert widths[0] == 0.0
    assert 0.0 < widths[1] < widths[2]


def test_feet_that_take_on_no_slope_stand_upright_and_not_in_the_ground() -> None:
    plan = walked(HUMAN, slope(15.0), foot_tilt=0.0, heel_toe=0.0)
    for frame in FRAMES:
        for foot in feet_at(plan, frame):
            assert foot.pitch == 0.0
    assert judge(plan, slope(15.0)).inside <= 0.01


@pytest.mark.parametrize("degrees", [0.0, 10.0, 18.0])
def test_uphill_the_toes_are_no_higher_at_landing_than_on_level_ground(degrees: float) -> None:
    plan = walked(HUMAN, slope(degrees))
    steps = [step for steps in plan.steps for step in steps]
    toes = [step.heel_strike + asin(turned(step.end.rotation, (0.0, -1.0, 0.0))[2]) for step in steps]
    assert 0.2 < max(toes) <= HEEL_STRIKE + 1e-9
    assert max(step.toe_off for step in steps) > 0.2


@pytest.mark.parametrize("legs", [WOLF, HUMAN], ids=["wolf", "human"])
def test_without_a_look_ahead_feet_land_at_their_homes(legs: tuple[Leg, ...]) -> None:
    changes: dict[str, Any] = (
        {"gait": "BIPED_WALK"} if settings_for(legs).gait == "HUMAN" else {}
    )  # people walk narrower
    plan = walked(legs, prediction=0.0, **changes)
    for steps in plan.steps:
        free = [step for step in steps[1:-2] if not step.refused]  # not sent aside by another foot
        assert free
        for step in free:
            track = plan.body[round(step.land * 60.0)][0]
            home = legs[step.leg].home
            assert distance(step.end.place, (track[0] + home[0], track[1] + home[1], 0.0)) < 0.02


def test_both_curves_swing() -> None:
    for curve in ("SMOOTH", "SINE"):
        plan = walked(HUMAN, noise(0.1, 3.0), swing_curve=curve)
        judged = judge(plan, noise(0.1, 3.0))
        assert judged.inside <= 0.01
        assert judged.slip <= 1e-4


def test_the_plain_lies_where_it_is_said_to() -> None:
    plan = walked(SPIDER, Plain(0.3))
    assert all(foot.sole[2] == 0.3 for foot in feet_at(plan, plan.last))
    assert body_pose_at(plan, plan.last)[0][2] == pytest.approx(0.3 + height_of(SPIDER))
    assert Plain(0.3).digest != Plain(0.4).digest


def test_settings_may_change_along_the_way() -> None:
    path = ahead(SPIDER, 4.0, froude=0.05)
    base = settings_for(SPIDER)
    settings = tuple(replace(base, body_height=1.0 - 0.3 * min(i / 48.0, 1.0)) for i in range(len(path.places)))
    plan = plan_walk(Walk(path, SPIDER, settings, flat()))
    heights = [body_pose_at(plan, frame)[0][2] for frame in (1, 97)]
    assert heights[0] == pytest.approx(height_of(SPIDER), abs=0.02)
    assert heights[1] == pytest.approx(height_of(SPIDER) - 0.3 * SPIDER[0].height, abs=0.02)
