# SPDX-License-Identifier: GPL-3.0-or-later
"""Where feet are at any time: planted, rolling from heel to toe, or in the air; and their steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise, product
from math import asin, inf, nan, pi, radians
from typing import Any, NamedTuple

import numpy as np

from ..maths import (
    Q4,
    V3,
    X_AXIS,
    Z_AXIS,
    Doubles,
    Mask,
    Places,
    clipped,
    dot,
    dots,
    eased,
    eased_each,
    minus,
    multiplied,
    placed,
    products,
    rotated_each,
    slerps,
    turned,
    turns_about,
    unit_or,
    v3,
)
from .cycle import ROLLS, SHARES, SWING, Cycle, looked_up
from .ground import BODY, STATIC, Ground, SurfacePose
from .human import human_cycle
from .legs import Leg, reach_of
from .settings import Settings, Swing


class Refusal(StrEnum):
    """Why a foothold is none."""

    NO_GROUND = "NO_GROUND"
    SLOPE = "SLOPE"
    EDGE = "EDGE"
    REACH = "REACH"
    LIMITS = "LIMITS"
    FOOT = "FOOT"


@dataclass(frozen=True)
class Foothold:
    """Where a foot stands, flat.

    Attributes:
        place: Of the sole's point, in the surface's own space: the world for one that does not move.
        rotation: Of the foot, from how it is at rest.
        normal: Of the ground.
        surface: STATIC, BODY, or the number of a surface that moves.
        pitch: How far the heel is up all the while, radians: where the ankle does not bend as far as the ground asks.
        is_given: Whether it was set by hand, see `GivenStance`.
    """

    place: V3
    rotation: Q4
    normal: V3 = Z_AXIS
    surface: int = STATIC
    pitch: float = 0.0
    is_given: bool = False

    def in_world(self, time: float, surface_pose: SurfacePose) -> tuple[V3, Q4]:
        """Place and rotation at a time."""
        if self.surface == STATIC:
            return self.place, self.rotation
        origin, rotation = surface_pose(self.surface, time)
        return placed(origin, rotation, self.place), multiplied(rotation, self.rotation)


class GivenStance(NamedTuple):
    """A stance that was set by hand. Times are seconds from the path's first frame.

    Attributes:
        leg: Index.
        land: When the foot lands; below zero where it stands there from the beginning.
        lift: When it lifts; infinite where it stands there to the end.
        foothold: Where it stands; None for where the walk has it.
    """

    leg: int
    land: float
    lift: float
    foothold: Foothold | None = None


@dataclass(frozen=True)
class Step:
    """A step of a leg. Times are seconds from the path's first frame.

    Attributes:
        leg: Index.
        lift: When the foot leaves the ground.
        land: When it is on the ground again.
        start: Where it stood.
        end: Where it will stand.
        up: The direction in which it rises.
        apex: How far it rises above the way from start to end, scene units.
        power: Shape of the rise: 1 an arc, less is steeper at both ends. For a foot that goes by a cycle how much of
            the cycle's timing its way keeps: 1 all, 0 none, so that it rises before it goes ahead, as on stairs; below
            0 for what share of the swing it waits before it goes ahead, or is there already where it comes down.
        lead: 1 where the foot changes its height evenly with its way; more where it climbs first, or descends last.
            By a cycle it does so in so many times less than the swing.
        curve: A name of `Swing`.
        toe_off: How far the heel is up when the foot lifts, radians.
        heel_strike: How far the toes are up when it lands, radians.
        pace: The speed of its cycle, see `Clock.paces`; 0 for a foot that goes along an arc.
        energy: Of its cycle.
        share: How much of the cycle's rise it takes, so that short steps are low.
        toes_down: How much farther than without it the heel is up midway, radians: where the ankle asks for it.
        refused: Footholds that were considered and refused: place and a name of `Refusal`.
    """

    leg: int
    lift: float
    land: float
    start: Foothold
    end: Foothold
    up: V3 = Z_AXIS
    apex: float = 0.0
    power: float = 1.0
    lead: float = 1.0
    curve: str = "SMOOTH"
    toe_off: float = 0.0
    heel_strike: float = 0.0
    toes_down: float = 0.0
    pace: float = 0.0
    energy: float = 0.0
    share: float = 1.0
    refused: tuple[tuple[V3, str], ...] = ()


STRIKE_SHARE, STRIKE_OF_STANCE = 0.4, 0.25  # of the swing's time, at most of the stance's: from heel strike to flat
ROLL_SHARE, ROLL_OF_STANCE = 0.8, 0.5  # the same from flat to toe-off
TOE_OFF_UNTIL, STRIKE_FROM = 0.7, 0.4  # share of the swing in which the heel comes down, and the toes up
LONGER = 1.3  # times of its cycle's stance a foot may stand, and counts as walking all the while


@dataclass(frozen=True)
class FootPose:
    """A foot at a time, in world space.

    Attributes:
        sole: The sole's point.
        ankle: What the chain brings to its goal.
        rotation: Of the foot, from how it is at rest.
        is_planted: Whether it stands.
        is_hanging: Whether there is no ground for it.
        pitch: How far the heel is up, or the toes where negative, radians.
        base: Where the sole's point would be without rising and rolling.
    """

    sole: V3
    ankle: V3
    rotation: Q4
    is_planted: bool
    is_hanging: bool
    pitch: float
    base: V3


class FeetPoses(NamedTuple):
    """L feet at F times, in world space: as `FootPose`, and what they are made of.

    Attributes:
        soles: (L, F, 3)
        ankles: (L, F, 3)
        rotations: (L, F, 4)
        planted: (L, F)
        hanging: (L, F)
        pitches: (L, F)
        bases: (L, F, 3)
        flat: (L, F, 3), where the sole's point would be without rolling.
        turns: (L, F, 4), the rotations without rolling.
        shares: (L, F), how much of a stance is over by the cycle; NaN where a foot has none, or is in the air.
        last: (L, F), the step that has begun last, a row of `FootPaths.steps`; -1 where there is none.
        following: (L, F), the next one.
    """

    soles: Doubles
    ankles: Doubles
    rotations: Doubles
    planted: Mask
    hanging: Mask
    pitches: Doubles
    bases: Doubles
    flat: Doubles
    turns: Doubles
    shares: Doubles
    last: Places
    following: Places

    def singly(self) -> list[tuple[FootPose, ...]]:
        """By time all feet."""
        legs = [
            [
                FootPose(tuple(a), tuple(b), tuple(c), d, e, f, tuple(g))
                for a, b, c, d, e, f, g in zip(*rows, strict=True)
            ]
            for rows in zip(*(values.tolist() for values in self[:7]), strict=True)
        ]
        return [*zip(*legs, strict=True)]


# By leg where a foot stands at first, and its steps in the order of time
Feet = Sequence[tuple[Foothold, Sequence[Step]]]
NEVER = 1e12  # seconds: when a step that is none lifts, and before which it landed
# columns of steps
LIFT, LAND, APEX, POWER, LEAD, IS_SINE, OFF, ON, TOES_DOWN, SHARE, PACE, DUTY, KEPT, WAITS = range(14)


class FootPaths:
    """The ways of all feet: planted, rolling from heel to toe, or in the air; at any times, in any order.

    Args:
        legs: The feet's.
        feet: Where each stands at first, and its steps.
        surface_pose: Where surfaces that move stand.

    Attributes:
        steps: (S + 1, 14), all steps, see the columns above: `OFF` and `ON` are how far the foot rolls at lifting and
            at landing, as shares of its cycle's rolls where it has one (`PACE`), else radians. The last row is none.
        tables: `Cycle.table` of all cycles.
        cycles: (S + 1,), by step which of them; 0 where it has none.
    """

    def __init__(self, legs: Sequence[Leg], feet: Feet, surface_pose: SurfacePose) -> None:
        self.surface_pose = surface_pose
        rows = [(leg, step) for leg, (_, steps) in zip(legs, feet, strict=True) for step in steps]
        known = dict[Cycle, int]()
        cycles = [cycle_of_step(leg, step) for leg, step in rows]
        numbers = [known.setdefault(cycle, len(known) + 1) if cycle is not None else 0 for cycle in cycles]
        none = np.zeros((1, SHARES.size, 7))
        self.tables: Doubles = np.concatenate((none, *(cycle.table[None] for cycle in known)))
        self.cycles: Places = np.array([*numbers, 0], dtype=np.intp)
        self.steps: Doubles = np.array(
            [_columns(step, cycle) for (_, step), cycle in zip(rows, cycles, strict=True)]
            + [(NEVER, -NEVER, *(0.0,) * (WAITS - LAND))]
        )
        self.ups: Doubles = np.array([step.up for _, step in rows] + [Z_AXIS])
        holds = [step.end for _, step in rows] + [step.start for _, step in rows] + [start for start, _ in feet]
        self.places: Doubles = np.array([hold.place for hold in holds])
        self.rotations: Doubles = np.array([hold.rotation for hold in holds])
        self.surfaces: Places = np.array([hold.surface for hold in holds])
        self.raised: Doubles = np.array([hold.pitch for hold in holds])
        self.firsts: Places = np.cumsum([0, *(len(steps) for _, steps in feet)])
        self.shape = [np.array([getattr(leg, name) for leg in legs]) for name in ("ankle", "heel", "ball", "sideways")]
        self.reaches: Doubles = np.array([leg.reach for leg in legs])

    def at(self, times: Doubles) -> FeetPoses:
        """All feet at times (F,), seconds from the path's first frame."""
        count, none, shape = len(times), len(self.steps) - 1, (len(self.reaches), len(times))
        leg, time = np.repeat(np.arange(shape[0]), count), np.tile(times, shape[0])
        begun = [
            np.searchsorted(self.steps[low:high, LIFT], times, side="right")
            for low, high in pairwise(self.firsts.tolist())
        ]
        last: Places = np.concatenate(begun) + self.firsts[leg] - 1
        following = np.where(last + 1 < self.firsts[leg + 1], last + 1, none)
        last = np.where(last >= self.firsts[leg], last, none)
        stands = self.steps[last, LAND] <= time
        hold = np.where(last < none, last, 2 * none + leg)
        hangs = self.surfaces[hold] <= BODY
        flat, turns = self._in_world(hold, time)
        shares = np.where(stands, self._shares(time, last, following), nan)
        pitches = np.where(hangs, 0.0, self.raised[hold] + self._rolled(time, last, following, shares))
        bases = flat.copy()
        if not stands.all():
            air = np.flatnonzero(~stands)
            flat[air], turns[air], bases[air] = self._flat_in_the_air(leg[air], time[air], last[air])
            pitches[air] = self._pitch_in_the_air(time[air], last[air])
            hangs[air] = (self.surfaces[last[air]] <= BODY) & (self.surfaces[none + last[air]] <= BODY)
        soles, ankles, rotations = rolled([one[leg] for one in self.shape], (flat, turns), pitches)
        found = (soles, ankles, rotations, stands & ~hangs, hangs, pitches, bases, flat, turns, shares)
        rows: Any = [values.reshape(*shape, *values.shape[1:]) for values in (*found, last, following)]
        return FeetPoses(*rows)

    def _in_world(self, holds: Places, times: Doubles) -> tuple[Doubles, Doubles]:
        """Places and rotations of footholds at times."""
        places, rotations = self.places[holds], self.rotations[holds]
        for index in np.flatnonzero(self.surfaces[holds] != STATIC).tolist():
            origin, turn = self.surface_pose(int(self.surfaces[holds[index]]), float(times[index]))
            places[index] = placed(origin, turn, places[index].tolist())
            rotations[index] = multiplied(turn, rotations[index].tolist())
        return places, rotations

    def _shares(self, time: Doubles, last: Places, following: Places) -> Doubles:
        """How much of its stance is over for a foot that stands, by the cycle; NaN where it has none.

        One that stands longer than the cycle has it is midway until it is about to lift.
        """
        before, after = self.steps[last], self.steps[following]
        stood, stands = (
            np.where(row[:, PACE] > 0.0, (row[:, LAND] - row[:, LIFT]) * row[:, DUTY] / (1.0 - row[:, DUTY]), 0.0)
            for row in (before, after)
        )
        begun = (time - before[:, LAND]) / np.where(stood > 0.0, stood, 1.0)
        left = 1.0 - (after[:, LIFT] - time) / np.where(stands > 0.0, stands, 1.0)
        found = np.where(stood > 0.0, np.minimum(begun, 0.5), nan)
        is_late = (stands > 0.0) & ((left > 0.5) | np.isnan(found))
        found = np.where(is_late, np.maximum(left, 0.5), found)
        whole = after[:, LIFT] - before[:, LAND]
        is_walking = (stood > 0.0) & (stands > 0.0) & (whole < 0.5 * (stood + stands) * LONGER)
        walked = np.where(whole > 0.0, (time - before[:, LAND]) / np.where(whole > 0.0, whole, 1.0), 1.0)
        return np.where(is_walking, walked, found)

    def _rolled(self, time: Doubles, last: Places, following: Places, shares: Doubles) -> Doubles:
        """How far standing feet have rolled from how they stand midway."""
        none, before, after = len(self.steps) - 1, self.steps[last], self.steps[following]
        is_first = shares < 0.5
        step = np.where(is_first, last, following)
        part = self.steps[step, np.where(is_first, ON, OFF)]
        has_roll = (self.steps[step, PACE] > 0.0) & (shares != 0.5)
        by_cycle = np.where(
            has_roll, looked_up(self.tables, self.cycles[step], np.nan_to_num(shares))[:, ROLLS] * part, 0.0
        )
        swing, spent = after[:, LAND] - after[:, LIFT], np.where(last < none, before[:, LAND], 0.0)
        span = np.minimum(ROLL_SHARE * swing, ROLL_OF_STANCE * (after[:, LIFT] - spent))
        is_off = (following < none) & (after[:, OFF] != 0.0) & (span > 0.0)
        off = 1.0 - (np.where(is_off, after[:, LIFT], 0.0) - time) / np.where(is_off, span, 1.0)
        arc = np.where(is_off, after[:, OFF] * eased_each(off), 0.0)
        stance = np.where(following < none, STRIKE_OF_STANCE * (after[:, LIFT] - before[:, LAND]), inf)
        span = np.minimum(STRIKE_SHARE * (before[:, LAND] - before[:, LIFT]), stance)
        is_on = (last < none) & (before[:, ON] != 0.0) & (span > 0.0)
        on = (time - np.where(is_on, before[:, LAND], 0.0)) / np.where(is_on, span, 1.0)
        arc -= np.where(is_on, before[:, ON] * (1.0 - eased_each(on)), 0.0)
        return np.where(np.isnan(shares), arc, by_cycle)

    def _flat_in_the_air(self, leg: Places, time: Doubles, last: Places) -> tuple[Doubles, Doubles, Doubles]:
        """Places and rotations of feet in the air without rolling, and places without rising.

        Both ends of their ways ride on what they stand on.
        """
        start, start_turns = self._in_world(len(self.steps) - 1 + last, time)
        end, end_turns = self._in_world(last, time)
        row, up, size = self.steps[last], self.ups[last], self.steps[last, SHARE] * self.reaches[leg]
        share = (time - row[:, LIFT]) / (row[:, LAND] - row[:, LIFT])
        across, rise, aside = self.gone(last, share).T[[0, 1, 3]]
        turns = slerps(start_turns, end_turns, np.clip(across, 0.0, 1.0))
        bases = start + across[:, None] * (end - start)
        higher, lead = dots(end - start, up), row[:, LEAD]  # it climbs first, or descends last
        inside, by_cycle = np.clip(across, 0.0, 1.0), row[:, PACE] > 0.0
        led = np.where(higher > 0.0, 1.0 - (1.0 - inside) ** lead, inside**lead)
        timed = np.where(higher > 0.0, eased_each(share * lead), eased_each(1.0 - (1.0 - share) * lead))
        led = np.where(by_cycle, timed, led)
        bases += np.where(lead != 1.0, higher * (led - across), 0.0)[:, None] * up
        bases += (aside * size)[:, None] * rotated_each(turns, np.array(X_AXIS))
        arched = np.where(by_cycle, share, across)
        flat = bases + (rise * size + row[:, APEX] * arch(arched, row[:, POWER]))[:, None] * up
        return flat, turns, bases

    def gone(self, steps: Places, share: Doubles) -> Doubles:
        """How feet in the air are on their way after shares of their time, (N, 4), see `Cycle.swing`."""
        row = self.steps[steps]
        found = looked_up(self.tables, self.cycles[steps], share)[:, SWING]
        kept, waits = row[:, KEPT], row[:, WAITS]
        eased = eased_each((share - np.maximum(waits, 0.0)) / (1.0 - np.abs(waits)))
        by_arc = np.where(row[:, IS_SINE] > 0.0, 0.5 - 0.5 * np.cos(pi * share), eased)
        found[:, 0] = np.where(row[:, PACE] > 0.0, eased + kept * (found[:, 0] - eased), by_arc)
        return found

    def _pitch_in_the_air(self, time: Doubles, last: Places) -> Doubles:
        """How far feet in the air have their heels up, or their toes where negative, radians."""
        row, start, end = self.steps[last], self.raised[len(self.steps) - 1 + last], self.raised[last]
        share = (time - row[:, LIFT]) / (row[:, LAND] - row[:, LIFT])
        gone, eased, down = self.gone(last, share), eased_each(share), row[:, TOES_DOWN] * arch(share, 1.0)
        rolled = gone[:, 2] * (row[:, OFF] + (row[:, ON] - row[:, OFF]) * eased)
        by_cycle = start + (end - start) * eased + rolled + down
        off = row[:, OFF] * (1.0 - eased_each(share / TOE_OFF_UNTIL))
        on = row[:, ON] * eased_each((share - STRIKE_FROM) / (1.0 - STRIKE_FROM))
        return np.where(row[:, PACE] > 0.0, by_cycle, start + (end - start) * gone[:, 0] + off + down - on)


