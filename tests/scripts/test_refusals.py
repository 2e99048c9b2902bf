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
        ("maths.py", "", "import importlib\nimportlib.import_module('requests')\n"),
        ("rig/goals.py", "", "from ... import texts\n"),
    ],
    "touches what Python finds modules by": [
        ("maths.py", "", "import sys\nsys.path.append('.')\n"),
        ("maths.py", "", "import sys as s\ns.modules['a'] = None\n"),
        ("maths.py", "", "from sys import path\n"),
    ],
    "runs code that is text or data": [
        ("maths.py", "", "exec('a = 1')\n"),
        ("maths.py", "", "import builtins\nbuiltins.eval('1')\n"),
        ("maths.py", "", "import pickle\n"),
    ],
    "prints, where it should report or log": [
        ("ui/panels.py", "", "def f():\n    print('here')\n"),
        ("ui/panels.py", "", "from traceback import print_exc\n"),
    ],
    "changes what belongs to the whole process": [
        ("maths.py", "", "import os\nos.environ['A'] = 'b'\n"),
        ("maths.py", "", "import sys\nsys.stdout = None\n"),
        ("maths.py", "", "from os import chdir\nchdir('/')\n"),
    ],
    "uses the network": [
        ("maths.py", "", "from urllib.request import urlopen\n"),
        ("maths.py", "", "def f():\n    import socket\n"),
        ("maths.py", "", "import importlib\nimportlib.import_module('http.client')\n"),
    ],
    "runs other programs, or calls libraries past Python": [
        ("maths.py", "", "import subprocess\n"),
        ("maths.py", "", "from os import system\nsystem('true')\n"),
        ("maths.py", "", "import os\nos.execv('a', [])\n"),
    ],
    "writes into its own folder, or goes for another's": [
        ("maths.py", "", "from pathlib import Path\nA = Path(__file__).parent / 'a'\nA.write_text('')\n"),
        ("maths.py", "", "import os\nB = os.path.dirname(__file__)\nopen(os.path.join(B, 'a'), 'w')\n"),
        ("maths.py", "", "from shutil import copy\ncopy('a', dst=__file__)\n"),
        ("maths.py", "", "from pathlib import Path\nfor p in Path(__file__).parent.glob('*'):\n    p.unlink()\n"),
        ("maths.py", "", "from pathlib import Path\nPath('a').rename(Path(__file__))\n"),
        ("maths.py", "", "import os\nopen(f'{os.path.dirname(__file__)}/a', mode='w')\n"),
        ("ui/panels.py", "", "from .preferences import ROOT\n(ROOT / 'a').touch()\n"),
        ("ui/panels.py", "", "bpy.utils.user_resource('EXTENSIONS')\n"),
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
    "is made as before there were extensions": [
        ("__init__.py", "", "bl_info: dict = {}\n"),
        ("maths.py", "", "def f(addons):\n    return addons[__name__.partition('.')[0]]\n"),
        ("maths.py", "", "class A:\n    bl_idname: str = __name__\n"),
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
        ("blender_manifest.toml", 'maintainer = "FABRIK Posing developers"\n', ""),
        ("blender_manifest.toml", "GPL-3.0-or-later", "MIT"),
        ("blender_manifest.toml", "tags = ", "wheels = []\ntags = "),
        ("blender_manifest.toml", "tags = ", 'website = "not an address"\ntags = '),
        ("blender_manifest.toml", "tags = ", 'platforms = ["amiga"]\ntags = '),
        ("blender_manifest.toml", '"4.2.0"', '"2.8.0"'),
        ("blender_manifest.toml", 'version = "1.1', 'version = "banana'),
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
from re import compile
from sys import maxsize, version_info
from urllib.parse import quote
compile("a").sub("b", "c").replace("d", "e")
PLACE = __file__.replace("a", "b")
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
