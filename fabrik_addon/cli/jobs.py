# SPDX-License-Identifier: GPL-3.0-or-later
"""Many shots set up, walked and baked, one after another: entries of a job file, each with its output and its report.

A shot whose report tells that just this entry was baked by just this code from just these files, libraries included,
into the output that is there is not baked again, so a job that was broken off goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

import bpy

from ..errors import FabrikError, InvalidValueError
from .baking import Report, bake_open_file
from .files import (
    check_library,
    check_output,
    check_place,
    check_report,
    libraries,
    open_blend,
    resolved,
    save_blend,
    write_text,
)
from .job_file import Shot, read_job
from .progress import Progress
from .setup import SetupRequest, set_up_open_file
from .streams import put_error
from .walking import walk_open_file

log = logging.getLogger(__name__)

BLOCK = 1 << 20  # bytes of a file that are digested at once
ASKED = ("request", "setup", "walk", "bakes")  # of a shot, beside its files
PACKAGE = Path(__file__).parents[1]


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
        taken = {path.resolve(), *(place for shot in shots for place in (*shot.reads, shot.output, shot.report))}
        if resolved(report) in taken:
            raise InvalidValueError(f"the report would be written over '{report}', which is of the job")
        check_report(report)
    numbers = indices_of(index, len(shots)) if index is not None else list(range(1, len(shots) + 1))
    told = Progress(progress, len(numbers))
    results: list[Report] = []
    for number in numbers:
        found = _shot(shots[number - 1], told)
        if "error" in found:
            put_error(f"entry {number}, '{found['file']}': {found['error']}")
        results.append({"index": number, **found})
        told.end_part()
    return {
        "all_reached": all(result.get("all_reached", False) for result in results),
        "wrong": sum("error" in result for result in results),
        "shots": results,
    }


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


def _shot(shot: Shot, progress: Progress) -> Report:
    """Bake one shot, unless that was done."""
    named = {"file": str(shot.file), "output": str(shot.output)}
    try:
        key = _key(shot)
        known = _done(shot, key)
        if known is not None:
            return {**named, "skipped": True, "all_reached": known["all_reached"]}
        for place in (shot.output, shot.report):
            place.parent.mkdir(parents=True, exist_ok=True)
        check_output(shot.output)
        check_place(shot.report)
        open_blend(shot.file)
        check_library(shot.output)
        check_library(shot.report)
        linked = {str(place): _digest(place) for place in libraries()}
        report = {**named, **_worked(shot, progress)}
        save_blend(shot.output)
        made = {"key": key, "libraries": linked, "output_sha256": _digest(shot.output)}
        write_text(shot.report, json.dumps({**made, **report}, indent=1))
    except (FabrikError, OSError) as error:
        return {**named, "error": str(error)}
    except Exception as error:  # of Blender's or ours: the other shots are baked all the same
        log.exception("the shot '%s' failed", shot.file)
        return {**named, "error": f"{type(error).__name__}: {error}"}
    return {**named, "skipped": False, "all_reached": report["all_reached"]}


def _worked(shot: Shot, progress: Progress) -> Report:
    """Set up, walk and bake the open file, as far as its entry asks for it; nothing is saved.

    Returns:
        The report of the bake, and of what went before by its name.

    Raises:
        FabrikError: Something of it can't be done.
    """
    names = shot.request.choice.armatures
    report: Report = {}
    if shot.setup is not None:
        report["setup"] = _set_up(names, shot.setup)
    if shot.walk is not None:
        report["walk"] = walk_open_file(names, shot.walk, shot.request.frames)
    baked = bake_open_file(shot.request, progress) if shot.bakes else {"all_reached": True}
    all_reached = all(told["all_reached"] for told in (*report.values(), baked))
    return {**report, **baked, "all_reached": all_reached}


def _set_up(names: Sequence[str], request: SetupRequest) -> Report:
    """Set up characters.

    Raises:
        InvalidValueError: Of one of them nothing is sure.
        FabrikError: One can't be set up.
    """
    told = set_up_open_file(names, request)
    for armature in told["armatures"]:
        if "error" in armature:
            raise InvalidValueError(armature["error"])
    return told


def _key(shot: Shot) -> str:
    """What the result of a shot depends on: its entry, its file, this code, and the Blender that runs it."""
    if not shot.file.is_file():
        raise InvalidValueError(f"there is no file '{shot.file}'")
    entry = {name: value for name, value in asdict(shot).items() if name in ASKED}
    parts = [_code(), entry, _digest(shot.file), bpy.app.version_string]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def _code() -> str:
    """A digest of the add-on's own code."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _digest(path: Path) -> str | None:
    """A digest of a file; None where there is none."""
    if not path.is_file():
        return None
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def _done(shot: Shot, key: str) -> Report | None:
    """The report of a shot that was baked from the same, whose output still stands as it was written."""
    try:
        report = json.loads(shot.report.read_text(encoding="utf-8"))
        same = report["key"] == key and report["output_sha256"] == _digest(shot.output)
        same = same and all(digest == _digest(Path(place)) for place, digest in report["libraries"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # no such report: it is baked
        return None
    return report if same and isinstance(report.get("all_reached"), bool) else None
