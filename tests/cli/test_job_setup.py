# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that set characters up, let them walk, and bake them in one go; the manual's example is one of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.setup.parts import mapping_of
from fabrik_addon.cli.commands import run
from fabrik_addon.cli.jobs import Shot, read_job
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.recognise.mapping import mapping_text
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from build import ROOT
from dev.walking_rigs import ahead
from support.animated import animated
from support.cli_files import CommandLine, opened, save_file, write_job
from support.scenes import add_chain, make_empty, make_line, press
from support.skeletons import make_character, rename_all
from support.walks import key_way

PAGE = ROOT / "fabrik_addon" / "manual" / "jobs.md"
HAND = (0.4, -0.3, 1.2)
MAPPING = {"fabrik_mapping": 1, "plan": "HUMAN", "body": "", "parts": []}


def examples() -> list[str]:
    """The job files that the manual shows."""
    return re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def save_character(path: Path, walks: bool = False, name: str = "human_mixamo") -> Path:
    """A file with a character, whose hips are keyed along a way if it walks."""
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = make_character(name)
    if walks:
        key_way(owner, "mixamorig:Hips", ahead(1.0), (1, 40))
    return save_file(path)


def shot(folder: Path, **fields: Any) -> Shot:
    (found,) = read_job(write_job(folder, {"file": "a.blend", "output": "b.blend", **fields}))
    return found


def keyed(owner: Any) -> set[str]:
    """The bones whose rotation has keys."""
    paths = [curve.data_path for curve in fcurves_of(owner)]
    return {path.split('"')[1] for path in paths if path.startswith("pose.bones") and ".rotation" in path}


def test_the_manuals_examples_are_job_files(tmp_path: Path) -> None:
    (tmp_path / "studio.json").write_text(json.dumps(MAPPING))
    for text in examples():
        (tmp_path / "shots.json").write_text(text, encoding="utf-8")
        assert read_job(tmp_path / "shots.json")


def test_the_manuals_example_of_characters(tmp_path: Path, cli: CommandLine) -> None:
    save_character(tmp_path / "characters" / "hero.blend")
    save_character(tmp_path / "shots" / "030.blend", walks=True)
    job = tmp_path / "shots.json"
    (text,) = [text for text in examples() if '"walk"' in text]
    job.write_text(text, encoding="utf-8")
    assert all(told["all_reached"] for told in cli.shots(job))

    rig = opened(tmp_path / "rigs" / "hero.blend")
    assert {"Arm.L", "Leg.R", "Index.R"} <= set(rig_of(rig).chains.keys())
    assert not fcurves_of(rig)
    reach = opened(tmp_path / "baked" / "reach.blend")
    assert {"mixamorig:LeftArm", "mixamorig:LeftForeArm"} <= keyed(reach)
    wrist = reach.matrix_world @ reach.pose.bones["mixamorig:LeftHand"].head
    assert (wrist - Vector(HAND)).length < 1e-3
    told = json.loads((tmp_path / "baked" / "030.blend.json").read_text(encoding="utf-8"))
    assert (len(told["walk"]["armatures"][0]["legs"]), told["walk"]["armatures"][0]["gait"]) == (2, "HUMAN")
    assert {"mixamorig:LeftUpLeg", "mixamorig:LeftArm"} <= keyed(opened(tmp_path / "baked" / "030.blend"))
    walk = opened(tmp_path / "walks" / "030.blend")
    assert rig_of(walk).walker.on
    assert not keyed(walk)


def test_what_is_asked_for_is_read(tmp_path: Path) -> None:
    setup = {"plan": "HUMAN", "controls": "NONE", "without": ["pins", "tail"], "fingers": True}
    found = shot(tmp_path, setup=setup)
    assert (found.setup, found.walk) == ({**setup, "without": ("pins", "tail")}, None)
    walk = {"gait": "TROT", "body_bone": "hips"}
    assert shot(tmp_path, walk=walk).walk == walk


