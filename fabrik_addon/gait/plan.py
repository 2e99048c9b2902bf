# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk: data that any frame reads, in any order, with neither terrain nor path at hand; as text, too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import floor

from ..errors import InvalidValueError
from ..maths import Q4, V3, lerp, multiplied, plus, slerp
from ..texts import Text
from .feet import Feet, Foothold, FootPose, Step
from .ground import BODY, is_body
from .legs import Leg
from .path import TICK, BodyPath
from .settings import Settings

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


VERSION = 2

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def digest_of(paths: Sequence[BodyPath], legs: Sequence[Leg], settings: Sequence[Settings], terrain: str) -> str:
    """A text that is another one where a plan of these inputs may be."""
    return sha256(repr((VERSION, tuple(paths), tuple(legs), tuple(settings), terrain)).encode()).hexdigest()


def to_text(plan: WalkPlan) -> str:
    """A plan as JSON."""
    return json.dumps({"version": VERSION, **asdict(plan)}, separators=(",", ":"))


def from_text(text: str) -> WalkPlan:
    """A plan that was stored.

    Raises:
        InvalidValueError: The text is no plan, or one of a newer version.
    """
    try:
        data: Json = json.loads(text)
        stored = _fields(data)
        version = stored["version"]
        if version != VERSION:
            raise InvalidValueError(
                Text(
                    "the stored walk is of version {version}, not {known}: plan it anew", version=version, known=VERSION
                )
            )
        return _plan(stored)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidValueError("the stored walk can't be read: plan it anew") from error


def _plan(stored: dict[str, Json]) -> WalkPlan:
    return WalkPlan(
        digest=_text(stored["digest"]),
        first=int(_number(stored["first"])),
        fps=_number(stored["fps"]),
        legs=tuple(_leg(each) for each in _items(stored["legs"])),
        starts=tuple(_foothold(each) for each in _items(stored["starts"])),
        steps=tuple(tuple(_step(each) for each in _items(steps)) for steps in _items(stored["steps"])),
        body=tuple(_poses(each) for each in _items(stored["body"])),
        carried=tuple(_poses(each) for each in _items(stored["carried"])),
        surfaces={int(number): _poses(poses) for number, poses in _fields(stored["surfaces"]).items()},
        told=tuple(_text(each) for each in _items(stored["told"])),
    )


def _leg(data: Json) -> Leg:
    it = _fields(data)
    return Leg(
        name=_text(it["name"]),
        home=_vector(it["home"]),
        hip=_vector(it["hip"]),
        reach=_number(it["reach"]),
        shortest=_number(it["shortest"]),
        ankle=_vector(it["ankle"]),
        heel=_vector(it["heel"]),
        ball=_vector(it["ball"]),
        side=int(_number(it["side"])),
        row=int(_number(it["row"])),
        offset=_number(it["offset"]),
        group=int(_number(it["group"])),
        segment=int(_number(it["segment"])),
    )


def _foothold(data: Json) -> Foothold:
    it = _fields(data)
    surface = int(_number(it["surface"]))
    pitch = _number(it["pitch"])
    return Foothold(_vector(it["place"]), _rotation(it["rotation"]), _vector(it["normal"]), surface, pitch)


def _step(data: Json) -> Step:
    it = _fields(data)
    return Step(
        leg=int(_number(it["leg"])),
        lift=_number(it["lift"]),
        land=_number(it["land"]),
        start=_foothold(it["start"]),
        end=_foothold(it["end"]),
        up=_vector(it["up"]),
        apex=_number(it["apex"]),
        power=_number(it["power"]),
        lead=_number(it["lead"]),
        curve=_text(it["curve"]),
        toe_off=_number(it["toe_off"]),
        heel_strike=_number(it["heel_strike"]),
        toes_down=_number(it["toes_down"]),
        cause=_text(it["cause"]),
        refused=tuple((_vector(_items(each)[0]), _text(_items(each)[1])) for each in _items(it["refused"])),
    )


def _poses(data: Json) -> Poses:
    return tuple((_vector(_items(each)[0]), _rotation(_items(each)[1])) for each in _items(data))


def _vector(data: Json) -> V3:
    x, y, z = (_number(each) for each in _items(data))
    return (x, y, z)


def _rotation(data: Json) -> Q4:
    w, x, y, z = (_number(each) for each in _items(data))
    return (w, x, y, z)


def _fields(data: Json) -> dict[str, Json]:
    if not isinstance(data, dict):
        raise TypeError("no fields")
    return data


def _items(data: Json) -> list[Json]:
    if not isinstance(data, list):
        raise TypeError("no list")
    return data


def _number(data: Json) -> float:
    if not isinstance(data, int | float) or isinstance(data, bool):
        raise TypeError("no number")
    return data


def _text(data: Json) -> str:
    if not isinstance(data, str):
        raise TypeError("no text")
    return data
