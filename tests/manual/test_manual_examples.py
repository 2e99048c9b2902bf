# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's examples of how to add to the extension work: put into a copy of it, where their tests run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dev.reference import MANUAL
from environment import ROOT
from support.processes import blender_script, run_process

PAGE = MANUAL / "extending.md"
PART = re.compile(r"^`([\w./]+)`:$|^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOLDERS, FILES = (
    ("fabrik_addon", "tests", "scripts"),
    ("pyproject.toml", "blender_manifest.toml", "README.md", "LICENSE"),
)
RUN = (
    "tests/kernel/test_limits.py", "tests/operators/test_limit_operators.py",
    "tests/kernel/test_goals.py::test_each_move_is_the_change_of_its_goal",
    "tests/actions/test_goal_kinds.py", "tests/actions/test_leash.py", "tests/rig/test_vertex_groups.py",
    "tests/recognise/test_conventions.py::test_a_convention_names_parts_that_there_are",
    "tests/recognise/test_conventions.py::test_every_convention_that_is_known_is_told_by_its_names",
    "tests/recognise/test_conventions.py::test_the_body_bone_carries_all_limbs",
    "tests/gait/test_parts.py", "tests/gait/test_hop.py", "tests/test_translations.py",
    "tests/rig/test_old_files.py::test_all_that_was_stored_is_read",
    "tests/rig/test_random_rigs.py::test_scales[False]",
)  # fmt: skip
LAYERS = {"kernel", "rig", "recognise", "gait", "messages.py", "translations"}  # in which there is something to add


def put_examples(copy: Path) -> list[str]:
    """Write the page's files, and change those that it changes; the paths of all."""
    path, written = "", []
    for found in PART.finditer(PAGE.read_text(encoding="utf-8")):
        if found[1]:
            path = found[1]
            written.append(path)
        elif found[2] == "python":
            assert not (copy / path).exists(), f"{path} is there already: show what is changed of it"
            (copy / path).write_text(found[3], encoding="utf-8")
        else:
            assert found[2] == "diff"
            _change(copy / path, found[3].splitlines(keepends=True))
    return written


def _change(file: Path, lines: list[str]) -> None:
    before = "".join(line[1:] for line in lines if not line.startswith("+"))
    after = "".join(line[1:] for line in lines if not line.startswith("-"))
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{file.name} has not this once:\n{before}"
    file.write_text(text.replace(before, after), encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, without compiled files, with the examples in it."""
    folder = tmp_path_factory.mktemp("copy")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "native"))
    for name in FILES:
        shutil.copy2(ROOT / name, folder / name)
    written = put_examples(folder)
    assert {path.split("/")[1] for path in written if path.startswith("fabrik_addon/")} == LAYERS
    return folder


def test_the_examples_pass_their_tests(copy: Path) -> None:
    command = blender_script(copy / "tests" / "runner.py", "--python-exit-code", "1")
    variables = {"FABRIK_INTERPRETED": "1", "BLENDER_USER_RESOURCES": str(copy / "user")}
    found = run_process([*command, "-q", *RUN], variables, folder=copy)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
    assert re.search(r"^\d{3,} passed", found.stdout, flags=re.MULTILINE)


def test_each_example_adds_one_to_its_list(copy: Path) -> None:
    """Besides the file and the line in the list, only words, tests and the public names of the kernel are touched."""
    changed = {
        str(file.relative_to(copy))
        for folder in FOLDERS
        for file in [*(copy / folder).rglob("*.py"), *(copy / folder).rglob("*.json")]
        if not (ROOT / file.relative_to(copy)).exists()
        or file.read_bytes() != (ROOT / file.relative_to(copy)).read_bytes()
    }
    in_code = sorted(path for path in changed if path.startswith("fabrik_addon/"))
    assert in_code == [
        "fabrik_addon/gait/gaits.py",
        "fabrik_addon/kernel/goals/leash.py",
        "fabrik_addon/kernel/limits/wall.py",
        "fabrik_addon/kernel/names.py",
        "fabrik_addon/messages.py",
        "fabrik_addon/recognise/conventions.py",
        "fabrik_addon/rig/goal_kinds.py",
        "fabrik_addon/rig/limit_types.py",
        "fabrik_addon/rig/schema/chain.py",
        "fabrik_addon/rig/targets.py",
        "fabrik_addon/translations/de_DE.json",
    ]
