# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as they lie in a studio: linked from elsewhere, saved by other Blenders, with names of all scripts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import bpy
import pytest
from fabrik_addon.cli import files
from fabrik_addon.cli.commands import run
from fabrik_addon.rig.animation.compat import fcurves_of

from support.cli_files import CommandLine, opened, save_file, save_shot, write_job
from support.scenes import add_chain, make_empty, make_line, reaching_line


def new_file() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.fixture
def linked_shot(tmp_path: Path) -> Path:
    """A link to a shot whose target stands in a library, both told relative to where the link is."""
    for name in ("lib", "shots", "store/deep"):
        (tmp_path / name).mkdir(parents=True)
    bpy.data.libraries.write(str(tmp_path / "lib/props.blend"), {make_empty((0.4, -0.5, 1.9), "Linked")})
    new_file()
    chain = add_chain(make_line(3))
    shot = save_file(tmp_path / "shots/shot.blend")
    with bpy.data.libraries.load(str(tmp_path / "lib/props.blend"), link=True, relative=True) as (_, wanted):
        wanted.objects = ["Linked"]
    chain.target = bpy.data.objects["Linked"]
    bpy.context.scene.collection.objects.link(chain.target)
    bpy.ops.wm.save_mainfile()
    new_file()
    shot.rename(tmp_path / "store/deep/it.blend")
    shot.symlink_to("../store/deep/it.blend")
    return shot


def links_are_found(path: Path) -> bool:
    opened(path)
    return all(Path(bpy.path.abspath(one.filepath)).is_file() for one in bpy.data.libraries) and not any(
        one.is_missing for one in bpy.data.objects
    )


def test_a_file_is_opened_and_saved_where_its_link_stands(linked_shot: Path, cli: CommandLine) -> None:
    output = linked_shot.with_name("out.blend")
    assert cli.chains("solve", "--file", linked_shot, "--output", output)[0]["status"] == "REACHED"
    assert links_are_found(output)
    cli.reports("solve", "--file", linked_shot, "--output", linked_shot)
    assert linked_shot.is_symlink()
    assert links_are_found(linked_shot)
    assert not [one for folder in (linked_shot, linked_shot.resolve()) for one in folder.parent.glob(".fabrik-*")]


def test_a_job_opens_a_link_where_it_stands(linked_shot: Path, cli: CommandLine) -> None:
    job = write_job(linked_shot.parents[1], {"file": "shots/shot.blend", "output": "out.blend", "frames": [1, 2]})
    assert cli.shots(job)[0]["all_reached"]
    assert links_are_found(job.with_name("out.blend"))


