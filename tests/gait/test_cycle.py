# SPDX-License-Identifier: GPL-3.0-or-later
"""People who walk: their joints beside those of the cycle, legs that reach on any ground, and cycles themselves."""

from itertools import pairwise
from math import atan2, degrees, hypot, sqrt

import numpy as np
import pytest
from fabrik_addon.gait.ground import Plain, Terrain
from fabrik_addon.gait.human import angles_at, arm_at, human_cycle
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at
from fabrik_addon.maths import FRONT, Z_AXIS, conjugated, distance, multiplied, turn_about, turned

from dev.walk_measures import beside_norms, from_the_side, stretched
from dev.walkers import HUMAN, height_of, path_of, slope, stairs
from support.gaits import planned

LEG = HUMAN[0]
STRAIGHTEST = 1.0005  # of a leg's reach, to which one may seem stretched between two samples


def walked(pace: float, terrain: Terrain | None = None, energy: float = 0.0, start: float = 0.5) -> WalkPlan:
    speed = pace * sqrt(9.81 * LEG.reach)
    path = path_of(lambda time: (0.0, -speed * max(time - start, 0.0), height_of(HUMAN)), 9.0, 60.0)
    return planned(path, HUMAN, terrain, energy=energy)


@pytest.mark.parametrize(("pace", "thigh"), [(0.15, 4.0), (0.295, 3.0), (0.43, 3.0), (0.57, 3.0)])
def test_people_walk_as_the_means_of_those_who_were_measured(pace: float, thigh: float) -> None:
    plan = walked(pace)
    steps = [step for step in plan.steps[0] if step.lift > 3.0 and step.land < 8.5]
    first, last = steps[-2].land, steps[-1].land
    (off, together), (knee, alike), (pitch, rolled), _ = beside_norms(plan, pace, (first, last))
    assert off <= thigh
    assert together >= 0.94
    assert knee <= 5.0
    assert alike >= 0.95
    assert pitch <= 5.0
    assert rolled >= 0.97


@pytest.mark.parametrize("ground", [Plain(), slope(10.0), slope(20.0), slope(-20.0), stairs(0.17, 0.43)])
def test_no_leg_is_too_short_and_no_body_leaps(ground: Terrain) -> None:
    plan = walked(0.3, ground, 1.0)
    frames = range(60, int(plan.last) - 150, 2)
    assert max(stretched(plan, frame, leg) for frame in frames for leg in (0, 1)) <= STRAIGHTEST + 1e-3
    heights = [body_pose_at(plan, frame)[0][2] / LEG.reach for frame in frames]
    assert np.abs(np.diff(heights, 2)).max() <= 0.08


def test_a_foot_begins_and_ends_its_swing_as_it_stands() -> None:
    for pace in (0.05, 0.2, 0.43, 0.7, 3.0):
        cycle = human_cycle(pace, 1.0, LEG.foot)
        (across, rise, pitch, _), (gone, landed, struck, _) = cycle.swing[0], cycle.swing[-1]
        assert (across, gone) == pytest.approx((0.0, 1.0))
        assert (rise, landed) == pytest.approx((0.0, 0.0), abs=1e-9)
        assert pitch == pytest.approx(cycle.toe_off)
        assert struck == pytest.approx(-cycle.strike, abs=0.02)
        assert all((0.9 if cycle.duty > 0.5 else 0.85) < reach <= 1.0 for reach in cycle.reaches)
        assert 0.3 < cycle.duty < 0.8


def test_feet_are_near_the_middle_and_hips_go_from_side_to_side() -> None:
    plan = walked(0.43)
    steps = [step for step in plan.steps[0] if step.lift > 3.0]
    assert abs(steps[0].end.place[0]) / LEG.reach == pytest.approx(0.065, abs=0.005)
    ways = [body_pose_at(plan, frame)[0][0] / LEG.reach for frame in range(240, 400)]
    assert 0.03 < max(ways) - min(ways) < 0.08


def test_who_stands_stands_as_at_rest() -> None:
    plan = walked(0.43, start=2.0)
    place, rotation = body_pose_at(plan, plan.first)
    assert hypot(place[0], place[1]) < 1e-6
    assert place[2] == pytest.approx(height_of(HUMAN), abs=1e-6)
    assert rotation == pytest.approx((1.0, 0.0, 0.0, 0.0), abs=1e-6)


def test_an_arm_goes_against_the_leg_of_its_side() -> None:
    phases = np.arange(20) / 20
    own, _ = arm_at(np.full(20, 0.43), phases, 1.0)
    assert np.corrcoef(own, angles_at(0.43, phases).thigh)[0, 1] < -0.8
    assert 20.0 <= degrees(np.ptp(own)) <= 40.0
    assert max(np.ptp(part) for part in arm_at(np.zeros(20), phases, 1.0)) == 0.0


