# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks by the creature's own clip: what is read from it, and that it comes back on level ground."""

from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.gait.clip import FootTrack, OwnCycle, own_cycle, with_faster
from fabrik_addon.gait.cycle import SAMPLES
from fabrik_addon.gait.ground import Plain
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at, from_text, rhythm_over, sample, to_text
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import Settings
from fabrik_addon.maths import Z_AXIS, Doubles, turned, turns_about

from dev.walk_measures import judge
from dev.walkers import HEXAPOD, HUMAN, WOLF, flat, ground_of, height_of, path_of, plan_walk

FRAMES, FPS = 24, 24.0
STRIDE, SHIFT, ASIDE, RISE = 0.9, 0.05, 0.02, 0.12  # scene units
DUTIES = (0.62, 0.55)  # hind and front
BOB, YAW = 0.015, 0.1


def duty_of(leg: Leg) -> float:
    return DUTIES[leg.row % 2]


def offset_of(leg: Leg) -> float:
    """Lateral sequence."""
    return (0.0 if leg.side < 0 else 0.5) + 0.25 * (leg.row % 2)


def foot_at_phase(leg: Leg, phase: float, slide: float = 0.0) -> tuple[float, float, float, float]:
    """Forward and aside of home, height and pitch of a foot on a belt."""
    duty = duty_of(leg)
    if phase < duty:
        share = phase / duty
        return SHIFT + STRIDE * duty * (0.5 - share) + slide * sin(pi * share), ASIDE, 0.0, 0.0
    share = (phase - duty) / (1.0 - duty)
    across = 0.5 - 0.5 * cos(pi * share)
    pitch = 0.5 * sin(pi * share) if leg.foot_length else 0.0
    return SHIFT + STRIDE * duty * (across - 0.5), ASIDE + 0.03 * sin(pi * share), RISE * sin(pi * share), pitch


def body_at_phase(phase: float) -> tuple[float, float]:
    return -0.04 + BOB * cos(4.0 * pi * phase), YAW * sin(2.0 * pi * phase)


def clip(
    legs: tuple[Leg, ...], went: float = 0.0, slide: float = 0.0, first: int = 0
) -> tuple[tuple[Doubles, Doubles], list[FootTrack]]:
    """What is read of a clip: on the spot, or gone so far in a cycle."""
    times = [(first + frame) / FRAMES for frame in range(FRAMES + 1)]
    places = np.array([(0.0, -went * t, body_at_phase(t)[0]) for t in times])
    turns = turns_about(np.tile(Z_AXIS, (FRAMES, 1)), np.array([body_at_phase(t)[1] for t in times[:-1]]))
    feet = []
    for leg in legs:
        rows = np.array([foot_at_phase(leg, (t + offset_of(leg)) % 1.0, slide) for t in times[:-1]])
        rolled = leg.reach * np.array(leg.foot.rolled(rows[:, 3])).T
        flat_height = leg.home[2] + rows[:, 2]
        ahead = rows[:, 0] + rolled[:, 0] + went * np.array(times[:-1])
        ankles = np.stack((leg.home[0] + rows[:, 1], leg.home[1] - ahead, flat_height + rolled[:, 1]), axis=1)
        feet.append(FootTrack(ankles, rows[:, 3], flat_height))
    return (places, turns), feet


def twice(foot: FootTrack) -> FootTrack:
    return FootTrack(np.tile(foot.ankles, (2, 1)), np.tile(foot.pitches, 2), np.tile(foot.lows, 2))


def read(legs: tuple[Leg, ...], went: float = 0.0, slide: float = 0.0, first: int = 0) -> OwnCycle:
    body, feet = clip(legs, went, slide, first)
    return own_cycle(legs, body, feet, FPS, 9.81)


def walked(legs: tuple[Leg, ...], share: float = 1.0, kind: str = "flat", seconds: float = 6.0) -> WalkPlan:
    """Straight ahead at so much of the clip's own speed, never at rest."""
    own, speed = read(legs), share * STRIDE * FPS / FRAMES
    path = path_of(lambda time: (0.0, -speed * time, height_of(legs)), seconds, FPS)
    settings = Settings(gait="CLIP", body_tilt=0.5, step_height=0.0, clearance=0.0)
    return plan_walk(Walk(path, own.legs, (settings,), ground_of("wolf", kind), clip=own.body))


