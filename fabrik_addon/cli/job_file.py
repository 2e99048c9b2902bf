# SPDX-License-Identifier: GPL-3.0-or-later
"""A job file read, strictly: what is not understood is refused, and no path leads out of the file's folder."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import degrees
from pathlib import Path
from typing import Any, NoReturn

from ..errors import InvalidValueError
from ..finite import are_finite
from ..session.bake.settings import INTERPOLATIONS, INTO, MOST_CLEAN_UP, VERIFY
from ..session.frames import LAST_FRAME, check_range
from .baking import BakeRequest
from .scene import Choice, Place
from .settings import Value, value_of

VERSION = 1
LARGEST = 16_000_000  # bytes
MOST_SHOTS = 100_000
DEEPEST = 8  # brackets in brackets; a job has five
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)  # a string, whose brackets do not count, or a bracket
LONGEST = 1024  # characters of a name or path
MOST_DEGREES = degrees(MOST_CLEAN_UP)


@dataclass(frozen=True, slots=True)
class Shot:
    """One entry of a job.

    Attributes:
        file: The .blend to bake.
        output: Where the result goes.
        report: Where its report goes: beside the output, with .json behind its name.
        request: What to bake.
    """

    file: Path
    output: Path
    report: Path
    request: BakeRequest


def read_job(path: Path) -> list[Shot]:
    """The entries of a job file.

    Raises:
        InvalidValueError: It is no job file; the message names the entry and the field.
    """
    data = _loaded(path)
    where = f"job file '{path}'"
    _check_keys(data, {"version", "shots"}, where)
    if data.get("version") != VERSION or isinstance(data["version"], bool):
        raise InvalidValueError(f"{where}: its version is not {VERSION}")
    entries = data.get("shots")
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_SHOTS:
        raise InvalidValueError(f"{where}: 'shots' is no list of 1 to {MOST_SHOTS} entries")
    folder = path.resolve().parent
    shots = [_shot(entry, folder, f"{where}, entry {i}") for i, entry in enumerate(entries, start=1)]
    _check_places(shots, path.resolve(), where)
    return shots


def _loaded(path: Path) -> dict[str, Any]:
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"there is no job file '{path}'") from error
    if not stat.S_ISREG(status.st_mode):
        raise InvalidValueError(f"job file '{path}': it is not a file")
    if status.st_size > LARGEST:
        raise InvalidValueError(f"job file '{path}': {status.st_size} bytes are more than {LARGEST}")
    try:
        text = path.read_text(encoding="utf-8-sig")
        _check_depth(text)
        data = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"job file '{path}': {error}") from error
    if not isinstance(data, dict):
        raise InvalidValueError(f"job file '{path}': it is no object with 'version' and 'shots'")
    return data


def _check_depth(text: str) -> None:
    """Refuse text that is nested deeper than any job, before a parser goes down into it."""
    depth = 0
    for token in TOKENS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is repeated")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _check_keys(data: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise InvalidValueError(f"{where}: '{_shown(key)}' is no field of it")


def _shown(text: str) -> str:
    """Text that can be printed, and is not too long to be read."""
    return ascii(text)[1:-1][:60]


def _shot(entry: Any, folder: Path, where: str) -> Shot:
    if not isinstance(entry, dict):
        raise InvalidValueError(f"{where}: it is no object")
    _check_keys(entry, {"file", "output", *FIELDS, *CHOICE}, where)
    for name in ("file", "output"):
        if name not in entry:
            raise InvalidValueError(f"{where}: '{name}' is missing")
    file, output = (_path(entry[name], folder, f"{where}, '{name}'") for name in ("file", "output"))
    choice = Choice(**{name: read(entry[name], f"{where}, '{name}'") for name, read in CHOICE.items() if name in entry})
    fields = {name: read(entry[name], f"{where}, '{name}'") for name, read in FIELDS.items() if name in entry}
    return Shot(file, output, output.with_name(f"{output.name}.json"), BakeRequest(choice=choice, **fields))


def _path(value: Any, folder: Path, where: str) -> Path:
    """A path inside a folder, links followed."""
    text = _text(value, where)
    if not text.endswith(".blend"):
        raise InvalidValueError(f"{where}: it does not end in .blend")
    try:
        place = (folder / text).resolve()
        inside = place.is_relative_to(folder) and not Path(text).is_absolute()
    except (OSError, RuntimeError, ValueError) as error:  # too long, or links in a circle
        raise InvalidValueError(f"{where}: it is no path") from error
    if not inside:
        raise InvalidValueError(f"{where}: it leads out of the job file's folder")
    return place


def _check_places(shots: list[Shot], job: Path, where: str) -> None:
    """No output is written over another, over a file that is read, or over the job file."""
    files = {shot.file for shot in shots}
    taken: set[Path] = {job}
    for i, shot in enumerate(shots, start=1):
        for place in (shot.output, shot.report):
            if place in files:
                raise InvalidValueError(f"{where}, entry {i}: '{place.name}' would be written over a file of the job")
            if place in taken:
                raise InvalidValueError(f"{where}, entry {i}: '{place.name}' is written by another entry")
            taken.add(place)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or not value.isprintable():
        raise InvalidValueError(f"{where}: it is no text of 1 to {LONGEST} characters that can be printed")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidValueError(f"{where}: it is no list of names")
    return tuple(_text(one, where) for one in value)


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not are_finite([value]):
        raise InvalidValueError(f"{where}: it is no finite number")
    return float(value)


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LAST_FRAME:
        raise InvalidValueError(f"{where}: it is no whole number up to {LAST_FRAME}")
    return value


def _targets(value: Any, where: str) -> dict[str, Place]:
    if not isinstance(value, dict):
        raise InvalidValueError(f"{where}: it is no object of places by chains")
    found: dict[str, Place] = {}
    for name, place in value.items():
        if not isinstance(place, list) or len(place) != 3:
            raise InvalidValueError(f"{where}: '{_shown(name)}' is no list of three numbers")
        x, y, z = (_number(number, where) for number in place)
        found[_text(name, where)] = x, y, z
    return found


def _frames(value: Any, where: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidValueError(f"{where}: it is no list of the first and the last frame")
    first, last = (_whole(frame, where) for frame in value)
    try:
        check_range(first, last, 1)
    except InvalidValueError as error:
        error.reason = f"{where}: {error.reason}"
        raise
    return first, last


def _step(value: Any, where: str) -> int:
    found = _whole(value, where)
    if found < 1:
        raise InvalidValueError(f"{where}: a step of {found} frames leads nowhere")
    return found


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidValueError(f"{where}: it is neither true nor false")
    return value


def _degrees(value: Any, where: str) -> float:
    found = _number(value, where)
    if not 0.0 <= found <= MOST_DEGREES:
        raise InvalidValueError(f"{where}: it is not between 0 and {MOST_DEGREES:g} degrees")
    return found


def _one_of(words: tuple[str, ...]) -> Callable[[Any, str], str]:
    def read(value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in words:
            raise InvalidValueError(f"{where}: it is none of {', '.join(words)}")
        return value

    return read


def _settings(value: Any, where: str) -> dict[str, dict[str, Value]]:
    if not isinstance(value, dict) or not all(isinstance(own, dict) for own in value.values()):
        raise InvalidValueError(f"{where}: it is no object of settings by chains")
    try:
        return {
            _text(name, where): {key: value_of(key, one) for key, one in own.items()} for name, own in value.items()
        }
    except InvalidValueError as error:
        error.reason = error.reason if error.reason.startswith(where) else f"{where}: {error.reason}"
        raise


CHOICE: dict[str, Callable[[Any, str], Any]] = {
    "armatures": _texts,
    "chains": _texts,
    "targets": _targets,
    "settings": _settings,
}
FIELDS: dict[str, Callable[[Any, str], Any]] = {
    "frames": _frames,
    "step": _step,
    "into": _one_of(INTO),
    "interpolation": _one_of(INTERPOLATIONS),
    "only_keys": _flag,
    "clean_up": _degrees,
    "verify": _one_of(VERIFY),
}
