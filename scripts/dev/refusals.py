# SPDX-License-Identifier: GPL-3.0-or-later
"""What an extension is refused for on Blender's own platform, and what nobody wants to find in any other, as one table.

By the platform's terms of service, its guidelines for moderators and the manual's pages on add-ons. A rule looks at a
folder as it is packed; `Rule.find` yields the places, "file:line", at which it is broken.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

BLENDERS = frozenset(
    {"bl_math", "blf", "bmesh", "bpy", "bpy_extras", "gpu", "gpu_extras", "mathutils", "numpy", "rna_keymap_ui"}
)
NETWORK = frozenset(
    {"asyncio", "ftplib", "http", "imaplib", "poplib", "smtplib", "socket", "socketserver", "ssl", "urllib", "xmlrpc"}
)
PROGRAMS = frozenset({"ctypes", "ensurepip", "multiprocessing", "pip", "pty", "runpy", "subprocess", "venv"})
PROGRAM_CALLS = ("os.system", "os.popen", "os.exec", "os.spawn", "os.startfile", "os.posix_spawn", "os.fork")
TEXT_CALLS = frozenset({"exec", "eval", "compile", "__import__"})
READ_CALLS = frozenset({"open", "read_text", "read_bytes", *(WRITE_CALLS := ("write_text", "write_bytes"))})
CHANGE_CALLS = frozenset(
    {*WRITE_CALLS, "mkdir", "unlink", "touch", "rename", "rmdir", "symlink_to", "hardlink_to", "chmod"}
)
REPLACE = "replace"  # a method of texts, too, which has two arguments there
COPY_CALLS = frozenset(f"shutil.{name}" for name in ("copy", "copy2", "copyfile", "copytree", "move"))
PATH_CALLS = frozenset(
    {f"os.{name}" for name in ("remove", "unlink", "mkdir", "makedirs", "rmdir", "rename", "replace")}
    | {"shutil.rmtree"}
)
READABLE = frozenset({".py", ".json", ".toml", ".md", ".html", ".css", ".js", ".png", ".svg", ".txt"})
LOOKED_AT = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Assign, ast.Subscript)
REMAINS = frozenset(
    {"__pycache__", "tests", "scripts", "build", "pyproject.toml", "LICENSES", "Thumbs.db", "ARCHITECTURE.md"}
)
LICENSE, LONGEST = "SPDX:GPL-3.0-or-later", 64
NAMED_ONCE = frozenset({"id", "version", "name", "tagline", "maintainer", "type", "license", "blender_version_min"})
ALSO = frozenset({"schema_version", "tags", "permissions", "platforms", "website"})
PERMISSIONS = frozenset({"files", "network", "clipboard", "camera", "microphone"})


class Module(NamedTuple):
    """A file of Python, read.

    Attributes:
        nodes: Of its syntax what a rule looks at.
        calls: Those of them that are calls, with what is called as it is written.
        own: Names that stand for a place inside the extension, as far as assignments show it.
    """

    nodes: list[ast.AST]
    calls: list[tuple[ast.Call, str]]
    own: set[str]


@cache
def module_of(text: str) -> Module:
    """Read a file of Python; each text once."""
    nodes = [*ast.walk(ast.parse(text))]
    return Module(
        [node for node in nodes if isinstance(node, LOOKED_AT)],
        [(node, ast.unparse(node.func)) for node in nodes if isinstance(node, ast.Call)],
        _own_paths(nodes),
    )


class Package:
    """An extension's folder as it is packed.

    Args:
        root: With the manifest in it.

    Attributes:
        root: The same.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def files(self) -> list[str]:
        """All of it, from the root."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The table by which Blender knows it."""
        return tomllib.loads((self.root / "blender_manifest.toml").read_text(encoding="utf-8"))

    @cached_property
    def modules(self) -> dict[str, Module]:
        """What is Python in it, by file."""
        found = (name for name in self.files if name.endswith(".py"))
        return {name: module_of((self.root / name).read_text(encoding="utf-8")) for name in found}

    def nodes(self) -> Iterator[tuple[str, ast.AST]]:
        """All of that, each with where it stands."""
        for name, module in self.modules.items():
            yield from ((f"{name}:{getattr(node, 'lineno', 1)}", node) for node in module.nodes)

    def imports(self) -> Iterator[tuple[str, str]]:
        """The modules that are imported by their full names, each with where."""
        for place, node in self.nodes():
            if isinstance(node, ast.Import):
                yield from ((place, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield place, node.module or ""

    def calls(self) -> Iterator[tuple[str, ast.Call, str]]:
        """What is called, as it is written, each with where."""
        for name, module in self.modules.items():
            yield from ((f"{name}:{node.lineno}", node, called) for node, called in module.calls)


class Rule(NamedTuple):
    """A reason for refusal.

    Attributes:
        reason: What is wrong, said of the extension.
        find: The places at which it is.
    """

    reason: str
    find: Callable[[Package], Iterator[str]]


def _leaves(package: Package) -> Iterator[str]:
    for place, name in package.imports():
        top = name.split(".", maxsplit=1)[0]
        if top not in BLENDERS and top not in sys.stdlib_module_names:
            yield f"{place} {name}"
    for place, node in package.nodes():
        if isinstance(node, ast.ImportFrom) and node.level > place.count("/") + 1:
            yield f"{place} {'.' * node.level}{node.module or ''}"


def _touches_sys(package: Package) -> Iterator[str]:
    for place, node in package.nodes():
        is_found_by = isinstance(node, ast.Attribute) and node.attr in ("path", "modules", "meta_path", "path_hooks")
        if (is_found_by and ast.unparse(node).startswith("sys.")) or (
            isinstance(node, ast.ImportFrom) and node.module == "sys"
        ):
            yield place


def _runs_text(package: Package) -> Iterator[str]:
    yield from (place for place, _, name in package.calls() if name in TEXT_CALLS)


def _prints(package: Package) -> Iterator[str]:
    yield from (place for place, _, name in package.calls() if name == "print")


def _uses_network(package: Package) -> Iterator[str]:
    yield from (f"{place} {name}" for place, name in package.imports() if name.split(".")[0] in NETWORK)


def _runs_programs(package: Package) -> Iterator[str]:
    yield from (f"{place} {name}" for place, name in package.imports() if name.split(".")[0] in PROGRAMS)
    yield from (place for place, _, name in package.calls() if name.startswith(PROGRAM_CALLS))


def _writes_into_itself(package: Package) -> Iterator[str]:
    for place, node, called in package.calls():
        names = package.modules[place.rpartition(":")[0]].own
        changed: list[ast.expr] = []
        is_moved = isinstance(node.func, ast.Attribute) and node.func.attr == REPLACE and len(node.args) == 1
        if isinstance(node.func, ast.Attribute) and (is_moved or node.func.attr in CHANGE_CALLS):
            changed.append(node.func.value)
        if called in PATH_CALLS:
            changed += node.args
        if called in COPY_CALLS:
            changed += node.args[1:2]
        if called == "open" and _is_writing(node.args[1:2], node):
            changed += node.args[:1]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "open" and _is_writing(node.args[:1], node):
            changed.append(node.func.value)
        if any(_begin(one) & names for one in changed):
            yield place


def _own_paths(nodes: Sequence[ast.AST]) -> set[str]:
    found = {"__file__"}
    assigned = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign) and node.value]
    for _ in range(len(assigned)):
        before = len(found)
        for node in assigned:
            if node.value is not None and _begin(node.value) & found:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(target.id for target in targets if isinstance(target, ast.Name))
        if len(found) == before:
            break
    return found


