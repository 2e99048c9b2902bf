# SPDX-License-Identifier: GPL-3.0-or-later
"""How people walk: the angles of their joints by phase and speed, and the laws of their strides.

Speeds are told free of size: v* = v / √(g · leg), where the leg is measured from hip to ankle. The joints' curves are
harmonics that were fitted to the means of 288 people that Schwartz, Rozumalski and Trost (2008), "The effect of walking
speed on the gait of typically developing children", J. Biomechanics 41, give for five speeds; stride and duty go back
to Boulic, Magnenat-Thalmann and Thalmann (1990), "A global human walking model with real-time kinematic
personification".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import cos, pi, radians, sin, sqrt
from typing import NamedTuple

from ..maths import eased
from .cycle import WIDTH, Angles, Cycle, cycle_of, liveliness
from .legs import Sole

SPEEDS = (0.15, 0.295, 0.43, 0.57, 0.7)  # v* for which the curves are known
# By speed a mean, and the cosine and sine parts of one wave in a cycle, of two, and so on; degrees
HIP = (
    (16.8, 14.2, -1.1, -0.1, -3.1, -0.5, 0.4, 0.0, -0.1),
    (17.7, 17.4, -3.3, -2.1, -2.4, -0.1, 1.5, 0.1, -0.2),
    (18.4, 20.9, -3.2, -3.1, -1.5, -0.1, 1.6, -0.1, -0.1),
    (20.0, 24.0, -3.3, -3.9, -0.9, -0.1, 1.7, -0.1, -0.1),
    (22.5, 25.7, -5.0, -4.2, -1.2, -0.3, 1.5, -0.1, 0.0),
)
KNEE = (
    (16.1, -0.3, -15.4, -9.4, -0.4, -1.6, 3.6, 0.2, 0.7, -0.2, 0.3, 0.0, 0.2),
    (20.0, -2.9, -18.3, -12.2, 4.5, -0.0, 4.5, -0.2, 0.3, -0.5, 0.6, 0.1, 0.2),
    (22.9, -1.9, -18.7, -13.6, 7.0, -0.7, 4.3, -0.8, 0.6, -0.5, 0.7, 0.1, 0.2),
    (24.0, -0.4, -19.0, -13.9, 9.0, -0.7, 4.2, -1.1, 0.5, -0.5, 0.6, 0.0, 0.1),
    (23.4, 1.2, -21.5, -13.7, 9.2, -0.8, 3.7, -1.2, 0.4, -0.3, 0.5, 0.0, -0.1),
)
ANKLE = (
    (3.2, -6.1, 1.2, 1.9, -3.3, -2.7, -1.7, -0.1, 0.9, 0.6, -0.3, 0.1, -0.1, 0.2, 0.0),
    (2.0, -5.0, 4.1, 1.8, -5.9, -4.2, -0.2, 1.6, 1.2, 0.4, -1.4, -0.1, 0.2, 0.6, -0.1),
    (0.8, -2.0, 7.1, 0.8, -7.2, -4.5, 0.9, 2.2, 0.2, -0.5, -1.3, 0.3, 0.5, 0.5, -0.5),
    (-0.6, 0.2, 7.5, -1.1, -7.4, -4.1, 1.7, 2.1, -0.8, -0.9, -0.8, 0.7, 0.3, 0.2, -0.6),
    (-1.3, 2.6, 6.8, -3.3, -7.6, -2.9, 2.0, 1.4, -1.3, -0.7, -0.3, 0.6, -0.0, 0.1, -0.3),
)
TILT = ((12.0,), (11.0,), (11.6,), (13.3,), (16.6,))  # of the pelvis, from which hips are measured
# Of someone who runs: the share of the stance at which, or 1 more of the swing; degrees at v* .8, and by how much more
# at 1.6; in between as the curve goes. Textbook values (Novacheck 1998), and three who were measured.
RUN_THIGH = ((0.0, 30.0, 4.0), (0.4, 12.0, 2.0), (1.0, -22.0, -5.0), (1.12, -24.0, -8.0), (1.78, 40.0, 10.0))
RUN_KNEE = ((0.0, 20.0, -4.0), (0.42, 42.0, 6.0), (1.0, 20.0, 2.0), (1.52, 94.0, 14.0), (1.92, 22.0, -4.0))
RUN_ANKLE = (
    (0.0, 5.0, 0.0),
    (0.45, 26.0, 2.0),
    (1.0, -19.0, -3.0),
    (1.1, -20.0, -3.0),
    (1.6, -5.0, 0.0),
    (1.9, 4.0, 0.0),
)
RUN_FROM, RUN_TO = 0.65, 0.75  # v* in which a walk becomes a run
RUN_WIDTH, RUN_LEAN = 0.04, radians(6.0)  # how far apart feet are, of a leg; how far the trunk leans
RUN_ARMS = (-18.0, 26.0), (88.0, 12.0)  # shoulder and elbow of someone who runs: the mean, and half of the swing
YAW = (
    (0.0, 2.0, 4.1, 0.0, 0.0, 0.3, 0.3),
    (0.0, 2.5, 2.5, 0.0, 0.0, 0.3, -0.1),
    (0.0, 3.7, 2.1, 0.0, 0.0, 0.4, -0.4),
    (0.0, 5.5, 2.1, 0.0, 0.0, 0.7, -0.6),
    (0.0, 6.9, 1.0, 0.0, 0.0, 0.8, -0.6),
)
LIST = (
    (0.0, 1.9, 0.6, 0.0, 0.0, -0.5, 0.0),
    (0.0, 1.6, 1.3, 0.0, 0.0, -0.9, 0.2),
    (0.0, 1.9, 2.1, 0.0, 0.0, -1.2, 0.2),
    (0.0, 2.6, 3.3, 0.0, 0.0, -1.3, 0.0),
    (0.0, 2.7, 4.3, 0.0, 0.0, -1.1, -0.4),
)
# Of the thorax at free speed, fitted to the means of 68 adults
THORAX_YAW = (0.0, -2.0, 1.1, 0.0, 0.0, 0.4, -0.6)
THORAX_LIST = (0.0, -0.5, -1.1, 0.0, 0.0, 0.3, -0.2)
# Shoulder and elbow in a stand, the mean and half of the swing of each at free speed, and how much of that at what v*
SHOULDER, ELBOW = (-5.0, -4.0, 15.0), (16.0, 12.5, 12.5)
SWINGS = ((0.0, 0.2), (0.15, 0.45), (0.3, 0.8), (0.43, 1.0), (0.57, 1.2))
ELBOW_LATE = 0.05  # of a cycle after the other leg's heel strike an elbow is bent most
FASTEST = 1.4  # v* up to which people run
STEP_OF_SPEED = 0.01  # speeds that are nearer walk alike
# What people do beyond the means of many, whose phases differ: radians
SWING_KNEE, SWING_THIGH, STANCE_KNEE = radians(12.0), radians(3.0), radians(4.0)
KNEE_SWINGS, KNEE_STANDS, THIGH_SWINGS = (0.5, 0.97), (-0.2, 0.6), (0.62, 1.0)
HIPS = 0.1  # how far a hip is from the middle of both
SWAY, SWAYED = 0.032, 0.1  # how far the pelvis goes to the side of the leg that stands, and at what phase it begins to


class Pelvis(NamedTuple):
    """How the pelvis is turned and moved.

    Attributes:
        yaw: How far the side of the leg is ahead, radians.
        tilt: How far that side is up, radians.
        sway: How far it is towards that side, as a share of the leg's reach.
    """

    yaw: float
    tilt: float
    sway: float


def running(speed: float) -> float:
    """How much of a run there is at a v*: none in a walk, in between both."""
    return eased((speed - RUN_FROM) / (RUN_TO - RUN_FROM)) if speed > RUN_FROM else 0.0


def stride_at(speed: float) -> float:
    """What a leg walks in a cycle at a v*, as a share of its reach."""
    walk, run = 2.45 * sqrt(speed), 2.75 * speed
    return walk + running(speed) * (run - walk)


def duty_at(speed: float) -> float:
    """Share of the cycle that a foot stands at a v*."""
    walk, run = 0.765 - 0.265 * sqrt(speed), max(0.4 - 0.125 * (speed - 0.8), 0.25)
    return walk + running(speed) * (run - walk)


def lean_at(speed: float) -> float:
    """How far the trunk leans forward at a v*, radians."""
    return running(speed) * RUN_LEAN


@lru_cache(maxsize=4096)
def _at(table: Sequence[Sequence[float]], speed: float) -> Sequence[float]:
    """What a joint's curve is made of at a v*."""
    index = min(max(bisect_left(SPEEDS, speed) - 1, 0), len(SPEEDS) - 2)
    low, high = SPEEDS[index], SPEEDS[index + 1]
    share = min(max((speed - low) / (high - low), 0.0), 1.0)
    return [a + share * (b - a) for a, b in zip(table[index], table[index + 1], strict=True)]


