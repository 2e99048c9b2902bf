# SPDX-License-Identifier: GPL-3.0-or-later
"""How people walk: the angles of their joints by phase and speed, and the laws of their strides.

Speeds are told free of size: v* = v / √(g · leg), where the leg is measured from hip to ankle. The joints' curves are
harmonics that were fitted to the means of 288 people that Schwartz, Rozumalski and Trost (2008), "The effect of walking
speed on the gait of typically developing children", J. Biomechanics 41, give for five speeds; stride and duty go back
to Boulic, Magnenat-Thalmann and Thalmann (1990), "A global human walking model with real-time kinematic
personification".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import pi, radians, sqrt

import numpy as np

from ..maths import Doubles, eased_each
from .cycle import SHARES, WIDTH, Angles, Cycle, Sole, cycle_of, liveliness

SPEEDS: Doubles = np.array((0.15, 0.295, 0.43, 0.57, 0.7))  # v* for which the curves are known
# By speed a mean, and the cosine and sine parts of one wave in a cycle, of two, and so on; degrees
HIP: Doubles = np.array(
    (
        (16.8, 14.2, -1.1, -0.1, -3.1, -0.5, 0.4, 0.0, -0.1),
        (17.7, 17.4, -3.3, -2.1, -2.4, -0.1, 1.5, 0.1, -0.2),
        (18.4, 20.9, -3.2, -3.1, -1.5, -0.1, 1.6, -0.1, -0.1),
        (20.0, 24.0, -3.3, -3.9, -0.9, -0.1, 1.7, -0.1, -0.1),
        (22.5, 25.7, -5.0, -4.2, -1.2, -0.3, 1.5, -0.1, 0.0),
    )
)
KNEE: Doubles = np.array(
    (
        (16.1, -0.3, -15.4, -9.4, -0.4, -1.6, 3.6, 0.2, 0.7, -0.2, 0.3, 0.0, 0.2),
        (20.0, -2.9, -18.3, -12.2, 4.5, -0.0, 4.5, -0.2, 0.3, -0.5, 0.6, 0.1, 0.2),
        (22.9, -1.9, -18.7, -13.6, 7.0, -0.7, 4.3, -0.8, 0.6, -0.5, 0.7, 0.1, 0.2),
        (24.0, -0.4, -19.0, -13.9, 9.0, -0.7, 4.2, -1.1, 0.5, -0.5, 0.6, 0.0, 0.1),
        (23.4, 1.2, -21.5, -13.7, 9.2, -0.8, 3.7, -1.2, 0.4, -0.3, 0.5, 0.0, -0.1),
    )
)
ANKLE: Doubles = np.array(
    (
        (3.2, -6.1, 1.2, 1.9, -3.3, -2.7, -1.7, -0.1, 0.9, 0.6, -0.3, 0.1, -0.1, 0.2, 0.0),
        (2.0, -5.0, 4.1, 1.8, -5.9, -4.2, -0.2, 1.6, 1.2, 0.4, -1.4, -0.1, 0.2, 0.6, -0.1),
        (0.8, -2.0, 7.1, 0.8, -7.2, -4.5, 0.9, 2.2, 0.2, -0.5, -1.3, 0.3, 0.5, 0.5, -0.5),
        (-0.6, 0.2, 7.5, -1.1, -7.4, -4.1, 1.7, 2.1, -0.8, -0.9, -0.8, 0.7, 0.3, 0.2, -0.6),
        (-1.3, 2.6, 6.8, -3.3, -7.6, -2.9, 2.0, 1.4, -1.3, -0.7, -0.3, 0.6, -0.0, 0.1, -0.3),
    )
)
TILT: Doubles = np.array(((12.0,), (11.0,), (11.6,), (13.3,), (16.6,)))  # of the pelvis, from which hips are measured
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
YAW: Doubles = np.array(
    (
        (0.0, 2.0, 4.1, 0.0, 0.0, 0.3, 0.3),
        (0.0, 2.5, 2.5, 0.0, 0.0, 0.3, -0.1),
        (0.0, 3.7, 2.1, 0.0, 0.0, 0.4, -0.4),
        (0.0, 5.5, 2.1, 0.0, 0.0, 0.7, -0.6),
        (0.0, 6.9, 1.0, 0.0, 0.0, 0.8, -0.6),
    )
)
LIST: Doubles = np.array(
    (
        (0.0, 1.9, 0.6, 0.0, 0.0, -0.5, 0.0),
        (0.0, 1.6, 1.3, 0.0, 0.0, -0.9, 0.2),
        (0.0, 1.9, 2.1, 0.0, 0.0, -1.2, 0.2),
        (0.0, 2.6, 3.3, 0.0, 0.0, -1.3, 0.0),
        (0.0, 2.7, 4.3, 0.0, 0.0, -1.1, -0.4),
    )
)
# Of the thorax at free speed, fitted to the means of 68 adults
THORAX_YAW: Doubles = np.array([(0.0, -2.0, 1.1, 0.0, 0.0, 0.4, -0.6)])
THORAX_LIST: Doubles = np.array([(0.0, -0.5, -1.1, 0.0, 0.0, 0.3, -0.2)])
# Shoulder and elbow in a stand, the mean and half of the swing of each at free speed, and how much of that at what v*
SHOULDER, ELBOW = (-5.0, -4.0, 15.0), (16.0, 12.5, 12.5)
SWING_SPEEDS, SWINGS = (0.0, 0.15, 0.3, 0.43, 0.57), (0.2, 0.45, 0.8, 1.0, 1.2)
ELBOW_LATE = 0.05  # of a cycle after the other leg's heel strike an elbow is bent most
FASTEST = 1.4  # v* up to which people run
STEP_OF_SPEED = 0.01  # speeds that are nearer walk alike
# What people do beyond the means of many, whose phases differ: radians
SWING_KNEE, SWING_THIGH, STANCE_KNEE = radians(12.0), radians(3.0), radians(4.0)
KNEE_SWINGS, KNEE_STANDS, THIGH_SWINGS = (0.5, 0.97), (-0.2, 0.6), (0.62, 1.0)
HIPS = 0.1  # how far a hip is from the middle of both
SWAY, SWAYED = 0.032, 0.1  # how far the pelvis goes to the side of the leg that stands, and at what phase it begins to


def running(speed: Doubles | float) -> Doubles:
    """How much of a run there is at a v*: none in a walk, in between both."""
    return eased_each(np.asarray((speed - RUN_FROM) / (RUN_TO - RUN_FROM)))


def stride_at(speed: float) -> float:
    """What a leg walks in a cycle at a v*, as a share of its reach."""
    walk, run = 2.45 * sqrt(speed), 2.75 * speed
    return walk + float(running(speed)) * (run - walk)


def duty_at(speed: float) -> float:
    """Share of the cycle that a foot stands at a v*."""
    walk, run = 0.765 - 0.265 * sqrt(speed), max(0.4 - 0.125 * (speed - 0.8), 0.25)
    return walk + float(running(speed)) * (run - walk)


def _waves(table: Doubles, speed: Doubles | float, phase: Doubles) -> Doubles:
    """The angles of a joint, (...), radians.

    Args:
        table: By the speeds in `SPEEDS`, or of one: a mean, and the cosine and sine parts of one wave in a cycle, of
            two, and so on; degrees.
        speed: v*, one or as many as phases; in between the curves are mixed.
        phase: In cycles.
    """
    parts = table[0]
    if len(table) > 1:
        index = np.clip(np.searchsorted(SPEEDS, speed) - 1, 0, len(SPEEDS) - 2)
        share = np.clip((speed - SPEEDS[index]) / (SPEEDS[index + 1] - SPEEDS[index]), 0.0, 1.0)
        parts = table[index] + share[..., None] * (table[index + 1] - table[index])
    waves = (2.0 * pi * phase)[..., None] * np.arange(1.0, 0.5 * table.shape[1])
    sums = (parts[..., 1::2] * np.cos(waves)).sum(axis=-1) + (parts[..., 2::2] * np.sin(waves)).sum(axis=-1)
    found: Doubles = np.radians(parts[..., 0] + sums)
    return found


def angles_at(speed: float, phase: Doubles, energy: float = 0.0) -> Angles:
    """A leg of someone who walks.

    Args:
        speed: v*.
        phase: From its own heel strike, in cycles.
        energy: 0 as the mean of many people, 1 as one of them, whose knees bend more.
    """
    phase = phase % 1.0
    thigh = _waves(HIP, speed, phase) - _waves(TILT, speed, phase)
    knee, ankle = _waves(KNEE, speed, phase), _waves(ANKLE, speed, phase)
    pitch = knee - thigh - ankle
    swinging, standing = _bump(phase, KNEE_SWINGS), STANCE_KNEE * _bump(phase, KNEE_STANDS)
    knee = knee + energy * (SWING_KNEE * swinging + standing)
    thigh = thigh + energy * (SWING_THIGH * _bump(phase, THIGH_SWINGS) + 0.5 * standing)
    share, run = liveliness(speed), float(running(speed))
    if run > 0.0:
        fast = min(max((speed - 0.8) / 0.8, 0.0), 1.0)
        goal, bend, flex = (_run(table, phase, duty_at(speed), fast) for table in (RUN_THIGH, RUN_KNEE, RUN_ANKLE))
        thigh, knee, pitch = (
            low + run * (high - low) for low, high in ((thigh, goal), (knee, bend), (pitch, bend - goal - flex))
        )
    return Angles(share * thigh, share * np.maximum(knee, 0.0), share * pitch)


def _run(table: Sequence[tuple[float, float, float]], phase: Doubles, duty: float, fast: float) -> Doubles:
    """A joint's angles of someone who runs, radians: a smooth curve through what is known of it."""
    shares, lows, mores = np.array(table).T
    places = np.where(shares <= 1.0, shares * duty, duty + (shares - 1.0) * (1.0 - duty))
    places = np.concatenate((places[-1:] - 1.0, places, places[:2] + 1.0))  # of the cycles before and behind as well
    values = np.take(lows + fast * mores, range(-1, len(table) + 2), mode="wrap")
    index = np.searchsorted(places[: len(table) + 1], phase, side="right") - 1
    before, low, high, after = (places[index + k] for k in (-1, 0, 1, 2))
    a, b, c, d = (values[index + k] for k in (-1, 0, 1, 2))
    span = high - low
    t = (phase - low) / span
    turn = span * (c - a) / (high - before) * t * (1.0 - t) ** 2 - span * (d - b) / (after - low) * t * t * (1.0 - t)
    curve: Doubles = np.radians(b + (c - b) * t * t * (3.0 - 2.0 * t) + turn)
    return curve