@pytest.mark.parametrize(
    ("fields", "bakes"),
    [
        ({}, True),
        ({"setup": {}}, False),
        ({"setup": {}, "armatures": ["Rig"]}, False),
        ({"setup": {}, "bake": True}, True),
        ({"setup": {}, "frames": [1, 2]}, True),
        ({"setup": {}, "targets": {"Arm.L": [0, 0, 1]}}, True),
        ({"setup": {}, "walk": {}}, True),
        ({"walk": {}, "frames": [1, 9], "bake": False}, False),
    ],
)
def test_which_entries_are_baked(tmp_path: Path, fields: dict[str, Any], bakes: bool) -> None:
    assert shot(tmp_path, **fields).bakes == bakes


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"setup": True}, "entry 1, 'setup': it is no object"),
        ({"setup": {"color": 1}}, "entry 1, 'setup': 'color' is no field"),
        ({"setup": {"plan": "OCTOPUS"}}, "entry 1, 'setup', 'plan': it is none of AUTO, HUMAN"),
        ({"setup": {"controls": "SPHERES"}}, "entry 1, 'setup', 'controls': it is none of BONES, EMPTIES, NONE"),
        ({"setup": {"without": []}}, "entry 1, 'setup', 'without': it is no list of names"),
        ({"setup": {"without": ["legs"]}}, "entry 1, 'setup', 'without': it is none of poles, limits"),
        ({"setup": {"fingers": 1}}, "entry 1, 'setup', 'fingers': it is neither true nor false"),
        ({"setup": {"mapping": "../dog.json"}}, "entry 1, 'setup', 'mapping': it leads out"),
        ({"setup": {"mapping": "dog.blend"}}, "entry 1, 'setup', 'mapping': it does not end in .json"),
        ({"setup": {"mapping": "dog.json", "plan": "HUMAN"}}, "entry 1, 'setup', 'plan': the mapping tells it"),
        ({"walk": []}, "entry 1, 'walk': it is no object"),
        ({"walk": {"gait": "CRAWL"}}, "entry 1, 'walk', 'gait': it is none of"),
        ({"walk": {"body_bone": ""}}, "entry 1, 'walk', 'body_bone': it is no text"),
        ({"walk": {"frames": [1, 2]}}, "entry 1, 'walk': 'frames' is no field"),
        ({"bake": "no"}, "entry 1, 'bake': it is neither true nor false"),
        ({"bake": False}, "entry 1, 'bake': nothing else is asked for"),
        ({"setup": {}, "bake": False, "into": "NLA"}, "entry 1, 'into': it tells how to bake"),
        ({"setup": {}, "bake": False, "frames": [1, 2]}, "entry 1, 'frames': it tells how to bake"),
        ({"setup": {"mapping": "dog.json"}, "output": "dog.json.blend"}, ""),
        ({"setup": {"mapping": "b.blend.json"}}, "'b.blend.json' would be written over a file of the job"),
    ],
)
def test_a_field_that_is_wrong_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    for name in ("dog.json", "b.blend.json"):
        (tmp_path / name).write_text(json.dumps(MAPPING))
    if not message:
        assert shot(tmp_path, **fields).setup is not None
        return
    with pytest.raises(InvalidValueError) as caught:
        shot(tmp_path, **fields)
    assert message in str(caught.value)


def test_a_wrong_entry_stops_the_job_before_anything_runs(tmp_path: Path, cli: CommandLine) -> None:
    save_character(tmp_path / "hero.blend")
    good = {"file": "hero.blend", "output": "out/hero.blend", "setup": {}}
    job = write_job(tmp_path, good, {**good, "output": "out/two.blend", "setup": {"plan": 3}})
    assert "entry 2, 'setup', 'plan'" in cli.refuses("bake", "--job", job)
    assert not (tmp_path / "out").exists()


