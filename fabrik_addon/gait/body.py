# SPDX-License-Identifier: GPL-3.0-or-later
"""The body over its feet: where it goes, how the feet carry and tilt it, and feet rolled as ankles ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, radians, sqrt

import numpy as np

from ..maths import (
    IDENTITY,
    Q4,
    V3,
    Z_AXIS,
    Doubles,
    Mask,
    Places,
    betweens,
    conjugated,
    conjugates,
    dots,
    lengths,
    mean,
    minus,
    multiplied,
    products,
    rotated_each,
    rows_of,
    slerps,
    turned,
    units,
)
from .cycle import BodyCycle
from .feet import Feet, FeetPoses, Foothold, FootPaths, Step, arch, rolled, shape_of
from .gaits import gait_of
from .ground import SurfacePose, is_body
from .legs import NEAR_ENOUGH, Leg, Reaching
from .path import TICK, Track, covered, smoothed, smoothed_each
from .settings import Settings


@dataclass(frozen=True)
class Course:
    """The ways of a body with its legs.

    Attributes:
        track: The body's.
        legs: The walker's.
        settings_at: The settings at a time.
        reaching: How far legs reach within the limits of their joints; None where their length alone bounds them.
        clip: How the body goes in a clip of the creature, for the gait that is read from one; else None.
    """

    track: Track
    legs: Sequence[Leg]
    settings_at: Callable[[float], Settings]
    reaching: Reaching | None
    clip: BodyCycle | None = None

    @cached_property
    def count(self) -> int:
        """How many samples the track has."""
        return len(self.track.places)

    @cached_property
    def times(self) -> Doubles:
        """When each sample is, seconds."""
        return TICK * np.arange(self.count, dtype=np.float64)

    @cached_property
    def settings(self) -> list[Settings]:
        """The settings by sample."""
        return [self.settings_at(index * TICK) for index in range(self.count)]

    @cached_property
    def size(self) -> float:
        """The reach of the longest leg."""
        return max(leg.reach for leg in self.legs)

    @cached_property
    def middle(self) -> V3:
        """The centre of the legs' homes, in the body's frame."""
        return mean([leg.home for leg in self.legs])

    @cached_property
    def pivot(self) -> V3:
        """The point between its hips, in its frame."""
        return (*self.middle[:2], sum(leg.hip[2] for leg in self.legs) / len(self.legs))

    def home(self, leg: int, time: float) -> V3:
        """A leg's home at a time, in world space."""
        return self.track.home(self.legs[leg].home, time)

    def held_off(self, leg: int, body: tuple[V3, Q4], ankle: V3) -> float:
        """How far the limits of a leg's joints hold its ankle off a point, beyond what counts as reached.

        Args:
            leg: Index.
            body: Place and rotation of the body, world space.
            ankle: The point, world space.

        Returns:
            Scene units; 0 where the ankle gets there, or no leg has limits.
        """
        if self.reaching is None:
            return 0.0
        missed = self.reaching.shortage(leg, turned(conjugated(body[1]), minus(ankle, body[0])))
        return max(missed - NEAR_ENOUGH * self.legs[leg].reach, 0.0)


HALF_LIFE = 0.15  # seconds
LOWEST = 0.5  # of the hips' height: the body is never lowered by more
STEADY = 0.08  # of the legs' spread: how much of it feet must have in a direction to tilt the body in it


# How the body leans by its feet in F samples, against feet that stand at home: how much higher the ground under it is
# along what is up (F,); the normals of the plane through the feet (F, 3), in world space; the level way from the middle
# of all homes to the middle of the standing feet (F, 3)
Leans = tuple[Doubles, Doubles, Doubles]
# K feet and their homes in F samples, in world space: the sole's points without rising and rolling (K, F, 3); where
# they stand at rest, by the body's path (K, F, 3); whether they carry (K, F); whether they do not hang (K, F)
Footings = tuple[Doubles, Doubles, Mask, Mask]


@dataclass(frozen=True)
class BodyTrack:
    """The body by sample of the track.

    Attributes:
        offsets: (F, 3), to the path's places, world space.
        tilts: (F, 4), to be applied after the path's rotations.
        raised: (F,), how high the ground under the body is against the path.
        normals: (F, 3), of the plane through the feet.
    """

    offsets: Doubles
    tilts: Doubles
    raised: Doubles
    normals: Doubles

    def singly(self, track: Track) -> list[tuple[V3, Q4]]:
        """Place and rotation at all samples."""
        places, rotations = self.poses(track)
        return [*zip(rows_of(places), rows_of(rotations), strict=True)]

    def poses(self, track: Track) -> tuple[Doubles, Doubles]:
        """The body at all samples: places (F, 3) and rotations (F, 4)."""
        places, rotations, _, _ = track.arrays
        return places + self.offsets, products(self.tilts, rotations)


