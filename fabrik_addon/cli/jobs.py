# SPDX-License-Identifier: GPL-3.0-or-later
"""Many shots given motion, set up, walked and baked: entries of a job file, each with its output and its report.

A job file is read strictly: what is not understood is refused with its place, and no path leads out of its folder. A
shot whose report tells that just this entry was baked by just this code from just these files, libraries included, into
the output that is there is not baked again, so a job that was broken off goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import logging
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import degrees
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import bpy

from ..actions.bake.checks import INTERPOLATIONS, INTO, MOST_CLEAN_UP, VERIFY
from ..actions.frames import LAST_FRAME, check_range
from ..actions.motion.takes import buffers_of, files_in
from ..actions.walk.clip import load_cycle
from ..errors import FabrikError, InvalidValueError, are_finite, is_plain
from ..gait.gaits import GAITS
from ..motion.transfer import TRANSFER_WORDS, TransferOptions
from ..recognise.find import PLANS
from ..recognise.mapping import load_mapping
from . import requests
from .files import (
    as_json,
    check_library,
    check_place,
    libraries,
    open_blend,
    put_error,
    resolved,
    save_blend,
    unfollowed,
    write_text,
)
from .requests import Progress, Report, Request, Value, check_step, loaded, value_of

Reader: TypeAlias = Callable[[Any], Any]  # of a value of the JSON; raises an `InvalidValueError`
Readers: TypeAlias = Mapping[str, "Reader | Readers"]  # of the fields of an object, and of the objects in it
Fields: TypeAlias = Mapping[str, Any]  # of an object, read

VERSION = 1
LARGEST = 16_000_000  # bytes of a job file
MOST_SHOTS = 100_000
LONGEST = 1024  # characters of a name or path
READ_BY: Mapping[str, Callable[[Path], Any]] = {"mapping": load_mapping, "cycle": load_cycle}  # what fields name
MOST_DEGREES = degrees(MOST_CLEAN_UP)
PACKAGE = Path(__file__).parents[1]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shot:
    """One entry of a job."""

    file: Path  # the .blend to work on
    output: Path  # where the result goes
    report: Path  # beside the output, with .json behind its name
    request: Request  # what to bake, and of which armatures
    reads: tuple[Path, ...]  # the files that it reads
    transfer: Fields | None  # what motion comes to a character from files before all else
    setup: Fields | None  # how characters are set up before that
    walk: Fields | None  # how they walk before they are baked
    bakes: bool  # or it is saved as it is set up, or with its walk planned

    @property
    def writes(self) -> tuple[Path, Path]:
        """The files that it writes."""
        return self.output, self.report


def run_job(path: Path, index: str | None, progress: str, report: Path | None) -> Report:
    """Bake entries of a job file.

    Args:
        path: The job file.
        index: Which entries, counted from 1, such as "4-6" or "1,3-5"; None for all.
        progress: See `Progress`.
        report: Where the report of the whole job will be written, or None.

    Returns:
        What came of each shot; `wrong` counts those that could not be baked, each of which is a line on standard error.

    Raises:
        InvalidValueError: The job file is wrong; nothing was baked.
    """
    shots = read_job(path)
    if report is not None:
        if resolved(report) in {
            path.resolve(),
            *(one.resolve() for shot in shots for one in (*shot.reads, *shot.writes)),
        }:
            raise InvalidValueError(f"the report would be written over '{report}', which is of the job")
        check_place(report, is_blend=False)
    numbers = indices_of(index, len(shots)) if index is not None else list(range(1, len(shots) + 1))
    told = Progress(progress, len(numbers))
    results: list[Report] = []
    for number in numbers:
        found = _done(shots[number - 1], told)
        if "error" in found:
            put_error(f"entry {number}, '{found['file']}': {found['error']}")
        results.append({"index": number, **found})
        told.end_part()
    all_reached = all(result.get("all_reached", False) for result in results)
    return {"all_reached": all_reached, "wrong": sum("error" in result for result in results), "shots": results}


def indices_of(text: str, count: int) -> list[int]:
    """The numbers of a list of numbers and ranges, rising.

    Raises:
        InvalidValueError: It is no such list, or a number is none of the job's.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() and len(end) < 10 for end in ends):
            raise InvalidValueError(f"'{text}' is no list of entries such as 1,4-6")
        low, high = int(ends[0]), int(ends[1])
        if not 1 <= low <= high <= count:
            raise InvalidValueError(f"there are no entries {part}: the job has 1 to {count}")
        found.update(range(low, high + 1))
    return sorted(found)