def _columns(step: Step, cycle: Cycle | None) -> tuple[float, ...]:
    """A row of `FootPaths.steps`."""
    off, on = step.toe_off, step.heel_strike
    if cycle is not None:
        off = off / cycle.toe_off if cycle.toe_off > 0.0 else step.share
        on = on / cycle.strike if cycle.strike > 0.0 else step.share
    shape = step.apex, GENTLE if step.pace else step.power, step.lead, float(step.curve == Swing.SINE)
    kept, waits = max(step.power, 0.0), max(-step.power, 0.0)
    if waits and dot(minus(step.end.place, step.start.place), step.up) < 0.0:
        waits = -waits
    by_cycle = (step.pace, cycle.duty, kept, waits) if cycle is not None else (0.0,) * 4
    return step.lift, step.land, *shape, off, on, step.toes_down, step.share, *by_cycle


def cycle_of_step(leg: Leg, step: Step) -> Cycle | None:
    """The cycle by which a foot goes through a step; None where it goes along an arc."""
    if not step.pace:
        return None
    return leg.cycle.mixed(step.pace) if leg.cycle is not None else human_cycle(step.pace, step.energy, leg.foot)


def arch(across: Doubles, power: Doubles | float) -> Doubles:
    """How far a swinging foot has risen, as a share of the apex; a parabola over its way where power is 1."""
    return np.maximum(4.0 * across * (1.0 - across), 0.0) ** power


