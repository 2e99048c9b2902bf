# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans as text, and what tells that one is old. Numbers come back to the last bit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256

from ..errors import InvalidValueError
from ..maths import Q4, V3
from ..texts import Text
from .legs import Leg
from .path import BodyPath
from .plan import Poses, WalkPlan
from .settings import Settings
from .steps import Foothold, Step

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
