# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet under a body that is led by hand: they step as it moves, by the cycle of its gait, and its way is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import ceil, inf, log, radians

import numpy as np

from ..errors import InvalidValueError, are_finite
from ..maths import (
    FRONT,
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    X_AXIS,
    along,
    angle_between,
    clipped,
    conjugated,
    cross,
    distance,
    dot,
    eased,
    length,
    lengths,
    lerp,
    mean,
    minus,
    multiplied,
    perpendicular,
    placed,
    plus,
    q4,
    scaled,
    slerp,
    turn_about,
    turned,
    unit,
    unit_or,
    units,
    v3,
)
from ..messages import Message
from .body import LOWEST, Course, Leans, carried, lean_of, need_of
from .carriage import farthest, leading, swayed
from .clock import FIRST_OF_CYCLE, LEAST_SWING, MOST_SWING, USUAL_FROUDE, cycle_of, shortened, size_of, usual_stride
from .cycle import BodyCycle, Cycle, liveliness
from .feet import Feet, Foothold, FootPaths, FootPose, Step, gone_by, raised
from .footholds import Choice, Stance, choose, held_off, least_distances
from .gaits import gait_of, goes_by_cycle
from .ground import Ground, Terrain, is_body, surfaces_with
from .legs import Leg, Reaching, ahead_of, check_legs, reach_of, rooms_of
from .path import kept, track_through
from .settings import ROUNDING, Settings, check_settings
from .stepping import MOST_TWISTED, LegState, stood_on, turned_left, under_hip

CARRYING = 0.1  # seconds, half-life in which the body follows its feet
SLOWEST_STEP = 0.35  # seconds
WITHIN = 0.5  # of the room within the limits of joints: the drift that makes a group step, while another may be up
JOINING = 0.4  # of the drift that makes a group step: a foot of it with less stays
AHEAD = 1.5  # times of a step that a foothold looks ahead: until landing, and half of the stance
LONGEST = 1.1  # times of a step at a speed
SWUNG_DIP = 0.16  # of a hip's height, by which it may come down for a foot that will land
DIP = 0.09  # of a hip's height: how far the body of who walks by a cycle comes down for a foot that does not step yet
LANDING = 0.9  # of a stance of other feet, in which a foot lands
PACES = [0.01 * pace for pace in range(44, 9, -2)]  # at which a walker by a cycle is led at most, its legs permitting
KEEPING_UP = 0.45  # of a step in the least time of a swing: one group walks while the others stand
ROUNDED = 1e-6  # share of a leg's reach by which rounding may make it longer
HELD_TWIST = radians(40.0)  # over a foot that stands, by which a body that walks by a cycle does not turn
MOST_TURNED = radians(45.0)  # how far ahead a foot turns of a body that turns, at most
SHORTEST_SPAN = 1e-4  # seconds between two poses that tell a speed
GOING = 0.2  # seconds, half-life of the speed by which trunk and arms go along
CLOCKING = 0.06  # seconds, half-life in which the clock comes to where the feet are
# Of a cycle, by which a foot lands later than the clock is: at least; at most, else it steps again, and the clock waits
NEXT, AGAIN = 0.25, 0.8
PAST = 0.25  # of that drift: a body that walks by a cycle, and has gone past all its feet by it, steps
ROLLING, LIFTING = 0.1, 0.999  # of the drift that makes a foot step: from which on its heel comes up; at most

FOLLOWING = 0.1  # seconds, half-life of the way that is left: the trembling of a mouse is not followed
TURNING = 0.15  # seconds, half-life of the turn that is left
FASTEST_TURN = 2.5  # radians a second
TRIED_SHARES = (1.0, 0.5, 0.25, 0.0)  # of a step that are tried where the feet would not reach at its end
LOOKING = 0.4  # seconds of the near future
TINY = 1e-12  # scene units that are no way
MOVING = 0.1  # of the greatest speed: a body that is slower keeps its heading
LISTENING = 0.05  # seconds, half-life of the speed that is believed
Pose = tuple[V3, Q4]