def shape_of(leg: Leg) -> list[Doubles]:
    """The foot of a leg, see `rolled`."""
    return [np.array(one) for one in (leg.ankle, leg.heel, leg.ball, leg.sideways)]


def rolled(
    shape: Sequence[Doubles], flat: tuple[Doubles, Doubles], pitches: Doubles
) -> tuple[Doubles, Doubles, Doubles]:
    """Feet that have rolled over their balls (heels up), or back on their heels (toes up).

    Args:
        shape: (..., 3) each: ankle, heel, ball, and the axis about which a foot rolls, in its frame.
        flat: Places (..., 3) and rotations (..., 4) without rolling.
        pitches: (...), radians; positive lifts the heel.

    Returns:
        Soles (..., 3), ankles (..., 3) and rotations (..., 4).
    """
    (ankle, heel, ball, sideways), (places, turns), is_rolled = shape, flat, (pitches != 0.0)[..., None]
    pivot = np.where((pitches > 0.0)[..., None], ball, heel)
    rotations = np.where(is_rolled, products(turns, turns_about(sideways, -pitches)), turns)
    held = places + rotated_each(turns, pivot)
    soles = np.where(is_rolled, held - rotated_each(rotations, pivot), places)
    return soles, soles + rotated_each(rotations, ankle), rotations


