# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is led by a mouse: followed calmly by groups of feet, and recorded as it was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, cos, nan, radians, sin
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.gait.feet import Foothold, FootPaths, FootPose
from fabrik_addon.gait.ground import Plain, Terrain
from fabrik_addon.gait.hand_walk import HandWalk, Steering
from fabrik_addon.gait.human import human_cycle
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.settings import settings_for
from fabrik_addon.maths import IDENTITY, Q4, V3, Z_AXIS, distance, multiplied, placed, plus, scaled, turn_about, turned

from dev.walkers import HEXAPOD, HUMAN, SPIDER, WOLF, flat, height_of, noise, slope

WALKERS = {"human": HUMAN, "wolf": WOLF, "hexapod": HEXAPOD, "spider": SPIDER}


class Moment(NamedTuple):
    """A walk at a time: where the body is led, how its feet carry it, the phase of its clock, and its feet."""

    time: float
    place: V3
    body: tuple[V3, Q4]
    phase: float
    feet: Sequence[FootPose]


Look = Callable[[HandWalk, tuple[V3, Q4], Sequence[FootPose]], None]


def started(legs: tuple[Leg, ...], terrain: Terrain | None = None) -> HandWalk:
    """A creature that stands, on rough ground unless told otherwise."""
    at = (0.0, 0.0, height_of(legs)), IDENTITY
    return HandWalk(legs, settings_for(legs), terrain or noise(0.1 * legs[0].reach, 3.0), at, None)


def led(
    legs: tuple[Leg, ...], seconds: float, trembles: float = 0.0, look: Look = lambda walk, pose, feet: None
) -> HandWalk:
    """Lead a creature along a winding way, by a mouse that trembles, at the speed that it can go."""
    random, walk = Random(4), started(legs)
    steering = Steering((0.0, 0.0, height_of(legs)), IDENTITY, walk.fastest, "DOWN")
    time = 0.0
    while time < seconds or walk.is_stepping:
        span = random.choice((0.008, 0.016, 0.03, 0.05))
        time += span
        aside, beyond = random.gauss(0.0, trembles), random.gauss(0.0, trembles)
        way = min(time, seconds) * walk.fastest
        wanted: V3 = (0.5 * sin(way) + aside, -way + beyond, 0.0)
        feet = walk.move(time, steering.go(wanted, span, walk.strain))
        look(walk, (steering.place, steering.rotation), feet)
    return walk


@pytest.mark.parametrize("name", WALKERS)
def test_feet_keep_up_with_a_body_as_fast_as_it_may_be(name: str) -> None:
    """But for the time between two moves of the mouse, in which a foot lifts and the body may rise already."""
    legs = WALKERS[name]

    def look(walk: HandWalk, pose: tuple[V3, Q4], feet: Sequence[FootPose]) -> None:
        (offset, tilt), (place, rotation) = walk.body(), pose
        for leg, foot in zip(legs, feet, strict=True):
            hip = plus(plus(place, offset), turned(multiplied(tilt, rotation), leg.hip))
            assert not foot.is_planted or distance(hip, foot.ankle) <= 1.01 * leg.reach, walk.time

    led(legs, 5.0, look=look)


def led_to(legs: tuple[Leg, ...], way: Callable[[float], V3], seconds: float) -> tuple[HandWalk, list[Moment]]:
    """Lead a creature along a way for some seconds, and let it come to rest; how it was at each 24th of a second."""
    walk, found = started(legs, flat()), list[Moment]()
    steering = Steering((0.0, 0.0, height_of(legs)), IDENTITY, walk.fastest, "DOWN")
    for index in range(1, round(24.0 * (seconds + 5.0))):
        wanted = way(min(index / 24.0, seconds) * walk.fastest / legs[0].reach)
        place = scaled(wanted, legs[0].reach)
        pose = steering.go(place, 1.0 / 24.0, walk.strain)
        feet = walk.move(index / 24.0, pose, steering)
        found.append(Moment(index / 24.0, pose[0], walk.body(), walk.phase, feet))
    return walk, found


def test_a_person_walks_as_people_do() -> None:
    walk, moments = led_to(HUMAN, lambda way: (0.0, -0.9 * way, 0.0), 8.0)
    reach, law = HUMAN[0].reach, human_cycle(walk.fastest * 0.9 / walk.unit, 0.0, HUMAN[0].foot)
    steady = [one for one in moments if 3.0 < one.time < 8.0]
    heights = [one.place[2] + one.body[0][2] for one in steady]
    assert max(heights) - min(heights) < 0.07 * reach
    steps = sorted((step for _, own in walk.feet for step in own if 3.0 < step.lift < 7.0), key=lambda step: step.lift)
    assert [step.leg for step in steps] == [(steps[0].leg + index) % 2 for index in range(len(steps))]
    strides = [distance(step.start.place, step.end.place) for step in steps]
    assert np.mean(strides) == pytest.approx(law.stride * reach, rel=0.1)
    assert all(after.lift > before.land for before, after in pairwise(steps))  # both feet stand for a while
    for step in steps:
        assert step.toe_off > radians(25.0)
        assert step.heel_strike > radians(10.0)
        landed = next(one for one in steady if one.time >= step.land)
        assert abs((landed.phase + 0.5 * step.leg + 0.25) % 1.0 - 0.25) < 0.1
    ends = [foot.pitch for foot in moments[-1].feet]
    assert all(foot.is_planted for foot in moments[-1].feet)
    assert ends == pytest.approx([0.0, 0.0], abs=radians(8.0))


