# SPDX-License-Identifier: GPL-3.0-or-later
"""A module imports downwards only, and the pure layers know no bpy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "fabrik_addon"
LAYERS = (
    ("errors", "finite", "package"),
    ("kernel",),
    ("rig",),
    ("session",),
    ("overlay",),
    ("operators", "handlers", "cli"),
    ("ui",),
    ("registration",),
    ("__init__", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
WITHOUT_BPY = ("errors", "finite", "package", "kernel")


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


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_only_rig_writes_poses() -> None:
    """Rotation channels are named in the rig layer alone."""
    named = {layer(path) for path in modules() if "rotation_quaternion" in path.read_text(encoding="utf-8")}
    assert named == {"rig"}
