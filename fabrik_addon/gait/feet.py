# SPDX-License-Identifier: GPL-3.0-or-later
"""Where feet are at any time: planted, rolling from heel to toe, or in the air."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi

from ..maths import (
    FRONT,
    Q4,
    V3,
    Z_AXIS,
    along,
    cross,
    dot,
    eased,
    lerp,
    minus,
    multiplied,
    perpendicular,
    plus,
    slerp,
    turn_about,
    turned,
    unit_or,
)
from .legs import Leg
from .settings import Swing
from .steps import Foothold, Step, SurfacePose
from .terrain import is_body

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
        return plus(self.sole, turned(self.rotation, point))


@dataclass(frozen=True)
class Feet:
    """All footholds of a walk.

    Attributes:
        legs: The walker's.
        starts: By leg where it stands at first.
        steps: By leg, in the order of time.
    """

    legs: Sequence[Leg]
    starts: Sequence[Foothold]
    steps: Sequence[Sequence[Step]]

    def around(self, leg: int, time: float) -> tuple[Step | None, Step | None]:
        """The last step that has begun, and the next."""
        steps = self.steps[leg]
        index = bisect_right(steps, time, key=_lift)
        return (steps[index - 1] if index else None), (steps[index] if index < len(steps) else None)

    def at(self, leg: int, time: float, surface_pose: SurfacePose) -> FootPose:
        """A foot at a time, seconds from the path's first frame."""
        last, following = self.around(leg, time)
        if last is not None and time < last.land:
            return swinging(self.legs[leg], last, time, surface_pose)
        foothold = last.end if last is not None else self.starts[leg]
        place, rotation = foothold.in_world(time, surface_pose)
        pitch = foothold.pitch + roll_standing(time, last, following) if not is_body(foothold.surface) else 0.0
        return pose_of(self.legs[leg], (place, rotation), pitch, base=place, is_hanging=is_body(foothold.surface))


def _lift(step: Step) -> float:
    return step.lift


def roll_standing(time: float, last: Step | None, following: Step | None) -> float:
    """How far a standing foot has rolled from how it stands midway."""
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


def swinging(leg: Leg, step: Step, time: float, surface_pose: SurfacePose) -> FootPose:
    """A foot in the air. Both ends of its way ride on what they stand on."""
    flat, base = flat_in_the_air(step, time, surface_pose)
    hangs = is_body(step.start.surface) and is_body(step.end.surface)
    return pose_of(leg, flat, pitch_in_the_air(step, time), base=base, is_hanging=hangs, is_planted=False)


def flat_in_the_air(step: Step, time: float, surface_pose: SurfacePose) -> tuple[tuple[V3, Q4], V3]:
    """Place and rotation of a foot in the air without rolling, and the place without rising."""
    start, start_rotation = step.start.in_world(time, surface_pose)
    end, end_rotation = step.end.in_world(time, surface_pose)
    across = advance(step.curve, (time - step.lift) / (step.land - step.lift))
    base = _base(step, start, end, across)
    place = along(base, step.up, step.apex * arch(across, step.power))
    return (place, slerp(start_rotation, end_rotation, across)), base


def pitch_in_the_air(step: Step, time: float) -> float:
    """How far a foot in the air has its heel up, or its toes where negative, radians."""
    share = (time - step.lift) / (step.land - step.lift)
    pitch = step.start.pitch + (step.end.pitch - step.start.pitch) * advance(step.curve, share)
    pitch += step.toe_off * (1.0 - eased(share / TOE_OFF_UNTIL)) + step.toes_down * arch(share, 1.0)
    return pitch - step.heel_strike * eased((share - STRIKE_FROM) / (1.0 - STRIKE_FROM))


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
        held = plus(place, turned(rotation, pivot))
        rotation = multiplied(rotation, turn_about(sideways(leg), -pitch))
        place = minus(held, turned(rotation, pivot))
    ankle = plus(place, turned(rotation, leg.ankle))
    return FootPose(place, ankle, rotation, is_planted and not is_hanging, is_hanging, pitch, base)


def sideways(leg: Leg) -> V3:
    """The axis of the foot's frame about which a positive turn lifts the toes."""
    return cross(forward(leg), Z_AXIS)


def forward(leg: Leg) -> V3:
    """Where the foot points at rest; a foot without length points along -Y, as figures do in Blender."""
    return unit_or(perpendicular(minus(leg.ball, leg.heel), Z_AXIS), FRONT)