def _bump(phase: Doubles, ends: tuple[float, float]) -> Doubles:
    """A wave between two phases; 0 outside."""
    low, high = ends
    share = ((phase - low) % 1.0) / (high - low)
    return np.where(share < 1.0, np.sin(pi * share) ** 2, 0.0)


@lru_cache(maxsize=512)  # people of several sizes and styles, at all speeds
def _cycle(number: int, energy: float, sole: Sole) -> Cycle:
    speed = number * STEP_OF_SPEED

    forth = HIPS * np.sin(pelvis_at(speed, SHARES)[0])
    width = WIDTH + float(running(speed)) * (RUN_WIDTH - WIDTH)
    law = stride_at(speed), duty_at(speed), speed
    return replace(cycle_of(partial(angles_at, speed, energy=energy), forth, law, sole), width=width)


@lru_cache(maxsize=4096)
def human_cycle(speed: float, energy: float, sole: Sole) -> Cycle:
    """The cycle of a leg at a v* above 0; see `angles_at`."""
    return _cycle(max(round(min(speed, FASTEST) / STEP_OF_SPEED), 1), energy, sole)


def pelvis_at(speed: Doubles | float, phase: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """How the pelvis is at v* and phases of a leg.

    Returns:
        How far the side of the leg is ahead, and up, radians; how far it is towards that side, as a share of the reach.
    """
    share = liveliness(speed)
    sway = SWAY * np.sin(2.0 * pi * (phase - SWAYED))
    return share * _waves(YAW, speed, phase), share * _waves(LIST, speed, phase), share * sway


def thorax_at(speed: Doubles, phase: Doubles) -> tuple[Doubles, Doubles]:
    """How far the side of a leg is ahead, and up, of the thorax at v* and phases of the leg; radians."""
    share = liveliness(speed)
    return share * _waves(THORAX_YAW, speed, phase), share * _waves(THORAX_LIST, speed, phase)


def arm_at(speed: Doubles, phase: Doubles, swing: float) -> tuple[Doubles, Doubles]:
    """Shoulder and elbow of an arm that swings against the leg of its side, forward and bent; radians.

    Args:
        speed: v*.
        phase: Of the leg.
        swing: How far it swings, against people.
    """
    share = swing * np.interp(speed, SWING_SPEEDS, SWINGS) * liveliness(speed)
    wave, late = np.cos(2.0 * pi * phase), np.cos(2.0 * pi * (phase - ELBOW_LATE))
    shoulder = SHOULDER[0] + share * (SHOULDER[1] - SHOULDER[2] * wave)
    elbow = ELBOW[0] + share * (ELBOW[1] - ELBOW[2] * late)
    run, (wide, bent) = running(speed), RUN_ARMS
    shoulder += run * (wide[0] - swing * wide[1] * wave - shoulder)
    elbow += run * (bent[0] - swing * bent[1] * late - elbow)
    return np.radians(shoulder), np.radians(elbow)
