# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: what it writes, what it reports, its exit codes."""

from __future__ import annotations

import json
import sys
from math import radians
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.cli import requests
from fabrik_addon.cli.commands import range_of, run, targets_of
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.cli_files import CommandLine, opened, reported, save_file, save_shot
from support.judging import tip_error
from support.processes import MODULE, run_process
from support.scenes import Bone, add_chain, each_frame, keyed, make_armature, make_empty, make_line


def test_inspect_tells_chains_and_limits(shot: Path, cli: CommandLine) -> None:
    path = shot.with_name("report.json")
    report = cli.reports("inspect", "--file", shot, "--report", path)
    assert json.loads(path.read_text()) == report
    (armature,) = report["armatures"]
    assert armature["name"] == "Rig"
    assert armature["chains"][0]["bones"] == [{"name": f"b{i}", "limit": "FREE"} for i in range(3)]


def test_solve_writes_a_new_file_and_leaves_the_old_one(shot: Path, tmp_path: Path, cli: CommandLine) -> None:
    before, output = shot.read_bytes(), tmp_path / "posed.blend"
    words = ["solve", "--file", str(shot), "--frame", "5", "--output", str(output)]
    report = cli.reports(*words)
    assert report["all_reached"]
    assert report["armatures"][0]["chains"][0]["status"] == "REACHED"
    assert shot.read_bytes() == before
    owner = opened(output)
    assert tip_error(owner, owner.fabrik.chains[0]) < 1e-4
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_target_out_of_reach_gives_exit_code_1(shot: Path, cli: CommandLine) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.data.objects["Target"].animation_data_clear()
    bpy.ops.wm.save_mainfile()
    assert cli.chains("solve", "--file", shot, "--target", "b2=9,0,0", code=1)[0]["status"] == "TOO_FAR"


def with_control_bones(shot: Path) -> None:
    """Give the chain of a file control bones in place of its empty."""
    owner = opened(shot)
    owner.location, owner.rotation_euler = (1, 0, 0), (0.3, 0, 0.5)
    owner.fabrik.chains[0].target = None
    bpy.context.view_layer.objects.active = owner
    bpy.ops.fabrik.target_add(kind="BONE")
    bpy.ops.wm.save_mainfile()


@pytest.mark.parametrize("command", ["solve", "bake"])
def test_a_target_that_is_a_bone_is_put_somewhere(shot: Path, cli: CommandLine, command: str) -> None:
    with_control_bones(shot)
    assert run([command, "--file", str(shot), "--target", "b2=1.4,0.8,1.8", "--output", str(shot)]) == 0
    owner = opened(shot)
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    goal, tip = evaluated.pose.bones["b2.target"].head, evaluated.pose.bones["b2"].tail
    assert (owner.matrix_world @ goal - Vector((1.4, 0.8, 1.8))).length < 1e-5
    assert (owner.matrix_world @ tip - Vector((1.4, 0.8, 1.8))).length < 1e-3


def test_a_bone_that_can_not_be_put_somewhere_is_refused(shot: Path, cli: CommandLine) -> None:
    with_control_bones(shot)
    bone = bpy.data.objects["Rig"].pose.bones["b2.target"]
    words = ["solve", "--file", str(shot), "--target", "b2=1.4,0.8,1.8"]
    bone.keyframe_insert("location", frame=1)
    bpy.ops.wm.save_mainfile()
    assert "its target is keyed, so it can't be put somewhere" in cli.refuses(*words)
    owner = bpy.data.objects["Rig"]
    owner.animation_data_clear()
    owner.pose.bones["b2.target"].lock_location = (True, False, False)
    bpy.ops.wm.save_mainfile()
    assert "its target is locked in its location" in cli.refuses(*words)


def test_an_armature_that_hangs_on_another_comes_after_it(shot: Path, cli: CommandLine) -> None:
    first = opened(shot)
    second = make_line(3)
    second.name, second.location = "Aaa", (1.5, 0, 0)
    chain = add_chain(second)
    chain.target, chain.target_bone = first, "b2"
    bpy.ops.wm.save_mainfile()
    assert run(["bake", "--file", str(shot), "--frames", "1-12"]) in (0, 1)
    assert [armature["name"] for armature in reported(cli.capfd)["armatures"]] == ["Rig", "Aaa"]
    second = bpy.data.objects["Aaa"]
    for _ in each_frame((1, 6, 12)):
        tip = second.matrix_world @ second.pose.bones["b2"].tail
        assert (tip - bpy.data.objects["Rig"].pose.bones["b2"].head).length < 1e-3


