# SPDX-License-Identifier: GPL-3.0-or-later
"""Stances that were set by hand: a walk takes them as they are, names those that it can't, and changes little else."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import ceil, inf

import pytest
from fabrik_addon.gait.feet import Given
from fabrik_addon.gait.ground import Plain
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, feet_at, stances_of
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import settings_for
from fabrik_addon.maths import Z_AXIS, distance, multiplied, plus, turn_about

from dev.walkers import HUMAN, SPIDER, WOLF, ahead, plan_walk, stairs

FRAME = 1.0 / 24.0
KINDS = {"human": HUMAN, "wolf": WOLF, "spider": SPIDER}


@cache
def walk_of(kind: str = "human", seconds: float = 6.0) -> Walk:
    legs = KINDS[kind]
    terrain = stairs(0.2, 0.7) if kind == "wolf" else Plain(0.0)
    return Walk(ahead(legs, seconds), legs, (settings_for(legs),), terrain)


@cache
def planned(kind: str = "human") -> WalkPlan:
    return plan_walk(walk_of(kind))


def with_given(*given: Given, kind: str = "human") -> WalkPlan:
    return plan_walk(replace(walk_of(kind), given=given))


def stance(leg: int, number: int, kind: str = "human") -> Given:
    """A stance of the plan to which nothing was given."""
    return [one for one in stances_of(planned(kind)) if one.leg == leg][number]


def frames_of(plan: WalkPlan) -> range:
    return range(plan.first, ceil(plan.last) + 1)


def check_stands(plan: WalkPlan, given: Given) -> None:
    """That a foot is on the ground in a stance, in one place, and in the air before and after."""
    leg, fps = given.leg, plan.fps
    inside = [plan.first + fps * (given.land + share * (given.lift - given.land)) for share in (0.001, 0.2, 0.5, 0.8)]
    poses = [feet_at(plan, frame)[leg] for frame in inside]
    assert all(pose.is_planted for pose in poses)
    wanted = given.foothold.place if given.foothold is not None else poses[0].base
    assert max(distance(pose.base, wanted) for pose in poses) <= 1e-9
    for time in (given.land - 0.5 * FRAME, given.lift + 0.5 * FRAME):
        assert not feet_at(plan, plan.first + fps * time)[leg].is_planted


@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_whose_stances_are_all_given_is_the_same_walk(kind: str) -> None:
    plan = planned(kind)
    again = with_given(*stances_of(plan), kind=kind)
    assert again.told == plan.told
    legs: tuple[Leg, ...] = KINDS[kind]
    for frame in frames_of(plan):
        for leg, a, b in zip(legs, feet_at(plan, frame), feet_at(again, frame), strict=True):
            assert distance(a.ankle, b.ankle) <= 1e-6 * leg.reach


def test_a_foothold_that_was_moved_stays_where_it_is_put() -> None:
    one = stance(0, 2)
    assert one.foothold is not None
    aside = replace(
        one.foothold,
        place=plus(one.foothold.place, (0.1 * HUMAN[0].reach, 0.08 * HUMAN[0].reach, 0.0)),
        rotation=multiplied(turn_about(Z_AXIS, 0.4), one.foothold.rotation),
    )
    plan = with_given(one._replace(foothold=aside))
    check_stands(plan, one._replace(foothold=aside))
    assert plan.told == ()
    [mine] = [each for each in stances_of(plan) if each.foothold is not None and each.foothold.is_given]
    assert mine.foothold is not None
    assert replace(mine.foothold, pitch=0.0, is_given=False) == aside
    others = [each for each in stances_of(plan) if each.leg == 1]
    before = [each for each in stances_of(planned()) if each.leg == 1]
    assert [each.land for each in others] == [each.land for each in before]


@pytest.mark.parametrize(("start", "end"), [(-4, 0), (3, 0), (0, -3), (0, 4), (5, 5), (-5, -5)])
def test_a_stance_that_was_moved_in_time_begins_and_ends_then(start: int, end: int) -> None:
    one = stance(1, 2)
    moved = Given(1, one.land + start * FRAME, one.lift + end * FRAME)
    plan = with_given(moved)
    assert plan.told == ()
    check_stands(plan, moved)
    count = [sum(each.leg == leg for each in stances_of(plan)) for leg in (0, 1)]
    before = [sum(each.leg == leg for each in stances_of(planned())) for leg in (0, 1)]
    assert max(abs(a - b) for a, b in zip(count, before, strict=True)) <= 1


def test_a_stance_that_was_parted_is_two_with_a_step_between() -> None:
    one = stance(0, 3)
    middle = 0.5 * (one.land + one.lift)
    parts = Given(0, one.land, middle - 2.0 * FRAME), Given(0, middle + 2.0 * FRAME, one.lift)
    plan = with_given(*parts)
    assert plan.told == ()
    for part in parts:
        check_stands(plan, part)


def test_a_stance_that_was_drawn_in_the_air_is_met() -> None:
    before, after = stance(0, 2), stance(0, 3)
    middle = 0.5 * (before.lift + after.land)
    drawn = Given(0, middle - FRAME, middle + FRAME)
    plan = with_given(drawn)
    assert plan.told == ()
    check_stands(plan, drawn)


def test_one_that_is_out_of_reach_is_named_and_the_walk_goes_on_without() -> None:
    one = stance(0, 2)
    assert one.foothold is not None
    far = replace(one.foothold, place=plus(one.foothold.place, (3.0 * HUMAN[0].reach, 0.0, 0.0)))
    plan = with_given(one._replace(foothold=far))
    [told] = map(str, plan.told)
    assert HUMAN[0].name in told
    assert str(plan.first + round(one.land * plan.fps)) in told
    assert plan.steps == planned().steps


def test_standing_all_the_time_is_more_than_a_leg_can() -> None:
    plan = with_given(Given(0, -1.0, inf))
    assert len(plan.told) == 1
    assert plan.steps == planned().steps


@pytest.mark.parametrize("number", [0, -1])
def test_the_first_and_the_last_stance_can_be_given(number: int) -> None:
    one = stance(0, number)
    assert one.foothold is not None
    moved = replace(one.foothold, place=plus(one.foothold.place, (0.05 * HUMAN[0].reach, 0.0, 0.0)))
    plan = with_given(one._replace(foothold=moved))
    assert plan.told == ()
    assert distance(feet_at(plan, plan.first if number == 0 else plan.last)[0].base, moved.place) <= 1e-9
