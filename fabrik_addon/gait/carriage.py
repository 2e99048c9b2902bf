# SPDX-License-Identifier: GPL-3.0-or-later
"""The body of who walks by a cycle: as high as the legs that stand are long in it, its pelvis turning and swaying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, radians, sqrt

from numpy import interp

from ..maths import (
    FRONT,
    ORIGIN,
    Q4,
    V3,
    Z_AXIS,
    along,
    conjugated,
    distance,
    dot,
    minus,
    multiplied,
    placed,
    plus,
    turn_about,
    turned,
)
from .body import Carried, Course
from .clock import Clock
from .cycle import carrying, sampled
from .feet import Feet, Foothold, FootPose, Step, SurfacePose, around, cycle_of_step, foot_at, pose_of, share_of_stance
from .ground import is_body
from .human import pelvis_at, running
from .legs import LEFT, Leg, reach_of
from .path import TICK, averaged

EVENED = 2  # samples on either side over which the height of the body is averaged, twice
STEP = 0.25  # of a cycle before and behind: where the body comes up and goes down once
GIVEN = 0.15  # of a leg's reach: how much higher than it is long a leg lets the body be that carries no more
RISING, RUNNING = (
    0.24,
    0.5,
)  # of √(g · leg): how fast the body comes up and goes down as it walks; of its speed, or runs
STRETCHED = 0.999  # of a leg's reach: how far a leg stretches that walks by a cycle
ROLLED_ON = radians(25.0)  # how much farther than its cycle has it a heel comes up, where its leg would be too short
MIDWAY = 0.5  # of a stance, from which on its heel may come up for the leg to reach
HALVINGS = 5
HARDLY = 1e-3  # what legs that stand carry together, below which the body goes on as before and after


def walked(
    course: Course, segment: int, clock: Clock, walk: tuple[Feet, Sequence[Sequence[FootPose]]], body: Carried
) -> Carried:
    """The body as its gait's cycle has it; as it was where that has none.

    Args:
        course: The body's and the legs'.
        segment: Of the body.
        clock: Of the walk.
        walk: All steps, and by sample all feet.
        body: By sample how the ground carries it.
    """
    track, members = course.tracks[segment], course.members[segment]
    pivot = course.pivots[segment] if course.clip is None else ORIGIN
    first = next((leg for leg in members if course.legs[leg].side == LEFT), members[0])
    offsets, tilts, heights = list(body.offsets), list(body.tilts), list[float | None]()
    for index in range(course.count):
        if not clock.cycles[index]:
            heights.append(None)
            continue
        upright, (way, turn) = track.uprights[index], _bearing(course, clock, index, first)
        tilt = multiplied(multiplied(upright, multiplied(turn, conjugated(upright))), body.tilts[index])
        before, after = (turned(multiplied(one, track.rotations[index]), pivot) for one in (body.tilts[index], tilt))
        offsets[index] = plus(plus(offsets[index], minus(before, after)), turned(upright, way))
        tilts[index] = tilt
        pose = plus(track.places[index], offsets[index]), multiplied(tilt, track.rotations[index])
        heights.append(_height(course, members, index, (clock, walk), pose))
    known = {index: height for index, height in enumerate(heights) if height is not None}
    if not known:
        return body
    filled: list[float] = interp(range(course.count), [*known], [*known.values()]).tolist()
    for first_one, next_one in pairwise(known):  # in between it flies
        for index in range(first_one + 1, next_one):
            filled[index] += (
                0.5 * course.settings[0].acceleration * TICK * TICK * (index - first_one) * (next_one - index)
            )
    levels = [dot(plus(track.places[index], offsets[index]), track.ups[index]) for index in range(course.count)]
    tops = [level + height for level, height in zip(levels, filled, strict=True)]
    swift = TICK * sqrt(course.settings[0].acceleration * reach_of(course.legs))
    tops = _no_steeper(tops, [swift * max(RISING, RUNNING * pace) for pace in clock.paces])
    raised = [top - level for top, level in zip(tops, levels, strict=True)]
    evened = averaged(averaged(raised, EVENED), EVENED)
    rows = zip(evened, raised, clock.paces, strict=True)
    bounced = _bounced(
        [even + running(pace) * (raw - even) for even, raw, pace in rows],
        clock.phases,
        [settings.bounce for settings in course.settings],
    )
    for index, height in enumerate(bounced):
        settings = course.settings[index]
        if clock.cycles[index]:
            leg, live = course.legs[first], clock.cycles[index][first].liveliness(clock.paces[index])
            low = live * min(settings.body_height - 1.0, 0.0) * leg.height
            offsets[index] = along(offsets[index], track.ups[index], settings.body_carry * height + low)
    return replace(body, offsets=offsets, tilts=tilts)


def _bearing(course: Course, clock: Clock, index: int, first: int) -> tuple[V3, Q4]:
    """How far the body is from where an even way has it, and how it is turned, in its upright axes."""
    pace, cycle, leg = clock.paces[index], clock.cycles[index][first], course.legs[first]
    if course.clip is not None:
        return course.clip.at(clock.phases[index], cycle.liveliness(pace))
    phase = clock.phases[index] + clock.rhythms[index].offsets[first]
    pelvis, ahead = pelvis_at(pace, phase), cycle.liveliness(pace) * sampled(cycle.ahead, phase % 1.0)
    turn = multiplied(turn_about(Z_AXIS, -pelvis.yaw), turn_about(FRONT, pelvis.tilt))
    return (pelvis.sway * course.settings[index].body_sway * leg.reach, -ahead * leg.reach, 0.0), turn


def farthest(leg: Leg) -> float:
    """How far hip and ankle of a leg that walks by a cycle may be apart; as far as they are in its own clip."""
    longest = leg.cycle.longest if leg.cycle is not None else 0.0
    return max(STRETCHED, longest) * leg.reach


def _height(
    course: Course,
    members: Sequence[int],
    index: int,
    walk: tuple[Clock, tuple[Feet, Sequence[Sequence[FootPose]]]],
    pose: tuple[V3, Q4],
) -> float | None:
    """How much higher the body is to be, so that legs that stand are as long as in the cycle; None where none does."""
    clock, (feet, poses) = walk
    time, up = index * TICK, course.tracks[course.legs[members[0]].segment].ups[index]
    found, bounds = list[tuple[float, float]](), list[float]()
    for number in members:
        leg, foot, cycle = course.legs[number], poses[index][number], clock.cycles[index][number]
        if foot.is_hanging:
            continue
        last, following = around(feet[number][1], time)
        share = share_of_stance(leg, time, last, following) if foot.is_planted else None
        ankle = _rolled_on(leg, foot, following, share)
        bounds.append(_above(leg, ankle, farthest(leg) / leg.reach, (pose, up)))
        if not foot.is_planted:
            continue
        weight = carrying(share) if share is not None else 1.0
        step, usual = last if share is not None and share < 0.5 else following, sampled(cycle.reaches, 0.5)
        if share is not None and step is not None:  # as far as it goes ahead by the cycle, whose feet roll
            usual += step.share * (sampled(cycle.reaches, share) - usual)
        live = cycle.liveliness(clock.paces[index])
        found.append((weight, live * _above(leg, foot.ankle, usual, (pose, up))))
    most = max((weight for weight, _ in found), default=0.0)
    if most <= HARDLY:
        return None
    size = reach_of(course.legs)
    return min(*bounds, *(height + (1.0 - weight / most) * GIVEN * size for weight, height in found))


def _above(leg: Leg, ankle: V3, length: float, body: tuple[tuple[V3, Q4], V3]) -> float:
    """How much higher the body is to be for hip and ankle to be so far apart, as a share of the leg's reach."""
    pose, up = body
    way = minus(placed(pose[0], pose[1], leg.hip), ankle)
    above = dot(way, up)
    aside = dot(way, way) - above * above
    return sqrt(max((length * leg.reach) ** 2 - aside, 0.0)) - above


