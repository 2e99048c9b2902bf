# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of a limit, to be drawn about its joint."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..forms import V3
from ..vectors import PI, rotated, turn_about

OUTLINE_STEP = PI / 30.0  # radians
TWIST_RADIUS = 0.35

OutlinePoint = tuple[float, float, float]
Curve = tuple[OutlinePoint, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """Curves in the rest frame of the bone, about the joint at the origin, for a bone of length 1.

    Attributes:
        swing: Curves of the bone's end along the edge of its range; a closed one ends where it starts.
        twist: Curves of a point beside the bone along the range of its twist.
        ends: Points of the curves by the name of the setting that they show.
    """

    swing: tuple[Curve, ...] = ()
    twist: tuple[Curve, ...] = ()
    ends: dict[str, OutlinePoint] = field(default_factory=dict)

    def joined(self, other: Outline) -> Outline:
        """Both outlines as one."""
        return Outline((*self.swing, *other.swing), (*self.twist, *other.twist), {**self.ends, **other.ends})


def arc(point: V3, axis: V3, low: float, high: float) -> Curve:
    """A point turned about a unit axis from one angle to another, by a few degrees at a time."""
    count = int((high - low) / OUTLINE_STEP) + 1
    return tuple([rotated(turn_about(axis, low + (high - low) * k / count), point) for k in range(count + 1)])


def curve_ends(least: str, greatest: str, curve: Curve) -> dict[str, OutlinePoint]:
    """Both ends of a curve by the names of the settings that they show."""
    return {least: curve[0], greatest: curve[len(curve) - 1]}
