# SPDX-License-Identifier: GPL-3.0-or-later
"""Which leg steps when: by its turn in the gait, or because it has drifted or would no longer reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import atan2, copysign, cos, floor, radians

from ..maths import (
    FRONT,
    ORIGIN,
    Q4,
    V3,
    X_AXIS,
    along,
    clipped,
    conjugated,
    distance,
    dot,
    length,
    lerp,
    minus,
    multiplied,
    perpendicular,
    placed,
    plus,
    scaled,
    turned,
    unit_or,
)
from .body import BodyTrack, Course
from .clock import LEAST_PACE, LEAST_SWING, MOST_SWING, Clock, cycle_of
from .feet import Feet, Foothold, GivenStance, Step, gone_by, raised
from .footholds import SINKING, Stance, choose, held_off, is_held, least_distances
from .gaits import gait_of
from .ground import Ground, SurfacePose, is_body, smallest_circle, surfaces_with
from .legs import Leg, neighbours, reach_of
from .path import TICK
from .settings import Settings

WORTH_A_STEP = 0.5  # share of its time in the air that a leg must have left to lift late
RESTED = 0.1  # seconds that a foot stands at least
SETTLING = 0.35  # seconds of a step that no cycle asks for
WAYPOINTS = 8  # parts of a stance between which its homes are looked at
MOVING = 0.2  # seconds before and after, between which the body's way tells whether it goes ahead or back
PASSING = 0.4  # of how near feet may come to each other: feet of people pass so near
MOST_TWISTED = radians(30.0)  # how far a body turns over a foot before that steps
ALREADY_HOME = 0.02  # of a leg's reach
LONGEST_SWING = 1.2  # seconds of a swing by a cycle
SEARCHED = 0.25  # of a stride: the radius round the best place in which others are looked at
SHORT_WAY = 0.5  # of a stride: a foot lands where the body will stand if it goes no farther until then
LAST_WAY = 0.35  # the same by a cycle
UNDER = 0.75  # of how far a foot at rest is behind its hip: so much farther ahead it stands in a walk by norms
SHARE_OF_REACH = 0.995  # of what a stance may stretch a leg to, from which on it steps at once


@dataclass
class LegState:
    """What is known of a leg as it walks: where it stands or lands, and the steps so far.

    Attributes:
        foothold: Where its foot stands, or lands next.
        landed: When it landed there, or lands, seconds; below zero where it stands there from the beginning.
        window: The number of the cycle whose time in the air the leg has used, or has let pass; None before the first.
        slack: From where it wanted to stand to where it stands, world space.
        steps: All that it has taken.
        due: Stances to come that were set by hand, in the order of time.
        held: Such a one in which the foot stands, or lands next.
    """

    foothold: Foothold
    landed: float = -1.0
    window: int | None = None
    slack: V3 = ORIGIN
    steps: list[Step] = field(default_factory=list)
    due: list[GivenStance] = field(default_factory=list)
    held: GivenStance | None = None

    def take(self, step: Step, slack: V3) -> None:
        """Add a step, at whose end the foot is off by so much from where it wanted to stand."""
        self.steps.append(step)
        self.foothold, self.landed, self.slack = step.end, step.land, slack


def stood_on(states: Sequence[LegState], leg: int, time: float, surface_pose: SurfacePose) -> list[V3]:
    """Where all feet but one stand or land, in world space at a time, but for those that hang."""
    return [
        state.foothold.in_world(time, surface_pose)[0]
        for index, state in enumerate(states)
        if index != leg and not is_body(state.foothold.surface)
    ]


def under_hip(leg: Leg) -> float:
    """How far before where it stands at rest a foot counts as at home for norms, which are told from the hip."""
    return -UNDER * dot(leg.rest_way, FRONT) if leg.cycle is None else 0.0


def turned_left(before: Q4, after: Q4) -> float:
    """By which angle something faces farther to its left than before, radians."""
    x, y, _ = turned(multiplied(conjugated(before), after), FRONT)
    return atan2(x, -y)


class Stepper:
    """Walks along a track, sample by sample."""

    def __init__(
        self, course: Course, ground: Ground, clock: Clock, body: BodyTrack, given: Sequence[GivenStance] = ()
    ) -> None:
        """Stand all feet on the ground.

        Args:
            course: The body's and the legs'.
            ground: To walk on.
            clock: Of the walk.
            body: Where the ground carries the body, as far as it is known before there are steps.
            given: Stances that were set by hand. Those that a leg can't hold are `unmet`, and do not count.
        """
        self.course, self.ground, self.clock, self.body = course, ground, clock, body
        self.track, self.poses = course.track, body.singly(course.track)
        self.legs, self.settings_at = course.legs, course.settings_at
        self._surface_pose = surfaces_with(ground.terrain, self._body)
        legs = course.legs
        self.beside = neighbours(legs)
        share = 1.0 if gait_of(course.settings[0]).cycle is None else PASSING
        self.near = [share * most for most in least_distances(legs)]
        self.states: list[LegState] = []
        self.unmet: list[GivenStance] = []
        for index in range(len(legs)):
            due = self._met([one for one in given if one.leg == index])
            held = due.pop(0) if due and due[0].land <= 0.0 else None
            foothold, slack, _ = choose(ground, self._stance(index, 0.0, 0.0), self.settings_at(0.0))
            if held is not None:
                foothold, slack = replace(held.foothold or foothold, is_given=True), ORIGIN
            self.states.append(LegState(foothold, slack=slack, due=due, held=held))
        self.starts = tuple(state.foothold for state in self.states)

    @property
    def feet(self) -> Feet:
        """All footholds and steps so far."""
        return [(start, state.steps) for start, state in zip(self.starts, self.states, strict=True)]

    def run(self) -> Iterator[int]:
        """Walk; yields each sample that is done."""
        for tick in range(1, self.course.count):
            self._take_turns(tick)
            self._take_back(tick)
            yield tick

    # ---- when

    def _take_turns(self, tick: int) -> None:
        """Lift the legs whose turn has come, in the order of time."""
        due = [(time, leg) for leg in range(len(self.legs)) if (time := self._turn(leg, tick)) is not None]
        for time, leg in sorted(due):
            state, rhythm = self.states[leg], self.clock.rhythms[tick]
            is_given = state.held is not None or self._is_due(leg, time)
            beside = [other for other in self.beside[leg] if not is_given and not rhythm.is_together(leg, other)]
            free = max([time, *(self.states[other].landed for other in beside)])  # when these are down again
            if free <= tick * TICK:
                window, share = divmod(self.clock.phases[tick] + rhythm.offsets[leg], 1.0)
                is_early = self.clock.is_standing[tick] or share < 0.5 * rhythm.duties[leg]
                state.window = state.window if is_early else int(window)
                self._step(leg, free, None if is_early else window + 1.0 - rhythm.offsets[leg])

    def _turn(self, leg: int, tick: int) -> float | None:
        """When a leg is to lift between the sample before and this one, seconds; None where its turn has not come."""
        state, rhythm, now = self.states[leg], self.clock.rhythms[tick], tick * TICK
        if state.held is not None:
            return state.held.lift if state.held.lift <= now else None
        if state.landed + RESTED <= now and self._is_due(leg, now):
            return max(self._lift_to(state.due[0]), now - TICK)
        if self.clock.is_standing[tick] or state.landed + RESTED > now:
            return None
        phase = self.clock.phases[tick] + rhythm.offsets[leg]
        window = floor(phase)
        inside = phase - window - rhythm.duties[leg]
        if inside < 0.0 or window == state.window:
            return None
        if 1.0 - inside / (1.0 - rhythm.duties[leg]) < WORTH_A_STEP:
            state.window = window
            return None
        pace = self.clock.phases[tick] - self.clock.phases[tick - 1]
        late = inside / pace if pace > 0.0 else 1.0
        return max(now - min(late, 1.0) * TICK, state.landed)

    def _take_back(self, tick: int) -> None:
        """Let one leg take its foot back to where the leg reaches, or to its home while the body stands: the worst."""
        now = tick * TICK
        worst, leg, is_beyond = 0.0, -1, False
        for index, state in enumerate(self.states):
            if state.held is not None or state.landed + RESTED > now or is_body(state.foothold.surface):
                continue
            if any(self.states[other].landed > now for other in self.beside[index]):
                continue
            excess, is_out_of_reach = self._excess(index, tick)
            if excess > worst:
                worst, leg, is_beyond = excess, index, is_out_of_reach
        if leg >= 0:
            self._step(leg, now, None, is_beyond)

    def _met(self, given: Sequence[GivenStance]) -> list[GivenStance]:
        """Those stances of a leg that it can hold, in the order of time; the others are noted."""
        found = list[GivenStance]()
        for one in sorted(given, key=lambda each: each.land):
            land, lift = max(one.land, 0.0), min(one.lift, self.course.count * TICK)
            stance = self._stance(one.leg, land, lift)
            flat = one.foothold.in_world(land, self._surface_pose) if one.foothold else (stance.wanted, stance.upright)
            is_met = land <= lift and is_held(stance, flat, self.settings_at(land).body_sway)
            (found if is_met else self.unmet).append(one)
        return found

    def _lift_to(self, given: GivenStance) -> float:
        """When a foot lifts for a stance that was set by hand, as long before it as in a step of the gait; seconds."""
        index = self.track.split(given.land)[0]
        span = 1.0 - self.clock.rhythms[index].duties[given.leg]
        lift = self.clock.time_of(max(self.clock.phases[index] - span, 0.0)) or 0.0
        longest = LONGEST_SWING if self.clock.cycles[index] else MOST_SWING
        return clipped(lift, given.land - longest, given.land - LEAST_SWING)

    def _is_due(self, leg: int, time: float) -> bool:
        """Whether a foot that stands at a time has to lift for the next stance that was set by hand."""
        due = self.states[leg].due
        return bool(due) and self._lift_to(due[0]) <= time

    def _excess(self, leg: int, tick: int) -> tuple[float, bool]:
        """By how much a foot that stands is too far from its home, or beyond its leg's reach, as a share; else 0.

        And whether it is that it is beyond the leg's reach, or what the limits of its joints allow.
        """
        now, state, limb = tick * TICK, self.states[leg], self.legs[leg]
        place, rotation = state.foothold.in_world(now, self.ground.terrain.surface)
        ankle = placed(place, rotation, limb.ankle)
        up, hip = self.track.up(now), placed(*self._body(now), limb.hip)
        down = clipped(dot(minus(hip, ankle), up), 0.0, SINKING * limb.height)  # towards the height of the ankle
        stretch = distance(along(hip, up, -down), ankle) / limb.walking_reach
        off = max(held_off(self.course, leg, up, self._body(now), ankle), 0.0)
        if (stretch > 1.0 / SHARE_OF_REACH or off > 0.0) and self._drift(leg, place, now) >= ALREADY_HOME * limb.reach:
            return max(stretch, 1.0) + off / limb.reach, True
        twist = 0.0
        if self.clock.paces[tick] < LEAST_PACE and limb.foot_length > 0.0:  # else the next step turns it
            twist = abs(turned_left(self.track.upright(now), rotation)) / MOST_TWISTED - 1.0
        if twist > 0.0 or not self.clock.is_standing[tick]:
            return max(twist, 0.0), False
        drift = self._drift(leg, place, now) / (self.settings_at(now).step_trigger * self._stride(now))
        return max(drift - 1.0, 0.0), False

    def _drift(self, leg: int, place: V3, now: float) -> float:
        """How far a foot that stands at a place is from where it wanted to stand at its home, scene units."""
        wanted = minus(minus(place, self.states[leg].slack), self.course.home(leg, now))
        return length(perpendicular(wanted, self.track.up(now)))

    # ---- where to

    def _step(self, leg: int, lift: float, land_phase: float | None, is_beyond: bool = False) -> None:
        """Add a step.

        Args:
            leg: Index.
            lift: When it begins, seconds.
            land_phase: The clock's phase, in cycles, at which the foot lands; None for a step that no cycle asks for.
            is_beyond: Whether the leg would no longer reach its foothold, or not within the limits of its joints.
        """
        state, settings = self.states[leg], self.settings_at(lift)
        index, longest, settling = self.track.split(lift)[0], MOST_SWING, SETTLING
        pace, cycle = cycle_of(self.legs, leg, settings, self.clock.paces[index])
        if cycle is not None:
            longest = LONGEST_SWING
            rate = (self.clock.phases[min(index + 1, self.course.count - 1)] - self.clock.phases[index]) / TICK
            if is_beyond and rate > 0.0:  # in the time that a step of the gait takes
                settling = (1.0 - cycle.duty) / rate
        landing = self.clock.time_of(land_phase) if land_phase is not None else lift + settling
        span = clipped((landing if landing is not None else lift + MOST_SWING) - lift, LEAST_SWING, longest)
        land = lift + span
        state.held = state.due.pop(0) if self._is_due(leg, land + RESTED) else None
        if state.held is not None:
            land = state.held.land
        until = self._next_lift(leg, land, land_phase) if state.held is None else state.held.lift
        if state.held is None or state.held.foothold is None:
            foothold, slack, refused = choose(self.ground, self._stance(leg, land, until), self.settings_at(land))
        else:
            foothold, slack, refused = state.held.foothold, ORIGIN, ()
        foothold = replace(foothold, is_given=state.held is not None)
        axes = _, up = self.track.upright(lift), self.track.up(lift)
        if self.ground.is_surface:
            up = unit_or(plus(state.foothold.normal, foothold.normal), up)
        step = Step(leg, lift, land, state.foothold, foothold, up, refused=refused)
        step = gone_by(step, self.legs, axes, settings, (pace, cycle), self._surface_pose)
        state.take(raised(step, self.legs[leg], self.ground, settings, self._surface_pose), slack)

    def _stride(self, time: float) -> float:
        """What a leg walks in a cycle at the speed of the body, by its cycle; else at a comfortable speed."""
        pace = self.clock.paces[self.track.split(time)[0]]
        cycle = cycle_of(self.legs, 0, self.settings_at(time), pace)[1]
        return self.clock.stride if cycle is None else cycle.stride * reach_of(self.legs)

    def _next_lift(self, leg: int, land: float, land_phase: float | None) -> float:
        """When a foot that lands will be lifted again; the end of the track where it will not."""
        rhythm = self.clock.rhythms[self.track.split(land)[0]]
        if land_phase is None:
            phase = self.clock.phases[self.track.split(land)[0]] + rhythm.offsets[leg]
            land_phase = floor(phase) - rhythm.offsets[leg] + (1.0 if phase % 1.0 >= rhythm.duties[leg] else 0.0)
        lift = self.clock.time_of(land_phase + rhythm.duties[leg])
        return max(lift, land) if lift is not None else self.course.count * TICK

    def _stance(self, leg: int, land: float, lift: float) -> Stance:
        """What a foothold from `land` to `lift` is chosen for."""
        settings, track = self.settings_at(land), self.track
        stand = self.clock.stand_from[track.split(land)[0]] * TICK
        lift = max(lift, land)
        until = self._until_turned(land, min(lift, stand))
        homes = [self.course.home(leg, land + (until - land) * i / WAYPOINTS) for i in range(WAYPOINTS + 1)]
        middle = 0.5 * (land + until)
        up, upright = track.up(middle), track.upright(middle)
        short = SHORT_WAY if gait_of(settings).cycle is None else LAST_WAY
        if stand <= lift and distance(homes[0], homes[-1]) < short * self._stride(land):
            wanted = homes[-1]
        else:
            wanted = lerp(homes[0], _centre(homes, up, upright), settings.prediction)
            wanted = plus(wanted, turned(upright, self._walked(leg, settings, middle)))
        wanted = along(wanted, up, self.body.raised[track.split(middle)[0]].item())
        ahead = unit_or(perpendicular(minus(homes[-1], homes[0]), up), turned(upright, X_AXIS))
        bodies = tuple(self._body(time) for time in (land, middle, until))
        return Stance(
            self.legs[leg], wanted, upright, up, ahead, bodies, stood_on(self.states, leg, land, self._surface_pose),
            self.near[leg], SEARCHED * self.clock.stride, land, partial(held_off, self.course, leg, up),
        )  # fmt: skip

    def _until_turned(self, land: float, until: float) -> float:
        """When the body has turned so far over a foot that this steps, though its turn has not come."""
        at_first = turned(self.track.upright(land), FRONT)
        for index in range(1, WAYPOINTS + 1):
            time = land + (until - land) * index / WAYPOINTS
            if dot(turned(self.track.upright(time), FRONT), at_first) < cos(2.0 * MOST_TWISTED):
                return time
        return until

    def _walked(self, leg: int, settings: Settings, time: float) -> V3:
        """From a home to where the cycle has the foot midway through a stance, in the upright frame."""
        index = self.track.split(time)[0]
        if not self.clock.cycles[index]:
            return ORIGIN
        limb, cycle, track = self.legs[leg], self.clock.cycles[index][leg], self.track
        aside = limb.home[0] - self.course.middle[0]
        width = 0.5 * cycle.width * settings.step_width * limb.reach
        across = copysign(width, aside) - aside if aside else 0.0
        if cycle.aside is not None:
            across = cycle.aside * limb.reach
        move = minus(track.place(time + MOVING), track.place(time - MOVING))
        ahead = dot(unit_or(turned(conjugated(track.upright(time)), move), FRONT), FRONT)  # -1 for who goes back
        way = plus((across, 0.0, 0.0), scaled(FRONT, ahead * cycle.shift * limb.reach + under_hip(limb)))
        return scaled(way, float(cycle.liveliness(self.clock.paces[index])))

    # ---- the body, as far as it is known

    def _body(self, time: float) -> tuple[V3, Q4]:
        return self.poses[self.track.split(time)[0]]


def _centre(homes: Sequence[V3], up: V3, upright: Q4) -> V3:
    """The centre of the smallest circle round points, across what is up."""
    back = conjugated(upright)
    first = homes[0]
    flat = [turned(back, perpendicular(minus(home, first), up)) for home in homes]
    x, y, _ = smallest_circle([(point[0], point[1]) for point in flat])
    rise = 0.5 * dot(minus(homes[-1], first), up)
    return along(placed(first, upright, (x, y, 0.0)), up, rise)
