# SPDX-License-Identifier: GPL-3.0-or-later
"""The body's path as it is keyed, sampled at the planner's pace, and filters over its samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, inf

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..errors import LARGEST, InvalidValueError, are_finite
from ..maths import (
    Q4,
    V3,
    Z_AXIS,
    Doubles,
    betweens,
    lengths,
    lerp,
    placed,
    products,
    rotated_each,
    rows_of,
    slerp,
    slerps,
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


def smoothed(values: Sequence[float], half_life: float) -> list[float]:
    """Critically damped, forwards and then backwards, so that nothing lags.

    Args:
        values: Samples, TICK apart.
        half_life: Time after which half of a step is taken on by one pass, seconds.
    """
    keep = 0.5 ** (2.0 * TICK / half_life) if half_life > 0.0 else 0.0
    result = list(values)
    for _ in range(2):
        state = second = result[0]
        for index, value in enumerate(result):
            state = value + (state - value) * keep
            second = state + (second - state) * keep
            result[index] = second
        result.reverse()
    return result


def smoothed_each(rows: Doubles, half_life: float) -> Doubles:
    """Vectors (F, k), each component smoothed."""
    return np.column_stack([smoothed(column, half_life) for column in rows.T.tolist()])


def kept(span: float, half_life: float) -> float:
    """What share of an old value is kept after a time, of which half is lost in each half-life, seconds."""
    return float(0.5 ** (span / half_life))


def covered(needs: Sequence[float], half_width: int) -> list[float]:
    """A smooth curve that is nowhere below the needs.

    It is the greatest need within two half widths of each sample, averaged twice over one half width to either side:
    all that is averaged at a sample is at least the need there, and a need fades out within four half widths.

    Args:
        needs: Samples.
        half_width: In samples, 1 at least.
    """
    width = max(1, half_width)
    around = sliding_window_view(np.pad(np.array(needs), 2 * width, constant_values=-inf), 4 * width + 1)
    return averaged(averaged(around.max(axis=1).tolist(), width), width)


def averaged(values: Sequence[float], width: int) -> list[float]:
    """The mean of `width` samples on either side; the ends are continued."""
    span = 2 * width + 1
    sums = np.concatenate(((0.0,), np.cumsum(np.pad(values, width, mode="edge"))))
    found: list[float] = ((sums[span:] - sums[:-span]) / span).tolist()
    return found


TICK = 1.0 / 60.0  # seconds between samples
CALM = 0.1  # seconds, half-life with which the path is smoothed before its speed is read
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
        return places + rotated_each(uprights, np.array(point))

    def calmed(self) -> Track:
        """The same path with places and headings smoothed, so that its speed can be read."""
        places, _, uprights, _ = self.arrays
        signs = np.cumprod(np.where(np.add.reduce(uprights[1:] * uprights[:-1], axis=1) < 0.0, -1.0, 1.0))
        run = uprights * np.concatenate(((1.0,), signs))[:, None]  # neighbours are near each other
        spots = smoothed_each(places, CALM), units(smoothed_each(run, CALM))
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
    ups = rotated_each(turns, np.array(Z_AXIS))
    if gravity == Gravity.SURFACE:
        return Track(places, rotations, rotations, rows_of(ups))
    uprights = products(betweens(ups, np.broadcast_to(np.array(Z_AXIS), ups.shape)), turns)
    return Track(places, rotations, rows_of(uprights), [Z_AXIS] * len(places))
