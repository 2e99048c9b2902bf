# SPDX-License-Identifier: GPL-3.0-or-later
"""The code in the manual is true: Python prints what the page says, commands and job files are understood."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import sys
import tomllib
from argparse import ArgumentParser
from itertools import pairwise
from pathlib import Path
from typing import Protocol, cast

import bpy
import pytest
from fabrik_addon.cli.arguments import parser, range_of, request_of
from fabrik_addon.cli.jobs import indices_of, read_job
from fabrik_addon.recognise.mapping import read_mapping

import addon_session
from environment import ROOT
from support.manual_blocks import MANUAL, PAGES, Block, all_blocks, blocks_of, commands
from support.skeletons import make_character

INSTALLED = "bl_ext.user_default.fabrik"
RUN = [page for page in PAGES if any(block.language == "python" for block in blocks_of(page))]
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
ZIP = f"{MANIFEST['id']}-{MANIFEST['version']}.zip"
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
        assert words[-1] in {"fabrik", ZIP}
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