def lean_of(course: Course, samples: Places, footings: Footings) -> Leans:
    """The plane through feet, against their homes.

    Args:
        course: The body's and the legs'.
        samples: (F,), of the track.
        footings: Of the feet that carry it.
    """
    points, homes, carries, are_there = footings
    places, _, uprights, ups = (values[samples] for values in course.track.arrays)
    under = places + rotated_each(uprights, np.array(course.middle))
    off = rotated_each(conjugates(uprights), points - under)
    counts = are_there.sum(axis=0)
    weights = are_there / np.maximum(counts, 1)
    raised, across, along_it = _plane((off[..., 0], off[..., 1], dots(points - homes, ups)), weights, course.size)
    normals = rotated_each(uprights, units(np.stack((-across, -along_it, np.ones_like(across)), axis=1)))
    carrying = (carries & are_there).astype(np.float64)
    standing = carrying.sum(axis=0)
    middles = (carrying[..., None] * points).sum(axis=0) / np.maximum(standing, 1.0)[:, None]
    asides = middles - homes.mean(axis=0)
    asides = np.where((standing > 0.0)[:, None], asides - dots(asides, ups)[:, None] * ups, 0.0)
    is_held = (counts > 0)[:, None]
    return np.where(counts > 0, raised, 0.0), np.where(is_held, normals, ups), np.where(is_held, asides, 0.0)


def _plane(points: tuple[Doubles, Doubles, Doubles], weights: Doubles, size: float) -> Leans:
    """Least squares z = c + a x + b y of K points in F samples, held level where the points do not tell: c, a, b."""
    xs, ys, zs = points
    mx, my, mz = ((weights * values).sum(axis=0) for values in points)
    dx, dy, hold = xs - mx, ys - my, (STEADY * size) ** 2
    xx, yy = (weights * dx * dx).sum(axis=0) + hold, (weights * dy * dy).sum(axis=0) + hold
    xy = (weights * dx * dy).sum(axis=0)
    xz, yz = ((weights * values * (zs - mz)).sum(axis=0) for values in (dx, dy))
    under = xx * yy - xy * xy
    a, b = (xz * yy - yz * xy) / under, (yz * xx - xz * xy) / under
    return mz - a * mx - b * my, a, b


def carried(course: Course, leans: Leans) -> BodyTrack:
    """The body over its feet, before it gives way to legs that would not reach; it tilts about its pivot.

    Args:
        course: The body's and the legs'.
        leans: By sample.
    """
    (_, rotations, _, ups), legs, settings = course.track.arrays, course.legs, course.settings
    raised = np.array(smoothed(leans[0].tolist(), HALF_LIFE))
    normals, asides = (smoothed_each(values, HALF_LIFE) for values in leans[1:])
    normals = np.where(lengths(normals)[:, None] > 0.0, units(normals), ups)
    factors = np.array(smoothed([each.body_height for each in settings], HALF_LIFE))
    height, spare = sum(leg.height for leg in legs) / len(legs), min(_spare(leg) for leg in legs)
    shares = np.array([each.body_carry for each in settings]), np.array([each.body_tilt for each in settings])
    lifts = shares[0] * raised + np.minimum((factors - 1.0) * height, spare)
    body_ups = rotated_each(rotations, np.array(Z_AXIS))
    level = np.array(IDENTITY)
    tilts = np.where(shares[1][:, None] > 0.0, slerps(level, betweens(body_ups, normals), shares[1]), level)
    arms = rotated_each(rotations, -np.array(course.pivot))
    # else the cycle says how it sways (`carriage`)
    kinds = {id(each): each for each in settings}
    known = {key: each.body_sway if gait_of(each).cycle is None else 0.0 for key, each in kinds.items()}
    sways = np.array([known[id(each)] for each in settings])
    offsets = rotated_each(tilts, arms) - arms + lifts[:, None] * ups + sways[:, None] * asides
    return BodyTrack(offsets, tilts, raised, normals)


def _spare(leg: Leg) -> float:
    """How far a hip may be higher than at rest over its foot."""
    way = leg.rest_way
    under = (leg.walking_reach) ** 2 - way[0] * way[0] - way[1] * way[1]
    return max(0.0, sqrt(max(0.0, under)) + way[2])


def lowered(track: Track, body: BodyTrack, needs: Sequence[float], span: int) -> BodyTrack:
    """The body, lowered smoothly so far that no leg is overstretched.

    Args:
        track: The body's path.
        body: As carried.
        needs: By sample how far at least, see `need_of`.
        span: Samples before and after in which it goes down.
    """
    return replace(body, offsets=body.offsets - np.array(covered(needs, span))[:, None] * track.arrays[3])


