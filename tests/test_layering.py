# SPDX-License-Identifier: GPL-3.0-or-later
"""A module imports downwards only, and the pure layers know no bpy."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "fabrik_addon"
LAYERS = (
    ("messages",),
    ("texts",),
    ("errors", "finite", "maths", "package"),
    ("kernel",),
    ("gait", "recognise", "translations"),
    ("rig",),
    ("actions",),
    ("overlay",),
    ("operators", "handlers", "cli"),
    ("ui",),
    ("registration",),
    ("__init__", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
WITHOUT_BPY = ("errors", "finite", "maths", "messages", "package", "texts", "kernel", "gait", "recognise")


BUT_FOR_THE_LIBRARY = ("bpy", "mathutils", "numpy", "bmesh", "gpu")
WORDING = ("Text", "counted", "enumerated", "joined", "quoted", "worded")
LONGEST, SHORT = 600, 80  # lines of a file
MOST_FILES = 20  # in a folder
NO_NOUNS = {"asked", "held", "kept", "known", "made", "mounted", "seen", "standing", "stood", "told", "wanted"}
NO_NOUNS |= {"hearing", "looking", "posing", "still", "ticking"}
KERNEL_MODULES = ("loading", "proof")  # that others may import from the kernel's package, besides its names


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Level of the relative import (0 for an absolute one) and the dotted name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield from ((node.level, f"{module}.{alias.name}".strip(".")) for alias in node.names)


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_module_has_a_layer() -> None:
    assert {layer(path) for path in modules()} == set(LEVEL)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_downwards(path: Path) -> None:
    for level, name in imports(path):
        assert not (level == 0 and name.startswith("fabrik_addon")), f"absolute import of {name}"
        inside = path.relative_to(PACKAGE).parts[:-1]
        if level == 0 or level <= len(inside):
            continue  # outside the package, or inside the layer
        target = name.split(".")[0]
        assert LEVEL[target] < LEVEL[layer(path)], f"{layer(path)} imports {target}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_pure_layers_know_no_bpy(path: Path) -> None:
    if layer(path) in WITHOUT_BPY:
        assert not [name for level, name in imports(path) if level == 0 and name.split(".")[0] == "bpy"]


@pytest.mark.parametrize("path", sorted((PACKAGE / "kernel").rglob("*.py")), ids=lambda path: path.name)
def test_the_kernel_needs_pythons_library_alone(path: Path) -> None:
    found = {name.split(".")[0] for level, name in imports(path) if level == 0}
    assert not found & set(BUT_FOR_THE_LIBRARY)
    assert found <= {*sys.stdlib_module_names, "__future__"}


def is_module_of_the_kernel(name: str) -> bool:
    """Whether an import, "kernel.solver.Solver" say, goes to a module instead of to the kernel's package."""
    parts = name.split(".")
    if parts[0] != "kernel" or len(parts) < 2 or parts[1] in KERNEL_MODULES:
        return False
    inside = PACKAGE / "kernel" / parts[1]
    return inside.is_dir() or inside.with_suffix(".py").is_file()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_kernel_is_imported_from_its_package(path: Path) -> None:
    """Compiled and interpreted classes never meet: only the package knows which are in force."""
    if layer(path) != "kernel":
        outside = len(path.relative_to(PACKAGE).parts)
        assert not [name for level, name in imports(path) if level == outside and is_module_of_the_kernel(name)]


@pytest.mark.parametrize("path", sorted(PACKAGE.parent.glob("tests/**/*.py")), ids=lambda path: path.name)
def test_tests_import_the_kernel_from_its_package(path: Path) -> None:
    absolute = (name.removeprefix("fabrik_addon.") for level, name in imports(path) if level == 0)
    assert not [name for name in absolute if is_module_of_the_kernel(name)]


def test_the_kernels_package_exports_what_type_checkers_see() -> None:
    """The names for compiled and interpreted are the same."""
    tree = ast.parse((PACKAGE / "kernel" / "__init__.py").read_text(encoding="utf-8"))
    exported = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    choice = next(node for node in tree.body if isinstance(node, ast.If))
    imported = [alias.name for node in choice.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(exported) == sorted(imported)


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_short(path: Path) -> None:
    assert lines_of(path) <= LONGEST or path == PACKAGE / "translations" / "german.py"


def test_folders_stay_small() -> None:
    counts = Counter(str(path.parent.relative_to(PACKAGE)) for path in modules())
    assert not {folder: count for folder, count in counts.items() if count > MOST_FILES}


def imported_modules(path: Path) -> Iterator[Path]:
    """Modules of the add-on that one imports, or from which it imports names."""
    for level, name in imports(path):
        if level:
            parts = name.split(".")
            above = path.parents[level - 1]
            tries = (above.joinpath(*parts), above.joinpath(*parts[:-1]))
            files = (file for each in tries for file in (each.with_suffix(".py"), each / "__init__.py"))
            yield next(file for file in files if file.is_file())


def test_a_short_module_has_more_than_one_importer() -> None:
    """Else it stands in the file of that one. What a package's `__init__.py` imports is for all that import from it."""
    importers: dict[Path, set[Path]] = {}
    for path in modules():
        for found in imported_modules(path):
            importers.setdefault(found, set()).add(path)
    assert importers[PACKAGE / "errors.py"]
    lonely = [path for path, users in importers.items() if len(users) == 1 and path.name != "__init__.py"]
    short = [path for path in lonely if lines_of(path) < SHORT]
    assert not [path for path in short if next(iter(importers[path])).name != "__init__.py"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_are_named_by_nouns(path: Path) -> None:
    assert not NO_NOUNS & set(path.stem.split("_")), "a module is named by what it is about: a noun of the field"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_sentences_are_made_from_the_actions_up(path: Path) -> None:
    """Below them a code with fields says it: `messages.Message`."""
    if layer(path) in ("errors", "finite", "messages", "maths", "kernel", "gait", "recognise", "rig"):
        calls = [
            node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
        ]
        assert not [call for call in calls if ast.unparse(call) in WORDING]


def test_only_rig_writes_poses() -> None:
    """Rotation channels are named in the rig layer alone."""
    named = {layer(path) for path in modules() if "rotation_quaternion" in path.read_text(encoding="utf-8")}
    assert named == {"rig"}
