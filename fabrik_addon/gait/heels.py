# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet whose ankles bend no farther: heels come up where the ground asks for more, and toes hang in the air.

That is found when the body is known that the feet carry, and changes where no foot stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .carrying import Carried
from .course import Course
from .feet import Feet, arch, flat_in_the_air, pitch_in_the_air, roll_standing
from .rolling import TurnMissed, heel_up, turned_off
from .steps import Foothold, Step, SurfacePose
from .terrain import is_body
from .track import TICK
from .vectors import Q4, V3

STANCE = tuple(index / 8.0 for index in range(9))  # shares of a stance at which ankles are looked at
SWING = (0.2, 0.4, 0.6, 0.8)  # of a swing
MOST_STRIKE_CUTS = 4


def with_heels_up(course: Course, feet: Feet, bodies: Sequence[Carried], surface_pose: SurfacePose) -> Feet:
    """The same feet, rolled as the limits of the legs' joints ask for; as they are where there are none.

    Args:
        course: The body's and the legs'.
        feet: As they step, rolling as it is set.
        bodies: By segment how it is carried by these feet.
        surface_pose: Where surfaces that move stand.
    """
    if course.reaching is None:
        return feet
    starts, steps = list(feet.starts), [list(each) for each in feet.steps]
    for leg in range(len(feet.legs)):
        missed = course.turn_missed(leg)
        if missed is not None and feet.legs[leg].foot_length > 0.0:
            ankle = _Ankle(course, leg, missed, (bodies[feet.legs[leg].segment], surface_pose))
            starts[leg], steps[leg] = ankle.rolled(starts[leg], steps[leg])
    return Feet(feet.legs, tuple(starts), tuple(tuple(each) for each in steps))


class _Ankle:
    """An ankle with limits."""

    def __init__(self, course: Course, leg: int, missed: TurnMissed, seen: tuple[Carried, SurfacePose]) -> None:
        self.course, self.leg, self.missed = course, leg, missed
        self.limb = course.legs[leg]
        self.carried, self.surface_pose = seen

    def rolled(self, start: Foothold, steps: list[Step]) -> tuple[Foothold, list[Step]]:
        """The foothold at first, and the steps, rolled as the ankle asks for."""
        end = self.course.count * TICK
        for index in range(-1, len(steps)):
            last = steps[index] if index >= 0 else None
            following = steps[index + 1] if index + 1 < len(steps) else None
            foothold = last.end if last is not None else start
            if is_body(foothold.surface):
                continue
            span = (last.land if last is not None else 0.0), (following.lift if following is not None else end)
            toe_off = following.toe_off if following is not None else 0.0
            asked = [self._asked(foothold, span[0] + share * (span[1] - span[0])) for share in STANCE]
            toe_off = max(toe_off, asked[-1]) if following is not None else 0.0
            probe = replace(following, toe_off=toe_off) if following is not None else None
            before = replace(last, heel_strike=0.0) if last is not None else None
            rolls = [roll_standing(span[0] + share * (span[1] - span[0]), before, probe) for share in STANCE]
            pitch = max([0.0, *(need - roll for need, roll in zip(asked, rolls, strict=True))])
            foothold = replace(foothold, pitch=pitch)
            if last is not None:
                steps[index] = self._landed(replace(last, end=foothold))
            else:
                start = foothold
            if following is not None:
                kept = max(following.toe_off, asked[-1] - pitch)
                steps[index + 1] = replace(following, start=foothold, toe_off=kept)
        return start, [self._swung(step) for step in steps]

    def _asked(self, foothold: Foothold, time: float) -> float:
        """How far the heel has to be up at a time of a stance."""
        flat = foothold.in_world(time, self.surface_pose)
        return heel_up(self.missed, self.limb, flat, self._body(time))

    def _landed(self, step: Step) -> Step:
        """The step with its toes no higher at landing than the ankle allows."""
        flat = step.end.in_world(step.land, self.surface_pose)
        strike = 0.0 if step.end.pitch else step.heel_strike
        for _ in range(MOST_STRIKE_CUTS):
            off = turned_off(self.missed, self.limb, (flat, -strike), self._body(step.land)) if strike else 0.0
            strike = max(strike - off, 0.0)
        return replace(step, heel_strike=strike)

    def _swung(self, step: Step) -> Step:
        """The step with its toes hanging as far as the ankle asks for in the air."""
        most = 0.0
        for share in SWING:
            time = step.lift + share * (step.land - step.lift)
            (flat, _), pitch = flat_in_the_air(step, time, self.surface_pose), pitch_in_the_air(step, time)
            asked = heel_up(self.missed, self.limb, flat, self._body(time), from_pitch=pitch)
            most = max(most, (asked - pitch) / arch(share, 1.0))
        return replace(step, toes_down=most)

    def _body(self, time: float) -> tuple[V3, Q4]:
        track = self.course.of(self.leg)
        return self.carried.pose(track, track.split(time)[0])