def needs_of(hips: Doubles, ankles: Doubles, ups: Doubles, most: Doubles, deepest: Doubles) -> Doubles:
    """Many of `need_of`: of hips (F, 3) and ankles (F, 3)."""
    ways = hips - ankles
    above = dots(ways, ups)
    aside = dots(ways, ways) - above * above
    wanted = above - np.sqrt(np.maximum(most * most - aside, 0.0))
    return np.where(aside + above * above <= most * most, 0.0, np.clip(wanted, 0.0, deepest))


def need_of(hip: V3, ankle: V3, up: V3, most: float, deepest: float) -> float:
    """How far a hip must come down for an ankle to be within a distance; no farther than `deepest`."""
    x, y, z = hip[0] - ankle[0], hip[1] - ankle[1], hip[2] - ankle[2]
    above = x * up[0] + y * up[1] + z * up[2]
    x, y, z = x - up[0] * above, y - up[1] * above, z - up[2] * above
    aside = x * x + y * y + z * z
    if aside + above * above <= most * most:
        return 0.0
    under = most * most - aside
    wanted = above - (sqrt(under) if under > 0.0 else 0.0)
    return min(max(wanted, 0.0), deepest)


Flat = tuple[V3 | Doubles, Q4 | Doubles]  # the place of a sole and the rotation of its foot, without rolling
LEAST_LOOKS, LOOK = 8, 0.1  # times in a stance that ankles are looked at, at least; and at most seconds between them
SWING = (0.2, 0.4, 0.6, 0.8)  # shares of a swing at which they are
MET = radians(0.1)  # by which an ankle may miss the rotation of its foot
SPARE = radians(3.0)  # how much more than an ankle asks for heels come up: the body may stand a little elsewhere
MOST_UP = radians(45.0)  # to which heels come up for an ankle
TRIES = 6  # times that a heel is raised farther
RISING = (0.0, 0.1, 0.2)  # those at which the heel may be too high for it
MOST_CUTS = 4  # times that the toes are lowered at landing, and the heel at lifting


def with_heels_up(course: Course, feet: Feet, body: BodyTrack, surface_pose: SurfacePose) -> Feet:
    """The same feet, rolled as the limits of the legs' joints ask for; as they are where there are none.

    Args:
        course: The body's and the legs'.
        feet: All footholds and steps, rolled as the settings say.
        body: How it is carried by these feet.
        surface_pose: Where surfaces that move stand.
    """
    found = []
    for leg, (start, steps) in enumerate(feet):
        limb = course.legs[leg]
        if course.reaching is None or limb.foot_length <= 0.0:
            found.append((start, steps))
        else:
            ankle = _Ankle(course, leg, course.reaching, (body, surface_pose))
            found.append(ankle.rolled(start, list(steps)))
    return found


