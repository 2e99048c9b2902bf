# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line with chains that are solved together: told, set, solved, baked and in jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.cli.commands import run, settings_of
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from dev.walking_rigs import ahead, make_spider
from support.animated import animated
from support.cli_files import CommandLine, opened, save_file, write_job
from support.judging import effector
from support.scenes import HEIGHT, add_limb, each_frame, keyed, make_body, with_legs_pinned
from support.skeletons import make_character
from support.walks import key_way

HELD = 1e-4 * HEIGHT


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A body with pinned feet whose hips sink and whose hand reaches."""
    owner = with_legs_pinned(make_body())
    hips = add_limb(owner, "hips", 1, target=(0, 0, 0.95))
    add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
    keyed(hips.target, {1: 0.95, 6: 0.8}, "location.z")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    bpy.context.scene.frame_set(1)
    return save_file(tmp_path / "shot.blend")


def foot_error(name: str) -> float:
    owner = bpy.data.objects["Body"]
    chain = rig_of(owner).chains[name]
    return float((effector(owner, chain) - Vector(chain.held_location)).length)


def test_inspect_tells_the_body_and_what_goals_ask(shot: Path, cli: CommandLine) -> None:
    (armature,) = cli.reports("inspect", "--file", shot)["armatures"]
    assert (armature["body_bone"], armature["spine"], armature["balance"]) == ("hips", 0.5, 0.0)
    told = {chain["name"]: chain for chain in armature["chains"]}
    assert told["foot.L"]["pin"]
    assert told["foot.L"]["orientation"] == "KEEP"
    assert told["foot.L"]["effector"] == "HEAD"
    assert told["hand.L"]["kind"] == "REACH"
    assert told["hand.L"]["together"] == ["foot.L", "foot.R", "hips"]


def test_solve_tells_all_that_are_solved_together_in_place_and_degrees(
    shot: Path, tmp_path: Path, cli: CommandLine
) -> None:
    output = tmp_path / "posed.blend"
    words = ["solve", "--file", str(shot), "--frame", "6", "--chain", "hand.L", "--output", str(output)]
    chains = cli.chains(*words)
    assert sorted(chain["chain"] for chain in chains) == ["foot.L", "foot.R", "hand.L", "hips"]
    assert all(chain["residual_degrees"] < 0.1 and chain["residual"] < HELD for chain in chains)
    bpy.ops.wm.open_mainfile(filepath=str(output))
    assert max(foot_error("foot.L"), foot_error("foot.R")) < HELD


def test_settings_are_set(shot: Path, tmp_path: Path, cli: CommandLine) -> None:
    output = tmp_path / "posed.blend"
    words = ["solve", "--file", str(shot), "--output", str(output), "--target", "hand.L=3,0,3", "--allow-unreached"]
    settings = ("--set", "hand.L.pin=true", "--set", "foot.L.weight=0", "--set", "foot.R.weight=0")
    chains = {chain["chain"]: chain for chain in cli.chains(*words, *settings)}
    assert chains["hand.L"]["status"] == "REACHED"
    assert chains["hips"]["status"] == "BLOCKED"
    made = rig_of(opened(output)).chains
    assert (made["hand.L"].pin, made["foot.L"].weight) == (True, 0.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hand.L.weight", "no setting such as"),
        ("weight=1", "no setting such as"),
        ("hand.L.colour=1", "is none of kind, effector"),
        ("hand.L.pin=1", "neither true nor false"),
        ("hand.L.kind=PULL", "none of REACH, AIM"),
        ("hand.L.weight=2", "not from 0 to 1"),
        ("hand.L.weight=nan", "no finite number"),
        ("hand.L.stretch=0.5", "not from 1 to"),
    ],
)
def test_settings_that_make_no_sense_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        settings_of([text])


def test_a_setting_that_is_animated_is_refused(shot: Path, cli: CommandLine) -> None:
    owner = bpy.data.objects["Body"]
    owner.keyframe_insert("fabrik_chains[0].weight", frame=1)
    name = rig_of(owner).chains[0].name
    bpy.ops.wm.save_mainfile(compress=False)
    assert "'weight' is animated" in cli.refuses("solve", "--file", shot, "--set", f"{name}.weight=0.5")
    assert "no chain 'nobody'" in cli.refuses("solve", "--file", shot, "--set", "nobody.weight=0.5")


def test_bake_keys_the_body_and_tells_what_was_asked_for(shot: Path, tmp_path: Path, cli: CommandLine) -> None:
    output = tmp_path / "baked.blend"
    chains = cli.chains("bake", "--file", shot, "--output", output, "--chain", "hips")
    assert (chains[0]["chain"], chains[0]["asked"]) == ("hips", True)
    assert sum(chain["asked"] for chain in chains) == 1
    feet = [chain for chain in chains if chain["chain"].startswith("foot")]
    assert all(chain["worst_tip_turn_degrees"] < 0.1 for chain in feet)
    bpy.ops.wm.open_mainfile(filepath=str(output))
    for _ in each_frame((6, 2, 4)):
        assert max(foot_error("foot.L"), foot_error("foot.R")) < HELD


def test_a_job_sets_chains_and_is_done_again_where_that_changes(shot: Path, tmp_path: Path, cli: CommandLine) -> None:
    entry: dict[str, Any] = {
        "file": shot.name,
        "output": "out.blend",
        "settings": {"hand.L": {"weight": 0.5, "orientation": "FREE"}},
    }

    changed = {**entry, "settings": {"hand.L": {"weight": 0.25}}}
    for one, skipped in ((entry, False), (entry, True), (changed, False)):
        assert cli.shots(write_job(tmp_path, one), "--allow-unreached")[0]["skipped"] == skipped
    assert rig_of(opened(tmp_path / "out.blend")).chains["hand.L"].weight == 0.25


@pytest.mark.parametrize("settings", [[], {"hand.L": 1}, {"hand.L": {"weight": "much"}}, {"hand.L": {"size": 1}}])
def test_jobs_with_wrong_settings_are_refused(shot: Path, settings: object, cli: CommandLine) -> None:
    job = write_job(shot.parent, {"file": shot.name, "output": "out.blend", "settings": settings})
    assert "'settings'" in cli.refuses("bake", "--job", job)


# Walkers on the command line: planned, saved, and baked from there.


@pytest.fixture
def spider(tmp_path: Path) -> Path:
    key_way(make_spider(), "b0", ahead(1.0))
    return save_file(tmp_path / "spider.blend")


def test_a_walk_is_planned_saved_and_baked(spider: Path, cli: CommandLine) -> None:
    output = spider.with_name("walk.blend")
    words = ["walk", "--file", str(spider), "--output", str(output), "--gait", "RIPPLE", "--frames", "1-40"]
    (found,) = cli.reports(*words)["armatures"]
    assert (len(found["legs"]), found["body"], found["gait"], found["frames"]) == (8, "b0", "RIPPLE", [1, 40])
    assert found["steps"] >= 8
    assert rig_of(opened(output)).walker.on
    assert run(["inspect", "--file", str(output)]) == 0
    assert run(["bake", "--file", str(output), "--frames", "1-40"]) == 0


def test_what_can_not_walk_is_refused(spider: Path, cli: CommandLine) -> None:
    for words, reason in (
        (("--body-bone", "b3"), "does not carry the leg"),
        (("--frames", "9-1"), "before it starts"),
        (("--chain", "Leg"), "unrecognized arguments: --chain"),
    ):
        assert reason in cli.refuses("walk", "--file", spider, *words)


@pytest.fixture
def mocap(tmp_path: Path) -> Path:
    """A character that moves, and one that does not."""
    animated("human_mixamo").name = "Mocap"
    make_character("human_game_engine").name = "Hero"
    return save_file(tmp_path / "mocap.blend")


def test_motion_is_transferred_and_saved(mocap: Path, cli: CommandLine) -> None:
    output = mocap.with_name("hero.blend")
    words = ["transfer", "Mocap", "Hero", "--file", str(mocap), "--frames", "3-12", "--output", str(output)]
    report = cli.reports(*words)
    assert (report["source"], report["target"], report["first"], report["last"]) == ("Mocap", "Hero", 3, 12)
    assert report["bones"] > 15
    bpy.ops.wm.open_mainfile(filepath=str(output))
    hero = bpy.data.objects["Hero"]
    turns = [curve for curve in fcurves_of(hero) if "rotation" in curve.data_path]
    assert {point.co[0] for curve in turns for point in curve.keyframe_points} == set(range(3, 13))


@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning")
def test_all_actions_and_files_are_transferred(mocap: Path, cli: CommandLine) -> None:
    assert cli.reports("transfer", "Mocap", "Hero", "--file", mocap, "--every-action")["actions"] == 1
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = bpy.data.objects["Mocap"]
    folder = mocap.with_name("takes")
    folder.mkdir()
    for name in ("a", "b"):
        bpy.ops.export_anim.bvh(filepath=str(folder / f"{name}.bvh"), frame_start=1, frame_end=12)
    assert cli.reports("transfer", folder, "Hero", "--file", mocap)["actions"] == 2
    assert {"a", "b"} <= set(bpy.data.actions.keys())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["Mocap", "Hero", "--every-action", "--frames", "1-9"], "does not go with"),
        (["Mocap", "Nobody"], "no armature 'Nobody'"),
        (["Mocap", "Mocap"], "choose another one"),
        (["Hero", "Mocap"], "has no motion"),
        (["Mocap", "Hero", "--armature", "Hero"], "unrecognized arguments: --armature"),
        (["Mocap", "Hero", "--frames", "4-4"], "too few"),
    ],
)
def test_what_can_not_be_transferred_is_refused(mocap: Path, cli: CommandLine, words: list[str], text: str) -> None:
    assert run(["transfer", *words, "--file", str(mocap)]) == 2
    assert text in cli.capfd.readouterr().err
