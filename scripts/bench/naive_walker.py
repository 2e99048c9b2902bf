# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker as games have it: decided frame by frame, one ray straight down a foot, groups of legs that alternate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot, pi, sin, sqrt

from fabrik_addon.gait import BodyPath, FootPose, Hit, Leg, Terrain
from fabrik_addon.gait.ground import climb
from fabrik_addon.maths import (
    ORIGIN,
    Q4,
    V3,
    Z_AXIS,
    along,
    distance,
    dot,
    lerp,
    minus,
    perpendicular,
    plus,
    scaled,
    turned,
    unit_or,
)

from dev.walk_measures import Moment, Shown

TRIGGER = 0.25  # of a leg's reach: drift from home at which a foot steps, and how far ahead of home it lands
SWING = 0.2  # seconds of a step
HEIGHT = 0.1  # of a leg's reach: how far a step rises midway
BELOW = 1.5  # of a leg's reach: how far down a ray looks
AFTERWARDS = 2.0  # seconds for which the walk goes on where the path has ended


@dataclass(frozen=True)
class _Swing:
    """A step under way."""

    lift: float
    start: V3
    end: V3


@dataclass
class _Foot:
    """What a foot knows of itself."""

    place: V3
    rotation: Q4
    swing: _Swing | None = None
    swings: list[tuple[float, float]] = field(default_factory=list)
    footholds: list[V3] = field(default_factory=list)


def walked(legs: Sequence[Leg], paths: Sequence[BodyPath], terrain: Terrain) -> Shown:
    """Walk along a path, one frame after the other."""
    walker = _Walker(legs, paths, terrain)
    path = paths[0]
    count = len(path.places) + round(AFTERWARDS * path.fps)
    moments = [walker.moment(index) for index in range(count)]
    feet = walker.feet
    return Shown(legs, moments, [foot.swings for foot in feet], [foot.footholds for foot in feet])


class _Walker:
    def __init__(self, legs: Sequence[Leg], paths: Sequence[BodyPath], terrain: Terrain) -> None:
        self.legs, self.paths, self.terrain = legs, paths, terrain
        self.raised = [0.0] * len(paths)
        self.crouch = max(_crouch(leg) for leg in legs)
        self.feet: list[_Foot] = []
        for leg in legs:
            hit = self._below(leg, 0, ORIGIN)
            self.feet.append(_Foot(hit.place if hit else self._home(leg, 0), self._path(leg, 0)[1]))

    def moment(self, index: int) -> Moment:
        """Go on to a frame."""
        time = index / self.paths[0].fps
        for foot in self.feet:
            if foot.swing is not None and time >= foot.swing.lift + SWING:
                foot.place, foot.swing = foot.swing.end, None
                foot.footholds.append(foot.place)
        for leg, foot in zip(self.legs, self.feet, strict=True):
            if foot.swing is None and not self._others_are_up(leg):
                self._step(leg, foot, index)
        poses = [self._pose(leg, foot, index) for leg, foot in zip(self.legs, self.feet, strict=True)]
        bodies = [self._body(segment, poses, index) for segment in range(len(self.paths))]
        return Moment(time, poses, bodies)

    def _others_are_up(self, leg: Leg) -> bool:
        return any(
            foot.swing is not None for other, foot in zip(self.legs, self.feet, strict=True) if other.group != leg.group
        )

    def _step(self, leg: Leg, foot: _Foot, index: int) -> None:
        """Lift a foot that has drifted too far, towards where its home will be and a bit ahead; if there is ground."""
        up, home = self._up(leg, index), self._home(leg, index)
        if distance(perpendicular(minus(foot.place, home), up), ORIGIN) <= TRIGGER * leg.reach:
            return
        move = scaled(minus(home, self._home(leg, index - 1)), SWING * self.paths[0].fps)
        ahead = scaled(unit_or(perpendicular(minus(home, foot.place), up), ORIGIN), TRIGGER * leg.reach)
        hit = self._below(leg, index, plus(move, ahead))
        if hit is None:
            return
        time = index / self.paths[0].fps
        foot.swing, foot.rotation = _Swing(time, foot.place, hit.place), self._path(leg, index)[1]
        foot.swings.append((time, time + SWING))

    def _pose(self, leg: Leg, foot: _Foot, index: int) -> FootPose:
        """A foot at a frame: along a sine arc, or where it stands."""
        place = base = foot.place
        if foot.swing is not None:
            share = (index / self.paths[0].fps - foot.swing.lift) / SWING
            base = lerp(foot.swing.start, foot.swing.end, share)
            place = along(base, self._up(leg, index), HEIGHT * leg.reach * sin(pi * share))
        ankle = plus(place, turned(foot.rotation, leg.ankle))
        return FootPose(place, ankle, foot.rotation, foot.swing is None, False, 0.0, base)

    def _body(self, segment: int, poses: Sequence[FootPose], index: int) -> tuple[V3, Q4]:
        """The path's place, as high above the mean of its feet as at rest."""
        pairs = [(leg, pose) for leg, pose in zip(self.legs, poses, strict=True) if leg.segment == segment]
        up = self._up(pairs[0][0], index)
        place, rotation = self._path(pairs[0][0], index)
        rises = [dot(minus(pose.base, plus(place, turned(rotation, leg.home))), up) for leg, pose in pairs]
        self.raised[segment] = sum(rises) / len(rises)
        return along(place, up, self.raised[segment] - self.crouch), rotation

    def _path(self, leg: Leg, index: int) -> tuple[V3, Q4]:
        path = self.paths[leg.segment]
        frame = min(max(index, 0), len(path.places) - 1)
        return path.places[frame], path.rotations[frame]

    def _up(self, leg: Leg, index: int) -> V3:
        return turned(self._path(leg, index)[1], Z_AXIS)

    def _home(self, leg: Leg, index: int) -> V3:
        place, rotation = self._path(leg, index)
        return plus(place, turned(rotation, leg.home))

    def _below(self, leg: Leg, index: int, offset: V3) -> Hit | None:
        """What a ray straight down meets, from above a leg's home as the feet have raised it, moved by an offset."""
        up = self._up(leg, index)
        height = self.raised[leg.segment] + climb(leg)
        origin = along(plus(self._home(leg, index), offset), up, height)
        return self.terrain.ray(origin, scaled(up, -1.0), climb(leg) + BELOW * leg.reach, 0.0)


def _crouch(leg: Leg) -> float:
    """How much lower than at rest the body goes, so that a leg reaches as far as it may drift on level ground."""
    way = minus(leg.rest_ankle, leg.hip)
    level = hypot(way[0], abs(way[1]) + TRIGGER * leg.reach)
    return max(0.0, leg.height - sqrt(max(0.0, leg.reach * leg.reach - level * level)))