def test_what_is_opened_is_what_is_replaced_where_a_path_goes_up_behind_a_link(
    tmp_path: Path, cli: CommandLine
) -> None:
    """For the system `a/link/..` is where the link leads; read by its letters it is `a`."""
    for name in ("a", "b/deep"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/link").symlink_to("../b/deep")
    for name in ("a", "b"):
        new_file()
        reaching_line((0.4, -0.5, 1.9))[0].name = name
        save_file(tmp_path / name / "it.blend")
    path, before = tmp_path / "a/link/../it.blend", (tmp_path / "a/it.blend").read_bytes()
    assert [one["name"] for one in cli.reports("solve", "--file", path, "--output", path)["armatures"]] == ["b"]
    assert (tmp_path / "a/it.blend").read_bytes() == before
    assert opened(tmp_path / "b/it.blend").name == "b"


def test_windows_and_view_layer_of_a_file_stay(shot: Path, cli: CommandLine) -> None:
    opened(shot)
    bpy.data.workspaces[0].name = "MY LAYOUT"
    scene = bpy.context.scene
    bpy.context.window.view_layer = scene.view_layers.new("Animation")
    save_file(shot)
    new_file()
    cli.reports("bake", "--file", shot, "--output", shot)
    opened(shot)
    assert "MY LAYOUT" in bpy.data.workspaces
    assert bpy.context.view_layer.name == "Animation"


def test_a_library_that_is_linked_by_another_since_is_known(tmp_path: Path, cli: CommandLine) -> None:
    for name in ("characters/one", "props/two", "shots"):
        (tmp_path / name).mkdir(parents=True)
    character, prop = tmp_path / "characters/one/it.blend", tmp_path / "props/two/it.blend"
    make_empty((0.4, -0.5, 1.9), "Hand")
    save_file(character)
    new_file()
    chain = add_chain(make_line(3))
    shot = save_file(tmp_path / "shots/shot.blend")
    with bpy.data.libraries.load(str(character), link=True, relative=True) as (_, wanted):
        wanted.objects = ["Hand"]
    chain.target = bpy.data.objects["Hand"]
    bpy.context.scene.collection.objects.link(chain.target)
    bpy.ops.wm.save_mainfile()
    new_file()
    make_empty((0, 0, 0), "Prop")
    save_file(prop)
    bpy.ops.wm.open_mainfile(filepath=str(character))
    with bpy.data.libraries.load(str(prop), link=True, relative=True) as (_, wanted):
        wanted.objects = ["Prop"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Prop"])
    bpy.data.objects["Hand"].parent = bpy.data.objects["Prop"]
    bpy.ops.wm.save_mainfile()
    new_file()
    before = prop.read_bytes()
    assert "is a library" in cli.refuses("bake", "--file", shot, "--output", prop, "--frames", "1-2")
    assert prop.read_bytes() == before


def test_a_cache_that_moves_something_is_an_input(tmp_path: Path, cli: CommandLine) -> None:
    save_shot(tmp_path / "shot.blend")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh")))
    cache = tmp_path / "moves.abc"
    bpy.ops.wm.alembic_export(filepath=str(cache), start=1, end=2)
    new_file()
    opened(tmp_path / "shot.blend")
    bpy.ops.cachefile.open(filepath=str(cache))
    save_file(tmp_path / "shot.blend")
    assert cache.resolve() in files.libraries()
    job = write_job(tmp_path, {"file": "shot.blend", "output": "out.blend", "frames": [1, 2]})
    assert [cli.shots(job)[0]["skipped"] for _ in "ab"] == [False, True]
    cache.write_bytes(cache.read_bytes() + b" ")
    assert not cli.shots(job)[0]["skipped"]


def test_a_file_of_a_newer_blender_is_not_replaced(shot: Path, cli: CommandLine) -> None:
    old, output = shot.read_bytes(), shot.with_name("out.blend")
    version = b"%d%02d" % bpy.app.version[:2]
    output.write_bytes(old.replace(version, b"%d%02d" % (bpy.app.version[0] + 1, 0), 1))
    before = output.read_bytes()
    assert before != old
    assert "which is newer than this one" in cli.refuses("solve", "--file", shot, "--output", output)
    assert output.read_bytes() == before


def test_a_damaged_output_is_replaced(shot: Path, cli: CommandLine) -> None:
    opened(shot)
    output = shot.with_name("out.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(output), compress=True, copy=True)
    data = bytearray(output.read_bytes())
    data[4:60] = bytes(56)
    output.write_bytes(data)
    cli.reports("solve", "--file", shot, "--output", output)
    assert opened(output).name == "Rig"


def test_a_report_is_not_written_over_what_is_read(shot: Path, cli: CommandLine) -> None:
    mapping, motion = shot.with_name("map.json"), shot.with_name("walk.bvh")
    mapping.write_text("{}")
    motion.write_text("HIERARCHY")
    for words in (
        ("setup", "--mapping", mapping, "--report", mapping),
        ("transfer", motion, "Rig", "--report", motion),
    ):
        assert "would be written over" in cli.refuses(*words, "--file", shot)
    assert (mapping.read_text(), motion.read_text()) == ("{}", "HIERARCHY")


@pytest.mark.parametrize(
    "name", ["全角\u3000空白", "non\u00a0insécable", "\u0645\u06cc\u200c\u062e\u0648\u0631\u0645", "👩\u200d🚀", "a=b"]
)
def test_names_of_all_scripts_can_be_given(tmp_path: Path, cli: CommandLine, name: str) -> None:
    owner, chain = reaching_line((0.4, -0.5, 1.9))
    owner.name, chain.name = name, name
    shot = save_file(tmp_path / f"{name}.blend")
    words = ("--armature", name, "--chain", name, "--set", f"{name}.weight=0.5")
    assert cli.chains("solve", "--file", shot, *words)[0]["chain"] == name
    job = write_job(tmp_path, {"file": shot.name, "output": "out.blend", "chains": [name], "frames": [1, 2]})
    assert cli.shots(job)[0]["all_reached"]
    for other in ("a\nb", "a\u202eb"):
        assert "can't be printed" in cli.refuses("solve", "--file", shot, "--chain", other)


def test_a_path_that_blender_would_cut_is_refused(shot: Path, cli: CommandLine) -> None:
    folder = shot.parent
    while len(str(folder)) < 880:
        folder /= "x" * 90
    folder /= "x" * (984 - len(str(folder)))  # beside a file of a short name there is no room for Blender's
    folder.mkdir(parents=True)
    place = folder / "it.blend"
    assert len(str(place)) < files.LONGEST_PATH
    assert "at which Blender cuts a path" in cli.refuses("solve", "--file", shot, "--output", place)
    assert not list(folder.iterdir())


def test_what_can_not_be_changed_is_left_to_others_unless_it_is_named(tmp_path: Path, cli: CommandLine) -> None:
    owner, chain = reaching_line((0.4, -0.5, 1.9))
    owner.name, chain.target.name = "Crowd", "CrowdTarget"
    library = save_file(tmp_path / "lib.blend")
    new_file()
    save_shot(tmp_path / "shot.blend")
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Crowd", "CrowdTarget"]
    for found in wanted.objects:
        bpy.context.scene.collection.objects.link(found)
    shot = save_file(tmp_path / "shot.blend")
    for command in ("solve", "bake"):
        assert [one["name"] for one in cli.reports(command, "--file", shot)["armatures"]] == ["Rig"]
        assert "'Crowd'" in cli.refuses(command, "--file", shot, "--armature", "Crowd")
    told = cli.reports("inspect", "--file", shot, code=1)["armatures"]
    assert {one["name"]: "error" in one["chains"][0] for one in told} == {"Crowd": True, "Rig": False}


def test_where_nothing_can_be_solved_nothing_is_saved(shot: Path, cli: CommandLine) -> None:
    opened(shot).pose.bones["b1"].constraints.new("LIMIT_ROTATION")
    save_file(shot)
    output = shot.with_name("out.blend")
    for more in ((), ("--allow-unreached",)):
        assert "would override the pose" in cli.refuses("solve", "--file", shot, "--output", output, *more)
    assert not output.exists()
    (told,) = cli.chains("inspect", "--file", shot, code=1)
    assert "would override the pose" in told["error"]
    opened(shot).fabrik.chains[0].enabled = False
    save_file(shot)
    assert "error" in cli.chains("inspect", "--file", shot)[0], "which nobody asks to be solved"


def test_a_number_that_is_none_is_null_in_a_report(shot: Path, cli: CommandLine) -> None:
    opened(shot).fabrik.chains[0].weight = math.nan
    save_file(shot)
    report = shot.with_name("report.json")
    assert run(["inspect", "--file", str(shot), "--report", str(report)]) == 1
    texts = (report.read_text(), cli.capfd.readouterr().out.strip().splitlines()[-1])
    for text in texts:
        told = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert told["armatures"][0]["chains"][0]["weight"] is None


def test_a_range_may_begin_below_zero(shot: Path, cli: CommandLine) -> None:
    assert cli.chains("bake", "--file", shot, "--output", shot, "--frames", "-10-5")[0]["frames"] == 16
    keys = [key.co.x for curve in fcurves_of(opened(shot)) for key in curve.keyframe_points]
    assert (min(keys), max(keys)) == (-10.0, 5.0)
