# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are dragged: feet follow by groups, whatever the times at which poses come."""

from math import nan, sin
from random import Random

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.gait import HandWalk, Leg, Plain, settings_for
from fabrik_addon.maths import IDENTITY, V3, Z_AXIS, distance, turn_about, turned

from dev.walkers import HEXAPOD, HUMAN, SPIDER, WOLF, height_of, noise, slope

WALKERS = {"human": HUMAN, "wolf": WOLF, "hexapod": HEXAPOD, "spider": SPIDER}


def started(legs: tuple[Leg, ...]) -> HandWalk:
    at = (0.0, 0.0, height_of(legs)), IDENTITY
    return HandWalk(legs, settings_for(legs), noise(0.1 * legs[0].reach, 3.0), at, None)


@pytest.mark.parametrize("name", WALKERS)
def test_feet_follow_a_ragged_drag_and_planted_ones_stay(name: str) -> None:
    legs, random = WALKERS[name], Random(5)
    walk = started(legs)
    time, before = 0.0, walk.poses()
    speed = 0.6 * legs[0].reach
    while time < 6.0:
        time += random.choice((0.004, 0.016, 0.033, 0.08))
        place = (0.2 * sin(time) + random.gauss(0.0, 0.002), -speed * time, height_of(legs) + random.gauss(0.0, 0.002))
        feet = walk.move(time, (place, turn_about(Z_AXIS, 0.2 * sin(time))))
        up = {legs[index].group for index, foot in enumerate(feet) if not foot.is_planted}
        assert len(up) <= 1
        for old, new in zip(before, feet, strict=True):
            if old.is_planted and new.is_planted:
                assert new.sole == old.sole or distance(new.sole, old.sole) > 0.05 * legs[0].reach
        before = feet
    assert all(steps for steps in walk.feet.steps)
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
    walk = HandWalk(SPIDER, settings_for(SPIDER), slope(20.0), ((0.0, 0.0, height_of(SPIDER)), IDENTITY), None)
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
    feet = walk.feet
    for time, poses in shown:
        for leg, pose in enumerate(poses):
            assert feet.at(leg, time, lambda number, at: Plain().surface(number, at)) == pose


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
