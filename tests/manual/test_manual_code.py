# SPDX-License-Identifier: GPL-3.0-or-later
"""The code in the manual is true: Python prints what the page says, commands and job files are understood."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import re
import shlex
import sys
import tomllib
from argparse import ArgumentParser
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol, cast
from xml.etree import ElementTree

import bpy
import pytest
from fabrik_addon.cli.commands import parser, range_of, request_of
from fabrik_addon.cli.jobs import indices_of, read_job
from fabrik_addon.recognise.mapping import read_mapping

import addon_session
from dev.compiling import SHIPPED
from dev.diagrams import BLENDER, LAYERS, LETTER, PADDING, WAYS, Step, diagrams
from dev.reference import MANUAL
from environment import ROOT
from support.skeletons import make_character
from test_layering import LAYERS as TESTED

# The code blocks of the manual's pages and of the README: fenced ones by their language, and indented ones.


PAGES = (*sorted(MANUAL.glob("*.md")), ROOT / "README.md", *sorted((ROOT / "scripts" / "schedulers").rglob("*.md")))
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n)+")
INLINE = re.compile(r"(?<!`)`((?:blender|python3?) [^`]+)`(?!`)")
SHELL = ("", "sh", "bash")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        page: The file in which it stands.
        line: Number of its first line, or of the fence above it.
        language: What stands behind the fence; "" where nothing does.
        text: The code.
    """

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """The code blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    fenced = [_block(page, text, found, found[1], found[2]) for found in FENCED.finditer(text)]
    plain = FENCED.sub(lambda found: "\n" * found[0].count("\n"), text)
    indented = [_block(page, plain, found, "", found[0]) for found in INDENTED.finditer(plain)]
    return sorted([*fenced, *indented], key=lambda block: block.line)


def _block(page: Path, text: str, found: re.Match[str], language: str, code: str) -> Block:
    return Block(page, text.count("\n", 0, found.start()) + 1, language, code)


def all_blocks(*languages: str) -> list[Block]:
    """The blocks of these languages on all pages."""
    return [block for page in PAGES for block in blocks_of(page) if block.language in languages]


def commands() -> list[tuple[str, list[str]]]:
    """The command lines of all pages, in blocks and within sentences: where each stands, and its words."""
    lines = [(str(block), line) for block in all_blocks(*SHELL) for line in block.text.splitlines()]
    for page in PAGES:
        lines += [(page.name, line) for line in INLINE.findall(page.read_text(encoding="utf-8").replace("\n", " "))]
    split = [(where, shlex.split(line, comments=True)) for where, line in lines]
    return [(where, words) for where, words in split if words]


# What they are tested for


INSTALLED = "bl_ext.user_default.fabrik"
RUN = [page for page in PAGES if any(block.language == "python" for block in blocks_of(page))]
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
ZIPS = {f"{MANIFEST['id']}-{MANIFEST['version']}-{target.tag.replace('-', '_')}.zip" for target in SHIPPED}
FOUND_BY = {"BLENDER_SYSTEM_SCRIPTS", "BLENDER_SYSTEM_EXTENSIONS"}  # variables, which tests/scripts/test_builds.py sets
EXAMPLES = "extending"  # its blocks are files of the extension, which test_manual_examples.py puts in their places


class Script(Protocol):
    """A script of `scripts/`."""

    @staticmethod
    def parser() -> ArgumentParser: ...


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extension under the name that it has where a user installed it."""
    for name, module in list(sys.modules.items()):
        if name == addon_session.MODULE or name.startswith(f"{addon_session.MODULE}."):
            monkeypatch.setitem(sys.modules, INSTALLED + name.removeprefix(addon_session.MODULE), module)
    monkeypatch.setitem(sys.modules, "bl_ext.user_default", sys.modules["bl_ext"])


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("page", [page for page in RUN if page.stem != EXAMPLES], ids=lambda page: page.name)
def test_python_runs_and_prints_what_the_page_says(page: Path) -> None:
    """Each block finds Rigify's human as the active object of an empty scene, and the names of the blocks before it."""
    printed: list[str] = []  # by the page's code alone: Blender prints the reports of operators beside it
    names: dict[str, object] = {"print": lambda *values: printed.append(" ".join(map(str, values)) + "\n")}
    for block, after in pairwise([*blocks_of(page), Block(page, 0, "end", "")]):
        if block.language != "python":
            continue
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        make_character("human")
        printed.clear()
        exec(compile(block.text, str(block), "exec"), names)
        assert "".join(printed) == (after.text if after.language == "text" else ""), block