class _Ankle:
    """An ankle with limits.

    Args:
        course: The body's and the legs'.
        leg: The index of its leg.
        reaching: How far its joints miss rotations of the foot.
        seen: How the body is carried, and where surfaces that move stand.
    """

    def __init__(self, course: Course, leg: int, reaching: Reaching, seen: tuple[BodyTrack, SurfacePose]) -> None:
        self.course, self.leg, self.reaching = course, leg, reaching
        self.limb, self.shape = course.legs[leg], shape_of(course.legs[leg])
        self.poses, self.surface_pose = seen[0].singly(course.track), seen[1]

    def rolled(self, start: Foothold, steps: list[Step]) -> tuple[Foothold, Sequence[Step]]:
        """The foothold at first, and the steps, rolled as the ankle asks for."""
        for index in range(-1, len(steps)):
            landing = steps[index] if index >= 0 else None
            lifting = steps[index + 1] if index + 1 < len(steps) else None
            foothold = landing.end if landing is not None else start
            if is_body(foothold.surface):
                continue
            pitch, toe_off = self._rolled_on(foothold, landing, lifting)
            foothold = replace(foothold, pitch=pitch)
            if landing is not None:
                steps[index] = self._landed(replace(landing, end=foothold))
            else:
                start = foothold
            if lifting is not None:
                steps[index + 1] = replace(lifting, start=foothold, toe_off=toe_off)
        return start, [self._swung(self._lifted(step)) for step in steps]

    def _rolled_on(self, foothold: Foothold, landing: Step | None, lifting: Step | None) -> tuple[float, float]:
        """How a foot rolls while it stands, between two steps.

        Args:
            foothold: Where it stands.
            landing: The step with which it came there; None for the first stance of a walk.
            lifting: The one with which it leaves; None for the last stance.

        Returns:
            How far the heel is up all the time, so that it is up far enough at each; and how much farther when the
            foot lifts, no less than its step says. Radians.
        """
        begun = landing.land if landing is not None else 0.0
        ended = lifting.lift if lifting is not None else self.course.count * TICK
        looks = max(LEAST_LOOKS, ceil((ended - begun) / LOOK))
        times = begun + (ended - begun) / looks * np.arange(looks + 1, dtype=np.float64)
        asked = [self._heel_up(foothold.in_world(time, self.surface_pose), time) for time in times.tolist()]
        steps = [replace(landing, heel_strike=0.0)] if landing is not None else []
        if lifting is not None:
            steps.append(replace(lifting, start=foothold, toe_off=max(lifting.toe_off, asked[-1])))
        rolls = self._feet(foothold, steps, times).pitches[0] - foothold.pitch
        pitch = max(0.0, float((np.array(asked) - rolls).max()))
        return pitch, max(lifting.toe_off, asked[-1] - pitch) if lifting is not None else 0.0

    def _landed(self, step: Step) -> Step:
        """The step with its toes no higher at landing than the ankle allows."""
        flat = step.end.in_world(step.land, self.surface_pose)
        strike = 0.0 if step.end.pitch else step.heel_strike
        for _ in range(MOST_CUTS):
            off = self._missed(flat, -strike, self._body(step.land)) if strike else 0.0
            strike = max(strike - off, 0.0)
        return replace(step, heel_strike=strike)

    def _lifted(self, step: Step) -> Step:
        """The step with its heel no higher as it lifts than the ankle allows, then and as it goes on to rise."""
        for share in RISING:
            time = step.lift + share * (step.land - step.lift)
            for _ in range(MOST_CUTS):
                missed = self._missed_at(step, time)
                less = replace(step, toe_off=max(step.toe_off - missed - SPARE, 0.0))
                if missed <= MET or self._missed_at(less, time) >= missed:
                    break
                step = less
        return step

    def _missed_at(self, step: Step, time: float) -> float:
        """How far the joints of the leg miss the rotation of a foot that goes a step."""
        feet = self._feet(step.start, [step], np.array([time]))
        return self._missed((feet.flat[0, 0], feet.turns[0, 0]), float(feet.pitches[0, 0]), self._body(time))

    def _swung(self, step: Step) -> Step:
        """The step with its toes hanging as far as the ankle asks for in the air."""
        shares = np.array(SWING)
        times = step.lift + shares * (step.land - step.lift)
        feet, most = self._feet(step.start, [step], times), 0.0
        rises = arch(shares, 1.0).tolist()
        rows = zip(feet.flat[0], feet.turns[0], feet.pitches[0].tolist(), times.tolist(), rises, strict=True)
        for place, turn, pitch, time, rise in rows:
            most = max(most, (self._heel_up((place, turn), time, pitch) - pitch) / rise)
        return replace(step, toes_down=most)

    def _feet(self, start: Foothold, steps: Sequence[Step], times: Doubles) -> FeetPoses:
        """The foot at times of a few steps."""
        return FootPaths([self.limb], [(start, steps)], self.surface_pose).at(times)

    def _heel_up(self, flat: Flat, time: float, from_pitch: float = 0.0) -> float:
        """How far the heel of the foot has to be up for the leg's joints to bring the foot to its rotation.

        Ankles bend no farther than they do: people climb steep ground on the balls of their feet. The heel is raised by
        what the joints miss, again and again, until they miss next to nothing.

        Args:
            flat: Place of the sole and rotation of the foot, without rolling, world space.
            time: Seconds.
            from_pitch: How far the heel is up in any case, radians.

        Returns:
            Radians; `from_pitch` where that will do, and where rolling farther would not help.
        """
        body = self._body(time)
        pitch, now = from_pitch, self._missed(flat, from_pitch, body)
        for _ in range(TRIES):
            if now <= MET:
                return min(pitch + SPARE, max(MOST_UP, pitch)) if pitch > from_pitch else from_pitch
            raised = pitch + now
            then = self._missed(flat, raised, body)
            if then >= now or raised > max(MOST_UP, from_pitch):
                break
            pitch, now = raised, then
        return pitch

    def _missed(self, flat: Flat, pitch: float, body: tuple[V3, Q4]) -> float:
        """How far the leg's joints miss the rotation of the foot with its heel so far up, radians."""
        places, turns = (np.array(part) for part in flat)
        _, ankle, rotation = rolled(self.shape, (places, turns), np.array(pitch))
        back = conjugated(body[1])
        way = turned(back, minus(ankle.tolist(), body[0]))
        return self.reaching.turn_missed(self.leg, way, multiplied(back, rotation.tolist()))

    def _body(self, time: float) -> tuple[V3, Q4]:
        """Place and rotation of the body at a time, world space."""
        return self.poses[self.course.track.split(time)[0]]