TOE_OFF, HEEL_STRIKE = radians(35.0), radians(20.0)  # of a full roll: the heel up at lifting, the toes at landing
FULL_ROLL = 0.35  # seconds of a swing from which on feet roll in full
ROLLING_STRIDE = 1.0  # of a leg's reach: the way of a swing from which on they do


def gone_by(
    step: Step,
    legs: Sequence[Leg],
    axes: tuple[Q4, V3],
    settings: Settings,
    by: tuple[float, Cycle | None],
    surface_pose: SurfacePose,
) -> Step:
    """A step in which the foot rolls, and goes by the cycle of its gait.

    It rolls forwards alone, and less in quick or short steps. Ground that rises takes from the roll at landing: the
    toes are up no higher than on level ground.

    Args:
        step: From where to where it goes, and when.
        legs: All of the walker's.
        axes: The body's heading, a rotation that keeps Z upright, and what is up.
        settings: Of the walk.
        by: The speed of the cycle, see `Clock.paces`, and the cycle; None for a foot that goes along an arc.
        surface_pose: Where surfaces that move stand.
    """
    leg, (pace, cycle), (upright, up), toe_off, strike = legs[step.leg], by, axes, 0.0, 0.0
    (start, _), (end, landing) = (
        step.start.in_world(step.lift, surface_pose),
        step.end.in_world(step.land, surface_pose),
    )
    gone = minus(end, start)
    share = settings.heel_toe if leg.cycle is None else 1.0  # a clip has rolls as they are
    if share and leg.foot_length > 0.0:
        along_foot = unit_or(minus(leg.ball, leg.heel), X_AXIS)
        ahead = dot(gone, turned(upright, along_foot)) / leg.reach
        rising = asin(clipped(dot(turned(landing, along_foot), up), 0.0, 1.0))
        if cycle is not None:
            share *= eased(ahead / cycle.stride)
            toe_off, strike = max(share * cycle.toe_off, 0.0), share * cycle.strike
        else:
            share *= eased(ahead / ROLLING_STRIDE) * min(1.0, (step.land - step.lift) / FULL_ROLL)
            toe_off, strike = share * TOE_OFF, share * HEEL_STRIKE
        strike = max(strike - rising, 0.0)
    step = replace(step, curve=settings.swing_curve, toe_off=toe_off, heel_strike=strike)
    if cycle is None:
        return step
    ahead = dot(gone, turned(upright, leg.forward)) / (cycle.stride * reach_of(legs))
    return replace(step, pace=pace, energy=settings.energy, share=eased(ahead))


