# SPDX-License-Identifier: GPL-3.0-or-later
"""The body's path as it is keyed, sampled at the planner's pace, and filters over its samples; a body led by hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import floor, log

import numpy as np

from ..errors import InvalidValueError
from ..finite import LARGEST, are_finite
from ..maths import (
    FRONT,
    ORIGIN,
    Q4,
    V3,
    Z_AXIS,
    Doubles,
    along,
    angle_between,
    betweens,
    clipped,
    cross,
    dot,
    length,
    lengths,
    lerp,
    minus,
    multiplied,
    perpendicular,
    placed,
    plus,
    products,
    rotated_each,
    rows_of,
    scaled,
    slerp,
    slerps,
    turn_about,
    turned,
    unit,
    units,
)
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


def check_path(path: BodyPath, legs: Sequence[Leg]) -> None:
    """Refuse a path that can't be walked.

    Raises:
        InvalidValueError: It has no frames, a number is not finite, or the body leaps; the frame is named.
    """
    if not path.places or len(path.places) != len(path.rotations):
        raise InvalidValueError(Message("PATH_INCOMPLETE"))
    if not path.fps > 0.0 or not are_finite([path.fps]):
        raise InvalidValueError(Message("NO_FRAME_RATE", fps=path.fps))
    places, rotations = np.array(path.places), np.array(path.rotations)
    is_somewhere = (np.abs(np.concatenate((places, rotations), axis=1)) <= LARGEST).all(axis=1)
    if not is_somewhere.all():
        raise InvalidValueError(Message("PATH_PLACE_NOT_FINITE", frame=path.first + int(is_somewhere.argmin())))
    is_turned = lengths(rotations) >= LEAST_TURN
    if not is_turned.all():
        raise InvalidValueError(Message("PATH_WITHOUT_ROTATION", frame=path.first + int(is_turned.argmin())))
    leaps = lengths(np.diff(places, axis=0))
    far = np.flatnonzero(leaps > LEAP * max(leg.reach for leg in legs))
    if len(far):
        frames = Message("TWO_FRAMES", first=path.first + int(far[0]), second=path.first + int(far[0]) + 1)
        raise InvalidValueError(Message("PATH_LEAPS", distance=float(leaps[far[0]]), frames=frames))


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


def smoothed_each(rows: Doubles, half_life: float, spacing: float) -> Doubles:
    """Vectors (F, k), each component smoothed."""
    found: Doubles = np.column_stack([smoothed(column, half_life, spacing) for column in rows.T.tolist()])
    return found


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

    @cached_property
    def arrays(self) -> tuple[Doubles, Doubles, Doubles, Doubles]:
        """Places (F, 3), rotations (F, 4), uprights (F, 4) and ups (F, 3)."""
        return np.array(self.places), np.array(self.rotations), np.array(self.uprights), np.array(self.ups)

    def homes(self, point: V3) -> Doubles:
        """A point of the upright frame at all samples, in world space: (F, 3)."""
        places, _, uprights, _ = self.arrays
        return places + rotated_each(uprights, np.broadcast_to(np.array(point), places.shape))

    def calmed(self, half_life: float) -> Track:
        """The same path with places and headings smoothed.

        Args:
            half_life: See `smoothed`, seconds.
        """
        places, _, uprights, _ = self.arrays
        signs = np.cumprod(np.where(np.add.reduce(uprights[1:] * uprights[:-1], axis=1) < 0.0, -1.0, 1.0))
        run = uprights * np.concatenate(((1.0,), signs))[:, None]  # neighbours are near each other
        spots = smoothed_each(places, half_life, TICK), units(smoothed_each(run, half_life, TICK))
        return Track(rows_of(spots[0]), self.rotations, rows_of(spots[1]), self.ups)


def track_of(path: BodyPath, gravity: str) -> Track:
    """Sample a path; after its end the body stands."""
    count, last = floor((path.seconds + TAIL) / TICK + 0.5) + 1, len(path.places) - 1
    positions = np.minimum(np.arange(count) * TICK, path.seconds) * path.fps
    index = np.minimum(positions.astype(np.intp), last)
    t = np.where(index < last, positions - index, 0.0)[:, None]
    places, rotations = np.array(path.places), units(np.array(path.rotations))
    before, a, b, after = (places[np.clip(index + k, 0, last)] for k in (-1, 0, 1, 2))
    k, j = 0.5 * t * (t * (2.0 - t) - 1.0), 0.5 * (t * t * (3.0 * t - 5.0) + 2.0)  # Catmull-Rom's curve
    m, n = 0.5 * t * (t * (4.0 - 3.0 * t) + 1.0), 0.5 * t * t * (t - 1.0)
    spots = np.where(t > 0.0, k * before + j * a + m * b + n * after, a)
    turns = slerps(rotations[index], rotations[np.minimum(index + 1, last)], t[:, 0])
    return track_through(rows_of(spots), rows_of(turns), gravity)


def track_through(places: list[V3], rotations: list[Q4], gravity: str) -> Track:
    """The track of given samples."""
    turns = np.array(rotations)
    ups = rotated_each(turns, np.broadcast_to(np.array(Z_AXIS), (len(turns), 3)))
    if gravity == Gravity.SURFACE:
        return Track(places, rotations, rotations, rows_of(ups))
    uprights = products(betweens(ups, np.broadcast_to(np.array(Z_AXIS), ups.shape)), turns)
    return Track(places, rotations, rows_of(uprights), [Z_AXIS] * len(places))


# A body that is led by hand.

FOLLOWING = 0.1  # seconds, half-life of the way that is left: the trembling of a mouse is not followed
TURNING = 0.15  # seconds, half-life of the turn that is left
FASTEST_TURN = 2.5  # radians a second
TRIED_SHARES = (1.0, 0.5, 0.25, 0.0)  # of a step that are tried where the feet would not reach at its end
LOOKING = 0.4  # seconds of the near future
TINY = 1e-12  # scene units that are no way
MOVING = 0.1  # of the greatest speed: a body that is slower keeps its heading
LISTENING = 0.05  # seconds, half-life of the speed that is believed
Pose = tuple[V3, Q4]


@dataclass
class Steering:
    """Where a body that is led by hand is on its way.

    Attributes:
        place: Of the body, world space.
        rotation: From the body at rest.
        fastest: Scene units a second.
        gravity: A name of `settings.Gravity`.
        faces_way: Whether it turns to where it goes.
        meant: Where the last span would have brought it at the mean speed of its near future, but for its feet.
        is_held: Whether its feet held it back the last time.
        wanted: Where it was to go then; None at first.
        wandering: How fast that moves, evened out, scene units a second.
    """

    place: V3
    rotation: Q4
    fastest: float
    gravity: str
    faces_way: bool = True
    meant: Pose | None = None
    is_held: bool = False
    wanted: V3 | None = None
    wandering: V3 = ORIGIN

    @property
    def up(self) -> V3:
        """What is up for the body."""
        return track_through([self.place], [self.rotation], self.gravity).ups[0]

    def turn(self, angle: float) -> None:
        """Turn the body about what is up, to the left where the angle, in radians, is positive."""
        self.rotation = multiplied(turn_about(self.up, angle), self.rotation)

    def go(self, wanted: V3, span: float, strain: Callable[[Pose], list[float]] | None = None) -> Pose:
        """Go on towards a point: calmly, no faster than `fastest`, and no farther than the feet hold.

        Args:
            wanted: In world space; its height above the body does not count.
            span: Seconds that went by.
            strain: See `HandWalk.strain`: the body goes a part of the way, or waits, where that would be worse than
                now. None to go in any case.

        Returns:
            Place and rotation of the body.
        """
        place, rotation = self.place, self.rotation
        self._step(wanted, span)
        far, self.meant = (self.place, self.rotation), (self._soon(place, wanted, span), self.rotation)
        if strain is not None:
            most = strain((place, rotation))
            for share, turned_by in product(TRIED_SHARES, (1.0, 0.0)):
                self.place, self.rotation = lerp(place, far[0], share), slerp(rotation, far[1], share * turned_by)
                if all(there <= here for there, here in zip(strain((self.place, self.rotation)), most, strict=True)):
                    break
        self.is_held = (self.place, self.rotation) != far
        return self.place, self.rotation

    def _step(self, wanted: V3, span: float) -> None:
        up = self.up
        left = perpendicular(minus(wanted, self.place), up)
        far = length(left)
        way = min(far * (1.0 - 0.5 ** (span / FOLLOWING)), self.fastest * span)
        if far > 0.0:
            self.place = along(self.place, left, way / far)
        if self.faces_way and span > 0.0 and way / span > MOVING * self.fastest:
            self._face(left, up, span)

    def _soon(self, place: V3, wanted: V3, span: float) -> V3:
        """Where it would be after a span, as fast as in its near future, if what it follows goes on as it does."""
        up, most = self.up, self.fastest
        if self.wanted is not None and span > 0.0:
            pace = perpendicular(scaled(minus(wanted, self.wanted), 1.0 / span), up)
            pace = scaled(pace, min(most / max(length(pace), most), 1.0))
            self.wandering = lerp(pace, self.wandering, kept(span, LISTENING))
        self.wanted = wanted
        lag = along(perpendicular(minus(wanted, place), up), self.wandering, -FOLLOWING / log(2.0))
        way = scaled(plus(scaled(lag, 1.0 - kept(LOOKING, FOLLOWING)), scaled(self.wandering, LOOKING)), span / LOOKING)
        return along(place, way, min(most * span / max(length(way), TINY), 1.0))

    def _face(self, way: V3, up: V3, span: float) -> None:
        """Turn towards where it goes, no faster than a body turns."""
        ahead = perpendicular(turned(self.rotation, FRONT), up)
        if length(ahead) * length(way) <= 0.0:
            return
        angle = angle_between(unit(ahead), unit(way))
        side = 1.0 if dot(cross(ahead, way), up) >= 0.0 else -1.0
        most = FASTEST_TURN * span
        self.turn(side * clipped(angle * (1.0 - 0.5 ** (span / TURNING)), 0.0, most))


def kept(span: float, half_life: float) -> float:
    """What share of an old value is kept after a time, of which half is lost in each half-life, seconds."""
    return float(0.5 ** (span / half_life))