def _bounced(heights: Sequence[float], phases: Sequence[float], shares: Sequence[float]) -> Sequence[float]:
    """How high the body is that goes up and down by a share: less over its lowest, more below its highest place.

    So legs are never too short for it: the place is that of a step, half a cycle.
    """
    if all(share == 1.0 for share in shares):
        return heights
    found, first, last = list[float](), 0, 0
    for height, phase, share in zip(heights, phases, shares, strict=True):
        while phases[first] < phase - STEP:
            first += 1
        while last < len(phases) and phases[last] <= phase + STEP:
            last += 1
        near = min(heights[first:last]) if share < 1.0 else max(heights[first:last])
        found.append(near + share * (height - near))
    return found


def _no_steeper(values: Sequence[float], most: Sequence[float]) -> list[float]:
    """The highest curve that is nowhere above these values, and changes by no more from one to the next."""
    found, steps = list(values), list(most)
    for _ in range(2):
        for index in range(1, len(found)):
            found[index] = min(found[index], found[index - 1] + steps[index])
        found.reverse()
        steps.reverse()
    return found


def _rolled_on(leg: Leg, foot: FootPose, following: Step | None, share: float | None) -> V3:
    """Where the ankle of a foot that stands can be after a share of its stance, its heel as far up as it may come.

    So who walks uphill, or comes down a step, reaches by the foot before the body gives way.
    """
    cycle = cycle_of_step(leg, following)
    if share is None or share <= MIDWAY or cycle is None or following is None or following.toe_off <= 0.0:
        return foot.ankle
    part = max(cycle.roll_at(share), 0.0) / cycle.toe_off
    flat = foot.base, multiplied(foot.rotation, turn_about(leg.sideways, foot.pitch))
    return pose_of(leg, flat, foot.pitch + ROLLED_ON * part, base=foot.base).ankle