LEAST_RISE = 0.05  # of a leg's reach: how far a foot rises that steps where it stands, or to the side
MOST_RISE = 1.0  # of a leg's reach: a foot that would have to rise higher grazes an edge
SAMPLES = 32  # moments of a swing that are looked at
GRAZING = 0.004  # of a leg's reach: how far inside the ground a foot may be that lifts or lands
EDGE = 0.02  # of a leg's reach: ground that rises by more between two moments has an edge somewhere between them
NOT_WORTH = 1.3  # another shape is worth it where its apex is lower by more than this factor
LEADS, TIMED_LEADS = (1.0, 2.0, 3.0), (1.0, 1.5)  # of arcs; by a cycle: a knee bends the quicker the more
GENTLE = 2.0  # power of the rise of a foot that goes by a cycle: it leaves the ground, and comes to it, without a jerk
KEEPING, WAITING = (1.0, 0.5, 0.0), (-0.15, -0.3)  # powers of steps by a cycle; of those that would rise far else
LOW = 0.2  # of a leg's reach: no step waits that rises no farther
POWERS: dict[str, tuple[float, ...]] = {Swing.SMOOTH: (1.0, 0.6, 0.35), Swing.SINE: (0.5, 0.35)}


def raised(step: Step, leg: Leg, ground: Ground, settings: Settings, surface_pose: SurfacePose) -> Step:
    """The step with an apex at which heel and ball, or the tip, are clear of the ground.

    Of all shapes the one that rises least is taken; a plain arc where it does not rise much more.
    """
    lowest = settings.step_height if leg.cycle is None else 0.0
    if step.pace:
        lowest = max(lowest, LEAST_RISE * (1.0 - step.share))
    least, margin = lowest * leg.reach, settings.clearance * leg.reach
    best: Step | None = None
    shapes = product((KEEPING, WAITING), TIMED_LEADS) if step.pace else product((POWERS[step.curve],), LEADS)
    for powers, lead in shapes:
        if powers is WAITING and best is not None and best.apex <= LOW * leg.reach:
            break
        across, rises = _rises(replace(step, apex=0.0, lead=lead, power=powers[0]), leg, ground, surface_pose)
        for power in powers:
            if step.pace and power != powers[0]:  # of an arc it tells of the rise alone
                across, rises = _rises(replace(step, apex=0.0, lead=lead, power=power), leg, ground, surface_pose)
            needed = float((rises / arch(across, GENTLE if step.pace else power)).max()) + margin
            found = replace(step, apex=min(max(least, needed), MOST_RISE * leg.reach), power=power, lead=lead)
            if best is None or found.apex * NOT_WORTH < best.apex:
                best = found
            if best.apex <= NOT_WORTH * least + (margin if step.pace else 0.0):
                return best
    return best or step


