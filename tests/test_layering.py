# SPDX-License-Identifier: GPL-3.0-or-later
"""A module imports downwards only, and the pure layers know no bpy."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "fabrik_addon"
LAYERS = (
    ("messages",),
    ("texts",),
    ("errors", "maths"),
    ("kernel",),
    ("gait", "recognise", "translations"),
    ("motion",),
    ("rig",),
    ("actions",),
    ("overlay",),
    ("operators", "handlers", "cli"),
    ("ui",),
    ("registration",),
    ("__init__", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
WITHOUT_BPY = ("errors", "maths", "messages", "texts", "kernel", "gait", "motion", "recognise")
BLENDER = {"bpy", "mathutils", "bmesh", "gpu", "bpy_extras"}
BUT_FOR_THE_LIBRARY = (*BLENDER, "numpy")
BELOW_SENTENCES = ("errors", "messages", "maths", "kernel", "gait", "motion", "recognise", "rig")
WORDING = ("Text", "counted", "enumerated", "joined", "quoted", "worded")
LONGEST, SHORT = 600, 80  # lines of a file
MOST_FILES = 20  # in a folder
NO_NOUNS = {"asked", "held", "kept", "known", "made", "mounted", "seen", "standing", "stood", "told", "wanted"}
NO_NOUNS |= {"hearing", "looking", "posing", "still", "ticking", "brought", "carried", "compared", "converted", "done"}
NO_NOUNS |= {
    "dragged",
    "given",
    "instead",
    "led",
    "loosed",
    "marked",
    "noted",
    "played",
    "posed",
    "refused",
    "replaced",
}
NO_NOUNS |= {"snapped", "taken", "tracked", "transferred", "turned", "weighed", "written"}
PACKAGES = ("__init__.py", "names.py")
KERNEL_MODULES = ("loading",)  # that others may import from the kernel's package, besides its names


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Level of each relative import (0 for an absolute one) and the dotted name."""
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.level, f"{node.module or ''}.{alias.name}".strip(".")) for alias in node.names]
    return found


def absolute(path: Path) -> list[str]:
    return [name for level, name in imports(path) if level == 0]


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> Iterator[tuple[str, str]]:
    """The layers that a module imports but its own, each with the full name of what is imported."""
    outside = len(path.relative_to(PACKAGE).parts)
    return ((name.split(".")[0], name) for level, name in imports(path) if level == outside)


def test_every_module_has_a_layer() -> None:
    assert {layer(path) for path in modules()} == set(LEVEL)


def test_imports_run_downwards() -> None:
    assert not [
        (str(path), name)
        for path in modules()
        for target, name in imported_layers(path)
        if LEVEL[target] >= LEVEL[layer(path)]
    ]
    assert not [str(path) for path in modules() if any(name.startswith("fabrik_addon") for name in absolute(path))]


def test_pure_layers_know_no_blender() -> None:
    """Numbers alone are of mathutils, behind `maths`."""
    pure = {path: {name.split(".")[0] for name in absolute(path)} for path in modules() if layer(path) in WITHOUT_BPY}
    found = [(str(path), name) for path, names in pure.items() for name in names & BLENDER]
    assert found == [(str(PACKAGE / "maths.py"), "mathutils")]


def test_the_kernel_needs_pythons_library_alone() -> None:
    found = {name.split(".")[0] for path in (PACKAGE / "kernel").rglob("*.py") for name in absolute(path)}
    assert not found & set(BUT_FOR_THE_LIBRARY)
    assert found <= {*sys.stdlib_module_names, "__future__"}


def is_module_of_the_kernel(name: str) -> bool:
    """Whether an import, "kernel.solver.Solver" say, goes to a module instead of to the kernel's package."""
    parts = name.split(".")
    if parts[0] != "kernel" or len(parts) < 2 or parts[1] in KERNEL_MODULES:
        return False
    inside = PACKAGE / "kernel" / parts[1]
    return inside.is_dir() or inside.with_suffix(".py").is_file()


def test_the_kernel_is_imported_from_its_package() -> None:
    """Compiled and interpreted classes never meet: only the package knows which are in force."""
    outside = [path for path in modules() if layer(path) != "kernel"]
    found = [(str(path), name) for path in outside for _, name in imported_layers(path)]
    tests = PACKAGE.parent.glob("tests/**/*.py")
    found += [(str(path), name.removeprefix("fabrik_addon.")) for path in tests for name in absolute(path)]
    assert not [(path, name) for path, name in found if is_module_of_the_kernel(name)]


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_files_stay_short() -> None:
    long = {path for path in modules() if lines_of(path) > LONGEST}
    assert not long


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
    """Else it stands in the file of that one. What a package offers (`PACKAGES`) is for all that import from it."""
    importers: dict[Path, set[Path]] = {}
    for path in modules():
        for found in imported_modules(path):
            importers.setdefault(found, set()).add(path)
    assert importers[PACKAGE / "errors.py"]
    lonely = [path for path, users in importers.items() if len(users) == 1 and path.name != "__init__.py"]
    short = [path for path in lonely if lines_of(path) < SHORT]
    assert not [path for path in short if next(iter(importers[path])).name not in PACKAGES]


def test_modules_and_classes_are_named_by_nouns() -> None:
    named = [str(path) for path in modules() if NO_NOUNS & set(path.stem.split("_"))]
    classes = [node.name for path in modules() for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]
    named += [name for name in classes if name.strip("_").lower() in NO_NOUNS]
    assert not named, "a module or a class is named by what it is about: a noun of the field"


def test_sentences_are_made_from_the_actions_up() -> None:
    """Below them a code with fields says it: `messages.Message`."""
    below = [path for path in modules() if layer(path) in BELOW_SENTENCES]
    calls = [(str(path), node) for path in below for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    assert not [(path, node.lineno) for path, node in calls if ast.unparse(node.func) in WORDING]


def test_only_rig_writes_poses() -> None:
    """Rotation channels are named in the rig layer alone."""
    named = {layer(path) for path in modules() if "rotation_quaternion" in path.read_text(encoding="utf-8")}
    assert named == {"rig"}
