# SPDX-License-Identifier: GPL-3.0-or-later
"""What an extension is refused for: each rule fires where it is broken, and none on what is built."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabrik_addon.kernel import loading

from build import stage
from dev.compiling import NATIVE, TARGETS
from dev.refusals import RULES, refusals

# By reason what breaks it: a file, and the text that is added to it, or put in the place of another.
SEEDS: dict[str, list[tuple[str, str, str]]] = {
    "imports what is neither its own, nor Python's, nor Blender's": [
        ("maths.py", "", "import requests\n"),
        ("maths.py", "", "from fabrik_addon import texts\n"),
        ("rig/goals.py", "", "from ... import texts\n"),
    ],
    "holds what can't be read": [
        ("kernel/a.pyc", "", "a"),
        ("native/linux-x64/core.abi3.so", "", "a"),
        ("manual/a.txt", "", "\0ELF"),
        ("a.py", "", "def f(:\n"),
    ],
    "holds what is left of its making": [
        ("tests/test_a.py", "", ""),
        (".DS_Store.txt", "", ""),
        ("__MACOSX/a.txt", "", ""),
    ],
    "needs a permission, or gives no good reason for one": [
        ("blender_manifest.toml", 'clipboard = "Copy the report of a bake"\n', ""),
        ("blender_manifest.toml", "report of a bake", "report of a bake."),
        ("blender_manifest.toml", "clipboard =", "network ="),
    ],
    "has a name or a tagline against the rules": [
        ("blender_manifest.toml", "FABRIK Posing", "FABRIK for Blender"),
        ("blender_manifest.toml", "FABRIK Posing", "FABRIK Add-ons"),
        ("blender_manifest.toml", "inverse kinematics", "inverse kinematics!"),
    ],
    "has a manifest that lacks something, or has too much": [
        ("blender_manifest.toml", "GPL-3.0-or-later", "MIT"),
        ("blender_manifest.toml", "tags = ", 'platforms = ["amiga"]\ntags = '),
        ("blender_manifest.toml", '"4.2.0"', '"2.8.0"'),
    ],
}
ALL = [(reason, *seed) for reason, seeds in SEEDS.items() for seed in seeds]


def test_each_rule_has_a_seed() -> None:
    assert set(SEEDS) == set(RULES)


KEPT = {"__init__.py", "maths.py", "rig/goals.py", "ui/panels.py", "ui/preferences.py", "operators/baking.py"}


def with_few_modules(staged: Path) -> Path:
    for path in staged.rglob("*.py"):
        if path.relative_to(staged).as_posix() not in KEPT:
            path.unlink()
    return staged


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few modules of the extension, in which rules are broken."""
    return with_few_modules(stage(tmp_path_factory.mktemp("staged") / "extension", None, targets=[]))


@pytest.mark.parametrize(("reason", "file", "before", "after"), ALL)
def test_a_rule_that_is_broken_is_told(reason: str, file: str, before: str, after: str, staged: Path) -> None:
    """And none else."""
    path = staged / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else None
    assert before in (text or "")
    path.write_text(text.replace(before, after) if text and before else (text or "") + after, encoding="utf-8")
    try:
        assert {one.partition(": it ")[2] for one in refusals(staged)} == {reason}
    finally:
        path.unlink()
        if text is not None:
            path.write_text(text, encoding="utf-8")


HARMLESS = """
from http import HTTPStatus
from os import path
import numpy.linalg
"""


def test_what_is_harmless_is_let_through(staged: Path) -> None:
    """Also after a mark of its encoding."""
    path = staged / "harmless.py"
    path.write_text(HARMLESS, encoding="utf-8-sig")
    try:
        assert refusals(staged) == []
    finally:
        path.unlink()


@pytest.mark.parametrize("tag", ["", *TARGETS])
def test_nothing_that_is_built_is_refused(tag: str, tmp_path: Path) -> None:
    """The pure one, and that of each platform; what is compiled here is in that of this machine.

    Those of others have the same modules, which are not gone through again.
    """
    given = [TARGETS[tag]] if tag else []
    staged = stage(tmp_path / "extension", NATIVE if tag else None, targets=given, website="https://example.org")
    is_new = tag in ("", loading.platform_tag())
    assert refusals(staged if is_new else with_few_modules(staged)) == []