@pytest.mark.parametrize("legs", [WOLF, HUMAN, HEXAPOD], ids=["wolf", "human", "hexapod"])
@pytest.mark.parametrize("went", [0.0, STRIDE], ids=["on the spot", "ahead"])
@pytest.mark.parametrize("first", [0, 7])
def test_a_clip_tells_its_cycle(legs: tuple[Leg, ...], went: float, first: int) -> None:
    own = read(legs, went=went, first=first)
    reach = sum(leg.reach for leg in legs) / len(legs)
    for leg in own.legs:
        cycle = leg.cycle
        assert cycle is not None
        assert cycle.stride * reach == pytest.approx(STRIDE, rel=0.03)
        assert cycle.duty == pytest.approx(duty_of(leg), abs=0.05)
        wanted = (offset_of(leg) + first / FRAMES) % 1.0
        assert abs((cycle.offset - wanted + 0.5) % 1.0 - 0.5) <= 0.05
        assert cycle.shift * leg.reach == pytest.approx(SHIFT, abs=0.03)
        assert max(foot[1] for foot in cycle.swing) * leg.reach == pytest.approx(RISE, rel=0.1)
        assert min(foot[1] for foot in cycle.swing) >= 0.0
        assert cycle.pace**2 == pytest.approx(STRIDE**2 / (9.81 * reach), rel=0.06)
    assert own.slid <= 0.03
    yaws = [turned(turn, (1.0, 0.0, 0.0))[1] for turn in own.body.turns]
    assert max(yaws) == pytest.approx(sin(YAW), abs=0.005)
    assert own.body.offsets[0] == pytest.approx(own.body.offsets[-1])


def test_feet_that_slide_are_told() -> None:
    assert read(WOLF, slide=0.1).slid == pytest.approx(0.1 / WOLF[0].reach, rel=0.3)


def test_on_level_ground_at_its_own_speed_the_clip_comes_back() -> None:
    plan = walked(WOLF)
    judged = judge(plan, flat())
    assert judged.slip <= 1e-9
    assert judged.inside <= 1e-9
    heights, ankles = list[float](), list[float]()
    for frame in range(60, 120):
        (place, rotation), (way, _) = body_pose_at(plan, frame), sample(plan.body, plan.time_of(frame))
        phase = float(rhythm_over(plan, [frame])[0][0])
        height, yaw = body_at_phase(phase)
        heights.append(abs(place[2] - height_of(WOLF) - height))
        assert turned(rotation, (1.0, 0.0, 0.0))[1] == pytest.approx(sin(yaw), abs=0.01)
        for leg, foot in zip(plan.legs, feet_at(plan, frame), strict=True):
            ahead, aside, high, _ = foot_at_phase(leg, (phase + offset_of(leg)) % 1.0)
            wanted = (leg.home[0] + aside, way[1] + leg.home[1] - ahead, high)
            ankles.append(max(abs(a - b) for a, b in zip(foot.ankle, wanted, strict=True)))
    assert max(heights) <= 0.01
    assert max(ankles) <= 0.05


@pytest.mark.parametrize("kind", ["slope", "stairs", "noise"])
@pytest.mark.parametrize("share", [0.7, 1.0, 1.4])
def test_it_walks_at_other_speeds_and_over_ground(kind: str, share: float) -> None:
    judged = judge(walked(WOLF, share, kind), ground_of("wolf", kind))
    assert judged.slip <= 1e-4
    assert judged.drift <= 1e-3
    assert judged.inside <= 0.01
    assert judged.stretched == 0


def faster(legs: tuple[Leg, ...], times: float, first: int = 0) -> OwnCycle:
    """The same steps in so many times fewer seconds, by a clip that begins so many frames later."""
    body, feet = clip(legs, first=first)
    return own_cycle(legs, body, feet, times * FPS, 9.81)


