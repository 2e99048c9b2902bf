# SPDX-License-Identifier: GPL-3.0-or-later
"""Where there is no room to write, files are as they were and one line says so; output that nobody can read, too."""

from __future__ import annotations

import json
import os
import shlex
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import IO, Any

import bpy
import pytest
from fabrik_addon.cli import files, requests
from fabrik_addon.cli.commands import run
from fabrik_addon.cli.files import DAY, CutError, check_whole, write_text
from fabrik_addon.cli.requests import Progress
from fabrik_addon.rig.animation.compat import fcurves_of

from support.cli_files import CommandLine, opened, refused, save_shot, write_job
from support.processes import MODULE, ROOT, blender_script, python_path, run_process

SCRIPT = ROOT / "tests" / "support" / "cli_full_disk.py"


def outcomes(folder: Path, how: str, answers: Path) -> list[dict[str, Any]]:
    """What the command line does in a folder with little room, in a process of its own."""
    program = blender_script(SCRIPT, "--python-use-system-env")
    done = run_process([*program, folder, how, answers], python_path(Path(pytest.__file__).parents[1]))
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(answers.read_text())
    return found


def check_outcomes(found: list[dict[str, Any]]) -> None:
    for one in found:
        assert one["same"], one  # no file more, none less
        if one["code"] == 2:
            assert one["kept"], one
            (line,) = one["told"]
            assert "the disk is full" in line, one
        else:
            assert (one["code"], one["kept"], one["told"]) == (0, False, []), one
    for packed in (False, True):
        for command in ("solve", "bake", "convert", "job"):
            own = [one["code"] for one in found if (one["command"], one["packed"]) == (command, packed)]
            assert set(own[:-1]) == {2}, own
            assert own[-1] == 0, own


def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    """It makes writing fail at any byte, as a full disk does."""
    pytest.importorskip("resource", reason="this system has no limit on the size of files")
    (tmp_path / "room").mkdir()
    check_outcomes(outcomes(tmp_path / "room", "limit", tmp_path / "answers.json"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, in memory."""
    place = tmp_path / "disk"
    place.mkdir()
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("only root of Linux may mount a disk")
    if run_process(["mount", "-t", "tmpfs", "tmpfs", place]).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    assert run_process(["umount", place]).returncode == 0


def test_a_disk_that_fills(small_disk: Path, tmp_path: Path) -> None:
    check_outcomes(outcomes(small_disk, "disk", tmp_path / "answers.json"))


@pytest.fixture(params=["compressed", "not compressed"])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of some frames, as this Blender saves it."""
    path = save_shot(tmp_path / "shot.blend", with_ballast=True)
    if request.param == "compressed":
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    return path


@pytest.mark.parametrize("has_module", [True, False])
def test_every_cut_is_seen(saved: Path, has_module: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_module:
        monkeypatch.setitem(sys.modules, "zstandard", None)
    check_whole(saved)
    data = saved.read_bytes()
    spread = (len(data) * k // 50 for k in range(50))
    for cut in sorted({1, 3, 4, 11, 12, 17, 100, *range(len(data) - 100, len(data)), *spread}):
        saved.write_bytes(data[:cut])
        with pytest.raises(CutError):
            check_whole(saved)
    saved.write_bytes(data + b"\0")
    with pytest.raises(CutError):
        check_whole(saved)


def test_a_lost_frame_that_breaks_a_block(tmp_path: Path) -> None:
    """As where the disk was full for a moment only: Blender's table then tells of the frames that were written."""
    pytest.importorskip("zstandard", reason="this Python has nothing that decompresses")
    path = save_shot(tmp_path / "shot.blend", with_ballast=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    data = path.read_bytes()
    (count,) = struct.unpack_from("<I", data, len(data) - 9)
    table = len(data) - count * 8 - 17
    sizes = [struct.unpack_from("<II", data, table + 8 + 8 * i) for i in range(count)]
    lost = sizes.index(max(sizes))  # it breaks a block
    first = sum(packed for packed, _ in sizes[:lost])
    left = [pair for i, pair in enumerate(sizes) if i != lost]
    frames = data[:first] + data[first + sizes[lost][0] : table]
    written = b"".join(struct.pack("<II", *pair) for pair in [(0x184D2A5E, len(left) * 8 + 9), *left])
    path.write_bytes(frames + written + struct.pack("<IBI", len(left), 0, 0x8F92EAB1))
    with pytest.raises(CutError):
        check_whole(path)


# What a killed run left in a folder goes a day later, with whatever is written there; what is anyone else's stays.


TOKEN = "0123456789abcdef"
OLD = DAY + 60.0


def left_after(folder: Path, name: str, age: float) -> bool:
    """Whether a file of a name and an age in seconds is still there after something is written into its folder."""
    path = folder / name
    path.write_text("half")
    os.utime(path, (time() - age, time() - age))
    write_text(folder / "report.json", "{}")
    assert (folder / "report.json").read_text() == "{}"
    return path.exists()


@pytest.mark.parametrize("name", [TOKEN * 2, TOKEN, f"ffffffffffff-4711-{TOKEN}"])  # of this and of earlier versions
@pytest.mark.parametrize("suffix", [".blend", ".blend@", ".tmp"])
def test_of_a_killed_run(tmp_path: Path, name: str, suffix: str) -> None:
    assert left_after(tmp_path, f".fabrik-{name}{suffix}", 0.0)
    assert left_after(tmp_path, f".fabrik-{name}{suffix}", DAY - 60.0)
    assert not left_after(tmp_path, f".fabrik-{name}{suffix}", OLD)


@pytest.mark.parametrize(
    "name",
    ["shot.blend", ".fabrik-notes.blend", f".fabrik-{TOKEN}.txt", f"x.fabrik-{TOKEN}.tmp", f".fabrik-{TOKEN}.tmp.x"],
)
def test_other_names_are_not_looked_at(tmp_path: Path, name: str) -> None:
    assert left_after(tmp_path, name, 10 * DAY)


def test_links_and_folders_stay(tmp_path: Path) -> None:
    link, folder = tmp_path / f".fabrik-{TOKEN}.tmp", tmp_path / f".fabrik-{TOKEN}.blend"
    (tmp_path / "kept.txt").write_text("kept")
    link.symlink_to(tmp_path / "kept.txt")
    folder.mkdir()
    for path in (link, folder):
        os.utime(path, (time() - OLD, time() - OLD), follow_symlinks=False)
    write_text(tmp_path / "report.json", "{}")
    assert link.is_symlink()
    assert folder.is_dir()
    assert (tmp_path / "kept.txt").read_text() == "kept"


@pytest.mark.skipif(os.name != "posix", reason="Windows tells no owner by a number")
def test_files_of_another_user_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert left_after(tmp_path, f".fabrik-{TOKEN}.tmp", 2 * DAY)


# Standard output that is full, closed or not read: the work is done, and that is told apart from a job that failed.


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
