# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a foot is to land: candidates round the best place, and why some are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import inf, sqrt

from ..maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    along,
    angle_between,
    clipped,
    conjugated,
    cross,
    distance,
    dot,
    length,
    minus,
    multiplied,
    placed,
    plus,
    scaled,
    turned,
)
from .body import Course, need_of
from .feet import Foothold, Refusal
from .ground import BODY, DROP, STATIC, TOES, Ground, Terrain, foot_rotation, laid
from .legs import SWAYING, Leg, spacing
from .settings import Settings

NEAR_FOOT = 0.15  # of a leg's reach: two feet are no nearer
NEAR_HOME = 0.5  # of the distance between homes: the same for legs that stand closer together
SINKING = 0.3  # of a hip's height: how far the body may come down for a foothold
# What speaks against the least bad of refused footholds, in quarters of a stride aside
PENALTIES = {Refusal.FOOT: 1.0, Refusal.EDGE: 2.0, Refusal.REACH: 3.0, Refusal.LIMITS: 3.0, Refusal.SLOPE: 4.0}
UNSTEADY = 6.0  # where heel or ball has no ground
OFF_BY_A_LEG = 10.0  # for a place that the ankle misses by a whole leg's reach
FAR_OFF = 0.25  # of a leg's reach: ground that is farther out of reach at landing counts as none
HIP_SPARE = 0.3  # of a foot's length: what rolling from heel to toe gains at both ends of a stance
STEEPNESS = 0.5  # how much the steepest ground counts against a quarter of a stride aside
COST_DECIMALS = 6  # that count: costs that differ in later ones alone are alike
INNER_RING, OUTER_RINGS = 0.5, (1.0, 1.5, 2.0)  # of the stance's radius, where other places are looked at
# Of a foot's length: looks at the ground along it, so many before and behind; what is left beside an edge
LOOKS, FAR, HALVINGS, SPARE = 6, 9, 6, 0.005
LEAST_SLOPE = 1e-3  # radians: a bound of the slope is no less where steepness is measured by it
HEXAGON = ((1.0, 0.0), (0.5, sqrt(0.75)), (-0.5, sqrt(0.75)), (-1.0, 0.0), (-0.5, -sqrt(0.75)), (0.5, -sqrt(0.75)))


@dataclass(frozen=True)
class Stance:
    """What a foothold is chosen for.

    Attributes:
        leg: Whose.
        wanted: The best place, in world space.
        upright: The body's heading midway through the stance: a rotation that keeps Z along `up`.
        up: What is up.
        ahead: Where the body goes, a unit vector across `up`.
        bodies: Place and rotation of the body at landing, midway and at lifting, world space.
        others: Where other feet stand at landing, world space.
        apart: How near another foot may be, scene units.
        radius: How far from the best place others are looked at: a quarter of a stride, scene units.
        time: Of landing, seconds from the path's first frame.
        held_off: See `held_off`, for the leg.
    """

    leg: Leg
    wanted: V3
    upright: Q4
    up: V3
    ahead: V3
    bodies: tuple[tuple[V3, Q4], ...]
    others: Sequence[V3]
    apart: float
    radius: float
    time: float
    held_off: Callable[[tuple[V3, Q4], V3, V3], float]

    @cached_property
    def hips(self) -> list[V3]:
        """Where the hip is at the times of `bodies`."""
        return [placed(place, rotation, self.leg.hip) for place, rotation in self.bodies]


# A foothold in world space, what speaks against it in quarters of a stride aside, and why it is refused, if it is
Candidate = tuple[Foothold, float, Refusal | None]
Choice = tuple[Foothold, V3, tuple[tuple[V3, str], ...]]  # see `choose`


def choose(ground: Ground, stance: Stance, settings: Settings) -> Choice:
    """The best foothold: the place wanted where it is good, else the best of those around, nearer ones first.

    Where all are refused, the least bad of those; where there is no ground that the leg nearly reaches, the foot hangs.

    Args:
        ground: To stand on.
        stance: What it is for.
        settings: Of the walk.

    Returns:
        The foothold, in the space of its surface; the way from the place wanted to the place chosen, world space, by
        which the foot is off and does not step; and the places that were refused, in world space, each with the reason.
    """
    refused: list[tuple[V3, str]] = []
    second: list[Candidate] = []
    for ring in _rings(ground, stance):
        good: list[Candidate] = []
        for place in ring:
            found = _candidate(ground, stance, settings, place)
            if found is None:
                refused.append((place, Refusal.NO_GROUND))
            elif found[2] is not None:
                refused.append((found[0].place, found[2]))
                second.append(found)
            else:
                good.append(found)
        for found in sorted(good, key=_cost):
            held = _within_limits(found, stance, settings)
            if held[2] is None:
                return _chosen(held[0], stance, ground.terrain, refused)
            refused.append((held[0].place, held[2]))
            second.append(held)
    if second:
        return _chosen(min(second, key=_cost)[0], stance, ground.terrain, refused)
    hanging = Foothold(stance.leg.home, IDENTITY, surface=BODY)  # at home, in the body's frame
    return hanging, ORIGIN, tuple(refused)


