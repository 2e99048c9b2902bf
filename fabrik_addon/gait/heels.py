# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet rolled as their ankles ask for: where an ankle bends no farther, the heel comes up, or toes hang in the air.

It is looked at when all steps are taken and it is known how they carry the body. No foot stands elsewhere for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..maths import Q4, V3
from .carrying import Carried
from .course import Course
from .feet import Feet, arch, flat_in_the_air, pitch_in_the_air, roll_standing
from .rolling import TurnMissed, heel_up, turned_off
from .steps import Foothold, Step, SurfacePose
from .terrain import is_body
from .track import TICK

STANCE = tuple(index / 8.0 for index in range(9))  # shares of a stance at which ankles are looked at
SWING = (0.2, 0.4, 0.6, 0.8)  # the same of a swing
MOST_STRIKE_CUTS = 4  # times that the toes are lowered at landing


def with_heels_up(course: Course, feet: Feet, bodies: Sequence[Carried], surface_pose: SurfacePose) -> Feet:
    """The same feet, rolled as the limits of the legs' joints ask for; as they are where there are none.

    Args:
        course: The body's and the legs'.
        feet: All steps, rolled as the settings say.
        bodies: By segment how it is carried by these feet.
        surface_pose: Where surfaces that move stand.
    """
    if course.reaching is None:
        return feet
    starts, steps = list(feet.starts), [list(each) for each in feet.steps]
    for leg in range(len(feet.legs)):
        turn_missed = course.turn_missed(leg)
        if turn_missed is not None and feet.legs[leg].foot_length > 0.0:
            ankle = _Ankle(course, leg, turn_missed, (bodies[feet.legs[leg].segment], surface_pose))
            starts[leg], steps[leg] = ankle.rolled(starts[leg], steps[leg])
    return Feet(feet.legs, tuple(starts), tuple(tuple(each) for each in steps))


class _Ankle:
    """An ankle with limits.

    Args:
        course: The body's and the legs'.
        leg: The index of its leg.
        turn_missed: How far the joints of the leg miss rotations of the foot.
        seen: How the leg's segment of the body is carried, and where surfaces that move stand.
    """

    def __init__(self, course: Course, leg: int, turn_missed: TurnMissed, seen: tuple[Carried, SurfacePose]) -> None:
        self.course, self.leg, self.turn_missed = course, leg, turn_missed
        self.limb = course.legs[leg]
        self.carried, self.surface_pose = seen

    def rolled(self, start: Foothold, steps: list[Step]) -> tuple[Foothold, list[Step]]:
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
        return start, [self._swung(step) for step in steps]

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
        times = [begun + share * (ended - begun) for share in STANCE]
        asked = [self._asked(foothold, time) for time in times]
        flat_at_first = replace(landing, heel_strike=0.0) if landing is not None else None
        rolling = replace(lifting, toe_off=max(lifting.toe_off, asked[-1])) if lifting is not None else None
        rolls = [roll_standing(time, flat_at_first, rolling) for time in times]
        pitch = max([0.0, *(need - roll for need, roll in zip(asked, rolls, strict=True))])
        return pitch, max(lifting.toe_off, asked[-1] - pitch) if lifting is not None else 0.0

    def _asked(self, foothold: Foothold, time: float) -> float:
        """How far the heel has to be up at a time of a stance, radians."""
        flat = foothold.in_world(time, self.surface_pose)
        return heel_up(self.turn_missed, self.limb, flat, self._body(time))

    def _landed(self, step: Step) -> Step:
        """The step with its toes no higher at landing than the ankle allows."""
        flat = step.end.in_world(step.land, self.surface_pose)
        strike = 0.0 if step.end.pitch else step.heel_strike
        for _ in range(MOST_STRIKE_CUTS):
            off = turned_off(self.turn_missed, self.limb, (flat, -strike), self._body(step.land)) if strike else 0.0
            strike = max(strike - off, 0.0)
        return replace(step, heel_strike=strike)

    def _swung(self, step: Step) -> Step:
        """The step with its toes hanging as far as the ankle asks for in the air."""
        most = 0.0
        for share in SWING:
            time = step.lift + share * (step.land - step.lift)
            (flat, _), pitch = flat_in_the_air(step, time, self.surface_pose), pitch_in_the_air(step, time)
            asked = heel_up(self.turn_missed, self.limb, flat, self._body(time), from_pitch=pitch)
            most = max(most, (asked - pitch) / arch(share, 1.0))
        return replace(step, toes_down=most)

    def _body(self, time: float) -> tuple[V3, Q4]:
        """Place and rotation of the leg's segment of the body at a time, world space."""
        track = self.course.of(self.leg)
        return self.carried.pose(track, track.split(time)[0])