def test_bake_keys_the_range_of_the_scene(shot: Path, cli: CommandLine) -> None:
    assert cli.chains("bake", "--file", shot, "--output", shot)[0]["worst_tip_error"] < 1e-5
    owner = opened(shot)
    assert fcurves_of(owner)
    for _ in each_frame((1, 7, 12)):
        assert tip_error(owner, owner.fabrik.chains[0]) < 1e-5


def test_it_does_what_the_operators_do(shot: Path, cli: CommandLine) -> None:
    run(["bake", "--file", str(shot), "--frames", "3-9", "--step", "3", "--into", "NEW_ACTION"])
    mine = {(c.data_path, c.array_index): [tuple(p.co) for p in c.keyframe_points] for c in curves()}
    bpy.context.view_layer.objects.active = opened(shot)
    bpy.ops.fabrik.bake(frame_start=3, frame_end=9, step=3, into="NEW_ACTION")
    assert mine == {(c.data_path, c.array_index): [tuple(p.co) for p in c.keyframe_points] for c in curves()}


def curves() -> list[bpy.types.FCurve]:
    return fcurves_of(bpy.data.objects["Rig"])


def test_bake_takes_what_the_panel_offers(shot: Path, cli: CommandLine) -> None:
    words = ["bake", "--file", str(shot), "--only-keys", "--interpolation", "BEZIER", "--verify", "SAMPLE"]
    report = cli.reports(*words)["armatures"][0]
    assert report["verify"] == "SAMPLE"
    assert report["chains"][0]["frames"] == 2
    cleaned = cli.chains("bake", "--file", shot, "--clean-up", "0.5")[0]["keys"]
    bpy.context.view_layer.objects.active = opened(shot)
    bpy.ops.fabrik.bake(frame_start=1, frame_end=12, clean_up=radians(0.5))
    told = json.loads(bpy.data.objects["Rig"].fabrik.bake_report)
    assert told["chains"][0]["keys"] == cleaned < 100


def test_progress_is_told(shot: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "EVERY", 0.0)
    assert run(["bake", "--file", str(shot), "--progress"]) == 0
    told = [line for line in cli.capfd.readouterr().err.splitlines() if line.startswith("progress: ")]
    shares = [float(line.split()[1]) for line in told]
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert shares[-1] == 100.0
    assert run(["bake", "--file", str(shot), "--progress", "openjd"]) == 0
    assert "openjd_progress: 100.0" in cli.capfd.readouterr().out.splitlines()


def test_scripts_of_the_file_are_not_run(shot: Path, cli: CommandLine) -> None:
    marker = shot.with_name("ran")
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    text = bpy.data.texts.new("evil.py")
    text.write(f"open({str(marker)!r}, 'w').close()")
    text.use_module = True
    make_empty(name="Other")
    bpy.data.objects["Other"].driver_add("scale", 0).driver.expression = f"open({str(marker)!r}, 'w').close() or 1"
    bpy.ops.wm.save_mainfile()
    marker.unlink(missing_ok=True)
    bpy.context.preferences.filepaths.use_scripts_auto_execute = True
    try:
        assert run(["bake", "--file", str(shot)]) == 0
    finally:
        bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    assert not marker.exists()


def test_inspect_tells_disabled_chains_too(shot: Path, cli: CommandLine) -> None:
    assert run(["bake", "--file", str(shot), "--output", str(shot)]) == 0
    cli.capfd.readouterr()
    (chain,) = cli.chains("inspect", "--file", shot)
    assert (chain["name"], chain["enabled"]) == ("b2", False)


