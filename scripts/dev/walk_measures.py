# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is judged by: slip, ground, neighbours, support, reach. Lengths are shares of leg length.

A walk is judged as it is seen frame by frame, whoever made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import acos, atan2, degrees, pi

import numpy as np
from fabrik_addon.gait.feet import FootPose, contacts
from fabrik_addon.gait.ground import Terrain
from fabrik_addon.gait.human import angles_at
from fabrik_addon.gait.legs import Leg, neighbours
from fabrik_addon.gait.plan import WalkPlan, body_pose_at, feet_at
from fabrik_addon.maths import (
    IDENTITY,
    Q4,
    V3,
    Z_AXIS,
    angle_between,
    conjugated,
    distance,
    dot,
    mean,
    minus,
    multiplied,
    placed,
    plus,
    scaled,
    turn_angle,
    turned,
    unit_or,
)

from dev.walkers import at_foot

ROLLED = 1e-6  # radians of pitch from which on a foot stands on heel or ball alone
OVERSTRETCHED = 1e-6  # of a leg's reach
SAMPLES = 20  # of a cycle that is compared


@dataclass(frozen=True)
class Moment:
    """A walk at a frame."""

    frame: float  # its number
    time: float  # seconds from the first frame
    feet: Sequence[FootPose]  # by leg
    hips: Sequence[V3]  # by leg where its first joint is
    turn: Q4  # how the body is turned


@dataclass(frozen=True)
class Shown:
    """A walk as it is seen."""

    legs: Sequence[Leg]  # the walker's
    moments: Sequence[Moment]  # frame by frame
    swings: Sequence[Sequence[tuple[float, float]]]  # by leg the times at which it lifts and lands, seconds
    footholds: Sequence[Sequence[V3]]  # by leg where it lands, in the same order


def shown(plan: WalkPlan, every: float = 1.0) -> Shown:
    """A planned walk as it is seen.

    Args:
        plan: The walk.
        every: Frames between looks.
    """
    moments = []
    for index in range(int((plan.last - plan.first) / every) + 1):
        frame = plan.first + index * every
        place, turn = body_pose_at(plan, frame)
        hips = [placed(place, turn, leg.hip) for leg in plan.legs]
        moments.append(Moment(frame, plan.time_of(frame), feet_at(plan, frame), hips, turn))
    footholds = [[step.end.in_world(step.land, plan.surface_pose)[0] for step in steps] for steps in plan.steps]
    return Shown(plan.legs, moments, swings_of(plan), footholds)


@dataclass
class Judged:
    """Figures of a walk."""

    frames: int = 0
    slip: float = 0.0  # greatest way of a standing contact point in a frame
    drift: float = 0.0  # and in a stance
    inside: float = 0.0  # deepest contact point in the ground, swings included
    hover: float = 0.0  # highest contact point of a standing foot above it
    together: int = 0  # moments at which neighbours are up
    unsupported: int = 0  # frames at which the centre is outside the support
    stretched: int = 0  # standing feet out of reach, by frame
    stances: int = 0  # standing feet, by frame
    turned: float = 0.0  # greatest turn of a leg, as seen from its hip, in a frame, degrees
    foot_turned: float = 0.0  # the same for the foot
    hanging: int = 0
    where: dict[str, str] = field(default_factory=dict)  # by figure the leg and the frame at which it is worst

    def worst(self, name: str, value: float, where: str) -> None:
        """Note a figure where it is worse than before."""
        if value > getattr(self, name):
            setattr(self, name, value)
            self.where[name] = where

    @property
    def supported(self) -> float:
        return 1.0 - self.unsupported / max(self.frames, 1)

    @property
    def reached(self) -> float:
        return 1.0 - self.stretched / max(self.stances, 1)


def judge(plan: WalkPlan, terrain: Terrain, every: float = 1.0) -> Judged:
    """Look at all frames of a plan.

    Args:
        plan: The walk.
        terrain: Its ground; heights are asked along what is up for the body.
        every: Frames between looks.
    """
    return judge_shown(shown(plan, every), terrain)


