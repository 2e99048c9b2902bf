# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for the command line, and what it says about them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.cli.commands import run

from support.scenes import keyed, reaching_line


def save_file(path: Path) -> Path:
    """A file with what is open."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


def save_shot(path: Path, with_ballast: bool = False) -> Path:
    """A file with an armature of one chain, whose target is keyed over 12 frames; ballast makes it larger by 2 MB."""
    _, chain = reaching_line((0.4, -0.5, 1.9))
    keyed(chain.target, {1: -0.3, 12: 0.6}, "location.x")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    if with_ballast:
        bpy.context.scene["ballast"] = "".join(random.Random(1).choices("abcdefgh", k=2_000_000))
    return save_file(path)


def opened(path: Path) -> Any:
    """The first armature of a file, which is opened."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(found for found in bpy.data.objects if found.type == "ARMATURE")


def write_job(folder: Path, *shots: dict[str, Any]) -> Path:
    """A job file in a folder."""
    path = folder / "shots.json"
    path.write_text(json.dumps({"version": 1, "shots": shots}), encoding="utf-8")
    return path


def reported(capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The last line of standard output, which is the report."""
    report: dict[str, Any] = json.loads(capfd.readouterr().out.strip().splitlines()[-1])
    return report


def refused(capfd: pytest.CaptureFixture[str]) -> str:
    """The one line of the error."""
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("fabrik:")]
    assert len(lines) == 1
    return lines[0]


class CommandLine:
    """The command line, and what it says."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self.capfd = capfd

    def reports(self, *words: object, code: int = 0) -> dict[str, Any]:
        """Its report, after which it ends with an exit code."""
        assert run([str(word) for word in words]) == code
        return reported(self.capfd)

    def chains(self, *words: object, code: int = 0) -> list[dict[str, Any]]:
        """The chains of the only armature of its report."""
        (armature,) = self.reports(*words, code=code)["armatures"]
        found: list[dict[str, Any]] = armature["chains"]
        return found

    def shots(self, job: Path, *words: object, code: int = 0) -> list[dict[str, Any]]:
        """The entries of a job in its report, after which it ends with an exit code."""
        found: list[dict[str, Any]] = self.reports("bake", "--job", job, *words, code=code)["shots"]
        return found

    def refuses(self, *words: object) -> str:
        """The one line in which it refuses."""
        assert run([str(word) for word in words]) == 2
        return refused(self.capfd)
