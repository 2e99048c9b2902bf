# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock of a walk: speed, stride and phase along the path.

The phase grows with the way, φ = ∫ v/λ dt, where v is the speed of the fastest home, so that turning on the spot steps
too. The stride is that of the gait's cycle; of gaits without one it is λ = 2.3 h (v²/gh)^0.3 (Alexander 1976), no
longer than the legs reach on the ground.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from math import asin, degrees, inf, sqrt
from operator import attrgetter

import numpy as np

from ..maths import (
    FRONT,
    IDENTITY,
    X_AXIS,
    Z_AXIS,
    Doubles,
    Places,
    betweens,
    clipped,
    conjugates,
    dots,
    lengths,
    rotated_each,
    slerps,
    units,
)
from .body import Course
from .cycle import SAMPLES, SLOWEST, Cycle
from .gaits import Rhythm, gait_of
from .legs import CROUCH, LEAST_ROOM, Leg, Room, ahead_of, reach_of, rooms_of
from .path import TICK, smoothed
from .settings import Settings

STRIDE_FACTOR, STRIDE_EXPONENT = 2.3, 0.3
USUAL_FROUDE = 0.25  # v²/gh of a comfortable walk
ROOM = 0.8  # share of what legs reach on the ground that a stance takes
SPREAD = 0.5  # of a leg's reach: the least height that stride and speed are reckoned by
STRETCHED = 0.95  # of a leg's reach, at the ends of a stance
LEAST_SWING, MOST_SWING = 0.125, 0.6  # seconds; the least is three frames at 24 frames a second
LEAST_PACE = 0.1  # at which a foot steps whose body stands, see `Clock.paces`
SIDEWAYS, BACKWARDS = 0.5, 0.65  # of a stride, of who goes sideways, and backwards
SPRINT = 3.0  # v* beyond which people do not run
STILL = 0.02  # of √(g h): slower than that the body stands
PAUSE = 0.3  # seconds that the body must stand for the feet to come home
# How much faster the clock runs in the first cycle: feet that leave home have half a step to go; by a gait's cycle
FIRST_STEPS, FIRST_OF_CYCLE = 2.0, 1.7
LEVEL = 0.99999  # cosine of a slope that is none
STEEPEST = 0.2  # cosine of the steepest slope that strides are shortened for
GOING = 0.1  # the pace from which on who walks as at a speed of its own does so in full
PACE = 0.2  # seconds, half-life with which the speed is smoothed by which a cycle is chosen
UPHILL, DOWNHILL, LEAST_SHARE = 0.01, 0.02, 0.5  # by which strides are shorter a degree of slope; no shorter than that
REORDERED = 0.15  # of a cycle: how much more or less than that a leg goes through as its offset becomes another one
SLOW_LEG = 0.05  # of the fastest leg's speed: a slower one does not bound the stride


# Of a leg the tables of its cycles, see `Cycle.table`; by sample which of them it goes by (F,), and its slowest (F,)
Table = tuple[Doubles, Places, Doubles]


@dataclass(frozen=True)
class Clock:
    """The walk's time by sample of the track.

    Attributes:
        phases: Cycles since the start.
        rhythms: The gait in force.
        is_standing: Whether the body is at rest.
        stand_from: The sample at which the body's next stand begins, the number of samples where there is none.
        stride: What a leg walks in a cycle at a comfortable speed, scene units.
        is_hurried: Samples where legs would have to swing faster than they may.
        paces: The speed, free of size: v / √(g · reach); smoothed. That as at which it walks, where that is set.
        cycles: By leg how it goes; none where the gait has no cycle.
    """

    phases: list[float]
    rhythms: list[Rhythm]
    is_standing: list[bool]
    stand_from: list[int]
    stride: float
    is_hurried: list[bool]
    paces: list[float]
    cycles: list[tuple[Cycle, ...]]

    @cached_property
    def tables(self) -> list[Table]:
        """By leg how it goes in a walk by a cycle."""
        found = list[Table]()
        for leg in range(max(map(len, self.cycles))):
            own = [cycles[leg] if cycles else None for cycles in self.cycles]
            known = {id(cycle.swing): cycle for cycle in own if cycle is not None}  # the same at all speeds of a clip
            places = {key: place for place, key in enumerate(known, 1)}
            numbers = [places[id(cycle.swing)] if cycle is not None else 0 for cycle in own]
            tables = [np.zeros((SAMPLES + 1, 7)), *(cycle.table for cycle in known.values())]
            slowest = np.array([SLOWEST, *(cycle.slowest for cycle in known.values())])
            found.append((np.array(tables), np.array(numbers, dtype=np.intp), slowest[numbers]))
        return found

    def time_of(self, phase: float) -> float | None:
        """When a phase is reached, seconds; None where it never is."""
        index = bisect_left(self.phases, phase)
        if index >= len(self.phases):
            return None
        if index == 0:
            return 0.0
        low, high = self.phases[index - 1], self.phases[index]
        return (index - 1 + (phase - low) / (high - low)) * TICK


