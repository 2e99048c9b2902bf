# SPDX-License-Identifier: GPL-3.0-or-later
"""The body of who walks by a cycle: as high as the legs that stand are long in it, its pelvis turning and swaying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, radians, sqrt

import numpy as np

from ..maths import FRONT, ORIGIN, Z_AXIS, Doubles, Mask, conjugates, dots, lengths, products, rotated_each, turns_about
from .body import BodyTrack, Course
from .clock import Clock, Table
from .cycle import AHEAD, REACHES, ROLLS, carrying, liveliness, looked_up
from .feet import OFF, SHARE, Feet, FeetPoses, Foothold, FootPaths, Step, rolled, shape_of
from .ground import SurfacePose, is_body
from .human import pelvis_at, running
from .legs import LEFT, Leg, reach_of
from .path import TICK, averaged

FLATTEST = 0.6  # of how high a hip is over its foot midway through a stance: no lower for the leg to be no longer
EVENED = 2  # samples on either side over which the height of the body is averaged, twice
STEP = 0.25  # of a cycle before and behind: where the body comes up and goes down once
GIVEN = 0.15  # of a leg's reach: how much higher than it is long a leg lets the body be that carries no more
# How fast the body comes up and goes down as it walks, of √(g · leg), and as it runs, of its speed
RISING, RUNNING = 0.24, 0.5
STRETCHED = 0.999  # of a leg's reach: how far a leg stretches that walks by a cycle
ROLLED_ON = radians(25.0)  # how much farther than its cycle has it a heel comes up, where its leg would be too short
MIDWAY = 0.5  # of a stance, from which on its heel may come up for the leg to reach
HALVINGS = 5
HARDLY = 1e-3  # what legs that stand carry together, below which the body goes on as before and after


def walked(course: Course, clock: Clock, walk: tuple[FootPaths, FeetPoses], body: BodyTrack) -> BodyTrack:
    """The body as its gait's cycle has it; as it was where that has none.

    Args:
        course: The body's and the legs'.
        clock: Of the walk.
        walk: The ways of all feet, and these by sample.
        body: By sample how the ground carries it.
    """
    has_cycle = np.array([bool(cycles) for cycles in clock.cycles])
    if not has_cycle.any():
        return body
    (places, rotations, _, ups), first = course.track.arrays, leading(course.legs)
    aheads = np.array([rhythm.offsets[first] for rhythm in clock.rhythms])
    borne = swayed(course, body, (np.array(clock.phases), np.array(clock.paces), aheads), clock.tables[first])
    offsets = np.where(has_cycle[:, None], borne.offsets, body.offsets)
    tilts = np.where(has_cycle[:, None], borne.tilts, body.tilts)
    levels = dots(places + offsets, ups)
    heights = _heights(course, clock, walk, (places + offsets, products(tilts, rotations)))
    known = np.flatnonzero(has_cycle & ~np.isnan(heights))
    if not len(known):
        return body
    ticks = np.arange(course.count)
    filled = np.interp(ticks, known, heights[known])
    after_it = np.searchsorted(known, ticks)  # in between it flies
    low, high = known[np.maximum(after_it - 1, 0)], known[np.minimum(after_it, len(known) - 1)]
    filled += 0.5 * course.settings[0].acceleration * TICK * TICK * np.maximum((ticks - low) * (high - ticks), 0)
    swift, paces = TICK * sqrt(course.settings[0].acceleration * reach_of(course.legs)), np.array(clock.paces)
    tops = np.array(_no_steeper((levels + filled).tolist(), (swift * np.maximum(RISING, RUNNING * paces)).tolist()))
    raised = tops - levels
    evened = np.array(averaged(averaged(raised.tolist(), EVENED), EVENED))
    bounces = [settings.bounce for settings in course.settings]
    bounced = _bounced((evened + running(paces) * (raised - evened)).tolist(), clock.phases, bounces)
    carries = np.array([settings.body_carry for settings in course.settings])
    lows = np.array([min(settings.body_height - 1.0, 0.0) for settings in course.settings])
    live = liveliness(paces, clock.tables[first][2])
    rises = carries * bounced + live * lows * course.legs[first].height
    return replace(body, offsets=offsets + np.where(has_cycle, rises, 0.0)[:, None] * ups, tilts=tilts)


def leading(legs: Sequence[Leg]) -> int:
    """The leg by whose phase a body goes."""
    return next((leg for leg, limb in enumerate(legs) if limb.side == LEFT), 0)


def swayed(course: Course, body: BodyTrack, rhythm: tuple[Doubles, Doubles, Doubles], table: Table) -> BodyTrack:
    """The body turned, and off an even way, as its cycle has it.

    Args:
        course: The body's and the legs'.
        body: By sample how the ground carries it.
        rhythm: By sample the clock's phase, the speed, and by how much of a cycle the leg that leads is ahead.
        table: Of the leg that leads.
    """
    (phases, paces, aheads), (tables, numbers, slowest), leg = rhythm, table, course.legs[leading(course.legs)]
    (_, rotations, uprights, _), live = course.track.arrays, liveliness(paces, slowest)
    if course.clip is not None:
        ways, turns = course.clip.at(phases, paces, live)
    else:
        phases = phases + aheads
        (yaw, tilt, sway), ahead = pelvis_at(paces, phases), live * looked_up(tables, numbers, phases % 1.0)[:, AHEAD]
        turns = products(turns_about(np.array(Z_AXIS), -yaw), turns_about(np.array(FRONT), tilt))
        sways = np.array([settings.body_sway for settings in course.settings])
        ways = leg.reach * np.stack((sway * sways, -ahead, np.zeros_like(paces)), axis=1)
    tilts = products(products(uprights, products(turns, conjugates(uprights))), body.tilts)
    pivot = np.array(course.pivot if course.clip is None else ORIGIN)
    before, after = (rotated_each(products(one, rotations), pivot) for one in (body.tilts, tilts))
    return replace(body, offsets=body.offsets + before - after + rotated_each(uprights, ways), tilts=tilts)


def farthest(leg: Leg) -> float:
    """How far hip and ankle of a leg that walks by a cycle may be apart; as far as they are in its own clip."""
    longest = leg.cycle.longest if leg.cycle is not None else 0.0
    return max(STRETCHED, longest) * leg.reach


def _heights(
    course: Course, clock: Clock, walk: tuple[FootPaths, FeetPoses], poses: tuple[Doubles, Doubles]
) -> Doubles:
    """How much higher the body is to be, so that standing legs are as long as in the cycle (F,); NaN where none is."""
    (paths, feet), ups = walk, course.track.arrays[3]
    rows, bounds = list[tuple[Doubles, Doubles, Mask]](), list[Doubles]()
    for number, leg in enumerate(course.legs):
        tables, numbers, slowest = clock.tables[number]
        hips = poses[0] + rotated_each(poses[1], np.array(leg.hip))
        share, planted = feet.shares[number], feet.planted[number]
        is_known = ~np.isnan(share)
        past = np.nan_to_num(share)
        far = _above(hips, _rolled_on(leg, number, paths, feet), farthest(leg), ups)
        bounds.append(np.where(feet.hanging[number], np.inf, far))
        step = np.where(is_known & (share < MIDWAY), feet.last[number], feet.following[number])
        midway = looked_up(tables, numbers, np.full(len(past), MIDWAY))[:, REACHES]
        by_cycle = looked_up(tables, numbers, past)[:, REACHES]  # as far as it goes ahead by it, whose feet roll
        usual = midway + np.where(is_known, paths.steps[step, SHARE] * (by_cycle - midway), 0.0)
        (x, y, _), longest = leg.rest_way, float(midway.max()) * leg.reach
        least = FLATTEST * sqrt(max(longest * longest - x * x - y * y, 0.0))
        height = _above(hips, feet.ankles[number], leg.reach * usual, ups, least)
        height *= liveliness(np.array(clock.paces), slowest)
        rows.append((np.where(is_known, carrying(past), 1.0), height, planted & ~feet.hanging[number]))
    most = np.max([np.where(planted, weight, 0.0) for weight, _, planted in rows], axis=0)
    size, some = GIVEN * reach_of(course.legs), np.where(most > HARDLY, most, 1.0)
    given = [np.where(planted, height + (1.0 - weight / some) * size, np.inf) for weight, height, planted in rows]
    return np.where(most > HARDLY, np.min([*bounds, *given], axis=0), np.nan)


def _above(hips: Doubles, ankles: Doubles, lengths: Doubles | float, ups: Doubles, least: float = 0.0) -> Doubles:
    """How much higher the body is to be for hips (F, 3) and ankles (F, 3) to be so far apart; hips so high at least."""
    ways = hips - ankles
    above = dots(ways, ups)
    found: Doubles = np.sqrt(np.maximum(lengths * lengths - (dots(ways, ways) - above * above), least * least)) - above
    return found


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


def _rolled_on(leg: Leg, number: int, paths: FootPaths, feet: FeetPoses) -> Doubles:
    """Where the ankle of a foot can be (F, 3), its heel as far up as it may come in the second half of its stance.

    So who walks uphill, or comes down a step, reaches by the foot before the body gives way.
    """
    share, following = feet.shares[number], feet.following[number]
    tables, cycles = paths.tables, paths.cycles[following]
    whole = tables[cycles, -1, ROLLS]
    may_roll = (np.nan_to_num(share) > MIDWAY) & (whole > 0.0) & (paths.steps[following, OFF] > 0.0)
    roll = looked_up(tables, cycles, np.nan_to_num(share))[:, ROLLS]
    part = np.where(may_roll, np.maximum(roll, 0.0) / np.where(whole > 0.0, whole, 1.0), 0.0)
    flat = feet.flat[number], feet.turns[number]
    _, ankles, _ = rolled(shape_of(leg), flat, feet.pitches[number] + ROLLED_ON * part)
    return np.where(may_roll[:, None], ankles, feet.ankles[number])


def with_heels_rolled(course: Course, feet: Feet, body: BodyTrack, surface_pose: SurfacePose) -> Feet:
    """The same feet, the heels of those that are about to lift so far up that their legs are long enough.

    Args:
        course: The body's and the legs'.
        feet: All footholds and steps.
        body: How it is carried by these feet.
        surface_pose: Where surfaces that move stand.
    """
    found = list[tuple[Foothold, Sequence[Step]]]()
    places, turns = body.poses(course.track)
    for leg, (start, steps) in zip(course.legs, feet, strict=True):
        hips = places + rotated_each(turns, np.array(leg.hip))
        before = [None, *steps]
        rows = [_rolled(leg, step, last, hips, surface_pose) for step, last in zip(steps, before, strict=False)]
        found.append((start, rows))
    return found


def _rolled(leg: Leg, step: Step, last: Step | None, hips: Doubles, surface_pose: SurfacePose) -> Step:
    """A step with the heel so far up as it lifts; the hips of its leg are here by sample (F, 3)."""
    begun = last.land if last is not None else max(step.lift - 1.0, 0.0)
    middle = ceil((begun + MIDWAY * (step.lift - begun)) / TICK)
    ticks = np.arange(middle, min(ceil(step.lift / TICK), len(hips) - 1) + 1)
    times = TICK * ticks.astype(np.float64)
    if not step.pace or step.toe_off <= 0.0 or is_body(step.start.surface):
        return step
    stood = [last] if last is not None else []

    def is_long_enough(toe_off: float) -> bool:
        row = [*stood, replace(step, toe_off=toe_off)]
        ankles = FootPaths([leg], [(row[0].start, row)], surface_pose).at(times).ankles[0]
        return bool((lengths(hips[ticks] - ankles) <= farthest(leg)).all())

    low, high = step.toe_off, step.toe_off + ROLLED_ON
    if is_long_enough(low):
        return step
    for _ in range(HALVINGS):
        between = 0.5 * (low + high)
        low, high = (low, between) if is_long_enough(between) else (between, high)
    return replace(step, toe_off=high)
