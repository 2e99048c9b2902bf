# SPDX-License-Identifier: GPL-3.0-or-later
"""The body's path as it is keyed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InvalidValueError
from ..finite import are_finite
from ..maths import Q4, V3, distance
from ..texts import Text
from .legs import Leg

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
        raise InvalidValueError("the body's path needs a place and a rotation for each frame")
    if not path.fps > 0.0 or not are_finite([path.fps]):
        raise InvalidValueError(Text("{fps} frames a second are none", fps=path.fps))
    for index, (place, rotation) in enumerate(zip(path.places, path.rotations, strict=True)):
        if not are_finite((*place, *rotation)):
            raise InvalidValueError(Text("the body is nowhere at frame {frame}", frame=path.first + index))
        if sum(value * value for value in rotation) < LEAST_TURN * LEAST_TURN:
            raise InvalidValueError(Text("the body has no rotation at frame {frame}", frame=path.first + index))
    farthest = LEAP * max(leg.reach for leg in legs)
    for index in range(len(path.places) - 1):
        leap = distance(path.places[index], path.places[index + 1])
        if leap > farthest:
            frames = Text("frames {first} and {second}", first=path.first + index, second=path.first + index + 1)
            raise InvalidValueError(
                Text(
                    "the body leaps by {distance:.3g} between {frames}, farther than a leg is long",
                    distance=leap,
                    frames=frames,
                )
            )


def check_paths(paths: Sequence[BodyPath], legs: Sequence[Leg]) -> None:
    """Refuse paths that can't be walked.

    Raises:
        InvalidValueError: There is none, they differ in time, or one can't be walked; the frame is named.
    """
    if not paths:
        raise InvalidValueError("a walk needs a path for the body")
    for path in paths:
        _check_path(path, legs)
        if (path.first, path.fps, len(path.places)) != (paths[0].first, paths[0].fps, len(paths[0].places)):
            raise InvalidValueError("the paths of the body's segments differ in their frames")