def test_an_entry_whose_files_are_wrong_does_not_stop_the_others(tmp_path: Path, cli: CommandLine) -> None:
    save_character(tmp_path / "hero.blend")
    (tmp_path / "broken.json").write_text("{")
    ways = ({}, *({"mapping": f"{name}.json"} for name in ("gone", "broken")))
    entries = [{"file": "hero.blend", "output": f"out/{k}.blend", "setup": setup} for k, setup in enumerate(ways)]
    first, second, third = cli.shots(write_job(tmp_path, *entries), code=2)
    assert first["all_reached"]
    assert "gone.json' can't be read: there is no such file" in second["error"]
    assert "broken.json': it is no mapping" in third["error"]


def test_by_a_mapping_bones_that_nobody_names_are_set_up_and_baked(tmp_path: Path, cli: CommandLine) -> None:
    owner = make_character("human_mixamo")
    press("character_setup")
    text = mapping_text(mapping_of(owner))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for old, new in rename_all(make_character("human_mixamo")).items():
        text = text.replace(f'"{old}"', f'"{new}"')
    save_file(tmp_path / "hero.blend")
    (tmp_path / "studio.json").write_text(text, encoding="utf-8")
    entry = {"file": "hero.blend", "output": "out.blend", "setup": {"mapping": "studio.json"}, "frames": [1, 2]}
    job = write_job(tmp_path, {**entry, "targets": {"Arm.L": HAND}})
    assert [cli.shots(job)[0]["skipped"] for _ in "ab"] == [False, True]
    (tmp_path / "studio.json").write_text(text.replace('"Arm.L"', '"Left"'), encoding="utf-8")
    assert "there is no chain 'Arm.L'" in cli.shots(job, code=2)[0]["error"]
    command = ["setup", "--file", str(tmp_path / "hero.blend"), "--mapping", str(tmp_path / "studio.json")]
    assert "Left" in cli.reports(*command)["armatures"][0]["done"]["made"]
    assert "--plan does not go with --mapping" in cli.refuses(*command, "--plan", "HUMAN")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"setup": {}}, "nothing of it is sure"),
        ({"setup": {}, "armatures": ["Gone"]}, "the scene has no armature 'Gone'"),
        ({"walk": {}, "frames": [1, 9]}, "leg"),
        ({"setup": {"mapping": "dog.json"}}, "there is no bone 'paw' for 'Leg.L'"),
    ],
)
def test_what_can_not_be_set_up_or_walk_writes_nothing(
    tmp_path: Path, cli: CommandLine, fields: dict[str, Any], reason: str
) -> None:
    part = {"name": "Leg.L", "kind": "LEG", "bones": ["paw"], "roles": [""], "end": "TAIL"}
    (tmp_path / "dog.json").write_text(json.dumps({**MAPPING, "parts": [part]}))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make_line(1)
    save_file(tmp_path / "line.blend")
    job = write_job(tmp_path, {"file": "line.blend", "output": "out.blend", **fields})
    assert run(["bake", "--job", str(job)]) == 2
    said = cli.capfd.readouterr()
    (line,) = [line for line in said.err.splitlines() if line.startswith("fabrik:")]
    assert line.startswith("fabrik: error: entry 1")
    assert reason in line
    assert not list(tmp_path.glob("out*"))


def test_other_armatures_of_the_scene_are_left_alone_where_one_is_named(tmp_path: Path, cli: CommandLine) -> None:
    save_character(tmp_path / "hero.blend")
    add_chain(make_line(3))
    save_file(tmp_path / "hero.blend")
    entry = {"file": "hero.blend", "output": "out.blend", "setup": {}, "frames": [1, 1]}
    assert cli.reports("bake", "--job", write_job(tmp_path, {**entry, "armatures": ["human_mixamo"]}))["wrong"] == 0
    opened(tmp_path / "out.blend")
    assert not fcurves_of(bpy.data.objects["Rig"])


# The limbs of characters on the command line: told, and made posable.


PARTS = ["Arm.L", "Arm.R", "Head", "Leg.L", "Leg.R", "Spine"]


@pytest.fixture
def character(tmp_path: Path) -> Path:
    make_character("human_mixamo")
    return save_file(tmp_path / "character.blend")


