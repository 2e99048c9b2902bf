# SPDX-License-Identifier: GPL-3.0-or-later
"""Creatures as tables of legs, the ground they walk on, and their ways. They look along -Y, as Blender's figures do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cos, floor, pi, radians, sin, sqrt, tan

from fabrik_addon.actions.frames import to_the_end
from fabrik_addon.gait.clock import size_of
from fabrik_addon.gait.feet import FootPose
from fabrik_addon.gait.ground import Hit, Terrain
from fabrik_addon.gait.legs import Leg, arranged
from fabrik_addon.gait.path import BodyPath
from fabrik_addon.gait.plan import WalkPlan
from fabrik_addon.gait.planning import Walk, planning
from fabrik_addon.maths import IDENTITY, ORIGIN, Q4, V3, Z_AXIS, along, dot, minus, placed, turn_about, unit_or

X_AXIS: V3 = (1.0, 0.0, 0.0)


def _pairs(rows: list[tuple[V3, V3]], reach: float) -> tuple[Leg, ...]:
    """Legs on both sides, from hip and home of the left ones (+X)."""
    legs = []
    for row, (hip, home) in enumerate(rows):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            place, top = (sign * home[0], home[1], home[2]), (sign * hip[0], hip[1], hip[2])
            legs.append(Leg(f"leg{row}.{side}", place, top, reach, 0.1 * reach))
    return arranged(legs)


_STRAIGHT = _pairs([((0.09, 0.0, 0.0), (0.09, 0.0, -0.94))], 0.862)
HUMAN = tuple(replace(leg, ankle=(0.0, 0.0, 0.08), heel=(0.0, 0.06, 0.0), ball=(0.0, -0.13, 0.0)) for leg in _STRAIGHT)
WOLF = _pairs(
    [((0.09, -0.36, 0.0), (0.09, -0.36, -0.66)), ((0.09, 0.36, 0.0), (0.09, 0.36, -0.66))],
    0.74,
)
HEXAPOD = _pairs([((0.15, y, 0.0), (0.62, 1.5 * y, -0.4)) for y in (-0.3, 0.0, 0.3)], 0.95)
SPIDER = _pairs([((0.15, 0.3 * y, 0.0), (0.85, y, -0.4)) for y in (-0.8, -0.28, 0.28, 0.8)], 1.4)
SPACING = 0.14  # between the rows of the centipede


def centipede(rows: int) -> tuple[Leg, ...]:
    """So many pairs of legs on a body that does not bend."""
    return _pairs([((0.05, SPACING * row, 0.0), (0.2, SPACING * row, -0.1)) for row in range(rows)], 0.26)


CENTIPEDE = centipede(15)
CREATURES: dict[str, tuple[Leg, ...]] = {
    "human": HUMAN,
    "wolf": WOLF,
    "hexapod": HEXAPOD,
    "spider": SPIDER,
}
GROUNDS = ("flat", "slope", "stairs", "noise", "gap")
SECONDS = 6.0  # of a walk over one of them
WELL = 4.0  # legs' reaches ahead of where the body began that the hindmost legs get
RAMP = 0.5  # seconds to get going and to stop
ROOM = (4.0, 4.0)  # in which the spider goes up a wall: length and height
# v²/gh at which each goes about: creatures on few feet at a time go slower than they could
FROUDE = {"human": 0.15, "wolf": 0.04, "hexapod": 0.1, "spider": 0.1, "centipede": 0.02}
# Of the usual v²/gh: nothing runs up slopes of 25 degrees, or stairs of .3 leg lengths
SLOW = {"slope": 0.4, "stairs": 0.2, "gap": 0.5}
ON_WALLS = 0.04  # v²/gh


def height_of(legs: tuple[Leg, ...]) -> float:
    """How high the body's origin is above the ground at rest."""
    return -legs[0].home[2]


def pace_of(legs: tuple[Leg, ...], froude: float = 0.15) -> float:
    """A speed, by v²/gh of the hips' height."""
    return sqrt(froude * 9.81 * size_of(legs[0]))


def path_of(
    place: Callable[[float], V3], seconds: float, fps: float = 24.0, turn: Callable[[float], Q4] | None = None
) -> BodyPath:
    """A way as a function of time, sampled at frames from 1 on."""
    times = [frame / fps for frame in range(round(seconds * fps) + 1)]
    rotations = tuple(turn(time) if turn else IDENTITY for time in times)
    return BodyPath(1, fps, tuple(place(time) for time in times), rotations)


def ahead(legs: tuple[Leg, ...], seconds: float, fps: float = 24.0, froude: float = 0.15) -> BodyPath:
    """Straight ahead from rest to rest, with half a second to get going and to stop."""
    speed, height = pace_of(legs, froude), height_of(legs)
    return path_of(lambda time: (0.0, -speed * eased_time(time, seconds), height), seconds, fps)