def _cost(candidate: Candidate) -> float:
    """What speaks against a candidate; of those that are alike but for rounding the first one of a ring is taken."""
    return round(candidate[1], COST_DECIMALS)


def _chosen(foothold: Foothold, stance: Stance, terrain: Terrain, refused: list[tuple[V3, str]]) -> Choice:
    """A foothold that was found in world space, in the space of the surface that it is on where that moves."""
    slack = minus(foothold.place, stance.wanted)
    if foothold.surface != STATIC:
        place, rotation = terrain.surface(foothold.surface, stance.time)
        back = conjugated(rotation)
        foothold = replace(
            foothold, place=turned(back, minus(foothold.place, place)), rotation=multiplied(back, foothold.rotation)
        )
    return foothold, slack, tuple(refused)


def _rings(ground: Ground, stance: Stance) -> Iterator[Sequence[V3]]:
    """The place wanted; where a foot fits between edges; others round it, farther and farther away.

    These are six half a radius away, and twelve each at one, one and a half and two radii.
    """
    yield [stance.wanted]
    yield _fitting(ground, stance)
    aside = cross(stance.up, stance.ahead)
    edges = [
        (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])) for a, b in zip(HEXAGON, (*HEXAGON[1:], HEXAGON[0]), strict=True)
    ]

    def placed(points: Sequence[tuple[float, float]], radius: float) -> list[V3]:
        return [along(along(stance.wanted, stance.ahead, x * radius), aside, y * radius) for x, y in points]

    size = stance.radius
    yield placed(HEXAGON, INNER_RING * size)
    for share in OUTER_RINGS:
        yield placed([*HEXAGON, *edges], share * size)


def _fitting(ground: Ground, stance: Stance) -> list[V3]:
    """Places before and behind the one wanted where a foot fits between two edges, as on a step; nearer ones first."""
    leg, up = stance.leg, stance.up
    if leg.foot_length <= 0.0 or ground.is_surface:
        return []
    line, span = turned(stance.upright, leg.forward), leg.foot_length / LOOKS
    heel, ball = (dot(end, leg.forward) for end in (leg.heel, leg.ball))

    def height(way: float) -> float:
        hit = ground.under(along(stance.wanted, line, way), up, (leg.climb, leg.reach), stance.time)
        return dot(hit.place, up) if hit is not None else -inf

    def is_edge(low: float, high: float) -> bool:
        return not abs(high - low) <= DROP * leg.reach

    ends, heights = [(-FAR * span, 0.0)], [height(look * span) for look in range(-FAR, FAR + 1)]
    for look, (low, high) in enumerate(pairwise(heights), -FAR):
        if is_edge(low, high):
            way, size = look * span, span
            for _ in range(HALVINGS):
                size *= 0.5
                way += 0.0 if is_edge(low, height(way + size)) else size
            ends.append((way + 0.5 * size, high - low))
    ends.append((FAR * span, 0.0))
    found = list[float]()
    for (first, _), (last, rise) in pairwise(ends):
        spare = SPARE * leg.foot_length
        least = first - heel + spare
        most = last - ball - spare - (TOES * leg.foot_length if rise > 0.0 else 0.0)
        found += [clipped(0.0, least, most)] if least <= most else []
    return [along(stance.wanted, line, way) for way in sorted(found, key=abs)]