def test_there_is_code_to_run() -> None:
    assert {"python", "solver"} <= {page.stem for page in RUN}
    assert len(commands()) > 20


@pytest.mark.parametrize(("where", "words"), commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_commands_are_understood(where: str, words: list[str]) -> None:
    if words[0] == "git":
        return
    if words[:3] == ["blender", "--command", "extension"]:
        assert words[3] in {"install-file", "remove"}
        assert words[-1] in {"fabrik", *ZIPS}
    elif words[0] in ("cp", "mkdir"):
        assert words[0] == "mkdir" or (ROOT / words[2]).is_dir()
    elif words[0] in ("unzip", "export"):
        assert words[1] in ZIPS or words[1].partition("=")[0] in FOUND_BY
    elif "--command" in words:
        assert words[:2] == ["blender", "--background"]
        before, name, *arguments = (words[2 : words.index("--command")], *words[words.index("--command") + 1 :])
        assert name == "fabrik"
        assert all(word.endswith(".blend") for word in before)
        _check_fabrik(arguments)
    elif words[:3] == ["python", "-m", "fabrik_addon"]:
        _check_fabrik(words[3:])
    else:
        assert words[0] in {"python3", "python3.11"}
        path = ROOT / words[1]
        assert path.parent == ROOT / "scripts"
        _script(path).parser().parse_args(words[2:])


def _check_fabrik(words: list[str]) -> None:
    """Let the parser of the command read its words, and what reads their values."""
    arguments = parser().parse_args(words)
    if getattr(arguments, "job", None) is not None:
        assert not arguments.index or indices_of(arguments.index, 1000)
    else:
        request_of(arguments)
    if getattr(arguments, "frames", None):
        range_of(arguments.frames, 1)


def _script(path: Path) -> Script:
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Script, module)


def test_the_options_that_the_command_line_page_names_are_there() -> None:
    text = (MANUAL / "command_line.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(--[a-z-]+)", text)) - {"--help"}
    known = set(re.findall(r"--[a-z-]+", "".join(_help_of(name) for name in ("", *_commands()))))
    assert len(named) > 20
    assert named <= known


def _commands() -> list[str]:
    found = re.search(r"\{([a-z,]+)\}", parser().format_usage())
    assert found is not None
    return found[1].split(",")


def _help_of(command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        parser().parse_args([command, "--help"] if command else ["--help"])
    return printed.getvalue()


@pytest.mark.parametrize("block", all_blocks("json"), ids=str)
def test_json_is_what_it_is_said_to_be(block: Block, tmp_path: Path) -> None:
    data: object = json.loads(block.text)
    assert isinstance(data, dict)
    if "shots" in data:
        job = tmp_path / "job.json"
        job.write_text(block.text, encoding="utf-8")
        assert len(read_job(job)) == len(data["shots"])
    else:
        assert "fabrik_mapping" in data
        assert len(read_mapping(block.text).parts) == len(data["parts"])


def test_no_block_is_of_a_language_that_nothing_checks() -> None:
    known = {"python", "json", "text", "sh", "bash", "diff", ""}
    assert not [str(block) for page in PAGES for block in blocks_of(page) if block.language not in known]


# Modules of which pages, docstrings and comments tell by their file are there.

NAMED = re.compile(r"`([\w./-]+\.py)`")


def test_modules_that_are_named_are_there() -> None:
    folders = [ROOT / name for name in ("fabrik_addon", "scripts", "tests")]
    modules = [f"/{path.relative_to(ROOT).as_posix()}" for folder in folders for path in folder.rglob("*.py")]
    told = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".md", ".py")]
    named = [(path, name) for path in told if path.stem != EXAMPLES for name in NAMED.findall(path.read_text("utf-8"))]
    assert len(named) > 40
    assert [pair for pair in named if not any(module.endswith(f"/{pair[1]}") for module in modules)] == []


# The manual's drawings of the layers, and of the ways through them, are as the code is today.


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
    tested = [set(line) for line in TESTED if "registration" not in line and "__init__" not in line]
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
    callers = [other for other in steps[:i] if other.module != BLENDER]
    layers = {other.module.partition("/")[0] for other in callers}
    files = [source(other) for other in callers]
    if not any(re.search(rf"(?<!def )(?<!class )\b{re.escape(called)}\b", text) for text in files):
        beside = [file.read_text(encoding="utf-8") for layer in layers for file in (ADDON / layer).rglob("*.py")]
        assert any(re.search(rf"import .*\b{called}\b|\.{called}\(", text) for text in beside)