def eased_time(time: float, seconds: float) -> float:
    """Time that starts and stops within ramps."""
    rest = seconds - RAMP
    if time < RAMP:
        return time * time / (2.0 * RAMP)
    if time > rest:
        return rest - RAMP / 2.0 + RAMP / 2.0 - (seconds - time) ** 2 / (2.0 * RAMP)
    return time - RAMP / 2.0


@dataclass(frozen=True)
class Heights:
    """Ground as a height over each point; rays along Z are exact, others are followed in steps."""

    height: Callable[[float, float], float | None]  # Z by x and y; None where there is a hole
    digest: str = "heights"  # see `Terrain`

    def normal(self, x: float, y: float) -> V3:
        d = 1e-5
        low_x, high_x, low_y, high_y = (self.height(*at) for at in ((x - d, y), (x + d, y), (x, y - d), (x, y + d)))
        if low_x is None or high_x is None or low_y is None or high_y is None:
            return Z_AXIS
        slope = ((low_x - high_x) / (2.0 * d), (low_y - high_y) / (2.0 * d))
        if abs(slope[0]) > 100.0 or abs(slope[1]) > 100.0:  # across a step
            return Z_AXIS
        return unit_or((slope[0], slope[1], 1.0), Z_AXIS)

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        if abs(direction[2]) > 1.0 - 1e-12:
            z = self.height(origin[0], origin[1])
            if z is None or not 0.0 <= (z - origin[2]) * direction[2] <= reach:
                return None
            return Hit((origin[0], origin[1], z), self.normal(origin[0], origin[1]))
        return self._followed(origin, direction, reach)

    def _followed(self, origin: V3, direction: V3, reach: float) -> Hit | None:
        def above(distance: float) -> float | None:
            x, y, z = along(origin, direction, distance)
            ground = self.height(x, y)
            return None if ground is None else z - ground

        steps = 64
        for step in range(steps):
            low, high = reach * step / steps, reach * (step + 1) / steps
            before, after = above(low), above(high)
            if before is None or after is None or before * after > 0.0:
                continue
            for _ in range(40):
                middle = 0.5 * (low + high)
                value = above(middle)
                low, high = (middle, high) if value is not None and value * before > 0.0 else (low, middle)
            x, y, z = along(origin, direction, high)
            return Hit((x, y, z), self.normal(x, y))
        return None

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        return self.ray((place[0], place[1], place[2] + reach), (0.0, 0.0, -1.0), 2.0 * reach, time)

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        return ORIGIN, IDENTITY


def flat() -> Heights:
    return Heights(lambda x, y: 0.0, "flat")


def slope(degrees: float = 25.0, start: float = 1.0) -> Heights:
    """Rising ahead, after a rounded foot of the hill that is as long as the way to its middle."""
    rise, half = tan(radians(degrees)), 0.5 * start

    def height(x: float, y: float) -> float:
        way = -y - start
        return rise * way if way > half else rise * (way + half) ** 2 / (4.0 * half) if way > -half else 0.0

    return Heights(height, f"slope {degrees} {start}")


def stairs(rise: float, tread: float, start: float = 1.0) -> Heights:
    """Eight steps up, a landing, and eight down again."""

    def height(x: float, y: float) -> float:
        step = floor((-y - start) / tread) + 1
        return rise * max(0, min(step, 8, 20 - step))

    return Heights(height, f"stairs {rise} {tread} {start}")


def noise(size: float, wave: float) -> Heights:
    """Rubble: waves of several lengths across each other, from -size/2 to size/2."""

    def height(x: float, y: float) -> float:
        a = sin(2.0 * pi * x / wave + 1.3) * cos(2.0 * pi * y / wave)
        b = sin(2.0 * pi * (0.8 * x + 0.6 * y) / (0.63 * wave))
        c = cos(2.0 * pi * (0.6 * x - 0.8 * y) / (0.41 * wave) + 0.7)
        return 0.5 * size * (0.55 * a + 0.3 * b + 0.15 * c)

    return Heights(height, f"noise {size} {wave}")


def gap(width: float, start: float = 1.5) -> Heights:
    """Level ground with a chasm across the way."""
    return Heights(lambda x, y: None if start < -y < start + width else 0.0, f"gap {width} {start}")


