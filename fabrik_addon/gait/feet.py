# SPDX-License-Identifier: GPL-3.0-or-later
"""Where feet are at any time: planted, rolling from heel to toe, or in the air; and their steps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import asin, cos, pi, radians
from operator import attrgetter

from ..maths import (
    Q4,
    V3,
    X_AXIS,
    Z_AXIS,
    along,
    clipped,
    dot,
    eased,
    lerp,
    minus,
    multiplied,
    placed,
    slerp,
    turn_about,
    turned,
    unit_or,
)
from .cycle import Cycle, InTheAir
from .ground import STATIC, Ground, is_body
from .human import human_cycle
from .legs import Leg
from .settings import Settings, Swing

SurfacePose = Callable[[int, float], tuple[V3, Q4]]  # place and rotation of a moving surface at a time


class Refused(StrEnum):
    """Why a foothold is none."""

    NO_GROUND = "NO_GROUND"
    SLOPE = "SLOPE"
    EDGE = "EDGE"
    REACH = "REACH"
    LIMITS = "LIMITS"
    FOOT = "FOOT"


class Cause(StrEnum):
    """Why a leg steps."""

    CYCLE = "CYCLE"  # its turn in the gait
    DRIFT = "DRIFT"  # its home has moved away
    REACH = "REACH"  # it would no longer reach its foothold, or not within the limits of its joints


@dataclass(frozen=True)
class Foothold:
    """Where a foot stands, flat.

    Attributes:
        place: Of the sole's point, in the surface's own space: the world for one that does not move.
        rotation: Of the foot, from how it is at rest.
        normal: Of the ground.
        surface: STATIC, BODY, or the number of a surface that moves.
        pitch: How far the heel is up all the while, radians: where the ankle does not bend as far as the ground asks.
    """

    place: V3
    rotation: Q4
    normal: V3 = Z_AXIS
    surface: int = STATIC
    pitch: float = 0.0

    def in_world(self, time: float, surface_pose: SurfacePose) -> tuple[V3, Q4]:
        """Place and rotation at a time."""
        if self.surface == STATIC:
            return self.place, self.rotation
        origin, rotation = surface_pose(self.surface, time)
        return placed(origin, rotation, self.place), multiplied(rotation, self.rotation)


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
        power: Shape of the rise: 1 an arc, less is steeper at both ends.
        lead: 1 where the foot changes its height evenly with its way; more where it climbs first, or descends last.
        curve: A name of `Swing`.
        toe_off: How far the heel is up when the foot lifts, radians.
        heel_strike: How far the toes are up when it lands, radians.
        pace: The speed of its cycle, see `Clock.paces`; 0 for a foot that goes along an arc.
        energy: Of its cycle.
        share: How much of the cycle's rise it takes, so that short steps are low.
        toes_down: How much farther than without it the heel is up midway, radians: where the ankle asks for it.
        cause: A name of `Cause`.
        refused: Footholds that were considered and refused: place and a name of `Refused`.
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
    cause: str = Cause.CYCLE
    refused: tuple[tuple[V3, str], ...] = ()


STRIKE_SHARE, STRIKE_OF_STANCE = 0.4, 0.25  # of the swing's time, at most of the stance's: from heel strike to flat
ROLL_SHARE, ROLL_OF_STANCE = 0.8, 0.5  # the same from flat to toe-off
TOE_OFF_UNTIL, STRIKE_FROM = 0.7, 0.4  # share of the swing in which the heel comes down, and the toes up


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

    def contact(self, point: V3) -> V3:
        """A point of the foot's frame, in world space."""
        return placed(self.sole, self.rotation, point)


# By leg where a foot stands at first, and its steps in the order of time
Feet = Sequence[tuple[Foothold, Sequence[Step]]]
LIFT = attrgetter("lift")


def around(steps: Sequence[Step], time: float) -> tuple[Step | None, Step | None]:
    """Of the steps of a leg, in the order of time, the last that has begun, and the next."""
    index = bisect_right(steps, time, key=LIFT)
    return (steps[index - 1] if index else None), (steps[index] if index < len(steps) else None)


