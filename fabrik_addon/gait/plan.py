# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk: data that any frame reads, in any order, with neither terrain nor path at hand; as text, too."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property, partial
from itertools import repeat
from math import floor, inf
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..errors import InvalidValueError
from ..maths import Q4, V3, Doubles, lerp, multiplied, plus, slerp
from ..messages import Message
from .feet import Feet, Foothold, FootPaths, FootPose, GivenStance, Step
from .ground import BODY, STATIC, Terrain, is_body
from .legs import Leg
from .path import TICK

Poses = Sequence[tuple[V3, Q4]]
BLOCK = 64  # frames


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
        body: Place and rotation of the body on its path, TICK apart.
        carried: Offset to the place, and rotation to be applied after the path's, TICK apart.
        surfaces: Of each surface that moves and is stood on, place and rotation, TICK apart.
        told: What could not be as asked, a sentence each.
        phases: Of the walk's clock, in cycles, TICK apart; none where its gait has no cycle.
        paces: The speed, free of size (`clock.Clock`), of each of them.
    """

    digest: str
    first: int
    fps: float
    legs: tuple[Leg, ...]
    starts: tuple[Foothold, ...]
    steps: tuple[tuple[Step, ...], ...]
    body: Poses
    carried: Poses
    surfaces: Mapping[int, Poses] = field(default_factory=dict)
    told: tuple[str | Message, ...] = ()
    phases: tuple[float, ...] = ()
    paces: tuple[float, ...] = ()

    @cached_property
    def paths(self) -> FootPaths:
        """The ways of its feet."""
        return FootPaths(self.legs, [*zip(self.starts, self.steps, strict=True)], self.surface_pose)

    @cached_property
    def blocks(self) -> dict[int, list[tuple[FootPose, ...]]]:
        """Of `feet_at`: the feet at whole frames that were asked for."""
        return {}

    @property
    def last(self) -> float:
        """The frame from which on nothing moves any more."""
        return self.first + (len(self.body) - 1) * TICK * self.fps

    def time_of(self, frame: float) -> float:
        """Seconds from the first frame; before it and after the last the walker stands as there."""
        return min(max((frame - self.first) / self.fps, 0.0), (len(self.body) - 1) * TICK)

    def surface_pose(self, surface: int, time: float) -> tuple[V3, Q4]:
        """Place and rotation of a surface that moves, or of the body, which is one for a foot that hangs."""
        if is_body(surface):
            place, rotation = sample(self.body, time)
            offset, tilt = sample(self.carried, time)
            return plus(place, offset), multiplied(tilt, rotation)
        return sample(self.surfaces[surface], time)


def feet_at(plan: WalkPlan, frame: float) -> tuple[FootPose, ...]:
    """All feet at a frame, which need not be a whole number, in world space.

    Whole frames are reckoned in blocks: one takes hardly longer than a frame.
    """
    if frame != floor(frame):
        return plan.paths.at(np.array([plan.time_of(frame)])).singly()[0]
    block, place = divmod(int(frame), BLOCK)
    if block not in plan.blocks:
        times = [plan.time_of(BLOCK * block + index) for index in range(BLOCK)]
        plan.blocks[block] = plan.paths.at(np.array(times)).singly()
    return plan.blocks[block][place]


def body_pose_at(plan: WalkPlan, frame: float) -> tuple[V3, Q4]:
    """Place and rotation of the body at a frame, carried."""
    return plan.surface_pose(BODY, plan.time_of(frame))


def rhythm_over(plan: WalkPlan, frames: Sequence[float]) -> tuple[Doubles, Doubles]:
    """The phase of the clock and the speed, free of size, at frames of a walk that has a cycle; (F,) each."""
    positions = np.array([plan.time_of(frame) for frame in frames]) / TICK
    ticks = np.arange(len(plan.phases))
    return np.interp(positions, ticks, plan.phases), np.interp(positions, ticks, plan.paces)


def steps_between(plan: WalkPlan, first: float, last: float) -> tuple[Step, ...]:
    """The steps that are under way between two frames, in the order of their lifting."""
    low, high = plan.time_of(first), plan.time_of(last)
    found = [step for steps in plan.steps for step in steps if step.lift <= high and step.land >= low]
    return tuple(sorted(found, key=lambda step: (step.lift, step.leg)))


def steps_ahead(plan: WalkPlan, frame: float) -> tuple[Step, ...]:
    """The steps that are under way at a frame, and those of the next second, in the order of their lifting."""
    return steps_between(plan, frame, frame + plan.fps)


def stances_of(plan: WalkPlan) -> list[GivenStance]:
    """All stances, leg by leg in the order of time, but for those of feet that hang; as if they were set by hand."""
    found = list[GivenStance]()
    for leg, (start, steps) in enumerate(zip(plan.starts, plan.steps, strict=True)):
        lands, lifts = [-1.0, *(step.land for step in steps)], [*(step.lift for step in steps), inf]
        rows = zip(lands, lifts, [start, *(step.end for step in steps)], strict=True)
        found += [GivenStance(leg, *row) for row in rows if not is_body(row[2].surface)]
    return found


def surfaces_of(feet: Feet, terrain: Terrain, count: int) -> dict[int, Poses]:
    """The ways of the surfaces that move and are stood on, of so many samples."""
    footholds = [start for start, _ in feet] + [step.end for _, steps in feet for step in steps]
    numbers = sorted({foothold.surface for foothold in footholds if foothold.surface > STATIC})
    return {number: tuple(terrain.surface(number, i * TICK) for i in range(count)) for number in numbers}


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


VERSION = 4
OF_SEVERAL = (2, 3)  # versions whose bodies are lists of one; what they lack, is as it is if nothing is said of it


def to_text(plan: WalkPlan) -> str:
    """A plan as JSON, with what it has to tell as sentences in English."""
    stored = {"version": VERSION, **fields_of(plan), "told": [str(each) for each in plan.told]}
    return json.dumps(stored, separators=(",", ":"), default=fields_of)


def fields_of(each: Any) -> dict[str, object]:
    """The fields of a dataclass by their names, for JSON."""
    return {one.name: getattr(each, one.name) for one in fields(each)}


def from_text(text: str) -> WalkPlan:
    """A plan that was stored.

    Raises:
        InvalidValueError: The text is no plan, or one of a version that is not known.
    """
    try:
        data = json.loads(text)
        if data["version"] in OF_SEVERAL:
            ([data["body"]], [data["carried"]]) = data["body"], data["carried"]
        elif data["version"] != VERSION:
            raise InvalidValueError(Message("WALK_OF_OTHER_VERSION", version=data["version"], known=VERSION))
        found: WalkPlan = reader(WalkPlan)(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidValueError(Message("WALK_UNREADABLE")) from error
    return found


@cache
def reader(kind: Any) -> Callable[[Any], Any]:
    """What reads a value of a type as `fields_of` gave it to JSON; it fails where the value is none of it.

    Fields of a dataclass that are not there are as they are by default. What is read raises AttributeError, KeyError,
    TypeError or ValueError where it is not as it should be.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        make: Any = kind
        own = {name: reader(each) for name, each in get_type_hints(kind).items()}
        if hasattr(kind, "_fields"):
            return lambda data: make(*(read(one) for read, one in zip(own.values(), _items(data), strict=True)))
        return lambda data: make(**{name: read(data[name]) for name, read in own.items() if name in data})
    if origin in (Union, UnionType):
        return lambda data: reader(parts[0])(data) if data is not None else None  # it may hold its own kind
    if origin in (Mapping, dict):
        key, read = parts[0], reader(parts[1])
        return lambda data: {key(name): read(value) for name, value in data.items()}
    if origin in (tuple, Sequence):
        reads = repeat(reader(parts[0])) if origin is Sequence or Ellipsis in parts else [*map(reader, parts)]
        return lambda data: tuple(read(one) for read, one in zip(reads, _items(data), strict=isinstance(reads, list)))
    return _array if kind == Doubles else partial(_plain, kind)


def _items(data: object) -> list[Any]:
    if not isinstance(data, list):
        raise TypeError("no list")
    return data


def _array(data: object) -> Any:
    """An array of finite numbers."""
    found = np.array(_items(data), dtype=np.float64)
    if not np.isfinite(found).all():
        raise TypeError("what is no number")
    return found


def _plain(kind: Any, data: object) -> Any:
    """A number, a word, or yes or no."""
    known = (int, float) if kind is float else kind
    if not isinstance(data, known) or isinstance(data, bool) is not (kind is bool):
        raise TypeError("another type")
    return kind(data)
