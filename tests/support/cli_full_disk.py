# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the command line where there is little room, in a process of its own, and tells as JSON what came of it.

Arguments: a folder, how room is made scarce ("limit" for the size of each file, "disk" for the
folder, which is a tmpfs that may be mounted anew with another size), and where the answers go.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import fabrik_addon
from fabrik_addon.cli.commands import run
from fabrik_addon.cli.files import check_whole
from fabrik_addon.rig.schema import rig_of

from support.cli_files import save_shot
from support.processes import run_process

folder, how, answers = sys.argv[-3:]
FOLDER, PAGE = Path(folder), 4096
COMMANDS = {
    "solve": ["solve", "--frame", "5"],
    "bake": ["bake", "--frames", "1-12"],
    "convert": ["convert", "--to", "ik"],
}


@contextlib.contextmanager
def room_for(size: int) -> Iterator[None]:
    """Meanwhile no file may be larger than some bytes, or no more than these can be written."""
    unlimited = resource.RLIM_INFINITY
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, unlimited))
    else:
        taken = sum(-(-path.stat().st_size // PAGE) for path in FOLDER.rglob("*") if path.is_file())
        grow(taken + size // PAGE + 1)
    try:
        yield
    finally:
        if how == "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))
        else:
            grow(100_000)


def grow(pages: int) -> None:
    """Give the tmpfs another size."""
    options = f"remount,size={pages * PAGE}"
    assert run_process(["mount", "-o", options, FOLDER]).returncode == 0


def tried(words: list[str], kept: Path, size: int) -> dict[str, Any]:
    """What comes of a command that writes over a file."""
    before, files = kept.read_bytes(), names()
    errors = io.StringIO()
    with room_for(size), contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        code = run(words)
    told = [line for line in errors.getvalue().splitlines() if line.startswith("fabrik:")]
    is_kept = kept.read_bytes() == before
    if not is_kept:
        check_whole(kept)
        bpy.ops.wm.open_mainfile(filepath=str(kept))
        assert "b2" in rig_of(bpy.data.objects["Rig"]).chains
    return {"words": words, "size": size, "code": code, "told": told, "kept": is_kept, "same": names() == files}


def names() -> list[str]:
    return sorted(path.name for path in FOLDER.rglob("*"))


def sizes(full: int) -> list[int]:
    """Sizes that are too small, from next to nothing to almost enough, and one that is not."""
    small = [1, 1000, full // 3, full - 5000, full - 2000] if how == "limit" else [0, full // 3, full - 3 * PAGE]
    return [*small, full + 50_000]


def outcomes() -> Iterator[dict[str, Any]]:
    source, shot, output, job = (FOLDER / name for name in ("source.blend", "shot.blend", "out.blend", "job.json"))
    save_shot(source, with_ballast=True)
    job.write_text(json.dumps({"version": 1, "shots": [{"file": "shot.blend", "output": "out.blend"}]}))

    def prepare() -> None:
        shutil.copyfile(source, shot)
        output.write_text("the result of another day")
        output.with_name("out.blend.json").write_text("its report")

    for is_packed in (False, True):
        bpy.ops.wm.open_mainfile(filepath=str(source))
        bpy.ops.wm.save_as_mainfile(filepath=str(source), compress=is_packed)
        for words in COMMANDS.values():
            whole = [*words, "--file", str(shot), "--output", str(shot)]
            yield from of_command(words[0], whole, shot, prepare, is_packed)
        yield from of_command("job", ["bake", "--job", str(job)], output, prepare, is_packed)


def of_command(
    name: str, words: list[str], kept: Path, prepare: Callable[[], object], is_packed: bool
) -> Iterator[dict[str, Any]]:
    """A command with more and more room."""
    prepare()
    with contextlib.redirect_stdout(io.StringIO()):
        assert run(words) == 0, name
    full = kept.stat().st_size
    assert (kept.read_bytes()[:4] == b"\x28\xb5\x2f\xfd") == is_packed, name
    for size in sizes(full):
        prepare()
        yield {"command": name, "packed": is_packed, "full": full, **tried(words, kept, size)}


signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fabrik_addon.register()
Path(answers).write_text(json.dumps(list(outcomes())))
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