def foot_at(leg: Leg, start: Foothold, steps: Sequence[Step], time: float, surface_pose: SurfacePose) -> FootPose:
    """A foot at a time.

    Args:
        leg: The foot's.
        start: Where it stands at first.
        steps: All of its leg, in the order of time.
        time: Seconds from the path's first frame.
        surface_pose: Where surfaces that move stand.
    """
    last, following = around(steps, time)
    if last is not None and time < last.land:
        return swinging(leg, last, time, surface_pose)
    foothold = last.end if last is not None else start
    place, rotation = foothold.in_world(time, surface_pose)
    hangs = is_body(foothold.surface)
    pitch = foothold.pitch + roll_standing(leg, time, last, following) if not hangs else 0.0
    return pose_of(leg, (place, rotation), pitch, base=place, is_hanging=hangs)


def cycle_of_step(leg: Leg, step: Step | None) -> Cycle | None:
    """The cycle by which a foot goes through a step; None where it goes along an arc."""
    if step is None or not step.pace:
        return None
    return leg.cycle or human_cycle(step.pace, step.energy, leg.foot)


def stance_of(cycle: Cycle, step: Step) -> float:
    """How many seconds a foot stands before or after a step, were the walk to go on as in it."""
    return (step.land - step.lift) * cycle.duty / (1.0 - cycle.duty)


def share_of_stance(leg: Leg, time: float, last: Step | None, following: Step | None) -> float | None:
    """How much of its stance is over for a foot that stands, by the cycle; None where it has none.

    One that stands longer than the cycle has it is midway until it is about to lift.
    """
    before, after = cycle_of_step(leg, last), cycle_of_step(leg, following)
    stood = stance_of(before, last) if before is not None and last is not None else 0.0
    stands = stance_of(after, following) if after is not None and following is not None else 0.0
    if last is not None and following is not None and stood and stands:
        whole = following.lift - last.land
        if whole < 0.5 * (stood + stands) * LONGER:
            return (time - last.land) / whole if whole > 0.0 else 1.0
    share: float | None = None
    if last is not None and stood:
        share = min((time - last.land) / stood, 0.5)
    if following is not None and stands:
        left = 1.0 - (following.lift - time) / stands
        share = max(left, 0.5) if left > 0.5 or share is None else share
    return share


def roll_standing(leg: Leg, time: float, last: Step | None, following: Step | None) -> float:
    """How far a standing foot has rolled from how it stands midway."""
    share = share_of_stance(leg, time, last, following)
    if share is not None:
        step = last if share < 0.5 else following
        cycle = cycle_of_step(leg, step)
        if step is None or cycle is None or share == 0.5:
            return 0.0
        rolled, usual = (step.heel_strike, cycle.strike) if share < 0.5 else (step.toe_off, cycle.toe_off)
        return cycle.roll_at(share) * _part(rolled, usual, step)
    pitch = 0.0
    if following is not None and following.toe_off:
        begun = last.land if last is not None else 0.0
        span = min(ROLL_SHARE * (following.land - following.lift), ROLL_OF_STANCE * (following.lift - begun))
        pitch += following.toe_off * eased(1.0 - (following.lift - time) / span) if span > 0.0 else 0.0
    if last is not None and last.heel_strike:
        span = STRIKE_SHARE * (last.land - last.lift)
        if following is not None:
            span = min(span, STRIKE_OF_STANCE * (following.lift - last.land))
        pitch -= last.heel_strike * (1.0 - eased((time - last.land) / span)) if span > 0.0 else 0.0
    return pitch


def _part(roll: float, usual: float, step: Step) -> float:
    """How much of the roll of its cycle a foot has that rolls so far; as much as of its rise, where that has none."""
    return roll / usual if usual > 0.0 else step.share


def swinging(leg: Leg, step: Step, time: float, surface_pose: SurfacePose) -> FootPose:
    """A foot in the air. Both ends of its way ride on what they stand on."""
    flat, base = flat_in_the_air(leg, step, time, surface_pose)
    hangs = is_body(step.start.surface) and is_body(step.end.surface)
    return pose_of(leg, flat, pitch_in_the_air(leg, step, time), base=base, is_hanging=hangs, is_planted=False)


