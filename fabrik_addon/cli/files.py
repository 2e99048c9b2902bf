# SPDX-License-Identifier: GPL-3.0-or-later
"""Files read and written: opened without their scripts, written whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import bpy

from ..errors import InvalidValueError


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
    if path.exists() and not path.is_file():
        raise InvalidValueError(f"'{path}' is not a file that could be replaced")


def check_output(path: Path) -> None:
    """Refuse a place where no .blend can be put; see `check_place`."""
    check_place(path)
    if path.suffix != ".blend":
        raise InvalidValueError(f"'{path}' does not end in .blend")


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        OSError: It can't be written; an old one stays.
    """
    place = path.resolve()
    made = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        made.write_text(text, encoding="utf-8")
        _put(made, place)
    finally:
        made.unlink(missing_ok=True)


def save_blend(path: Path) -> None:
    """Save the open file beside its place and then put it there, so that it is whole or the old one stays.

    Raises:
        InvalidValueError: It can't be saved.
    """
    place = path.resolve()  # through a link to the file itself
    made = place.with_name(f".{place.stem}.{os.getpid()}.blend")
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


def reason_of(error: RuntimeError) -> str:
    """The first line of what an operator reported."""
    lines = str(error).strip().removeprefix("Error: ").splitlines()
    return lines[0] if lines else "Blender does not say why"


def _put(made: Path, place: Path) -> None:
    """Put a file in the place of another, with its permissions."""
    if place.exists():
        shutil.copymode(place, made)
    made.replace(place)
