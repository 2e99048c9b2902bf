# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of many shots: each has an output and a report, and what is done is not done again."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest
from fabrik_addon.cli import files, jobs, requests, run
from fabrik_addon.cli.requests import Progress, Report, Request
from fabrik_addon.rig.animation.compat import fcurves_of

from support.cli_files import CommandLine, opened, reported, save_shot, write_job
from support.scenes import add_chain, make_empty, make_line


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Four shots, of which the third has a target out of reach."""
    shots = []
    for i in range(1, 5):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        save_shot(tmp_path / f"shot{i}.blend")
        shots.append({"file": f"shot{i}.blend", "output": f"out/shot{i}.blend", "frames": [1, 4 * i]})
    bpy.data.objects["Target"].animation_data_clear()
    bpy.data.objects["Target"].location.z = 9.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot3.blend"), copy=True)
    return write_job(tmp_path, *shots)


def outputs(job: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (job.parent / "out").iterdir()}


def test_entries_are_baked_each_into_its_output(job: Path, cli: CommandLine) -> None:
    shots = cli.shots(job, "--index", "1-2")
    assert [(shot["index"], shot["skipped"], shot["all_reached"]) for shot in shots] == [
        (1, False, True),
        (2, False, True),
    ]
    assert sorted(outputs(job)) == ["shot1.blend", "shot1.blend.json", "shot2.blend", "shot2.blend.json"]
    told = json.loads((job.parent / "out" / "shot2.blend.json").read_text())
    assert told["armatures"][0]["chains"][0]["frames"] == 8
    assert max(curve.range()[1] for curve in fcurves_of(opened(job.parent / "out" / "shot2.blend"))) == 8.0


def test_what_is_done_is_not_done_again(job: Path, cli: CommandLine) -> None:
    run(["bake", "--job", str(job), "--index", "1"])
    before = outputs(job)
    assert [shot["skipped"] for shot in cli.shots(job, "--index", "1-2")] == [True, False]
    assert before.items() <= outputs(job).items()


@pytest.mark.parametrize("what", ["entry", "file", "output gone", "output changed", "report broken"])
def test_what_changed_is_done_again(job: Path, cli: CommandLine, what: str) -> None:
    run(["bake", "--job", str(job), "--index", "1"])
    output = job.parent / "out" / "shot1.blend"
    if what == "entry":
        job.write_text(job.read_text().replace('"frames": [1, 4]', '"frames": [1, 5]'))
    elif what == "file":
        (job.parent / "shot1.blend").write_bytes((job.parent / "shot2.blend").read_bytes())
    elif what == "output gone":
        output.unlink()
    elif what == "output changed":
        output.write_bytes(b"half")
    else:
        output.with_name("shot1.blend.json").write_text('{"key": ')
    assert [shot["skipped"] for shot in cli.shots(job, "--index", "1")] == [False]
    assert fcurves_of(opened(output))


def test_a_job_that_breaks_off_goes_on_where_it_was(
    job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = jobs.save_blend

    def broken(path: Path) -> None:
        if path.name == "shot2.blend":
            raise KeyboardInterrupt
        saved(path)

    monkeypatch.setattr(jobs, "save_blend", broken)
    with pytest.raises(KeyboardInterrupt):
        run(["bake", "--job", str(job)])
    assert sorted(outputs(job)) == ["shot1.blend", "shot1.blend.json"]
    monkeypatch.setattr(jobs, "save_blend", saved)
    assert [shot["skipped"] for shot in cli.shots(job, code=1)] == [True, False, False, False]


def test_a_limb_that_does_not_reach_gives_exit_code_1_again_and_again(job: Path, cli: CommandLine) -> None:
    for skipped in (False, True):
        shots = cli.shots(job, "--index", "3-4", code=1)
        assert [shot["all_reached"] for shot in shots] == [False, True]
        assert shots[0]["skipped"] == skipped


def test_a_shot_that_is_wrong_does_not_stop_the_others(job: Path, cli: CommandLine) -> None:
    (job.parent / "shot2.blend").write_text("not a blend")
    (job.parent / "out").mkdir()
    (job.parent / "out" / "shot2.blend").write_text("an old result")
    assert run(["bake", "--job", str(job), "--index", "1-2,4"]) == 2
    said = cli.capfd.readouterr()
    (line,) = [line for line in said.err.splitlines() if line.startswith("fabrik:")]
    assert line.startswith(f"fabrik: error: entry 2, '{job.parent / 'shot2.blend'}': ")
    report = json.loads(said.out.strip().splitlines()[-1])
    assert line.endswith(report["shots"][1]["error"])
    assert report["wrong"] == 1
    assert "can't be opened" in report["shots"][1]["error"]
    assert [shot.get("all_reached") for shot in report["shots"]] == [True, None, True]
    assert outputs(job)["shot2.blend"] == b"an old result"
    assert "shot2.blend.json" not in outputs(job)


def test_each_entry_that_is_wrong_is_a_line(job: Path, cli: CommandLine) -> None:
    for i in (1, 3):
        (job.parent / f"shot{i}.blend").unlink()
    assert run(["bake", "--job", str(job)]) == 2
    lines = [line for line in cli.capfd.readouterr().err.splitlines() if line.startswith("fabrik:")]
    assert [line.split(",")[0] for line in lines] == ["fabrik: error: entry 1", "fabrik: error: entry 3"]


def test_a_failure_that_nobody_foresaw_is_of_its_shot_alone(
    job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    bake = requests.bake_open_file

    def broken(request: Request, progress: Progress) -> Report:
        if request.frames == (1, 4):
            raise RuntimeError("no")
        return bake(request, progress)

    monkeypatch.setattr(requests, "bake_open_file", broken)
    shots = cli.shots(job, "--index", "1-2", code=2)
    assert shots[0]["error"] == "RuntimeError: no"
    assert shots[1]["all_reached"]


def test_refusals(job: Path, cli: CommandLine) -> None:
    assert "there are no entries 4-5: the job has 1 to 4" in cli.refuses("bake", "--job", job, "--index", "4-5")
    for option, value in (("--output", "x.blend"), ("--step", 2), ("--armature", "Rig")):
        assert f"{option} does not go with --job" in cli.refuses("bake", "--job", job, option, value)
    job.write_text("{}")
    assert "its version is not 1" in cli.refuses("bake", "--job", job)
    assert not (job.parent / "out").exists()


def test_a_report_over_a_file_of_the_job(job: Path, cli: CommandLine) -> None:
    for name in ("shots.json", "shot2.blend", "out/shot1.blend.json"):
        (job.parent / "out").mkdir(exist_ok=True)
        assert "which is of the job" in cli.refuses("bake", "--job", job, "--report", job.parent / name)
    assert json.loads(job.read_text())["version"] == 1


def test_a_library_that_changed_is_noticed(tmp_path: Path, cli: CommandLine) -> None:
    library, path = tmp_path / "lib.blend", tmp_path / "shot.blend"

    def write(x: float) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.data.libraries.write(str(library), {make_empty((x, -0.5, 1.9), "Linked")})

    write(0.4)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    chain = add_chain(make_line(3))
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    chain.target = bpy.data.objects["Linked"]
    bpy.context.scene.collection.objects.link(chain.target)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    job = write_job(tmp_path, {"file": "shot.blend", "output": "out.blend", "frames": [1, 2]})
    skipped = []
    for step in range(5):
        if step == 2:
            write(0.6)
        if step == 4:
            library.unlink()
        code = run(["bake", "--job", str(job)])
        skipped.append((code, reported(cli.capfd)["shots"][0].get("skipped")))
    assert skipped == [(0, False), (0, True), (0, False), (0, True), (2, None)]


def test_an_output_over_a_library(job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "libraries", lambda: [(job.parent / "out" / "shot1.blend").resolve()])
    assert "is a library of the file" in cli.shots(job, "--index", "1", code=2)[0]["error"]


def test_another_code_bakes_again(job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    run(["bake", "--job", str(job), "--index", "1"])
    monkeypatch.setattr(jobs, "_code", lambda: "another")
    assert [shot["skipped"] for shot in cli.shots(job, "--index", "1")] == [False]


def test_a_folder_that_can_not_be_made_is_named(job: Path, cli: CommandLine) -> None:
    (job.parent / "out").write_text("a file")
    assert str(job.parent / "out") in cli.shots(job, "--index", "1", code=2)[0]["error"]