class HandWalk:
    """Feet under a body that is moved by hand. What comes is not known, so footholds follow the speed at hand.

    Attributes:
        time: Seconds since the beginning.
        moments: When the body was where on its path, in the order of time.
        phase: Of the clock, cycles: as the foot in the air has it, and where all stand as the last one had it.
        pace: The speed, free of size (`clock.Clock`), evened out.
    """

    def __init__(
        self,
        legs: Sequence[Leg],
        settings: Settings,
        terrain: Terrain,
        pose: Pose,
        reaching: Reaching | None,
        clip: BodyCycle | None = None,
    ) -> None:
        """Stand all feet on the ground.

        Args:
            legs: The walker's.
            settings: Of the walk.
            terrain: To walk on.
            pose: Place and rotation of the body.
            reaching: How far the legs reach within the limits of their joints; None where they have none.
            clip: How the body goes in a clip of the creature, for the gait that is read from one; else None.

        Raises:
            InvalidValueError: The legs or settings can't be used.
        """
        check_legs(legs)
        check_settings(settings)
        self.legs, self.settings, self.reaching, self.clip = legs, settings, reaching, clip
        self.by_cycle = goes_by_cycle(legs, settings)
        self.offsets = gait_of(settings).rhythm(legs, settings).offsets
        self.time = self.phase = self.pace = self.turning = 0.0
        self.ahead = 1.0  # cosine of the angle between where it goes and where it faces
        self.gone = [0.0] * len(legs)  # by leg how much of what makes it lift its heel, and step, is over
        self.swung = 0.0, 0.0, 0.0  # seconds that the last swing lasted, its share of a cycle, the phase at its end
        self.ground = Ground(terrain, settings.gravity)
        self._surface_pose = surfaces_with(terrain, lambda time: self._body())
        self.near = least_distances(legs)
        self.size, size = reach_of(legs), sum(size_of(leg) for leg in legs) / len(legs)
        usual = (USUAL_FROUDE * settings.acceleration * size) ** 0.5
        self.unit: float = (settings.acceleration * self.size) ** 0.5  # speeds of 1, free of size
        usual = min(usual_stride(usual, size, settings), 2.0 * min(leg.reach for leg in legs))
        rooms = [ahead_of(limit) for limit in rooms_of(legs, reaching, settings.body_sway).values()]
        self.most = settings.step_trigger * usual, min(rooms, default=inf)
        self.trigger, _ = self._gone(0.0)
        self._feet: tuple[FootPose, ...] | None = None
        self._borne: Pose | None = None
        self._stand(pose)
        self.lean: Leans = np.zeros(1), self.course.track.arrays[3], np.zeros((1, 3))
        self.depth, self.at_first = 0.0, (ORIGIN, IDENTITY)
        self.homes = [self.course.home(index, 0.0) for index in range(len(legs))]
        self.speeds = [ORIGIN] * len(legs)  # of the homes, scene units a second, evened out
        self.states: list[LegState] = []
        for index, home in enumerate(self.homes):
            foothold, slack, _ = self._choose(index, home, 0.0)
            self.states.append(LegState(foothold, slack=slack))
        self.starts = [state.foothold for state in self.states]
        self._carry(None)
        self.moments: list[tuple[float, Pose]] = [(0.0, pose)]

    def stand_at(self, footholds: Sequence[Foothold]) -> None:
        """Let the feet stand where they are before the first move, instead of near their homes.

        From then on the body is carried as it was, so that grabbing it moves nothing.

        Args:
            footholds: By leg.
        """
        for state, foothold in zip(self.states, footholds, strict=True):
            state.foothold, state.slack = foothold, ORIGIN
        self._forget()
        self.starts = [*footholds]
        self._carry(None)
        self.at_first = self.body()

    def strain(self, pose: Pose) -> list[float]:
        """How far feet hold back the body at a pose of its path, no lower than it may come.

        Returns:
            Of each that stands, or of who walks by a cycle lands, by how much of a leg's reach it is beyond that, and
            by how much the body is turned too far over it, radians; 0 where it reaches.
        """
        offset, tilt = self._carried()
        place, rotation, up = plus(pose[0], offset), multiplied(tilt, pose[1]), self.course.track.ups[0]
        found = list[float]()
        for leg, state, foot in zip(self.legs, self.states, self.poses(), strict=True):
            ankle, low = foot.ankle, DIP if self.by_cycle else LOWEST
            if not foot.is_planted and self.by_cycle:
                ground, turn = state.foothold.in_world(state.landed, self._surface_pose)
                ankle, low = placed(ground, turn, leg.ankle), SWUNG_DIP
            hip = placed(place, rotation, leg.hip)
            hip = along(hip, up, -need_of(hip, ankle, up, self._longest(leg), low * leg.height))
            holds = not foot.is_hanging and (foot.is_planted or self.by_cycle)
            found.append(max(distance(hip, ankle) / self._longest(leg) - 1.0 - ROUNDED, 0.0) * holds)
            twists = self.by_cycle and foot.is_planted and leg.foot_length > 0.0
            found.append(max(abs(turned_left(rotation, foot.rotation)) - HELD_TWIST, 0.0) * twists)
        return found

    @property
    def fastest(self) -> float:
        """The speed, in scene units a second, up to which the feet keep up with the body."""
        if not self.by_cycle:
            return KEEPING_UP * self.trigger / LEAST_SWING
        return self.unit * next((pace for pace in PACES if self._gone(pace)[0] < self.most[1]), PACES[-1])

    def _gone(self, pace: float) -> tuple[float, float]:
        """How far a foot drifts from its home before it steps, and how far the body goes meanwhile, at a speed."""
        (usual, room), cycle = self.most, self._cycle(leading(self.legs), pace)
        if cycle is None:
            trigger = min(usual, WITHIN * room)
            return trigger, trigger
        stride = cycle.stride * self.size * self.settings.stride_scale * shortened(0.0, self.ahead)
        trigger = min(2.0 * self.settings.step_trigger * cycle.duty * stride, room)
        return trigger, min((1.0 - cycle.duty) * stride, LANDING * 2.0 * trigger)

    @property
    def feet(self) -> Feet:
        """All footholds and steps so far."""
        return [(start, state.steps) for start, state in zip(self.starts, self.states, strict=True)]

    @property
    def is_stepping(self) -> bool:
        """Whether a foot is in the air, so that time must go on for it to land."""
        return any(state.landed > self.time for state in self.states)

    @property
    def over_feet(self) -> V3:
        """Where the body of who walks by a cycle stands over its feet, those included that land; else where it is."""
        place, up = self.course.track.places[0], self.course.track.ups[0]
        holds = [state.foothold.in_world(self.time, self._surface_pose)[0] for state in self.states]
        ways = [minus(hold, home) for hold, home in zip(holds, self.homes, strict=True)]
        return plus(place, perpendicular(mean(ways), up)) if self.by_cycle else place

    def poses(self) -> tuple[FootPose, ...]:
        """All feet now."""
        if self._feet is None:
            feet = list[tuple[Foothold, Sequence[Step]]]()
            for index, (start, steps) in enumerate(self.feet):  # where they stood before does not count
                coming = self._coming(index)
                feet.append((start, steps[-1:]) if coming is None else (coming.start, [coming]))
            self._feet = FootPaths(self.legs, feet, self._surface_pose).at(np.array([self.time])).singly()[0]
        return self._feet

    def move(self, time: float, pose: Pose, led: Steering | None = None) -> tuple[FootPose, ...]:
        """Move the body, and keep the moment; one that is no later than the last takes its place.

        Args:
            time: Seconds since the beginning; times that do not grow only move the body.
            pose: Place and rotation of the body.
            led: Where it was led: feet step as fast as that asks, also where they hold it back.

        Returns:
            All feet.

        Raises:
            InvalidValueError: A number is not finite; nothing is changed.
        """
        if not are_finite((time, *pose[0], *pose[1])):
            raise InvalidValueError(Message("BODY_PLACE_NOT_FINITE"))
        span, faced = time - self.time, self.course.track.uprights[0]
        if span >= SHORTEST_SPAN:
            self.time = time
            self._stand(led.meant or pose if led is not None else pose)
            for index, before in enumerate(self.homes):
                pace = scaled(minus(self.course.home(index, 0.0), before), 1.0 / span)
                self.speeds[index] = lerp(pace, self.speeds[index], kept(span, LISTENING))
            turn = turned_left(faced, self.course.track.uprights[0]) / span
            self.turning = turn + kept(span, LISTENING) * (self.turning - turn)
        self._stand(pose)
        if span >= SHORTEST_SPAN:
            self.homes = [self.course.home(index, 0.0) for index in range(len(self.legs))]
            self._keep_time(span)
            self._let_step(is_held=led is not None and led.is_held)
        self._carry(max(span, 0.0))
        if self.moments[-1][0] >= self.time:
            self.moments.pop()
        self.moments.append((self.time, pose))
        return self.poses()

    def _stand(self, pose: Pose) -> None:
        track = track_through([pose[0]], [pose[1]], self.settings.gravity)
        self.course = Course(track, self.legs, lambda _: self.settings, self.reaching, self.clip)
        self._forget()

    # ---- steps

    def _keep_time(self, span: float) -> None:
        """Let pace, clock and heels go on."""
        upright, up = self.course.track.uprights[0], self.course.track.ups[0]
        ways = [scaled(perpendicular(speed, up), 1.0 / self.unit) for speed in self.speeds]
        pace, old = sum(map(length, ways)) / len(ways), kept(span, GOING)
        self.pace = pace + old * (self.pace - pace)
        ahead = dot(mean(ways), turned(upright, FRONT)) / pace if pace > 0.0 else 0.0
        self.ahead = ahead + old * (self.ahead - ahead)
        self.trigger, _ = self._gone(self.pace)
        (lasts, share, end), landed = self.swung, max(state.landed for state in self.states)
        due = end - share * clipped((landed - self.time) / lasts, 0.0, 1.0) if lasts else 0.0
        self.phase += max(due - self.phase, 0.0) * (1.0 - kept(span, CLOCKING))
        for index in range(len(self.legs)):
            soon = self.pace * self.unit * LISTENING / log(2.0) / self.trigger  # by which it is evened out
            past = clipped((self._past(index) + soon - ROLLING) / (1.0 - ROLLING), 0.0, LIFTING)
            self.gone[index] = past + kept(span, LISTENING) * (self.gone[index] - past)
        self._forget()

    def _coming(self, index: int) -> Step | None:
        """The step that a foot will take by whose stand the body has gone more than half, so that its heel comes up."""
        state, leg, up = self.states[index], self.legs[index], self.course.track.ups[0]
        cycle = self._cycle(index, self.pace)
        if cycle is None or leg.foot_length <= 0.0 or is_body(state.foothold.surface):
            return None
        stands, share = cycle.duty / (1.0 - cycle.duty), 0.5 + 0.5 * self.gone[index]
        if state.steps:
            last = state.steps[-1]
            share = min(share, (self.time - last.land) / (stands * (last.land - last.lift)))
        if share <= 0.5:
            return None
        rolls = eased(2.0 * self.trigger / (cycle.stride * self.size)) * float(cycle.liveliness(self.pace))
        rolls *= self.settings.heel_toe if leg.cycle is None else 1.0
        lift, pace = self.time + (1.0 - share) * stands, cycle_of(self.legs, index, self.settings, self.pace)[0]
        step = Step(index, lift, lift + 1.0, state.foothold, state.foothold, up, pace=pace, share=rolls)
        return replace(step, energy=self.settings.energy, toe_off=rolls * max(cycle.toe_off, 0.0))

    def _cycle(self, index: int, pace: float) -> Cycle | None:
        """The cycle by which a leg goes at a speed, if it does."""
        return cycle_of(self.legs, index, self.settings, pace)[1] if self.by_cycle else None

    def _let_step(self, is_held: bool) -> None:
        """Lift the feet of one group, where all others stand and one of it has drifted too far, or holds the body."""
        drifts = [self._drift(index, foot.ankle) for index, foot in enumerate(self.poses())]
        # by a cycle that one goes first, of those that have to, which has stood longest
        most, stood = (1.0, [-state.landed for state in self.states]) if self.by_cycle else (inf, [0.0] * len(drifts))
        worst = max(range(len(drifts)), key=lambda index: (min(drifts[index], most), stood[index], -index))
        group, is_past = self.legs[worst].group, min(map(self._past, range(len(drifts)))) > PAST
        has_to = drifts[worst] >= 1.0 or is_past or (is_held and self.by_cycle)
        if self.is_stepping or not has_to:
            return
        for index, leg in enumerate(self.legs):
            if leg.group == group and drifts[index] >= JOINING:
                self._step(index, FIRST_OF_CYCLE if is_past else 1.0)

    def _drift(self, index: int, ankle: V3) -> float:
        """How far a foot is from its home, as a share of what makes it step; less for one that is ahead on the way.

        One that has drifted a little, and that its leg does not reach any more, counts as having drifted far enough.
        """
        leg, up, way, body = self.legs[index], self.course.track.ups[0], self._way(index), self._body()
        place, rotation = self.states[index].foothold.in_world(self.time, self._surface_pose)
        off = perpendicular(minus(place, self._home(index)), up)
        off = along(off, way, -float(liveliness(self.pace)) * max(dot(off, way), 0.0)) if self.by_cycle else off
        drift = length(off) / self.trigger
        hip, reach = placed(*body, leg.hip), max(leg.reach, distance(leg.hip, leg.rest_ankle))
        is_beyond = need_of(hip, ankle, up, reach, LOWEST * leg.height) > (DIP if self.by_cycle else 0.0) * leg.height
        if self.by_cycle and leg.foot_length > 0.0:
            twist = turned_left(self.course.track.uprights[0], rotation) - self._turn_in(LOOKING)
            drift = max(drift, abs(twist) / MOST_TWISTED)
        low = along(body[0], up, -self.depth if self.by_cycle else 0.0), body[1]
        is_beyond = is_beyond or self.course.held_off(index, low, ankle) > 0.0
        return max(drift, 1.0) if is_beyond and drift > JOINING else drift

    def _past(self, index: int) -> float:
        """How far the body has gone past the middle of a foot's stance, as a share of what makes it step; by arcs 0."""
        place, _ = self.states[index].foothold.in_world(self.time, self._surface_pose)
        return dot(minus(self._home(index), place), self._way(index)) / self.trigger if self.by_cycle else 0.0

    def _turn_in(self, span: float) -> float:
        """By how much the body will have turned left after a time, as far as feet turn ahead of it, radians."""
        return clipped(self.turning * span, -MOST_TURNED, MOST_TURNED)

    def _way(self, index: int) -> V3:
        """Which way a leg's home goes; zero where it stands."""
        return unit_or(perpendicular(self.speeds[index], self.course.track.ups[0]), ORIGIN)

    def _home(self, index: int) -> V3:
        """Where a foot stands midway, off by as much as where it stands is off from where it wanted to."""
        home, cycle = plus(self.homes[index], self.states[index].slack), self._cycle(index, self.pace)
        if cycle is None:
            return home
        ahead = cycle.shift * self.size + self.ahead * under_hip(self.legs[index])
        return along(home, self._way(index), ahead * float(cycle.liveliness(self.pace)))

    def _step(self, index: int, quicker: float) -> None:
        state, leg, up = self.states[index], self.legs[index], self.course.track.ups[0]
        speed = perpendicular(self.speeds[index], up)
        pace = length(speed)
        by, cycle = cycle_of(self.legs, index, self.settings, pace / self.unit), self._cycle(index, pace / self.unit)
        (trigger, swing), slowest = self._gone(by[0]), MOST_SWING if self.by_cycle else SLOWEST_STEP
        span = clipped(swing / (quicker * pace) if pace > 0.0 else SLOWEST_STEP, LEAST_SWING, slowest)
        far = min(AHEAD * span * pace, trigger)
        if cycle is not None:
            far = pace * span + trigger * float(cycle.liveliness(pace / self.unit)) ** 2
            behind = max((self._past(other) for other in range(len(self.legs)) if other != index), default=-inf)
            far = min(far, LONGEST * 2.0 * trigger - behind * self.trigger)
        ahead = scaled(self._way(index), far * self.settings.prediction)
        state.slack = ORIGIN
        land = self.time + span
        foothold, slack, _ = self._choose(index, plus(self._home(index), ahead), land)
        rising = unit_or(plus(state.foothold.normal, foothold.normal), up) if self.ground.is_surface else up
        step = Step(index, self.time, land, state.foothold, foothold, rising)
        axes = self.course.track.uprights[0], up
        step = gone_by(step, self.legs, axes, self.settings, by, self._surface_pose)
        step = replace(step, toe_off=max(self.poses()[index].pitch - state.foothold.pitch, 0.0))
        if cycle is not None:
            offset = self.offsets[index] if leg.cycle is None else cycle.offset
            lands = ceil(self.phase + offset + NEXT) - offset
            if lands - self.phase < AGAIN:
                self.swung = span, 1.0 - cycle.duty, lands
        self.gone[index] = 0.0
        state.take(raised(step, leg, self.ground, self.settings, self._surface_pose), slack)
        self._forget()

    def _choose(self, index: int, wanted: V3, time: float) -> Choice:
        """The foothold for a place of the world that is wanted, for a foot that lands at a time."""
        track, leg = self.course.track, self.legs[index]
        up = track.ups[0]
        others = stood_on(self.states, index, time, self._surface_pose)
        wanted = along(wanted, up, float(self.lean[0][0]) * self.settings.body_carry)
        way = perpendicular(minus(wanted, self.course.home(index, 0.0)), up)
        ahead = unit_or(way, turned(track.uprights[0], X_AXIS))
        place, rotation = self._body()
        body = plus(place, way), rotation
        upright = track.uprights[0]
        if self.by_cycle:
            upright = multiplied(turn_about(up, self._turn_in(time - self.time)), upright)
        stance = Stance(
            leg, wanted, upright, up, ahead, (body,), others, self.near[index], self.trigger, time,
            partial(held_off, self.course, index, up),
        )  # fmt: skip
        return choose(self.ground, stance, self.settings)

    # ---- the body

    def _carry(self, span: float | None) -> None:
        """Let the body follow its feet; at once where no time is given."""
        track, feet = self.course.track, self.poses()
        points = np.array([foot.base for foot in feet])
        homes = np.array([track.home(leg.home, 0.0) for leg in self.legs])
        stands = np.array([(foot.is_planted, not foot.is_hanging) for foot in feet])
        footings = points[:, None], homes[:, None], stands[:, :1], stands[:, 1:]
        now = lean_of(self.course, np.zeros(1, dtype=np.intp), footings)
        keep = kept(span, CARRYING) if span is not None else 0.0
        raised, normal, aside = (new + keep * (old - new) for new, old in zip(now, self.lean, strict=True))
        self.lean = raised, np.where(lengths(normal)[:, None] > 0.0, units(normal), track.arrays[3]), aside
        self._forget()
        self.depth = max(self._need(), self.depth * keep)

    def body(self) -> Pose:
        """The offset to the body's place, and the rotation to follow its own; no standing leg is overstretched.

        Both are against those with which it was grabbed, see `stand_at`.
        """
        offset, tilt = self._carried()
        offset = along(offset, self.course.track.ups[0], -self.depth)
        return minus(offset, self.at_first[0]), multiplied(tilt, conjugated(self.at_first[1]))

    def _need(self) -> float:
        """How far the body has to come down for the legs: also for those in the air, which reach back at first."""
        (place, rotation), need = self._body(), 0.0
        up = self.course.track.ups[0]
        for leg, foot in zip(self.legs, self.poses(), strict=True):
            if not foot.is_hanging:
                hip = placed(place, rotation, leg.hip)
                lowest = DIP if self.by_cycle and not foot.is_planted else LOWEST
                need = max(need, need_of(hip, foot.ankle, up, self._longest(leg), lowest * leg.height))
        return need

    def _longest(self, leg: Leg) -> float:
        """How far hip and ankle of a leg that stands may be apart."""
        return farthest(leg) if self.by_cycle else leg.standing_reach

    def _forget(self) -> None:
        """Where feet and body are is found anew when it is asked for."""
        self._feet, self._borne = None, None

    def _carried(self) -> Pose:
        if self._borne is not None:
            return self._borne
        body = carried(self.course, self.lean)
        first, cycle = leading(self.legs), self._cycle(leading(self.legs), self.pace)
        if cycle is not None:
            rhythm = np.array([self.phase]), np.array([self.pace]), np.array([self.offsets[first]])
            table = cycle.table[None], np.zeros(1, dtype=np.intp), np.array([cycle.slowest])
            body = swayed(self.course, body, rhythm, table)
        self._borne = v3(body.offsets[0].tolist()), q4(body.tilts[0].tolist())
        return self._borne

    def _body(self) -> Pose:
        """The body over its feet, before it gives way to legs that would not reach."""
        offset, tilt = self._carried()
        track = self.course.track
        return plus(track.places[0], offset), multiplied(tilt, track.rotations[0])

    def path(self, fps: float) -> list[Pose]:
        """Where the body was led, without what carried it there: a pose for each frame, from the first moment on."""
        found, place = list[Pose](), 0
        for index in range(ceil(self.time * fps - ROUNDING) + 1):
            time = min(index / fps, self.time)
            while place + 1 < len(self.moments) and self.moments[place + 1][0] <= time:
                place += 1
            (begun, low), (ended, high) = self.moments[place], self.moments[min(place + 1, len(self.moments) - 1)]
            share = (time - begun) / (ended - begun) if ended > begun else 0.0
            found.append((lerp(low[0], high[0], share), slerp(low[1], high[1], share)))
        return found


