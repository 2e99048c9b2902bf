# SPDX-License-Identifier: GPL-3.0-or-later
"""The body's path at the planner's own pace, whatever the frame rate, and the time after its end."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from ..maths import Q4, V3, Z_AXIS, between, lerp, multiplied, normalized, plus, slerp, turned
from .path import BodyPath
from .settings import ROUNDING, Gravity
from .smoothing import smoothed, smoothed_points

TICK = 1.0 / 60.0  # seconds between samples
TAIL = 2.0  # seconds after the path's end in which the walk comes to rest


@dataclass(frozen=True)
class Track:
    """Samples of the body's path, TICK apart, from the path's first frame to TAIL after its last.

    Attributes:
        places: Of the body.
        rotations: As keyed.
        uprights: The frame in which feet are at home: heading alone, or the rotation itself on walls.
        ups: The direction that is up for the walker.
    """

    places: list[V3]
    rotations: list[Q4]
    uprights: list[Q4]
    ups: list[V3]

    @property
    def count(self) -> int:
        return len(self.places)

    def split(self, time: float) -> tuple[int, float]:
        """The sample before a time, and the share of the way to the next; ends are continued."""
        position = time / TICK
        index = min(max(floor(position + ROUNDING), 0), self.count - 1)
        return index, min(max(position - index, 0.0), 1.0) if index + 1 < self.count else 0.0

    def place(self, time: float) -> V3:
        index, share = self.split(time)
        return lerp(self.places[index], self.places[index + 1], share) if share else self.places[index]

    def upright(self, time: float) -> Q4:
        index, share = self.split(time)
        return slerp(self.uprights[index], self.uprights[index + 1], share) if share else self.uprights[index]

    def up(self, time: float) -> V3:
        return self.ups[self.split(time)[0]]

    def home(self, point: V3, time: float) -> V3:
        """A point of the upright frame, in world space."""
        return plus(self.place(time), turned(self.upright(time), point))

    def homes(self, point: V3) -> list[V3]:
        """A point of the upright frame at all samples, in world space."""
        return [plus(place, turned(upright, point)) for place, upright in zip(self.places, self.uprights, strict=True)]

    def calmed(self, half_life: float) -> Track:
        """The same path with places and headings smoothed.

        Args:
            half_life: See `smoothed`, seconds.
        """
        quaternions = _continuous(self.uprights)
        columns = [smoothed([q[axis] for q in quaternions], half_life, TICK) for axis in range(4)]
        uprights = [normalized(q) for q in zip(columns[0], columns[1], columns[2], columns[3], strict=True)]
        return Track(smoothed_points(self.places, half_life, TICK), self.rotations, uprights, self.ups)


def track_of(path: BodyPath, gravity: str) -> Track:
    """Sample a path; after its end the body stands."""
    count = floor((path.seconds + TAIL) / TICK + 0.5) + 1
    places, rotations = [], []
    for index in range(count):
        position = min(index * TICK, path.seconds) * path.fps
        places.append(_place(path, position))
        rotations.append(_rotation(path, position))
    return track_through(places, rotations, gravity)


def track_through(places: list[V3], rotations: list[Q4], gravity: str) -> Track:
    """The track of given samples."""
    if gravity == Gravity.SURFACE:
        return Track(places, rotations, rotations, [turned(rotation, Z_AXIS) for rotation in rotations])
    uprights = [multiplied(between(turned(rotation, Z_AXIS), Z_AXIS), rotation) for rotation in rotations]
    return Track(places, rotations, uprights, [Z_AXIS] * len(places))


def _place(path: BodyPath, position: float) -> V3:
    """Between frames: Catmull-Rom's curve."""
    last = len(path.places) - 1
    index = min(floor(position), last)
    t = position - index
    if t <= 0.0 or index == last:
        return path.places[index]
    before, after = path.places[max(index - 1, 0)], path.places[min(index + 2, last)]
    a, b = path.places[index], path.places[index + 1]
    weights = (
        0.5 * t * (t * (2.0 - t) - 1.0),
        0.5 * (t * t * (3.0 * t - 5.0) + 2.0),
        0.5 * t * (t * (4.0 - 3.0 * t) + 1.0),
        0.5 * t * t * (t - 1.0),
    )
    x, y, z = (
        weights[0] * before[axis] + weights[1] * a[axis] + weights[2] * b[axis] + weights[3] * after[axis]
        for axis in range(3)
    )
    return (x, y, z)


def _rotation(path: BodyPath, position: float) -> Q4:
    last = len(path.rotations) - 1
    index = min(floor(position), last)
    if index == last:
        return normalized(path.rotations[last])
    return slerp(normalized(path.rotations[index]), normalized(path.rotations[index + 1]), position - index)


def _continuous(rotations: list[Q4]) -> list[Q4]:
    """The same rotations with signs such that neighbours are near each other."""
    result = [rotations[0]]
    for q in rotations[1:]:
        p = result[-1]
        is_near = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] >= 0.0
        result.append(q if is_near else (-q[0], -q[1], -q[2], -q[3]))
    return result