def flat_in_the_air(leg: Leg, step: Step, time: float, surface_pose: SurfacePose) -> tuple[tuple[V3, Q4], V3]:
    """Place and rotation of a foot in the air without rolling, and the place without rising."""
    start, start_rotation = step.start.in_world(time, surface_pose)
    end, end_rotation = step.end.in_world(time, surface_pose)
    found, arched = gone(leg, step, (time - step.lift) / (step.land - step.lift))
    rotation, size = slerp(start_rotation, end_rotation, clipped(found.across, 0.0, 1.0)), step.share * leg.reach
    base = _base(step, start, end, found.across)
    if found.aside:
        base = along(base, turned(rotation, X_AXIS), found.aside * size)
    return (along(base, step.up, found.rise * size + step.apex * arch(arched, step.power)), rotation), base


def gone(leg: Leg, step: Step, share: float) -> tuple[InTheAir, float]:
    """How a foot in the air is on its way after a share of its time.

    Returns:
        As its cycle has it; and where it is on the arc that is added.
    """
    cycle = cycle_of_step(leg, step)
    if cycle is None:
        across = advance(step.curve, share)
        return InTheAir(across, 0.0, 0.0), across
    return cycle.in_the_air(share), share


def pitch_in_the_air(leg: Leg, step: Step, time: float) -> float:
    """How far a foot in the air has its heel up, or its toes where negative, radians."""
    share = (time - step.lift) / (step.land - step.lift)
    cycle = cycle_of_step(leg, step)
    if cycle is not None:
        off, on = _part(step.toe_off, cycle.toe_off, step), _part(step.heel_strike, cycle.strike, step)
        hanging = step.start.pitch + (step.end.pitch - step.start.pitch) * eased(share)
        rolled = cycle.in_the_air(share).pitch * (off + (on - off) * eased(share))
        return hanging + rolled + step.toes_down * arch(share, 1.0)
    pitch = step.start.pitch
    if step.end.pitch != pitch:
        pitch += (step.end.pitch - pitch) * advance(step.curve, share)
    if step.toe_off or step.toes_down:
        pitch += step.toe_off * (1.0 - eased(share / TOE_OFF_UNTIL)) + step.toes_down * arch(share, 1.0)
    if step.heel_strike:
        pitch -= step.heel_strike * eased((share - STRIKE_FROM) / (1.0 - STRIKE_FROM))
    return pitch


def _base(step: Step, start: V3, end: V3, across: float) -> V3:
    """The foot's way without rising: straight, but for its height where the step climbs first or descends last."""
    base = lerp(start, end, across)
    if step.lead == 1.0:
        return base
    rise = dot(minus(end, start), step.up)
    led = 1.0 - (1.0 - across) ** step.lead if rise > 0.0 else across**step.lead
    return along(base, step.up, rise * (led - across))


def advance(curve: str, share: float) -> float:
    """How much of its way a swinging foot has gone after a share of its time."""
    return 0.5 - 0.5 * cos(pi * share) if curve == Swing.SINE else eased(share)


def arch(across: float, power: float) -> float:
    """How far a swinging foot has risen, as a share of the apex; a parabola over its way where power is 1."""
    height = max(4.0 * across * (1.0 - across), 0.0)
    return float(height**power)


def pose_of(
    leg: Leg, flat: tuple[V3, Q4], pitch: float, *, base: V3, is_hanging: bool = False, is_planted: bool = True
) -> FootPose:
    """A foot that has rolled over its ball (heel up), or back on its heel (toes up).

    Args:
        leg: Its leg.
        flat: Place and rotation without rolling.
        pitch: Radians; positive lifts the heel.
        base: See `FootPose`.
        is_hanging: See there.
        is_planted: See there.
    """
    place, rotation = flat
    if pitch:
        pivot = leg.ball if pitch > 0.0 else leg.heel
        held = placed(place, rotation, pivot)
        rotation = multiplied(rotation, turn_about(leg.sideways, -pitch))
        place = minus(held, turned(rotation, pivot))
    ankle = placed(place, rotation, leg.ankle)
    return FootPose(place, ankle, rotation, is_planted and not is_hanging, is_hanging, pitch, base)


TOE_OFF, HEEL_STRIKE = radians(35.0), radians(20.0)  # of a full roll: the heel up at lifting, the toes at landing
FULL_ROLL = 0.35  # seconds of a swing from which on feet roll in full
ROLLING_STRIDE = 1.0  # of a leg's reach: the way of a swing from which on they do