def clock_of(course: Course, normals: Doubles) -> Clock:
    """Run the clock along a course.

    Args:
        course: The body's and the legs'.
        normals: (F, 3), of the ground.
    """
    legs = course.legs
    height = sum(size_of(leg) for leg in legs) / len(legs)
    rest = course.settings[0]
    rooms = rooms_of(course.legs, course.reaching, rest.body_sway)
    speeds, bounds, grades, limits, aheads = (part.tolist() for part in _speeds(course, normals, rooms))
    reach = reach_of(legs)
    paces = [speed / sqrt(rest.acceleration * reach) for speed in smoothed(speeds, PACE)]
    fixed = [settings.pace * min(pace / GOING, 1.0) for settings, pace in zip(course.settings, paces, strict=True)]
    paces = [own or pace for own, pace in zip(fixed, paces, strict=True)]
    threshold = STILL * sqrt(rest.acceleration * height)
    standing = [speed < threshold for speed in speeds]
    starts = _stands(standing)
    phases, rhythms, hurried, each_cycles = [0.0], [], [], []
    since, offsets = 0.0, tuple[float, ...]()
    known: dict[tuple[str, float], Rhythm] = {}
    for index in range(course.count):
        settings = course.settings[index]
        key = (settings.gait, settings.duty)
        rhythm = known.get(key) or known.setdefault(key, gait_of(settings).rhythm(legs, settings))
        rhythms.append(rhythm)
        since = 0.0 if starts[index] == index else since
        cycles, rate = cycles_at(legs, settings, paces[index]), 0.0
        each_cycles.append(cycles)
        if not standing[index]:
            if cycles:
                rhythm = rhythms[-1] = replace(rhythm, duties=tuple(map(attrgetter("duty"), cycles)))
                stride = cycles[0].stride * reach * settings.stride_scale * shortened(grades[index], aheads[index])
                extent = max(map(attrgetter("extent"), cycles))
                stride = min(stride, cycles[0].stride * limits[index] / extent)
            else:
                stride = min(usual_stride(speeds[index], height, settings), bounds[index] / max(rhythm.duties))
            rate = speeds[index] / stride
        most = (1.0 - max(rhythm.duties)) / LEAST_SWING
        hurried.append(rate > most or (bool(cycles) and not cycles[0].pace and paces[index] > SPRINT))
        rate = min(rate * max(1.0, (FIRST_OF_CYCLE if cycles else FIRST_STEPS) - since), most)
        since += rate * TICK
        phases.append(phases[-1] + rate * TICK)
        if cycles and legs[0].cycle is not None:
            wanted, most = [cycle.offset for cycle in cycles], REORDERED * rate * TICK
            pairs = zip(offsets or wanted, wanted, strict=True)
            offsets = tuple(one + clipped(goal - one, -most, most) for one, goal in pairs)
            rhythms[-1] = replace(rhythm, offsets=offsets)
    stride = _stride(legs, rooms, rest, rhythms[0])
    return Clock(phases[: course.count], rhythms, standing, starts, stride, hurried, paces, each_cycles)


