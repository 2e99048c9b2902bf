# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and standard streams: opened without their scripts, written whole or not at all, lines put out where one can.

A file is written beside its place and renamed when it is on its disk. Blender does not tell where its compressed writer
could not write: a cut file looks as if it was saved. So what it has written is first read back to its end block. Every
refusal is an `InvalidValueError`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import secrets
import shutil
import struct
import sys
from collections.abc import Iterator
from importlib import import_module
from math import isfinite
from pathlib import Path
from time import time
from typing import IO, Any

import bpy

from ..errors import InvalidValueError

LONGEST_NAME = 240  # bytes, with room for the name of a report
LONGEST_PATH = 1023  # bytes, at which Blender cuts one
LONGEST_BESIDE = f".fabrik-{'0' * 32}.blend@"  # the name under which Blender writes
SAVED_BY = re.compile(rb"BLENDER(?:-v|17-01v)(\d+)(\d\d)")  # how a .blend begins
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}  # Windows knows no quotas
WORDS_OF_FULL = {os.strerror(number) for number in (*FULL, errno.ENOENT)}  # Blender tells that there is no such file
LEFTOVER = re.compile(r"\.fabrik-[0-9a-f-]{16,64}\.(?:tmp|blend@?)")
DAY = 86_400.0  # seconds after which nobody writes a leftover any more
ZSTD = b"\x28\xb5\x2f\xfd"
SKIPPED, SEEKABLE = 0x184D2A5E, 0x8F92EAB1  # of a frame with a table of the others, and at the table's end
FOOTER = struct.Struct("<IBI")  # number of frames, flags, SEEKABLE

_lost: dict[int, str] = {}  # why a stream can't be written to, by its `id`


class CutError(OSError):
    """A file ends before its end, or is none."""


def open_blend(path: Path | None) -> None:
    """Open a file without its scripts, or take the open one; one of a newer Blender would lose data and is refused."""
    if path is None and not bpy.data.filepath:
        raise InvalidValueError("no file: name one before --command, or with --file")
    if path is not None:
        place = unfollowed(path)
        if not place.is_file():
            raise InvalidValueError(f"there is no file '{path}'")
        check_length(place)
        try:
            bpy.ops.wm.open_mainfile(filepath=str(place), load_ui=True, use_scripts=False)
        except RuntimeError as error:
            raise InvalidValueError(f"'{path}' can't be opened: {_reported(error)}") from error
    version: Any = bpy.data.version
    check_saved_by(tuple(version)[:2], path or Path(bpy.data.filepath))


def check_saved_by(saved: tuple[int, ...] | None, path: Path) -> None:
    """Refuse a file that a newer Blender than the running one saved."""
    running = bpy.app.version[:2]
    if saved is not None and saved > running:
        newer = f"{saved[0]}.{saved[1]}, which is newer than this one, {running[0]}.{running[1]}"
        raise InvalidValueError(f"'{path}' was saved by Blender {newer}")


def saved_by(path: Path) -> tuple[int, ...] | None:
    """Major and minor version of the Blender that saved a file; None where that can't be read, or it is no .blend."""
    with contextlib.suppress(Exception), path.open("rb") as file:  # of struct and of the module that unpacks, too
        opened = _unpacked(file) if file.read(len(ZSTD)) == ZSTD else file
        file.seek(0)
        found = SAVED_BY.match(opened.read(17)) if opened is not None else None
        return tuple(int(number) for number in found.groups()) if found else None
    return None


def check_length(path: Path) -> None:
    """Refuse an absolute path that Blender would cut."""
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise InvalidValueError(f"'{path}' is longer than {LONGEST_PATH} bytes, at which Blender cuts a path")


def unfollowed(path: Path) -> Path:
    """An absolute path whose last link is not followed: libraries stand relative to where a file is opened.

    Blender takes `..` out of a path by its letters, the system by what a link before it leads to: so it is out of this.
    """
    return path.parent.resolve() / path.name if ".." in path.parts else path.absolute()


def resolved(path: Path) -> Path:
    """A path with its links followed, refused where they lead in a circle."""
    with contextlib.suppress(OSError, RuntimeError):  # of Python up to 3.12
        place = path.resolve()
        if not place.is_symlink():
            return place
    raise InvalidValueError(f"'{path}' is a link that leads in a circle")


