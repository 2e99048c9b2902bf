# SPDX-License-Identifier: GPL-3.0-or-later
"""The body, carried and tilted by its feet: an offset to the path, smoothed without lag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from ..maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    Z_AXIS,
    along,
    between,
    conjugated,
    dot,
    minus,
    multiplied,
    perpendicular,
    plus,
    scaled,
    share_of_turn,
    turned,
    unit_or,
)
from .legs import Leg
from .settings import Settings
from .smoothing import covered, smoothed, smoothed_points
from .track import TICK, Track

HALF_LIFE = 0.15  # seconds
LOWEST = 0.5  # of the hips' height: the body is never lowered by more
GIVING_WAY = 5  # samples before and after in which the body goes down to where a leg reaches
STEADY = 0.08  # of the legs' spread: how much of it feet must have in a direction to tilt the body in it


@dataclass(frozen=True)
class Lean:
    """How the body leans by its feet: height, tilt and sideways shift against feet that stand at home.

    Attributes:
        raised: How much higher the ground under the body is than with all feet at home, along what is up.
        normal: Of the plane through the feet, in world space.
        aside: From the middle of all homes to the middle of the standing feet, level.
    """

    raised: float = 0.0
    normal: V3 = Z_AXIS
    aside: V3 = ORIGIN


@dataclass(frozen=True)
class Carried:
    """The body by sample of the track.

    Attributes:
        offsets: To the path's places, world space.
        tilts: To be applied after the path's rotations.
        raised: How high the ground under the body is against the path.
        normals: Of the plane through the feet.
    """

    offsets: list[V3]
    tilts: list[Q4]
    raised: list[float]
    normals: list[V3]

    def pose(self, track: Track, index: int) -> tuple[V3, Q4]:
        """The body at a sample: place and rotation."""
        return plus(track.places[index], self.offsets[index]), multiplied(self.tilts[index], track.rotations[index])


@dataclass(frozen=True)
class Footing:
    """A foot and its home at a time, in world space.

    Attributes:
        point: The sole's point without rising and rolling; None where the foot hangs.
        home: Where it stands at rest, by the body's path.
        carries: Whether it stands.
    """

    point: V3 | None
    home: V3
    carries: bool = True


def lean_of(track: Track, index: int, middle: V3, footings: Sequence[Footing], size: float) -> Lean:
    """The plane through feet, against their homes.

    Args:
        track: Of the body, or of a segment.
        index: Sample.
        middle: The centre of the homes, in the track's frame.
        footings: Of the feet that carry it.
        size: A leg's reach.
    """
    back, up = conjugated(track.uprights[index]), track.ups[index]
    under = plus(track.places[index], turned(track.uprights[index], middle))
    rows = []
    for each in footings:
        if each.point is not None:
            x, y, _ = turned(back, minus(each.point, under))
            rows.append((x, y, dot(minus(each.point, each.home), up)))
    if not rows:
        return Lean(0.0, up)
    raised, across, along_it = _plane(rows, size)
    carrying = [each.point for each in footings if each.point is not None and each.carries]
    aside = ORIGIN
    if carrying:
        aside = perpendicular(minus(_mean(carrying), _mean([each.home for each in footings])), up)
    return Lean(raised, turned(track.uprights[index], unit_or((-across, -along_it, 1.0), Z_AXIS)), aside)


def _mean(points: Sequence[V3]) -> V3:
    total = ORIGIN
    for point in points:
        total = plus(total, point)
    return scaled(total, 1.0 / len(points))


def _plane(rows: Sequence[tuple[float, float, float]], size: float) -> tuple[float, float, float]:
    """Least squares z = c + a x + b y, held level where the points do not tell: c, a, b."""
    share = 1.0 / len(rows)
    mx, my, mz = (share * sum(row[axis] for row in rows) for axis in range(3))
    hold = (STEADY * size) ** 2
    xx = share * sum((row[0] - mx) ** 2 for row in rows) + hold
    yy = share * sum((row[1] - my) ** 2 for row in rows) + hold
    xy = share * sum((row[0] - mx) * (row[1] - my) for row in rows)
    xz = share * sum((row[0] - mx) * (row[2] - mz) for row in rows)
    yz = share * sum((row[1] - my) * (row[2] - mz) for row in rows)
    under = xx * yy - xy * xy
    a, b = (xz * yy - yz * xy) / under, (yz * xx - xz * xy) / under
    return mz - a * mx - b * my, a, b


def carried(
    track: Track, pivot: V3, leans: Sequence[Lean], settings: Sequence[Settings], legs: Sequence[Leg]
) -> Carried:
    """The body over its feet, before it gives way to legs that would not reach.

    Args:
        track: Of the body, or of a segment.
        pivot: Between the hips, in the track's frame: what the body tilts about.
        leans: By sample.
        settings: By sample.
        legs: Those that carry it.
    """
    raised = smoothed([lean.raised for lean in leans], HALF_LIFE, TICK)
    normals = smoothed_points([lean.normal for lean in leans], HALF_LIFE, TICK)
    asides = smoothed_points([lean.aside for lean in leans], HALF_LIFE, TICK)
    factors = smoothed([each.body_height for each in settings], HALF_LIFE, TICK)
    height, spare = sum(leg.height for leg in legs) / len(legs), min(_spare(leg) for leg in legs)
    offsets, tilts = [], []
    for index, each in enumerate(settings):
        up = track.ups[index]
        lift = each.body_carry * raised[index] + min((factors[index] - 1.0) * height, spare)
        body_up = turned(track.rotations[index], Z_AXIS)
        tilt, tipping = IDENTITY, ORIGIN
        if each.body_tilt:
            normal = unit_or(normals[index], up)
            tilt = share_of_turn(between(body_up, normal), each.body_tilt)
            arm = turned(track.rotations[index], scaled(pivot, -1.0))
            tipping = minus(turned(tilt, arm), arm)
        offset = plus(along(tipping, up, lift), scaled(asides[index], each.body_sway))
        offsets.append(offset)
        tilts.append(tilt)
    return Carried(offsets, tilts, raised, [unit_or(normal, up) for normal, up in zip(normals, track.ups, strict=True)])


def _spare(leg: Leg) -> float:
    """How far a hip may be higher than at rest over its foot."""
    way = minus(leg.rest_ankle, leg.hip)
    under = (leg.walking_reach) ** 2 - way[0] * way[0] - way[1] * way[1]
    return max(0.0, sqrt(max(0.0, under)) + way[2])


def lowered(track: Track, body: Carried, needs: Sequence[float]) -> Carried:
    """The body, lowered smoothly so far that no leg is overstretched.

    Args:
        track: The body's path.
        body: As carried.
        needs: By sample how far at least, see `need_of`.
    """
    depths = covered(needs, GIVING_WAY)
    offsets = [along(offset, up, -depth) for offset, up, depth in zip(body.offsets, track.ups, depths, strict=True)]
    return Carried(offsets, body.tilts, body.raised, body.normals)


def need_of(hip: V3, ankle: V3, up: V3, most: float, deepest: float) -> float:
    """How far a hip must come down for an ankle to be within a distance; no farther than `deepest`."""
    way = minus(hip, ankle)
    above = dot(way, up)
    level = perpendicular(way, up)
    aside = dot(level, level)
    if aside + above * above <= most * most:
        return 0.0
    under = most * most - aside
    wanted = above - (sqrt(under) if under > 0.0 else 0.0)
    return min(max(wanted, 0.0), deepest)