WAYS: dict[str, Callable[[float], V3]] = {
    "aside": lambda way: (0.9 * way, 0.0, 0.0),
    "circle": lambda way: (1.4 * sin(0.5 * way), 1.4 * cos(0.5 * way) - 1.4, 0.0),
    "to and fro": lambda way: (0.0, -abs((way + 2.0) % 4.0 - 2.0), 0.0),
    "zigzag": lambda way: (0.6 * sin(2.0 * way), -0.4 * way, 0.0),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_person_gets_where_it_is_led(name: str) -> None:
    """However it turns: the body waits for its feet, and these for it no more than a moment."""
    walk, moments = led_to(HUMAN, WAYS[name], 6.0)
    reach = HUMAN[0].reach
    wanted = scaled(WAYS[name](6.0 * walk.fastest / reach), reach)
    assert distance((*moments[-1].place[:2], 0.0), wanted) < 0.01 * reach
    assert not walk.is_stepping
    for one in moments:
        (offset, tilt), size = one.body, 0.7
        assert one.place[2] + offset[2] > size * height_of(HUMAN), one.time
        assert turned(tilt, Z_AXIS)[2] > cos(radians(12.0)), one.time


def test_a_mouse_that_trembles_does_not_shake_the_body() -> None:
    calm, shaken = led(SPIDER, 3.0), led(SPIDER, 3.0, trembles=0.03)

    def shaking(walk: HandWalk) -> float:
        """How much the body's way turns back and forth: the sum of what it goes against the way it goes."""
        places = [place for place, _ in walk.path(60.0)]
        moves = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(places)]
        return sum(max(0.0, -(a[0] * b[0] + a[1] * b[1])) for a, b in pairwise(moves))

    assert shaking(calm) == pytest.approx(0.0, abs=1e-9)
    raw = 0.5 * 0.03**2 * len(shaken.moments)  # what a body that jumps with the mouse would come to, about
    assert shaking(shaken) < 0.01 * raw


def test_it_looks_where_it_goes_if_it_may() -> None:
    for faces in (True, False):
        steering = Steering((0.0, 0.0, 1.0), IDENTITY, 2.0, "DOWN", faces_way=faces)
        for _ in range(120):
            _, rotation = steering.go((50.0, 0.0, 0.0), 1.0 / 60.0)
        ahead = turned(rotation, (0.0, -1.0, 0.0))
        assert ahead == pytest.approx((1.0, 0.0, 0.0) if faces else (0.0, -1.0, 0.0), abs=1e-3)
        assert steering.place[2] == 1.0


def test_the_frame_rate_of_the_mouse_does_not_matter() -> None:
    ends = []
    for rate in (30, 120):
        steering = Steering((0.0, 0.0, 1.0), IDENTITY, 2.0, "DOWN")
        for _ in range(rate):
            pose = steering.go((1.0, 1.0, 0.0), 1.0 / rate)
        ends.append(pose)
    assert ends[0][0] == pytest.approx(ends[1][0], abs=2e-3)


def test_the_path_is_where_it_was_led() -> None:
    walk = led(HEXAPOD, 3.0)
    path = walk.path(60.0)
    assert len(path) == ceil(60.0 * walk.time - 1e-9) + 1
    for time, (place, rotation) in walk.moments[::7]:
        near, turn = path[round(60.0 * time)]
        assert distance(place, near) < 0.01 * HEXAPOD[0].reach
        assert abs(sum(a * b for a, b in zip(rotation, turn, strict=True))) > cos(0.02)
    assert path[-1] == walk.moments[-1][1]


def test_feet_begin_where_they_stand() -> None:
    walk = started(SPIDER, flat())
    aside = tuple(
        Foothold(plus(foot.sole, (0.02, -0.05, 0.0)), multiplied(turn_about(Z_AXIS, 0.3), foot.rotation))
        for foot in walk.poses()
    )
    walk.stand_at(aside)
    for foot, foothold in zip(walk.poses(), aside, strict=True):
        assert (foot.sole, foot.rotation) == (foothold.place, foothold.rotation)
    walk.move(0.02, ((0.0, 0.0, height_of(SPIDER)), IDENTITY))
    assert not walk.is_stepping


def _is_held(leg: Leg, point: V3, old: FootPose, new: FootPose) -> bool:
    """Whether a point of a foot stands still; a foot that rolls from heel to ball may be at both ends of that."""
    off = distance(*(placed(foot.sole, foot.rotation, point) for foot in (old, new)))
    return off <= 1e-12 + leg.foot_length * (abs(new.pitch) if old.pitch * new.pitch < 0.0 else 0.0)


