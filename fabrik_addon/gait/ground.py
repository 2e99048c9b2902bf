# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk asks of the ground, the plain where there is no terrain, and feet laid flat on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import atan2, hypot, radians
from typing import Protocol

from ..maths import (
    FRONT,
    IDENTITY,
    ORIGIN,
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
    placed,
    scaled,
    slerp,
    turn_about,
    turned,
    unit_or,
)
from .legs import Leg
from .settings import Gravity, Settings

STATIC = -1  # the surface that does not move
BODY = -2  # the body, on which a foot hangs where there is no ground


def is_body(surface: int) -> bool:
    """Whether a surface is a segment of the body."""
    return surface <= BODY


# Place and rotation of a surface that moves at a time; also of the body, which is one for a foot that hangs
SurfacePose = Callable[[int, float], tuple[V3, Q4]]


def surfaces_with(terrain: Terrain, body: Callable[[float], tuple[V3, Q4]]) -> SurfacePose:
    """Where the surfaces of a terrain stand, and a body, which is told by the time."""
    return lambda surface, time: body(time) if is_body(surface) else terrain.surface(surface, time)


@dataclass(frozen=True)
class Hit:
    """A point of the ground.

    Attributes:
        place: In world space.
        normal: Outwards, of unit length.
        surface: STATIC, or the number of a surface that moves.
    """

    place: V3
    normal: V3
    surface: int = STATIC


class Terrain(Protocol):
    """The ground. Times are seconds from the path's first frame; only surfaces that move look at them."""

    @property
    def digest(self) -> str:
        """A text that changes with the ground, and only with it."""
        ...

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        """The first hit of a ray along a unit direction, or None."""
        ...

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        """The nearest point of the ground, or None where none is within reach."""
        ...

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        """Place and rotation of a surface that moves."""
        ...


@dataclass(frozen=True)
class Plain:
    """The ground where there is no terrain: level, without end.

    Attributes:
        height: Z, in world space.
    """

    height: float = 0.0

    @property
    def digest(self) -> str:
        return f"plain {self.height!r}"

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        above = origin[2] - self.height
        if above * direction[2] >= 0.0 and above != 0.0:
            return None
        distance = -above / direction[2] if direction[2] != 0.0 else 0.0
        if distance > reach:
            return None
        place = along(origin, direction, distance)
        return Hit((place[0], place[1], self.height), Z_AXIS)

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        if abs(place[2] - self.height) > reach:
            return None
        return Hit((place[0], place[1], self.height), Z_AXIS)

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        return ORIGIN, IDENTITY


STEEPEST_FOOT = radians(35.0)  # feet take on no more of a slope
STEEPEST_ON_WALLS = radians(80.0)
ROUNDS = 4  # of laying a foot flat
AROUND = 0.05  # of a leg's reach: how far round a point foot there must be ground
DROP, CLIFF = 0.08, 0.35  # of a leg's reach: how much lower or higher that ground may be; and half a foot away
BRIDGING = radians(15.0)  # by how much more than the ground under it a foot tilts that lies on an edge
TOES = 0.35  # of the way from heel to ball: how long toes are
SOLE_DROP = 0.35  # of a foot's length: how far heel and ball may be from the plane that was met
DESCENT = 1.5  # of a leg's reach: how far below the expected height ground is looked for
ON_WALLS_ABOVE, ON_WALLS_BELOW = 0.5, 0.5  # the same on walls, of a hip's height and of a leg's reach
UNDER_BODY = 0.3  # of a leg's reach: how far below the expected height the inward search on walls runs
IN_THE_WAY = 0.9  # share of the way from hip to foothold: what is hit before it is a wall


