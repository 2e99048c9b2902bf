# SPDX-License-Identifier: GPL-3.0-or-later
"""What an extension is refused for on Blender's own platform, and nobody wants in any other, as one table.

By the platform's terms of service, its guidelines for moderators and the manual's pages on add-ons. A rule looks at a
folder as it is packed, and yields the places at which it is broken. What its code may not call (the network, other
programs, prints and more) is refused by the linter, whose list stands in pyproject.toml.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

BLENDERS = frozenset(
    {"addon_utils", "aud", "bl_math", "bl_operators", "blf", "bmesh", "bpy", "bpy_extras", "cycles", "freestyle"}
    | {"gpu", "gpu_extras", "idprop", "imbuf", "keyingsets_utils", "mathutils", "nodeitems_builtins", "numpy"}
    | {"rna_keymap_ui", "zstandard"}
)
READABLE = frozenset({".py", ".json", ".toml", ".md", ".html", ".css", ".js", ".png", ".svg", ".txt"})
REMAINS = frozenset(
    {"__macosx", "__pycache__", "architecture.md", "build", "pyproject.toml", "scripts", "tests", "thumbs.db"}
)
LICENSE, LONGEST, OLDEST = "SPDX:GPL-3.0-or-later", 64, (4, 2, 0)
TAGS = {"Animation", "Rigging"}
PLATFORMS = {"linux-x64", "windows-x64", "windows-arm64", "macos-x64", "macos-arm64", "linux-arm64"}
USES = {"files": r"\b(open|(read|write)_(text|bytes))\(", "clipboard": r"\.clipboard\b"}  # by permission
PERMISSIONS = frozenset({*USES, "camera", "microphone"})  # the network is not used
NO_NAME = re.compile(r"blender|add-?on|extension", re.IGNORECASE)


class Package:
    """An extension's folder as it is packed.

    Args:
        root: With the manifest in it.

    Attributes:
        root: The same.
        unreadable: Files that are no text, no Python, or no manifest, though their names say so.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.unreadable: list[str] = []

    @cached_property
    def files(self) -> list[str]:
        """All of it, from the root."""
        found = (path for path in self.root.rglob("*") if path.is_file() or path.is_symlink())
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The table by which Blender knows it; empty where it can't be read."""
        try:
            return tomllib.loads((self.root / "blender_manifest.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.unreadable.append("blender_manifest.toml")
            return {}

    @cached_property
    def modules(self) -> dict[str, tuple[str, ast.Module]]:
        """What is Python in it, by file: its text, and that read."""
        found: dict[str, tuple[str, ast.Module]] = {}
        for name in self.files:
            if name.endswith(".py"):
                try:
                    text = (self.root / name).read_text(encoding="utf-8-sig")
                    found[name] = text, ast.parse(text)
                except (OSError, ValueError, SyntaxError):
                    self.unreadable.append(name)
        return found


def _leaves(package: Package) -> Iterator[str]:
    for name, (_, read) in package.modules.items():
        for node in ast.walk(read):
            if isinstance(node, ast.ImportFrom) and node.level:
                found = ["." * node.level] if node.level > name.count("/") + 1 else []
            elif isinstance(node, ast.Import | ast.ImportFrom):
                tops = [(getattr(node, "module", None) or one.name).partition(".")[0] for one in node.names]
                found = [top for top in tops if top not in BLENDERS and top not in sys.stdlib_module_names]
            else:
                continue
            yield from (f"{name}:{node.lineno} {one}" for one in found)


def _hides(package: Package) -> Iterator[str]:
    platforms = package.manifest.get("platforms", [])
    allowed = {f"native/{platform}/{file}" for platform in platforms for file in ("core.pyd", "core.abi3.so")}
    for name in package.files:
        path = package.root / name
        is_known = path.suffix in READABLE or name in allowed or path.name == "LICENSE"
        if (
            not is_known
            or path.is_symlink()
            or (path.suffix != ".png" and name not in allowed and 0 in path.read_bytes())
        ):
            yield name
    assert package.modules is not None  # which are read by that
    yield from package.unreadable


def _has_remains(package: Package) -> Iterator[str]:
    for name in package.files:
        parts = name.lower().split("/")
        if any(part in REMAINS or part.startswith(".") or part.endswith(("~", ".orig")) for part in parts):
            yield name


def _lacks_permission(package: Package) -> Iterator[str]:
    given = package.manifest.get("permissions", {})
    for permission, use in USES.items():
        users = [name for name, (text, _) in package.modules.items() if re.search(use, text)]
        if users and permission not in given:
            yield f"{users[0]} {permission}"
    for name, reason in given.items():
        if name not in PERMISSIONS or not _is_terse(reason):
            yield f"blender_manifest.toml {name}"


def _is_terse(text: object) -> bool:
    """Whether a text is as Blender's interface wants it: short, one line, and without a full stop."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST and text == text.strip() and text[-1].isalnum()


def _is_misnamed(package: Package) -> Iterator[str]:
    name, tagline = (str(package.manifest.get(field, "")) for field in ("name", "tagline"))
    if NO_NAME.search(name):
        yield "blender_manifest.toml name"
    if not _is_terse(tagline) or "blender" in tagline.lower():
        yield "blender_manifest.toml tagline"


def _has_poor_manifest(package: Package) -> Iterator[str]:
    """What Blender's own tool lets through."""
    manifest = package.manifest
    lists = {"license": {LICENSE}, "tags": TAGS, "platforms": PLATFORMS}
    yield from (f"blender_manifest.toml {name}" for name in lists if not {*manifest.get(name, ())} <= lists[name])
    oldest = [int(number) for number in re.findall(r"\d+", str(manifest.get("blender_version_min", "")))]
    if tuple(oldest) < OLDEST:
        yield "blender_manifest.toml blender_version_min: there were no extensions before 4.2"
    if "LICENSE" not in package.files or not (package.root / "LICENSE").stat().st_size:
        yield "LICENSE"


# By the reason for refusal, said of the extension, what finds the places at which it is.
RULES: dict[str, Callable[[Package], Iterator[str]]] = {
    "imports what is neither its own, nor Python's, nor Blender's": _leaves,
    "holds what can't be read": _hides,
    "holds what is left of its making": _has_remains,
    "needs a permission, or gives no good reason for one": _lacks_permission,
    "has a name or a tagline against the rules": _is_misnamed,
    "has a manifest that lacks something, or has too much": _has_poor_manifest,
}


def refusals(root: Path) -> list[str]:
    """Why an extension would be refused, each reason with the place; none where all is well.

    Args:
        root: Its folder as it is packed.
    """
    package = Package(root)
    return [f"{place}: it {reason}" for reason, find in RULES.items() for place in find(package)]