def _waves(parts: Sequence[float], phase: float) -> float:
    """A mean, and the cosine and sine parts of one wave in a cycle, of two, and so on; degrees to radians."""
    found = parts[0]
    for place, part in enumerate(parts[1:], 1):
        wave = 2.0 * pi * ((place + 1) // 2) * phase
        found += part * (cos(wave) if place % 2 else sin(wave))
    return radians(found)


def angles_at(speed: float, phase: float, energy: float = 0.0) -> Angles:
    """A leg of someone who walks.

    Args:
        speed: v*.
        phase: From its own heel strike.
        energy: 0 as the mean of many people, 1 as one of them, whose knees bend more.
    """
    thigh = _waves(_at(HIP, speed), phase) - _waves(_at(TILT, speed), phase)
    knee, ankle = _waves(_at(KNEE, speed), phase), _waves(_at(ANKLE, speed), phase)
    pitch = knee - thigh - ankle
    swinging, standing = _bump(phase, KNEE_SWINGS), STANCE_KNEE * _bump(phase, KNEE_STANDS)
    knee += energy * (SWING_KNEE * swinging + standing)
    thigh += energy * (SWING_THIGH * _bump(phase, THIGH_SWINGS) + 0.5 * standing)
    share, run = liveliness(speed), running(speed)
    if run > 0.0:
        fast = min(max((speed - 0.8) / 0.8, 0.0), 1.0)
        goal, bend, flex = (_run(table, phase, duty_at(speed), fast) for table in (RUN_THIGH, RUN_KNEE, RUN_ANKLE))
        thigh, knee, pitch = (
            low + run * (high - low) for low, high in ((thigh, goal), (knee, bend), (pitch, bend - goal - flex))
        )
    return Angles(share * thigh, share * max(knee, 0.0), share * pitch)


def _run(table: Sequence[tuple[float, float, float]], phase: float, duty: float, fast: float) -> float:
    """A joint's angle of someone who runs, radians: a smooth curve through what is known of it."""
    places = [share * duty if share <= 1.0 else duty + (share - 1.0) * (1.0 - duty) for share, _, _ in table]
    values = [low + fast * more for _, low, more in table]
    count = len(places)
    index = max(k for k in range(count) if places[k] <= phase)

    def at(k: int) -> tuple[float, float]:
        """The place and the value of one of them, of the cycles before and behind as well."""
        return places[k % count] + k // count, values[k % count]

    (before, a), (low, b), (high, c), (after, d) = (at(index + k) for k in (-1, 0, 1, 2))
    span = high - low
    t, slopes = (phase - low) / span, (span * (c - a) / (high - before), span * (d - b) / (after - low))
    turn = slopes[0] * t * (1.0 - t) ** 2 - slopes[1] * t * t * (1.0 - t)
    return radians(b + (c - b) * t * t * (3.0 - 2.0 * t) + turn)


def _bump(phase: float, ends: tuple[float, float]) -> float:
    """A wave between two phases; 0 outside."""
    low, high = ends
    share = ((phase - low) % 1.0) / (high - low)
    return sin(pi * share) ** 2 if share < 1.0 else 0.0


@lru_cache(maxsize=512)  # people of several sizes and styles, at all speeds
def _cycle(number: int, energy: float, sole: Sole) -> Cycle:
    speed = number * STEP_OF_SPEED

    def angles(phase: float) -> Angles:
        return angles_at(speed, phase % 1.0, energy)

    def forth(phase: float) -> float:
        return HIPS * sin(pelvis_at(speed, phase).yaw)

    width = WIDTH + running(speed) * (RUN_WIDTH - WIDTH)
    return replace(cycle_of(angles, forth, (stride_at(speed), duty_at(speed), speed), sole), width=width)


@lru_cache(maxsize=4096)
def human_cycle(speed: float, energy: float, sole: Sole) -> Cycle:
    """The cycle of a leg at a v* above 0; see `angles_at`."""
    return _cycle(max(round(min(speed, FASTEST) / STEP_OF_SPEED), 1), energy, sole)


def pelvis_at(speed: float, phase: float) -> Pelvis:
    """How the pelvis is at a v* and the phase of a leg."""
    share = liveliness(speed)
    sway = SWAY * sin(2.0 * pi * (phase - SWAYED))
    return Pelvis(share * _waves(_at(YAW, speed), phase), share * _waves(_at(LIST, speed), phase), share * sway)


def thorax_at(speed: float, phase: float) -> tuple[float, float]:
    """How far the side of a leg is ahead, and up, of the thorax at a v* and the phase of the leg; radians."""
    share = liveliness(speed)
    return share * _waves(THORAX_YAW, phase), share * _waves(THORAX_LIST, phase)


def arm_at(speed: float, phase: float, swing: float) -> tuple[float, float]:
    """Shoulder and elbow of an arm that swings against the leg of its side, forward and bent; radians.

    Args:
        speed: v*.
        phase: Of the leg.
        swing: How far it swings, against people.
    """
    (low, a), (high, b) = next((pair for pair in pairwise(SWINGS) if speed <= pair[1][0]), (SWINGS[-2], SWINGS[-1]))
    share = swing * (a + min(max((speed - low) / (high - low), 0.0), 1.0) * (b - a)) * liveliness(speed)
    shoulder = SHOULDER[0] + share * (SHOULDER[1] - SHOULDER[2] * cos(2.0 * pi * phase))
    elbow = ELBOW[0] + share * (ELBOW[1] - ELBOW[2] * cos(2.0 * pi * (phase - ELBOW_LATE)))
    run = running(speed)
    if run > 0.0:
        wide, bent = RUN_ARMS
        shoulder += run * (wide[0] - swing * wide[1] * cos(2.0 * pi * phase) - shoulder)
        elbow += run * (bent[0] - swing * bent[1] * cos(2.0 * pi * (phase - ELBOW_LATE)) - elbow)
    return radians(shoulder), radians(elbow)