def _candidate(ground: Ground, stance: Stance, settings: Settings, place: V3) -> Candidate | None:
    """What there is at a place; None where there is no ground."""
    leg = stance.leg
    hit = ground.foothold(leg, place, (stance.hips[len(stance.hips) // 2], stance.up), stance.time)
    if hit is None:
        return None
    slope = angle_between(hit.normal, stance.up)
    steep = slope > settings.slope_max and not ground.is_surface
    flat = (hit.place, foot_rotation(stance.upright, stance.up, hit.normal, settings))
    up = hit.normal if ground.is_surface else stance.up
    lying = None if steep else laid(ground, leg, flat, up, stance.time)
    if _out_of_reach(stance, lying or flat, stance.hips[:1]) > FAR_OFF * leg.reach:
        return None
    off = _out_of_reach(stance, lying or flat, stance.hips)
    moved = minus(flat[0], stance.wanted)
    level = length(along(moved, stance.up, -dot(moved, stance.up)))
    cost = level / stance.radius + STEEPNESS * slope / max(settings.slope_max, LEAST_SLOPE)
    if steep:
        reason = Refusal.SLOPE
    elif lying is None or ground.is_edge(leg, lying, (hit.normal, up), stance.time):
        reason = Refusal.EDGE
    elif any(distance(flat[0], other) < stance.apart for other in stance.others):
        reason = Refusal.FOOT
    else:
        reason = None
    if reason is not None:
        cost += PENALTIES[reason] if lying is not None or steep else UNSTEADY
    if off > 0.0:
        reason, cost = reason or Refusal.REACH, cost + PENALTIES[Refusal.REACH] + OFF_BY_A_LEG * off / leg.reach
    return Foothold(*(lying or flat), hit.normal, hit.surface), cost, reason


def _out_of_reach(stance: Stance, flat: tuple[V3, Q4], hips: Sequence[V3]) -> float:
    """How far a place is out of the leg's reach, by its length alone, from the worst of some hips.

    Each may come down for it.
    """
    leg = stance.leg
    ankle = placed(flat[0], flat[1], leg.ankle)
    worst = 0.0
    for hip in hips:
        way = minus(hip, ankle)
        down = min(max(dot(way, stance.up), 0.0), SINKING * leg.height)
        distance = length(along(way, stance.up, -down))
        far = distance - leg.walking_reach - HIP_SPARE * leg.foot_length
        worst = max(worst, far, leg.shortest - length(way))
    return worst


def is_held(stance: Stance, flat: tuple[V3, Q4], sway: float) -> bool:
    """Whether the leg of a stance reaches a place all the while, within the limits of its joints.

    Args:
        stance: The stance.
        flat: Place and rotation of the foot, world space.
        sway: See `_held_off`.
    """
    return _out_of_reach(stance, flat, stance.hips) <= 0.0 and _held_off(stance, flat, sway) <= 0.0


def _within_limits(candidate: Candidate, stance: Stance, settings: Settings) -> Candidate:
    """A good candidate, refused where the limits of the leg's joints keep it from there."""
    foothold, cost, _ = candidate
    off = _held_off(stance, (foothold.place, foothold.rotation), settings.body_sway)
    if off <= 0.0:
        return candidate
    return foothold, cost + PENALTIES[Refusal.LIMITS] + OFF_BY_A_LEG * off / stance.leg.reach, Refusal.LIMITS


def _held_off(stance: Stance, flat: tuple[V3, Q4], sway: float) -> float:
    """`held_off` of a stance, 0 where the ankle gets there: the first of its times at which it is held off tells.

    A body that sways (`sway`, 0 to 1) may be elsewhere than expected, so it is tried as far before and behind as that
    makes it.
    """
    ankle, size = placed(flat[0], flat[1], stance.leg.ankle), SWAYING * sway * stance.leg.reach
    ways = [scaled(stance.ahead, way) for way in ((size, -size) if sway else (0.0,))]
    offs = (stance.held_off(body, ankle, way) for body in stance.bodies for way in ways)
    return next((off for off in offs if off > 0.0), 0.0)


def held_off(course: Course, leg: int, up: V3, body: tuple[V3, Q4], ankle: V3, way: V3 = ORIGIN) -> float:
    """How far the limits of a leg's joints hold its ankle off a place, but for what a rolling foot gains.

    The body comes down for it as far as the leg's length asks; `way` leads from there to where it is tried.
    """
    limb, (place, rotation) = course.legs[leg], body
    down = need_of(placed(place, rotation, limb.hip), ankle, up, limb.walking_reach, SINKING * limb.height)
    low = along(place, up, -down), rotation
    return course.held_off(leg, low, plus(ankle, way)) - HIP_SPARE * limb.foot_length


def least_distances(legs: Sequence[Leg]) -> list[float]:
    """By leg how near its foot may come to another foot, scene units; those of a clip come as near as there."""
    near = [min(NEAR_FOOT * leg.reach, NEAR_HOME * spacing(legs, index)) for index, leg in enumerate(legs)]
    return [most if leg.cycle is None else 0.0 for leg, most in zip(legs, near, strict=True)]
