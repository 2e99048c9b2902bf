# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is led by a mouse: followed calmly, no faster than legs can, and recorded as it was shown."""

from __future__ import annotations

from itertools import pairwise
from math import cos, sin
from random import Random

import pytest
from fabrik_addon.gait import (
    Foothold,
    HandWalk,
    Leg,
    Moment,
    RecordedWalk,
    Steering,
    body_pose_at,
    feet_at,
    from_text,
    settings_for,
    to_text,
)
from fabrik_addon.maths import IDENTITY, V3, Z_AXIS, distance, multiplied, plus, turn_about, turned

from dev.walkers import HEXAPOD, HUMAN, SPIDER, WOLF, flat, height_of, noise

WALKERS = {"human": HUMAN, "wolf": WOLF, "hexapod": HEXAPOD, "spider": SPIDER}


def led(legs: tuple[Leg, ...], seconds: float, trembles: float = 0.0) -> tuple[HandWalk, RecordedWalk]:
    """Lead a creature along a winding way, by a mouse that trembles, at the speed that it can go."""
    random, start = Random(4), (0.0, 0.0, height_of(legs))
    walk = HandWalk(legs, settings_for(legs), noise(0.1 * legs[0].reach, 3.0), (start, IDENTITY), None)
    steering, recording = Steering(start, IDENTITY, walk.fastest, "DOWN"), RecordedWalk()
    recording.add(Moment(0.0, (start, IDENTITY), walk.body()))
    time = 0.0
    while time < seconds or walk.is_stepping:
        span = random.choice((0.008, 0.016, 0.03, 0.05))
        time += span
        aside, beyond = random.gauss(0.0, trembles), random.gauss(0.0, trembles)
        way = min(time, seconds) * walk.fastest
        wanted: V3 = (0.5 * sin(way) + aside, -way + beyond, 0.0)
        pose = steering.go(wanted, span, walk.holds)
        walk.move(time, pose)
        recording.add(Moment(time, pose, walk.body()))
    return walk, recording


@pytest.mark.parametrize("name", WALKERS)
def test_feet_keep_up_with_a_body_as_fast_as_it_may_be(name: str) -> None:
    """But for the time between two moves of the mouse, in which a foot lifts and the body may rise already."""
    legs = WALKERS[name]
    walk, recording = led(legs, 5.0)
    plan = recording.plan(walk.feet, walk.ground.terrain, 1, 24.0)
    for frame in range(1, int(plan.last) + 1):
        place, rotation = body_pose_at(plan, frame)
        for leg, foot in zip(legs, feet_at(plan, frame), strict=True):
            if foot.is_planted:
                assert distance(plus(place, turned(rotation, leg.hip)), foot.ankle) <= 1.01 * leg.reach, frame


def test_a_mouse_that_trembles_does_not_shake_the_body() -> None:
    _, calm = led(SPIDER, 3.0)
    _, shaken = led(SPIDER, 3.0, trembles=0.03)

    def shaking(recording: RecordedWalk) -> float:
        """How much the body's way turns back and forth: the sum of what it goes against the way it goes."""
        places = [place for place, _ in recording.poses()[0]]
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


def test_a_recording_shows_what_was_shown() -> None:
    walk, recording = led(HEXAPOD, 3.0)
    plan = recording.plan(walk.feet, walk.ground.terrain, 11, 60.0)
    assert from_text(to_text(plan)) == plan
    for moment in recording.moments[::7]:
        frame = 11 + 60.0 * moment.time
        place, rotation = body_pose_at(plan, frame)
        shown = plus(moment.path[0], moment.carried[0])
        assert distance(place, shown) < 0.01 * HEXAPOD[0].reach
        turn = multiplied(moment.carried[1], moment.path[1])
        assert abs(sum(a * b for a, b in zip(rotation, turn, strict=True))) > cos(0.02)
    assert all(foot.is_planted for foot in feet_at(plan, plan.last))


def test_feet_begin_where_they_stand() -> None:
    walk = HandWalk(SPIDER, settings_for(SPIDER), flat(), ((0.0, 0.0, height_of(SPIDER)), IDENTITY), None)
    aside = tuple(
        Foothold(plus(foot.sole, (0.02, -0.05, 0.0)), multiplied(turn_about(Z_AXIS, 0.3), foot.rotation))
        for foot in walk.poses()
    )
    walk.stand_at(aside)
    for foot, foothold in zip(walk.poses(), aside, strict=True):
        assert (foot.sole, foot.rotation) == (foothold.place, foothold.rotation)
    walk.move(0.02, ((0.0, 0.0, height_of(SPIDER)), IDENTITY))
    assert not walk.is_stepping
