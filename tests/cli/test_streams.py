# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard output that is full, closed or not read: the work is done, and that is told apart from a job that failed."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import bpy
import pytest
from fabrik_addon.cli import files, requests
from fabrik_addon.cli.commands import run
from fabrik_addon.cli.requests import Progress
from fabrik_addon.rig.animation.compat import fcurves_of

from support.cli_files import CommandLine, opened, refused, write_job
from support.processes import MODULE, run_process


@pytest.fixture(autouse=True)
def _streams_are_known_anew() -> Iterator[None]:
    yield
    files.open_streams()


@pytest.fixture
def full() -> Iterator[IO[str]]:
    """A file on a device that is always full."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    with Path("/dev/full").open("w", encoding="utf-8") as found:
        yield found


def test_the_work_is_done_where_the_report_can_not_be_told(
    shot: Path, full: IO[str], cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, report = shot.with_name("baked.blend"), shot.with_name("report.json")
    monkeypatch.setattr(sys, "stdout", full)
    assert run(["bake", "--file", str(shot), "--output", str(output), "--report", str(report)]) == 3
    monkeypatch.undo()
    line = refused(cli.capfd)
    assert "standard output can't be written: No space left on device" in line
    assert f"'{output}' is saved" in line
    assert json.loads(report.read_text())["output"] == str(output)
    assert fcurves_of(opened(output))


def test_progress_that_was_not_told_does_not_hide_it(
    shot: Path, full: IO[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What can't be told is thrown away, and the report after it is as little told."""
    monkeypatch.setattr(requests, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stdout", full)
    assert run(["bake", "--file", str(shot), "--progress", "openjd"]) == 3


def test_a_failed_job_stays_one(shot: Path, full: IO[str], monkeypatch: pytest.MonkeyPatch) -> None:
    job = write_job(shot.parent, {"file": "gone.blend", "output": "out.blend"})
    monkeypatch.setattr(sys, "stdout", full)
    assert run(["bake", "--job", str(job)]) == 2


def test_a_report_that_can_not_be_written_names_what_is_saved(
    shot: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, report = shot.with_name("baked.blend"), shot.with_name("report.json")
    replace = Path.replace

    def broken(made: Path, place: Path) -> None:
        if place == report:
            raise OSError(28, os.strerror(28))
        replace(made, place)

    monkeypatch.setattr(Path, "replace", broken)
    line = cli.refuses("bake", "--file", shot, "--output", output, "--report", report)
    assert "report.json' can't be written: the disk is full" in line
    assert f"'{output}' is saved" in line
    assert sorted(path.name for path in shot.parent.iterdir()) == ["baked.blend", "shot.blend"]


@pytest.mark.parametrize("stream", [None, "full"])
@pytest.mark.parametrize("form", ["text", "openjd"])
def test_progress_that_nobody_reads_stops_no_work(
    full: IO[str], monkeypatch: pytest.MonkeyPatch, form: str, stream: str | None
) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, full if stream else None)
    told = Progress(form, 2)
    for _ in range(3):
        told.tell(0.5)
        told.end_part()
    monkeypatch.undo()
    assert told.done == 3


@pytest.mark.skipif(bool(bpy.app.binary_path), reason="a Blender has no Python that runs a module")
@pytest.mark.parametrize("way", ["pipe that is closed", "closed"])
def test_as_a_process(shot: Path, way: str) -> None:
    output = shot.with_name("baked.blend")
    words = [*MODULE, "bake", "--file", str(shot), "--output", str(output)]
    if way == "closed":
        done = run_process(["sh", "-c", f"exec {shlex.join(words)} >&-"])
    else:
        reading, writing = os.pipe()
        os.close(reading)
        done = run_process(words, stdout=writing)
        os.close(writing)
    assert done.returncode == 3, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "fabrik:" in line]
    assert "the work is done, but standard output can't be written" in line
    assert "Traceback" not in done.stderr
    assert fcurves_of(opened(output))