@pytest.mark.parametrize("first", [0, 7, 20])
def test_a_faster_clip_strikes_as_the_slower_one_whenever_it_begins(first: int) -> None:
    slow, fast = read(WOLF), faster(WOLF, 2.0, first)
    whole, start = with_faster(slow, fast)
    assert abs((start + first / FRAMES + 0.5) % 1.0 - 0.5) <= 0.5 / SAMPLES + 1e-6
    for leg, own in zip(whole.legs, slow.legs, strict=True):
        assert leg.cycle is not None
        assert own.cycle is not None
        half = leg.cycle.at(1.5 * leg.cycle.pace)
        assert half.offset == pytest.approx(own.cycle.offset, abs=0.03)
        assert half.duty == pytest.approx(own.cycle.duty, abs=0.01)
        assert half.stride == pytest.approx(own.cycle.stride, rel=0.02)
        assert np.allclose(half.table, own.cycle.table, atol=0.02)
        assert leg.cycle.at(4.0 * leg.cycle.pace).stride == pytest.approx(sqrt(2.0) * own.cycle.stride, rel=0.02)


def test_clips_of_one_speed_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="same speed"):
        with_faster(read(WOLF), faster(WOLF, 1.02))


@pytest.mark.parametrize("legs", [WOLF, HUMAN], ids=["wolf", "human"])
def test_who_speeds_up_goes_from_one_clip_to_the_other_without_a_jump(legs: tuple[Leg, ...]) -> None:
    """The body is nowhere farther from an even way than by its clips, and feet stand still."""
    own, _ = with_faster(read(legs), faster(legs, 2.5, 9))
    slow, seconds = STRIDE * FPS / FRAMES, 8.0
    path = path_of(lambda time: (0.0, -slow * (time + 0.75 * time * time / seconds), height_of(legs)), seconds, FPS)
    settings = Settings(gait="CLIP", body_tilt=0.5, step_height=0.0, clearance=0.0)
    walk = Walk(path, own.legs, (settings,), Plain(), clip=own.body)
    plan = plan_walk(walk)
    judged = judge(plan, flat())
    assert judged.slip <= 1e-9
    assert judged.inside <= 1e-9
    assert from_text(to_text(plan)) == plan
    frames = range(plan.first, plan.first + round(seconds * FPS) - 1)
    rates = np.diff(rhythm_over(plan, frames)[0])[20:-12] * FPS
    assert (np.diff(rates) >= -0.05).all(), "it steps quicker and quicker"
    assert rates[-30:].mean() / rates[:30].mean() > 1.5
    heights = np.array([body_pose_at(plan, frame)[0][2] for frame in frames])
    assert np.ptp(heights) <= 2.0 * BOB + 0.02
    most = BOB * (4.0 * pi * rates.max() / FPS) ** 2  # as a clip of that speed bobs, from frame to frame
    assert np.abs(np.diff(heights, n=2)).max() <= 1.3 * most


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda body, feet: (body, [foot._replace(lows=foot.lows * 0.0, ankles=foot.ankles * 0.0) for foot in feet]),
            "never lifts",
        ),
        (
            lambda body, feet: (body, [foot._replace(ankles=foot.ankles * (1.0, 1e-3, 1.0)) for foot in feet]),
            "does not walk",
        ),
        (
            lambda body, feet: (
                (np.tile(body[0], (2, 1))[: 2 * FRAMES + 1], np.tile(body[1], (2, 1))),
                [twice(foot) for foot in feet],
            ),
            "more than once",
        ),
    ],
    ids=["never lifts", "goes nowhere", "two cycles"],
)
def test_a_clip_that_is_no_walk_is_refused(change: Any, text: str) -> None:
    body, feet = change(*clip(WOLF))
    with pytest.raises(InvalidValueError, match=text):
        own_cycle(WOLF, body, feet, FPS, 9.81)


def test_the_gait_needs_a_clip() -> None:
    path = path_of(lambda time: (0.0, -time, height_of(WOLF)), 1.0)
    with pytest.raises(InvalidValueError, match="no clip"):
        plan_walk(Walk(path, WOLF, (Settings(gait="CLIP"),), Plain()))
