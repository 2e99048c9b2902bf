# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: what it writes, what it reports, its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest
from fabrik_addon.cli.arguments import frames_of, targets_of
from fabrik_addon.cli.commands import run
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.rig.compat import fcurves_of

from rigs import add_chain, make_line, tip_error


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A file with an armature of one chain, whose target is keyed."""
    owner = make_line(3)
    chain = add_chain(owner, (0.4, -0.5, 1.9))
    for frame, x in ((1, -0.3), (12, 0.6)):
        chain.target.location.x = x
        chain.target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def reported(capfd: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capfd.readouterr().out.strip().splitlines()[-1])


def refused(capfd: pytest.CaptureFixture[str]) -> str:
    """The one line of the error."""
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("fabrik:")]
    assert len(lines) == 1
    return lines[0]


def test_inspect_tells_chains_and_limits(shot: Path, capfd) -> None:
    path = shot.with_name("report.json")
    assert run(["inspect", "--file", str(shot), "--report", str(path)]) == 0
    report = reported(capfd)
    assert json.loads(path.read_text()) == report
    (armature,) = report["armatures"]
    assert armature["name"] == "Rig"
    assert armature["chains"][0]["bones"] == [{"name": f"b{i}", "limit": "FREE"} for i in range(3)]


def test_solve_writes_a_new_file_and_leaves_the_old_one(shot: Path, tmp_path: Path, capfd) -> None:
    before, output = shot.read_bytes(), tmp_path / "posed.blend"
    words = ["solve", "--file", str(shot), "--frame", "5", "--output", str(output)]
    assert run(words) == 0
    report = reported(capfd)
    assert report["all_reached"]
    assert report["armatures"][0]["chains"][0]["status"] == "REACHED"
    assert shot.read_bytes() == before
    bpy.ops.wm.open_mainfile(filepath=str(output))
    owner = bpy.data.objects["Rig"]
    assert tip_error(owner, owner.fabrik.chains[0]) < 1e-4
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_target_out_of_reach_gives_exit_code_1(shot: Path, capfd) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.data.objects["Target"].animation_data_clear()
    bpy.ops.wm.save_mainfile()
    assert run(["solve", "--file", str(shot), "--target", "b2=9,0,0"]) == 1
    report = reported(capfd)
    assert report["armatures"][0]["chains"][0]["status"] == "TOO_FAR"


def test_an_armature_that_hangs_on_another_comes_after_it(shot: Path, capfd) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    first = bpy.data.objects["Rig"]
    second = make_line(3)
    second.name, second.location = "Aaa", (1.5, 0, 0)
    chain = add_chain(second)
    chain.target, chain.target_bone = first, "b2"
    bpy.ops.wm.save_mainfile()
    assert run(["bake", "--file", str(shot), "--frames", "1-12"]) in (0, 1)
    assert [armature["name"] for armature in reported(capfd)["armatures"]] == ["Rig", "Aaa"]
    second = bpy.data.objects["Aaa"]
    for frame in (1, 6, 12):
        bpy.context.scene.frame_set(frame)
        tip = second.matrix_world @ second.pose.bones["b2"].tail
        assert (tip - bpy.data.objects["Rig"].pose.bones["b2"].head).length < 1e-3


def test_bake_keys_the_range_of_the_scene(shot: Path, capfd) -> None:
    assert run(["bake", "--file", str(shot), "--output", str(shot)]) == 0
    report = reported(capfd)["armatures"][0]["chains"][0]
    assert report["worst_tip_error"] < 1e-5
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    owner = bpy.data.objects["Rig"]
    assert fcurves_of(owner)
    for frame in (1, 7, 12):
        bpy.context.scene.frame_set(frame)
        assert tip_error(owner, owner.fabrik.chains[0]) < 1e-5


def test_it_does_what_the_operators_do(shot: Path, capfd) -> None:
    run(["bake", "--file", str(shot), "--frames", "3-9", "--step", "3", "--into", "NEW_ACTION"])
    mine = {(c.data_path, c.array_index): [tuple(p.co) for p in c.keyframe_points] for c in curves()}
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    bpy.ops.fabrik.bake(frame_start=3, frame_end=9, step=3, into="NEW_ACTION")
    assert mine == {(c.data_path, c.array_index): [tuple(p.co) for p in c.keyframe_points] for c in curves()}


def curves():
    return fcurves_of(bpy.data.objects["Rig"])


class TestRefusals:
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
            (["dance"], "invalid choice"),
        ],
    )
    def test_one_line_and_exit_code_2(self, shot: Path, capfd, words: list[str], message: str) -> None:
        extra = [] if words == ["dance"] else ["--file", str(shot)]
        before = shot.read_bytes()
        assert run([*words, *extra]) == 2
        assert message in refused(capfd)
        assert shot.read_bytes() == before

    def test_a_report_over_a_file_of_the_user(self, shot: Path, capfd) -> None:
        before = shot.read_bytes()
        assert run(["inspect", "--file", str(shot), "--report", str(shot)]) == 2
        assert "would be written over" in refused(capfd)
        assert shot.read_bytes() == before

    def test_two_chains_of_the_name(self, shot: Path, capfd) -> None:
        bpy.ops.wm.open_mainfile(filepath=str(shot))
        other = add_chain(make_line(3), (1, 0, 2))
        assert other.name == "b2"
        bpy.ops.wm.save_mainfile()
        assert run(["solve", "--file", str(shot), "--target", "b2=0,0,1"]) == 2
        assert "more than one chain 'b2'" in refused(capfd)

    def test_files_that_are_none(self, tmp_path: Path, capfd) -> None:
        assert run(["inspect", "--file", str(tmp_path / "gone.blend")]) == 2
        assert "there is no file" in refused(capfd)
        path = tmp_path / "text.blend"
        path.write_text("not a blend")
        assert run(["inspect", "--file", str(path)]) == 2
        assert "can't be opened" in refused(capfd)

    def test_a_file_without_chains(self, tmp_path: Path, capfd) -> None:
        path = tmp_path / "empty.blend"
        make_line(2)
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        assert run(["solve", "--file", str(path)]) == 2
        assert "has chains" in refused(capfd)

    def test_a_target_that_follows_something(self, shot: Path, capfd) -> None:
        bpy.ops.wm.open_mainfile(filepath=str(shot))
        bpy.data.objects["Target"].animation_data_clear()
        bpy.data.objects["Target"].constraints.new("COPY_LOCATION")
        bpy.ops.wm.save_mainfile()
        assert run(["solve", "--file", str(shot), "--target", "b2=0,0,1"]) == 2
        assert "has constraints" in refused(capfd)


def test_help_has_examples(capfd) -> None:
    assert run(["--help"]) == 0
    assert "--command fabrik bake" in capfd.readouterr().out


def test_ranges_and_targets() -> None:
    assert frames_of("-3-4", 2) == (-3, -1, 1, 3, 4)
    assert targets_of(["a=b=1,2,3"]) == {"a=b": (1.0, 2.0, 3.0)}
    with pytest.raises(InvalidValueError, match="twice"):
        targets_of(["a=1,2,3", "a=1,2,3"])
