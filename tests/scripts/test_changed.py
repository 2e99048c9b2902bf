# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests a change is judged by."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dev import changed
from dev.changed import ImportGraph, changed_files

FILES = {
    "fabrik_addon/__init__.py": "",
    "fabrik_addon/vectors.py": "",
    "fabrik_addon/rig/__init__.py": "",
    "fabrik_addon/rig/writer.py": "from ..vectors import plus",
    "fabrik_addon/rig/reader.py": "from . import writer",
    "fabrik_addon/ui/panels.py": "import bpy",
    "fabrik_addon/operators/solving.py": "class FABRIK_OT_solve(Operator):\n    ...",
    "tests/support/rigs.py": "from dev.targets import TARGETS",
    "tests/rig/test_by_support.py": "from support.rigs import make",
    "tests/rig/test_pressing.py": 'press("solve")\nbpy.ops.fabrik.solve(chain="leg")',
    "tests/rig/test_reading.py": "def test() -> None:\n    from fabrik_addon.rig import reader",
    "tests/rig/test_writing.py": "from fabrik_addon.rig.writer import write",
    "tests/ui/test_menus.py": "",
    "tests/test_words.py": 'read(ROOT / "translations" / "README.md")',
    "fabrik_addon/translations/de_DE.json": "",
    "tests/scripts/test_of_scripts.py": "from dev.targets import TARGETS",
    "scripts/dev/targets.py": "",
    "scripts/other.py": "",
}
ALWAYS = {"tests/test_layering.py", "tests/test_distance.py"}
RIG = {name for name in FILES if name.startswith("tests/rig")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with these files."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("fabrik_addon/rig/reader.py", RIG),
        ("fabrik_addon/ui/panels.py", {"tests/ui/test_menus.py"}),
        ("fabrik_addon/operators/solving.py", {"tests/rig/test_pressing.py"}),
        ("fabrik_addon/vectors.py", {"tests/rig/test_writing.py"}),
        ("scripts/dev/targets.py", {"tests/scripts/test_of_scripts.py", "tests/rig/test_by_support.py"}),
        ("scripts/other.py", {"tests/scripts/test_of_scripts.py"}),
        ("tests/ui/test_menus.py", {"tests/ui/test_menus.py"}),
        ("README.md", {"tests/test_words.py"}),
        ("fabrik_addon/translations/de_DE.json", {"tests/test_words.py"}),
        ("pyproject.toml", set()),
    ],
)
def test_a_change_is_judged_by_the_tests_that_see_it(root: Path, path: str, tests: set[str]) -> None:
    found = ImportGraph(root).tests_of([Path(path)])
    assert {path.as_posix() for path in found} == tests | ALWAYS


@pytest.mark.parametrize(
    ("few", "most", "tests"),
    [
        (2, 9, {"tests/rig/test_writing.py", "tests/rig/test_reading.py", "tests/ui/test_0.py"}),
        (2, 2, {"tests/rig/test_writing.py", "tests/ui/test_0.py"}),
    ],
)
def test_of_many_those_are_taken_that_import_it_themselves_and_no_folder(
    root: Path, few: int, most: int, tests: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "FEW", few)
    monkeypatch.setattr(changed, "MOST", most)
    (root / "tests/ui/test_0.py").write_text("from fabrik_addon.rig.writer import write", encoding="utf-8")
    found = {path.as_posix() for path in ImportGraph(root).tests_of([Path("fabrik_addon/rig/writer.py")])}
    assert found == tests | ALWAYS


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
