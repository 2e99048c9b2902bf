# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk: data that any frame reads, in any order, with neither terrain nor path at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor

from ..maths import Q4, V3, lerp, multiplied, plus, slerp
from .feet import Feet, FootPose
from .legs import Leg
from .steps import Foothold, Step
from .terrain import BODY, is_body
from .track import TICK

Poses = Sequence[tuple[V3, Q4]]


@dataclass(frozen=True)
class WalkPlan:
    """A walk.

    Attributes:
        digest: Of all that it was made from; another one says that it is old.
        first: The frame at which its time is 0.
        fps: Frames a second.
        legs: The walker's.
        starts: By leg where it stands at first.
        steps: By leg, in the order of time.
        body: By segment place and rotation of the body on its path, TICK apart.
        carried: By segment offset to the place, and rotation to be applied after the path's, TICK apart.
        surfaces: Of each surface that moves and is stood on, place and rotation, TICK apart.
        told: What could not be as asked, a sentence each.
    """

    digest: str
    first: int
    fps: float
    legs: tuple[Leg, ...]
    starts: tuple[Foothold, ...]
    steps: tuple[tuple[Step, ...], ...]
    body: tuple[Poses, ...]
    carried: tuple[Poses, ...]
    surfaces: Mapping[int, Poses] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    @property
    def feet(self) -> Feet:
        return Feet(self.legs, self.starts, self.steps)

    @property
    def last(self) -> float:
        """The frame from which on nothing moves any more."""
        return self.first + (len(self.body[0]) - 1) * TICK * self.fps

    def time_of(self, frame: float) -> float:
        """Seconds from the first frame; before it and after the last the walker stands as there."""
        return min(max((frame - self.first) / self.fps, 0.0), (len(self.body[0]) - 1) * TICK)

    def surface_pose(self, surface: int, time: float) -> tuple[V3, Q4]:
        """Place and rotation of a surface that moves, or of the body, which is one for a foot that hangs."""
        if is_body(surface):
            place, rotation = sample(self.body[BODY - surface], time)
            offset, tilt = sample(self.carried[BODY - surface], time)
            return plus(place, offset), multiplied(tilt, rotation)
        return sample(self.surfaces[surface], time)


def feet_at(plan: WalkPlan, frame: float) -> tuple[FootPose, ...]:
    """All feet at a frame, which need not be a whole number, in world space."""
    time, feet = plan.time_of(frame), plan.feet
    return tuple(feet.at(leg, time, plan.surface_pose) for leg in range(len(plan.legs)))


def path_at(plan: WalkPlan, frame: float) -> tuple[V3, Q4]:
    """Place and rotation of a rigid body on its path at a frame, not carried."""
    return sample(plan.body[0], plan.time_of(frame))


def body_pose_at(plan: WalkPlan, frame: float, segment: int = 0) -> tuple[V3, Q4]:
    """Place and rotation of the body at a frame, carried."""
    return plan.surface_pose(BODY - segment, plan.time_of(frame))


def steps_between(plan: WalkPlan, first: float, last: float) -> tuple[Step, ...]:
    """The steps that are under way between two frames, in the order of their lifting."""
    low, high = plan.time_of(first), plan.time_of(last)
    found = [step for steps in plan.steps for step in steps if step.lift <= high and step.land >= low]
    return tuple(sorted(found, key=_order))


def _order(step: Step) -> tuple[float, int]:
    return step.lift, step.leg


def sample(poses: Poses, time: float) -> tuple[V3, Q4]:
    """Place and rotation between samples."""
    position = time / TICK
    index = min(max(floor(position), 0), len(poses) - 1)
    share = position - index
    place, rotation = poses[index]
    if share <= 0.0 or index + 1 == len(poses):
        return place, rotation
    following, turned_to = poses[index + 1]
    if rotation == turned_to:
        return lerp(place, following, share), rotation
    return lerp(place, following, share), slerp(rotation, turned_to, share)
