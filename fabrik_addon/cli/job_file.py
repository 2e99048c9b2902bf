# SPDX-License-Identifier: GPL-3.0-or-later
"""A job file read, strictly: what is not understood is refused, and no path leads out of the file's folder."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from ..errors import InvalidValueError
from ..gait import GAITS
from ..recognise.find import PLANS
from ..recognise.mapping import Mapping, load_mapping
from ..session.bake.settings import INTERPOLATIONS, INTO, VERIFY
from ..texts import joined
from .baking import BakeRequest
from .job_values import (
    check_keys,
    one_of,
    read_degrees,
    read_flag,
    read_frames,
    read_object,
    read_path,
    read_settings,
    read_step,
    read_targets,
    read_text,
    read_texts,
)
from .scene import Choice
from .setup import CONTROLS, LEFT_OUT, SetupRequest, options_of
from .walking import WalkRequest

VERSION = 1
LARGEST = 16_000_000  # bytes
MOST_SHOTS = 100_000
DEEPEST = 8  # brackets in brackets; a job has five
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)  # a string, whose brackets do not count, or a bracket


@dataclass(frozen=True, slots=True)
class Shot:
    """One entry of a job.

    Attributes:
        file: The .blend to work on.
        output: Where the result goes.
        report: Where its report goes: beside the output, with .json behind its name.
        request: What to bake, and of which armatures.
        reads: The files that it reads.
        setup: How characters are set up before that, or None.
        walk: How they walk before they are baked, or None.
        bakes: Whether it is baked, and not saved as it is set up, or with its walk planned.
    """

    file: Path
    output: Path
    report: Path
    request: BakeRequest
    reads: tuple[Path, ...]
    setup: SetupRequest | None
    walk: WalkRequest | None
    bakes: bool


def read_job(path: Path) -> list[Shot]:
    """The entries of a job file.

    Raises:
        InvalidValueError: It is no job file; the message names the entry and the field.
    """
    data = _loaded(path)
    where = f"job file '{path}'"
    check_keys(data, {"version", "shots"}, where)
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
    """The object that a job file holds, as it stands there.

    Raises:
        InvalidValueError: The file can't be read, is too large, or is no JSON with an object.
    """
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
    """An object of JSON, refused where a key is repeated: `json` would take the last one and say nothing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is repeated")
    return found


def _constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which are no JSON, and which `json` takes."""
    raise ValueError(f"{name} is not a number")


def _shot(entry: Any, folder: Path, where: str) -> Shot:
    """One entry, read; its paths are relative to the job file's folder."""
    read_object(entry, {"file", "output", *FIELDS, *CHOICE, *BEFORE}, where)
    for name in ("file", "output"):
        if name not in entry:
            raise InvalidValueError(f"{where}: '{name}' is missing")
    file, output = (read_path(entry[name], folder, ".blend", f"{where}, '{name}'") for name in ("file", "output"))
    choice = Choice(**_read(entry, CHOICE, where))
    request = BakeRequest(choice=choice, **_read(entry, FIELDS, where))
    reads: tuple[Path, ...] = (file,)
    setup = None
    if "setup" in entry:
        setup, mapping = _setup(entry["setup"], "walk" in entry, folder, f"{where}, 'setup'")
        reads += mapping
    walk = _walk(entry["walk"], f"{where}, 'walk'") if "walk" in entry else None
    report = output.with_name(f"{output.name}.json")
    return Shot(file, output, report, request, reads, setup, walk, _bakes(entry, where))


def _read(data: dict[str, Any], readers: dict[str, Callable[[Any, str], Any]], where: str) -> dict[str, Any]:
    """The fields of an object that are there, each read by its reader."""
    return {name: read(data[name], f"{where}, '{name}'") for name, read in readers.items() if name in data}


def _setup(data: Any, walks: bool, folder: Path, where: str) -> tuple[SetupRequest, tuple[Path, ...]]:
    """How a character is set up, and the mapping's file where there is one."""
    read_object(data, {*SETUP, "mapping"}, where)
    found = _read(data, SETUP, where)
    plan = found.pop("plan", "AUTO")
    options = replace(options_of(**found), use_walker=walks)
    if "mapping" not in data:
        return SetupRequest(plan, options), ()
    if "plan" in data:
        raise InvalidValueError(f"{where}, 'plan': the mapping tells it")
    place = read_path(data["mapping"], folder, ".json", f"{where}, 'mapping'")
    return SetupRequest("AUTO", options, _mapping(place, f"{where}, 'mapping'")), (place,)


def _mapping(place: Path, where: str) -> Mapping:
    try:
        return load_mapping(place)
    except InvalidValueError as error:
        error.reason = joined(": ", (where, error.reason))
        raise


def _walk(data: Any, where: str) -> WalkRequest:
    read_object(data, set(WALK), where)
    return WalkRequest(**_read(data, WALK, where))


def _bakes(entry: dict[str, Any], where: str) -> bool:
    """Whether an entry is baked, as it says itself.

    One that does not say is baked, unless it sets characters up and tells neither how to bake nor how to walk.

    Raises:
        InvalidValueError: It says that it is not baked, and tells how; or nothing else is asked for.
    """
    told = entry.keys() - {"file", "output", "armatures", "bake", "setup"}
    is_wanted = read_flag(entry["bake"], f"{where}, 'bake'") if "bake" in entry else bool(told or "setup" not in entry)
    if is_wanted:
        return True
    of_bake = told - {"walk", *(("frames",) if "walk" in entry else ())}  # a walk is planned over the frames
    if of_bake:
        raise InvalidValueError(f"{where}, '{min(of_bake)}': it tells how to bake, which 'bake' forbids")
    if not {"setup", "walk"} & entry.keys():
        raise InvalidValueError(f"{where}, 'bake': nothing else is asked for")
    return False


def _check_places(shots: list[Shot], job: Path, where: str) -> None:
    """Refuse outputs and reports that would be written over each other, a file that is read, or the job file."""
    files = {place for shot in shots for place in shot.reads}
    taken: set[Path] = {job}
    for i, shot in enumerate(shots, start=1):
        for place in (shot.output, shot.report):
            if place in files:
                raise InvalidValueError(f"{where}, entry {i}: '{place.name}' would be written over a file of the job")
            if place in taken:
                raise InvalidValueError(f"{where}, entry {i}: '{place.name}' is written by another entry")
            taken.add(place)


def _parts_left_out(value: Any, where: str) -> tuple[str, ...]:
    read = one_of(tuple(LEFT_OUT))
    return tuple(read(one, where) for one in read_texts(value, where))


CHOICE: dict[str, Callable[[Any, str], Any]] = {
    "armatures": read_texts,
    "chains": read_texts,
    "targets": read_targets,
    "settings": read_settings,
}
FIELDS: dict[str, Callable[[Any, str], Any]] = {
    "frames": read_frames,
    "step": read_step,
    "into": one_of(INTO),
    "interpolation": one_of(INTERPOLATIONS),
    "only_keys": read_flag,
    "clean_up": read_degrees,
    "verify": one_of(VERIFY),
}
BEFORE = ("setup", "walk", "bake")
SETUP: dict[str, Callable[[Any, str], Any]] = {
    "plan": one_of(("AUTO", *PLANS)),
    "controls": one_of(CONTROLS),
    "without": _parts_left_out,
    "fingers": read_flag,
}
WALK: dict[str, Callable[[Any, str], Any]] = {
    "body_bone": read_text,
    "gait": one_of(tuple(gait.name for gait in GAITS)),
}
