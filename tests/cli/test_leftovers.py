# SPDX-License-Identifier: GPL-3.0-or-later
"""What a killed run left in a folder goes a day later, with whatever is written there; what is anyone else's stays."""

from __future__ import annotations

import os
from pathlib import Path
from time import time

import pytest
from fabrik_addon.cli.files import DAY, write_text

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
