# SPDX-License-Identifier: GPL-3.0-or-later
"""The job template and the job type of scripts/schedulers/ run as their schedulers run them."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from subprocess import CompletedProcess

import bpy
import pytest

from support.cli_files import save_shot, write_job
from support.processes import ROOT, run_process

SCHEDULERS = ROOT / "scripts" / "schedulers"
TEMPLATE = SCHEDULERS / "openjd" / "bake_shots.yaml"
SHOTS = 10

pytestmark = pytest.mark.skipif(
    bool(bpy.app.binary_path), reason="openjd and dukpy are installed beside Python's module bpy, not in Blender"
)


def openjd(*words: str) -> CompletedProcess[str]:
    return run_process([sys.executable, "-m", "openjd", *words])


@pytest.fixture
def job(tmp_path: Path) -> Path:
    shot = save_shot(tmp_path / "shot.blend")
    entries = []
    for i in range(1, SHOTS + 1):
        (tmp_path / f"shot{i:02d}.blend").write_bytes(shot.read_bytes())
        entries.append({"file": f"shot{i:02d}.blend", "output": f"baked/shot{i:02d}.blend", "frames": [1, i + 2]})
    return write_job(tmp_path, *entries)


@pytest.fixture
def blender(tmp_path: Path) -> Path:
    """What stands in for Blender: the same command line in Python with Blender as its module."""
    path = tmp_path / "blender"
    path.write_text(
        "#!/bin/sh\n"
        'test "$1 $2 $3" = "--background --command fabrik" || exit 9\n'
        f"shift 3; cd '{ROOT}'; exec '{sys.executable}' -m fabrik_addon \"$@\"\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_template_is_valid() -> None:
    done = openjd("check", str(TEMPLATE))
    assert done.returncode == 0, done.stdout + done.stderr


def test_ten_shots_are_baked_and_then_skipped(job: Path, blender: Path) -> None:
    words = ["run", str(TEMPLATE), "-p", f"Job={job}", "-p", f"Shots=1-{SHOTS}", "-p", f"Blender={blender}"]
    done = openjd(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    reports = sorted((job.parent / "baked").glob("*.json"))
    assert len(reports) == SHOTS
    for i, path in enumerate(reports, start=1):
        assert json.loads(path.read_text())["armatures"][0]["chains"][0]["frames"] == i + 2
    assert "openjd_progress: 20.0" in done.stdout
    assert done.stdout.count('"skipped": false') == SHOTS
    times = {path: path.stat().st_mtime_ns for path in (job.parent / "baked").iterdir()}
    again = openjd(*words)
    assert again.returncode == 0
    assert again.stdout.count('"skipped": true') == SHOTS
    assert {path: path.stat().st_mtime_ns for path in (job.parent / "baked").iterdir()} == times


FLAMENCO = """
var tasks = [];
var author = {
  Task: function (name, type) {
    return { name: name, type: type, commands: [], addCommand: function (command) { this.commands.push(command); } };
  },
  Command: function (name, parameters) { return { name: name, parameters: parameters }; },
};
function frameChunker(frames, size) { return ["1-5", "6-10", "12"]; }
compileJob({ settings: dukpy.settings, addTask: function (task) { tasks.push(task); } });
({ label: JOB_TYPE.label, keys: JOB_TYPE.settings.map(function (one) { return one.key; }), tasks: tasks });
"""


def test_the_job_type_makes_a_task_for_each_chunk() -> None:
    import dukpy  # type: ignore[import-not-found]

    settings = {"job_file": "/shared/shots.json", "shots": "1-10, 12", "shots_per_task": 5}
    script = (SCHEDULERS / "flamenco" / "fabrik-bake.js").read_text()
    found = dukpy.evaljs([script, FLAMENCO], settings=settings)
    assert found["label"] == "FABRIK Bake"
    assert set(found["keys"]) == set(settings)
    assert [task["name"] for task in found["tasks"]] == ["bake-1-5", "bake-6-10", "bake-12"]
    (command,) = found["tasks"][1]["commands"]
    assert (command["name"], command["parameters"]["exe"]) == ("exec", "{blender}")
    words = command["parameters"]["args"]
    assert words[:4] == ["--background", "--command", "fabrik", "bake"]
    assert words[words.index("--job") + 1] == "/shared/shots.json"
    assert words[words.index("--index") + 1] == "6-10"
