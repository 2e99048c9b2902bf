# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard output and standard error, whether or not somebody reads them."""

from __future__ import annotations

import os
import sys
from typing import IO

_lost: dict[int, str] = {}  # why a stream can't be written to, by its `id`


def begin() -> None:
    """Open those of the standard streams that are closed, or the next file would take their place.

    What Blender prints would then go into that file. And what an earlier command found out is forgotten.
    """
    _lost.clear()
    while True:
        found = os.open(os.devnull, os.O_RDWR)
        if found > 2:
            os.close(found)
            return


def put_out(text: str) -> str:
    """A line on standard output.

    Returns:
        Why it could not be written; "" where it was.
    """
    return _put(sys.stdout, text)


def put_error(text: str) -> str:
    """A line on standard error, told as an error of ours; see `put_out`."""
    return _put(sys.stderr, f"fabrik: error: {' '.join(text.split())}")


def put_aside(text: str) -> str:
    """A line on standard error as it is; see `put_out`."""
    return _put(sys.stderr, text)


def _put(stream: IO[str] | None, text: str) -> str:
    if stream is None:
        return "it is closed"
    if id(stream) in _lost:
        return _lost[id(stream)]
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except (OSError, ValueError) as error:
        _give_up(stream)
        _lost[id(stream)] = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return _lost[id(stream)]
    return ""


def _give_up(stream: IO[str]) -> None:
    """Let what waits in a stream go nowhere, so that it does not fail again when Python ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # it is no file
        return
