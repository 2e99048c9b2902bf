# SPDX-License-Identifier: GPL-3.0-or-later
"""What a killed run left in a folder goes with the next one that writes there; what is anyone else's stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import time

import pytest
from fabrik_addon.cli import leftovers
from fabrik_addon.cli.files import write_text
from fabrik_addon.cli.leftovers import DAY, beside

TOKEN = "0123456789abcdef"
posix = pytest.mark.skipif(os.name != "posix", reason="Windows can't be asked for a process without ending it")


def gone_process() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def left_after(folder: Path, name: str, age: float = 0.0) -> bool:
    """Whether a file of a name and an age in seconds is still there after something is written into its folder."""
    path = folder / name
    path.write_text("half")
    os.utime(path, (time() - age, time() - age))
    write_text(folder / "report.json", "{}")
    assert (folder / "report.json").read_text() == "{}"
    return path.exists()


@posix
@pytest.mark.parametrize("suffix", [".blend", ".blend@", ".tmp"])
def test_of_a_process_that_is_gone(tmp_path: Path, suffix: str) -> None:
    assert not left_after(tmp_path, f".fabrik-{leftovers._machine()}-{gone_process()}-{TOKEN}{suffix}")


def test_of_a_process_that_runs(tmp_path: Path) -> None:
    mine = beside(tmp_path / "shot.blend", ".blend").name
    assert left_after(tmp_path, mine)
    assert left_after(tmp_path, f".fabrik-{leftovers._machine()}-{os.getppid()}-{TOKEN}.blend")


@posix
def test_of_another_machine(tmp_path: Path) -> None:
    name = f".fabrik-ffffffffffff-{gone_process()}-{TOKEN}.blend"
    assert left_after(tmp_path, name)
    assert left_after(tmp_path, name, DAY - 60.0)
    assert not left_after(tmp_path, name, DAY + 60.0)


def test_of_an_older_version_of_the_extension(tmp_path: Path) -> None:
    assert left_after(tmp_path, f".fabrik-{TOKEN}.blend")
    assert not left_after(tmp_path, f".fabrik-{TOKEN}.blend", DAY + 60.0)


@pytest.mark.parametrize(
    "name",
    ["shot.blend", ".fabrik-notes.blend", f".fabrik-{TOKEN}.txt", f"x.fabrik-{TOKEN}.tmp", f".fabrik-{TOKEN}.tmp.x"],
)
def test_other_names_are_not_looked_at(tmp_path: Path, name: str) -> None:
    assert left_after(tmp_path, name, 10 * DAY)


@posix
def test_links_and_folders_stay(tmp_path: Path) -> None:
    name = f".fabrik-{leftovers._machine()}-{gone_process()}-{TOKEN}"
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / f"{name}.tmp").symlink_to(tmp_path / "kept.txt")
    (tmp_path / f"{name}.blend").mkdir()
    write_text(tmp_path / "report.json", "{}")
    assert (tmp_path / f"{name}.tmp").is_symlink()
    assert (tmp_path / f"{name}.blend").is_dir()
    assert (tmp_path / "kept.txt").read_text() == "kept"


@posix
def test_files_of_another_user_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert left_after(tmp_path, f".fabrik-{leftovers._machine()}-{gone_process()}-{TOKEN}.tmp", 2 * DAY)
