# SPDX-License-Identifier: GPL-3.0-or-later
"""Footholds and steps: what a plan is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..maths import Q4, V3, Z_AXIS, multiplied, plus, turned
from .terrain import STATIC

SurfacePose = Callable[[int, float], tuple[V3, Q4]]  # place and rotation of a moving surface at a time


class Refused(StrEnum):
    """Why a foothold is none."""

    NO_GROUND = "NO_GROUND"
    SLOPE = "SLOPE"
    EDGE = "EDGE"
    REACH = "REACH"
    LIMITS = "LIMITS"
    FOOT = "FOOT"


class Cause(StrEnum):
    """Why a leg steps."""

    CYCLE = "CYCLE"  # its turn in the gait
    DRIFT = "DRIFT"  # its home has moved away
    REACH = "REACH"  # it would no longer reach its foothold, or not within the limits of its joints


@dataclass(frozen=True)
class Foothold:
    """Where a foot stands, flat.

    Attributes:
        place: Of the sole's point, in the surface's own space: the world for one that does not move.
        rotation: Of the foot, from how it is at rest.
        normal: Of the ground.
        surface: STATIC, BODY, or the number of a surface that moves.
        pitch: How far the heel is up all the while, radians: where the ankle does not bend as far as the ground asks.
    """

    place: V3
    rotation: Q4
    normal: V3 = Z_AXIS
    surface: int = STATIC
    pitch: float = 0.0

    def in_world(self, time: float, surface_pose: SurfacePose) -> tuple[V3, Q4]:
        """Place and rotation at a time."""
        if self.surface == STATIC:
            return self.place, self.rotation
        origin, rotation = surface_pose(self.surface, time)
        return plus(origin, turned(rotation, self.place)), multiplied(rotation, self.rotation)


@dataclass(frozen=True)
class Step:
    """A step of a leg. Times are seconds from the path's first frame.

    Attributes:
        leg: Index.
        lift: When the foot leaves the ground.
        land: When it is on the ground again.
        start: Where it stood.
        end: Where it will stand.
        up: The direction in which it rises.
        apex: How far it rises above the way from start to end, scene units.
        power: Shape of the rise: 1 an arc, less is steeper at both ends.
        lead: 1 where the foot changes its height evenly with its way; more where it climbs first, or descends last.
        curve: A name of `Swing`.
        toe_off: How far the heel is up when the foot lifts, radians.
        heel_strike: How far the toes are up when it lands, radians.
        toes_down: How much farther than without it the heel is up midway, radians: where the ankle asks for it.
        cause: A name of `Cause`.
        refused: Footholds that were considered and refused: place and a name of `Refused`.
    """

    leg: int
    lift: float
    land: float
    start: Foothold
    end: Foothold
    up: V3 = Z_AXIS
    apex: float = 0.0
    power: float = 1.0
    lead: float = 1.0
    curve: str = "SMOOTH"
    toe_off: float = 0.0
    heel_strike: float = 0.0
    toes_down: float = 0.0
    cause: str = Cause.CYCLE
    refused: tuple[tuple[V3, str], ...] = ()
