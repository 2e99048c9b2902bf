# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for the command line, and what it says about them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import bpy
import pytest

from support.scenes import add_chain, make_line


def save_shot(path: Path, with_ballast: bool = False) -> Path:
    """A file with an armature of one chain, whose target is keyed over 12 frames; ballast makes it larger by 2 MB."""
    owner = make_line(3)
    chain = add_chain(owner, (0.4, -0.5, 1.9))
    for frame, x in ((1, -0.3), (12, 0.6)):
        chain.target.location.x = x
        chain.target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    if with_ballast:
        bpy.context.scene["ballast"] = "".join(random.Random(1).choices("abcdefgh", k=2_000_000))
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
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
