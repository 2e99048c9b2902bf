# SPDX-License-Identifier: GPL-3.0-or-later
"""Files read and written: opened without their scripts, written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import bpy

from ..errors import InvalidValueError

LONGEST_NAME = 240  # bytes, with room for the name of a report


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
        InvalidValueError: Its folder is missing, or something that is no file is there.
    """
    if not path.parent.is_dir():
        raise InvalidValueError(f"there is no folder '{path.parent}' to save into")
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise InvalidValueError(f"the name of '{path}' is longer than {LONGEST_NAME} bytes")
    if path.exists() and not path.is_file():
        raise InvalidValueError(f"'{path}' is not a file that could be replaced")
    if path.exists() and not os.access(path, os.W_OK):
        raise InvalidValueError(f"'{path}' is protected from being written")


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
    made = _beside(place, ".tmp")
    try:
        made.write_text(text, encoding="utf-8")
        _put(made, place)
    except OSError as error:
        raise InvalidValueError(f"'{path}' can't be written: {error.strerror}") from error
    finally:
        made.unlink(missing_ok=True)


def save_blend(path: Path) -> None:
    """Save the open file beside its place and then put it there, so that it is whole or the old one stays.

    Raises:
        InvalidValueError: It can't be saved.
    """
    check_library(path)
    place = path.resolve()  # through a link to the file itself
    made = _beside(place, ".blend")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(made), copy=True, check_existing=False)
        if not made.exists():  # 4.2 reports a full disk, but raises nothing
            raise InvalidValueError(f"'{path}' can't be saved: there is no room, or no right to write")
        _put(made, place)
    except RuntimeError as error:
        raise InvalidValueError(f"'{path}' can't be saved: {reason_of(error)}") from error
    except OSError as error:
        raise InvalidValueError(f"'{path}' can't be saved: {error.strerror}") from error
    finally:
        made.unlink(missing_ok=True)


def _beside(place: Path, suffix: str) -> Path:
    """A name in the folder of a file that no other process takes, on whatever machine it runs."""
    return place.with_name(f".fabrik-{secrets.token_hex(8)}{suffix}")


def reason_of(error: RuntimeError) -> str:
    """The first line of what an operator reported."""
    lines = str(error).strip().removeprefix("Error: ").splitlines()
    return lines[0] if lines else "Blender does not say why"


def _put(made: Path, place: Path) -> None:
    """Put a file in the place of another, with its permissions."""
    if place.exists():
        shutil.copymode(place, made)
    made.replace(place)
