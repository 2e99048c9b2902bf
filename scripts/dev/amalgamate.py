# SPDX-License-Identifier: GPL-3.0-or-later
"""Joins the modules of the kernel into one that Cython compiles as a unit.

The modules come in the order of the imports between them, and those imports are dropped. What would mean one thing
compiled and another interpreted is refused: the same name in two modules, `//` under C's rules, an index from behind, a
`raise` where no error comes out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

from environment import CompileError

STUB = "cython"  # the kernel's stand-in for Cython's module
PACKAGE = "extension.kernel"  # as which the kernel's imports are resolved

# Functions of math that are the C library's own, under the same name, and so give the same bits. Not here: hypot
# and dist, which Python computes by itself; pow, since x ** 2 and x * x differ in the last bit; pi and inf.
LIBM = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh"}
    | {"exp", "expm1", "log", "log10", "log1p", "log2", "sqrt"}
    | {"ceil", "copysign", "fabs", "floor", "fmod", "isfinite", "isinf", "isnan"}
)

DIRECTIVES = {
    "language_level": "3",
    "infer_types": "True",
    "boundscheck": "True",
    "wraparound": "False",
    "nonecheck": "True",
    "initializedcheck": "False",
    "cdivision": "True",
    "freethreading_compatible": "False",
    "auto_pickle": "False",
}
C_RULES = {  # operators that mean something else in C
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
OWN_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # what they bind stays inside
SILENT = "cython.exceptval(check=False)"


@dataclass(frozen=True)
class Import:
    """One import statement of a module."""

    module: str  # dotted name of a module of the kernel, within it; "" where it is none
    # from where else the joined module imports the names, or "": a module above the kernel, of the C library, or of
    # Python's
    source: str
    names: tuple[str, ...]  # names that it binds; of `import x`, none
    node: ast.stmt  # the statement
    is_nested: bool  # whether it stands inside a function


@dataclass
class Module:
    """A module of the kernel."""

    name: str  # dotted, within the kernel: "limits.base"; a package has the name of its folder
    package: str  # in which relative imports begin
    file: str  # path within the kernel, for messages
    lines: list[str]  # its source
    tree: ast.Module  # the same, parsed
    imports: list[Import] = field(default_factory=list)  # its import statements
    # names that it binds at its top level otherwise, with the line of the first
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
        CompileError: An import can't be understood, or goes where it should not.
    """
    found: dict[str, Module] = {}
    for path in sorted(files):
        file = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text, file)
        except SyntaxError as error:
            raise CompileError(f"{file}:{error.lineno}: {error.msg}") from error
        parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
        above = parts if path.name == "__init__.py" else parts[:-1]
        module = Module(".".join(parts), ".".join([PACKAGE, *above]), file, text.splitlines(), tree)
        found[module.name] = module
    for module in found.values():
        skipped = {id(inside) for node in module.tree.body if is_for_checkers(node) for inside in ast.walk(node)}
        top = {id(node) for node in module.tree.body}
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and id(node) not in skipped:
                module.imports.extend(_read_import(module, node, set(found), id(node) not in top))
        for name, line in _defined(module.tree):
            module.defined.setdefault(name, line)
    return found


def is_for_checkers(node: ast.AST) -> bool:
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
            raise CompileError(f"{module.place(node)}: names are imported one by one, not by *")
        if alias.asname is not None:
            raise CompileError(f"{module.place(node)}: '{alias.name}' is imported under another name")
    names = tuple(alias.name for alias in node.names)
    if isinstance(node, ast.Import):
        return [Import("", _of_the_library(module, node, name), (), node, nested) for name in names]
    if node.level:
        return [Import(*_of_the_extension(module, node, names, known), names, node, nested)]
    source = node.module or ""
    if source == "math":
        for one in sorted(set(names) - LIBM):
            raise CompileError(f"{module.place(node)}: '{one}' of math is not the same when compiled")
        source = "cython.cimports.libc.math"
    elif source != "__future__":
        source = _of_the_library(module, node, source)
    return [Import("", source, names, node, nested)]


