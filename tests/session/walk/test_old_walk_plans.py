# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk in the format of an earlier version is kept, told in the panel, and planned anew; nothing fails meanwhile."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.ui.walking import FABRIK_PT_walker

from support.judging import worst_foot
from support.scenes import select

FILE = Path(__file__).parents[2] / "data" / "0.2.0" / "walk_plan_1.blend"
TOLD = "The stored walk is of version 1, not 2: plan it anew"
FRAMES = range(1, 21)


class Layout:
    """Takes note of the labels of a panel."""

    def __init__(self) -> None:
        self.labels: list[str] = []

    def label(self, text: str = "", **options: object) -> None:
        self.labels.append(text)

    def row(self, **options: object) -> Layout:
        return self

    column = row

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: self


@pytest.fixture
def owner() -> bpy.types.Object:
    """The walker of the file, which is open."""
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    owner = bpy.data.objects["walker"]
    select(owner)
    return owner


def test_it_plays_without_an_error_and_its_chains_say_why_they_stay(
    owner: bpy.types.Object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
    assert not caplog.records
    assert {chain.status for chain in rig_of(owner).chains} == {"REFUSED"}
    assert all(chain.enabled and "plan it anew" in chain.message for chain in rig_of(owner).chains)


def test_the_panel_says_so(owner: bpy.types.Object) -> None:
    layout = Layout()
    panel: Any = type("Panel", (), {"layout": layout})()
    FABRIK_PT_walker.draw(panel, bpy.context)
    assert TOLD.replace(" ", "") in "".join(layout.labels).replace(" ", "")  # over several lines


def test_planned_anew_it_walks(owner: bpy.types.Object) -> None:
    bpy.ops.fabrik.walk_plan(span="RANGE", frame_start=FRAMES[0], frame_end=FRAMES[-1])
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert worst_foot(owner, frame) < 1e-3
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
