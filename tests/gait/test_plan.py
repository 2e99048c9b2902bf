# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans: any frame in any order, stored to the bit, old when inputs change, and with stances that are set by hand."""

from __future__ import annotations

import json
from cProfile import Profile
from dataclasses import replace
from functools import cache
from math import ceil, inf, nan
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.gait.feet import GivenStance
from fabrik_addon.gait.ground import Plain
from fabrik_addon.gait.legs import Leg, arranged
from fabrik_addon.gait.path import BodyPath
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at, from_text, stances_of, steps_between, to_text
from fabrik_addon.gait.planning import Walk, planning
from fabrik_addon.gait.settings import Settings, settings_for
from fabrik_addon.maths import IDENTITY, Z_AXIS, distance, multiplied, plus, turn_about

from dev.walkers import CENTIPEDE, CREATURES, HUMAN, SPIDER, WOLF, ahead, noise, path_of, plan_walk, stairs


def walk_of(legs: tuple[Leg, ...] = HUMAN, seconds: float = 4.0) -> Walk:
    return Walk(ahead(legs, seconds), legs, (settings_for(legs),), stairs(0.2, 0.7))


@cache
def planned() -> WalkPlan:
    return plan_walk(walk_of())


def test_any_frame_in_any_order_reads_the_same() -> None:
    plan = planned()
    frames = [frame / 2 for frame in range(0, 240)]
    in_order = {frame: (feet_at(plan, frame), body_pose_at(plan, frame)) for frame in frames}
    Random(4).shuffle(frames)
    assert all((feet_at(plan, frame), body_pose_at(plan, frame)) == in_order[frame] for frame in frames)


def test_planning_twice_gives_the_same_bits() -> None:
    assert to_text(plan_walk(walk_of())) == to_text(planned())


def test_before_and_after_the_path_the_walker_stands() -> None:
    plan = planned()
    assert feet_at(plan, -1000.0) == feet_at(plan, plan.first)
    assert feet_at(plan, plan.last + 1000.0) == feet_at(plan, plan.last)
    assert all(foot.is_planted for foot in (*feet_at(plan, plan.first), *feet_at(plan, plan.last)))


def test_a_path_that_is_shifted_in_time_is_walked_later() -> None:
    walk = walk_of()
    later = plan_walk(replace(walk, path=replace(walk.path, first=101)))
    assert all(feet_at(planned(), frame) == feet_at(later, frame + 100) for frame in range(1, 97))


def test_what_is_stored_comes_back_to_the_bit() -> None:
    for legs in (HUMAN, WOLF, CENTIPEDE):
        plan = plan_walk(walk_of(legs, 1.5))
        again = from_text(to_text(plan))
        assert to_text(again) == to_text(plan)
        assert all(feet_at(again, frame) == feet_at(plan, frame) for frame in range(0, 60))
        assert again.digest == plan.digest


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"version": 2}', "{", '{"version": 2, "digest": 3}'])
def test_a_text_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="plan it anew"):
        from_text(text)


def test_a_plan_of_a_newer_version_is_refused() -> None:
    data = json.loads(to_text(planned()))
    with pytest.raises(InvalidValueError, match="version 99"):
        from_text(json.dumps({**data, "version": 99}))


def test_a_plan_is_old_when_an_input_has_changed() -> None:
    walk = walk_of()
    path = walk.path
    moved = replace(path, places=((0.001, 0.0, 0.94), *path.places[1:]))
    others = [
        replace(walk, path=moved),
        replace(walk, path=replace(path, fps=25.0)),
        replace(walk, settings=(replace(walk.settings[0], step_height=0.11),)),
        replace(walk, terrain=stairs(0.2, 0.71)),
        replace(walk, legs=(replace(HUMAN[0], reach=0.863), HUMAN[1])),
    ]
    assert planned().digest == walk.digest
    assert len({walk.digest, *(other.digest for other in others)}) == 1 + len(others)


def test_planning_in_slices_tells_how_far_it_is() -> None:
    shares = list(planning(walk_of()))
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert shares[0] > 0.0
    assert shares[-1] < 1.0


def test_steps_under_way_are_found() -> None:
    plan = planned()
    every = steps_between(plan, plan.first, plan.last)
    assert len(every) == sum(len(steps) for steps in plan.steps)
    assert [step.lift for step in every] == sorted(step.lift for step in every)
    for step in steps_between(plan, 30, 40):
        assert plan.first + step.land * 24 >= 30 - 1e-9
        assert plan.first + step.lift * 24 <= 40 + 1e-9


