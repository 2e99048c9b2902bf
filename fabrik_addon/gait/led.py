# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is led by hand: it follows a point calmly, its feet step as it moves, and its way is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import numpy as np

from ..errors import InvalidValueError
from ..finite import are_finite
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
    length,
    lengths,
    lerp,
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
from .clock import LEAST_SWING, USUAL_FROUDE, cycle_of, size_of, usual_stride
from .feet import Cause, Feet, Foothold, FootPaths, FootPose, Step, gone_by, raised
from .footholds import Choice, Stance, choose, least_distances
from .ground import Ground, Terrain, is_body
from .legs import Leg, Reaching, ahead_of, check_legs, reach_of, rooms_of
from .path import track_through
from .settings import ROUNDING, Settings, check_settings
from .stepping import LegState, stood_on

FOLLOWING = 0.1  # seconds, half-life of the way that is left: the trembling of a mouse is not followed
TURNING = 0.15  # seconds, half-life of the turn that is left
FASTEST_TURN = 2.5  # radians a second
TRIED_SHARES = (1.0, 0.5, 0.25, 0.0)  # of a step that are tried where the feet would not reach at its end
MOVING = 0.1  # of the greatest speed: a body that is slower keeps its heading


@dataclass
class Steering:
    """Where a body that is led by hand is on its way.

    Attributes:
        place: Of the body, world space.
        rotation: From the body at rest.
        fastest: Scene units a second.
        gravity: A name of `settings.Gravity`.
        faces_way: Whether it turns to where it goes.
    """

    place: V3
    rotation: Q4
    fastest: float
    gravity: str
    faces_way: bool = True

    @property
    def up(self) -> V3:
        """What is up for the body."""
        return track_through([self.place], [self.rotation], self.gravity).ups[0]

    def turn(self, angle: float) -> None:
        """Turn the body about what is up, to the left where the angle, in radians, is positive."""
        self.rotation = multiplied(turn_about(self.up, angle), self.rotation)

    def go(self, wanted: V3, span: float, holds: Callable[[tuple[V3, Q4]], bool] | None = None) -> tuple[V3, Q4]:
        """Go on towards a point: calmly, no faster than `fastest`, and no farther than the feet hold.

        Args:
            wanted: In world space; its height above the body does not count.
            span: Seconds that went by.
            holds: Tells whether all standing feet would reach with the body at a place and rotation: it goes a part of
                the way, or waits, where they would not. None to go in any case.

        Returns:
            Place and rotation of the body.
        """
        place, rotation = self.place, self.rotation
        self._step(wanted, span)
        if holds is not None:
            far = self.place, self.rotation
            for share in TRIED_SHARES:
                self.place, self.rotation = lerp(place, far[0], share), slerp(rotation, far[1], share)
                if holds((self.place, self.rotation)):
                    break
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

    def _face(self, way: V3, up: V3, span: float) -> None:
        """Turn towards where it goes, no faster than a body turns."""
        ahead = perpendicular(turned(self.rotation, FRONT), up)
        if length(ahead) * length(way) <= 0.0:
            return
        angle = angle_between(unit(ahead), unit(way))
        side = 1.0 if dot(cross(ahead, way), up) >= 0.0 else -1.0
        most = FASTEST_TURN * span
        self.turn(side * clipped(angle * (1.0 - 0.5 ** (span / TURNING)), 0.0, most))


LISTENING = 0.1  # seconds, half-life of the speed that is believed
CARRYING = 0.1  # seconds, half-life in which the body follows its feet
SLOWEST_STEP = 0.35  # seconds
WITHIN = 0.5  # of the room within the limits of joints: the drift that makes a group step, while another may be up
JOINING = 0.4  # of the drift that makes a group step: a foot of it with less stays
AHEAD = 1.5  # times of a step that a foothold looks ahead: until landing, and half of the stance
KEEPING_UP = 0.45  # of a step in the least time of a swing: one group walks while the others stand
ROUNDED = 1e-6  # share of a leg's reach by which rounding may make it longer
SHORTEST_SPAN = 1e-4  # seconds between two poses that tell a speed


Pose = tuple[V3, Q4]
# A body at a time, in seconds since the beginning: its pose as it was led, and how its feet carried it, see
# `HandWalk.body`
Moment = tuple[float, Pose]