def _rises(step: Step, leg: Leg, ground: Ground, surface_pose: SurfacePose) -> tuple[Doubles, Doubles]:
    """By moment where the foot is on its arc, and how much higher the ground is than its lowest point."""
    shares: Doubles = np.arange(SAMPLES + 1) / SAMPLES
    moments = step.lift + (step.land - step.lift) * shares
    paths = FootPaths([leg], [(step.start, [step])], surface_pose)
    poses = paths.at(moments)
    rises = [-leg.reach] * (SAMPLES + 1)
    for point in contacts(leg):
        points = poses.soles[0] + rotated_each(poses.rotations[0], np.array(point))
        rows = zip(points.tolist(), moments.tolist(), strict=True)
        heights = [_heights(ground, leg, v3(place), (step.up, time)) for place, time in rows]
        for index in range(1, SAMPLES):
            foot, here = heights[index]
            for _, beside in (heights[index - 1], heights[index + 1]):
                here = beside if beside - here > EDGE * leg.reach else here
            rises[index] = max(rises[index], here - foot - GRAZING * leg.reach)
    arc = shares if step.pace else paths.gone(np.zeros(len(shares), dtype=np.intp), shares)[:, 0]
    return arc[1:-1], np.array(rises[1:-1])


def contacts(leg: Leg) -> Sequence[V3]:
    """The points of a foot that touch the ground, in its frame."""
    return (leg.heel, leg.ball) if leg.foot_length > 0.0 else (leg.heel,)


def _heights(ground: Ground, leg: Leg, point: V3, look: tuple[V3, float]) -> tuple[float, float]:
    """The height of a point along what is up, and that of the ground; a leg's reach lower where there is none."""
    up, time = look
    height = dot(point, up)
    hit = ground.under(point, up, (leg.climb, leg.reach), time)
    return height, dot(hit.place, up) if hit is not None else height - leg.reach
