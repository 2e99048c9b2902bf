# SPDX-License-Identifier: GPL-3.0-or-later
"""The body's path as it is keyed, sampled at the planner's pace, and filters over its samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from ..errors import InvalidValueError
from ..finite import are_finite
from ..maths import Q4, V3, Z_AXIS, between, distance, lerp, multiplied, normalized, placed, slerp, turned
from ..messages import Message
from .legs import Leg
from .settings import ROUNDING, Gravity

LEAST_TURN = 0.5  # size that a quaternion must have
LEAP = 1.0  # of the longest leg, in a frame: no walk keeps up with it


@dataclass(frozen=True)
class BodyPath:
    """Where the body is at each whole frame, in world space.

    Attributes:
        first: The frame of the first entry.
        fps: Frames a second.
        places: Of the body's origin, the one that legs are measured from.
        rotations: From the body at rest (+Z up) to the body at the frame.
    """

    first: int
    fps: float
    places: tuple[V3, ...]
    rotations: tuple[Q4, ...]

    @property
    def seconds(self) -> float:
        """How long the path lasts."""
        return (len(self.places) - 1) / self.fps


def _check_path(path: BodyPath, legs: Sequence[Leg]) -> None:
    """Refuse a path that can't be walked.

    Raises:
        InvalidValueError: It has no frames, a number is not finite, or the body leaps; the frame is named.
    """
    if not path.places or len(path.places) != len(path.rotations):
        raise InvalidValueError(Message("PATH_INCOMPLETE"))
    if not path.fps > 0.0 or not are_finite([path.fps]):
        raise InvalidValueError(Message("NO_FRAME_RATE", fps=path.fps))
    for index, (place, rotation) in enumerate(zip(path.places, path.rotations, strict=True)):
        if not are_finite((*place, *rotation)):
            raise InvalidValueError(Message("PATH_PLACE_NOT_FINITE", frame=path.first + index))
        if sum(value * value for value in rotation) < LEAST_TURN * LEAST_TURN:
            raise InvalidValueError(Message("PATH_WITHOUT_ROTATION", frame=path.first + index))
    farthest = LEAP * max(leg.reach for leg in legs)
    for index in range(len(path.places) - 1):
        leap = distance(path.places[index], path.places[index + 1])
        if leap > farthest:
            frames = Message("TWO_FRAMES", first=path.first + index, second=path.first + index + 1)
            raise InvalidValueError(Message("PATH_LEAPS", distance=leap, frames=frames))


def check_paths(paths: Sequence[BodyPath], legs: Sequence[Leg]) -> None:
    """Refuse paths that can't be walked.

    Raises:
        InvalidValueError: There is none, they differ in time, or one can't be walked; the frame is named.
    """
    if not paths:
        raise InvalidValueError(Message("NO_PATH"))
    for path in paths:
        _check_path(path, legs)
        if (path.first, path.fps, len(path.places)) != (paths[0].first, paths[0].fps, len(paths[0].places)):
            raise InvalidValueError(Message("PATHS_DIFFER"))


def smoothed(values: Sequence[float], half_life: float, spacing: float) -> list[float]:
    """Critically damped, forwards and then backwards, so that nothing lags.

    Args:
        values: Samples.
        half_life: Time after which half of a step is taken on by one pass, seconds.
        spacing: Time between samples, seconds.
    """
    keep = 0.5 ** (2.0 * spacing / half_life) if half_life > 0.0 else 0.0
    result = list(values)
    for _ in range(2):
        state = second = result[0]
        for index, value in enumerate(result):
            state = value + (state - value) * keep
            second = state + (second - state) * keep
            result[index] = second
        result.reverse()
    return result


def smoothed_points(points: Sequence[V3], half_life: float, spacing: float) -> list[V3]:
    """Vectors, each component smoothed."""
    columns = [smoothed([point[axis] for point in points], half_life, spacing) for axis in range(3)]
    return list(zip(columns[0], columns[1], columns[2], strict=True))


def covered(needs: Sequence[float], half_width: int) -> list[float]:
    """A smooth curve that is nowhere below the needs.

    It is the greatest need within two half widths of each sample, averaged twice over one half width to either side:
    all that is averaged at a sample is at least the need there, and a need fades out within four half widths.

    Args:
        needs: Samples.
        half_width: In samples, 1 at least.
    """
    width = max(1, half_width)
    high = _greatest(needs, 2 * width)
    return averaged(averaged(high, width), width)


def _greatest(values: Sequence[float], width: int) -> list[float]:
    """The greatest value within `width` samples on either side."""
    count = len(values)
    result: list[float] = []
    candidates: deque[int] = deque()
    for index in range(count + width):
        if index < count:
            while candidates and values[candidates[-1]] <= values[index]:
                candidates.pop()
            candidates.append(index)
        middle = index - width
        if middle >= 0:
            while candidates[0] < middle - width:
                candidates.popleft()
            result.append(values[candidates[0]])
    return result


def averaged(values: Sequence[float], width: int) -> list[float]:
    """The mean of `width` samples on either side; the ends are continued."""
    count = len(values)
    sums = [0.0]
    for index in range(-width, count + width):
        sums.append(sums[-1] + values[min(max(index, 0), count - 1)])
    span = 2 * width + 1
    return [(sums[index + span] - sums[index]) / span for index in range(count)]


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
        position, last = time / TICK, len(self.places) - 1
        index = min(max(floor(position + ROUNDING), 0), last)
        return index, min(max(position - index, 0.0), 1.0) if index < last else 0.0

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
        index, share = self.split(time)
        place, upright = self.places[index], self.uprights[index]
        if share:
            place, upright = lerp(place, self.places[index + 1], share), slerp(upright, self.uprights[index + 1], share)
        return placed(place, upright, point)

    def homes(self, point: V3) -> list[V3]:
        """A point of the upright frame at all samples, in world space."""
        return [placed(place, upright, point) for place, upright in zip(self.places, self.uprights, strict=True)]

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
    k = 0.5 * t * (t * (2.0 - t) - 1.0)
    j = 0.5 * (t * t * (3.0 * t - 5.0) + 2.0)
    m = 0.5 * t * (t * (4.0 - 3.0 * t) + 1.0)
    n = 0.5 * t * t * (t - 1.0)
    return (
        k * before[0] + j * a[0] + m * b[0] + n * after[0],
        k * before[1] + j * a[1] + m * b[1] + n * after[1],
        k * before[2] + j * a[2] + m * b[2] + n * after[2],
    )


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
