# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planned walk is judged by: slip, ground, neighbours, support, reach. Lengths are shares of leg length."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import acos, atan2, degrees, pi

from fabrik_addon.gait import FootPose, Plan, Terrain, body_pose_at, feet_at
from fabrik_addon.gait.legs import neighbours
from fabrik_addon.gait.swing import contacts
from fabrik_addon.gait.vectors import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    Z_AXIS,
    angle_between,
    apart,
    dot,
    inverse,
    minus,
    plus,
    scaled,
    turned,
    unit,
)

ROLLED = 1e-6  # radians of pitch from which on a foot stands on heel or ball alone


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

    @property
    def supported(self) -> float:
        return 1.0 - self.unsupported / max(self.frames, 1)

    @property
    def reached(self) -> float:
        return 1.0 - self.stretched / max(self.stances, 1)


def standing_points(plan: Plan, leg: int, foot: FootPose) -> dict[str, V3]:
    """The contact points on the ground."""
    limb = plan.legs[leg]
    if limb.foot_length <= 0.0:
        return {"tip": foot.contact(limb.heel)}
    points = {}
    if foot.pitch <= ROLLED:
        points["heel"] = foot.contact(limb.heel)
    if foot.pitch >= -ROLLED:
        points["ball"] = foot.contact(limb.ball)
    return points


def judge(plan: Plan, terrain: Terrain, every: float = 1.0) -> Judged:
    """Look at all frames of a plan.

    Args:
        plan: The walk.
        terrain: Its ground; heights are asked along what is up for the body.
        every: Frames between looks.
    """
    judged = Judged()
    anchors: list[dict[str, V3]] = [{} for _ in plan.legs]
    before: list[FootPose] | None = None
    ways: list[V3] = []
    count = int((plan.last - plan.first) / every)
    for index in range(count + 1):
        frame = plan.first + index * every
        feet = list(feet_at(plan, frame))
        bodies = [body_pose_at(plan, frame, segment) for segment in range(len(plan.body))]
        ways_before, ways = ways, []
        for leg, foot in enumerate(feet):
            limb = plan.legs[leg]
            judged.hanging += foot.is_hanging
            body = bodies[limb.segment]
            hip = plus(body[0], turned(body[1], limb.hip))
            back = inverse(body[1])
            ways.append(unit(turned(back, minus(foot.ankle, hip)), Z_AXIS))
            _judge_ground(judged, plan, terrain, frame, leg, foot)
            if ways_before:
                judged.turned = max(judged.turned, degrees(angle_between(ways[leg], ways_before[leg])))
            if before is not None:
                turn = abs(sum(a * b for a, b in zip(foot.rotation, before[leg].rotation, strict=True)))
                judged.foot_turned = max(judged.foot_turned, 2.0 * degrees(_acos(turn)))
            if foot.is_planted:
                judged.stances += 1
                judged.stretched += apart(hip, foot.ankle) > limb.reach * (1.0 + 1e-6)
            _judge_slip(judged, plan, leg, foot, anchors)
        before = feet
        judged.frames += 1
        judged.unsupported += not is_supported(plan, bodies, feet, on_walls(terrain))
    judged.together = neighbours_up(plan)
    return judged


def _acos(value: float) -> float:
    return acos(min(value, 1.0))


def _judge_slip(judged: Judged, plan: Plan, leg: int, foot: FootPose, anchors: list[dict[str, V3]]) -> None:
    """A contact point that stands at two frames in a row, in the same stance, is where it was."""
    reach = plan.legs[leg].reach
    if not foot.is_planted:
        anchors[leg] = {}
        return
    now = standing_points(plan, leg, foot)
    known = anchors[leg]
    for name, point in now.items():
        if name in known:
            judged.slip = max(judged.slip, apart(point, known[name]) / reach)
            judged.drift = max(judged.drift, apart(point, known[name]) / reach)
    anchors[leg] = {name: known.get(name, point) for name, point in now.items()}


def _judge_ground(judged: Judged, plan: Plan, terrain: Terrain, frame: float, leg: int, foot: FootPose) -> None:
    limb, time = plan.legs[leg], plan.time_of(frame)
    if foot.is_hanging:
        return
    up = turned(foot.rotation, Z_AXIS) if on_walls(terrain) else Z_AXIS
    for point in contacts(limb):
        contact = foot.contact(point)
        top = plus(contact, scaled(up, 0.5 * limb.height))
        hit = terrain.ray(top, scaled(up, -1.0), 2.0 * limb.reach, time)
        if hit is None:
            continue
        above = dot(minus(contact, hit.place), up) / limb.reach
        judged.inside = max(judged.inside, -above)
    if foot.is_planted:
        for contact in standing_points(plan, leg, foot).values():
            hit = terrain.nearest(contact, limb.reach, time)
            gap = apart(contact, hit.place) / limb.reach if hit is not None else 1.0
            judged.hover = max(judged.hover, gap)


def on_walls(terrain: Terrain) -> bool:
    """Whether the ground goes up walls."""
    return terrain.digest.startswith("room")


def neighbours_up(plan: Plan) -> int:
    """How often neighbours are in the air at the same time."""
    count = 0
    for leg, beside in enumerate(neighbours(plan.legs)):
        for other in beside:
            if other < leg:
                continue
            for step in plan.steps[leg]:
                count += sum(
                    1 for each in plan.steps[other] if each.lift < step.land - 1e-9 and step.lift < each.land - 1e-9
                )
    return count


def is_supported(plan: Plan, bodies: list[tuple[V3, Q4]], feet: list[FootPose], on_walls: bool) -> bool:
    """Whether the middle of the hips is above the standing feet: seen from above, on walls along its own up."""
    total = ORIGIN
    for leg in plan.legs:
        place, rotation = bodies[leg.segment]
        total = plus(total, plus(place, turned(rotation, leg.hip)))
    centre = scaled(total, 1.0 / len(plan.legs))
    back = inverse(bodies[0][1]) if on_walls else IDENTITY
    points = [turned(back, minus(foot.sole, centre)) for foot in feet if foot.is_planted]
    return inside([(x, y) for x, y, _ in points])


def inside(points: list[tuple[float, float]]) -> bool:
    """Whether the origin is inside the convex hull of points: no half plane through it holds none of them."""
    if len(points) < 3:
        return False
    angles = sorted(atan2(y, x) for x, y in points)
    gaps = [b - a for a, b in pairwise(angles)] + [angles[0] + 2.0 * pi - angles[-1]]
    return max(gaps) <= pi + 1e-9