def cycles_at(legs: Sequence[Leg], settings: Settings, pace: float) -> tuple[Cycle, ...]:
    """By leg the cycle of the gait that is set at a speed, see `Clock.paces`; none for a gait that has none."""
    found = gait_of(settings).cycle
    return tuple(map(found, legs, repeat(pace), repeat(settings.energy))) if found is not None else ()


def cycle_of(legs: Sequence[Leg], leg: int, settings: Settings, pace: float) -> tuple[float, Cycle | None]:
    """The speed at which a foot steps whose body goes at a speed, see `Clock.paces`, and the cycle for it, if any."""
    own = legs[leg].cycle
    pace = max(pace, LEAST_PACE if own is None else own.slowest)
    cycles = cycles_at(legs, settings, pace)
    return pace, cycles[leg] if cycles else None


def shortened(grade: float, ahead: float) -> float:
    """By how much strides are shorter on ground that rises so much by the way, and where it does not go straight ahead.

    Args:
        grade: Sine of the slope along the way.
        ahead: Cosine of the angle between the way and where the body faces.
    """
    slope = degrees(asin(clipped(grade, -1.0, 1.0)))
    facing = SIDEWAYS + 0.5 * (1.0 - BACKWARDS) * ahead + (0.5 * (1.0 + BACKWARDS) - SIDEWAYS) * ahead * ahead
    return facing * max(1.0 - (UPHILL if slope > 0.0 else DOWNHILL) * abs(slope), LEAST_SHARE)


def _stride(legs: Sequence[Leg], rooms: Mapping[int, Room], settings: Settings, rhythm: Rhythm) -> float:
    """What a leg walks in a cycle at a comfortable speed on level ground."""
    height = sum(size_of(leg) for leg in legs) / len(legs)
    cycles = cycles_at(legs, settings, sqrt(USUAL_FROUDE))
    if cycles:
        return cycles[0].stride * reach_of(legs) * settings.stride_scale
    usual = usual_stride(sqrt(USUAL_FROUDE * settings.acceleration * height), height, settings)
    least = min(float(room(leg, np.array([leg.rest_way]), np.array([X_AXIS]))[0]) for leg in legs)
    least = min([least, *(ahead_of(limit) for limit in rooms.values())])
    return min(usual, 2.0 * ROOM * least / max(rhythm.duties))


def usual_stride(speed: float, height: float, settings: Settings) -> float:
    """The stride that belongs to a speed, scene units (Alexander 1976)."""
    froude = speed * speed / (settings.acceleration * height)
    return float(STRIDE_FACTOR * height * froude**STRIDE_EXPONENT * settings.stride_scale)


def size_of(leg: Leg) -> float:
    """The height that stride and speed belong to: the hip's as it walks, or half of the leg where legs are spread."""
    return max(min(leg.height, CROUCH * leg.reach), SPREAD * leg.reach)


def room(leg: Leg, offsets: Doubles, directions: Doubles) -> Doubles:
    """How far a foot may be from its home along lines of the ground, to either side.

    Args:
        leg: Its leg.
        offsets: (F, 3), from the hip to the ankle at home, upright frame.
        directions: (F, 3), of the lines; their level parts are of unit length.

    Returns:
        (F,), the level parts of the ways, scene units.
    """
    (x, y, z), (u, v, w) = directions.T, offsets.T
    w = np.maximum(w, -CROUCH * leg.reach)
    a, b, c = x * x + y * y + z * z, u * x + v * y + w * z, u * u + v * v + w * w - (STRETCHED * leg.reach) ** 2
    half = np.where(c < 0.0, (np.sqrt(np.maximum(b * b - a * c, 0.0)) - np.abs(b)) / a, 0.0)
    found: Doubles = np.maximum(half, LEAST_ROOM * leg.reach)
    return found