def calls_for(legs: tuple[Leg, ...], seconds: float) -> int:
    """How many calls of functions of the add-on planning takes: what it costs, whatever else the machine does.

    The ground's own functions are not counted: it follows rays in steps, and where it is steep it takes more of them.
    """
    walk = Walk(ahead(legs, seconds, froude=0.05), legs, (settings_for(legs),), noise(0.1, 3.0))
    profile = Profile()
    profile.runcall(plan_walk, walk)
    counts = {entry.code: entry.callcount for entry in profile.getstats()}
    ours = str(Path(planning.__code__.co_filename).parents[1])
    return sum(counts[code] for code in counts if isinstance(code, CodeType) and code.co_filename.startswith(ours))


def test_planning_grows_no_faster_than_frames_and_legs() -> None:
    once, again = calls_for(SPIDER, 3.0), calls_for(SPIDER, 9.0)
    assert again <= 3.0 * 1.1 * once
    few = calls_for(WOLF, 3.0)
    assert once <= 2.0 * 1.3 * few


WALK = Walk(ahead(HUMAN, 1.0), HUMAN, (settings_for(HUMAN),), Plain())
STILL, TURNS = ((0.0, 0.0, 0.94), (0.0, 0.0, 0.94)), (IDENTITY, IDENTITY)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"legs": ()}, "at least one leg"),
        ({"legs": (replace(HUMAN[0], reach=0.0),)}, "no length"),
        ({"legs": (replace(HUMAN[0], reach=nan),)}, "not a number"),
        ({"legs": (replace(HUMAN[0], home=(0.0, inf, 0.0)),)}, "not a number"),
        ({"legs": (replace(HUMAN[0], hip=(0.0, 0.0, -2.0)),)}, "below its foot"),
        ({"legs": (replace(HUMAN[0], reach=0.5),)}, "does not reach"),
        ({"legs": (HUMAN[0], HUMAN[0])}, "same name"),
        ({"path": BodyPath(1, 24.0, (), ())}, "needs a place"),
        ({"path": BodyPath(1, 24.0, STILL, TURNS[:1])}, "needs a place"),
        ({"path": BodyPath(1, 0.0, STILL, TURNS)}, "frames a second"),
        ({"path": BodyPath(1, nan, STILL, TURNS)}, "frames a second"),
        ({"path": BodyPath(7, 24.0, (STILL[0], (nan, 0.0, 0.0)), TURNS)}, "nowhere at frame 8"),
        ({"path": BodyPath(7, 24.0, STILL, (IDENTITY, (0.0, 0.0, 0.0, 0.0)))}, "no rotation at frame 8"),
        ({"path": BodyPath(7, 24.0, (STILL[0], (0.0, -5.0, 0.94)), TURNS)}, "leaps by 5 between frames 7 and 8"),
        ({"settings": (replace(Settings(), gait="HOP"),)}, "no gait 'HOP'"),
        ({"settings": (replace(Settings(), step_height=-1.0),)}, "'step_height' is -1.0"),
        ({"settings": (replace(Settings(), body_tilt=nan),)}, "'body_tilt' is nan"),
        ({"settings": (replace(Settings(), gravity="UP"),)}, "no such swing or gravity"),
        ({"settings": ()}, "one for the whole path"),
        ({"settings": (Settings(), Settings())}, "one for the whole path"),
    ],
)
def test_what_can_not_be_walked_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValueError, match=told) as caught:
        plan_walk(replace(WALK, **change))
    if told in ("no length", "not a number", "below its foot", "does not reach"):
        assert caught.value.chain == HUMAN[0].name


def test_a_path_of_one_frame_stands() -> None:
    plan = plan_walk(Walk(path_of(lambda _: (0.0, 0.0, 0.94), 0.0), HUMAN, (settings_for(HUMAN),), Plain()))
    assert not any(plan.steps)


def test_legs_are_arranged_from_where_they_stand() -> None:
    mixed = [SPIDER[index] for index in (5, 2, 7, 0, 3, 6, 1, 4)]
    plain = [replace(leg, side=0, row=0, group=0) for leg in mixed]
    assert arranged(plain) == tuple(mixed)
    assert {leg.row for leg in SPIDER} == {0, 1, 2, 3}
    assert sum(leg.group for leg in SPIDER) == 4


# Stances that were set by hand: a walk takes them as they are, names those that it can't, and changes little else.