def judge_shown(walk: Shown, terrain: Terrain) -> Judged:
    """Look at all frames of a walk; see `judge`."""
    judged = Judged()
    stood: list[dict[str, tuple[V3, V3]]] = [{} for _ in walk.legs]
    before: Moment | None = None
    for moment in walk.moments:
        for index, (leg, foot) in enumerate(zip(walk.legs, moment.feet, strict=True)):
            where = f"{leg.name} in frame {moment.frame:g}"
            _judge_ground(judged, leg, foot, terrain, (moment.time, where))
            judged.hanging += foot.is_hanging
            if foot.is_planted:
                judged.stances += 1
                judged.stretched += distance(moment.hips[index], foot.ankle) > leg.reach * (1.0 + OVERSTRETCHED)
            stood[index] = _judge_slip(judged, leg, foot, (stood[index], where))
            if before is not None:
                _judge_turns(judged, index, leg, (before, moment))
        before = moment
        judged.frames += 1
        judged.unsupported += not is_supported(moment, on_walls(terrain))
    judged.together = neighbours_up(walk.legs, walk.swings)
    return judged


def standing_points(leg: Leg, foot: FootPose) -> dict[str, V3]:
    """The contact points on the ground."""
    if leg.foot_length <= 0.0:
        return {"tip": at_foot(foot, leg.heel)}
    points = {}
    if foot.pitch <= ROLLED:
        points["heel"] = at_foot(foot, leg.heel)
    if foot.pitch >= -ROLLED:
        points["ball"] = at_foot(foot, leg.ball)
    return points


def _judge_turns(judged: Judged, index: int, leg: Leg, moments: tuple[Moment, Moment]) -> None:
    """How far a leg has turned in its body between two frames, and a foot in the world."""
    legs = [minus(moment.feet[index].ankle, moment.hips[index]) for moment in moments]
    backs = [conjugated(moment.turn) for moment in moments]
    ways = [unit_or(turned(back, way), Z_AXIS) for back, way in zip(backs, legs, strict=True)]
    judged.worst("turned", degrees(angle_between(*ways)), f"{leg.name} in frame {moments[1].frame:g}")
    before, now = (moment.feet[index].rotation for moment in moments)
    judged.foot_turned = max(judged.foot_turned, degrees(turn_angle(multiplied(now, conjugated(before)))))


def _judge_slip(
    judged: Judged, leg: Leg, foot: FootPose, seen: tuple[dict[str, tuple[V3, V3]], str]
) -> dict[str, tuple[V3, V3]]:
    """A contact point that stands at two frames in a row is where it was; returns where it came down, and is now."""
    if not foot.is_planted:
        return {}
    known, where = seen
    now: dict[str, tuple[V3, V3]] = {}
    for name, point in standing_points(leg, foot).items():
        first, last = known.get(name, (point, point))
        judged.worst("slip", distance(point, last) / leg.reach, where)
        judged.worst("drift", distance(point, first) / leg.reach, where)
        now[name] = (first, point)
    return now


def _judge_ground(judged: Judged, leg: Leg, foot: FootPose, terrain: Terrain, at: tuple[float, str]) -> None:
    time, where = at
    if foot.is_hanging:
        return
    up = turned(foot.rotation, Z_AXIS) if on_walls(terrain) else Z_AXIS
    for point in contacts(leg):
        contact = at_foot(foot, point)
        top = plus(contact, scaled(up, 0.5 * leg.height))
        hit = terrain.ray(top, scaled(up, -1.0), 2.0 * leg.reach, time)
        if hit is not None:
            judged.worst("inside", dot(minus(hit.place, contact), up) / leg.reach, where)
    if foot.is_planted:
        for contact in standing_points(leg, foot).values():
            hit = terrain.nearest(contact, leg.reach, time)
            judged.worst("hover", distance(contact, hit.place) / leg.reach if hit is not None else 1.0, where)