@dataclass
class Steering:
    """Where a body that is led by hand is on its way.

    Attributes:
        place: Of the body, world space.
        rotation: From the body at rest.
        fastest: Scene units a second.
        gravity: A name of `settings.Gravity`.
        faces_way: Whether it turns to where it goes.
        meant: Where the last span would have brought it at the mean speed of its near future, but for its feet.
        is_held: Whether its feet held it back the last time.
        wanted: Where it was to go then; None at first.
        wandering: How fast that moves, evened out, scene units a second.
    """

    place: V3
    rotation: Q4
    fastest: float
    gravity: str
    faces_way: bool = True
    meant: Pose | None = None
    is_held: bool = False
    wanted: V3 | None = None
    wandering: V3 = ORIGIN

    @property
    def up(self) -> V3:
        """What is up for the body."""
        return track_through([self.place], [self.rotation], self.gravity).ups[0]

    def turn(self, angle: float) -> None:
        """Turn the body about what is up, to the left where the angle, in radians, is positive."""
        self.rotation = multiplied(turn_about(self.up, angle), self.rotation)

    def go(self, wanted: V3, span: float, strain: Callable[[Pose], list[float]] | None = None) -> Pose:
        """Go on towards a point: calmly, no faster than `fastest`, and no farther than the feet hold.

        Args:
            wanted: In world space; its height above the body does not count.
            span: Seconds that went by.
            strain: See `HandWalk.strain`: the body goes a part of the way, or waits, where that would be worse than
                now. None to go in any case.

        Returns:
            Place and rotation of the body.
        """
        place, rotation = self.place, self.rotation
        self._step(wanted, span)
        far, self.meant = (self.place, self.rotation), (self._soon(place, wanted, span), self.rotation)
        if strain is not None:
            most = strain((place, rotation))
            for share, turned_by in product(TRIED_SHARES, (1.0, 0.0)):
                self.place, self.rotation = lerp(place, far[0], share), slerp(rotation, far[1], share * turned_by)
                if all(there <= here for there, here in zip(strain((self.place, self.rotation)), most, strict=True)):
                    break
        self.is_held = (self.place, self.rotation) != far
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

    def _soon(self, place: V3, wanted: V3, span: float) -> V3:
        """Where it would be after a span, as fast as in its near future, if what it follows goes on as it does."""
        up, most = self.up, self.fastest
        if self.wanted is not None and span > 0.0:
            pace = perpendicular(scaled(minus(wanted, self.wanted), 1.0 / span), up)
            pace = scaled(pace, min(most / max(length(pace), most), 1.0))
            self.wandering = lerp(pace, self.wandering, kept(span, LISTENING))
        self.wanted = wanted
        lag = along(perpendicular(minus(wanted, place), up), self.wandering, -FOLLOWING / log(2.0))
        way = scaled(plus(scaled(lag, 1.0 - kept(LOOKING, FOLLOWING)), scaled(self.wandering, LOOKING)), span / LOOKING)
        return along(place, way, min(most * span / max(length(way), TINY), 1.0))

    def _face(self, way: V3, up: V3, span: float) -> None:
        """Turn towards where it goes, no faster than a body turns."""
        ahead = perpendicular(turned(self.rotation, FRONT), up)
        if length(ahead) * length(way) <= 0.0:
            return
        angle = angle_between(unit(ahead), unit(way))
        side = 1.0 if dot(cross(ahead, way), up) >= 0.0 else -1.0
        most = FASTEST_TURN * span
        self.turn(side * clipped(angle * (1.0 - 0.5 ** (span / TURNING)), 0.0, most))