def test_a_target_is_put_where_it_is_at_the_frame(shot: Path, cli: CommandLine) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    target, holder = bpy.data.objects["Target"], make_empty(name="Holder")
    target.animation_data_clear()
    target.parent = holder
    keyed(holder, {1: 0.0, 10: 0.8}, "location.x")
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_mainfile()
    assert run(["solve", "--file", str(shot), "--frame", "10", "--target", "b2=0.5,0.4,1.8"]) == 0
    bpy.context.view_layer.update()
    assert bpy.data.objects["Target"].matrix_world.translation.x == pytest.approx(0.5)


def test_unreached_limbs_may_be_allowed(shot: Path, cli: CommandLine) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.data.objects["Target"].animation_data_clear()
    bpy.data.objects["Target"].location.z = 9.0
    bpy.ops.wm.save_mainfile()
    report = cli.chains("bake", "--file", shot, code=1)[0]
    assert report["worst_tip_error"] is None
    assert report["worst_residual"] > 1.0
    assert run(["bake", "--file", str(shot), "--allow-unreached"]) == 0


def test_an_output_that_nobody_reads_is_no_missed_limb(shot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(["inspect", "--file", str(shot)]) == 3
        monkeypatch.undo()


def test_what_is_baked_is_not_baked_again_unless_it_is_named(shot: Path, cli: CommandLine) -> None:
    rig_of(opened(shot)).live = True
    bpy.ops.wm.save_mainfile()
    words = ["bake", "--file", str(shot), "--output", str(shot)]
    (armature,) = cli.reports(*words)["armatures"]
    assert armature["live"] is False
    assert "no chain is enabled: they are baked, and their keys play" in cli.refuses(*words)
    assert run([*words, "--chain", "b2"]) == 0
    assert rig_of(bpy.data.objects["Rig"]).chains[0].is_baked


class TestConvert:
    def test_ik_constraints_to_chains_and_back(self, tmp_path: Path, cli: CommandLine) -> None:
        owner = make_line(3)
        constraint = owner.pose.bones["b2"].constraints.new("IK")
        constraint.target = make_empty((0.4, -0.5, 1.9))
        path = save_file(tmp_path / "rig.blend")
        told = cli.reports("convert", "--file", path, "--to", "chains", "--output", path)["armatures"][0]
        assert told["name"] == "Rig"
        assert [one["chain"] for one in told["converted"]] == ["b2"]
        assert [chain.name for chain in opened(path).fabrik.chains] == ["b2"]
        told = cli.reports("convert", "--file", path, "--to", "ik", "--output", path)["armatures"][0]
        assert told["converted"][0]["constraint"] == "IK"
        owner = opened(path)
        assert not owner.pose.bones["b2"].constraints[0].mute
        assert not owner.fabrik.chains[0].enabled

    def test_what_cannot_be_carried_over_gives_exit_code_1(self, tmp_path: Path, cli: CommandLine) -> None:
        owner = make_line(3)
        owner.pose.bones["b2"].constraints.new("IK")
        path = save_file(tmp_path / "rig.blend")
        told = cli.reports("convert", "--file", path, "--to", "chains", code=1)["armatures"][0]
        assert told["converted"][0]["lost"] == ["it has no target"]

    def test_nothing_to_convert(self, shot: Path, cli: CommandLine) -> None:
        assert "no bone has an IK constraint" in cli.refuses("convert", "--file", shot, "--to", "chains")


@pytest.mark.skipif(bool(bpy.app.binary_path), reason="Blender's own Python has no module bpy to load")
def test_as_a_module_of_python(shot: Path) -> None:
    output = shot.with_name("out.blend")
    done = run_process([*MODULE, "bake", "--file", str(shot), "--output", str(output)])
    assert done.returncode == 0, done.stderr
    report = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("{"))
    assert json.loads(report)["all_reached"]
    assert output.is_file()
    done = run_process([*MODULE, "solve"])
    assert done.returncode == 2
    assert "fabrik: error: no file" in done.stderr


def test_help_has_examples(cli: CommandLine) -> None:
    assert run(["--help"]) == 0
    assert "--command fabrik bake" in cli.capfd.readouterr().out


def test_ranges_and_targets() -> None:
    assert range_of("-3-4", 2) == (-3, 4)
    assert targets_of(["a=b=1,2,3"]) == {"a=b": (1.0, 2.0, 3.0)}
    with pytest.raises(InvalidValueError, match="twice"):
        targets_of(["a=1,2,3", "a=1,2,3"])


