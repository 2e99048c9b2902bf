# SPDX-License-Identifier: GPL-3.0-or-later
"""When legs step: strides that belong to the speed, any frame rate, standing, turning, starting and stopping."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import inf, sin, sqrt

import pytest
from fabrik_addon.gait.clock import size_of, usual_stride
from fabrik_addon.gait.gaits import GAITS, gait_of
from fabrik_addon.gait.ground import Plain
from fabrik_addon.gait.legs import neighbours
from fabrik_addon.gait.plan import WalkPlan, feet_at
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import Settings, settings_for
from fabrik_addon.gait.stepping import SETTLING
from fabrik_addon.maths import V3, Z_AXIS, distance, turn_about, turned

from dev.walk_measures import judge, neighbours_up, swings_of
from dev.walkers import (
    CENTIPEDE,
    CREATURES,
    FROUDE,
    HEXAPOD,
    HUMAN,
    SPIDER,
    WOLF,
    ahead,
    flat,
    height_of,
    noise,
    pace_of,
    path_of,
    plan_walk,
    turning,
)
from support.gaits import planned


def steps_within(plan: WalkPlan, start: float, end: float) -> int:
    return sum(1 for steps in plan.steps for step in steps if start <= step.lift < end)


def _straight(speed: float, time: float) -> V3:
    return (0.0, -speed * time, height_of(HUMAN))


def test_strides_of_people_are_as_people_have_them() -> None:
    """2.45 legs by the root of the speed (Boulic, Magnenat-Thalmann, Thalmann 1990), on their feet for less at more."""
    reach, duties = HUMAN[0].reach, []
    for pace in (0.15, 0.3, 0.43, 0.57):
        speed = pace * sqrt(9.81 * reach)
        plan = planned(path_of(partial(_straight, speed), 12.0), HUMAN)
        steps = [step for step in plan.steps[0] if 4.0 <= step.lift < 11.0]
        strides = [distance(a.end.place, b.end.place) for a, b in pairwise(steps)]
        assert strides == pytest.approx([2.45 * reach * sqrt(pace)] * len(strides), rel=0.05)
        duties.append(1.0 - (steps[0].land - steps[0].lift) * speed / strides[0])
    assert duties == sorted(duties, reverse=True)
    assert all(0.5 < duty < 0.75 for duty in duties)


@pytest.mark.parametrize("name", ["wolf", "hexapod", "spider"])
def test_steps_a_metre_are_legs_by_stride(name: str) -> None:
    """The stride is Alexander's: 2.3 h (v²/gh)^.3, at speeds that leave the legs room."""
    legs, froude = CREATURES[name], 0.03
    height, speed = size_of(legs[0]), pace_of(legs, froude)
    plan = planned(path_of(lambda time: (0.0, -speed * time, height_of(legs)), 30.0), legs)
    stride = usual_stride(speed, height, settings_for(legs))
    assert stride == pytest.approx(2.3 * height * froude**0.3)
    metres = speed * 24.0
    assert steps_within(plan, 4.0, 28.0) / metres == pytest.approx(len(legs) / stride, rel=0.05)


def test_strides_are_longer_when_faster() -> None:
    strides = []
    for froude in (0.02, 0.05, 0.1, 0.2):
        steps = planned(ahead(SPIDER, 10.0, froude=froude), SPIDER).steps[0]
        strides.append(max(distance(a.end.place, b.end.place) for a, b in pairwise(steps)))
    assert strides == sorted(strides)
    assert strides[-1] > 1.3 * strides[0]