def _begin(path: ast.expr) -> set[str]:
    """The names in which an expression for a path begins: of `Path(folder, "a").parent / name` it is "folder"."""
    if isinstance(path, ast.Name):
        return {path.id}
    if isinstance(path, ast.BinOp):
        return _begin(path.left)
    if isinstance(path, ast.Attribute | ast.Subscript):
        return _begin(path.value)
    if isinstance(path, ast.IfExp):
        return _begin(path.body) | _begin(path.orelse)
    if isinstance(path, ast.Call):
        inside = [path.func.value] if isinstance(path.func, ast.Attribute) else []
        return {name for one in (*path.args[:1], *inside) for name in _begin(one)}
    return set()


def _is_writing(given: list[ast.expr], call: ast.Call) -> bool:
    modes = [*given, *(word.value for word in call.keywords if word.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes)


def _hides(package: Package) -> Iterator[str]:
    platforms = package.manifest.get("platforms", [])
    allowed = {f"native/{platform}/{file}" for platform in platforms for file in ("core.pyd", "core.abi3.so")}
    for name in package.files:
        if Path(name).suffix not in READABLE and name not in allowed and Path(name).name != "LICENSE":
            yield name


def _has_remains(package: Package) -> Iterator[str]:
    for name in package.files:
        if any(part in REMAINS or part.startswith(".") or part.endswith(("~", ".orig")) for part in name.split("/")):
            yield name


def _is_old_style(package: Package) -> Iterator[str]:
    for place, node in package.nodes():
        targets = [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []
        if "bl_info" in targets or (targets == ["bl_idname"] and ast.unparse(getattr(node, "value")) == "__name__"):
            yield place
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Name)
            and ast.unparse(node).endswith("addons[__name__]")
        ):
            yield place


