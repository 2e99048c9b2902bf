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
from math import asin, degrees, hypot, inf, sqrt

from ..maths import (
    FRONT,
    V3,
    X_AXIS,
    Z_AXIS,
    between,
    clipped,
    conjugated,
    dot,
    length,
    mean,
    minus,
    perpendicular,
    placed,
    share_of_turn,
    turned,
    unit_or,
)
from .body import Course
from .cycle import Cycle
from .gaits import Rhythm, gait_of, rhythm_of
from .legs import CROUCH, LEAST_ROOM, Leg, Room, reach_of, rooms_of
from .path import TICK, smoothed
from .settings import Settings

STRIDE_FACTOR, STRIDE_EXPONENT = 2.3, 0.3
USUAL_FROUDE = 0.25  # v²/gh of a comfortable walk
ROOM = 0.8  # share of what legs reach on the ground that a stance takes
SPREAD = 0.5  # of a leg's reach: the least height that stride and speed are reckoned by
STRETCHED = 0.95  # of a leg's reach, at the ends of a stance
LEAST_SWING, MOST_SWING = 0.125, 0.6  # seconds; the least is three frames at 24 frames a second
SIDEWAYS, BACKWARDS = 0.5, 0.65  # of a stride, of who goes sideways, and backwards
SPRINT = 3.0  # v* beyond which people do not run
STILL = 0.02  # of √(g h): slower than that the body stands
CALM = 0.1  # seconds, half-life with which the path is smoothed before its speed is read
PAUSE = 0.3  # seconds that the body must stand for the feet to come home
# How much faster the clock runs in the first cycle: feet that leave home have half a step to go; by a gait's cycle
FIRST_STEPS, FIRST_OF_CYCLE = 2.0, 1.7
LEVEL = 0.99999  # cosine of a slope that is none
STEEPEST = 0.2  # cosine of the steepest slope that strides are shortened for
PACE = 0.2  # seconds, half-life with which the speed is smoothed by which a cycle is chosen
UPHILL, DOWNHILL, LEAST_SHARE = 0.01, 0.02, 0.4  # by which strides are shorter a degree of slope; no shorter than that
SLOW_LEG = 0.05  # of the fastest leg's speed: a slower one does not bound the stride


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
        paces: The speed, free of size: v / √(g · reach); smoothed.
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

    def time_of(self, phase: float) -> float | None:
        """When a phase is reached, seconds; None where it never is."""
        index = bisect_left(self.phases, phase)
        if index >= len(self.phases):
            return None
        if index == 0:
            return 0.0
        low, high = self.phases[index - 1], self.phases[index]
        return (index - 1 + (phase - low) / (high - low)) * TICK


def clock_of(course: Course, normals: Sequence[Sequence[V3]]) -> Clock:
    """Run the clock along a course.

    Args:
        course: The body's and the legs'.
        normals: Of the ground, by segment and sample.
    """
    legs = course.legs
    height = sum(size_of(leg) for leg in legs) / len(legs)
    rest = course.settings[0]
    rooms = rooms_of(course.legs, course.reaching, rest.body_sway)
    speeds, bounds, grades, limits, aheads = _speeds(course, normals, rooms)
    reach = reach_of(legs)
    paces = [pace / sqrt(rest.acceleration * reach) for pace in smoothed(speeds, PACE, TICK)]
    threshold = STILL * sqrt(rest.acceleration * height)
    standing = [speed < threshold for speed in speeds]
    starts = _stands(standing)
    phases, rhythms, hurried, each_cycles = [0.0], [], [], []
    since = 0.0
    known: dict[tuple[str, float], Rhythm] = {}
    for index in range(course.count):
        settings = course.settings[index]
        key = (settings.gait, settings.duty)
        rhythm = known.get(key) or known.setdefault(key, rhythm_of(legs, settings))
        rhythms.append(rhythm)
        since = 0.0 if starts[index] == index else since
        cycles, rate = cycles_at(legs, settings, paces[index]), 0.0
        each_cycles.append(cycles)
        if not standing[index]:
            if cycles:
                rhythm = rhythms[-1] = replace(rhythm, duties=tuple(cycle.duty for cycle in cycles))
                stride = cycles[0].stride * reach * settings.stride_scale * _shortened(grades[index], aheads[index])
                extent = max(cycle.extent for cycle in cycles)
                stride = min(stride, cycles[0].stride * limits[index] / extent)
            else:
                stride = min(usual_stride(speeds[index], height, settings), bounds[index] / max(rhythm.duties))
            rate = speeds[index] / stride
        most = (1.0 - max(rhythm.duties)) / LEAST_SWING
        hurried.append(rate > most or (bool(cycles) and not cycles[0].pace and paces[index] > SPRINT))
        rate = min(rate * max(1.0, (FIRST_OF_CYCLE if cycles else FIRST_STEPS) - since), most)
        since += rate * TICK
        phases.append(phases[-1] + rate * TICK)
    stride = _stride(legs, rooms, rest, rhythms[0])
    return Clock(phases[: course.count], rhythms, standing, starts, stride, hurried, paces, each_cycles)


def cycles_at(legs: Sequence[Leg], settings: Settings, pace: float) -> tuple[Cycle, ...]:
    """By leg the cycle of the gait that is set at a speed, see `Clock.paces`; none for a gait that has none."""
    found = gait_of(settings).cycle
    return tuple(found(leg, pace, settings.energy) for leg in legs) if found is not None else ()