def _done(shot: Shot, progress: Progress) -> Report:
    """Work on one shot, unless that was done, and save what comes of it."""
    named: Report = {"file": str(shot.file), "output": str(shot.output)}
    try:
        key = _key(shot)
        known = _known(shot, key)
        if known is not None:
            return {**named, "skipped": True, "all_reached": known}
        for place in shot.writes:
            place.parent.mkdir(parents=True, exist_ok=True)
            check_place(place, is_blend=place == shot.output)
        open_blend(shot.file)
        for place in shot.writes:
            check_library(place)
        linked = {str(place): _digest(place) for place in libraries()}
        report = {**named, **_worked(shot, progress)}
        save_blend(shot.output)
        made = {"key": key, "libraries": linked, "output_sha256": _digest(shot.output)}
        write_text(shot.report, as_json({**made, **report}, indent=1))
    except (FabrikError, OSError) as error:
        return {**named, "error": str(error)}
    except Exception as error:  # of Blender's or ours: the other shots are baked all the same
        log.exception("the shot '%s' failed", shot.file)
        return {**named, "error": f"{type(error).__name__}: {error}"}
    return {**named, "skipped": False, "all_reached": report["all_reached"]}


def _worked(shot: Shot, progress: Progress) -> Report:
    """The open file given motion, set up, walked and baked, as its entry asks: the reports, that of the bake on top."""
    names, report = shot.request.armatures, Report()
    if shot.transfer is not None:
        options = _with_files(shot.transfer)
        files, target = [Path(one) for one in options.pop("files")], options.pop("target")
        report["transfer"] = requests.transfer_from_files(files, target, TransferOptions(**options))
    if shot.setup is not None:
        setup = _with_files(shot.setup)
        plan, mapping = setup.pop("plan", "AUTO"), setup.pop("mapping", None)
        made = replace(requests.options_of(**setup), use_walker=shot.walk is not None)
        report["setup"] = requests.set_up_open_file(names, (plan, made, mapping))
        for armature in report["setup"]["armatures"]:
            if "error" in armature:
                raise InvalidValueError(armature["error"])
    if shot.walk is not None:
        report["walk"] = requests.walk_open_file(names, shot.request.frames, **_with_files(shot.walk))
    baked = requests.bake_open_file(shot.request, progress) if shot.bakes else {"all_reached": True}
    all_reached = all(told["all_reached"] for told in (*report.values(), baked))
    return {**report, **baked, "all_reached": all_reached}


def _with_files(fields: Fields) -> dict[str, Any]:
    """Fields of an entry, what files they name being read."""
    return {name: loaded(READ_BY[name], value) if name in READ_BY else value for name, value in fields.items()}


def _key(shot: Shot) -> str:
    """What the result of a shot depends on: its entry, its file, this code, and the Blender that runs it."""
    if not shot.file.is_file():
        raise InvalidValueError(f"there is no file '{shot.file}'")
    entry = [asdict(shot)[name] for name in ("request", "transfer", "setup", "walk", "bakes")]
    parts = [_code(), entry, [_digest(path) for path in shot.reads], bpy.app.version_string]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=attrgetter("name")).encode()).hexdigest()


@cache
def _code() -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(PACKAGE.rglob("*.py")))).hexdigest()