def _lacks_permission(package: Package) -> Iterator[str]:
    given = package.manifest.get("permissions", {})
    for place, _, called in package.calls():
        if "files" not in given and called.rpartition(".")[2] in READ_CALLS and not called.startswith("gpu."):
            yield f"{place} files"
    for place, node in package.nodes():
        if "clipboard" not in given and isinstance(node, ast.Attribute) and node.attr == "clipboard":
            yield f"{place} clipboard"
    for name, reason in given.items():
        if name not in PERMISSIONS or not _is_terse(reason):
            yield f"blender_manifest.toml {name}"
    if "network" in given and not any(_uses_network(package)):
        yield "blender_manifest.toml network, which it does not use"


def _is_terse(text: object) -> bool:
    """Whether a text is as Blender's interface wants it: short, one line, and without a full stop."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST and text == text.strip() and text[-1].isalnum()


def _is_misnamed(package: Package) -> Iterator[str]:
    manifest = package.manifest
    name, tagline = str(manifest.get("name", "")), manifest.get("tagline", "")
    if "blender" in name.lower() or any(word in name.lower().split() for word in ("addon", "add-on", "extension")):
        yield "blender_manifest.toml name"
    if not _is_terse(tagline) or not tagline[:1].isupper() or "blender" in tagline.lower():
        yield "blender_manifest.toml tagline"


def _has_poor_manifest(package: Package) -> Iterator[str]:
    manifest = package.manifest
    yield from (f"blender_manifest.toml has no {name}" for name in sorted(NAMED_ONCE - manifest.keys()))
    yield from (f"blender_manifest.toml has {name}" for name in sorted(manifest.keys() - NAMED_ONCE - ALSO))
    if manifest.get("license") != [LICENSE] or "LICENSE" not in package.files:
        yield f"blender_manifest.toml or LICENSE: not {LICENSE}"


RULES = (
    Rule("imports what is neither its own, nor Python's, nor Blender's", _leaves),
    Rule("touches what Python finds modules by", _touches_sys),
    Rule("runs code that is text", _runs_text),
    Rule("prints, where it should report or log", _prints),
    Rule("uses the network", _uses_network),
    Rule("runs other programs, or calls libraries past Python", _runs_programs),
    Rule("writes into its own folder", _writes_into_itself),
    Rule("holds what can't be read", _hides),
    Rule("holds what is left of its making", _has_remains),
    Rule("is made as before there were extensions", _is_old_style),
    Rule("needs a permission, or gives no good reason for one", _lacks_permission),
    Rule("has a name or a tagline against the rules", _is_misnamed),
    Rule("has a manifest that lacks something, or has too much", _has_poor_manifest),
)


def refusals(root: Path) -> list[str]:
    """Why an extension would be refused, each reason with the place; none where all is well.

    Args:
        root: Its folder as it is packed.
    """
    package = Package(root)
    return [f"{place}: it {rule.reason}" for rule in RULES for place in rule.find(package)]
