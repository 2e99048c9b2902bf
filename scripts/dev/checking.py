# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what compiling makes: equal bytes twice, platforms and symbols, and that it loads where it can be tried."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from environment import VENVS, ensure, say

from .compiling import SHIPPED, Target, compile_kernel

Stage = Callable[[Path, Path], Path]
LOADED = "LOADED"
CODE = f"""
import sys
sys.path.insert(0, {{folder!r}})
import fabrik_addon.kernel
print("{LOADED}", "%d.%d" % sys.version_info[:2], *fabrik_addon.kernel.FORM.values(), flush=True)
"""


def check(stage: Stage, others: Sequence[Path] = ()) -> int:
    """Compile for all platforms twice and look at the binaries; 0 where all is well.

    Args:
        stage: Lays the extension out in a folder with the binaries of another.
        others: Pythons and Blenders in which to load this machine's, besides those that are set up.
    """
    with tempfile.TemporaryDirectory(prefix="fabrik-check-") as temporary:
        folder = Path(temporary)
        begin = time.monotonic()
        for name in ("first", "second"):
            compile_kernel(folder / name, SHIPPED, fresh=True, anew=name == "second")
        say(f"Compiled twice in {time.monotonic() - begin:.0f} s")
        wrong = [*_differences(folder, SHIPPED), *_inside(folder / "first")]
        staged = stage(folder / "staged" / "fabrik_addon", folder / "first").parent
        for program in (*_pythons(), *others):
            told = _loaded(program, staged)
            say(f"{program}: {told}")
            if " compiled" not in told:
                wrong.append(f"{program}: {told}")
    for text in wrong:
        say(f"wrong: {text}")
    say(f"{len(wrong)} wrong")
    return int(bool(wrong))


def _differences(folder: Path, targets: Iterable[Target]) -> Iterator[str]:
    for target in targets:
        first, second = (folder / name / target.tag / target.file for name in ("first", "second"))
        size = first.stat().st_size
        same = first.read_bytes() == second.read_bytes()
        say(f"{target.tag:14} {size:9,} bytes, {'the same twice' if same else 'NOT the same twice'}")
        if not same:
            yield f"{target.tag}: two builds differ"


def _inside(folder: Path) -> list[str]:
    """What LIEF finds wrong with the binaries in a folder."""
    python = ensure("check", ["check"])
    script = Path(__file__).with_name("binaries.py")
    done = subprocess.run([str(python), str(script), str(folder)], capture_output=True, text=True, check=False)
    found = done.stdout.strip().splitlines()
    if done.returncode and not found:
        found = [f"the binaries can't be read: {done.stderr.strip()[-500:]}"]
    return found


def _pythons() -> list[Path]:
    """This Python, and those of the environments with Blender that are set up."""
    return [Path(sys.executable), *sorted(VENVS.glob("blender-*/bin/python"))]


def _loaded(program: Path, folder: Path) -> str:
    """In which form the kernel runs in a Python or a Blender."""
    code = CODE.format(folder=str(folder))
    command = [str(program), "-c", code]
    if "python" not in program.name:
        command = [str(program), "--background", "--factory-startup", "--python-expr", code]
    elif program.parent.parent.parent == VENVS and program.parent.parent.name.startswith("blender-"):
        command[-1] = f"import bpy, os\n{code}\nos._exit(0)"
    environment = {name: value for name, value in os.environ.items() if name != "FABRIK_INTERPRETED"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(LOADED)]
    return f"Python{lines[0].removeprefix(LOADED)}" if lines else f"exit code {done.returncode}: {done.stderr[-500:]}"