FRAME = 1.0 / 24.0


@cache
def walk_like(kind: str = "human", seconds: float = 6.0) -> Walk:
    legs = CREATURES[kind]
    terrain = stairs(0.2, 0.7) if kind == "wolf" else Plain(0.0)
    return Walk(ahead(legs, seconds), legs, (settings_for(legs),), terrain)


@cache
def plan_like(kind: str = "human") -> WalkPlan:
    return plan_walk(walk_like(kind))


def with_given(*given: GivenStance, kind: str = "human") -> WalkPlan:
    return plan_walk(replace(walk_like(kind), given=given))


def stance(leg: int, number: int, kind: str = "human") -> GivenStance:
    """A stance of the plan to which nothing was given."""
    return [one for one in stances_of(plan_like(kind)) if one.leg == leg][number]


def frames_of(plan: WalkPlan) -> range:
    return range(plan.first, ceil(plan.last) + 1)


def check_stands(plan: WalkPlan, given: GivenStance) -> None:
    """That a foot is on the ground in a stance, in one place, and in the air before and after."""
    leg, fps = given.leg, plan.fps
    inside = [plan.first + fps * (given.land + share * (given.lift - given.land)) for share in (0.001, 0.2, 0.5, 0.8)]
    poses = [feet_at(plan, frame)[leg] for frame in inside]
    assert all(pose.is_planted for pose in poses)
    wanted = given.foothold.place if given.foothold is not None else poses[0].base
    assert max(distance(pose.base, wanted) for pose in poses) <= 1e-9
    for time in (given.land - 0.5 * FRAME, given.lift + 0.5 * FRAME):
        assert not feet_at(plan, plan.first + fps * time)[leg].is_planted


@pytest.mark.parametrize("kind", ["human", "wolf", "spider"])
def test_a_walk_whose_stances_are_all_given_is_the_same_walk(kind: str) -> None:
    plan = plan_like(kind)
    again = with_given(*stances_of(plan), kind=kind)
    assert again.told == plan.told
    legs = CREATURES[kind]
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
    before = [each for each in stances_of(plan_like()) if each.leg == 1]
    assert [each.land for each in others] == [each.land for each in before]


@pytest.mark.parametrize(("start", "end"), [(-4, 0), (3, 0), (0, -3), (0, 4), (5, 5), (-5, -5)])
def test_a_stance_that_was_moved_in_time_begins_and_ends_then(start: int, end: int) -> None:
    one = stance(1, 2)
    moved = GivenStance(1, one.land + start * FRAME, one.lift + end * FRAME)
    plan = with_given(moved)
    assert plan.told == ()
    check_stands(plan, moved)
    count = [sum(each.leg == leg for each in stances_of(plan)) for leg in (0, 1)]
    before = [sum(each.leg == leg for each in stances_of(plan_like())) for leg in (0, 1)]
    assert max(abs(a - b) for a, b in zip(count, before, strict=True)) <= 1


def test_a_stance_that_was_parted_is_two_with_a_step_between() -> None:
    one = stance(0, 3)
    middle = 0.5 * (one.land + one.lift)
    parts = GivenStance(0, one.land, middle - 2.0 * FRAME), GivenStance(0, middle + 2.0 * FRAME, one.lift)
    plan = with_given(*parts)
    assert plan.told == ()
    for part in parts:
        check_stands(plan, part)


def test_a_stance_that_was_drawn_in_the_air_is_met() -> None:
    before, after = stance(0, 2), stance(0, 3)
    middle = 0.5 * (before.lift + after.land)
    drawn = GivenStance(0, middle - FRAME, middle + FRAME)
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
    assert plan.steps == plan_like().steps


def test_standing_all_the_time_is_more_than_a_leg_can() -> None:
    plan = with_given(GivenStance(0, -1.0, inf))
    assert len(plan.told) == 1
    assert plan.steps == plan_like().steps


@pytest.mark.parametrize("number", [0, -1])
def test_the_first_and_the_last_stance_can_be_given(number: int) -> None:
    one = stance(0, number)
    assert one.foothold is not None
    moved = replace(one.foothold, place=plus(one.foothold.place, (0.05 * HUMAN[0].reach, 0.0, 0.0)))
    plan = with_given(one._replace(foothold=moved))
    assert plan.told == ()
    assert distance(feet_at(plan, plan.first if number == 0 else plan.last)[0].base, moved.place) <= 1e-9