class HandWalk:
    """Feet under a body that is moved by hand. What comes is not known, so footholds follow the speed at hand.

    Attributes:
        time: Seconds since the beginning.
        moments: When the body was where on its path, in the order of time.
    """

    def __init__(
        self, legs: Sequence[Leg], settings: Settings, terrain: Terrain, pose: Pose, reaching: Reaching | None
    ) -> None:
        """Stand all feet on the ground.

        Args:
            legs: The walker's.
            settings: Of the walk.
            terrain: To walk on.
            pose: Place and rotation of the body.
            reaching: How far the legs reach within the limits of their joints; None where they have none.

        Raises:
            InvalidValueError: The legs or settings can't be used.
        """
        check_legs(legs)
        check_settings(settings)
        self.legs, self.settings, self.reaching = legs, settings, reaching
        self.ground = Ground(terrain, settings.gravity)
        self.time = 0.0
        self.near = least_distances(legs)
        self.size, size = reach_of(legs), sum(size_of(leg) for leg in legs) / len(legs)
        usual = (USUAL_FROUDE * settings.acceleration * size) ** 0.5
        self.trigger = settings.step_trigger * min(
            usual_stride(usual, size, settings), 2.0 * min(leg.reach for leg in legs)
        )
        rooms = rooms_of(legs, reaching, settings.body_sway).values()
        self.trigger = min([self.trigger, *(WITHIN * ahead_of(limit) for limit in rooms)])
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
        self.moments: list[Moment] = [(0.0, pose)]

    def stand_at(self, footholds: Sequence[Foothold]) -> None:
        """Let the feet stand where they are before the first move, instead of near their homes.

        From then on the body is carried as it was, so that grabbing it moves nothing.

        Args:
            footholds: By leg.
        """
        for state, foothold in zip(self.states, footholds, strict=True):
            state.foothold, state.slack = foothold, ORIGIN
        self.starts = [*footholds]
        self._carry(None)
        self.at_first = self.body()

    def holds(self, pose: Pose) -> bool:
        """Whether all feet that stand would reach, the body at a pose of its path and no lower than it may come."""
        offset, tilt = self._carried()
        place, rotation, up = plus(pose[0], offset), multiplied(tilt, pose[1]), self.course.track.ups[0]
        for leg, foot in zip(self.legs, self.poses(), strict=True):
            hip = placed(place, rotation, leg.hip)
            hip = along(hip, up, -need_of(hip, foot.ankle, up, leg.standing_reach, LOWEST * leg.height))
            if foot.is_planted and distance(hip, foot.ankle) > leg.standing_reach * (1.0 + ROUNDED):
                return False
        return True

    @property
    def fastest(self) -> float:
        """The speed, in scene units a second, up to which the feet keep up with the body."""
        return KEEPING_UP * self.trigger / LEAST_SWING

    @property
    def feet(self) -> Feet:
        """All footholds and steps so far."""
        return [(start, state.steps) for start, state in zip(self.starts, self.states, strict=True)]

    @property
    def is_stepping(self) -> bool:
        """Whether a foot is in the air, so that time must go on for it to land."""
        return any(state.landed > self.time for state in self.states)

    def poses(self) -> tuple[FootPose, ...]:
        """All feet now."""
        feet = [(start, steps[-1:]) for start, steps in self.feet]  # where they stood before does not count
        return FootPaths(self.legs, feet, self._surface_pose).at(np.array([self.time])).singly()[0]

    def move(self, time: float, pose: Pose) -> tuple[FootPose, ...]:
        """Move the body, and keep the moment; one that is no later than the last takes its place.

        Args:
            time: Seconds since the beginning; times that do not grow only move the body.
            pose: Place and rotation of the body.

        Returns:
            All feet.

        Raises:
            InvalidValueError: A number is not finite; nothing is changed.
        """
        if not are_finite((time, *pose[0], *pose[1])):
            raise InvalidValueError(Message("BODY_PLACE_NOT_FINITE"))
        span = time - self.time
        self._stand(pose)
        if span >= SHORTEST_SPAN:
            self.time = time
            for index, before in enumerate(self.homes):
                self.homes[index] = home = self.course.home(index, 0.0)
                pace = scaled(minus(home, before), 1.0 / span)
                self.speeds[index] = lerp(pace, self.speeds[index], _kept(span, LISTENING))
            self._let_step()
        self._carry(max(span, 0.0))
        if self.moments[-1][0] >= self.time:
            self.moments.pop()
        self.moments.append((self.time, pose))
        return self.poses()

    def _stand(self, pose: Pose) -> None:
        track = track_through([pose[0]], [pose[1]], self.settings.gravity)
        self.course = Course(track, self.legs, lambda _: self.settings, self.reaching)

    # ---- steps

    def _let_step(self) -> None:
        """Lift the feet of one group, where all others stand and one of it has drifted too far."""
        drifts = [self._drift(index) for index in range(len(self.legs))]
        up = {self.legs[index].group for index, state in enumerate(self.states) if state.landed > self.time}
        worst = max(range(len(drifts)), key=lambda index: (drifts[index], -index))
        group = self.legs[worst].group
        if drifts[worst] < 1.0 or up:
            return
        for index, leg in enumerate(self.legs):
            if leg.group == group and drifts[index] >= JOINING:
                self._step(index)

    def _drift(self, index: int) -> float:
        """How far a foot is from its home, as a share of what makes it step.

        One that has drifted a little, and that its leg does not reach any more, counts as having drifted far enough.
        """
        state, up = self.states[index], self.course.track.ups[0]
        place, rotation = state.foothold.in_world(self.time, self._surface_pose)
        drift = length(perpendicular(minus(minus(place, state.slack), self.homes[index]), up)) / self.trigger
        leg = self.legs[index]
        ankle = placed(place, rotation, leg.ankle)
        body = self._body()
        stretch = distance(placed(*body, leg.hip), ankle) - max(leg.reach, distance(leg.hip, leg.rest_ankle))
        is_beyond = stretch > 0.0 or self.course.held_off(index, body, ankle) > 0.0
        return max(drift, 1.0) if is_beyond and drift > JOINING else drift

    def _step(self, index: int) -> None:
        state, leg, up = self.states[index], self.legs[index], self.course.track.ups[0]
        speed = perpendicular(self.speeds[index], up)
        pace = length(speed)
        span = clipped(self.trigger / pace if pace > 0.0 else SLOWEST_STEP, LEAST_SWING, SLOWEST_STEP)
        ahead = scaled(speed, AHEAD * span * self.settings.prediction)
        far = length(ahead)
        if far > self.trigger:
            ahead = scaled(ahead, self.trigger / far)
        land = self.time + span
        foothold, slack, _ = self._choose(index, plus(self.homes[index], ahead), land)
        rising = unit_or(plus(state.foothold.normal, foothold.normal), up) if self.ground.is_surface else up
        start, _ = state.foothold.in_world(self.time, self._surface_pose)
        end, turn = foothold.in_world(land, self._surface_pose)
        by = cycle_of(self.legs, index, self.settings, pace / (self.settings.acceleration * self.size) ** 0.5)
        step = Step(index, self.time, land, state.foothold, foothold, rising, cause=Cause.DRIFT)
        axes = self.course.track.uprights[0], up
        step = gone_by(step, self.legs, (minus(end, start), turn), axes, self.settings, by)
        step = replace(step, toe_off=0.0)  # when it lifts is not known before, and so it stands flat until then
        state.take(raised(step, leg, self.ground, self.settings, self._surface_pose), slack)

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
        stance = Stance(
            leg, wanted, track.uprights[0], up, ahead, (body,), others, self.near[index], self.trigger, time,
            partial(self.course.held_off, index) if self.reaching else None,
        )  # fmt: skip
        return choose(self.ground, stance, self.settings)

    # ---- the body

    def _carry(self, span: float | None) -> None:
        """Let the body follow its feet; at once where no time is given."""
        track = self.course.track
        feet = self.poses()
        points, homes = (
            np.array([foot.base for foot in feet]),
            np.array([track.home(leg.home, 0.0) for leg in self.legs]),
        )
        stands = np.array([(foot.is_planted, not foot.is_hanging) for foot in feet])
        footings = points[:, None], homes[:, None], stands[:, :1], stands[:, 1:]
        size = max(leg.reach for leg in self.legs)
        now = lean_of(track, np.zeros(1, dtype=np.intp), self.course.middle, footings, size)
        keep = _kept(span, CARRYING) if span is not None else 0.0
        raised, normal, aside = (new + keep * (old - new) for new, old in zip(now, self.lean, strict=True))
        self.lean = raised, np.where(lengths(normal)[:, None] > 0.0, units(normal), track.arrays[3]), aside
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
                need = max(need, need_of(hip, foot.ankle, up, leg.standing_reach, LOWEST * leg.height))
        return need

    def _carried(self) -> Pose:
        body = carried(self.course.track, self.course.pivot, self.lean, [self.settings], self.legs)
        return v3(body.offsets[0].tolist()), q4(body.tilts[0].tolist())

    def _body(self) -> Pose:
        """The body over its feet, before it gives way to legs that would not reach."""
        offset, tilt = self._carried()
        track = self.course.track
        return plus(track.places[0], offset), multiplied(tilt, track.rotations[0])

    def _surface_pose(self, surface: int, time: float) -> Pose:
        if is_body(surface):
            return self._body()
        return self.ground.terrain.surface(surface, time)

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


def _kept(span: float, half_life: float) -> float:
    """What share of an old value is kept after a time, of which half is lost in each half-life, seconds."""
    return float(0.5 ** (span / half_life))
