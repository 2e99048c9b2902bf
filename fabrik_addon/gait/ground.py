# SPDX-License-Identifier: GPL-3.0-or-later
"""What is under a foot: the terrain asked in the ways that legs need, and feet laid flat on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, radians

from ..maths import (
    FRONT,
    Q4,
    V3,
    X_AXIS,
    Z_AXIS,
    along,
    angle_between,
    between,
    cross,
    distance,
    dot,
    minus,
    multiplied,
    perpendicular,
    plus,
    scaled,
    share_of_turn,
    turn_about,
    turned,
    unit_or,
)
from .feet import sideways
from .legs import Leg
from .settings import Gravity, Settings
from .terrain import Hit, Terrain

STEEPEST_FOOT = radians(35.0)  # feet take on no more of a slope
STEEPEST_ON_WALLS = radians(80.0)
ROUNDS = 4  # of laying a foot flat
AROUND = 0.05  # of a leg's reach: how far round a point foot there must be ground
DROP = 0.08  # of a leg's reach: how much lower that ground may be
SOLE_DROP = 0.35  # of a foot's length: how far heel and ball may be from the plane that was met
CLIMB = 0.6  # of a leg's reach: how far above the expected height ground is looked for at least
DESCENT = 1.5  # of a leg's reach: how far below the expected height ground is looked for
ON_WALLS_ABOVE, ON_WALLS_BELOW = 0.5, 0.5  # the same on walls, of a hip's height and of a leg's reach
UNDER_BODY = 0.3  # of a leg's reach: how far below the expected height the inward search on walls runs
IN_THE_WAY = 0.9  # share of the way from hip to foothold: what is hit before it is a wall


@dataclass(frozen=True)
class Ground:
    """The terrain, and what is down on it.

    Attributes:
        terrain: As passed in.
        is_surface: Whether walls and ceilings are ground.
    """

    terrain: Terrain
    is_surface: bool

    def under(self, point: V3, up: V3, spans: tuple[float, float], time: float) -> Hit | None:
        """The ground above or below a point.

        Args:
            point: In world space.
            up: What is up.
            spans: How far above the point the search begins, and how far below it ends.
            time: Seconds.
        """
        origin = along(point, up, spans[0])
        hit = self.terrain.ray(origin, scaled(up, -1.0), spans[0] + spans[1], time)
        return _facing(hit, up) if hit is not None else None

    def foothold(self, leg: Leg, point: V3, body: tuple[V3, V3], time: float) -> Hit | None:
        """The ground for a foot that is wanted at a point.

        On walls and ceilings the way from the hip comes first, then what is below, then inwards under the body, then
        whatever is nearest.

        Args:
            leg: Its leg.
            point: In world space.
            body: The hip's place, and what is up.
            time: Seconds.
        """
        hip, up = body
        spans = (climb(leg), DESCENT * leg.reach)
        if not self.is_surface:
            return self.under(point, up, spans, time)
        way = minus(point, hip)
        toward = unit_or(way, scaled(up, -1.0))
        hit = self.terrain.ray(hip, toward, IN_THE_WAY * distance(point, hip), time)
        if hit is None:
            below = self.under(point, up, (ON_WALLS_ABOVE * leg.height, ON_WALLS_BELOW * leg.reach), time)
            if below is not None:
                return below
            inwards = unit_or(perpendicular(scaled(way, -1.0), up), X_AXIS)
            hit = self.terrain.ray(along(point, up, -UNDER_BODY * leg.reach), inwards, leg.reach, time)
        if hit is None:
            hit = self.terrain.nearest(point, leg.reach, time)
        return _facing(hit, unit_or(minus(hip, hit.place), up)) if hit is not None else None

    def is_edge(self, leg: Leg, flat: tuple[V3, Q4], normal: V3, time: float) -> bool:
        """Whether the ground ends, drops or rises near a foot: round its tip, or half a foot before and behind it.

        Args:
            leg: The foot's.
            flat: Place of the sole, and rotation.
            normal: Of the ground.
            time: Seconds.
        """
        if leg.foot_length > 0.0:
            normal = turned(flat[1], Z_AXIS)
            way = scaled(minus(leg.ball, leg.heel), 0.5)
            points = [plus(leg.ball, way), minus(leg.heel, way)]
            around = [plus(flat[0], turned(flat[1], point)) for point in points]
        else:
            first = unit_or(cross(normal, X_AXIS), cross(normal, FRONT))
            second = cross(normal, first)
            size = AROUND * leg.reach
            around = [along(flat[0], axis, way) for axis in (first, second) for way in (size, -size)]
        span = DROP * leg.reach
        return any(self.under(point, normal, (span, span), time) is None for point in around)


def climb(leg: Leg) -> float:
    """How far above its expected height the ground for a leg is looked for."""
    return max(leg.height, CLIMB * leg.reach)


def _facing(hit: Hit, up: V3) -> Hit:
    """The hit with its normal towards what is up, whichever side of a plane was hit."""
    return hit if dot(hit.normal, up) >= 0.0 else Hit(hit.place, scaled(hit.normal, -1.0), hit.surface)


def foot_rotation(upright: Q4, up: V3, normal: V3, settings: Settings) -> Q4:
    """How a foot lies on a slope.

    Args:
        upright: The body's heading.
        up: What is up.
        normal: Of the ground.
        settings: Of the walk.
    """
    angle = angle_between(up, normal)
    most = STEEPEST_ON_WALLS if settings.gravity == Gravity.SURFACE else STEEPEST_FOOT
    share = settings.foot_tilt * (min(1.0, most / angle) if angle > 0.0 else 1.0)
    return multiplied(share_of_turn(between(up, normal), share), upright)


def laid(ground: Ground, leg: Leg, flat: tuple[V3, Q4], up: V3, time: float) -> tuple[V3, Q4] | None:
    """A foot with heel and ball on the ground; None where one of them has none, or it is too rough.

    Args:
        ground: To stand on.
        leg: The foot's.
        flat: Place of the sole and rotation, from the ground under the sole's middle.
        up: What is up.
        time: Seconds.
    """
    place, rotation = flat
    if leg.foot_length <= 0.0:
        return flat
    span = SOLE_DROP * leg.foot_length
    axis = sideways(leg)
    gaps = (0.0, 0.0)
    for _ in range(ROUNDS):
        found = _gaps(ground, leg, (place, rotation), up, (2.0 * span, time))
        if found is None or max(abs(gap) for gap in found) > 2.0 * span:
            return None
        gaps = found
        pitch = atan2(gaps[1] - gaps[0], leg.foot_length)
        turn = multiplied(rotation, turn_about(axis, pitch))
        if angle_between(turned(turn, (0.0, 0.0, 1.0)), up) > STEEPEST_FOOT and not ground.is_surface:
            pitch, turn = 0.0, rotation
        heel = along(plus(place, turned(rotation, leg.heel)), up, gaps[0] if pitch else max(gaps))
        place, rotation = minus(heel, turned(turn, leg.heel)), turn
    last = _gaps(ground, leg, (place, rotation), up, (2.0 * span, time))
    if last is None:
        return None
    return along(place, up, max(0.0, *last)), rotation


def _gaps(
    ground: Ground, leg: Leg, flat: tuple[V3, Q4], up: V3, search: tuple[float, float]
) -> tuple[float, float] | None:
    """How much higher the ground is than heel and ball."""
    heights = []
    for point in (leg.heel, leg.ball):
        contact = plus(flat[0], turned(flat[1], point))
        hit = ground.under(contact, up, (search[0], search[0]), search[1])
        if hit is None:
            return None
        heights.append(dot(minus(hit.place, contact), up))
    return heights[0], heights[1]
