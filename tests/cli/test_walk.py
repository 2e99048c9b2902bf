# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers on the command line: planned, saved, and baked from there."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.cli.commands import run
from fabrik_addon.rig.schema import rig_of

from dev.walking_rigs import ahead, make_spider
from support.cli_files import refused, reported
from support.scenes import key_way


@pytest.fixture
def spider(tmp_path: Path) -> Path:
    path = tmp_path / "spider.blend"
    key_way(make_spider(), "b0", ahead(1.0))
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_a_walk_is_planned_saved_and_baked(spider: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = spider.with_name("walk.blend")
    words = ["walk", "--file", str(spider), "--output", str(output), "--gait", "RIPPLE", "--frames", "1-40"]
    assert run(words) == 0
    (found,) = reported(capfd)["armatures"]
    assert (len(found["legs"]), found["body"], found["gait"], found["frames"]) == (8, "b0", "RIPPLE", [1, 40])
    assert found["steps"] >= 8
    bpy.ops.wm.open_mainfile(filepath=str(output))
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    assert rig_of(owner).walker.on
    assert run(["inspect", "--file", str(output)]) == 0
    assert run(["bake", "--file", str(output), "--frames", "1-40"]) == 0


def test_what_can_not_walk_is_refused(spider: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words, reason in (
        (("--body-bone", "b3"), "does not carry the leg"),
        (("--frames", "9-1"), "before it starts"),
        (("--chain", "Leg"), "name an armature"),
    ):
        assert run(["walk", "--file", str(spider), *words]) == 2
        assert reason in refused(capfd)