def with_heels_rolled(course: Course, feet: Feet, bodies: Sequence[Carried], surface_pose: SurfacePose) -> Feet:
    """The same feet, the heels of those that are about to lift so far up that their legs are long enough.

    Args:
        course: The body's and the legs'.
        feet: All footholds and steps.
        bodies: By segment how it is carried by these feet.
        surface_pose: Where surfaces that move stand.
    """
    return [
        (start, [_rolled(course, leg, (start, steps), index, bodies, surface_pose) for index in range(len(steps))])
        for leg, (start, steps) in enumerate(feet)
    ]


def _rolled(
    course: Course,
    number: int,
    walk: tuple[Foothold, Sequence[Step]],
    index: int,
    bodies: Sequence[Carried],
    surface_pose: SurfacePose,
) -> Step:
    """A step with the heel so far up as it lifts."""
    leg, (start, steps) = course.legs[number], walk
    step, last = steps[index], steps[index - 1] if index else None
    begun = last.land if last is not None else max(step.lift - 1.0, 0.0)
    track, body = course.tracks[leg.segment], bodies[leg.segment]
    middle = ceil((begun + MIDWAY * (step.lift - begun)) / TICK)
    ticks = range(middle, min(ceil(step.lift / TICK), course.count - 1) + 1)
    if not step.pace or step.toe_off <= 0.0 or is_body(step.start.surface):
        return step

    def is_long_enough(toe_off: float) -> bool:
        row = [*steps[:index], replace(step, toe_off=toe_off)]
        hips = ((tick, placed(*body.pose(track, tick), leg.hip)) for tick in ticks)
        feet = ((hip, foot_at(leg, start, row, tick * TICK, surface_pose)) for tick, hip in hips)
        return all(distance(hip, foot.ankle) <= farthest(leg) for hip, foot in feet)

    low, high = step.toe_off, step.toe_off + ROLLED_ON
    if is_long_enough(low):
        return step
    for _ in range(HALVINGS):
        between = 0.5 * (low + high)
        low, high = (low, between) if is_long_enough(between) else (between, high)
    return replace(step, toe_off=high)
