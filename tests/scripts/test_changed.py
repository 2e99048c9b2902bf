# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests a change is judged by."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dev.changed import ImportGraph, changed_files

FILES = {
    "fabrik_addon/__init__.py": "",
    "fabrik_addon/vectors.py": "",
    "fabrik_addon/rig/__init__.py": "",
    "fabrik_addon/rig/writer.py": "from ..vectors import plus",
    "fabrik_addon/rig/reader.py": "from . import writer",
    "fabrik_addon/ui/panels.py": "import bpy",
    "tests/support/rigs.py": "from fabrik_addon.rig.writer import write",
    "tests/rig/test_by_support.py": "from support.rigs import make",
    "tests/rig/test_reading.py": "def test() -> None:\n    from fabrik_addon.rig import reader",
    "tests/ui/test_menus.py": "",
    "tests/scripts/test_of_scripts.py": "from dev.targets import TARGETS",
    "scripts/dev/targets.py": "",
    "scripts/other.py": "",
}
LAYERING = "tests/test_layering.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with these files."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("fabrik_addon/rig/reader.py", {"tests/rig/test_reading.py", "tests/rig/test_by_support.py"}),
        ("fabrik_addon/ui/panels.py", {"tests/ui/test_menus.py"}),
        ("fabrik_addon/vectors.py", {"tests/rig/test_by_support.py"}),
        ("scripts/dev/targets.py", {"tests/scripts/test_of_scripts.py"}),
        ("scripts/other.py", {"tests/scripts/test_of_scripts.py"}),
        ("tests/ui/test_menus.py", {"tests/ui/test_menus.py"}),
        ("README.md", set()),
    ],
)
def test_a_change_is_judged_by_the_tests_that_see_it(root: Path, changed: str, tests: set[str]) -> None:
    found = ImportGraph(root).tests_of([Path(changed)])
    assert {path.as_posix() for path in found} == {*tests, LAYERING}


def test_many_importers_need_no_folder(root: Path) -> None:
    for i in range(4):
        text = "from fabrik_addon.rig.writer import write"
        (root / f"tests/ui/test_{i}.py").write_text(text, encoding="utf-8")
    found = {path.as_posix() for path in ImportGraph(root).tests_of([Path("fabrik_addon/rig/writer.py")])}
    seen = {*(f"tests/ui/test_{i}.py" for i in range(4)), "tests/rig/test_by_support.py", "tests/rig/test_reading.py"}
    assert found == {*seen, LAYERING}


def test_committed_and_uncommitted_files_and_new_ones_have_changed(root: Path) -> None:
    def git(*words: str) -> None:
        name = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(root), *name, *words], check=True, capture_output=True)

    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "other")
    for name in ("vectors", "package"):
        (root / f"fabrik_addon/{name}.py").write_text("A = 1", encoding="utf-8")
        git("add", ".")
        git("commit", "-m", name)
    (root / "scripts/other.py").write_text("B = 1", encoding="utf-8")
    (root / "new.md").write_text("", encoding="utf-8")
    found = [path.as_posix() for path in changed_files(root)]
    assert found == ["fabrik_addon/package.py", "fabrik_addon/vectors.py", "new.md", "scripts/other.py"]