def check_place(path: Path, is_blend: bool) -> None:
    """Refuse a place where no .blend can be put, or no report."""
    place = resolved(path)
    folder = place.parent if path.is_symlink() else path.parent
    folders = {place.parent, unfollowed(path).parent} if is_blend else {place.parent}
    reason = ""
    if not place.parent.is_dir():
        reason = f"there is no folder '{folder}' to save into"
    elif len(os.fsencode(place.name)) > LONGEST_NAME:
        reason = f"the name of '{path}' is longer than {LONGEST_NAME} bytes"
    elif place.exists() and not place.is_file():
        reason = f"'{path}' is not a file that could be replaced"
    elif place.exists() and not os.access(place, os.W_OK):
        reason = f"'{path}' is protected from being written"
    elif not all(os.access(one, os.W_OK | os.X_OK) for one in folders):
        reason = f"the folder '{folder}' is protected from being written"
    elif is_blend and path.suffix != ".blend":
        reason = f"'{path}' does not end in .blend"
    elif not is_blend and ".blend" in {path.suffix, place.suffix}:
        reason = f"'{path}' is the name of a .blend, which a report would be written over"
    if reason:
        raise InvalidValueError(reason)
    if is_blend:
        check_saved_by(saved_by(place), path)
        check_length(unfollowed(path))
        check_length(unfollowed(path).with_name(LONGEST_BESIDE))


def check_library(path: Path) -> None:
    """Refuse to write over a library of the open file."""
    if path.resolve() in libraries():
        raise InvalidValueError(f"'{path}' is a library or a cache of the file, and would be written over")


def libraries() -> list[Path]:
    """The files that the open file links, at any remove, and the caches that move something in it.

    Of a library that another one links, the path stands relative to that one, or to the open file if it was linked
    since that was saved; nothing tells which, so both are told.
    """
    linked = [(one.filepath, library) for one in bpy.data.libraries for library in (None, one.parent)]
    cached = [(one.filepath, library) for one in bpy.data.cache_files for library in (None, one.library)]
    found = [(path, library) for path, library in linked + cached if path]
    return sorted({Path(bpy.path.abspath(path, library=library)).resolve() for path, library in found})


def as_json(report: Any, indent: int | None = None) -> str:
    """A report as JSON, which has no NaN and nothing infinite: these are null."""
    try:
        return json.dumps(report, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(report), indent=indent)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def write_text(path: Path, text: str) -> None:
    """Write a text file whole, or leave the old one."""
    with _beside(path, ".tmp", "written") as made:
        made.write_text(text, encoding="utf-8")


def save_blend(path: Path) -> None:
    """Save the open file whole, or leave the old one."""
    check_library(path)
    with _beside(path, ".blend", "saved") as place:
        made = unfollowed(path).with_name(place.name)  # beside a link, not what it leads to
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(made), copy=True, check_existing=False)
        except RuntimeError as error:
            reason = _reported(error)
            if reason not in WORDS_OF_FULL:
                raise InvalidValueError(f"'{path}' can't be saved: {reason}") from error
        if not made.exists():  # 4.2 reports a full disk, but raises nothing
            made.write_bytes(b" ")  # which tells why, unless there is room for just this
            raise OSError(errno.ENOSPC, "")
        check_whole(made)
        if made != place:
            shutil.move(made, place)


