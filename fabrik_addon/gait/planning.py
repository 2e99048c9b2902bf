# SPDX-License-Identifier: GPL-3.0-or-later
"""From path, legs, settings and terrain to a plan. Time and memory grow linearly with frames and legs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from math import floor, radians

from ..errors import InvalidValueError
from ..maths import Q4, V3, lerp, placed, plus, scaled, slerp
from ..messages import Message
from .body import LOWEST, Carried, Course, Footing, Lean, carried, lean_of, lowered, need_of, with_heels_up
from .carriage import farthest, walked, with_heels_rolled
from .clock import Clock, clock_of
from .cycle import BodyCycle
from .feet import Feet, FootPose, SurfacePose, foot_at
from .gaits import CLIP, gait_of
from .ground import BODY, Ground, Terrain, is_body
from .legs import Leg, Reaching, by_segment, check_legs
from .path import TICK, BodyPath, Track, check_paths, track_of
from .plan import WalkPlan, digest_of, surfaces_of
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
        paths: Of the body, or of its segments from the first to the last, where its spine bends as it walks.
        legs: The walker's.
        settings: One for all frames, or one for each frame of the path.
        terrain: To walk on.
        reaching: How far the legs reach within the limits of their joints; None where they have none.
        clip: How the body goes in a clip of the creature, for the gait that is read from one; else None.
    """

    paths: tuple[BodyPath, ...]
    legs: tuple[Leg, ...]
    settings: tuple[Settings, ...]
    terrain: Terrain
    reaching: Reaching | None = None
    clip: BodyCycle | None = None

    def settings_at(self, time: float) -> Settings:
        """The settings at a time, seconds; before and after the path as at its ends."""
        frame = floor(time * self.paths[0].fps + ROUNDING)
        return self.settings[min(max(frame, 0), len(self.settings) - 1)]

    @property
    def digest(self) -> str:
        """A text that is another one when the plan would be."""
        limits = "" if self.reaching is None else self.reaching.digest
        clip = "" if self.clip is None else repr(self.clip)
        return digest_of(self.paths, self.legs, self.settings, self.terrain.digest + limits + clip)

    def check(self) -> None:
        """Refuse what can't be walked.

        Raises:
            InvalidValueError: Legs, path or settings can't be used; the reason says which.
        """
        check_legs(self.legs)
        check_paths(self.paths, self.legs)
        if len(self.settings) not in (1, len(self.paths[0].places)):
            raise InvalidValueError(Message("SETTINGS_INCOMPLETE"))
        for each in dict.fromkeys(self.settings):
            check_settings(each)
            if each.gait == CLIP and (self.clip is None or any(leg.cycle is None for leg in self.legs)):
                raise InvalidValueError(Message("NO_CLIP"))
        by_segment(self.legs, len(self.paths))


def plan_walk(walk: Walk) -> WalkPlan:
    """Plan a walk at once.

    Raises:
        InvalidValueError: See `Walk.check`.
    """
    plans: list[WalkPlan] = []

    def kept() -> Generator[float, None, None]:
        plans.append((yield from planning(walk)))

    for _ in kept():
        pass
    return plans[0]