@pytest.mark.parametrize(("pace", "duty"), [(0.8, 0.4), (1.0, 0.375), (1.2, 0.35)])
def test_people_run_as_textbooks_have_it(pace: float, duty: float) -> None:
    """Novacheck (1998): both feet in the air twice, a knee of 40 degrees in mid-stance and of 90 to 100 in the air."""
    plan = walked(pace)
    steps = [step for step in plan.steps[0] if step.lift > 3.0 and step.land < 8.5]
    first, last = steps[-2].land, steps[-1].land
    assert distance(steps[-2].end.place, steps[-1].end.place) == pytest.approx(2.75 * pace * LEG.reach, rel=0.05)
    assert (steps[-1].lift - first) / (last - first) == pytest.approx(duty, abs=0.03)
    frames = [plan.first + (first + index / 48 * (last - first)) * plan.fps for index in range(48)]
    flying = [not any(foot.is_planted for foot in feet_at(plan, frame)) for frame in frames]
    assert np.mean(flying) == pytest.approx(1.0 - 2.0 * duty, abs=0.05)
    knees = [from_the_side(plan, frame)[1] for frame in frames]
    assert max(knees[5:12]) == pytest.approx(45.0, abs=10.0)
    assert max(knees) == pytest.approx(95.0, abs=10.0)
    assert knees.index(max(knees)) / 48 == pytest.approx(0.7, abs=0.05)
    heights = [body_pose_at(plan, frame)[0][2] / LEG.reach for frame in frames]
    assert 0.04 < max(heights) - min(heights) < 0.1
    assert flying[heights.index(max(heights))]
    assert np.abs(np.diff(heights, 2)).max() <= 0.02


def test_a_body_that_bounces_less_is_no_higher_and_legs_reach() -> None:
    speed = 0.43 * sqrt(9.81 * LEG.reach)
    path = path_of(lambda time: (0.0, -speed * max(time - 0.5, 0.0), height_of(HUMAN)), 6.0, 60.0)
    bobs = []
    for bounce in (0.0, 0.5, 1.0, 1.5):
        plan = planned(path, HUMAN, bounce=bounce)
        heights = [body_pose_at(plan, frame)[0][2] / LEG.reach for frame in range(180, 320)]
        bobs.append(max(heights) - min(heights))
        assert max(stretched(plan, frame, leg) for frame in range(180, 320) for leg in (0, 1)) <= STRAIGHTEST + 1e-3
    assert bobs == sorted(bobs)
    assert bobs[0] <= 0.01
    assert bobs[3] >= 1.3 * bobs[2]


@pytest.mark.parametrize(("pace", "own"), [(0.3, 0.57), (0.43, 0.2)])
def test_a_speed_that_is_set_gives_strides_and_angles_and_the_path_the_time(pace: float, own: float) -> None:
    speed = pace * sqrt(9.81 * LEG.reach)
    path = path_of(lambda time: (0.0, -speed * max(time - 2.0, 0.0), height_of(HUMAN)), 13.0)
    plans = [planned(path, HUMAN, energy=0.0, pace=one) for one in (own, 0.0)]
    steps = [[step for step in plan.steps[0] if step.lift > 4.0 and step.land < 12.0] for plan in plans]
    strides = [distance(one[1].start.place, one[1].end.place) for one in steps]
    assert strides == pytest.approx([2.45 * sqrt(v) * LEG.reach for v in (own, pace)], rel=0.05)
    (off, _), (knee, alike), _, _ = beside_norms(plans[0], own, (steps[0][0].land, steps[0][1].land))
    assert off <= 5.0
    assert knee <= 6.0
    assert alike >= 0.95
    place, rotation = body_pose_at(plans[0], 1)
    assert place[2] == pytest.approx(height_of(HUMAN), abs=1e-6)
    assert rotation == pytest.approx((1.0, 0.0, 0.0, 0.0), abs=1e-6)


def test_who_turns_on_the_spot_steps_and_stays_upright() -> None:
    path = path_of(lambda time: (0.0, 0.0, height_of(HUMAN)), 6.0, 24.0, lambda time: turn_about(Z_AXIS, time))
    plan = planned(path, HUMAN)
    assert all(5 <= len(steps) <= 9 for steps in plan.steps)  # of 40 to 60 degrees
    for frame in range(1, 140):
        place, rotation = body_pose_at(plan, frame)
        assert place[2] == pytest.approx(height_of(HUMAN), abs=0.01 * LEG.reach)
        for foot in feet_at(plan, frame):
            x, y, _ = turned(multiplied(conjugated(rotation), foot.rotation), FRONT)
            assert not foot.is_planted or abs(degrees(atan2(x, -y))) <= 60.0


@pytest.mark.parametrize(("way", "share"), [((0.0, 1.0), 0.65), ((1.0, 0.0), 0.5)], ids=["back", "sideways"])
def test_who_goes_back_or_to_the_side_makes_short_steps(way: tuple[float, float], share: float) -> None:
    pace = 0.17
    speed = pace * sqrt(9.81 * LEG.reach)
    path = path_of(lambda time: (speed * time * way[0], speed * time * way[1], height_of(HUMAN)), 7.0)
    plan = planned(path, HUMAN)
    steps = [step for step in plan.steps[0] if step.lift > 2.5 and step.land < 6.0]
    wanted = share * 2.45 * sqrt(pace) * LEG.reach
    assert len(steps) >= 2
    assert [distance(step.start.place, step.end.place) for step in steps] == pytest.approx(
        [wanted] * len(steps), rel=0.1
    )
    heights = [body_pose_at(plan, frame)[0][2] / LEG.reach for frame in range(60, 140)]
    assert max(heights) - min(heights) <= 0.06
    assert height_of(HUMAN) / LEG.reach - min(heights) <= 0.06
    knees = [from_the_side(plan, frame)[1] for frame in range(60, 140)]
    assert max(abs(b - a) for a, b in pairwise(knees)) <= 20.0