def _of_the_extension(module: Module, node: ast.ImportFrom, names: tuple[str, ...], known: set[str]) -> tuple[str, str]:
    """Module and source of a relative import.

    Raises:
        CompileError: It is none, or one of which names are to be imported.
    """
    try:
        full = resolve_name("." * node.level + (node.module or ""), module.package)
    except ImportError:
        full = ""
    target = full.removeprefix(PACKAGE).removeprefix(".")
    if target == full:
        if not full or not node.module:
            raise CompileError(f"{module.place(node)}: only modules beside the kernel can be imported from outside it")
        return "", f"..{node.module}"
    if target == "" and names == (STUB,):
        return "", ""
    for name in names:
        if target == "" or f"{target}.{name}" in known:
            raise CompileError(f"{module.place(node)}: '{name}' is a module; its names are to be imported, not itself")
    if target not in known:
        raise CompileError(f"{module.place(node)}: the kernel has no module '{target}' that is compiled")
    return target, ""


def _of_the_library(module: Module, node: ast.stmt, name: str) -> str:
    """The name of a module of Python's library.

    Raises:
        CompileError: It is none, or one of which names are to be imported.
    """
    if name == "math":
        raise CompileError(
            f"{module.place(node)}: names are to be imported from math, which C's functions stand in for"
        )
    top = name.split(".", maxsplit=1)[0]
    if top == STUB or top not in sys.stdlib_module_names:
        raise CompileError(f"{module.place(node)}: the kernel needs nothing but Python's library, and not '{name}'")
    return name


