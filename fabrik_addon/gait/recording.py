# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk by hand was, kept as a plan: any frame shows what was shown when it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from math import ceil

from ..maths import Q4, V3, lerp, slerp
from .feet import Feet
from .legs import Leg
from .plan import WalkPlan
from .settings import ROUNDING
from .storing import to_text
from .terrain import STATIC, Terrain
from .track import TICK

Pose = tuple[V3, Q4]


@dataclass(frozen=True)
class Moment:
    """A body that is walked by hand, at a time.

    Attributes:
        time: Seconds since the beginning.
        path: Place and rotation of the body as it was led.
        carried: Offset to the place, and rotation to be applied after the path's.
    """

    time: float
    path: Pose
    carried: Pose


@dataclass
class RecordedWalk:
    """The moments of a walk by hand, in the order of time."""

    moments: list[Moment] = field(default_factory=list)

    def add(self, moment: Moment) -> None:
        """Keep a moment; one that is no later than the last takes its place."""
        if self.moments and moment.time <= self.moments[-1].time:
            moment = Moment(self.moments[-1].time, moment.path, moment.carried)
            self.moments.pop()
        self.moments.append(moment)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.moments[-1].time - self.moments[0].time

    def poses(self) -> tuple[list[Pose], list[Pose]]:
        """The path and how the body was carried off it, each TICK seconds, from the first moment to the last."""
        first, count = self.moments[0].time, ceil(self.seconds / TICK - ROUNDING) + 1
        path, carried = [], []
        pairs = list(pairwise(self.moments)) or [(self.moments[0], self.moments[0])]
        place = 0
        for index in range(count):
            time = min(first + index * TICK, self.moments[-1].time)
            while place + 1 < len(pairs) and pairs[place][1].time < time:
                place += 1
            a, b = pairs[place]
            share = (time - a.time) / (b.time - a.time) if b.time > a.time else 0.0
            path.append(_between(a.path, b.path, share))
            carried.append(_between(a.carried, b.carried, share))
        return path, carried

    def plan(self, feet: Feet, terrain: Terrain, first: int, fps: float) -> WalkPlan:
        """The walk as a plan.

        Args:
            feet: All steps of it; the last of them have landed.
            terrain: What was walked on.
            first: The frame of the first moment, whose time is 0.
            fps: Frames a second.
        """
        path, carried = self.poses()
        footholds = [*feet.starts, *(step.end for steps in feet.steps for step in steps)]
        moving = sorted({each.surface for each in footholds if each.surface > STATIC})
        surfaces = {number: tuple(terrain.surface(number, i * TICK) for i in range(len(path))) for number in moving}
        legs: tuple[Leg, ...] = tuple(feet.legs)
        starts, steps = tuple(feet.starts), tuple(tuple(each) for each in feet.steps)
        plan = WalkPlan("", first, fps, legs, starts, steps, (tuple(path),), (tuple(carried),), surfaces)
        digest = sha256(to_text(plan).encode()).hexdigest()
        return WalkPlan(digest, first, fps, legs, starts, steps, plan.body, plan.carried, surfaces)


def _between(a: Pose, b: Pose, share: float) -> Pose:
    return (lerp(a[0], b[0], share), slerp(a[1], b[1], share)) if share else a