def _on_slope(course: Course, normals: Doubles, tilts: Doubles) -> tuple[list[Doubles], Doubles]:
    """How the legs stand on slopes, the body tilted to a share of them.

    Args:
        course: The body's and the legs'.
        normals: (F, 3), of the ground in the upright frame.
        tilts: (F,), the shares.

    Returns:
        By leg the way from hip to ankle, in the upright frame (F, 3); and how much slopes rise by x and y there (F, 2).
    """
    (middle_x, middle_y, _), pivot = course.middle, np.array(course.pivot)
    is_level = normals[:, 2:] >= LEVEL
    rises = np.where(is_level, 0.0, -normals[:, :2] / np.maximum(normals[:, 2:], STEEPEST))
    none = np.array(IDENTITY)
    across = betweens(np.broadcast_to(np.array(Z_AXIS), normals.shape), normals)
    tilting = np.where(is_level, none, slerps(none, across, tilts))
    ways = list[Doubles]()
    for leg in course.legs:
        (x, y, _), ankle = leg.rest_ankle, np.array(leg.rest_ankle)
        hips = pivot + rotated_each(tilting, np.array(leg.hip) - pivot)
        higher = rises[:, 0] * (x - middle_x) + rises[:, 1] * (y - middle_y)
        ways.append(ankle + higher[:, None] * np.array(Z_AXIS) - hips)
    return ways, rises


def _speeds(
    course: Course, normals: Doubles, rooms: Mapping[int, Room]
) -> tuple[Doubles, Doubles, Doubles, Doubles, Doubles]:
    """What bounds strides.

    Returns:
        By sample the speed of the fastest home, the longest way of a stance, how the ground rises by the way, how far
        the limits of joints let a foot be before or behind its home, and how far ahead it goes, see `shortened`.
    """
    track = course.track.calmed()
    ups, back = track.arrays[3], conjugates(track.arrays[2])
    ticks, last = np.arange(course.count), course.count - 1
    low, high = np.maximum(ticks - 1, 0), np.minimum(ticks + 1, last)
    spans = np.maximum(high - low, 1) * TICK
    moves = np.zeros((len(course.legs), course.count, 3))
    for index, leg in enumerate(course.legs):
        homes = track.homes(leg.home)
        way = homes[high] - homes[low]
        moves[index] = way - dots(way, ups)[:, None] * ups
    paces = lengths(moves) / spans
    fastest = moves[paces.argmax(axis=0), ticks]
    has_cycle = np.array([gait_of(settings).cycle is not None for settings in course.settings])
    # feet of those with a cycle turn by steps of their own on the spot
    speeds = np.where(has_cycle, lengths(moves.mean(axis=0)) / spans, paces.max(axis=0))
    tilts = np.array([settings.body_tilt for settings in course.settings])
    bounds = np.where(speeds > 0.0, inf, course.size)
    limits = np.full(course.count, inf)
    ways, rises = _on_slope(course, rotated_each(back, normals), tilts)
    for index, leg in enumerate(course.legs):
        counts = paces[index] > SLOW_LEG * speeds
        move = rotated_each(back, moves[index])
        size = lengths(move[:, :2])[:, None]
        x, y = np.where(size > 0.0, move[:, :2] / np.where(size > 0.0, size, 1.0), X_AXIS[:2]).T
        space = room(leg, ways[index], np.stack((x, y, rises[:, 0] * x + rises[:, 1] * y), axis=1))
        if index in rooms:
            limited = np.where(counts, rooms[index](move[:, 0], move[:, 1]), inf)
            limits, space = np.minimum(limits, limited), np.minimum(space, limited)
        longest = 2.0 * ROOM * space * speeds / np.where(counts, paces[index], 1.0)
        bounds = np.minimum(bounds, np.where(counts, longest, inf))
    ways_on = np.where(lengths(fastest)[:, None] > 0.0, units(fastest), X_AXIS)
    aheads = rotated_each(back, ways_on) @ np.array(FRONT)
    grades = np.where(speeds > 0.0, -dots(normals, ways_on), 0.0)
    return speeds, bounds, grades, limits, aheads


def _stands(standing: Sequence[bool]) -> list[int]:
    """For each sample the first one, from it on, at which the body rests long enough for all feet to step home.

    The number of samples where there is none.
    """
    count, least = len(standing), round(PAUSE / TICK)
    starts = [count] * count
    upcoming, end = count, count
    for index in range(count - 1, -1, -1):
        if not standing[index]:
            end = index
        elif end - index >= least:
            upcoming = index
        starts[index] = upcoming
    return starts
