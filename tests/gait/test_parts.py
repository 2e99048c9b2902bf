# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a walk, each by its own law."""

from dataclasses import replace
from itertools import combinations, pairwise
from math import hypot, pi
from random import Random

import numpy as np
import pytest
from fabrik_addon.gait.body import need_of
from fabrik_addon.gait.feet import KEEPING, WAITING, Foothold, FootPaths, FootPose, Step, arch
from fabrik_addon.gait.gaits import GAITS, gait_of
from fabrik_addon.gait.ground import smallest_circle
from fabrik_addon.gait.legs import neighbours
from fabrik_addon.gait.path import covered, smoothed
from fabrik_addon.gait.settings import Settings, Swing
from fabrik_addon.maths import (
    IDENTITY,
    Q4,
    V3,
    Z_AXIS,
    between,
    conjugated,
    distance,
    eased,
    eased_each,
    multiplied,
    slerp,
    turn_about,
    turned,
    unit_or,
)

from dev.walkers import CENTIPEDE, HEXAPOD, HUMAN, SPIDER, WOLF, at_foot


def some_points(random: Random, count: int) -> list[tuple[float, float]]:
    return [(random.gauss(0.0, 1.0), random.gauss(0.0, 1.0)) for _ in range(count)]


def test_the_smallest_circle_holds_all_points_and_none_is_smaller() -> None:
    random = Random(1)
    for count in (1, 2, 3, 4, 9):
        for _ in range(50):
            points = some_points(random, count)
            x, y, radius = smallest_circle(points)
            assert all(hypot(px - x, py - y) <= radius + 1e-9 for px, py in points)
            on = [point for point in points if abs(hypot(point[0] - x, point[1] - y) - radius) < 1e-7]
            assert is_held(on, (x, y))


def is_held(points: list[tuple[float, float]], centre: tuple[float, float]) -> bool:
    """Whether a centre is between points on its circle: then no smaller circle holds them."""
    if len(points) == 1:
        return distance((*points[0], 0.0), (*centre, 0.0)) < 1e-9
    for a, b in combinations(points, 2):
        if hypot(0.5 * (a[0] + b[0]) - centre[0], 0.5 * (a[1] + b[1]) - centre[1]) < 1e-7:
            return True
    for triple in combinations(points, 3):
        turns = [
            (b[0] - a[0]) * (centre[1] - a[1]) - (b[1] - a[1]) * (centre[0] - a[0])
            for a, b in zip(triple, (*triple[1:], triple[0]), strict=True)
        ]
        if all(turn >= -1e-9 for turn in turns) or all(turn <= 1e-9 for turn in turns):
            return True
    return False


def test_points_in_a_line_have_a_circle() -> None:
    x, y, radius = smallest_circle([(0.1 * index, 0.2 * index) for index in range(9)])
    assert (x, y, radius) == pytest.approx((0.4, 0.8, hypot(0.4, 0.8)))


def test_smoothing_does_not_lag() -> None:
    """A bump stays where it is, and its sum what it is."""
    values = [0.0] * 300 + [1.0] * 21 + [0.0] * 300
    result = smoothed(values, 0.15)
    assert result == pytest.approx(result[::-1], abs=1e-6)
    assert result.index(max(result)) == 310
    assert sum(result) == pytest.approx(21.0, abs=1e-3)
    assert smoothed([3.0] * 50, 0.15) == [3.0] * 50
    assert smoothed([1.0, 2.0], 0.0) == [1.0, 2.0]


def test_what_covers_needs_is_never_below_them() -> None:
    random = Random(2)
    needs = [random.random() if random.random() < 0.1 else 0.0 for _ in range(400)]
    result = covered(needs, 15)
    assert all(have >= need - 1e-12 for have, need in zip(result, needs, strict=True))
    assert max(result) <= max(needs) + 1e-12
    assert max(abs(b - a) for a, b in pairwise(result)) < 0.1
    assert covered([0.0] * 20, 5) == [0.0] * 20


def test_a_hip_comes_down_just_so_far_that_its_leg_reaches() -> None:
    need = need_of((0.3, 0.0, 1.0), (0.0, 0.0, 0.0), Z_AXIS, 0.8, 1.0)
    assert distance((0.3, 0.0, 1.0 - need), (0.0, 0.0, 0.0)) == pytest.approx(0.8)
    assert need_of((0.3, 0.0, 0.5), (0.0, 0.0, 0.0), Z_AXIS, 0.8, 1.0) == 0.0
    assert need_of((3.0, 0.0, 0.5), (0.0, 0.0, 0.0), Z_AXIS, 0.8, 0.25) == 0.25


@pytest.mark.parametrize("curve", list(Swing))
def test_a_swing_begins_and_ends_on_its_footholds(curve: str) -> None:
    step = Step(0, 1.0, 1.4, Foothold((0.0, 0.0, 0.0), IDENTITY), Foothold((0.0, -1.0, 0.3), IDENTITY), apex=0.2)
    for lead in (1.0, 2.0, 3.0):
        for power in (1.0, 0.35):
            shaped = replace(step, curve=curve, lead=lead, power=power)
            paths = FootPaths(SPIDER[:1], [(shaped.start, [shaped])], unmoved)
            poses = [foot for (foot,) in paths.at(1.0 + 0.4 * np.arange(101) / 100).singly()]
            assert poses[0].sole == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
            assert poses[-1].sole == pytest.approx((0.0, -1.0, 0.3), abs=1e-3)
            assert all(b.sole[1] <= a.sole[1] for a, b in pairwise(poses))
            assert max(pose.sole[2] for pose in poses) >= 0.3


