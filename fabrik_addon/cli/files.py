# SPDX-License-Identifier: GPL-3.0-or-later
"""Files read and written: opened without their scripts, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from pathlib import Path
from typing import Any

import bpy

from ..errors import InvalidValueError
from .leftovers import beside, remove_leftovers
from .whole import CutError, check_whole

LONGEST_NAME = 240  # bytes, with room for the name of a report
FULL = {errno.ENOSPC, errno.EFBIG, *(getattr(errno, name) for name in ("EDQUOT",) if hasattr(errno, name))}
# Of a file that it could not write Blender says that there is none.
WORDS_OF_FULL = {os.strerror(number) for number in (*FULL, errno.ENOENT)}


def open_blend(path: Path) -> None:
    """Open a file; scripts in it are not run.

    Raises:
        InvalidValueError: It is missing, is no .blend, or is of a newer Blender.
    """
    if not path.is_file():
        raise InvalidValueError(f"there is no file '{path}'")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise InvalidValueError(f"'{path}' can't be opened: {reason_of(error)}") from error
    check_version(path)


def check_version(path: Path) -> None:
    """Refuse an open file that was saved by a newer Blender: what this one does not know would be lost.

    Raises:
        InvalidValueError: It is newer.
    """
    version: Any = bpy.data.version
    saved, running = tuple(version)[:2], bpy.app.version[:2]
    if saved > running:
        raise InvalidValueError(
            f"'{path}' was saved by Blender {saved[0]}.{saved[1]}, which is newer than this one, "
            f"{running[0]}.{running[1]}"
        )


def check_place(path: Path) -> None:
    """Refuse a place where no file can be put.

    Raises:
        InvalidValueError: Its folder is missing or protected, or something that is no file is there.
    """
    place = resolved(path)
    folder = place.parent if path.is_symlink() else path.parent
    if not place.parent.is_dir():
        raise InvalidValueError(f"there is no folder '{folder}' to save into")
    if len(os.fsencode(place.name)) > LONGEST_NAME:
        raise InvalidValueError(f"the name of '{path}' is longer than {LONGEST_NAME} bytes")
    if place.exists() and not place.is_file():
        raise InvalidValueError(f"'{path}' is not a file that could be replaced")
    if place.exists() and not os.access(place, os.W_OK):
        raise InvalidValueError(f"'{path}' is protected from being written")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise InvalidValueError(f"the folder '{folder}' is protected from being written")


def resolved(path: Path) -> Path:
    """A path with its links followed.

    Raises:
        InvalidValueError: They lead in a circle.
    """
    try:
        place = path.resolve()
        is_circle = place.is_symlink()
    except (OSError, RuntimeError):  # of Python up to 3.12
        is_circle = True
    if is_circle:
        raise InvalidValueError(f"'{path}' is a link that leads in a circle")
    return place


def check_report(path: Path) -> None:
    """Refuse a place where no report can be put; see `check_place`."""
    check_place(path)
    if path.suffix == ".blend" or resolved(path).suffix == ".blend":
        raise InvalidValueError(f"'{path}' is the name of a .blend, which a report would be written over")


def check_output(path: Path) -> None:
    """Refuse a place where no .blend can be put; see `check_place`."""
    check_place(path)
    if path.suffix != ".blend":
        raise InvalidValueError(f"'{path}' does not end in .blend")


def check_library(path: Path) -> None:
    """Refuse to write over a library of the open file.

    Raises:
        InvalidValueError: It is one.
    """
    if path.resolve() in libraries():
        raise InvalidValueError(f"'{path}' is a library of the file, and would be written over")


def libraries() -> list[Path]:
    """The files that the open file links, at any remove."""
    paths = (bpy.path.abspath(found.filepath, library=found.parent) for found in bpy.data.libraries)
    return sorted({Path(path).resolve() for path in paths})


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        InvalidValueError: It can't be written; an old one stays.
    """
    place = path.resolve()
    remove_leftovers(place.parent)
    made = beside(place, ".tmp")
    try:
        with made.open("w", encoding="utf-8") as file:
            file.write(text)
        _settle(made)
        _put(made, place)
    except OSError as error:
        raise InvalidValueError(f"'{path}' can't be written: {_reason(error, place.parent)}") from error
    finally:
        _remove(made)


def save_blend(path: Path) -> None:
    """Save the open file beside its place, read it back, and then put it there: it is whole or the old one stays.

    Raises:
        InvalidValueError: It can't be saved.
    """
    check_library(path)
    place = path.resolve()  # through a link to the file itself
    remove_leftovers(place.parent)
    made = beside(place, ".blend")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(made), copy=True, check_existing=False)
        if not made.exists():  # 4.2 reports a full disk, but raises nothing
            raise InvalidValueError(f"'{path}' can't be saved: {_why_not(made)}")
        _settle(made)
        check_whole(made)
        _put(made, place)
    except RuntimeError as error:
        reason = reason_of(error)
        reason = _why_not(made) if reason in WORDS_OF_FULL else reason
        raise InvalidValueError(f"'{path}' can't be saved: {reason}") from error
    except CutError as error:
        reason = f"Blender wrote a part of it, {_full(place.parent)}"
        raise InvalidValueError(f"'{path}' can't be saved: {reason}") from error
    except OSError as error:
        raise InvalidValueError(f"'{path}' can't be saved: {_reason(error, place.parent)}") from error
    finally:
        _remove(made)
        _remove(made.with_name(f"{made.name}@"))  # under which Blender writes


def reason_of(error: RuntimeError) -> str:
    """The first line of what an operator reported."""
    lines = str(error).strip().removeprefix("Error: ").splitlines()
    return lines[0] if lines else "Blender does not say why"


def _settle(made: Path) -> None:
    """Wait until a file is on its disk: some tell only then that they are full."""
    file = os.open(made, os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _put(made: Path, place: Path) -> None:
    """Put a file in the place of another, with its permissions."""
    if place.exists():
        shutil.copymode(place, made)
    made.replace(place)


def _remove(made: Path) -> None:
    with contextlib.suppress(OSError):  # which is told by what came before, or else left over
        made.unlink(missing_ok=True)


def _reason(error: OSError, folder: Path) -> str:
    return _full(folder) if error.errno in FULL else (error.strerror or str(error))


def _why_not(made: Path) -> str:
    """Why Blender could not write a file, found out by writing one byte there."""
    try:
        made.write_bytes(b" ")
    except OSError as error:
        return _reason(error, made.parent)
    return _full(made.parent)


def _full(folder: Path) -> str:
    """What is told of a disk on which there is no room, or no right to have more of it."""
    text = "the disk is full, or a quota or a limit on the size of files is reached"
    with contextlib.suppress(OSError):
        text += f" ({shutil.disk_usage(folder).free / 1e6:.3g} MB are free now)"
    return text
