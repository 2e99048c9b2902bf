# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is led by hand: it follows a point calmly, no faster than its legs can, and looks where it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..maths import (
    FRONT,
    Q4,
    V3,
    along,
    angle_between,
    clipped,
    cross,
    dot,
    length,
    lerp,
    minus,
    multiplied,
    perpendicular,
    slerp,
    turn_about,
    turned,
)
from .track import track_through

FOLLOWING = 0.1  # seconds, half-life of the way that is left: the trembling of a mouse is not followed
TURNING = 0.15  # seconds, half-life of the turn that is left
FASTEST_TURN = 2.5  # radians a second
TRIED_SHARES = (1.0, 0.5, 0.25, 0.0)  # of a step that are tried where the feet would not reach at its end
MOVING = 0.1  # of the greatest speed: a body that is slower keeps its heading


@dataclass
class Steering:
    """Where a body that is led by hand is on its way.

    Attributes:
        place: Of the body, world space.
        rotation: Of it.
        fastest: Scene units a second.
        gravity: A name of `settings.Gravity`.
        faces_way: Whether it turns to where it goes.
    """

    place: V3
    rotation: Q4
    fastest: float
    gravity: str
    faces_way: bool = True

    @property
    def up(self) -> V3:
        """What is up for the body."""
        return track_through([self.place], [self.rotation], self.gravity).ups[0]

    def turn(self, angle: float) -> None:
        """Turn the body about what is up, to the left where the angle, in radians, is positive."""
        self.rotation = multiplied(turn_about(self.up, angle), self.rotation)

    def go(self, wanted: V3, span: float, holds: Callable[[tuple[V3, Q4]], bool] | None = None) -> tuple[V3, Q4]:
        """Go on towards a point: calmly, no faster than `fastest`, and no farther than the feet hold.

        Args:
            wanted: In world space; its height above the body does not count.
            span: Seconds that went by.
            holds: Tells whether all standing feet would reach with the body at a place and rotation: it goes a part of
                the way, or waits, where they would not. None to go in any case.

        Returns:
            Place and rotation of the body.
        """
        place, rotation = self.place, self.rotation
        self._step(wanted, span)
        if holds is not None:
            far = self.place, self.rotation
            for share in TRIED_SHARES:
                self.place, self.rotation = lerp(place, far[0], share), slerp(rotation, far[1], share)
                if holds((self.place, self.rotation)):
                    break
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

    def _face(self, way: V3, up: V3, span: float) -> None:
        """Turn towards where it goes, no faster than a body turns."""
        ahead = perpendicular(turned(self.rotation, FRONT), up)
        size = length(ahead) * length(way)
        if size <= 0.0:
            return
        angle = angle_between(_divided(ahead, length(ahead)), _divided(way, length(way)))
        side = 1.0 if dot(cross(ahead, way), up) >= 0.0 else -1.0
        most = FASTEST_TURN * span
        self.turn(side * clipped(angle * (1.0 - 0.5 ** (span / TURNING)), 0.0, most))


def _divided(a: V3, size: float) -> V3:
    return (a[0] / size, a[1] / size, a[2] / size)