def test_inspect_tells_parts(character: Path, cli: CommandLine) -> None:
    (report,) = cli.reports("inspect", "--file", character, "--parts")["parts"]
    found: dict[str, object] = report
    told: list[dict[str, object]] = report["parts"]
    assert (found["plan"], found["convention"], found["body"]) == ("HUMAN", "Mixamo", "mixamorig:Hips")
    parts = {str(part["name"]): part for part in told}
    assert sorted(name for name, part in parts.items() if part["kind"] != "FINGER") == PARTS
    assert parts["Leg.L"]["bones"] == ["mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot"]
    assert all(part["is_applied"] for part in parts.values())
    assert found["missing"] == []


def test_setup_saves_a_rig_that_can_be_posed(character: Path, cli: CommandLine) -> None:
    output = character.with_name("rig.blend")
    (report,) = cli.reports("setup", "--file", character, "--output", output, "--without", "poles")["armatures"]
    made: list[str] = report["done"]["made"]
    asked: list[str] = report["asked"]
    assert (sorted(made), asked) == (PARTS, [])
    owner = opened(output)
    assert sorted(chain.name for chain in rig_of(owner).chains) == PARTS
    assert all(chain.pole is None for chain in rig_of(owner).chains)
    assert run(["solve", "--file", str(output), "--chain", "Leg.L"]) == 0


def test_what_is_not_sure_is_told(tmp_path: Path, cli: CommandLine) -> None:
    rename_all(make_character("shark"))
    (report,) = cli.reports("setup", "--file", save_file(tmp_path / "shark.blend"), code=1)["armatures"]
    found: dict[str, object] = report
    assert found["asked"] == ["Leg.L", "Leg.R", "Tail"]
    assert "not" in str(found["error"])


def test_setup_refuses_what_makes_no_sense(character: Path, tmp_path: Path, cli: CommandLine) -> None:
    cli.refuses("setup", "--file", character, "--plan", "OCTOPUS")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make_empty((0, 0, 0))
    assert "no armature" in cli.refuses("setup", "--file", save_file(tmp_path / "empty.blend"))


@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning")
def test_motion_of_files_comes_to_a_character_before_it_is_set_up(tmp_path: Path, cli: CommandLine) -> None:
    animated("human_mixamo")
    (tmp_path / "mocap").mkdir()
    bpy.ops.export_anim.bvh(filepath=str(tmp_path / "mocap" / "walk.bvh"), frame_start=1, frame_end=12)
    save_character(tmp_path / "hero.blend", name="human_game_engine")
    wanted = {"files": "mocap", "target": "human_game_engine", "root": "ROOT", "rate": 12}
    job = write_job(tmp_path, {"file": "hero.blend", "output": "done.blend", "setup": {}, "transfer": wanted})
    assert not cli.shots(job)[0]["skipped"]
    assert json.loads((tmp_path / "done.blend.json").read_text())["transfer"]["actions"] == 1
    owner = opened(tmp_path / "done.blend")
    assert {"Root", "pelvis"} <= keyed(owner)
    assert {chain.goal for chain in rig_of(owner).chains if chain.enabled} == {"OFFSET"}
    assert cli.shots(job)[0]["skipped"]
    bvh = tmp_path / "mocap" / "walk.bvh"
    bvh.write_text(bvh.read_text().replace("Frame Time: 0.041667", "Frame Time: 0.083333"))
    assert not cli.shots(job)[0]["skipped"]


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"files": "a.bvh"}, "'target' is missing"),
        ({"files": "../a.bvh", "target": "A"}, "out of the job file's folder"),
        ({"files": "a.bvh", "target": "A", "rate": 0}, "no number of frames a second"),
        ({"files": "a.bvh", "target": "A", "root": "HEAD"}, "none of BODY, ROOT, OBJECT"),
    ],
)
def test_a_transfer_that_is_wrong_is_refused(tmp_path: Path, wanted: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(reason)):
        shot(tmp_path, transfer=wanted)