@pytest.mark.parametrize("kept", [*KEEPING, *WAITING])
def test_a_foot_that_goes_by_a_cycle_rises_without_a_jerk_and_then_goes_ahead(kept: float) -> None:
    start, end = Foothold((0.0, 0.0, 0.0), IDENTITY), Foothold((0.0, -1.0, 0.3), IDENTITY)
    step = Step(0, 1.0, 1.4, start, end, apex=0.3, power=kept, pace=0.3)
    shares = np.array([0.02, 0.1, 0.5, 0.98])
    flat, high = (
        FootPaths(HUMAN[:1], [(start, [one])], unmoved).at(1.0 + 0.4 * shares).flat[0]
        for one in (replace(step, apex=0.0), step)
    )
    assert (high - flat)[:, 2] == pytest.approx([0.3 * 0.0784**2, 0.3 * 0.36**2, 0.3, 0.3 * 0.0784**2])
    gone = 0.0086 + kept * (0.0294 - 0.0086) if kept >= 0.0 else 0.0  # the ways of least jerk and cycle; or it waits
    assert -high[1, 1] == pytest.approx(gone, abs=1e-3)


def unmoved(surface: int, time: float) -> tuple[V3, Q4]:
    return (0.0, 0.0, 0.0), IDENTITY


def test_least_jerk_starts_and_ends_at_rest() -> None:
    assert (eased(-1.0), eased(0.0), eased(0.5), eased(1.0), eased(2.0)) == (0.0, 0.0, 0.5, 1.0, 1.0)
    assert eased_each(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert eased(0.01) < 1e-4
    assert arch(np.array([0.5, 0.0]), np.array([1.0, 0.5])).tolist() == [1.0, 0.0]


def test_a_foot_rolls_over_heel_and_ball() -> None:
    """Landing on the heel, which stays; lifting over the ball, which stays; at rest flat."""
    leg = HUMAN[0]
    first = Step(0, 1.0, 1.4, Foothold((0.0, 0.0, 0.0), IDENTITY), Foothold((0.0, -1.0, 0.0), IDENTITY))
    first = replace(first, heel_strike=0.3, apex=0.1)
    second = replace(first, lift=2.2, land=2.6, start=first.end, toe_off=0.6, heel_strike=0.0)

    def at(time: float) -> FootPose:
        return FootPaths([leg], [(first.start, (first, second))], unmoved).at(np.array([time])).singly()[0][0]

    heel, ball = at(5.0), at(1.6)
    assert heel.pitch == 0.0
    landed = at(1.4)
    assert landed.pitch == pytest.approx(-0.3)
    assert at_foot(landed, leg.heel) == pytest.approx(at_foot(ball, leg.heel), abs=1e-9)
    assert at_foot(landed, leg.ball)[2] > 0.03
    flat = at(1.75)
    lifting = at(2.199999)
    assert flat.pitch == pytest.approx(0.0, abs=1e-3)
    assert lifting.pitch == pytest.approx(0.6, abs=1e-4)
    assert at_foot(lifting, leg.ball)[2] == pytest.approx(0.0, abs=1e-9)
    assert at_foot(lifting, leg.heel)[2] > 0.08


@pytest.mark.parametrize("gait", GAITS, ids=lambda gait: str(gait.name))
def test_rhythms_stand_as_long_as_they_say(gait: object) -> None:
    name = str(getattr(gait, "name"))
    for legs in (HUMAN, WOLF, HEXAPOD, SPIDER, CENTIPEDE):
        rhythm = gait_of(Settings(gait=name)).rhythm(legs, Settings(gait=name))
        assert len(rhythm.offsets) == len(legs)
        assert all(0.0 < duty < 1.0 for duty in rhythm.duties)


def test_each_gait_has_a_number_of_its_own_and_keeps_it() -> None:
    released = "BIPED_WALK BIPED_RUN WALK TROT PACE GALLOP TRIPOD TETRAPOD RIPPLE WAVE METACHRONAL CUSTOM"
    numbers = {gait.name: gait.number for gait in GAITS}
    assert numbers.items() >= {name: number for number, name in enumerate(released.split())}.items()
    assert len(set(numbers.values())) == len(numbers)


@pytest.mark.parametrize("name", ["WALK", "TRIPOD", "TETRAPOD", "RIPPLE", "WAVE", "METACHRONAL"])
def test_slow_gaits_keep_neighbours_apart(name: str) -> None:
    for legs in (WOLF, HEXAPOD, SPIDER, CENTIPEDE):
        if name in ("RIPPLE", "METACHRONAL") and legs is WOLF:
            continue
        rhythm = gait_of(Settings(gait=name)).rhythm(legs, Settings(gait=name))
        assert not any(rhythm.is_together(i, j) for i, others in enumerate(neighbours(legs)) for j in others)


def test_turns() -> None:
    random = Random(3)
    for _ in range(100):
        a, b = (unit_or((random.gauss(0, 1), random.gauss(0, 1), random.gauss(0, 1)), Z_AXIS) for _ in range(2))
        assert turned(between(a, b), a) == pytest.approx(b, abs=1e-9)
        q = turn_about(a, random.uniform(-pi, pi))
        assert turned(multiplied(conjugated(q), q), b) == pytest.approx(b)
        assert slerp(IDENTITY, q, 0.0) == pytest.approx(IDENTITY)
    assert turned(between(Z_AXIS, (0.0, 0.0, -1.0)), Z_AXIS) == pytest.approx((0.0, 0.0, -1.0), abs=1e-9)