@pytest.mark.parametrize("name", WALKERS)
def test_feet_follow_a_ragged_drag_and_planted_ones_stay(name: str) -> None:
    legs, random = WALKERS[name], Random(5)
    walk = started(legs)
    time, before, rolls = 0.0, walk.poses(), dict[str, float]()
    speed = 0.6 * legs[0].reach
    while time < 6.0:
        time += random.choice((0.004, 0.016, 0.033, 0.08))
        place = (0.2 * sin(time) + random.gauss(0.0, 0.002), -speed * time, height_of(legs) + random.gauss(0.0, 0.002))
        feet = walk.move(time, (place, turn_about(Z_AXIS, 0.2 * sin(time))))
        up = {legs[index].group for index, foot in enumerate(feet) if not foot.is_planted}
        assert len(up) <= 1
        for leg, old, new in zip(legs, before, feet, strict=True):
            if old.is_planted and new.is_planted:
                is_another = distance(new.base, old.base) > 0.05 * legs[0].reach
                assert is_another or (new.base == old.base and min(new.pitch, 0.0) >= min(old.pitch, 0.0))
                assert any(_is_held(leg, point, old, new) for point in (leg.heel, leg.ball)) or is_another
                rolls[leg.name] = min(rolls.get(leg.name, 0.0), old.pitch)
        before = feet
    assert all(steps for _, steps in walk.feet)
    assert all(rolls[leg.name] < -0.05 if name == "human" else rolls[leg.name] == 0.0 for leg in legs)
    for leg, foot in zip(legs, before, strict=True):
        home = turned(turn_about(Z_AXIS, 0.2 * sin(time)), leg.home)
        assert distance((foot.sole[0], foot.sole[1], 0.0), (home[0], home[1] - speed * time, 0.0)) < 1.2 * leg.reach


@pytest.mark.parametrize("name", WALKERS)
def test_a_body_at_rest_leaves_its_feet_alone(name: str) -> None:
    legs, random = WALKERS[name], Random(6)
    walk = started(legs)
    first = walk.poses()
    for index in range(200):
        place: V3 = (random.gauss(0.0, 0.002), random.gauss(0.0, 0.002), height_of(legs))
        assert [foot.sole for foot in walk.move(0.02 * index, (place, IDENTITY))] == [foot.sole for foot in first]
    assert not walk.is_stepping


def test_feet_land_when_the_mouse_rests() -> None:
    walk = started(SPIDER)
    for index in range(30):
        walk.move(0.03 * index, ((0.0, -0.03 * index, height_of(SPIDER)), IDENTITY))
    end = ((0.0, -0.03 * 29, height_of(SPIDER)), IDENTITY)
    for index in range(30, 120):
        walk.move(0.03 * index, end)
    assert not walk.is_stepping
    for leg, foot in zip(SPIDER, walk.poses(), strict=True):
        assert foot.is_planted
        assert distance(foot.sole, (leg.home[0], leg.home[1] - 0.87, foot.sole[2])) < 0.5 * leg.reach


def test_the_body_is_carried_up_a_slope() -> None:
    walk = started(SPIDER, slope(20.0))
    for index in range(300):
        walk.move(0.03 * index, ((0.0, -0.02 * index, height_of(SPIDER)), IDENTITY))
    offset, tilt = walk.body()
    assert offset[2] == pytest.approx(0.36397 * 5.0, abs=0.25)
    assert turned(tilt, Z_AXIS)[1] == pytest.approx(0.342, abs=0.08)


def test_steps_by_hand_are_steps_as_in_a_plan() -> None:
    """What is recorded reads at any time as it was shown."""
    walk = started(HEXAPOD)
    shown = []
    for index in range(1, 150):
        time = 0.02 * index
        shown.append((time, walk.move(time, ((0.0, -0.5 * time, height_of(HEXAPOD)), IDENTITY))))
    paths = FootPaths(HEXAPOD, walk.feet, Plain().surface)
    for time, poses in shown:
        assert paths.at(np.array([time])).singly() == [poses]


def test_times_that_do_not_grow_move_the_body_alone() -> None:
    walk = started(SPIDER)
    walk.move(1.0, ((0.0, 0.0, height_of(SPIDER)), IDENTITY))
    walk.move(1.0, ((0.0, -0.01, height_of(SPIDER)), IDENTITY))
    walk.move(0.5, ((0.0, -0.02, height_of(SPIDER)), IDENTITY))
    assert walk.time == 1.0


def test_a_pose_that_is_none_changes_nothing() -> None:
    walk = started(SPIDER)
    first = walk.poses()
    with pytest.raises(InvalidValueError, match="nowhere"):
        walk.move(1.0, ((0.0, nan, 0.0), IDENTITY))
    assert walk.poses() == first
    assert walk.time == 0.0