@pytest.mark.parametrize("name", CREATURES)
def test_the_frame_rate_does_not_matter(name: str) -> None:
    legs = CREATURES[name]

    def walked(fps: float) -> WalkPlan:
        speed, height = pace_of(legs, FROUDE[name]), height_of(legs)

        def place(time: float) -> V3:
            return (0.3 * sin(time), -speed * time, height)

        path = path_of(place, 4.0, fps, lambda time: turn_about(Z_AXIS, 0.3 * sin(time)))
        return planned(path, legs, noise(0.2 * legs[0].reach, 4.0))

    first = walked(24.0)
    for fps in (30.0, 60.0):
        other = walked(fps)
        for mine, others in zip(first.steps, other.steps, strict=True):
            assert len(mine) == len(others)
            for a, b in zip(mine, others, strict=True):
                assert a.lift == pytest.approx(b.lift, abs=0.01)
                assert a.land == pytest.approx(b.land, abs=0.01)
                assert distance(a.end.place, b.end.place) <= 0.02 * legs[0].reach


@pytest.mark.parametrize("name", CREATURES)
def test_who_stands_keeps_standing(name: str) -> None:
    legs = CREATURES[name]

    def trembling(time: float) -> V3:
        return (0.001 * sin(31.0 * time), 0.001 * sin(17.0 * time), height_of(legs) + 0.001 * sin(23.0 * time))

    for place in (lambda _: (0.0, 0.0, height_of(legs)), trembling):
        plan = planned(path_of(place, 4.0), legs)
        assert not any(plan.steps)
        first = [foot.sole for foot in feet_at(plan, 1)]
        assert all([foot.sole for foot in feet_at(plan, frame)] == first for frame in range(1, 97))


@pytest.mark.parametrize("name", ["human", "wolf", "hexapod", "spider"])
@pytest.mark.parametrize("rate", [0.8, -0.8])
def test_turning_on_the_spot_steps_round(name: str, rate: float) -> None:
    legs = CREATURES[name]
    plan = planned(turning(legs, 6.0, rate), legs)
    judged = judge(plan, flat())
    assert all(steps for steps in plan.steps)
    assert judged.slip <= 1e-4
    assert judged.together == 0
    assert judged.stretched == 0
    for leg, foot in zip(legs, feet_at(plan, plan.last), strict=True):
        home = turned(plan.body[-1][1], (leg.home[0], leg.home[1], 0.0))
        assert distance(foot.sole, home) < 0.3 * leg.reach


@pytest.mark.parametrize("name", CREATURES)
@pytest.mark.parametrize("way", [(0.0, 1.0), (1.0, 0.0), (-0.7, -0.7)])
def test_backwards_and_sideways(name: str, way: tuple[float, float]) -> None:
    legs = CREATURES[name]
    speed, height = pace_of(legs, 0.5 * FROUDE[name]), height_of(legs)
    plan = planned(path_of(lambda t: (way[0] * speed * t, way[1] * speed * t, height), 4.0), legs)
    judged = judge(plan, flat())
    assert all(len(steps) >= 2 for steps in plan.steps)
    assert judged.slip <= 1e-4
    assert judged.together == 0
    assert judged.stretched == 0
    assert judged.inside <= 0.01
    assert not plan.told


@pytest.mark.parametrize("name", CREATURES)
def test_feet_come_home_where_the_body_stops(name: str) -> None:
    """At the path's end, and in its midst."""
    legs = CREATURES[name]
    speed, height = pace_of(legs, FROUDE[name]), height_of(legs)

    def place(time: float) -> V3:
        return (0.0, -speed * (min(time, 2.0) + max(time - 5.0, 0.0)), height)

    plan = planned(path_of(place, 7.0), legs)
    for frame in (1 + 24 * 4.6, plan.last):
        index = min(round((frame - 1) / 24.0 * 60.0), len(plan.body) - 1)
        for leg, foot in zip(legs, feet_at(plan, frame), strict=True):
            at = plan.body[index][0]
            assert foot.is_planted
            assert distance(foot.sole, (at[0] + leg.home[0], at[1] + leg.home[1], 0.0)) <= 0.45 * leg.reach
    still = [foot.sole for foot in feet_at(plan, 1 + 24 * 4.0)]
    assert [foot.sole for foot in feet_at(plan, 1 + 24 * 4.6)] == still


