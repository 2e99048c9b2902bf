# SPDX-License-Identifier: GPL-3.0-or-later
"""Where there is no room to write: exit code 2, one line that says so, and every file as it was."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import bpy
import pytest
from fabrik_addon.cli.files import DAY, CutError, check_whole, write_text

from support.cli_files import save_shot
from support.processes import ROOT, blender_script, python_path, run_process

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