def _digest(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _known(shot: Shot, key: str) -> bool | None:
    """Whether all of a shot was reached that was baked from the same, and whose output still stands as it was."""
    try:
        report = json.loads(shot.report.read_text(encoding="utf-8"))
        same = report["key"] == key and report["output_sha256"] == _digest(shot.output)
        same = same and all(digest == _digest(Path(place)) for place, digest in report["libraries"].items())
        return {True: True, False: False}[report["all_reached"]] if same else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # no such report: it is baked
        return None


def read_job(path: Path) -> list[Shot]:
    """The entries of a job file.

    Raises:
        InvalidValueError: It is no job file; the message names the entry and the field.
    """
    where = f"job file '{path}'"
    data = _read(_loaded(path, where), dict.fromkeys(("version", "shots"), lambda value: value), where)
    version, entries = data.get("version"), data.get("shots", [])
    _check(version == VERSION and not isinstance(version, bool), f"{where}: its version is not {VERSION}")
    is_list = isinstance(entries, list) and 0 < len(entries) <= MOST_SHOTS
    _check(is_list, f"{where}: 'shots' is no list of 1 to {MOST_SHOTS} entries")
    shots = [_shot(entry, path.resolve().parent, f"{where}, entry {i}") for i, entry in enumerate(entries, start=1)]
    files, taken = {place.resolve() for shot in shots for place in shot.reads}, {path.resolve()}
    for i, shot in enumerate(shots, start=1):
        for place in (one.resolve() for one in shot.writes):
            own = f"{where}, entry {i}: '{place.name}'"
            _check(place not in files, f"{own} would be written over a file of the job")
            _check(place not in taken, f"{own} is written by another entry")
            taken.add(place)
    return shots


def _loaded(path: Path, where: str) -> object:
    """The JSON of a job file."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"there is no {where}") from error
    _check(stat.S_ISREG(status.st_mode), f"{where}: it is not a file")
    _check(status.st_size <= LARGEST, f"{where}: {status.st_size} bytes are more than {LARGEST}")
    try:
        text = path.read_text(encoding="utf-8-sig")
        found: object = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise InvalidValueError(f"{where}: {reason}") from error
    return found


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, refused where a key is repeated: `json` would take the last one and say nothing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is repeated")
    return found


def _constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which are no JSON, and which `json` takes."""
    raise ValueError(f"{name} is not a number")


def _read(data: Any, fields: Readers, where: str) -> dict[str, Any]:
    """An object by its fields; one that nobody knows, or that is wrong, is refused with its place."""
    _check(isinstance(data, dict), f"{where}: it is no object")
    found: dict[str, Any] = {}
    for name, value in data.items():
        _check(name in fields, f"{where}: '{_shown(name)}' is no field of it")
        reader, place = fields[name], f"{where}, '{name}'"
        if not callable(reader):
            found[name] = _read(value, reader, place)
            continue
        try:
            found[name] = reader(value)
        except InvalidValueError as error:
            raise InvalidValueError(f"{place}: {error.reason}") from error
    return found


def _shot(entry: object, folder: Path, where: str) -> Shot:
    """One entry, read, whose paths are relative to a folder."""
    reads: list[Path] = []
    found = _read(entry, _fields(folder, reads), where)
    _need(found, ("file", "output"), where)
    bakes = _bakes(found, where)
    own = ("file", "output", "transfer", "setup", "walk", "bake")
    file, output, transfer, setup, walk, _ = (found.pop(name, None) for name in own)
    if transfer is not None:
        _need(transfer, ("files", "target"), f"{where}, 'transfer'")
    if setup is not None:
        _check(not {"plan", "mapping"} <= setup.keys(), f"{where}, 'setup', 'plan': the mapping tells it")
    report = output.with_name(f"{output.name}.json")
    bake = {name: found.pop(name) for name in requests.BAKED if name in found}
    return Shot(file, output, report, Request(**found, bake=bake), tuple(reads), transfer, setup, walk, bakes)


def _need(found: Mapping[str, object], names: Sequence[str], where: str) -> None:
    """Refuse an object that lacks one of some fields."""
    for name in names:
        _check(name in found, f"{where}: '{name}' is missing")


def _bakes(entry: Mapping[str, object], where: str) -> bool:
    """Whether an entry is baked; refused where it says that it is not, and tells how, or asks for nothing else.

    One that does not say is, unless it sets up or brings motion, and tells neither how to bake nor to walk.
    """
    told = entry.keys() - {"file", "output", "armatures", "bake", "setup", "transfer"}
    if entry.get("bake", told or not {"setup", "transfer"} & entry.keys()):
        return True
    of_bake = told - {"walk", *(("frames",) if "walk" in entry else ())}  # a walk is planned over the frames
    if of_bake:
        raise InvalidValueError(f"{where}, '{min(of_bake)}': it tells how to bake, which 'bake' forbids")
    _check(bool({"setup", "walk", "transfer"} & entry.keys()), f"{where}, 'bake': nothing else is asked for")
    return False


def _fields(folder: Path, reads: list[Path]) -> Readers:
    """The fields of an entry whose paths are relative to a folder; `reads` takes the files that it reads."""

    def path(value: Any, ending: str = ".blend") -> Path:
        """A path that leads into the folder, though links are followed."""
        text: str = _text(value)
        _check(text.endswith(ending), f"it does not end in {ending}")
        try:
            place = unfollowed(folder / text)
            inside = place.resolve().is_relative_to(folder) and not Path(text).is_absolute()
        except (OSError, RuntimeError, ValueError) as error:  # too long, or links in a circle
            raise InvalidValueError("it is no path") from error
        _check(inside, "it leads out of the job file's folder")
        return place

    def file(value: Any, ending: str = ".json") -> Path:
        """A file that the entry reads."""
        reads.append(path(value, ending))
        return reads[-1]

    def files(value: Any) -> tuple[str, ...]:
        """Files of motion, of which a folder may have some."""
        found = files_in(path(value, ""))
        reads.extend(one for file in found for one in (file, *buffers_of(file)))
        return tuple(map(str, found))

    return {
        "file": lambda value: file(value, ".blend"),
        "output": path,
        "armatures": _texts,
        "chains": _texts,
        "targets": _targets,
        "settings": _settings,
        "frames": _frames,
        "step": lambda value: check_step(_whole(value)),
        "into": _one_of(INTO),
        "interpolation": _one_of(INTERPOLATIONS),
        "only_keys": _flag,
        "clean_up": _clean_up,
        "verify": _one_of(VERIFY),
        "bake": _flag,
        "transfer": {
            "files": files,
            "target": _text,
            **{name: _one_of(words) for name, words in TRANSFER_WORDS.items()},
            **dict.fromkeys(("keep_contacts", "keep_limits", "level", "fingers"), _flag),
            "ground": _text,
            "rate": _rate,
            "mapping": file,
        },
        "setup": {
            "plan": _one_of(("AUTO", *PLANS)),
            "controls": _one_of(requests.CONTROLS),
            "without": lambda value: tuple(_one_of(tuple(requests.LEFT_OUT))(one) for one in _texts(value)),
            "fingers": _flag,
            "mapping": file,
        },
        "walk": {
            **dict.fromkeys(("body_bone", "clip", "fast_clip"), _text),
            "gait": _one_of([gait.name for gait in GAITS]),
            "cycle": file,
        },
    }


def _check(is_right: bool, reason: str) -> None:
    if not is_right:
        raise InvalidValueError(reason)


def _shown(text: str) -> str:
    """Text that can be printed, and is not too long to be read."""
    return ascii(text)[1:-1][:60]


def _checked(is_right: Callable[[Any], bool], reason: str, before: Reader | None = None) -> Reader:
    """What takes a value, as another reader has it, if it is right."""

    def read(value: Any) -> Any:
        found = before(value) if before is not None else value
        _check(is_right(found), reason)
        return found

    return read


def _one_of(words: Sequence[str]) -> Reader:
    return _checked(lambda value: isinstance(value, str) and value in words, f"it is none of {', '.join(words)}")


_text = _checked(
    lambda value: isinstance(value, str) and 0 < len(value) <= LONGEST and is_plain(value),
    f"it is no text of 1 to {LONGEST} characters that can be printed",
)
_flag = _checked(lambda value: isinstance(value, bool), "it is neither true nor false")
_whole = _checked(
    lambda value: type(value) is int and abs(value) <= LAST_FRAME, f"it is no whole number up to {LAST_FRAME}"
)


def _number(value: Any) -> float:
    _check(type(value) in {int, float} and are_finite([value]), "it is no finite number")
    return float(value)


_rate = _checked(lambda value: value > 0.0, "it is no number of frames a second", _number)
_clean_up = _checked(
    lambda value: 0.0 <= value <= MOST_DEGREES, f"it is not between 0 and {MOST_DEGREES:g} degrees", _number
)


def _texts(value: Any) -> tuple[str, ...]:
    _check(isinstance(value, list) and bool(value), "it is no list of names")
    return tuple(_text(one) for one in value)


def _frames(value: Any) -> tuple[int, int]:
    _check(isinstance(value, list) and len(value) == 2, "it is no list of the first and the last frame")
    first, last = (_whole(frame) for frame in value)
    check_range(first, last, 1)
    return first, last


def _targets(value: Any) -> dict[str, tuple[float, ...]]:
    _check(isinstance(value, dict), "it is no object of places by chains")
    for name, place in value.items():
        _check(isinstance(place, list) and len(place) == 3, f"'{_shown(name)}' is no list of three numbers")
    return {_text(name): tuple(_number(number) for number in place) for name, place in value.items()}


def _settings(value: Any) -> dict[str, dict[str, Value]]:
    is_object = isinstance(value, dict) and all(isinstance(own, dict) for own in value.values())
    _check(is_object, "it is no object of settings by chains")
    return {_text(name): {key: value_of(key, one) for key, one in own.items()} for name, own in value.items()}