def planning(walk: Walk) -> Generator[float, None, WalkPlan]:
    """Plan a walk in slices, for idle time.

    Yields:
        The share of the work that is done, 0..1.

    Returns:
        The plan.

    Raises:
        InvalidValueError: See `Walk.check`.
    """
    walk.check()
    first = walk.settings[0]
    tracks = [track_of(path, first.gravity) for path in walk.paths]
    course = Course(tracks, walk.legs, walk.settings_at, walk.reaching, walk.clip)
    ground = Ground(walk.terrain, first.gravity)
    expected = _carried(course, _ground_below(course, ground))
    clock = clock_of(course, [body.normals for body in expected])
    yield BEFORE_STEPS
    stepper = Stepper(course, ground, clock, expected)
    for tick in stepper.run():
        if tick % SAMPLES_A_SLICE == 0:
            yield BEFORE_STEPS + (AFTER_STEPS - BEFORE_STEPS) * tick / course.count
    yield AFTER_STEPS
    surface_pose = _surface_pose(course, walk.terrain)
    feet, has_cycle = stepper.feet, any(gait_of(each).cycle is not None for each in walk.settings)
    poses = _foot_poses(course, feet, surface_pose)
    level = _over(course, clock, feet, poses)
    if has_cycle:
        feet = with_heels_rolled(course, feet, level, surface_pose)
        poses = _foot_poses(course, feet, surface_pose)
    bodies = _given_way(course, clock, (feet, poses), level, surface_pose)
    if walk.reaching is not None:
        before, feet = feet, with_heels_up(course, feet, bodies, surface_pose)
        if feet != before:
            poses = _foot_poses(course, feet, surface_pose)
            level = _over(course, clock, feet, poses)
            bodies = _given_way(course, clock, (feet, poses), level, surface_pose)
    return WalkPlan(
        digest=walk.digest,
        first=walk.paths[0].first,
        fps=walk.paths[0].fps,
        legs=walk.legs,
        starts=tuple(start for start, _ in feet),
        steps=tuple(tuple(steps) for _, steps in feet),
        body=tuple(tuple(zip(track.places, track.rotations, strict=True)) for track in tracks),
        carried=tuple(tuple(zip(body.offsets, body.tilts, strict=True)) for body in bodies),
        surfaces=surfaces_of(feet, walk.terrain, course.count),
        told=_told(walk, clock, feet),
        phases=tuple(clock.phases) if has_cycle else (),
        paces=tuple(clock.paces) if has_cycle else (),
    )


def _carried(course: Course, leans: Sequence[Sequence[Lean]]) -> list[Carried]:
    """All segments of the body over their feet."""
    bodies = []
    for segment, members in enumerate(course.members):
        legs = [course.legs[leg] for leg in members]
        track, pivot = course.tracks[segment], course.pivots[segment]
        bodies.append(carried(track, pivot, leans[segment], course.settings, legs))
    return bodies


def _leans(course: Course, index: int, footings: Sequence[Sequence[Footing]]) -> list[Lean]:
    """How each segment's feet, and those of the segments beside it, stand at a sample."""
    leans = []
    for segment, track in enumerate(course.tracks):
        around, size = course.carriers[segment]
        found = [footing for leg in around for footing in footings[leg]]
        leans.append(lean_of(track, index, course.middles[segment], found, size))
    return leans