def test_a_gait_changes_between_steps() -> None:
    path = ahead(WOLF, 10.0, froude=0.1)
    settings = tuple(
        replace(settings_for(WOLF), gait="WALK" if index < 120 else "TROT") for index in range(len(path.places))
    )
    plan = plan_walk(Walk(path, WOLF, settings, Plain()))
    assert judge(plan, flat()).slip <= 1e-4
    for steps in plan.steps:
        assert all(a.land <= b.lift for a, b in pairwise(steps))
    late = [step for steps in plan.steps for step in steps if 6.5 < step.lift < 9.0]
    partners = {0: 3, 3: 0, 1: 2, 2: 1}
    for step in late:
        near = [other for other in late if other.leg == partners[step.leg] and abs(other.lift - step.lift) < 0.02]
        assert near or step.lift > 8.8 or step.lift < 6.7


# Least and greatest number of legs; gaits that are not here walk with any
MEANT_FOR: dict[str, tuple[int, float]] = {
    "BIPED_WALK": (1, 2),
    "BIPED_RUN": (1, 2),
    "WALK": (3, inf),
    "TROT": (4, 4),
    "PACE": (4, 4),
    "GALLOP": (4, 4),
    "TRIPOD": (5, inf),
    "TETRAPOD": (6, inf),
    "RIPPLE": (5, inf),
    "WAVE": (3, 12),
    "METACHRONAL": (6, inf),
    "HUMAN": (2, 2),
}


@pytest.mark.parametrize("name", [gait.name for gait in GAITS if gait.name not in ("CUSTOM", "CLIP")])
def test_every_gait_walks(name: str) -> None:
    least, most = MEANT_FOR.get(name, (1, inf))
    for legs in (HUMAN, WOLF, HEXAPOD, SPIDER, CENTIPEDE):
        if not least <= len(legs) <= most:
            continue
        froude = 0.3 if name in ("BIPED_RUN", "GALLOP") else 0.004 if name == "WAVE" else 0.02
        plan = planned(ahead(legs, 6.0, froude=froude), legs, gait=name)
        rhythm = gait_of(Settings(gait=name)).rhythm(legs, Settings(gait=name))
        assert all(steps for steps in plan.steps)
        judged = judge(plan, flat())
        assert judged.slip <= 1e-4
        assert judged.stretched == 0
        beside = neighbours(legs)
        if not any(rhythm.is_together(i, j) for i, others in enumerate(beside) for j in others):
            assert neighbours_up(plan.legs, swings_of(plan)) == 0


def test_offsets_made_by_hand_are_the_order_of_steps() -> None:
    legs = tuple(replace(leg, offset=offset) for leg, offset in zip(WOLF, (0.0, 0.25, 0.5, 0.75), strict=True))
    plan = planned(ahead(legs, 10.0, froude=0.03), legs, gait="CUSTOM", duty=0.8)
    order = [step.leg for step in sorted((s for steps in plan.steps for s in steps), key=lambda s: s.lift)]
    middle = order[8:20]
    assert all(b == (a - 1) % 4 for a, b in pairwise(middle))


def test_a_body_that_creeps_is_followed() -> None:
    """Slower than what counts as walking: feet step when they have drifted."""
    speed = 0.01 * sqrt(9.81 * size_of(SPIDER[0]))
    plan = planned(path_of(lambda time: (0.0, -speed * time, height_of(SPIDER)), 40.0), SPIDER)
    steps = [step for own in plan.steps for step in own]
    assert {round(step.land - step.lift, 6) for step in steps} == {SETTLING}  # no cycle times them
    assert len(steps) >= len(SPIDER)
    assert judge(plan, flat(), every=8.0).stretched == 0
    assert neighbours_up(plan.legs, swings_of(plan)) == 0


def test_a_body_that_is_too_fast_is_told() -> None:
    plan = planned(ahead(HUMAN, 3.0, froude=20.0), HUMAN)
    assert any("too fast" in str(told) for told in plan.told)