@dataclass(frozen=True)
class Room:
    """The inside of a room: floor at z = 0, a wall ahead at y = -length, a ceiling at z = height."""

    length: float
    height: float

    @property
    def digest(self) -> str:
        return f"room {self.length} {self.height}"

    @property
    def planes(self) -> tuple[tuple[V3, V3], ...]:
        wall, ceiling = (0.0, -self.length, 0.0), (0.0, 0.0, self.height)
        return (ORIGIN, Z_AXIS), (wall, (0.0, 1.0, 0.0)), (ceiling, (0.0, 0.0, -1.0))

    def ray(self, origin: V3, direction: V3, reach: float, time: float) -> Hit | None:
        hits = []
        for place, normal in self.planes:
            pace, above = -dot(direction, normal), dot(minus(origin, place), normal)
            if abs(pace) > 1e-12 and 0.0 <= above / pace <= reach:
                hit = along(origin, direction, above / pace)
                if all(dot(minus(hit, other), inwards) >= -1e-9 for other, inwards in self.planes):
                    hits.append((above / pace, Hit(hit, normal)))
        return min(hits, key=lambda each: each[0])[1] if hits else None

    def nearest(self, place: V3, reach: float, time: float) -> Hit | None:
        found = [(dot(minus(place, origin), normal), normal) for origin, normal in self.planes]
        height, normal = min(found, key=lambda each: abs(each[0]))
        return Hit(along(place, normal, -height), normal) if abs(height) <= reach else None

    def surface(self, number: int, time: float) -> tuple[V3, Q4]:
        return ORIGIN, IDENTITY

    def path(self, speed: float, above: float, fps: float = 24.0) -> BodyPath:
        """Along floor, wall and ceiling at a height above them, round the corners in quarters of circles."""
        radius = 1.6 * above
        floor_way, wall_way = self.length - above - radius, self.height - 2.0 * (above + radius)
        bend = 0.5 * pi * radius
        ends = [floor_way, floor_way + bend, floor_way + bend + wall_way, floor_way + 2.0 * bend + wall_way]

        def at(way: float) -> tuple[V3, float]:
            y, z = self.length - above, above
            if way < ends[0]:
                return (0.0, -way, z), 0.0
            if way < ends[1]:
                angle = (way - ends[0]) / radius
                return (0.0, -(y - radius + radius * sin(angle)), z + radius * (1.0 - cos(angle))), angle
            if way < ends[2]:
                return (0.0, -y, z + radius + way - ends[1]), 0.5 * pi
            top = self.height - above
            if way < ends[3]:
                angle = (way - ends[2]) / radius
                return (0.0, -(y - radius + radius * cos(angle)), top - radius + radius * sin(angle)), 0.5 * pi + angle
            return (0.0, -(y - radius - (way - ends[3])), top), pi

        seconds = (ends[3] + 0.7 * floor_way) / speed
        # climbing turns the body's nose up: about +X by minus the angle, since it looks along -Y
        return path_of(
            lambda time: at(speed * eased_time(time, seconds))[0],
            seconds,
            fps,
            lambda time: turn_about(X_AXIS, -at(speed * eased_time(time, seconds))[1]),
        )


def ground_of(name: str, kind: str, start: float = 1.0) -> Terrain:
    """The ground of a kind for a creature, whose legs are its measure; slope and stairs begin after `start`."""
    reach = CREATURES[name][0].reach
    made: dict[str, Terrain] = {
        "flat": flat(),
        "slope": slope(25.0, start),
        "stairs": stairs(0.3 * reach, 0.7 * reach, start),
        "noise": noise(0.25 * reach, 2.0 * reach),
        "gap": gap(0.5 * reach, 1.5 * start),
    }
    return made[kind]


def over(name: str, kind: str, fps: float = 24.0) -> BodyPath:
    """The way of a creature over ground of a kind."""
    return ahead(CREATURES[name], SECONDS, fps, _froude(name, kind))


def well_over(name: str, kind: str, fps: float = 24.0) -> BodyPath:
    """The same, so long that all legs get onto what begins a leg's reach ahead."""
    legs, froude = CREATURES[name], _froude(name, kind)
    length = max(leg.home[1] for leg in legs)
    seconds = (length + WELL * legs[0].reach) / pace_of(legs, froude) + RAMP
    return ahead(legs, max(SECONDS, seconds), fps, froude)


def _froude(name: str, kind: str) -> float:
    return FROUDE[name] * SLOW.get(kind, 1.0)


def up_the_wall(room: Room, legs: tuple[Leg, ...], fps: float = 24.0) -> BodyPath:
    """The way along floor, wall and ceiling."""
    return room.path(pace_of(legs, ON_WALLS), height_of(legs), fps)


def turning(legs: tuple[Leg, ...], seconds: float, rate: float) -> BodyPath:
    """On the spot, at a rate in radians a second."""
    place = (0.0, 0.0, height_of(legs))
    return path_of(lambda _: place, seconds, turn=lambda time: turn_about(Z_AXIS, rate * eased_time(time, seconds)))


def at_foot(foot: FootPose, point: V3) -> V3:
    """A point of a foot's frame, in world space."""
    return placed(foot.sole, foot.rotation, point)


def plan_walk(walk: Walk) -> WalkPlan:
    """Plan a walk at once.

    Raises:
        InvalidValueError: See `Walk.check`.
    """
    return to_the_end(planning(walk))