def _shortened(grade: float, ahead: float) -> float:
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
    least = min(room(leg, leg.rest_way, X_AXIS) for leg in legs)
    least = min([least, *(limit(0.0, 1.0) for limit in rooms.values())])
    return min(usual, 2.0 * ROOM * least / max(rhythm.duties))


def usual_stride(speed: float, height: float, settings: Settings) -> float:
    """The stride that belongs to a speed, scene units (Alexander 1976)."""
    froude = speed * speed / (settings.acceleration * height)
    return float(STRIDE_FACTOR * height * froude**STRIDE_EXPONENT * settings.stride_scale)


def size_of(leg: Leg) -> float:
    """The height that stride and speed belong to: the hip's as it walks, or half of the leg where legs are spread."""
    return max(min(leg.height, CROUCH * leg.reach), SPREAD * leg.reach)


def room(leg: Leg, offset: V3, direction: V3) -> float:
    """How far a foot may be from its home along a line of the ground, to either side.

    Args:
        leg: Its leg.
        offset: From the hip to the ankle at home, upright frame.
        direction: Of the line; its level part is of unit length.

    Returns:
        The level part of the way, scene units.
    """
    offset = (offset[0], offset[1], max(offset[2], -CROUCH * leg.reach))
    (x, y, z), (u, v, w) = direction, offset
    a, b, c = x * x + y * y + z * z, u * x + v * y + w * z, u * u + v * v + w * w - (STRETCHED * leg.reach) ** 2
    half = (sqrt(b * b - a * c) - abs(b)) / a if c < 0.0 else 0.0
    return max(half, LEAST_ROOM * leg.reach)


def _room_along(leg: Leg, offset: V3, rise: tuple[float, float], move: V3) -> float:
    """How far a foot may be from its home along a move over a slope that rises so much by x and y; see `room`."""
    size = hypot(move[0], move[1])
    x, y = (move[0] / size, move[1] / size) if size > 0.0 else (1.0, 0.0)
    return room(leg, offset, (x, y, rise[0] * x + rise[1] * y))


def _on_slope(course: Course, segment: int, normal: V3, tilt: float) -> tuple[dict[int, V3], tuple[float, float]]:
    """How the legs of a segment stand on a slope, the body tilted to a share of it.

    Returns:
        By leg the way from hip to ankle, in the upright frame; and how much the slope rises by x and y there.
    """
    if normal[2] >= LEVEL:
        return {index: course.legs[index].rest_way for index in course.members[segment]}, (0.0, 0.0)
    middle, pivot = course.middles[segment], course.pivots[segment]
    rise = (-normal[0] / max(normal[2], STEEPEST), -normal[1] / max(normal[2], STEEPEST))
    tilting = share_of_turn(between(Z_AXIS, normal), tilt)
    ways = {}
    for index in course.members[segment]:
        leg = course.legs[index]
        x, y, z = leg.rest_ankle
        hip = placed(pivot, tilting, minus(leg.hip, pivot))
        higher = rise[0] * (x - middle[0]) + rise[1] * (y - middle[1])
        ways[index] = minus((x, y, z + higher), hip)
    return ways, rise


def _speeds(
    course: Course, normals: Sequence[Sequence[V3]], rooms: Mapping[int, Room]
) -> tuple[list[float], list[float], list[float], list[float], list[float]]:
    """What bounds strides.

    Returns:
        By sample the speed of the fastest home, the longest way of a stance, how the ground rises by the way, how far
        the limits of joints let a foot be before or behind its home, and how far ahead it goes, see `_shortened`.
    """
    calm = [track.calmed(CALM) for track in course.tracks]
    tracks = [calm[leg.segment] for leg in course.legs]
    homes = [track.homes(leg.home) for track, leg in zip(tracks, course.legs, strict=True)]
    last = course.count - 1
    speeds, bounds, grades, limits, aheads = [], [], [], [], []
    for index in range(course.count):
        low, high = max(index - 1, 0), min(index + 1, last)
        span = max(high - low, 1) * TICK
        moves = [
            perpendicular(minus(home[high], home[low]), track.ups[index])
            for home, track in zip(homes, tracks, strict=True)
        ]
        paces = [length(move) / span for move in moves]
        speed, fastest = max(paces), moves[paces.index(max(paces))]
        if gait_of(course.settings[index]).cycle is not None:  # whose feet turn by steps of their own on the spot
            speed = length(mean(moves)) / span
        tilt = course.settings[index].body_tilt
        ways, limited = [max(leg.reach for leg in course.legs)] if speed <= 0.0 else [], list[float]()
        for segment, members in enumerate(course.members):
            back = conjugated(calm[segment].uprights[index])
            ways_down, rise = _on_slope(course, segment, turned(back, normals[segment][index]), tilt)
            for leg in members:
                if paces[leg] > SLOW_LEG * speed:
                    move = turned(back, moves[leg])
                    space = _room_along(course.legs[leg], ways_down[leg], rise, move)
                    if leg in rooms:
                        limited.append(rooms[leg](move[0], move[1]))
                        space = min(space, limited[-1])
                    ways.append(2.0 * ROOM * space * speed / paces[leg])
        move = unit_or(fastest, X_AXIS)
        aheads.append(dot(turned(conjugated(calm[0].uprights[index]), unit_or(fastest, X_AXIS)), FRONT))
        grades.append(-dot(normals[course.legs[0].segment][index], move) if speed > 0.0 else 0.0)
        speeds.append(speed)
        bounds.append(min(ways))
        limits.append(min(limited, default=inf))
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