def on_walls(terrain: Terrain) -> bool:
    """Whether the ground goes up walls."""
    return terrain.digest.startswith("room")


def neighbours_up(legs: Sequence[Leg], swings: Sequence[Sequence[tuple[float, float]]]) -> int:
    """How often neighbours are in the air at the same time.

    Args:
        legs: The walker's.
        swings: By leg when it lifts and lands.
    """
    count = 0
    for leg, beside in enumerate(neighbours(legs)):
        for other in beside:
            if other < leg:
                continue
            for lift, land in swings[leg]:
                count += sum(1 for up, down in swings[other] if up < land - 1e-9 and lift < down - 1e-9)
    return count


def swings_of(plan: WalkPlan) -> list[list[tuple[float, float]]]:
    """By leg when it lifts and lands, seconds."""
    return [[(step.lift, step.land) for step in steps] for steps in plan.steps]


def is_supported(moment: Moment, on_walls: bool) -> bool:
    """Whether the middle of the hips is above the standing feet: seen from above, on walls along its own up."""
    centre = mean(moment.hips)
    back = conjugated(moment.turn) if on_walls else IDENTITY
    points = [turned(back, minus(foot.sole, centre)) for foot in moment.feet if foot.is_planted]
    return inside([(x, y) for x, y, _ in points])


def inside(points: list[tuple[float, float]]) -> bool:
    """Whether the origin is inside the convex hull of points: no half plane through it holds none of them."""
    if len(points) < 3:
        return False
    angles = sorted(atan2(y, x) for x, y in points)
    gaps = [b - a for a, b in pairwise(angles)] + [angles[0] + 2.0 * pi - angles[-1]]
    return max(gaps) <= pi + 1e-9


def farthest_foothold(one: Shown, other: Shown) -> float:
    """The farthest that a foothold of one walk is from the nearest one that the same leg has in the other."""
    worst = 0.0
    for leg, mine, others in zip(one.legs, one.footholds, other.footholds, strict=True):
        for here, there in ((mine, others), (others, mine)):
            for place in here:
                near = min((distance(place, found) for found in there), default=leg.reach)
                worst = max(worst, near / leg.reach)
    return worst


def stretched(plan: WalkPlan, frame: float, leg: int) -> float:
    """How far a leg's ankle is from its hip."""
    limb = plan.legs[leg]
    hip = placed(*body_pose_at(plan, frame), limb.hip)
    return distance(hip, feet_at(plan, frame)[leg].ankle) / limb.reach


def from_the_side(plan: WalkPlan, frame: float) -> tuple[float, float, float]:
    """Thigh, forward, knee, bent, and foot, its heel up, of the first leg, of two equal bones, along -Y; degrees."""
    foot = feet_at(plan, frame)[0]
    _, back, up = minus(foot.ankle, placed(*body_pose_at(plan, frame), plan.legs[0].hip))
    knee = 2.0 * acos(min(stretched(plan, frame, 0), 1.0))
    return degrees(atan2(-back, -up) + 0.5 * knee), degrees(knee), degrees(foot.pitch)


def beside_norms(plan: WalkPlan, pace: float, span: tuple[float, float]) -> list[tuple[float, float]]:
    """How thigh, knee, foot and ankle of the first leg are beside those of the people who were measured.

    Args:
        plan: A walk along -Y, whose energy is 0.
        pace: Its v*, see `angles_at`.
        span: Seconds, from a landing of the foot to the next.

    Returns:
        Of each the root of the mean square of what they differ but for their means, degrees, and their correlation.
    """
    phases = np.arange(SAMPLES) / SAMPLES
    times = span[0] + phases * (span[1] - span[0])
    found = np.array([from_the_side(plan, plan.first + time * plan.fps) for time in times.tolist()]).T
    wanted = np.degrees(angles_at(pace, phases))
    pairs = zip(*((*rows, rows[1] - rows[0] - rows[2]) for rows in (found, wanted)), strict=True)
    return [(float(np.std(a - b)), float(np.corrcoef(a, b)[0, 1])) for a, b in pairs]