class Ground:
    """The terrain, and what is down on it.

    Args:
        terrain: Kept as it is.
        gravity: A name of `Gravity`, by which walls and ceilings are ground (`is_surface`) or not.
    """

    def __init__(self, terrain: Terrain, gravity: str) -> None:
        self.terrain, self.is_surface = terrain, gravity == Gravity.SURFACE

    def under(self, point: V3, up: V3, spans: tuple[float, float], time: float) -> Hit | None:
        """The ground above or below a point.

        Args:
            point: In world space.
            up: What is up.
            spans: How far above the point the search begins, and how far below it ends.
            time: Seconds.
        """
        origin = along(point, up, spans[0])
        hit = self.terrain.ray(origin, (-up[0], -up[1], -up[2]), spans[0] + spans[1], time)
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
        spans = (leg.climb, DESCENT * leg.reach)
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

    def is_edge(self, leg: Leg, flat: tuple[V3, Q4], axes: tuple[V3, V3], time: float) -> bool:
        """Whether a foot lies on an edge, the ground rises before its toes or ends half a foot away, or round its tip.

        Args:
            leg: The foot's.
            flat: Place of the sole, and rotation.
            axes: The normal of the ground, and what is up.
            time: Seconds.
        """
        normal, up = axes
        if leg.foot_length > 0.0:
            sole = turned(flat[1], Z_AXIS)
            if angle_between(sole, up) > angle_between(normal, up) + BRIDGING:
                return True
            way, far = minus(leg.ball, leg.heel), CLIFF * leg.reach
            toes, before, behind = (
                placed(flat[0], flat[1], along(end, way, share))
                for end, share in ((leg.ball, TOES), (leg.ball, 0.5), (leg.heel, -0.5))
            )
            hit = self.under(toes, sole, (far, far), time)
            if hit is not None and dot(minus(hit.place, toes), sole) > DROP * leg.reach:
                return True
            return any(self.under(point, sole, (far, far), time) is None for point in (before, behind))
        first = unit_or(cross(normal, X_AXIS), cross(normal, FRONT))
        size, span = AROUND * leg.reach, DROP * leg.reach
        around = [along(flat[0], axis, way) for axis in (first, cross(normal, first)) for way in (size, -size)]
        return any(self.under(point, normal, (span, span), time) is None for point in around)


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
    return multiplied(slerp(IDENTITY, between(up, normal), share), upright)


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
    axis = leg.sideways
    gaps = (0.0, 0.0)
    for _ in range(ROUNDS):
        found = _gaps(ground, leg, (place, rotation), up, (2.0 * span, time))
        if found is None or max(abs(gap) for gap in found) > 2.0 * span:
            return None
        gaps = found
        pitch = atan2(gaps[1] - gaps[0], leg.foot_length)
        turn = multiplied(rotation, turn_about(axis, pitch))
        if angle_between(turned(turn, Z_AXIS), up) > STEEPEST_FOOT and not ground.is_surface:
            pitch, turn = 0.0, rotation
        heel = along(placed(place, rotation, leg.heel), up, gaps[0] if pitch else max(gaps))
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
        contact = placed(flat[0], flat[1], point)
        hit = ground.under(contact, up, (search[0], search[0]), search[1])
        if hit is None:
            return None
        heights.append(dot(minus(hit.place, contact), up))
    return heights[0], heights[1]


Point = tuple[float, float]
Circle = tuple[float, float, float]  # centre and radius
SLACK = 1e-9  # share of the radius


def smallest_circle(points: Sequence[Point], *on: Point) -> Circle:
    """Centre x, centre y and radius of the smallest circle that holds all points.

    Args:
        points: At least one.
        on: Up to two others, through which it goes.
    """
    a, *_, b = (*on, *on) or (points[0], points[0])
    circle = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * hypot(a[0] - b[0], a[1] - b[1]))
    for i, point in enumerate(points):
        if not _holds(circle, point):
            circle = _through_three(a, b, point) if len(on) > 1 else smallest_circle(points[:i], *on, point)
    return circle


def _through_three(a: Point, b: Point, c: Point) -> Circle:
    bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    under = 2.0 * (bx * cy - by * cx)
    if under == 0.0:  # in a line, which only rounding brings here
        far = max((a, b, c), key=lambda point: hypot(point[0] - a[0], point[1] - a[1]))
        return (0.5 * (a[0] + far[0]), 0.5 * (a[1] + far[1]), 0.5 * hypot(a[0] - far[0], a[1] - far[1]))
    bb, cc = bx * bx + by * by, cx * cx + cy * cy
    x, y = (cy * bb - by * cc) / under, (bx * cc - cx * bb) / under
    return (a[0] + x, a[1] + y, hypot(x, y))


def _holds(circle: Circle, point: Point) -> bool:
    return hypot(point[0] - circle[0], point[1] - circle[1]) <= circle[2] * (1.0 + SLACK)
