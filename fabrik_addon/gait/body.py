# SPDX-License-Identifier: GPL-3.0-or-later
"""The body over its feet: where its segments go, how the feet carry and tilt it, and feet rolled as ankles ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, radians, sqrt

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
    mean,
    minus,
    multiplied,
    perpendicular,
    placed,
    plus,
    scaled,
    share_of_turn,
    turned,
    unit_or,
)
from .cycle import BodyCycle
from .feet import (
    Feet,
    Foothold,
    Step,
    SurfacePose,
    arch,
    flat_in_the_air,
    pitch_in_the_air,
    pose_of,
    roll_standing,
)
from .gaits import gait_of
from .ground import is_body
from .legs import NEAR_ENOUGH, Leg, Reaching, by_segment
from .path import TICK, Track, covered, smoothed, smoothed_points
from .settings import Settings


@dataclass(frozen=True)
class Course:
    """The ways of a body with its legs.

    Attributes:
        tracks: By segment; a rigid body is one.
        legs: The walker's.
        settings_at: The settings at a time.
        reaching: How far legs reach within the limits of their joints; None where their length alone bounds them.
        clip: How the body goes in a clip of the creature, for the gait that is read from one; else None.
    """

    tracks: Sequence[Track]
    legs: Sequence[Leg]
    settings_at: Callable[[float], Settings]
    reaching: Reaching | None
    clip: BodyCycle | None = None

    @cached_property
    def count(self) -> int:
        """How many samples each track has."""
        return self.tracks[0].count

    @cached_property
    def settings(self) -> list[Settings]:
        """The settings by sample."""
        return [self.settings_at(index * TICK) for index in range(self.count)]

    @cached_property
    def members(self) -> list[list[int]]:
        """By segment the indices of its legs; see `by_segment`."""
        return by_segment(self.legs, len(self.tracks))

    @cached_property
    def middles(self) -> list[V3]:
        """By segment the centre of its legs' homes, in its frame."""
        return [mean([self.legs[leg].home for leg in each]) for each in self.members]

    @cached_property
    def pivots(self) -> list[V3]:
        """By segment the point between its hips, in its frame."""
        heights = [sum(self.legs[leg].hip[2] for leg in each) / len(each) for each in self.members]
        return [(x, y, height) for (x, y, _), height in zip(self.middles, heights, strict=True)]

    @cached_property
    def carriers(self) -> list[tuple[list[int], float]]:
        """By segment the legs that carry it, its own and those of the segments beside it; and their longest reach."""
        found = []
        for segment in range(len(self.members)):
            near = range(max(segment - 1, 0), min(segment + 2, len(self.members)))
            legs = [leg for each in near for leg in self.members[each]]
            found.append((legs, max(self.legs[leg].reach for leg in legs)))
        return found

    def of(self, leg: int) -> Track:
        """The track of a leg's segment."""
        return self.tracks[self.legs[leg].segment]

    def home(self, leg: int, time: float) -> V3:
        """A leg's home at a time, in world space."""
        return self.of(leg).home(self.legs[leg].home, time)

    def held_off(self, leg: int, body: tuple[V3, Q4], ankle: V3) -> float:
        """How far the limits of a leg's joints hold its ankle off a point, beyond what counts as reached.

        Args:
            leg: Index.
            body: Place and rotation of its segment of the body, world space.
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


# How the body leans by its feet, against feet that stand at home: how much higher the ground under it is along what is
# up; the normal of the plane through the feet, in world space; the level way from the middle of all homes to the middle
# of the standing feet
Lean = tuple[float, V3, V3]
# A foot and its home at a time, in world space: the sole's point without rising and rolling, None where the foot hangs;
# where it stands at rest, by the body's path; whether it stands
Footing = tuple[V3 | None, V3, bool]


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
    under = placed(track.places[index], track.uprights[index], middle)
    rows, carrying = [], []
    for point, home, carries in footings:
        if point is not None:
            x, y, _ = turned(back, minus(point, under))
            rows.append((x, y, dot(minus(point, home), up)))
            if carries:
                carrying.append(point)
    if not rows:
        return 0.0, up, ORIGIN
    raised, across, along_it = _plane(rows, size)
    aside = ORIGIN
    if carrying:
        aside = perpendicular(minus(mean(carrying), mean([home for _, home, _ in footings])), up)
    return raised, turned(track.uprights[index], unit_or((-across, -along_it, 1.0), Z_AXIS)), aside


def _plane(rows: Sequence[tuple[float, float, float]], size: float) -> tuple[float, float, float]:
    """Least squares z = c + a x + b y, held level where the points do not tell: c, a, b."""
    share, (xs, ys, zs) = 1.0 / len(rows), zip(*rows, strict=True)
    mx, my, mz = share * sum(xs), share * sum(ys), share * sum(zs)
    off = [(x - mx, y - my, z - mz) for x, y, z in rows]
    hold = (STEADY * size) ** 2
    xx = share * sum([x**2 for x, _, _ in off]) + hold
    yy = share * sum([y**2 for _, y, _ in off]) + hold
    xy = share * sum([x * y for x, y, _ in off])
    xz = share * sum([x * z for x, _, z in off])
    yz = share * sum([y * z for _, y, z in off])
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
    raised = smoothed([lift for lift, _, _ in leans], HALF_LIFE, TICK)
    normals = smoothed_points([normal for _, normal, _ in leans], HALF_LIFE, TICK)
    asides = smoothed_points([aside for _, _, aside in leans], HALF_LIFE, TICK)
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
        sway = each.body_sway if gait_of(each).cycle is None else 0.0  # else the cycle says it (`carriage`)
        offset = plus(along(tipping, up, lift), scaled(asides[index], sway))
        offsets.append(offset)
        tilts.append(tilt)
    return Carried(offsets, tilts, raised, [unit_or(normal, up) for normal, up in zip(normals, track.ups, strict=True)])


def _spare(leg: Leg) -> float:
    """How far a hip may be higher than at rest over its foot."""
    way = leg.rest_way
    under = (leg.walking_reach) ** 2 - way[0] * way[0] - way[1] * way[1]
    return max(0.0, sqrt(max(0.0, under)) + way[2])


def lowered(track: Track, body: Carried, needs: Sequence[float], span: int) -> Carried:
    """The body, lowered smoothly so far that no leg is overstretched.

    Args:
        track: The body's path.
        body: As carried.
        needs: By sample how far at least, see `need_of`.
        span: Samples before and after in which it goes down.
    """
    depths = covered(needs, span)
    offsets = [along(offset, up, -depth) for offset, up, depth in zip(body.offsets, track.ups, depths, strict=True)]
    return replace(body, offsets=offsets)


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


LEAST_LOOKS, LOOK = 8, 0.1  # times in a stance that ankles are looked at, at least; and at most seconds between them
SWING = (0.2, 0.4, 0.6, 0.8)  # shares of a swing at which they are
MET = radians(0.1)  # by which an ankle may miss the rotation of its foot
SPARE = radians(3.0)  # how much more than an ankle asks for heels come up: the body may stand a little elsewhere
MOST_UP = radians(45.0)  # to which heels come up for an ankle
TRIES = 6  # times that a heel is raised farther
RISING = (0.0, 0.1, 0.2)  # those at which the heel may be too high for it
MOST_CUTS = 4  # times that the toes are lowered at landing, and the heel at lifting


def with_heels_up(course: Course, feet: Feet, bodies: Sequence[Carried], surface_pose: SurfacePose) -> Feet:
    """The same feet, rolled as the limits of the legs' joints ask for; as they are where there are none.

    Args:
        course: The body's and the legs'.
        feet: All footholds and steps, rolled as the settings say.
        bodies: By segment how it is carried by these feet.
        surface_pose: Where surfaces that move stand.
    """
    found = []
    for leg, (start, steps) in enumerate(feet):
        limb = course.legs[leg]
        if course.reaching is None or limb.foot_length <= 0.0:
            found.append((start, steps))
        else:
            ankle = _Ankle(course, leg, course.reaching, (bodies[limb.segment], surface_pose))
            found.append(ankle.rolled(start, list(steps)))
    return found


class _Ankle:
    """An ankle with limits.

    Args:
        course: The body's and the legs'.
        leg: The index of its leg.
        reaching: How far its joints miss rotations of the foot.
        seen: How the leg's segment of the body is carried, and where surfaces that move stand.
    """

    def __init__(self, course: Course, leg: int, reaching: Reaching, seen: tuple[Carried, SurfacePose]) -> None:
        self.course, self.leg, self.reaching = course, leg, reaching
        self.limb = course.legs[leg]
        self.carried, self.surface_pose = seen

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
        times = [begun + index / looks * (ended - begun) for index in range(looks + 1)]
        asked = [self._heel_up(foothold.in_world(time, self.surface_pose), time) for time in times]
        flat_at_first = replace(landing, heel_strike=0.0) if landing is not None else None
        rolling = replace(lifting, toe_off=max(lifting.toe_off, asked[-1])) if lifting is not None else None
        rolls = [roll_standing(self.limb, time, flat_at_first, rolling) for time in times]
        pitch = max([0.0, *(need - roll for need, roll in zip(asked, rolls, strict=True))])
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
        flat, _ = flat_in_the_air(self.limb, step, time, self.surface_pose)
        return self._missed(flat, pitch_in_the_air(self.limb, step, time), self._body(time))

    def _swung(self, step: Step) -> Step:
        """The step with its toes hanging as far as the ankle asks for in the air."""
        most = 0.0
        for share in SWING:
            time = step.lift + share * (step.land - step.lift)
            (flat, _) = flat_in_the_air(self.limb, step, time, self.surface_pose)
            pitch = pitch_in_the_air(self.limb, step, time)
            most = max(most, (self._heel_up(flat, time, pitch) - pitch) / arch(share, 1.0))
        return replace(step, toes_down=most)

    def _heel_up(self, flat: tuple[V3, Q4], time: float, from_pitch: float = 0.0) -> float:
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

    def _missed(self, flat: tuple[V3, Q4], pitch: float, body: tuple[V3, Q4]) -> float:
        """How far the leg's joints miss the rotation of the foot with its heel so far up, radians."""
        back, rolled = conjugated(body[1]), pose_of(self.limb, flat, pitch, base=flat[0])
        ankle = turned(back, minus(rolled.ankle, body[0]))
        return self.reaching.turn_missed(self.leg, ankle, multiplied(back, rolled.rotation))

    def _body(self, time: float) -> tuple[V3, Q4]:
        """Place and rotation of the leg's segment of the body at a time, world space."""
        track = self.course.of(self.leg)
        return self.carried.pose(track, track.split(time)[0])
