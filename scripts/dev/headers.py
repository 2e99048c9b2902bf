# SPDX-License-Identifier: GPL-3.0-or-later
"""CPython's C headers, from wherever they can be had: any from 3.11 on, since the kernel keeps to the stable API."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from environment import VENVS, SetupError, is_root, say

OLDEST = (3, 11)
UNPACKED = VENVS / "headers"
PACKAGED = ("3.11", "3.12", "3.13", "3.14")


def find_headers() -> Path:
    """The folder that holds Python.h: one on this machine, else unpacked from Debian's package under .venv/.

    The oldest that will do: the headers of 3.11, whoever packaged them, give the same bytes everywhere.

    Raises:
        SetupError: It is not to be had.
    """
    found = [folder for folder in _places() if (folder / "Python.h").is_file() and _version(folder) >= OLDEST]
    return min(found, key=_version) if found else _unpacked()


def _places() -> Iterator[Path]:
    yield Path(sysconfig.get_path("include"))
    for root in (UNPACKED / "usr", Path(sys.base_prefix), Path("/usr/local"), Path("/usr")):
        yield from sorted((root / "include").glob("python3.*"))


def _version(folder: Path) -> tuple[int, int]:
    """The version of the headers in a folder; (0, 0) where they do not tell."""
    try:
        text = (folder / "patchlevel.h").read_text(encoding="utf-8")
    except OSError:
        return 0, 0
    found = dict(re.findall(r"#define\s+PY_(MAJOR|MINOR)_VERSION\s+(\d+)", text))
    return int(found.get("MAJOR", 0)), int(found.get("MINOR", 0))


def _unpacked() -> Path:
    """Unpack Debian's package of the headers beside the environments; nothing is installed.

    Raises:
        SetupError: There is no such package.
    """
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    missing = f"no C headers of Python; on Debian or Ubuntu run: sudo apt-get install libpython{running}-dev"
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SetupError(missing)
    say("Getting the C headers of Python")
    if is_root():
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
    for version in dict.fromkeys((*PACKAGED, running)):
        with tempfile.TemporaryDirectory() as folder:
            command = ["apt-get", "download", "-q", f"libpython{version}-dev"]
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
            packages = list(Path(folder).glob("*.deb"))
            if done.returncode or not packages:
                continue
            subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(UNPACKED)], check=True)
        headers = UNPACKED / "usr" / "include" / f"python{version}"
        if (headers / "Python.h").is_file():
            return headers
    raise SetupError(missing)