@contextlib.contextmanager
def _beside(path: Path, suffix: str, done: str) -> Iterator[Path]:
    """A name beside a file, links followed; what is written there takes the file's place and its permissions."""
    place = path.resolve()
    folders = {place.parent, unfollowed(path).parent}
    for folder in folders:
        _remove_leftovers(folder)
    made = place.with_name(f".fabrik-{secrets.token_hex(16)}{suffix}")
    try:
        yield made
        with made.open("rb+") as file:
            os.fsync(file)  # some disks tell only then that they are full
        if place.exists():
            shutil.copymode(place, made)
        made.replace(place)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in FULL or isinstance(error, CutError):
            reason = "Blender wrote a part of it, " if isinstance(error, CutError) else ""
            reason += "the disk is full, or a quota or a limit on the size of files is reached"
            reason += f" ({shutil.disk_usage(place.parent).free / 1e6:.3g} MB are free now)"
        raise InvalidValueError(f"'{path}' can't be {done}: {reason}") from error
    finally:
        for one in (folder / name for folder in folders for name in (made.name, f"{made.name}@")):  # Blender's
            with contextlib.suppress(OSError):
                one.unlink(missing_ok=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed runs of this user left in a folder; what can't be removed stays."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if LEFTOVER.fullmatch(path.name):
                found = path.lstat()
                is_mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
                if path.is_file() and not path.is_symlink() and is_mine and time() - found.st_mtime > DAY:
                    path.unlink(missing_ok=True)


def _reported(error: RuntimeError) -> str:
    """The first line of what an operator reported."""
    return str(error).strip().removeprefix("Error: ").partition("\n")[0] or "Blender does not say why"


def check_whole(path: Path) -> None:
    """Read a .blend that this Blender has written to its end; `CutError` where it is not whole.

    Where no module decompresses it, the table at its end, which is compared with the frames anyway, finds every cut.
    """
    with path.open("rb") as file:
        try:
            opened = _unpacked(file) if file.read(len(ZSTD)) == ZSTD else file
            file.seek(0)
            if opened is not None:
                _check_blocks(opened)
        except OSError:
            raise
        except Exception as error:  # of struct, or of the module, which has a class of its own
            raise CutError(str(error)) from error


def _unpacked(file: IO[bytes]) -> IO[bytes] | None:
    """A compressed file as it reads, its table checked; None where this Python has nothing that decompresses."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - FOOTER.size, 0))
    count, _, mark = FOOTER.unpack(file.read())
    start = size - FOOTER.size - count * 8 - 8
    if mark != SEEKABLE or start <= 0:
        raise CutError("it has no table")
    file.seek(start)
    kind, length, *sizes = struct.unpack(f"<II{count * 2}I", file.read(8 + count * 8))
    if (kind, length, sum(sizes[::2])) != (SKIPPED, size - start - 8, start):
        raise CutError("its table is of other frames")
    with contextlib.suppress(ImportError):
        reader: Any = import_module("zstandard").ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return io.BufferedReader(reader, 1 << 20)
    return None


def _check_blocks(file: IO[bytes]) -> None:
    """Go through the blocks of a file up to its end block, behind which nothing may stand."""
    header = file.read(12)
    if header.startswith(b"BLENDER-v"):
        block, length_at = struct.Struct("<4siQii"), 1
    elif header.startswith(b"BLENDER17-01"):
        file.read(5)  # the rest of a header of 17 bytes
        block, length_at = struct.Struct("<4siQqq"), 3
    elif header.startswith(b"BLENDER") and len(header) == 12:  # of a Blender to come
        return
    else:
        raise CutError("it has no header")
    while (fields := block.unpack(file.read(block.size)))[0] != b"ENDB":
        if len(file.read(fields[length_at])) < fields[length_at]:  # not sought: behind a file's end are places, too
            raise CutError("it ends inside a block")
    if file.read(1):
        raise CutError("something stands behind its end block")


def open_streams() -> None:
    """Open those of the standard streams that are closed, or the next file, and what Blender prints, would go there."""
    _lost.clear()  # what an earlier command found out
    while (found := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(found)


def put_error(text: str) -> None:
    """A line on standard error, told as an error of ours."""
    put_line(sys.stderr, f"fabrik: error: {' '.join(text.split())}")


def put_line(stream: IO[str] | None, text: str) -> str:
    """A line on a standard stream; why it could not be written, or "" where it was."""
    if stream is None:
        return "it is closed"
    if id(stream) not in _lost:
        try:
            stream.write(f"{text}\n")
            stream.flush()
        except (OSError, ValueError) as error:
            _lost[id(stream)] = (error.strerror if isinstance(error, OSError) else None) or str(error)
            with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("w") as nowhere:  # or it is no file
                os.dup2(nowhere.fileno(), stream.fileno())  # what waits does not fail again when Python ends
    return _lost.get(id(stream), "")