def rolls_of(
    leg: Leg, share: float, step: tuple[V3, Q4], axes: tuple[Q4, V3], span: float, cycle: Cycle | None
) -> tuple[float, float]:
    """How far a foot rolls at lifting and at landing: forwards alone, and less for quick or short steps.

    Ground that rises takes from the roll at landing: the toes are up no higher than on level ground.

    Args:
        leg: The foot's.
        share: Of the full roll, as it is set, 0 to 1.
        step: The way to where it lands, world space, and the foot's rotation there.
        axes: The body's heading, a rotation that keeps Z upright, and what is up.
        span: Seconds of its swing.
        cycle: By which it walks; None for a foot that goes along an arc.

    Returns:
        How far the heel is up when it lifts, and the toes when it lands, radians.
    """
    share = share if leg.cycle is None else 1.0  # a clip has them as they are
    if not share or leg.foot_length <= 0.0:
        return 0.0, 0.0
    along_foot, (way, landing), (upright, up) = unit_or(minus(leg.ball, leg.heel), X_AXIS), step, axes
    ahead = dot(way, turned(upright, along_foot)) / leg.reach
    rising = asin(clipped(dot(turned(landing, along_foot), up), 0.0, 1.0))
    if cycle is not None:
        share *= eased(ahead / cycle.stride)
        return max(share * cycle.toe_off, 0.0), max(share * cycle.strike - rising, 0.0)
    share *= eased(ahead / ROLLING_STRIDE) * min(1.0, span / FULL_ROLL)
    return share * TOE_OFF, max(share * HEEL_STRIKE - rising, 0.0)


LEAST_RISE = 0.05  # of a leg's reach: how far a foot rises that steps where it stands, or to the side
LONGER = 1.3  # times of its cycle's stance a foot may stand, and counts as walking all the while
SAMPLES = 32  # moments of a swing that are looked at
GRAZING = 0.004  # of a leg's reach: how far inside the ground a foot may be that lifts or lands
EDGE = 0.02  # of a leg's reach: ground that rises by more between two moments has an edge somewhere between them
NOT_WORTH = 1.3  # another shape is worth it where its apex is lower by more than this factor
LEADS = (1.0, 2.0, 3.0)
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
    for lead in LEADS:
        rises = _rises(replace(step, apex=0.0, lead=lead), leg, ground, surface_pose)
        for power in POWERS[step.curve]:
            needed = max(rise / arch(across, power) for across, rise in rises) + margin
            found = replace(step, apex=max(least, needed), power=power, lead=lead)
            if best is None or found.apex * NOT_WORTH < best.apex:
                best = found
            if best.apex <= NOT_WORTH * least + (margin if step.pace else 0.0):
                return best
    return best or step


def _rises(step: Step, leg: Leg, ground: Ground, surface_pose: SurfacePose) -> list[tuple[float, float]]:
    """By moment the share of the way, and how much higher the ground is than the lowest point of the foot."""
    span = step.land - step.lift
    moments = [step.lift + span * index / SAMPLES for index in range(SAMPLES + 1)]
    poses = [swinging(leg, step, time, surface_pose) for time in moments]
    rises = [-leg.reach] * (SAMPLES + 1)
    for point in contacts(leg):
        heights = [
            _heights(ground, leg, pose.contact(point), (step.up, time))
            for pose, time in zip(poses, moments, strict=True)
        ]
        for index in range(1, SAMPLES):
            foot, here = heights[index]
            for _, beside in (heights[index - 1], heights[index + 1]):
                here = beside if beside - here > EDGE * leg.reach else here
            rises[index] = max(rises[index], here - foot - GRAZING * leg.reach)
    return [(gone(leg, step, index / SAMPLES)[1], rises[index]) for index in range(1, SAMPLES)]


def contacts(leg: Leg) -> Sequence[V3]:
    """The points of a foot that touch the ground, in its frame."""
    return (leg.heel, leg.ball) if leg.foot_length > 0.0 else (leg.heel,)


def _heights(ground: Ground, leg: Leg, point: V3, look: tuple[V3, float]) -> tuple[float, float]:
    """The height of a point along what is up, and that of the ground; a leg's reach lower where there is none."""
    up, time = look
    height = dot(point, up)
    hit = ground.under(point, up, (leg.climb, leg.reach), time)
    return height, dot(hit.place, up) if hit is not None else height - leg.reach