def _defined(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that a statement binds otherwise than by importing, with their lines; none of inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield child.name, child.lineno
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, child.lineno
        elif not isinstance(child, OWN_NAMES) and not is_for_checkers(child):
            yield from _defined(child)


def in_order(modules: Mapping[str, Module]) -> list[Module]:
    """The modules, each after those from which it imports at its top level.

    Raises:
        CompileError: The imports run in a circle.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for module in modules.values():
        needed = {found.module for found in module.imports if found.module and not found.is_nested}
        sorter.add(module.name, *sorted(needed))
    try:
        return [modules[name] for name in sorter.static_order()]
    except CycleError as error:
        circle = [modules[name].file for name in error.args[1]]
        raise CompileError(f"imports run in a circle: {' -> '.join(reversed(circle))}") from error


@dataclass(frozen=True)
class Amalgam:
    """The kernel as one module."""

    text: str  # its source
    origins: Sequence[str]  # for each line of it where it came from, as "file:line", or ""


def amalgamate(folder: Path, files: Iterable[Path]) -> Amalgam:
    """Join modules of the kernel.

    Args:
        folder: The kernel's.
        files: The modules in it that are compiled.

    Raises:
        CompileError: They would not mean the same in one.
    """
    modules = in_order(read_modules(folder, files))
    wrong = [*_wrong_names(modules), *(text for module in modules for text in _wrong_rules(module))]
    if wrong:
        raise CompileError("\n".join(wrong))
    lines = [f"# cython: {', '.join(f'{name}={value}' for name, value in DIRECTIVES.items())}", *_head(modules)]
    origins = [""] * len(lines)
    for module in modules:
        lines += ["", f"# ---- {module.file}"]
        origins += ["", ""]
        for number, line in _kept(module):
            if line or lines[-1]:
                lines.append(line)
                origins.append(f"{module.file}:{number}")
    return Amalgam("\n".join(lines) + "\n", origins)


def _head(modules: Sequence[Module]) -> list[str]:
    """The imports of all modules, once each."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for module in modules:
        for found in module.imports:
            if found.is_nested or not found.source:
                continue
            if found.names:
                named.setdefault(found.source, set()).update(found.names)
            else:
                plain.add(found.source)
    lines = []
    if "__future__" in named:
        lines.append(f"from __future__ import {', '.join(sorted(named.pop('__future__')))}")
    lines += ["import cython", *(f"import {name}" for name in sorted(plain))]
    return lines + [f"from {source} import {', '.join(sorted(names))}" for source, names in sorted(named.items())]


def _wrong_names(modules: Sequence[Module]) -> Iterator[str]:
    """Names that two modules bind to different things, and imports of names that are not there."""
    by_name = {module.name: module for module in modules}
    seen = {"cython": ("Cython's module", "its head")}  # name: what it is bound to, and where
    for module in modules:
        bound = {name: (f"{module.file} itself", module.place(line)) for name, line in module.defined.items()}
        for found in module.imports:
            for name in found.names:
                if found.module:
                    other = by_name[found.module]
                    imported = {one for each in other.imports if not each.is_nested for one in each.names}
                    if name not in imported and name not in other.defined:
                        yield f"{module.place(found.node)}: {other.file} has no '{name}'"
                elif found.source not in ("", "__future__") and not found.is_nested:
                    bound.setdefault(name, (found.source, module.place(found.node)))
        for name, (source, place) in bound.items():
            other_source, other_place = seen.setdefault(name, (source, place))
            if other_source != source:
                yield f"{place}: '{name}' is also the name of something else, at {other_place}"


def _wrong_rules(module: Module) -> Iterator[str]:
    """What compiled functions do otherwise than interpreted ones."""
    for function in ast.walk(module.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        silent = SILENT in map(ast.unparse, function.decorator_list)
        for node in ast.walk(function):
            if silent and isinstance(node, (ast.Raise, ast.Assert)):
                yield f"{module.place(node)}: '{function.name}' raises, but no error comes out of it"
            reason = _otherwise(node)
            if reason:
                yield f"{module.place(node)}: {reason} when '{function.name}' is compiled"


def _otherwise(node: ast.AST) -> str:
    """What an expression does otherwise where it is compiled; or "".

    What is inferred to be a number of C is one in a plain function, too.
    """
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in C_RULES:
        left = node.left if isinstance(node, ast.BinOp) else node.target
        is_text = isinstance(left, ast.Constant) and isinstance(left.value, str)
        return "" if is_text else f"'{C_RULES[type(node.op)]}' is not the same"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        return "super() does not work (name the base)"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.op, ast.USub):
        return "an index does not count from behind"
    return ""


def _kept(module: Module) -> list[tuple[int, str]]:
    """The lines of a module, numbered, without its docstring and without imports that are hoisted or dropped."""
    lines = list(module.lines)
    body = module.tree.body
    dropped = [node for node in body if is_for_checkers(node)]
    if ast.get_docstring(module.tree, clean=False) is not None:
        dropped.append(body[0])
    dropped += [found.node for found in module.imports if not found.is_nested]
    for node in dropped:
        _blank(module, lines, node, "")
    for found in module.imports:
        if found.is_nested and found.module:
            _blank(module, lines, found.node, f"{' ' * found.node.col_offset}pass")
        elif found.is_nested:
            raise CompileError(
                f"{module.place(found.node)}: only the kernel's own names are imported inside a function"
            )
    begin = body[0].lineno if body else len(lines) + 1
    return [(number, line.rstrip()) for number, line in enumerate(lines, 1) if number >= begin]


def _blank(module: Module, lines: list[str], node: ast.stmt, instead: str) -> None:
    """Put something else in the place of a statement.

    Raises:
        CompileError: Another statement stands on its lines.
    """
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first][: node.col_offset].strip()
    after = module.lines[last].encode()[node.end_col_offset :].decode().strip()
    if before or (after and not after.startswith("#")):
        raise CompileError(f"{module.place(node)}: another statement stands on the same line")
    lines[first : last + 1] = [instead] + [""] * (last - first)
