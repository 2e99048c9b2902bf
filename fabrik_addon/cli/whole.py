# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a .blend is whole: read back to its end.

Blender does not tell where its compressed writer could not write: a cut file looks as if it was saved. So the blocks of
a file that was just written are gone through up to its end block, behind which nothing may stand. A compressed file is
decompressed for that by the module that comes with Blender; where that is missing, the table at its end, which is
compared with its frames anyway, still finds every cut.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, Any

ZSTD = b"\x28\xb5\x2f\xfd"
SKIPPED, SEEKABLE = 0x184D2A5E, 0x8F92EAB1  # of a frame with a table of the others, and at the table's end
FOOTER = struct.Struct("<IBI")  # number of frames, flags, SEEKABLE
END = b"ENDB"
OLD_HEADER, NEW_HEADER = 12, 17  # bytes
PORTION = 1 << 20  # bytes


class CutError(Exception):
    """A file ends before its end, or is none."""


def check_whole(path: Path) -> None:
    """Read a .blend that this Blender has written to its end.

    Raises:
        CutError: It is not whole.
        OSError: It can't be read.
    """
    with path.open("rb") as file:
        is_packed = file.read(len(ZSTD)) == ZSTD
        file.seek(0)
        if not is_packed:
            _check_blocks(file)
            return
        _check_frames(file, path.stat().st_size)
        file.seek(0)
        opened = _unpacker()
        if opened is not None:
            try:
                _check_blocks(opened(file))
            except (OSError, CutError):
                raise
            except Exception as error:  # of the module, which has a class of its own
                raise CutError(str(error)) from error


def _unpacker() -> Callable[[IO[bytes]], IO[bytes]] | None:
    """What opens a compressed file for reading; None where this Python has nothing for it."""
    try:
        module: Any = import_module("zstandard")
    except ImportError:
        return None

    def opened(file: IO[bytes]) -> IO[bytes]:
        reader: Any = module.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)
        return io.BufferedReader(reader, PORTION)

    return opened


def _check_frames(file: IO[bytes], size: int) -> None:
    """Compare the table at the end of a compressed file with the frames before it."""
    if size < FOOTER.size:
        raise CutError("it has no table")
    file.seek(size - FOOTER.size)
    count, _, mark = FOOTER.unpack(file.read(FOOTER.size))
    length = count * 8 + FOOTER.size
    start = size - length - 8
    if mark != SEEKABLE or start <= 0:
        raise CutError("it has no table")
    file.seek(start)
    kind, told, *sizes = struct.unpack(f"<II{count * 2}I", file.read(8 + count * 8))
    if kind != SKIPPED or told != length or sum(sizes[::2]) != start:
        raise CutError("its table is of other frames")
    place = 0
    for packed in sizes[::2]:
        file.seek(place)
        if file.read(len(ZSTD)) != ZSTD:
            raise CutError("a frame is missing")
        place += packed


def _check_blocks(file: IO[bytes]) -> None:
    """Go through the blocks of a file up to the one that is its end, behind which nothing is."""
    header = file.read(OLD_HEADER)
    if header.startswith(b"BLENDER-v"):
        block, length_at = struct.Struct("<4siQii"), 1
    elif header.startswith(b"BLENDER17-01"):
        file.read(NEW_HEADER - OLD_HEADER)
        block, length_at = struct.Struct("<4siQqq"), 3
    elif header.startswith(b"BLENDER") and len(header) == OLD_HEADER:  # of a Blender to come
        return
    else:
        raise CutError("it has no header")
    while True:
        found = file.read(block.size)
        if len(found) < block.size:
            raise CutError("it ends before its end block")
        fields = block.unpack(found)
        if fields[0] == END:
            break
        _skip(file, fields[length_at])
    if file.read(1):
        raise CutError("something stands behind its end block")


def _skip(file: IO[bytes], length: int) -> None:
    """Read on; a place is not sought, since behind the end of a file there are places too."""
    if length < 0:
        raise CutError("a block is shorter than nothing")
    while length > 0:
        read = len(file.read(min(length, PORTION)))
        if not read:
            raise CutError("it ends inside a block")
        length -= read
