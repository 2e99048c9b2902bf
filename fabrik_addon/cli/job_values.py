# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a job file, each read strictly: one that is not understood is refused with its place in the file.

Each reader is given a value of the JSON and where it stands, and raises an `InvalidValueError` that begins with that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import degrees
from pathlib import Path
from typing import Any

from ..errors import InvalidValueError
from ..finite import are_finite
from ..session.bake.settings import MOST_CLEAN_UP
from ..session.frames import LAST_FRAME, check_range
from ..texts import joined
from .scene import Place
from .settings import Value, value_of

LONGEST = 1024  # characters of a name or path
MOST_DEGREES = degrees(MOST_CLEAN_UP)


def check_keys(data: Mapping[str, Any], known: set[str], where: str) -> None:
    """Refuse a field that nobody knows."""
    for key in data:
        if key not in known:
            raise InvalidValueError(f"{where}: '{shown(key)}' is no field of it")


def shown(text: str) -> str:
    """Text that can be printed, and is not too long to be read."""
    return ascii(text)[1:-1][:60]


def read_path(value: Any, folder: Path, ending: str, where: str) -> Path:
    """A path inside a folder, links followed."""
    text = read_text(value, where)
    if not text.endswith(ending):
        raise InvalidValueError(f"{where}: it does not end in {ending}")
    try:
        place = (folder / text).resolve()
        inside = place.is_relative_to(folder) and not Path(text).is_absolute()
    except (OSError, RuntimeError, ValueError) as error:  # too long, or links in a circle
        raise InvalidValueError(f"{where}: it is no path") from error
    if not inside:
        raise InvalidValueError(f"{where}: it leads out of the job file's folder")
    return place


def read_object(value: Any, known: set[str], where: str) -> dict[str, Any]:
    """An object that has none but known fields."""
    if not isinstance(value, dict):
        raise InvalidValueError(f"{where}: it is no object")
    check_keys(value, known, where)
    return value


def read_text(value: Any, where: str) -> str:
    """A text that can be printed, and is not too long to be read."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or not value.isprintable():
        raise InvalidValueError(f"{where}: it is no text of 1 to {LONGEST} characters that can be printed")
    return value


def read_texts(value: Any, where: str) -> tuple[str, ...]:
    """A list of texts that is not empty."""
    if not isinstance(value, list) or not value:
        raise InvalidValueError(f"{where}: it is no list of names")
    return tuple(read_text(one, where) for one in value)


def read_number(value: Any, where: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not are_finite([value]):
        raise InvalidValueError(f"{where}: it is no finite number")
    return float(value)


def read_whole(value: Any, where: str) -> int:
    """A whole number that a frame can have."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LAST_FRAME:
        raise InvalidValueError(f"{where}: it is no whole number up to {LAST_FRAME}")
    return value


def read_targets(value: Any, where: str) -> dict[str, Place]:
    """Places in the world by the names of chains."""
    if not isinstance(value, dict):
        raise InvalidValueError(f"{where}: it is no object of places by chains")
    found: dict[str, Place] = {}
    for name, place in value.items():
        if not isinstance(place, list) or len(place) != 3:
            raise InvalidValueError(f"{where}: '{shown(name)}' is no list of three numbers")
        x, y, z = (read_number(number, where) for number in place)
        found[read_text(name, where)] = x, y, z
    return found


def read_frames(value: Any, where: str) -> tuple[int, int]:
    """The first and the last frame of a range."""
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidValueError(f"{where}: it is no list of the first and the last frame")
    first, last = (read_whole(frame, where) for frame in value)
    try:
        check_range(first, last, 1)
    except InvalidValueError as error:
        error.reason = joined(": ", (where, error.reason))
        raise
    return first, last


def read_step(value: Any, where: str) -> int:
    """A number of frames from key to key."""
    found = read_whole(value, where)
    if found < 1:
        raise InvalidValueError(f"{where}: a step of {found} frames leads nowhere")
    return found


def read_flag(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidValueError(f"{where}: it is neither true nor false")
    return value


def read_degrees(value: Any, where: str) -> float:
    """An angle that a clean-up can have."""
    found = read_number(value, where)
    if not 0.0 <= found <= MOST_DEGREES:
        raise InvalidValueError(f"{where}: it is not between 0 and {MOST_DEGREES:g} degrees")
    return found


def one_of(words: tuple[str, ...]) -> Callable[[Any, str], str]:
    """A reader of one of these words."""

    def read(value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in words:
            raise InvalidValueError(f"{where}: it is none of {', '.join(words)}")
        return value

    return read


def read_settings(value: Any, where: str) -> dict[str, dict[str, Value]]:
    """Settings of chains, by the names of the chains."""
    if not isinstance(value, dict) or not all(isinstance(own, dict) for own in value.values()):
        raise InvalidValueError(f"{where}: it is no object of settings by chains")
    try:
        return {
            read_text(name, where): {key: value_of(key, one) for key, one in own.items()} for name, own in value.items()
        }
    except InvalidValueError as error:
        error.reason = error.reason if error.reason.startswith(where) else joined(": ", (where, error.reason))
        raise
