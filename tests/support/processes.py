# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of the tests: each has an end, for after an unhandled error Blender as a module may hang when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 3600.0  # by then it hangs: what takes seconds on a fast machine takes minutes on a busy one
MODULE = (sys.executable, "-m", "fabrik_addon")


def run_process(
    command: Sequence[str | Path],
    variables: Mapping[str, str] | None = None,
    *,
    folder: Path = ROOT,
    stdout: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """What a command comes to in a folder, with more variables of the environment and what it told as text.

    Raises:
        subprocess.TimeoutExpired: It did not end.
    """
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **(variables or {})},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )


def python_path(*more: str | Path) -> dict[str, str]:
    """The variable by which a Python finds the modules of the project and of its tests."""
    return {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests", ROOT / "scripts", *more)))}


def plain_python() -> str:
    """A Python; inside a real Blender, `sys.executable` may be Blender itself."""
    return sys.executable if "python" in Path(sys.executable).name else "python3"


def blender_script(script: Path, *options: str) -> list[str]:
    """The command that runs a script with `bpy`: in this Blender, or in this Python; arguments come after it."""
    import bpy  # the kernel's tests run without it

    if not bpy.app.binary_path:
        return [sys.executable, str(script)]
    return [bpy.app.binary_path, "--background", "--factory-startup", *options, "--python", str(script), "--"]