# The command line with files that link from libraries.


@pytest.fixture
def linking(tmp_path: Path) -> Path:
    """A file whose armature reaches for a target of another file."""
    target = make_empty((0.4, -0.5, 1.9), "Linked")
    bpy.data.libraries.write(str(tmp_path / "lib.blend"), {target})
    bpy.data.objects.remove(target)
    owner = make_line(3)
    chain = add_chain(owner)
    with bpy.data.libraries.load(str(tmp_path / "lib.blend"), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Linked"])
    chain.target = bpy.data.objects["Linked"]
    return save_file(tmp_path / "linking.blend")


@pytest.mark.parametrize("command", ["bake", "solve"])
def test_a_target_whose_library_is_missing(linking: Path, cli: CommandLine, command: str) -> None:
    assert run([command, "--file", str(linking)]) == 0
    cli.capfd.readouterr()
    (linking.parent / "lib.blend").unlink()
    assert run([command, "--file", str(linking)]) in (1, 2)
    said = cli.capfd.readouterr()
    assert "the target 'Linked' is missing in the file that it is linked from" in said.out + said.err


@pytest.mark.parametrize(
    ("option", "message"),
    [("--output", "is a library or a cache of the file"), ("--report", "is the name of a .blend")],
)
def test_a_library_is_not_written_over(linking: Path, cli: CommandLine, option: str, message: str) -> None:
    before = (linking.parent / "lib.blend").read_bytes()
    assert message in cli.refuses("bake", "--file", linking, option, linking.parent / "lib.blend")
    assert (linking.parent / "lib.blend").read_bytes() == before


# What the command line tells of a chain's status is what the panel tells.


def inspected(path: Path, cli: CommandLine, code: int = 0) -> dict[str, Any]:
    """What `inspect` tells of the only chain of a file."""
    (found,) = cli.chains("inspect", "--file", path, code=code)
    return {name: found[name] for name in ("status", "now", "told")}


def test_solved_moved_baked_and_gone(tmp_path: Path, cli: CommandLine) -> None:
    shot, posed, baked = (tmp_path / f"{name}.blend" for name in ("shot", "posed", "baked"))
    save_shot(shot)
    assert inspected(shot, cli) == {"status": "NONE", "now": "NONE", "told": "Not solved since the last change"}
    cli.reports("solve", "--file", shot, "--frame", "5", "--output", posed)
    assert inspected(posed, cli) == {"status": "REACHED", "now": "REACHED", "told": "On target"}
    bpy.context.scene.frame_set(9)
    save_file(posed)
    assert inspected(posed, cli) == {"status": "REACHED", "now": "OLD", "told": "The target moved since"}
    cli.reports("bake", "--file", posed, "--output", baked)
    assert inspected(baked, cli)["now"] == "BAKED"
    bpy.data.objects["Rig"].fabrik.chains[0].enabled = True
    bpy.data.objects.remove(bpy.data.objects["Target"])
    save_file(baked)
    told = {"status": "REACHED", "now": "GONE", "told": "Its target 'Target' was deleted"}
    assert inspected(baked, cli, code=1) == told


def test_chains_that_share_a_bone_are_told_as_they_stand(tmp_path: Path, cli: CommandLine) -> None:
    arms = [Bone((0, 0.1, 1), (side, 0, 1.2), parent=0) for side in (1, -1)]
    owner = make_armature([Bone((0, 0, 0), (0, 0.1, 1)), *arms])
    add_chain(owner, (1, 0.5, 1.6), tip="b1", count=2)
    add_chain(owner, (-1, 0.5, 1.6), tip="b2", count=2)
    report = cli.reports("solve", "--file", save_file(tmp_path / "arms.blend"), code=1)
    assert not report["all_reached"]
    first, last = report["armatures"][0]["chains"]
    assert (first["status"], last["status"]) == ("BLOCKED", "BLOCKED")
    assert first["residual"] == pytest.approx(last["residual"], rel=1e-3)
    assert first["warnings"] == ["it shares its bones with 'b2', each with its goal"]
