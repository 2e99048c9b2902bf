# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written beside their place first, and those that a killed run left there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import socket
import stat
from functools import cache
from pathlib import Path
from time import time

DAY = 86_400.0  # seconds after which a file of a run that can't be asked is left over
NAME = re.compile(r"\.fabrik-(?:([0-9a-f]{12})-(\d{1,9})-)?[0-9a-f]{16}\.(?:tmp|blend@?)")


def beside(place: Path, suffix: str) -> Path:
    """A name in the folder of a file that no other process takes, on whatever machine it runs.

    It tells the machine and the process, so that a later run knows whether this one is still there.
    """
    return place.with_name(f".fabrik-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}{suffix}")


def remove_leftovers(folder: Path) -> None:
    """Remove what runs of this user began to write into a folder and did not end.

    A file goes where its process ran here and runs no more; where that can't be told, a day after it was last written.
    What can't be removed stays, which is no error of the run at hand.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            found = NAME.fullmatch(path.name)
            if found is not None and _is_left(path, found[1], found[2]):
                path.unlink(missing_ok=True)


def _is_left(path: Path, machine: str | None, process: str | None) -> bool:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        return False
    if process is not None and machine == _machine() and _is_gone(int(process)):
        return True
    return time() - status.st_mtime > DAY


def _is_gone(process: int) -> bool:
    """Whether a process of this machine is known to run no more; Windows has no question that does not end it."""
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # it is another user's
        return False
    return False


@cache
def _machine() -> str:
    """What tells this machine from others: its name, since when it runs, and what counts its processes."""
    known = [socket.gethostname()]
    with contextlib.suppress(OSError):
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        known.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\n".join(known).encode(errors="replace")).hexdigest()[:12]
