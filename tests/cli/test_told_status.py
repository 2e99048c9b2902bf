# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line tells of a chain's status is what the panel tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.cli.commands import run

from support.cli_files import reported, save_shot
from support.scenes import Bone, add_chain, make_armature


def inspected(path: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `inspect` tells of the only chain of a file."""
    assert run(["inspect", "--file", str(path)]) == 0
    found: dict[str, Any] = reported(capfd)["armatures"][0]["chains"][0]
    return {name: found[name] for name in ("status", "now", "told")}


def test_solved_moved_baked_and_gone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shot, posed, baked = (tmp_path / f"{name}.blend" for name in ("shot", "posed", "baked"))
    save_shot(shot)
    assert inspected(shot, capfd) == {"status": "NONE", "now": "NONE", "told": "Not solved since the last change"}
    assert run(["solve", "--file", str(shot), "--frame", "5", "--output", str(posed)]) == 0
    reported(capfd)
    assert inspected(posed, capfd) == {"status": "REACHED", "now": "REACHED", "told": "On target"}
    bpy.context.scene.frame_set(9)
    bpy.ops.wm.save_as_mainfile(filepath=str(posed))
    assert inspected(posed, capfd) == {"status": "REACHED", "now": "OLD", "told": "The target moved since"}
    assert run(["bake", "--file", str(posed), "--output", str(baked)]) == 0
    reported(capfd)
    assert inspected(baked, capfd)["now"] == "BAKED"
    bpy.data.objects["Rig"].fabrik.chains[0].enabled = True
    bpy.data.objects.remove(bpy.data.objects["Target"])
    bpy.ops.wm.save_as_mainfile(filepath=str(baked))
    assert inspected(baked, capfd) == {"status": "REACHED", "now": "GONE", "told": "Its target 'Target' was deleted"}


def test_chains_that_share_a_bone_are_told_as_they_stand(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arms.blend"
    arms = [Bone((0, 0.1, 1), (side, 0, 1.2), parent=0) for side in (1, -1)]
    owner = make_armature([Bone((0, 0, 0), (0, 0.1, 1)), *arms])
    add_chain(owner, (1, 0.5, 1.6), tip="b1", count=2)
    add_chain(owner, (-1, 0.5, 1.6), tip="b2", count=2)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert run(["solve", "--file", str(path)]) == 1
    report = reported(capfd)
    assert not report["all_reached"]
    first, last = report["armatures"][0]["chains"]
    assert (first["status"], last["status"]) == ("BLOCKED", "BLOCKED")
    assert first["residual"] == pytest.approx(last["residual"], rel=1e-3)
    assert first["warnings"] == ["it shares its bones with 'b2', each with its goal"]
