# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line refuses: in one line, with exit code 2, and nothing is written."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import pytest
from fabrik_addon.cli import requests

from support.cli_files import CommandLine, save_file
from support.scenes import add_chain, make_line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bake", "--frames", "9-3"], "ends at frame 3, before it starts at 9"),
        (["bake", "--frames", "1-x"], "'1-x' is no range"),
        (["bake", "--frames", "1-9999999"], "more than 1000000 frames"),
        (["bake", "--step", "0"], "a step of 0 frames"),
        (["solve", "--armature", "Nobody"], "no armature 'Nobody'"),
        (["solve", "--chain", "tail"], "no chain 'tail'"),
        (["solve", "--target", "b2=1,nan,0"], "is no target such as"),
        (["solve", "--target", "tail=1,0,0"], "no chain 'tail' whose target"),
        (["solve", "--output", "posed.txt"], "does not end in .blend"),
        (["solve", "--output", "/no/such/folder/x.blend"], "no folder"),
        (["inspect", "--report", "/no/such/folder/x.json"], "no folder"),
        (["inspect", "--report", "/dev/null"], "not a file"),
        (["solve", "--frame", "99999999"], "no frame 99999999"),
        (["solve", "--target", "b2=0,0,1"], "is keyed"),
        (["bake", "--clean-up", "nan"], "not between 0 and 30"),
        (["bake", "--index", "3"], "--job names"),
        (["convert", "--to", "chains", "--chain", "b2"], "does not go with"),
        (["convert"], "required: --to"),
        (["dance"], "invalid choice"),
    ],
)
def test_one_line_and_exit_code_2(shot: Path, cli: CommandLine, words: list[str], message: str) -> None:
    extra = [] if words == ["dance"] else ["--file", str(shot)]
    before = shot.read_bytes()
    assert message in cli.refuses(*words, *extra)
    assert shot.read_bytes() == before


def test_a_file_that_is_protected(shot: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shot.read_bytes()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is protected from being written" in cli.refuses("bake", "--file", shot, "--output", shot)
    assert shot.read_bytes() == before


@pytest.mark.parametrize("name", ["\udcff", "a\nb", "a\0b"])
def test_names_that_no_file_has(shot: Path, cli: CommandLine, name: str) -> None:
    assert "can't be printed" in cli.refuses("inspect", "--file", shot, "--armature", name)


def test_names_that_are_too_long(shot: Path, cli: CommandLine) -> None:
    assert "is longer than 240 bytes" in cli.refuses(
        "bake", "--file", shot, "--output", shot.with_name("x" * 240 + ".blend")
    )


def test_a_report_over_a_file_of_the_user(shot: Path, cli: CommandLine) -> None:
    before = shot.read_bytes()
    assert "would be written over" in cli.refuses("inspect", "--file", shot, "--report", shot)
    assert shot.read_bytes() == before


@pytest.mark.parametrize(
    ("option", "target", "message"),
    [
        ("--output", "loop.blend", "leads in a circle"),
        ("--report", "loop.blend", "leads in a circle"),
        ("--output", "gone/x.blend", "there is no folder '{folder}/gone'"),
        ("--report", "other.blend", "is the name of a .blend"),
        ("--output", "folder.blend", "is not a file"),
    ],
)
def test_links_that_lead_to_no_place(shot: Path, cli: CommandLine, option: str, target: str, message: str) -> None:
    folder = shot.parent.resolve()
    (folder / "folder.blend").mkdir()
    (folder / "other.blend").write_bytes(shot.read_bytes())
    link = folder / "loop.blend"
    link.symlink_to(target)
    names = sorted(path.name for path in folder.iterdir())
    assert message.format(folder=folder) in cli.refuses("bake", "--file", shot, option, link)
    assert (sorted(path.name for path in folder.iterdir()), link.is_symlink()) == (names, True)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no folder that even root can't write into")
def test_a_folder_that_is_protected(shot: Path, cli: CommandLine) -> None:
    assert "is protected from being written" in cli.refuses("bake", "--file", shot, "--output", "/proc/self/x.blend")


def test_a_failure_that_nobody_foresaw(shot: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: object, progress: object) -> None:
        raise ZeroDivisionError("no")

    monkeypatch.setattr(requests, "bake_open_file", broken)
    assert cli.refuses("bake", "--file", shot) == "fabrik: error: ZeroDivisionError: no"


def test_two_chains_of_the_name(shot: Path, cli: CommandLine) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    other = add_chain(make_line(3), (1, 0, 2))
    assert other.name == "b2"
    bpy.ops.wm.save_mainfile()
    assert "more than one chain 'b2'" in cli.refuses("solve", "--file", shot, "--target", "b2=0,0,1")


def test_files_that_are_none(tmp_path: Path, cli: CommandLine) -> None:
    assert "there is no file" in cli.refuses("inspect", "--file", tmp_path / "gone.blend")
    path = tmp_path / "text.blend"
    path.write_text("not a blend")
    assert "can't be opened" in cli.refuses("inspect", "--file", path)


def test_a_file_of_a_newer_blender(shot: Path, cli: CommandLine) -> None:
    saved = bpy.app.version
    path = shot.with_name("newer.blend")
    data = shot.read_bytes()
    assert data.startswith((b"BLENDER-v", b"BLENDER17-01v")), "the file is not compressed"
    version = b"%d%02d" % saved[:2]
    place = data.index(version)
    path.write_bytes(data[:place] + (b"%d%02d" % (saved[0] + 1, 0)) + data[place + 3 :])
    assert cli.refuses("bake", "--file", path, "--output", path).startswith(f"fabrik: error: '{path}'")


def test_a_file_without_chains(tmp_path: Path, cli: CommandLine) -> None:
    make_line(2)
    assert "has chains" in cli.refuses("solve", "--file", save_file(tmp_path / "empty.blend"))


def test_a_target_that_follows_something(shot: Path, cli: CommandLine) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.data.objects["Target"].animation_data_clear()
    bpy.data.objects["Target"].constraints.new("COPY_LOCATION")
    bpy.ops.wm.save_mainfile()
    assert "has constraints" in cli.refuses("solve", "--file", shot, "--target", "b2=0,0,1")
