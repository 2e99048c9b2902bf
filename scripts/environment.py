# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments with pinned packages, made on first use under .venv/."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venv"
PYTHON_OF = {"4.2": (3, 11), "4.5": (3, 11), "5.0": (3, 11), "5.2": (3, 13)}
DEFAULT_OF = {(3, 11): "5.0", (3, 13): "5.2"}
LIBRARIES = (
    "libx11-6 libxext6 libxrender1 libxxf86vm1 libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libgl1 libgomp1 libegl1 "
    "libgl1-mesa-dri"
)
STAMP = "fabrik-stamp.json"
START = time.monotonic()


class SetupError(Exception):
    """Something is missing that the script can't install; the text says what to do."""


class CompileError(SetupError):
    """The kernel's sources do not compile, or do not do what is stored; the text names file and line, or what to do."""


def say(text: str) -> None:
    """Tell the user what is going on, on standard error, and after how many minutes."""
    minutes = int(time.monotonic() - START) // 60
    print(f"{text} (after {minutes} min)" if minutes else text, file=sys.stderr, flush=True)


def new_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser of arguments whose help is what a script says of itself."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def exit_with(work: Callable[[], int]) -> None:
    """Do a script's work and leave with the status that it returns; what is missing is told."""
    try:
        sys.exit(work())
    except SetupError as error:
        say(f"error: {error}")
        sys.exit(2)


def is_root() -> bool:
    """Whether this process may install packages of the system."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def requirements(*groups: str) -> list[str]:
    """The pinned packages of dependency groups of pyproject.toml, groups in groups included."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    found: list[str] = []
    for group in groups:
        for entry in table[group]:
            found += requirements(entry["include-group"]) if isinstance(entry, dict) else [entry]
    return found


def default_blender() -> str:
    """The Blender version whose wheel the running Python takes.

    Raises:
        SetupError: There is none.
    """
    version = DEFAULT_OF.get(sys.version_info[:2])
    if version is None:
        raise SetupError(f"Blender's wheels need Python 3.11 or 3.13, and this is {platform.python_version()}")
    return version


def python_for(version: str) -> str | None:
    """A Python interpreter for the wheel of a Blender version: the running one, or one on the PATH."""
    wanted = PYTHON_OF[version]
    if sys.version_info[:2] == wanted:
        return sys.executable
    found = shutil.which(f"python{wanted[0]}.{wanted[1]}")
    works = found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0
    return found if works else None


def ensure(name: str, groups: list[str], python: str = sys.executable, bytecode: bool = False) -> Path:
    """The interpreter of a virtual environment that has exactly the pinned packages; made or renewed where needed.

    Args:
        name: Folder under .venv/.
        groups: Dependency groups of pyproject.toml.
        python: Interpreter to make it with.
        bytecode: Compile all modules at once, which takes most of the time: for what many processes will import.

    Raises:
        SetupError: The packages can't be installed.
    """
    folder = VENVS / name
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not inside.exists() or not _is_made(folder, groups):
        _begin(folder, groups)
        subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
        _install(["--python", str(inside), "install", *([] if bytecode else ["--no-compile"])], folder, groups)
    return inside


def packages(name: str, groups: list[str], python_version: str) -> Path:
    """A folder with the pinned packages alone, for a Python that has others besides; made or renewed where needed.

    Args:
        name: Folder under .venv/.
        groups: Dependency groups of pyproject.toml.
        python_version: For which Python, "3.11" say.

    Raises:
        SetupError: The packages can't be installed.
    """
    folder = VENVS / name
    if not _is_made(folder, groups):
        _begin(folder, groups)
        folder.mkdir(parents=True)
        fitting = ["--target", str(folder), "--python-version", python_version, "--only-binary=:all:"]
        _install(["install", *fitting], folder, groups)
    return folder


def _is_made(folder: Path, groups: list[str]) -> bool:
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _digest(requirements(*groups))


def _begin(folder: Path, groups: list[str]) -> None:
    say(f"Setting up {folder.relative_to(ROOT)} ({', '.join(groups)}); this is done once")
    shutil.rmtree(folder, ignore_errors=True)


def _install(words: list[str], folder: Path, groups: list[str]) -> None:
    """Install by the pip of the running Python, to which these words are said."""
    wanted = requirements(*groups)
    command = [sys.executable, "-m", "pip", *words, "--quiet", "--disable-pip-version-check", "--no-deps", *wanted]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"pip could not install the pinned packages:\n{done.stderr.strip()}")
    (folder / STAMP).write_text(_digest(wanted), encoding="utf-8")


def _digest(wanted: list[str]) -> str:
    return hashlib.sha256(json.dumps(wanted).encode()).hexdigest()


def blender_python(version: str, *extra: str) -> Path:
    """The interpreter of an environment with the wheel of a Blender version that imports.

    Args:
        version: "4.2", "4.5", "5.0" or "5.2".
        extra: More dependency groups, after which the environment is named.

    Raises:
        SetupError: No fitting Python is there, or system libraries are missing and can't be installed.
    """
    python = python_for(version)
    if python is None:
        major, minor = PYTHON_OF[version]
        raise SetupError(f"Blender {version} needs Python {major}.{minor}, which is not on the PATH")
    inside = ensure("-".join(("blender", *extra, version)), [f"bpy-{version}", *extra], python, bytecode=True)
    error = _import_error(inside)
    if error and "cannot open shared object" in error:
        _install_libraries(error)
        error = _import_error(inside)
    if error:
        raise SetupError(f"the Blender {version} wheel does not load: {error}")
    return inside


def run_in_blender(words: list[str], *extra: str) -> tuple[int, str]:
    """Run code of ours where Blender is a Python module, with user folders of its own that are thrown away.

    Args:
        words: For the interpreter.
        extra: More dependency groups.

    Returns:
        The status, and all that was printed, which is also shown as it comes.

    Raises:
        SetupError: There is no such Blender to be had.
    """
    python, printed = blender_python(default_blender(), *extra), []
    with tempfile.TemporaryDirectory(prefix="fabrik-run-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder, "PYTHONPATH": str(ROOT / "scripts")}
        command = [str(python), *words]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                printed.append(line)
    return process.returncode, "".join(printed)


def _import_error(python: Path) -> str:
    """The last line of what `import bpy` complains about, or ""."""
    code = "import bpy, os, sys; sys.stdout.flush(); os._exit(0)"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return lines[-1] if done.returncode else ""


def _install_libraries(error: str) -> None:
    """Install the system libraries that Blender links to, where this is Debian and we are root."""
    line = f"apt-get install -y --no-install-recommends {LIBRARIES}"
    if not (is_root() and shutil.which("apt-get")):
        raise SetupError(f"system libraries are missing ({error}); on Debian or Ubuntu run: sudo {line}")
    say("Installing the system libraries that Blender needs")
    for command in (["apt-get", "update", "-q"], line.split()):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SetupError(f"'{' '.join(command)}' failed: {done.stderr.strip()}")
