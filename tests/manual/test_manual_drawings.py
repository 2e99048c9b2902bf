# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's drawings of the layers, and of the ways through them, are as the code is today."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dev.diagrams import LETTER, PADDING, diagrams
from dev.ways import BLENDER, LAYERS, WAYS, Step
from environment import ROOT
from test_layering import LAYERS as TESTED

ADDON = ROOT / "fabrik_addon"
STATIONS = [(way, i) for way, steps in WAYS.items() for i, step in enumerate(steps) if step.module != BLENDER]


@pytest.mark.parametrize("file", diagrams(), ids=lambda file: file.name)
def test_the_drawing_is_up_to_date(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == diagrams()[file], "python3 scripts/build.py --reference renews it"


def boxes(drawing: ElementTree.Element, x: float, y: float) -> list[tuple[float, float]]:
    """Width and right end of all boxes around a place, the narrowest first."""
    found = []
    for box in drawing.iterfind("{*}rect"):
        left, top, width, height = (float(box.get(key, 0)) for key in ("x", "y", "width", "height"))
        if left < x < left + width and top < y < top + height:
            found.append((width, left + width))
    return sorted(found)


@pytest.mark.parametrize("file", diagrams(), ids=lambda file: file.name)
def test_what_is_written_has_room_in_its_box(file: Path) -> None:
    drawing = ElementTree.fromstring(diagrams()[file])
    written = [text for text in drawing.iterfind("{*}text") if text.get("class") != "head"]
    assert len(written) > 20
    for text in written:
        x, y, words = float(text.get("x", 0)), float(text.get("y", 0)), text.text or ""
        _, right = boxes(drawing, x, y)[0]
        assert x + LETTER * len(words) <= right - PADDING, words


def test_the_layers_are_those_that_are_tested() -> None:
    drawn = [{name for word, _ in line for name in word.split(", ")} for line in LAYERS]
    tested = [set(line) - {"package"} for line in TESTED if "registration" not in line and "__init__" not in line]
    assert drawn[::-1] == tested


def source(step: Step) -> str:
    return (ADDON / f"{step.module}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("way", "i"), STATIONS)
def test_a_station_is_there_and_called_by_one_before_it(way: str, i: int) -> None:
    steps = WAYS[way]
    step = steps[i]
    defined = {node.name for node in ast.parse(source(step)).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert step.name in defined
    if step.module == "handlers" or i == 0:
        return  # called by Blender
    called = step.name.replace("FABRIK_OT_", "fabrik.")
    callers = [other for other in steps[:i] if other.module not in (BLENDER, step.module)]
    layers = {other.module.partition("/")[0] for other in callers}
    files = [source(other) for other in callers]
    if not any(re.search(rf"\b{re.escape(called)}\b", text) for text in files):
        beside = [file.read_text(encoding="utf-8") for layer in layers for file in (ADDON / layer).rglob("*.py")]
        assert any(re.search(rf"import .*\b{called}\b|\.{called}\(", text) for text in beside)
