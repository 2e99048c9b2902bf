# SPDX-License-Identifier: GPL-3.0-or-later
"""From path, legs, settings and terrain to a plan. Time and memory grow linearly with frames and legs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import floor, radians

import numpy as np

from ..errors import InvalidValueError
from ..maths import V3, Doubles, Mask, plus, rotated_each, rows_of, scaled, slerps
from ..messages import Message
from .body import LOWEST, BodyTrack, Course, carried, lean_of, lowered, needs_of, with_heels_up
from .carriage import farthest, walked, with_heels_rolled
from .clock import Clock, clock_of
from .cycle import BodyCycle
from .feet import Feet, FeetPoses, FootPaths, GivenStance
from .gaits import CLIP, gait_of
from .ground import Ground, Terrain, is_body, surfaces_with
from .legs import Leg, Reaching, check_legs
from .path import TICK, BodyPath, Track, check_path, track_of
from .plan import VERSION, WalkPlan, surfaces_of
from .settings import ROUNDING, Settings, check_settings
from .stepping import Stepper

PROBE = 0.4  # of a leg's reach: how far ahead and behind a single row of legs feels the ground
LOOKS = 5  # samples between two looks at the ground under the homes
FAR_ABOVE = 100.0  # legs' reaches: from where the ground is looked for that is not near the path
BEFORE_STEPS, AFTER_STEPS = 0.15, 0.85  # share of the work that is done before the first step, and after the last
SWINGING = 0.998  # of a leg's reach: how far from its hip a foot in the air may be
GIVING_WAY, AT_ONCE = 5, 3  # samples before and after in which the body goes down to where a leg reaches; by a cycle
DIP, CYCLE_DIP = 0.12, 0.24  # of a hip's height: how far the body comes down for a foot in the air; by a cycle
QUICKLY = radians(1.0)  # how far a foot that stands rolls in a sample, from which on it is looked at in between
SAMPLES_A_SLICE = 30  # that are done between two reports of progress


@dataclass(frozen=True)
class Walk:
    """What a plan is made from.

    Attributes:
        path: Of the body.
        legs: The walker's.
        settings: One for all frames, or one for each frame of the path.
        terrain: To walk on.
        reaching: How far the legs reach within the limits of their joints; None where they have none.
        clip: How the body goes in a clip of the creature, for the gait that is read from one; else None.
        given: Stances that were set by hand.
    """

    path: BodyPath
    legs: tuple[Leg, ...]
    settings: tuple[Settings, ...]
    terrain: Terrain
    reaching: Reaching | None = None
    clip: BodyCycle | None = None
    given: tuple[GivenStance, ...] = ()

    def settings_at(self, time: float) -> Settings:
        """The settings at a time, seconds; before and after the path as at its ends."""
        frame = floor(time * self.path.fps + ROUNDING)
        return self.settings[min(max(frame, 0), len(self.settings) - 1)]

    @property
    def digest(self) -> str:
        """A text that is another one when the plan would be."""
        limits = "" if self.reaching is None else self.reaching.digest
        clip = ("" if self.clip is None else repr(self.clip)) + (repr(self.given) if self.given else "")
        ground = self.terrain.digest + limits + clip
        return sha256(repr((VERSION, self.path, self.legs, self.settings, ground)).encode()).hexdigest()

    def check(self) -> None:
        """Refuse what can't be walked.

        Raises:
            InvalidValueError: Legs, path or settings can't be used; the reason says which.
        """
        check_legs(self.legs)
        check_path(self.path, self.legs)
        if len(self.settings) not in (1, len(self.path.places)):
            raise InvalidValueError(Message("SETTINGS_INCOMPLETE"))
        for each in dict.fromkeys(self.settings):
            check_settings(each)
            if each.gait == CLIP and (self.clip is None or any(leg.cycle is None for leg in self.legs)):
                raise InvalidValueError(Message("NO_CLIP"))


def planning(walk: Walk) -> Generator[float, None, WalkPlan]:
    """Plan a walk in slices, between which its progress is shown and Esc is heard.

    Yields:
        The share of the work that is done, 0..1.

    Returns:
        The plan.

    Raises:
        InvalidValueError: See `Walk.check`.
    """
    walk.check()
    first = walk.settings[0]
    track = track_of(walk.path, first.gravity)
    course = Course(track, walk.legs, walk.settings_at, walk.reaching, walk.clip)
    ground = Ground(walk.terrain, first.gravity)
    expected = _ground_below(course, ground)
    clock = clock_of(course, expected.normals)
    yield BEFORE_STEPS
    stepper = Stepper(course, ground, clock, expected, walk.given)
    for tick in stepper.run():
        if tick % SAMPLES_A_SLICE == 0:
            yield BEFORE_STEPS + (AFTER_STEPS - BEFORE_STEPS) * tick / course.count
    yield AFTER_STEPS
    surface_pose = surfaces_with(walk.terrain, lambda time: (track.place(time), track.upright(time)))
    feet, has_cycle = stepper.feet, any(gait_of(each).cycle is not None for each in walk.settings)
    paths = FootPaths(walk.legs, feet, surface_pose)
    level = _over(course, clock, paths)
    if has_cycle:
        feet = with_heels_rolled(course, feet, level, surface_pose)
        paths = FootPaths(walk.legs, feet, surface_pose)
    body = _given_way(course, clock, paths, level)
    if walk.reaching is not None:
        before, feet = feet, with_heels_up(course, feet, body, surface_pose)
        if feet != before:
            paths = FootPaths(walk.legs, feet, surface_pose)
            body = _given_way(course, clock, paths, _over(course, clock, paths))
    return WalkPlan(
        digest=walk.digest,
        first=walk.path.first,
        fps=walk.path.fps,
        legs=walk.legs,
        starts=tuple(start for start, _ in feet),
        steps=tuple(tuple(steps) for _, steps in feet),
        body=tuple(zip(track.places, track.rotations, strict=True)),
        carried=tuple(zip(rows_of(body.offsets), rows_of(body.tilts), strict=True)),
        surfaces=surfaces_of(feet, walk.terrain, course.count),
        told=_told(walk, clock, feet, stepper.unmet),
        phases=tuple(clock.phases) if has_cycle else (),
        paces=tuple(clock.paces) if has_cycle else (),
    )


def _ground_below(course: Course, ground: Ground) -> BodyTrack:
    """The body over the ground under the homes, before there are steps: looked at now and then."""
    probes, track = _probes(course.legs), course.track
    looks = [min(look, course.count - 1) for look in range(0, course.count + LOOKS - 1, LOOKS)]
    homes = np.array([track.homes(leg.home)[looks] for leg in probes])
    points, are_there = np.zeros_like(homes), np.zeros(homes.shape[:2], dtype=np.bool_)
    for probe, (leg, rows) in enumerate(zip(probes, map(rows_of, homes), strict=True)):
        level = 0.0
        for place, (index, home) in enumerate(zip(looks, rows, strict=True)):
            hit = _below(ground, track, index, home, (leg, level, place == 0))
            if hit is not None:
                points[probe, place], are_there[probe, place] = hit, True
                level = level if ground.is_surface else hit[2] - home[2]
    nearest = np.minimum((np.arange(course.count) + LOOKS // 2) // LOOKS, len(looks) - 1)
    leans = lean_of(course, np.array(looks), (points, homes, are_there, are_there))
    leans = leans[0][nearest], leans[1][nearest], leans[2][nearest]
    return carried(course, leans)


def _probes(legs: Sequence[Leg]) -> list[Leg]:
    """The legs, and where all stand in one row others before and behind them, so that slopes ahead are felt."""
    if any(leg.row for leg in legs):
        return [*legs]
    ways = [(leg, scaled(leg.forward, sign * PROBE * leg.reach)) for leg in legs for sign in (-1.0, 0.0, 1.0)]
    return [replace(leg, home=plus(leg.home, way)) for leg, way in ways]


def _below(ground: Ground, track: Track, index: int, home: V3, look: tuple[Leg, float, bool]) -> V3 | None:
    """The ground for a home, looked for from where it was at the last look; at the first, from far above, too."""
    leg, level, is_first = look
    time, up = index * TICK, track.ups[index]
    if ground.is_surface:
        hip = track.home(leg.hip, time)
        hit = ground.foothold(leg, home, (hip, up), time)
        return hit.place if hit is not None else None
    near = (home[0], home[1], home[2] + level)
    far = FAR_ABOVE * leg.reach
    hit = ground.under(near, up, (leg.climb, far), time)
    if hit is None and is_first:
        hit = ground.under(near, up, (far, far), time)
    return hit.place if hit is not None else None


def _over(course: Course, clock: Clock, paths: FootPaths) -> BodyTrack:
    """How the body is carried by its feet."""
    feet = paths.at(course.times)
    homes = np.array([course.track.homes(leg.home) for leg in course.legs])
    footings = feet.bases, homes, feet.planted, ~feet.hanging
    leans = lean_of(course, np.arange(course.count), footings)
    return walked(course, clock, (paths, feet), carried(course, leans))


def _given_way(course: Course, clock: Clock, paths: FootPaths, body: BodyTrack) -> BodyTrack:
    """The body lowered where legs would not reach; feet that roll quickly are looked at between samples, too."""
    feet, between = paths.at(course.times), paths.at(course.times[1:] - 0.5 * TICK)
    has_cycle, stands = np.array([bool(cycles) for cycles in clock.cycles]), np.array(clock.is_standing)
    needs, ups, (places, turns) = 0.0 * course.times, course.track.arrays[3], body.poses(course.track)
    halfway = 0.5 * (places[1:] + places[:-1]), slerps(turns[:-1], turns[1:], np.full(course.count - 1, 0.5)), ups[1:]
    for number, leg in enumerate(course.legs):
        needs = np.maximum(needs, _needs(leg, number, feet, (places, turns, ups), (stands, has_cycle)))
        need = _needs(leg, number, between, halfway, (stands[1:], has_cycle[1:]))
        stood, rolls = feet.planted[number, 1:] | feet.planted[number, :-1], np.abs(np.diff(feet.pitches[number]))
        need = np.where(has_cycle[1:] & stood & ((rolls > QUICKLY) | (needs[1:] > 0.0)), need, 0.0)
        needs[1:], needs[:-1] = np.maximum(needs[1:], need), np.maximum(needs[:-1], need)
    return lowered(course.track, body, needs.tolist(), AT_ONCE if clock.cycles[0] else GIVING_WAY)


def _needs(
    leg: Leg, number: int, feet: FeetPoses, body: tuple[Doubles, Doubles, Doubles], state: tuple[Mask, Mask]
) -> Doubles:
    """How far the body must come down for a leg that stands, or whose foot in the air would be out of reach: (F,).

    Args:
        leg: The leg.
        number: Its index.
        feet: All feet.
        body: Its places (F, 3) and rotations (F, 4), and what is up (F, 3).
        state: Whether it is at rest, and whether it goes by a cycle (F,).
    """
    (places, turns, ups), (stands, has_cycle), planted = body, state, feet.planted[number]
    most = np.where(planted, np.where(stands, leg.standing_reach, leg.walking_reach), SWINGING * leg.reach)
    deepest = leg.height * np.where(planted, LOWEST, np.where(has_cycle, CYCLE_DIP, DIP))
    most = np.where(has_cycle, np.maximum(most, farthest(leg)), most)
    hips = places + rotated_each(turns, np.array(leg.hip))
    return np.where(feet.hanging[number], 0.0, needs_of(hips, feet.ankles[number], ups, most, deepest))


def _told(walk: Walk, clock: Clock, feet: Feet, unmet: Sequence[GivenStance]) -> tuple[Message, ...]:
    """What could not be as asked."""
    told: list[Message] = []
    for given in unmet:
        ends = max(given.land, 0.0), min(given.lift, walk.path.seconds)
        first, last = (walk.path.first + round(time * walk.path.fps) for time in ends)
        told.append(Message("STANCE_NOT_MET", leg=walk.legs[given.leg].name, first=first, last=last))
    hurried = [index for index, is_hurried in enumerate(clock.is_hurried) if is_hurried]
    if hurried:
        frame = walk.path.first + round(hurried[0] * TICK * walk.path.fps)
        told.append(Message("BODY_TOO_FAST", frame=frame, seconds=len(hurried) * TICK))
    for leg, (_, steps) in zip(walk.legs, feet, strict=True):
        hanging = [step for step in steps if is_body(step.end.surface)]
        if hanging:
            frame = walk.path.first + round(hanging[0].land * walk.path.fps)
            told.append(Message("LEG_WITHOUT_GROUND", leg=leg.name, frame=frame))
    return tuple(told)