def _ground_below(course: Course, ground: Ground) -> list[list[Lean]]:
    """By segment and sample how the ground under the homes lies, before there are steps: looked at now and then."""
    probes = _probes(course.legs)
    levels = [[0.0] * len(each) for each in probes]
    found: list[list[Lean]] = []
    for look in range(0, course.count + LOOKS - 1, LOOKS):
        index = min(look, course.count - 1)
        footings: list[list[Footing]] = []
        for number, each in enumerate(probes):
            track, here = course.of(number), list[Footing]()
            for probe, leg in enumerate(each):
                home = track.home(leg.home, index * TICK)
                hit = _below(ground, track, index, (leg, levels[number][probe], look == 0))
                if hit is not None and not ground.is_surface:
                    levels[number][probe] = hit[2] - home[2]
                here.append((hit, home, True))
            footings.append(here)
        found.append(_leans(course, index, footings))
    looks = [min((index + LOOKS // 2) // LOOKS, len(found) - 1) for index in range(course.count)]
    return [[found[look][segment] for look in looks] for segment in range(len(course.tracks))]


def _probes(legs: Sequence[Leg]) -> list[list[Leg]]:
    """The legs, and where all stand in one row others before and behind them, so that slopes ahead are felt."""
    if any(leg.row for leg in legs):
        return [[leg] for leg in legs]
    ways = [scaled(leg.forward, PROBE * leg.reach) for leg in legs]
    return [
        [replace(leg, home=plus(leg.home, scaled(way, sign))) for sign in (-1.0, 0.0, 1.0)]
        for leg, way in zip(legs, ways, strict=True)
    ]


def _below(ground: Ground, track: Track, index: int, look: tuple[Leg, float, bool]) -> V3 | None:
    """The ground for a home, looked for from where it was at the last look; at the first, from far above, too."""
    leg, level, is_first = look
    time, up = index * TICK, track.ups[index]
    home = track.home(leg.home, time)
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


def _surface_pose(course: Course, terrain: Terrain) -> SurfacePose:
    """Where surfaces that move stand, and the body on its path, on which feet hang."""

    def found(surface: int, time: float) -> tuple[V3, Q4]:
        if is_body(surface):
            track = course.tracks[BODY - surface]
            return track.place(time), track.upright(time)
        return terrain.surface(surface, time)

    return found


def _foot_poses(course: Course, feet: Feet, surface_pose: SurfacePose) -> list[list[FootPose]]:
    """All feet at all samples."""
    ways = [(leg, start, steps) for leg, (start, steps) in zip(course.legs, feet, strict=True)]
    return [[foot_at(*way, index * TICK, surface_pose) for way in ways] for index in range(course.count)]


def _over(course: Course, clock: Clock, walk: Feet, poses: Sequence[Sequence[FootPose]]) -> list[Carried]:
    """By segment how the body is carried by its feet."""
    leans: list[list[Lean]] = [[] for _ in course.tracks]
    homes = [course.of(leg).homes(limb.home) for leg, limb in enumerate(course.legs)]
    for index, feet in enumerate(poses):
        footings = [
            [(None if foot.is_hanging else foot.base, homes[leg][index], foot.is_planted)]
            for leg, foot in enumerate(feet)
        ]
        for lean, found in zip(leans, _leans(course, index, footings), strict=True):
            lean.append(found)
    return [
        walked(course, segment, clock, (walk, poses), level) for segment, level in enumerate(_carried(course, leans))
    ]


def _given_way(
    course: Course,
    clock: Clock,
    walk: tuple[Feet, Sequence[Sequence[FootPose]]],
    bodies: Sequence[Carried],
    surface_pose: SurfacePose,
) -> list[Carried]:
    """The body lowered where legs would not reach; feet that roll quickly are looked at between samples, too."""
    found, (steps, poses) = [], walk
    for segment, body in enumerate(bodies):
        track, needs = course.tracks[segment], [0.0] * course.count
        stands = [body.pose(track, index) for index in range(course.count)]
        for index, feet in enumerate(poses):
            has_cycle = bool(clock.cycles[index])
            state = (track.ups[index], clock.is_standing[index], has_cycle)
            for leg in course.members[segment]:
                limb, foot, before = course.legs[leg], feet[leg], poses[max(index - 1, 0)][leg]
                needs[index] = max(needs[index], _need(limb, foot, stands[index], state))
                stood, rolled = before.is_planted or foot.is_planted, abs(foot.pitch - before.pitch)
                if has_cycle and stood and (rolled > QUICKLY or needs[index] > 0.0):
                    between = foot_at(limb, *steps[leg], (index - 0.5) * TICK, surface_pose)
                    (low, rotation), (high, turned_to) = stands[index - 1], stands[index]
                    need = _need(limb, between, (lerp(low, high, 0.5), slerp(rotation, turned_to, 0.5)), state)
                    needs[index - 1 : index + 1] = (max(each, need) for each in needs[index - 1 : index + 1])
        found.append(lowered(track, body, needs, AT_ONCE if clock.cycles[0] else GIVING_WAY))
    return found


def _need(leg: Leg, foot: FootPose, body: tuple[V3, Q4], state: tuple[V3, bool, bool]) -> float:
    """How far the body must come down for a leg that stands, or whose foot in the air would be out of reach."""
    if foot.is_hanging:
        return 0.0
    up, is_standing, has_cycle = state
    most = leg.standing_reach if is_standing else leg.walking_reach
    deepest = LOWEST
    if not foot.is_planted:
        most, deepest = SWINGING * leg.reach, CYCLE_DIP if has_cycle else DIP
    if has_cycle:
        most = max(most, farthest(leg))
    return need_of(placed(body[0], body[1], leg.hip), foot.ankle, up, most, deepest * leg.height)


def _told(walk: Walk, clock: Clock, feet: Feet) -> tuple[Message, ...]:
    """What could not be as asked."""
    told: list[Message] = []
    hurried = [index for index, is_hurried in enumerate(clock.is_hurried) if is_hurried]
    if hurried:
        frame = walk.paths[0].first + round(hurried[0] * TICK * walk.paths[0].fps)
        told.append(Message("BODY_TOO_FAST", frame=frame, seconds=len(hurried) * TICK))
    for leg, (_, steps) in zip(walk.legs, feet, strict=True):
        hanging = [step for step in steps if is_body(step.end.surface)]
        if hanging:
            frame = walk.paths[0].first + round(hanging[0].land * walk.paths[0].fps)
            told.append(Message("LEG_WITHOUT_GROUND", leg=leg.name, frame=frame))
    return tuple(told)
