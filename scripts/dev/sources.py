# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's modules as they are read for compiling: names, imports between them, and their order."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

STUB = "cython"  # the kernel's stand-in for Cython's module

# Functions of math that are the C library's own, under the same name, and so give the same bits. Not here: hypot
# and dist, which Python computes by itself; pow, since x ** 2 and x * x differ in the last bit; pi and inf.
LIBM = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh"}
    | {"exp", "expm1", "log", "log10", "log1p", "log2", "sqrt"}
    | {"ceil", "copysign", "fabs", "floor", "fmod", "isfinite", "isinf", "isnan"}
)

Kind = Literal["future", "stub", "kernel", "above", "libm", "library"]


class SourceError(Exception):
    """The kernel's sources can't be joined; the text names the file and the line."""


@dataclass(frozen=True)
class Import:
    """One import statement of a module.

    Attributes:
        kind: From where: a module of the kernel, one above it, the C library, Python's library, or Cython's stand-in.
        module: Dotted name: within the kernel, within the extension, or in Python's library.
        names: Names that it binds; of `import x`, none.
        node: The statement.
        is_nested: Whether it stands inside a function.
    """

    kind: Kind
    module: str
    names: tuple[str, ...]
    node: ast.stmt
    is_nested: bool


@dataclass
class Module:
    """A module of the kernel.

    Attributes:
        name: Dotted, within the kernel: "limits.base"; a package has the name of its folder.
        file: Path within the kernel, for messages.
        is_package: Whether it is an `__init__.py`.
        lines: Its source.
        tree: The same, parsed.
        imports: Its import statements.
        defined: Names that it binds at its top level otherwise, with the line of the first.
    """

    name: str
    file: str
    is_package: bool
    lines: list[str]
    tree: ast.Module
    imports: list[Import] = field(default_factory=list)
    defined: dict[str, int] = field(default_factory=dict)

    def place(self, node: ast.AST | int) -> str:
        """File and line, for messages."""
        return f"{self.file}:{node if isinstance(node, int) else getattr(node, 'lineno', 1)}"


def read_modules(folder: Path, files: Iterable[Path]) -> dict[str, Module]:
    """Read modules of the kernel.

    Args:
        folder: The kernel's.
        files: Within it.

    Raises:
        SourceError: An import can't be understood, or goes where it should not.
    """
    found: dict[str, Module] = {}
    for path in sorted(files):
        file = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text, file)
        except SyntaxError as error:
            raise SourceError(f"{file}:{error.lineno}: {error.msg}") from error
        is_package = path.name == "__init__.py"
        parts = file.removesuffix(".py").split("/")
        module = Module(".".join(parts[:-1] if is_package else parts), file, is_package, text.splitlines(), tree)
        found[module.name] = module
    for module in found.values():
        skipped = {id(inside) for node in module.tree.body if is_for_checkers(node) for inside in ast.walk(node)}
        top = {id(node) for node in module.tree.body}
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and id(node) not in skipped:
                module.imports.extend(_read_import(module, node, set(found), id(node) not in top))
        module.defined.update(_defined(module.tree.body))
    return found


def is_for_checkers(node: ast.stmt) -> bool:
    """Whether a statement is a plain `if TYPE_CHECKING:`."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        and not node.orelse
    )


def _read_import(module: Module, node: ast.Import | ast.ImportFrom, known: set[str], nested: bool) -> list[Import]:
    for alias in node.names:
        if alias.name == "*":
            raise SourceError(f"{module.place(node)}: names are imported one by one, not by *")
        if alias.asname is not None:
            raise SourceError(f"{module.place(node)}: '{alias.name}' is imported under another name")
    names = tuple(alias.name for alias in node.names)
    if isinstance(node, ast.Import):
        return [Import("library", _of_the_library(module, node, name), (), node, nested) for name in names]
    if node.level == 0:
        return [_from_python(module, node, names, nested)]
    return [_from_the_extension(module, node, names, known, nested)]


def _from_the_extension(
    module: Module, node: ast.ImportFrom, names: tuple[str, ...], known: set[str], nested: bool
) -> Import:
    inside = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    ups = node.level - 1
    if ups > len(inside):
        if ups > len(inside) + 1 or not node.module:
            raise SourceError(f"{module.place(node)}: only modules beside the kernel can be imported from outside it")
        return Import("above", node.module, names, node, nested)
    target = ".".join([*inside[: len(inside) - ups], *filter(None, [node.module])])
    if target == "" and names == (STUB,):
        return Import("stub", STUB, names, node, nested)
    for name in names:
        if target == "" or f"{target}.{name}" in known:
            raise SourceError(f"{module.place(node)}: '{name}' is a module; its names are to be imported, not itself")
    if target not in known:
        raise SourceError(f"{module.place(node)}: the kernel has no module '{target}' that is compiled")
    return Import("kernel", target, names, node, nested)


def _from_python(module: Module, node: ast.ImportFrom, names: tuple[str, ...], nested: bool) -> Import:
    name = node.module or ""
    if name == "__future__":
        return Import("future", name, names, node, nested)
    if name == "math":
        for one in sorted(set(names) - LIBM):
            raise SourceError(f"{module.place(node)}: '{one}' of math is not the same when compiled")
        return Import("libm", name, names, node, nested)
    return Import("library", _of_the_library(module, node, name), names, node, nested)


def _of_the_library(module: Module, node: ast.stmt, name: str) -> str:
    """The name of a module of Python's library.

    Raises:
        SourceError: It is none, or one of which names are to be imported.
    """
    if name == "math":
        raise SourceError(f"{module.place(node)}: names are to be imported from math, which C's functions stand in for")
    top = name.split(".", maxsplit=1)[0]
    if top == STUB or top not in sys.stdlib_module_names:
        raise SourceError(f"{module.place(node)}: the kernel needs nothing but Python's library, and not '{name}'")
    return name


def _defined(body: Iterable[ast.stmt]) -> dict[str, int]:
    """Names that statements bind otherwise than by importing, with the line of the first; none of inside functions."""
    found: dict[str, int] = {}
    for node in body:
        for name in _bound(node):
            if name != "__all__":
                found.setdefault(name, node.lineno)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not is_for_checkers(node):
            found = {**_defined(_inside(node)), **found}
    return found


def _inside(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements that stand directly within one: the bodies of a loop, a choice, a try."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from _inside(child)


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names that a statement itself binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For)):
        targets = [node.target]
    elif isinstance(node, ast.With):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    for target in targets:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def in_order(modules: Mapping[str, Module]) -> list[Module]:
    """The modules, each after those from which it imports at its top level; those that are free to choose by name.

    Raises:
        SourceError: The imports run in a circle.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for module in modules.values():
        needed = {found.module for found in module.imports if found.kind == "kernel" and not found.is_nested}
        sorter.add(module.name, *sorted(needed))
    try:
        sorter.prepare()
    except CycleError as error:
        circle = [modules[name].file for name in error.args[1]]
        raise SourceError(f"imports run in a circle: {' -> '.join(reversed(circle))}") from error
    order: list[Module] = []
    waiting: list[str] = []
    while sorter.is_active():
        waiting = sorted([*waiting, *sorter.get_ready()])
        name = waiting.pop(0)
        order.append(modules[name])
        sorter.done(name)
    return order
